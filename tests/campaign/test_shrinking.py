"""Shrinking on a system: the same failure, with the fewest inputs, and an account of what it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, Ending, KnownIssue
from otf.campaign import Budget, PathResult, Settings, Shrinker, Shrunk
from otf.campaign.paths import PathRun
from otf.campaign.settings import Mode, header
from otf.errors import ContactError, UsageError
from otf.shrink import ALGORITHMS
from otf.strategy import Script
from tests.campaign.machine import (
    DIES,
    FAULTS,
    TEA,
    THIEF,
    Button,
    Coin,
    Machine,
    Refund,
    Started,
    bench,
    inputs,
    judged,
    made_by,
)
from tests.runner.playing import virtually

NOISE = [Button(), Refund(), Coin(), Button(), Coin(), Refund(), Refund()]
LONG = [*NOISE * 10, Coin(), Button(), Coin(), Coin(), Coin(), Coin(), Button(), Coin(), Button()]
"""Ends with the third coin's coffee; before it, there is nothing that matters."""


class TeaEarly(Machine):
    """Gives tea for the second coin and for the third."""

    def _answer(self, frame: bytes) -> bytes | Ending | None:
        paid = self.paid
        answer = super()._answer(frame)
        return b"tea" if answer == b"coffee" and paid > 1 else answer


def _failing(tested: Bench, out: Path, sent: Sequence[object]) -> PathResult:
    head = header(tested, Settings(out=out, mode="strict"), 1)
    path = PathRun(tested, tested.oracle(), head, out / "path-0001.jsonl")
    return virtually(lambda: path.run(Script(sent), len(sent)))


def _shrinker(tested: Bench, out: Path, **more: Any) -> Shrinker:  # noqa: ANN401 -- the fields of a shrinker
    head = header(tested, Settings(out=out, mode="strict"), 1, strategy="script")
    given: dict[str, Any] = {"budget": Budget(seconds=1e9), **more}
    return Shrinker(bench=tested, oracle=tested.oracle(), header=head, **given)


def _shrunk(tested: Bench, out: Path, sent: Sequence[object], **more: Any) -> Shrunk:  # noqa: ANN401 -- the same
    failing = _failing(tested, out, sent)
    assert failing.verdict.failed
    return virtually(lambda: _shrinker(tested, out, **more).run(failing))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_matters_is_left(tmp_path: Path, algorithm: str) -> None:
    """Of nearly eighty inputs four are left, and their trace fails in the same way, live and offline."""
    shrunk = _shrunk(bench(TEA), tmp_path, LONG, algorithm=algorithm)
    if algorithm != "halving":  # which draws inputs by chance, and may end with a few too many
        assert inputs(shrunk.trace) == [Coin(), Coin(), Coin(), Button()]
    assert 4 <= shrunk.steps < 10
    assert (shrunk.rate, shrunk.minimal) == (1.0, True)
    judgement = judged(shrunk.trace)
    assert judgement.header.shrunk
    assert judgement.header.strategy == "script"
    assert judgement.recorded == "fail"
    assert judgement.verdict.failure == shrunk.verdict.failure
    assert judgement.events == shrunk.events


def test_the_trace_lies_beside_the_original(tmp_path: Path) -> None:
    """The shrunk trace is named after the original, which stays as it is; no candidate is left."""
    shrunk = _shrunk(bench(TEA), tmp_path, LONG)
    assert shrunk.trace == tmp_path / "path-0001.shrunk.jsonl"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["path-0001.jsonl", "path-0001.shrunk.jsonl"]
    assert len(inputs(tmp_path / "path-0001.jsonl")) == len(LONG) - 2


def test_only_the_same_failure_counts(tmp_path: Path) -> None:
    """A machine with two faults is not shrunk from the one to the other, though that has the shorter way."""
    # without its first coin this run shows the other fault: two coins are not given back
    sent = [Coin(), Coin(), Coin(), Refund(), Coin(), Coin(), Coin(), Button()]
    shrunk = _shrunk(bench(TEA, THIEF), tmp_path, sent, algorithm="elements")
    assert shrunk.verdict.failure is not None
    assert shrunk.verdict.failure.kind == "wrong"
    assert inputs(shrunk.trace) == [Coin(), Coin(), Coin(), Button()]


@pytest.mark.parametrize("mode", ["strict", "eager"])
def test_a_new_failure_is_not_shrunk_to_a_known_issue(tmp_path: Path, mode: Mode) -> None:
    """A shorter run with the same signature does not count if it shows a known issue, and the original shows none."""
    # tea for the second coin is known, and has the signature of tea for the third, which is new
    known = KnownIssue(lambda failure: failure.allowed[0].state == "2", "tea for the second coin")
    tested = made_by(TeaEarly, known_issues=(known,))
    shrunk = _shrunk(tested, tmp_path, [Coin(), Coin(), Coin(), Refund(), Coin(), Coin(), Coin(), Button()], mode=mode)
    assert inputs(shrunk.trace) == [Coin(), Coin(), Coin(), Button()]


