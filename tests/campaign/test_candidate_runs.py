"""Candidates on a system: driven eagerly to save time, and strictly for the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest

from benchmarks.shrink_classical import ALGORITHMS
from otf.adapter import Bench
from otf.campaign import Budget, Settings, Shrinker, Shrunk
from otf.campaign.candidate_budget import BudgetedRuns
from otf.campaign.candidate_runs import Tries
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import header
from otf.runner.lookout import Lookout
from otf.shrink import Algorithm, AllowedInputs, Issue, by_model, issue_of
from otf.strategy import Script
from otf.trace.verdict import Verdict
from tests.campaign.machine import DIES, MOST, TEA, THIEF, Button, Coin, Machine, Refund, bench, inputs, judged, made_by
from tests.runner.playing import virtually

NOISE = [Button(), Refund(), Coin(), Button(), Coin(), Refund(), Refund()]
COFFEES = [*NOISE * 10, Coin(), Coin(), Coin(), Button()]
THREE = [Coin(), Coin(), Coin(), Button()]


def _failing(tested: Bench, out: Path, sent: Sequence[object]) -> PathResult:
    path = PathRun(
        tested, tested.oracle(), header(tested, Settings(out=out, mode="strict"), 1), out / "path-0001.jsonl"
    )
    return virtually(lambda: path.run(Script(sent), len(sent)))


def _tries(tested: Bench, out: Path, failing: PathResult) -> Tries:
    assert failing.verdict.failure is not None
    head = header(tested, Settings(out=out, mode="strict"), 1, strategy="script")
    return Tries(tested, tested.oracle(), head, failing, failing.verdict.failure.signature)


def _candidate(tries: Tries, sent: Sequence[object]) -> AllowedInputs:
    return AllowedInputs(tuple(tries.oracle.model.symbol(inp) for inp in sent))


def test_a_run_without_all_inputs_counts_in_no_rate(tmp_path: Path) -> None:
    """A refund without a coin is not sent: whether the failure is there is not known after such a run."""
    tested = bench(TEA, inputs="uioco")
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, THREE))
    runs = BudgetedRuns(tries, Issue(()), Budget(), inf, 1, lambda _: None)
    short, whole = _candidate(tries, [Refund(), Coin()]), _candidate(tries, [Coin(), Refund()])

    async def rates() -> list[tuple[float, int]]:
        return [await runs.measured(4, 4, candidate) for candidate in (short, whole)]

    assert virtually(rates) == [(0.0, 0), (0.0, 4)]


def _shrunk(
    tested: Bench, out: Path, mode: Literal["strict", "eager"], algorithm: Algorithm = by_model
) -> tuple[Shrunk, float]:
    """Return the shrunk failure, and the seconds that shrinking took."""
    out.mkdir()
    failing, head = _failing(tested, out, COFFEES), header(tested, Settings(out=out, mode="strict"), 1)
    shrinker = Shrinker(bench=tested, oracle=tested.oracle(), header=head, mode=mode, algorithm=algorithm)

    async def timed() -> tuple[Shrunk, float]:
        begin = anyio.current_time()
        return await shrinker.run(failing), anyio.current_time() - begin

    return virtually(timed)


def test_the_same_result_in_less_time(tmp_path: Path) -> None:
    """Both modes find the same few inputs, and the trace that is kept is a strict run."""
    slow, long = _shrunk(bench(TEA), tmp_path / "strict", "strict")
    quick, short = _shrunk(bench(TEA), tmp_path / "eager", "eager")
    assert inputs(slow.trace) == inputs(quick.trace) == THREE
    assert short < long
    assert judged(quick.trace).header.mode == "strict"


def test_what_was_waited_for_once_is_not_waited_for_again(tmp_path: Path) -> None:
    """A candidate that makes the same transitions as a strict run waits for silence at its end alone."""
    tested = bench(TEA)
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, COFFEES))

    async def timed() -> tuple[float, float]:
        await tries.shows(_candidate(tries, COFFEES))
        begin = anyio.current_time()
        assert await tries.quickly(_candidate(tries, NOISE)) is None  # strictly: no candidate before it missed
        middle = anyio.current_time()
        assert await tries.quickly(_candidate(tries, NOISE)) is None
        return middle - begin, anyio.current_time() - middle

    strict, eager = virtually(timed)
    assert eager < strict / 4


@dataclass
class Sleepy:
    """A machine that gives tea for the third coin only where it was left alone before."""

    wide_awake: Machine = field(default_factory=Machine)
    sleepy: Machine = field(default_factory=lambda: Machine((TEA,)))
    last: float = float("-inf")

    def __call__(self, frame: bytes) -> list[object]:
        """Take an input."""
        now = anyio.current_time()
        alone, self.last = now - self.last >= 0.01, now
        awake, asleep = self.wide_awake(frame), self.sleepy(frame)
        return [*(asleep if alone else awake)]


def test_a_failure_that_needs_a_pause(tmp_path: Path) -> None:
    """What eager mode does not show at all is shrunk strictly, once every candidate has passed."""
    shrunk, _ = _shrunk(made_by(Sleepy), tmp_path / "eager", "eager", ALGORITHMS["ddmin"])
    assert inputs(shrunk.trace) == THREE
    assert (shrunk.rate, shrunk.minimal) == (1.0, True)


def test_after_a_hit_the_next_candidate_is_run_strictly_at_once(tmp_path: Path) -> None:
    """Hits come in rows: a hit after a hit takes one run, a hit after a miss two."""
    tested = bench(TEA)
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, COFFEES))
    runs = list[int]()
    for sent in (COFFEES, THREE, [Coin()], THREE, THREE):
        before = tries.resets
        virtually(lambda: tries.quickly(_candidate(tries, sent)))  # noqa: B023 -- called at once
        runs.append(tries.resets - before)
    assert runs == [1, 1, 1, 2, 1]
    assert tries.best is not None
    assert inputs(tries.best.trace) == THREE


def test_an_eager_failure_alone_does_not_count(tmp_path: Path) -> None:
    """Where the strict run passes the candidate has passed, and no trace of it is left."""
    copies = count(1)
    tested = made_by(lambda: Machine((TEA,) if next(copies) in {1, 3} else ()))
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, THREE))
    assert virtually(lambda: tries.quickly(_candidate(tries, [Coin()]))) is None
    assert virtually(lambda: tries.quickly(_candidate(tries, THREE))) is None
    assert (tries.best, tries.resets, tries.transitions) == (None, 3, 9)
    assert [path.name for path in tmp_path.iterdir()] == ["path-0001.jsonl"]


def test_another_failure_is_run_strictly_once(tmp_path: Path) -> None:
    """Another failure is kept once, and from then on recognized after one run."""
    tested, dead = bench(THIEF, DIES), [Coin(), Button()] * MOST
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, dead))
    kept = _candidate(tries, [*THREE, Refund()])
    runs, issues = list[int](), list[Issue | None]()
    for _ in range(3):
        before = tries.resets
        issues.append(virtually(lambda: tries.quickly(kept)))
        runs.append(tries.resets - before)
    assert runs == [1, 1, 1]
    assert issues[0] == issues[1] == issues[2]
    assert (len(tries.others), tries.best) == (1, None)


def test_another_failure_beside_a_stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts when it is met again: one that was met once may be due to the stall."""
    tested, dead = bench(THIEF, DIES), [Coin(), Button()] * MOST
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, dead))

    def stalled(_lookout: Lookout) -> float:
        return 0.25

    monkeypatch.setattr(Lookout, "stalled", stalled)
    for known in (0, 1):
        virtually(lambda: tries.shows(_candidate(tries, [*THREE, Refund()])))
        assert len(tries.others) == known


