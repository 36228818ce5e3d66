"""Failures in bursts: which of them are races, and which come one by one as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import PathResult, Settings, Summary, confirm
from otf.campaign.one_by_one import one_by_one
from otf.campaign.recorder import header_of
from otf.campaign.settings import header
from otf.codec import lines
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.campaign.machine import failing_path, run
from tests.runner.playing import virtually

MOST = 2
LAST = "the last one that is taken is said to be none"
BOTH = "two who take at once get the same one"
OVER = "one more is put into a full store"


@dataclass(frozen=True)
class Put:
    """One more; there is room for two."""

    client: str


@dataclass(frozen=True)
class Take:
    """One less is wanted."""

    client: str


@dataclass(frozen=True)
class Done:
    """How many there are."""

    client: str
    left: int


@dataclass(frozen=True)
class Nothing:
    """There is none."""

    client: str


def step(left: int, inp: Put | Take) -> Iterator[Transition[int]]:
    """Count."""
    if isinstance(inp, Put):
        yield goto(min(MOST, left + 1), Done(inp.client, min(MOST, left + 1)))
    elif left:
        yield goto(left - 1, Done(inp.client, left - 1))
    else:
        yield goto(0, Nothing(inp.client))


SPEC = Spec(step, 0, [kind(client) for client in ("ann", "bob") for kind in (Put, Take)])
CODEC = lines({Put: "put", Take: "take", Done: "done {left}", Nothing: "nothing"}, port_field="client")


@dataclass
class Store:
    """What both clients use."""

    faults: tuple[str, ...]
    left: int = 0
    taken: float = -1.0

    def __call__(self, frame: bytes) -> list[Reply]:
        """Take a line of a client."""
        if frame == b"put":
            self.left = self.left + 1 if OVER in self.faults else min(MOST, self.left + 1)
            return [b"done %d" % self.left]
        if BOTH in self.faults and self.taken == anyio.current_time():
            return [b"done %d" % self.left]
        if not self.left:
            return [b"nothing"]
        self.left, self.taken = self.left - 1, anyio.current_time()
        return [b"nothing"] if LAST in self.faults and not self.left else [b"done %d" % self.left]


def bench(*faults: str) -> Bench:
    """Return a bench on which both clients talk to one store, made anew for each run."""
    stores = list[Store]()

    def first() -> Callable[[bytes], list[Reply]]:
        stores[:] = [Store(faults)]
        return stores[0]

    ports = {"ann": inprocess(first), "bob": inprocess(lambda: stores[0])}
    return Bench.on_ports(SPEC, CODEC, ports, clients=("ann", "bob"), name="store", quiescence=1.0)


def campaign(out: Path, *faults: str) -> Summary:
    """Return what a campaign with bursts finds."""
    return run(bench(*faults), out, burst=2, traces=30, steps=20, shrink=False)


def test_a_defect_is_one_kind_whatever_meets_it(tmp_path: Path) -> None:
    """It fails in bursts of several forms; one by one, each fails as it does alone."""
    [group] = campaign(tmp_path, LAST).failures.values()
    failure = group.first.verdict.failure
    assert failure is not None
    assert (failure.signature.input, failure.together, group.tries) == ("Take", 1, 1)
    assert header_of(group.first.trace).burst == 1
    assert group.count > 1


def test_a_race_counts_as_it_is(tmp_path: Path) -> None:
    """One by one, the inputs pass: no run without a burst is in its folder."""
    [group] = campaign(tmp_path, BOTH).failures.values()
    assert (group.signature.input, group.tries) == ("Take & Take", 0)
    assert header_of(group.first.trace).burst == 2
    assert not list(tmp_path.glob("*.strict.jsonl"))


def test_who_is_sent_along_is_not_part_of_a_race(tmp_path: Path) -> None:
    """Of three inputs at once two meet, and shrinking leaves these; what a race has done may show afterwards."""
    summary = run(bench(BOTH), tmp_path, burst=3, traces=12, steps=20, seed=5)
    [(kind, group)] = summary.failures.items()
    assert kind.input == "Take & Take"
    first, shrunk = group.first.verdict.failure, group.shrunk
    assert first is not None
    assert shrunk is not None
    assert (first.together, shrunk.steps) == (3, 3)


def test_a_race_stays_a_kind_beside_a_defect(tmp_path: Path) -> None:
    """What is known to fail alone does not hide what fails only at once."""
    kinds = campaign(tmp_path, LAST, BOTH).failures
    assert {(kind.input, group.tries) for kind, group in kinds.items()} == {("Take", 1), ("Take & Take", 0)}


def path_of(tmp_path: Path, events: list[Event]) -> PathResult:
    """Return a failing path with these events."""
    tmp_path.mkdir(exist_ok=True)
    inputs = [event.input for event in events if isinstance(event, Sent)]
    path = failing_path(bench(LAST), tmp_path, [Put("ann"), Take("bob")])
    failure = path.verdict.failure
    assert failure is not None
    both = replace(failure, step=len(inputs), together=2)
    return replace(path, verdict=replace(path.verdict, failure=both), events=events, steps=len(inputs))


def driven(tmp_path: Path, events: list[Event], until: float = float("inf"), fault: str = LAST) -> list[object] | None:
    """Return the inputs of the run, one by one, that fails like this one."""
    tested, failing = bench(fault), path_of(tmp_path, events)
    head = header(tested, Settings(out=tmp_path, burst=2), 1)
    alone = virtually(partial(one_by_one, tested, tested.oracle(), head, failing, until))
    return None if alone is None else [event.input for event in alone.events if isinstance(event, Sent)]


PUT, TAKE = Sent(Put("ann"), "ann", 0.0), Sent(Take("bob"), "bob", 0.0)
FULL: list[Event] = [
    PUT,
    Seen(Done("ann", 1), "ann", 0.0),
    Quiet(0.0),
    PUT,
    Seen(Done("ann", 2), "ann", 0.0),
    Quiet(0.0),
]


def test_another_order_may_show_it(tmp_path: Path) -> None:
    """The server took the second input first."""
    one, other = Sent(Put("bob"), "bob", 0.0), Sent(Take("ann"), "ann", 0.0)
    wrong = Seen(Nothing("ann"), "ann", 0.0)
    first: list[Event] = [PUT, Seen(Done("ann", 1), "ann", 0.0), Quiet(0.0)]
    assert driven(tmp_path / "sent", [one, other, wrong]) == [Put("bob"), Take("ann")]
    assert driven(tmp_path / "other", [*first, one, other, wrong]) == [Put("ann"), Take("ann")]


def test_an_order_that_a_port_forbids_is_not_tried(tmp_path: Path) -> None:
    """What one client sends first is taken first."""
    second = Sent(Put("bob"), "bob", 0.0)
    assert driven(tmp_path, [PUT, Quiet(0.0), TAKE, second, Seen(Nothing("bob"), "bob", 0.0)]) == [
        Put("ann"),
        Take("bob"),
    ]
    assert driven(tmp_path, [*FULL, second, TAKE, Seen(Nothing("bob"), "bob", 0.0)]) is None


def test_an_earlier_burst_may_have_been_lucky(tmp_path: Path) -> None:
    """The model allows that bob takes first; he did not, and what follows is wrong for that alone."""
    lucky: list[Event] = [PUT, TAKE, Seen(Nothing("bob"), "bob", 0.0), Seen(Done("ann", 1), "ann", 0.0), Quiet(0.0)]
    one, other = Sent(Take("ann"), "ann", 0.0), Sent(Take("bob"), "bob", 0.0)
    after: list[Event] = [one, other, *(Seen(Nothing(each), each, 0.0) for each in ("ann", "bob"))]
    assert driven(tmp_path, [*lucky, *after]) == [Put("ann"), Take("bob")]


def test_earlier_bursts_are_driven_in_the_order_that_explains_them(tmp_path: Path) -> None:
    """Bob took first and found nothing, though ann had sent first: else there would be room at the end."""
    one, other = Sent(Put("ann"), "ann", 0.0), Sent(Take("bob"), "bob", 0.0)
    bobs_first: list[Event] = [one, other, Seen(Done("ann", 1), "ann", 0.0), Seen(Nothing("bob"), "bob", 0.0)]
    wrong = Seen(Done("ann", 3), "ann", 0.0)
    events = [*bobs_first, Quiet(0.0), PUT, Seen(Done("ann", 2), "ann", 0.0), Quiet(0.0), one, other, wrong]
    assert driven(tmp_path, events, fault=OVER) == [Take("bob"), Put("ann"), Put("ann"), Put("ann")]


def test_other_outputs_are_another_failure(tmp_path: Path) -> None:
    """One by one, bob hears that there is none; in the burst he got one."""
    assert driven(tmp_path, [PUT, TAKE, Seen(Done("bob", 9), "bob", 0.0)]) is None
    assert driven(tmp_path, [PUT, TAKE, Seen(Nothing("bob"), "bob", 0.0)]) == [Put("ann"), Take("bob")]


def test_no_run_begins_after_the_end(tmp_path: Path) -> None:
    """The failure stays one of a burst."""
    assert driven(tmp_path, [PUT, TAKE, Seen(Nothing("bob"), "bob", 0.0)], until=0.0) is None


@pytest.mark.parametrize("again", [True, False])
def test_a_run_beside_a_stall_counts_if_another_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """Otherwise the failure stays one of a burst."""
    tested, failing = bench(*[LAST] * again), path_of(tmp_path, [PUT, TAKE, Seen(Nothing("bob"), "bob", 0.0)])
    alone = failing_path(bench(LAST), tmp_path, [Put("ann"), Take("bob")])
    stalled = replace(alone, verdict=replace(alone.verdict, stalled=0.01))

    async def shown(*_: object) -> PathResult:
        return stalled

    monkeypatch.setattr(confirm, "one_by_one", shown)
    head = header(tested, Settings(out=tmp_path, burst=2), 1)
    seen = virtually(partial(confirm.confirm, tested, tested.oracle(), head, failing, strict=True))
    assert seen.result.verdict.failed
    assert (seen.result is failing, seen.tries) == (not again, int(again))


def test_a_saved_race_is_shrunk_with_its_bursts(tmp_path: Path) -> None:
    """Its number is not that of a path with bursts."""
    found = run(bench(BOTH), tmp_path / "out", traces=4, steps=20, shrink=False, saved=tmp_path / "saved", seed=2)
    assert found.failures
    again = run(bench(BOTH), tmp_path / "again", traces=1, steps=1, saved=tmp_path / "saved")
    assert [group.shrunk and group.shrunk.rate for group in again.failures.values()] == [1.0] * len(found.failures)


def test_a_saved_burst_counts_as_it_fails_one_by_one(tmp_path: Path) -> None:
    """Its inputs are no race: what an earlier version saved as one is the kind that campaigns find now."""
    [group] = run(
        bench(LAST), tmp_path / "out", burst=2, traces=30, steps=20, saved=tmp_path / "saved"
    ).failures.values()
    burst, [saved] = Path(str(group.first.trace).replace(".strict", "")), (tmp_path / "saved").iterdir()
    assert header_of(burst).burst == 2
    burst.replace(saved)
    again = run(bench(LAST), tmp_path / "again", traces=1, steps=1, saved=tmp_path / "saved")
    assert [str(each) for each in again.saved] == ["still there"]
    [(kind, group)] = again.failures.items()
    assert (kind.input, group.first.trace.name) == ("Take", "saved-0001.strict.jsonl")
    assert group.shrunk is not None
    assert group.shrunk.steps == 2
    assert [*(tmp_path / "saved").iterdir()] == [saved]