def test_inputs_after_the_failure_do_not_count(tmp_path: Path) -> None:
    """What was never sent is no candidate: a path that fails at its fourth input is shrunk from four."""
    lengths: list[int] = []

    def progress(length: int, _transitions: int) -> None:
        lengths.append(length)

    sent = [Coin(), Coin(), Coin(), Button(), *LONG]
    shrunk = _shrunk(bench(TEA), tmp_path, sent, progress=progress)
    assert (shrunk.steps, lengths[0]) == (4, 4)


def test_every_candidate_has_a_fresh_system(tmp_path: Path) -> None:
    """The number of resets is the number of copies that were started, and each input that they got is a transition."""
    starts = Started((TEA,))
    taken: list[bytes] = []

    def make() -> Callable[[bytes], Any]:
        machine = starts()

        def take(frame: bytes) -> list[Any]:
            taken.append(frame)
            return [*machine(frame)]

        return take

    tested = made_by(make)
    failing = _failing(tested, tmp_path, LONG)
    starts.starts = 0
    taken.clear()
    shrunk = virtually(lambda: _shrinker(tested, tmp_path).run(failing))
    assert (shrunk.resets, shrunk.transitions) == (starts.starts, len(taken))


# Bounds


@pytest.mark.parametrize(
    ("budget", "resets"),
    [(Budget(resets=1), 1), (Budget(resets=5), 5), (Budget(transitions=1), 1)],
)
def test_a_budget_ends_the_search(tmp_path: Path, budget: Budget, resets: int) -> None:
    """When the budget is used up, the result is the shortest trace so far, marked as not minimal."""
    sent = [*LONG[:-5], *[Coin()] * 20, Button()]
    shrunk = _shrunk(bench(TEA), tmp_path, sent, budget=budget, algorithm="elements", mode="strict")
    assert (shrunk.resets, shrunk.minimal, shrunk.rate) == (resets, False, 1.0)
    assert shrunk.steps == len(LONG) - 5 + 21 - (resets - 1)  # the first of them is the original
    assert judged(shrunk.trace).recorded == "fail"


def test_the_time_cuts_off_a_run(tmp_path: Path) -> None:
    """A run that is still going on half a second after the time is cut off; the reason is part of the result."""
    shrunk = _shrunk(bench(TEA), tmp_path, LONG, budget=Budget(seconds=1e-6), mode="strict")
    assert (shrunk.tried, shrunk.rate, shrunk.minimal) == (0, 0.0, False)
    assert shrunk.ended == "the time of 1e-06 s was used up"
    assert (shrunk.trace, shrunk.steps) == (tmp_path / "path-0001.jsonl", len(LONG) - 2)
    assert [path.name for path in tmp_path.iterdir()] == ["path-0001.jsonl"]


def test_time_that_is_gone_is_not_used_again(tmp_path: Path) -> None:
    """A search in the second half of its time runs fewer candidates; half of its time is left however much is gone."""
    sent, budget = [*LONG[:-5], *[Coin()] * 20, Button()], Budget(seconds=3000.0)
    runs = [
        _shrunk(
            bench(TEA), tmp_path / str(spent), sent, budget=budget, spent=spent, algorithm="elements", mode="strict"
        )
        for spent in (0.0, 1500.0, 9000.0)
    ]
    assert runs[0].resets > runs[1].resets == runs[2].resets > 1
    assert {each.ended for each in runs} == {"the time of 3e+03 s was used up"}


def test_a_budget_of_nothing(tmp_path: Path) -> None:
    """Without any budget the original is run once more, and that is all."""
    shrunk = _shrunk(bench(TEA), tmp_path, LONG, budget=Budget(resets=0))
    assert (shrunk.resets, shrunk.steps, shrunk.minimal, shrunk.rate) == (1, len(LONG) - 2, False, 1.0)