def test_a_run_that_decides_nothing_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it is no pass; the third one counts, whatever it is."""
    tested = bench(TEA)
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, COFFEES))
    undecided, driven = count(1), PathRun.run

    async def run(path: PathRun, *given: Any, **more: Any) -> PathResult:  # noqa: ANN401 -- passed on
        result = await driven(path, *given, **more)
        return replace(result, verdict=Verdict("inconclusive")) if next(undecided) in {1, 3, 4, 5} else result

    monkeypatch.setattr(PathRun, "run", run)
    issue = virtually(lambda: tries.shows(_candidate(tries, THREE)))
    assert issue is not None
    assert tries.resets == 2
    assert virtually(lambda: tries.shows(_candidate(tries, THREE))) is None
    assert tries.resets == 5


def test_an_eager_run_that_blames_more_is_run_strictly(tmp_path: Path) -> None:
    """Where silent inputs may not have been taken yet, an eager run blames them too, and is asked about again."""
    tested = bench(TEA, THIEF)
    tries = _tries(tested, tmp_path, _failing(tested, tmp_path, THREE))
    virtually(lambda: tries.shows(_candidate(tries, THREE)))
    kept = _candidate(tries, [*[Coin()] * (MOST - 1), Refund()])
    assert virtually(lambda: tries.quickly(_candidate(tries, [Coin()]))) is None
    first = virtually(lambda: tries.quickly(kept))
    assert virtually(lambda: tries.quickly(kept)) == first
    assert (tries.resets, len(tries.others)) == (1 + 1 + 2 + 2, 1)
    (other,) = tries.others.values()
    assert judged(other.trace).header.mode == "strict"
    assert first is not None
    assert first.inputs == issue_of(tries.oracle, other.events).inputs
