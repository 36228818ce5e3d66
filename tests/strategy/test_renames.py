"""A run of the same inputs asks for the names that the system chooses this time, not for those it chose before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.adapter import Bench
from otf.adapters.inprocess import inprocess
from otf.campaign import Settings, rerun
from otf.codec import lines
from otf.core import Model, Oracle
from otf.runner.reproduce import reproduce
from otf.spec import Accept, Spec, Transition, goto
from otf.strategy import Script
from otf.strategy.renames import Attribution, NamedRun, Renames, renaming
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.values.identity import key
from otf.values.text import words
from tests.campaign.machine import run

State = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Open:
    """Open a job of a kind."""

    kind: str


@dataclass(frozen=True)
class Opened:
    """It has this id."""

    id: int


@dataclass(frozen=True)
class Run:
    """Run a job."""

    id: int


@dataclass(frozen=True)
class Stop:
    """Stop a job."""

    id: int


@dataclass(frozen=True)
class Ran:
    """What kind it was."""

    kind: str


def step(jobs: State, inp: Open | Run) -> Iterator[Transition[State] | Accept]:
    """Open jobs, up to three; each runs as its kind, and an unknown one as none."""
    if isinstance(inp, Run):
        yield goto(jobs, Ran(dict(jobs).get(inp.id, "none")))
    elif len(jobs) == 3:
        yield goto(jobs, Ran("full"))
    else:
        kind = inp.kind
        yield Accept(lambda seen: [tuple(sorted((*jobs, (seen[0].id, kind))))] if isinstance(seen[0], Opened) else [])


def inputs(jobs: State) -> list[Open | Run]:
    """Offer the jobs that there are."""
    return [Open("a"), Open("b"), *(Run(job) for job, _ in jobs)]


SPEC = Spec[State, Open | Run](step, (), inputs, name="jobs")
CODEC = lines({Open: "open {kind}", Opened: "id {id}", Run: "run {id}", Ran: "ran {kind}"})
IDS = Random(5)


class Jobs:
    """Chooses ids at random, others in each copy; runs a job of kind b as one of kind a."""

    def __init__(self) -> None:
        self.jobs = set[int]()

    def __call__(self, inp: object) -> tuple[object, ...]:
        """Answer an input."""
        match inp:
            case Open() if len(self.jobs) < 3:
                self.jobs.add(job := IDS.randrange(1000, 10**6))
                return (Opened(job),)
            case Run(job):
                return (Ran("a" if job in self.jobs else "none"),)
            case _:
                return (Ran("full"),)


class OnALine(Jobs):
    """The same behind a codec."""

    def __call__(self, frame: Any) -> Any:  # noqa: ANN401 -- bytes, and not values
        """Answer a line."""
        return [CODEC.encode(output) for output in super().__call__(CODEC.decode("line", frame))]


def in_process() -> Bench:
    """Return the jobs as an object."""
    return Bench.in_process(SPEC, Jobs, types=(Opened, Ran, Run))


def on_a_line() -> Bench:
    """Return the jobs behind a port, where eager mode waits for nothing."""
    return Bench(SPEC, codec=CODEC, ports={"line": inprocess(OnALine)}, quiescence=1.0)


def events(*steps: tuple[object, Sequence[object]]) -> Iterator[Event]:
    """Yield the events of these inputs with their outputs."""
    for inp, outputs in steps:
        yield Sent(inp, "", 0.0)
        yield from (Seen(output, "", 0.0) for output in outputs)
        yield Quiet(0.0)


BEFORE: list[tuple[object, Sequence[object]]] = [
    (Open("a"), [Opened(1111)]),
    (Open("b"), [Opened(2222)]),
    (Run(2222), [Ran("a")]),
]


def test_a_rerun_asks_for_the_ids_of_this_time(tmp_path: Path) -> None:
    """With the ids of the last time the same inputs would find no job, and pass."""
    result = anyio.run(rerun, in_process(), events(*BEFORE), Settings(out=tmp_path))
    assert [type(event.input) for event in result.events if isinstance(event, Sent)] == [Open, Open, Run]
    assert result.verdict.failure is not None
    assert result.verdict.failure.seen == "Ran(kind='a')"


@pytest.mark.parametrize("bench", [in_process(), on_a_line()])
def test_an_exported_failure_asks_for_the_ids_of_this_time(bench: Bench) -> None:
    """So does the program that a failure is exported as."""
    with pytest.raises(AssertionError, match="Ran"):
        reproduce(bench, BEFORE)


@pytest.mark.parametrize("mode", ["eager", "strict"])
def test_a_campaign_confirms_and_shrinks_what_depends_on_ids(mode: str, tmp_path: Path) -> None:
    """A failure of an eager run is confirmed by a strict one with other ids, and shrunk to two inputs by many more."""
    IDS.seed(0)
    found = run(on_a_line(), tmp_path, mode=mode, traces=5, seed=1)
    [group] = found.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps == 2


@given(data=st.data(), size=st.integers(1, 20))
def test_any_run_is_repeated_under_other_ids(data: st.DataObject, size: int) -> None:
    """Whatever was asked of whichever ids: a run with other ids gets the same inputs, each id exchanged for its own."""
    oracle, jobs, sent = Oracle(Model(SPEC)), list[int](), list[tuple[object, Sequence[object]]]()
    for _ in range(size):
        inp = data.draw(st.sampled_from([Open("a"), Open("b"), *map(Run, jobs)]))
        if isinstance(inp, Run):
            sent.append((inp, [Ran("a")]))
        elif len(jobs) < 3:
            jobs.append(data.draw(st.integers(1000, 9999).filter(lambda job: job not in jobs)))
            sent.append((inp, [Opened(jobs[-1])]))
    ids = data.draw(st.permutations([*range(10_000, 10_000 + len(jobs))]))
    now = dict(zip(jobs, ids, strict=True))
    earlier = NamedRun.of(oracle, events(*sent))
    if earlier is None:
        assert not any(isinstance(inp, Run) for inp, _ in sent)
        return
    names, opened = Renames((earlier,)), list[int]()
    for inp, outputs in sent:
        offered = map(oracle.model.symbol, [Open("a"), Open("b"), *map(Run, opened)])
        symbol = oracle.model.symbol(inp)
        given = names.renamed(symbol, offered).value if isinstance(inp, Run) else inp
        assert given == (Run(now[inp.id]) if isinstance(inp, Run) else inp)
        answers = [Opened(now[output.id]) if isinstance(output, Opened) else output for output in outputs]
        opened.extend(output.id for output in answers if isinstance(output, Opened))
        for event in events((given, answers)):
            names.observe(event)


def test_of_equal_inputs_one_may_be_left_out() -> None:
    """Where the first of two equal inputs is left out, the other one stands for it and for itself."""
    oracle = Oracle(Model(SPEC))
    earlier = NamedRun.of(oracle, events((Open("a"), [Opened(1111)]), (Open("a"), [Opened(2222)]), (Run(2222), [])))
    assert earlier is not None
    names = Renames((earlier,))
    for event in events((Open("a"), [Opened(3333)])):
        names.observe(event)
    symbol = oracle.model.symbol
    assert names.renamed(symbol(Run(2222)), [symbol(Run(3333))]).value == Run(3333)
    assert names.renamed(symbol(Run(4444)), [symbol(Run(3333))]).value == Run(4444)


def test_an_input_stays_of_its_type() -> None:
    """Of two inputs with the same id, it is the one of the same type that stands for an earlier one."""
    oracle = Oracle(Model(SPEC))
    earlier = NamedRun.of(oracle, events((Open("a"), [Opened(1111)]), (Stop(1111), [])))
    assert earlier is not None
    names, symbol = Renames((earlier,)), oracle.model.symbol
    for event in events((Open("a"), [Opened(3333)])):
        names.observe(event)
    assert names.renamed(symbol(Stop(1111)), [symbol(Run(3333)), symbol(Stop(3333))]).value == Stop(3333)
    assert names.renamed(symbol(Stop(1111)), [symbol(Run(3333))]).value == Stop(1111)


def test_what_the_model_offers_is_sent_as_it_is() -> None:
    """An id that happens to be there again is not a name of another one, and constant inputs have no names."""
    oracle, script = Oracle(Model(SPEC)), Script([Run(2222)])
    observe = renaming(script, [NamedRun.of(oracle, events(*BEFORE))])
    assert observe is not None
    for event in events((Open("a"), [Opened(2222)]), (Open("b"), [Opened(1111)])):
        observe(event)
    view = oracle.view(oracle.start())
    assert script.choose(view.only([oracle.model.symbol(Run(each)) for each in (1111, 2222)])) == oracle.model.symbol(
        Run(2222)
    )
    constant = Spec(lambda state, _inp: [goto(state)], 0, ["look 7"])
    assert NamedRun.of(Oracle(Model(constant)), [Seen("7", "", 0.0), Sent("look 7", "", 0.0)]) is None


def test_words() -> None:
    """Numbers are words, and so are those of texts and of printable bytes; other bytes are one word, types another."""
    told = words(key((Run(5), "a-b", b"x=7", b"\x00\x01")))
    assert told == ("<tuple>", "<Run>", "<int>", "5", "a", "-", "b", "x", "=", "7", "\x00\x01")


def test_an_output_answers_the_first_input_of_its_port_that_is_left() -> None:
    """After quiescence none is left, and the last one may say more."""
    asked = Attribution[int]()
    assert asked.by("a") is None
    asked.sent("a", 1)
    asked.sent("a", 2)
    asked.sent("b", 3)
    assert [asked.by("a"), asked.by("b"), asked.by("b")] == [1, 3, 3]
    asked.quiet()
    assert [asked.by("a"), asked.by("c")] == [1, 3]