# Failures that depend on chance


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_that_does_not_show_again(tmp_path: Path, jobs: int) -> None:
    """A failure that no run shows again has the rate 0, and the result is the original trace."""
    copies = count(1)
    tested = made_by(lambda: Machine((TEA,) if next(copies) == 1 else ()))
    failing = _failing(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    shrunk = virtually(lambda: _shrinker(tested, tmp_path, jobs=jobs).run(failing))
    assert (shrunk.rate, shrunk.trace, shrunk.steps) == (0.0, failing.trace, 4)
    assert shrunk.resets > 1
    assert shrunk.verdict == failing.verdict
    assert [path.name for path in tmp_path.iterdir()] == ["path-0001.jsonl"]


def test_a_failure_that_cannot_be_shorter(tmp_path: Path) -> None:
    """What is minimal already is run again, so that the shrunk trace is there and its rate is known."""
    shrunk = _shrunk(bench(TEA), tmp_path, [Coin(), Coin(), Coin(), Button()])
    assert (shrunk.steps, shrunk.rate, shrunk.minimal) == (4, 1.0, True)
    assert shrunk.trace.name == "path-0001.shrunk.jsonl"


@dataclass
class Moody:
    """A machine of which only some copies give tea: those with these numbers."""

    wrong: frozenset[int]
    starts: int = 0

    def __call__(self) -> Machine:
        """Start one."""
        self.starts += 1
        return Machine((TEA,) if self.starts in self.wrong else ())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_that_depends_on_chance(tmp_path: Path, jobs: int) -> None:
    """Its rate is stated before and after; candidates are repeated, so that it is shrunk all the same."""
    random = Random(1)
    tested = made_by(Moody(frozenset({1, *[at for at in range(3, 5000) if random.random() < 0.4]})))
    failing = _failing(tested, tmp_path, LONG)
    shrunk = virtually(lambda: _shrinker(tested, tmp_path, jobs=jobs).run(failing))
    # of two copies either may be the n-th to start: by chance 10 of 10 runs fail once in 10,000 times
    assert (0.1 if jobs == 1 else 0.0) <= shrunk.before <= (0.7 if jobs == 1 else 0.9)
    assert shrunk.tried == 10
    assert 0.1 <= shrunk.rate <= 0.7
    assert (shrunk.runs, shrunk.minimal) == (20, True)
    assert inputs(shrunk.trace) == [Coin(), Coin(), Coin(), Button()]


def test_a_result_that_fails_more_rarely_is_shrunk_more_patiently(tmp_path: Path) -> None:
    """Where the original failed at once but the result only now and then, the search is made again with repeats."""
    random = Random(2)
    tested = made_by(Moody(frozenset({1, 2, *[at for at in range(3, 5000) if random.random() < 0.5]})))
    failing = _failing(tested, tmp_path, LONG)
    shrunk = virtually(lambda: _shrinker(tested, tmp_path).run(failing))
    assert (shrunk.before, shrunk.steps) == (1.0, 4)
    assert 0.2 <= shrunk.rate <= 0.8


def test_the_trace_says_whether_the_search_came_to_its_end(tmp_path: Path) -> None:
    """The header of a shrunk trace tells that it is minimal, or that the search was ended early."""
    whole = _shrunk(bench(TEA), tmp_path, LONG)
    assert judged(whole.trace).header.minimal
    early = _shrunk(bench(TEA), tmp_path, LONG, budget=Budget(resets=3))
    assert not judged(early.trace).header.minimal


def test_other_failures_are_kept(tmp_path: Path) -> None:
    """A failure with another signature that a candidate shows is no result, but has a trace of its own."""
    sent = [Coin(), Coin(), Coin(), Refund(), Coin(), Coin(), Coin(), Button()]
    shrunk = _shrunk(bench(TEA, THIEF), tmp_path, sent, algorithm="elements")
    (other,) = shrunk.others
    assert other.verdict.failure is not None
    assert other.verdict.failure.kind == "missing"
    assert other.trace == tmp_path / "path-0001.other-1.jsonl"
    assert judged(other.trace).recorded == "fail"


@pytest.mark.parametrize("algorithm", ["model", "ddmin"])
def test_several_candidates_at_a_time(tmp_path: Path, algorithm: str) -> None:
    """With several copies of the system the result is the same, for more starts of it."""
    one, four = (_shrunk(bench(TEA), tmp_path, LONG, jobs=jobs, algorithm=algorithm) for jobs in (1, 4))
    assert inputs(one.trace) == inputs(four.trace) == [Coin(), Coin(), Coin(), Button()]
    assert four.resets >= one.resets
    assert not list(tmp_path.glob("*candidate*"))


@dataclass
class Worn:
    """A machine that dies of its tenth coffee."""

    machine: Machine

    def __call__(self, frame: bytes) -> list[Any]:
        """Take an input."""
        replies: list[Any] = self.machine(frame)
        return replies if self.machine.coffees < 10 else [(0.0, Ending("exit status 3"))]


WORN = made_by(lambda: Worn(Machine())), [Coin(), Button()] * 10  # nearly all candidates pass
GIVES_TEA = bench(TEA, delay=0.1), LONG  # nearly all fail, and the path is long
MIXED = bench(DIES, delay=0.1), [*[Coin(), Refund()] * 5, *[Coin(), Button()] * 3]


@pytest.mark.parametrize(
    ("tested", "sent", "algorithm", "mode", "faster"),
    [
        (*WORN, "model", "strict", 1.8),
        (*WORN, "model", "eager", 1.8),
        (*WORN, "elements", "strict", 1.8),
        (*GIVES_TEA, "model", "strict", 1.8),  # the path itself takes most of the time, and need not be run whole
        (*GIVES_TEA, "elements", "strict", 1.8),
        (*GIVES_TEA, "ddmin", "strict", 1.4),
        (*MIXED, "model", "strict", 1.4),
        (*MIXED, "model", "eager", 1.4),
        (*MIXED, "elements", "strict", 1.4),
    ],
)
def test_two_copies_are_faster_than_one(
    tmp_path: Path, tested: Bench, sent: Sequence[object], algorithm: str, mode: str, faster: float
) -> None:
    """On a system that is waited for, two copies take little more than half of the time, for the same trace."""
    failing, took, traces = _failing(tested, tmp_path, sent), list[float](), list[object]()

    async def timed(jobs: int) -> None:
        began = anyio.current_time()
        shrunk = await _shrinker(tested, tmp_path, algorithm=algorithm, jobs=jobs, mode=mode).run(failing)
        took.append(anyio.current_time() - began)
        traces.append((inputs(shrunk.trace), shrunk.before, shrunk.tried, shrunk.rate, shrunk.minimal))

    virtually(lambda: timed(1))
    virtually(lambda: timed(2))
    assert traces[0] == traces[1]
    assert took[0] / took[1] >= faster


def test_a_budget_of_time_ends_repeats(tmp_path: Path) -> None:
    """A candidate is not repeated beyond the budget."""
    tested = made_by(Moody(frozenset({1, 4})))
    failing = _failing(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    shrunk = virtually(lambda: _shrinker(tested, tmp_path, budget=Budget(resets=11)).run(failing))
    assert (shrunk.resets, shrunk.before, shrunk.minimal) == (11, 0.1, False)


# Trouble


def test_a_path_that_passes(tmp_path: Path) -> None:
    """What does not fail cannot be shrunk."""
    passing = _failing(bench(), tmp_path, LONG)
    with pytest.raises(UsageError, match=r"path-0001\.jsonl: the trace does not fail, there is nothing to shrink"):
        virtually(lambda: _shrinker(bench(), tmp_path).run(passing))


def test_an_unknown_algorithm(tmp_path: Path) -> None:
    """The message names those that there are."""
    with pytest.raises(UsageError, match=r"no algorithm 'magic'; there are .*cycles\+elements"):
        _shrunk(bench(TEA), tmp_path, LONG, algorithm="magic")


@pytest.mark.parametrize("jobs", [1, 3])
def test_contact_lost(tmp_path: Path, jobs: int) -> None:
    """When the system can no longer be started, who asked has the shortest so far, and no candidate is left."""
    tested = made_by(Started((TEA,), good=4))
    found: list[Shrunk] = []
    failing = _failing(tested, tmp_path, LONG)
    with pytest.raises(ContactError):
        virtually(lambda: _shrinker(tested, tmp_path, found=found.append, jobs=jobs).run(failing))
    assert [each.minimal for each in found] == [False] * len(found)
    assert found[-1].steps < len(LONG)
    assert judged(found[-1].trace).events == found[-1].events
    assert not list(tmp_path.glob("*candidate*"))


@pytest.mark.parametrize("eighth", range(0, 400, 9))
def test_interrupted_at_any_time(tmp_path: Path, eighth: int) -> None:
    """An interruption leaves no candidate behind; the shrunk trace so far is complete and fails."""
    tested = bench(DIES, delay=0.25)
    failing = _failing(tested, tmp_path, [*[Coin(), Refund()] * 5, *[Coin(), Button()] * 3])

    async def interrupted() -> None:
        with anyio.move_on_after(eighth / 8):
            await _shrinker(tested, tmp_path).run(failing)

    virtually(interrupted)
    assert {path.name for path in tmp_path.iterdir()} <= {"path-0001.jsonl", "path-0001.shrunk.jsonl"}
    assert all(judged(path).recorded == "fail" for path in tmp_path.iterdir())


# Bursts


def test_a_burst_is_shrunk_to_the_smallest_that_fails(tmp_path: Path) -> None:
    """What fails one by one as well needs no race to be explained: the trace says that no burst is needed."""
    tested = bench(*FAULTS)
    head = header(tested, Settings(out=tmp_path, mode="strict", burst=3), 1, strategy="script")
    failing = _failing(tested, tmp_path, [Coin(), Coin(), Coin(), Button()])
    shrinker = Shrinker(bench=tested, oracle=tested.oracle(), header=head)
    shrunk = virtually(lambda: shrinker.run(failing))
    assert judged(shrunk.trace).header.burst == 1
    assert shrunk.steps == 4
