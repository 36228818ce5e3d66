"""Shrinking on a system: the same failure, with the fewest inputs, and an account of what it took."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest

from benchmarks.shrink_classical import ALGORITHMS
from otf.adapter import Bench, Ending, KnownIssue
from otf.campaign import Budget, Shrunk
from otf.errors import ContactError, UsageError
from tests.campaign.machine import (
    DIES,
    LONG,
    TEA,
    THIEF,
    Button,
    Coin,
    Machine,
    Refund,
    Started,
    bench,
    failing_path,
    inputs,
    judged,
    made_by,
    shrinker_of,
    shrunk_from,
)
from tests.runner.playing import virtually


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_matters_is_left(tmp_path: Path, algorithm: str) -> None:
    """Of nearly eighty inputs four are left, and their trace fails in the same way, live and offline."""
    shrunk = shrunk_from(bench(TEA), tmp_path, LONG, algorithm=ALGORITHMS[algorithm])
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
    shrunk = shrunk_from(bench(TEA), tmp_path, LONG)
    assert shrunk.trace == tmp_path / "path-0001.shrunk.jsonl"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["path-0001.jsonl", "path-0001.shrunk.jsonl"]
    assert len(inputs(tmp_path / "path-0001.jsonl")) == len(LONG) - 2


def test_only_the_same_failure_counts(tmp_path: Path) -> None:
    """A machine with two faults is not shrunk from the one to the other, though that has the shorter way."""
    # without its first coin this run shows the other fault: two coins are not given back
    sent = [Coin(), Coin(), Coin(), Refund(), Coin(), Coin(), Coin(), Button()]
    shrunk = shrunk_from(bench(TEA, THIEF), tmp_path, sent, algorithm=ALGORITHMS["elements"])
    assert shrunk.verdict.failure is not None
    assert shrunk.verdict.failure.kind == "wrong"
    assert inputs(shrunk.trace) == [Coin(), Coin(), Coin(), Button()]


def test_inputs_after_the_failure_do_not_count(tmp_path: Path) -> None:
    """What was never sent is not a candidate: a path that fails at its fourth input is shrunk from four."""
    lengths: list[int] = []

    def progress(length: int, _transitions: int) -> None:
        lengths.append(length)

    sent = [Coin(), Coin(), Coin(), Button(), *LONG]
    shrunk = shrunk_from(bench(TEA), tmp_path, sent, progress=progress)
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
    failing = failing_path(tested, tmp_path, LONG)
    starts.starts = 0
    taken.clear()
    shrunk = virtually(lambda: shrinker_of(tested, tmp_path).run(failing))
    assert (shrunk.resets, shrunk.transitions) == (starts.starts, len(taken))


def test_the_trace_says_whether_the_search_came_to_its_end(tmp_path: Path) -> None:
    """The header of a shrunk trace tells that it is minimal, or that the search was ended early."""
    whole = shrunk_from(bench(TEA), tmp_path, LONG)
    assert judged(whole.trace).header.minimal
    early = shrunk_from(bench(TEA), tmp_path, LONG, budget=Budget(resets=3))
    assert not judged(early.trace).header.minimal


def test_other_failures_are_kept(tmp_path: Path) -> None:
    """A failure with another signature that a candidate shows is not a result; it has its own trace unless known."""
    sent = [Coin(), Coin(), Coin(), Refund(), Coin(), Coin(), Coin(), Button()]
    known = KnownIssue(lambda failure: failure.kind == "missing", "it keeps the money")
    assert not shrunk_from(
        replace(bench(TEA, THIEF), known_issues=(known,)), tmp_path, sent, algorithm=ALGORITHMS["elements"]
    ).others
    shrunk = shrunk_from(bench(TEA, THIEF), tmp_path, sent, algorithm=ALGORITHMS["elements"])
    (other,) = shrunk.others
    assert other.verdict.failure is not None
    assert other.verdict.failure.kind == "missing"
    assert other.trace == tmp_path / "path-0001.other-1.jsonl"
    assert judged(other.trace).recorded == "fail"


@pytest.mark.parametrize("algorithm", ["model", "ddmin"])
def test_several_candidates_at_a_time(tmp_path: Path, algorithm: str) -> None:
    """With several copies of the system the result is the same, for more starts of it."""
    one, four = (shrunk_from(bench(TEA), tmp_path, LONG, jobs=jobs, algorithm=ALGORITHMS[algorithm]) for jobs in (1, 4))
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
    failing, took, traces = failing_path(tested, tmp_path, sent), list[float](), list[object]()

    async def timed(jobs: int) -> None:
        began = anyio.current_time()
        shrunk = await shrinker_of(tested, tmp_path, algorithm=ALGORITHMS[algorithm], jobs=jobs, mode=mode).run(failing)
        took.append(anyio.current_time() - began)
        traces.append((inputs(shrunk.trace), shrunk.before, shrunk.tried, shrunk.rate, shrunk.minimal))

    virtually(lambda: timed(1))
    virtually(lambda: timed(2))
    assert traces[0] == traces[1]
    assert took[0] / took[1] >= faster, took


def test_a_failure_in_one_run_of_twelve(tmp_path: Path) -> None:
    """A race that the first ten runs of its path do not show again is shrunk all the same."""
    starts = count()
    tested = made_by(lambda: Machine(() if next(starts) % 12 else (TEA,)))
    shrunk = shrunk_from(tested, tmp_path, LONG)
    assert (shrunk.steps, shrunk.tried) == (4, 12)


# Trouble


def test_a_path_that_passes(tmp_path: Path) -> None:
    """What does not fail cannot be shrunk."""
    passing = failing_path(bench(), tmp_path, LONG)
    with pytest.raises(UsageError, match=r"path-0001\.jsonl: the trace does not fail, there is nothing to shrink"):
        virtually(lambda: shrinker_of(bench(), tmp_path).run(passing))


@pytest.mark.parametrize("jobs", [1, 3])
def test_contact_lost(tmp_path: Path, jobs: int) -> None:
    """When the system can no longer be started, who asked has the shortest so far, and no candidate is left."""
    tested = made_by(Started((TEA,), good=4))
    found: list[Shrunk] = []
    failing = failing_path(tested, tmp_path, LONG)
    with pytest.raises(ContactError):
        virtually(lambda: shrinker_of(tested, tmp_path, found=found.append, jobs=jobs).run(failing))
    assert [each.minimal for each in found] == [False] * len(found)
    assert found[-1].steps < len(LONG)
    assert judged(found[-1].trace).events == found[-1].events
    assert not list(tmp_path.glob("*candidate*"))


@pytest.mark.parametrize("eighth", range(0, 400, 9))
def test_interrupted_at_any_time(tmp_path: Path, eighth: int) -> None:
    """An interruption leaves no candidate behind; the shrunk trace so far is complete and fails."""
    tested = bench(DIES, delay=0.25)
    failing = failing_path(tested, tmp_path, [*[Coin(), Refund()] * 5, *[Coin(), Button()] * 3])

    async def interrupted() -> None:
        with anyio.move_on_after(eighth / 8):
            await shrinker_of(tested, tmp_path).run(failing)

    virtually(interrupted)
    assert {path.name for path in tmp_path.iterdir()} <= {"path-0001.jsonl", "path-0001.shrunk.jsonl"}
    assert all(judged(path).recorded == "fail" for path in tmp_path.iterdir())
