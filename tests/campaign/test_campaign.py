"""Campaigns: many paths, failures grouped and shrunk, bounds kept; on machines with known faults, in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from pathlib import Path

import anyio
import pytest

from otf.adapter import Bench, Line
from otf.campaign import Campaign, FailureGroup, Listener, PathResult, Settings, Summary
from otf.campaign.lanes import InProcess
from otf.core import View
from otf.errors import ModelError, UsageError
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Sent
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
    campaign,
    inputs,
    judged,
    made_by,
    run,
)
from tests.runner.playing import Still, on_function, on_still, virtually

MODES = pytest.mark.parametrize("mode", ["strict", "eager"])


@dataclass
class Told(Listener):
    """Records its notifications."""

    events: list[Event] = field(default_factory=list[Event])
    offers: dict[int, list[View]] = field(default_factory=dict[int, list[View]])
    paths: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    lengths: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def event(self, number: int, event: Event) -> None:
        """Take an event."""
        assert number >= 1
        self.events.append(event)

    def enabled(self, number: int, view: View) -> None:
        """Take the enabled inputs."""
        self.offers.setdefault(number, []).append(view)

    def path(self, result: PathResult, summary: Summary) -> None:
        """Take a path."""
        self.paths.append((result.number, summary.steps))

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Take a step of shrinking."""
        assert transitions >= 0
        self.lengths.setdefault(group.signature.kind, []).append(length)


@dataclass
class Impatient(Told):
    """Interrupts the campaign at the tenth candidate."""

    scope: anyio.CancelScope | None = None

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Interrupt it."""
        super().shrinking(group, length, transitions)
        if self.scope is not None and len(self.lengths[group.signature.kind]) == 10:
            self.scope.cancel()


# What it finds


@MODES
def test_a_right_machine_passes(tmp_path: Path, mode: str) -> None:
    """Ten paths of fifty inputs each are allowed by the model, and all ten traces are there."""
    summary = run(bench(), tmp_path, mode=mode)
    assert (summary.verdict, summary.exit_status, summary.paths, summary.steps) == ("pass", 0, 10, 500)
    assert sorted(path.name for path in tmp_path.glob("path-*")) == [f"path-{n:04}.jsonl" for n in range(1, 11)]
    assert all(judged(path).recorded == "pass" for path in tmp_path.glob("path-*"))


@MODES
@pytest.mark.parametrize(
    ("fault", "signature", "shortest"),
    [
        (TEA, "wrong: int --Button--> expected Coffee, seen Tea", [Coin(), Coin(), Coin(), Button()]),
        (THIEF, "missing: int --Refund--> expected Money, seen silence", [Coin(), Coin(), Refund()]),
    ],
)
def test_a_fault_is_found_and_shrunk(
    tmp_path: Path, mode: str, fault: str, signature: str, shortest: list[object]
) -> None:
    """A fault is one failure, however many paths show it, and of the first one the inputs that matter are left."""
    summary = run(bench(fault), tmp_path, mode=mode)
    assert (summary.verdict, summary.exit_status) == ("fail", 1)
    assert [str(each) for each in summary.failures] == [signature]
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert inputs(group.shrunk.trace) == shortest
    assert (group.shrunk.steps, group.shrunk.rate, group.shrunk.minimal) == (len(shortest), 1.0, True)
    assert (group.tries > 0) == (mode == "eager")


def test_failures_are_grouped_by_signature(tmp_path: Path) -> None:
    """Of three faults each is one group with the number of its paths and one shrunk trace that fails alike."""
    summary = run(bench(*FAULTS), tmp_path, traces=30)
    assert sorted(each.kind for each in summary.failures) == ["ended", "missing", "wrong"]
    recorded = Counter(judged(path).verdict.failure for path in tmp_path.glob("path-????.jsonl"))
    kinds = Counter(failure.kind for failure in recorded.elements() if failure)
    assert {each.kind: group.count for each, group in summary.failures.items()} == kinds
    shrunk = {each.kind: group.shrunk.steps for each, group in summary.failures.items() if group.shrunk}
    assert shrunk == {"missing": 3, "wrong": 4, "ended": 6}
    for group in summary.failures.values():
        assert group.shrunk is not None
        failure = judged(group.shrunk.trace).verdict.failure
        assert failure is not None
        assert failure.signature == group.signature


def test_what_fails_goes_on(tmp_path: Path) -> None:
    """All paths are run, though one failed."""
    summary = run(bench(TEA), tmp_path, shrink=False, traces=40)
    assert summary.paths == 40
    [group] = summary.failures.values()
    assert group.count > 1
    assert group.shrunk is None
    assert not list(tmp_path.glob("*shrunk*"))


# What it may take


def test_stop_first(tmp_path: Path) -> None:
    """With `stop_first` no path begins after a failure."""
    summary = run(bench(TEA), tmp_path, stop_first=True)
    [group] = summary.failures.values()
    assert (group.count, summary.paths) == (1, group.first.number)


@pytest.mark.parametrize("jobs", [2, 5])
def test_stop_first_with_several_jobs(tmp_path: Path, jobs: int) -> None:
    """Paths that had begun when the first failed are finished."""
    summary = run(bench(TEA), tmp_path, stop_first=True, traces=30, jobs=jobs)
    assert 1 <= summary.paths < 30


def test_only_failing_traces_are_kept(tmp_path: Path) -> None:
    """With `keep="failures"` the folder holds the traces that fail, the shrunk ones and the journal."""
    summary = run(bench(TEA), tmp_path, keep="failures")
    [group] = summary.failures.values()
    traces = list(tmp_path.glob("path-????.jsonl"))
    assert len(traces) == group.count < summary.paths
    assert all(judged(path).recorded == "fail" for path in traces)
    assert len(list(tmp_path.iterdir())) == len(traces) + 2


def test_a_limit_of_time(tmp_path: Path) -> None:
    """After the time no input is sent: the path that is under way ends with the quiescence of its last step."""
    told = Told()
    summary = run(bench(delay=0.25), tmp_path, told, time=100, traces=1000, steps=10)
    assert summary.verdict == "pass"
    assert 8 <= summary.paths < 11
    ends = [judged(path).events[-1].at for path in sorted(tmp_path.glob("path-*"))]
    assert 100 <= sum(ends) < 102
    assert sum(isinstance(event, Sent) for event in told.events) == summary.steps


@pytest.mark.parametrize("seconds", [30, 60])
def test_the_time_bounds_shrinking_too(tmp_path: Path, seconds: float) -> None:
    """Once a path has failed, the last part of the time is left for shrinking; what was not shrunk has a reason."""

    async def timed() -> tuple[Summary, float]:
        began = anyio.current_time()
        settings = Settings(out=tmp_path / "out", mode="strict", time=seconds, traces=1000, steps=50)
        return await Campaign(bench(TEA, DIES), settings).run(), anyio.current_time() - began

    summary, took = virtually(timed)
    assert took < seconds + 1
    assert all((group.shrunk is None) is bool(group.unshrunk) for group in summary.failures.values())


def test_the_time_counts_what_is_gone(tmp_path: Path) -> None:
    """A third of the time was gone when the campaign began: fewer paths run."""

    async def paths(spent: float) -> int:
        campaign = Campaign(bench(), Settings(out=tmp_path / str(spent), time=30, traces=1000, steps=5))
        campaign.spent = spent
        return (await campaign.run()).paths

    whole, rest = (virtually(partial(paths, spent)) for spent in (0.0, 10.0))
    assert 1 < rest < 0.7 * whole


def test_half_of_the_time_is_left_after_any_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign of 30 seconds whose program took 14 to start, and whose workers took 20, has 15 seconds of paths."""

    @asynccontextmanager
    async def slowly(_: InProcess) -> AsyncGenerator[None]:
        await anyio.sleep(20)
        yield

    monkeypatch.setattr(InProcess, "running", slowly)
    campaign = Campaign(bench(), Settings(out=tmp_path / "out", time=30, traces=1000, steps=5))
    campaign.spent = 14.0
    parts = virtually(campaign.run).parts
    assert parts.seconds["start"] == pytest.approx(34)
    assert parts.seconds["paths"] == pytest.approx(15, abs=1)


def test_the_time_ends_lanes_too(tmp_path: Path) -> None:
    """No lane begins a path after the time."""
    assert run(bench(), tmp_path, time=7.5, traces=1000, steps=5, jobs=3).paths == 6


def test_numbers_that_mean_nothing(tmp_path: Path) -> None:
    """No path, no input, no job and no time is not a campaign."""
    for name, number in (("traces", 0), ("steps", -1), ("jobs", 0), ("burst", 0)):
        with pytest.raises(UsageError, match=f"{name}={number}: at least 1 is needed"):
            Settings(out=tmp_path, **{name: number})  # type: ignore[arg-type]
    for time in (0, float("nan")):
        with pytest.raises(UsageError, match=f"time={time}: a positive number"):
            Settings(out=tmp_path, time=time)


# Several at once


def test_jobs_run_at_once(tmp_path: Path) -> None:
    """Three jobs take a third of the time, and all paths are run."""

    async def timed(jobs: int) -> float:
        began = anyio.current_time()
        summary = await campaign(bench(), tmp_path / str(jobs), traces=12, steps=10, jobs=jobs).run()
        assert (summary.paths, summary.steps) == (12, 120)
        return anyio.current_time() - began

    assert [virtually(partial(timed, jobs)) for jobs in (1, 3, 12, 100)] == [120, 40, 10, 10]


def test_more_jobs_than_paths(tmp_path: Path) -> None:
    """Jobs without a path do nothing."""
    assert run(bench(), tmp_path, traces=2, jobs=9).paths == 2


def _speeds(*delays: float) -> Bench:
    each = cycle(delays)
    return made_by(lambda: Machine((), next(each)), quiescence=1.0)


@MODES
@pytest.mark.parametrize("strategy", ["alternating", "least-input", "least-next", "random"])
def test_the_same_seed_and_jobs_give_the_same_inputs(tmp_path: Path, strategy: str, mode: str) -> None:
    """However fast each copy of the system is, a path has the same inputs as the last time."""
    found = [
        [inputs(path) for path in sorted((tmp_path / name).glob("path-*"))]
        for name, machines in (("a", _speeds(0)), ("b", _speeds(0, 0.9, 0.1)), ("c", _speeds(0.9, 0.1)))
        if run(machines, tmp_path / name, traces=6, jobs=3, strategy=strategy, steps=20, mode=mode)
    ]
    assert found[0] == found[1] == found[2]
    assert len({tuple(path) for path in found[0]}) == 6


def _unsure(state: str, inp: str) -> Iterator[Transition[str]]:
    """Once it has begun the state is a or b; which of them comes first differs."""
    both = [goto("a"), goto("b")]
    if inp == "p.ba" and state == "start":
        both.reverse()
    yield from both


def _offers(state: str) -> list[str]:
    numbers = [f"p.{number}" for number in range(9)]
    return {"start": ["p.ab", "p.ba"], "a": numbers, "b": numbers[::-1]}[state]


def _starting(*seconds: float) -> Bench:
    """Return a bench whose copies take so long to start, one after another."""
    each = cycle(seconds)

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        await anyio.sleep(next(each))
        yield {"p": Still()}

    return on_still(spec=Spec(_unsure, "start", _offers), connect=connect)


@MODES
@pytest.mark.parametrize("seed", range(8))
def test_what_other_jobs_found_first_does_not_matter(tmp_path: Path, seed: int, mode: str) -> None:
    """Choices do not depend on the order in which several jobs come by the same set of possible states."""
    found: list[list[list[object]]] = []
    for name, machines in (("a", _starting(0, 1)), ("b", _starting(1, 0))):
        run(machines, tmp_path / name, traces=2, jobs=2, strategy="random", steps=9, seed=seed, mode=mode)
        found.append([inputs(path, machines) for path in sorted((tmp_path / name).glob("path-*"))])
    assert found[0] == found[1]


# Trouble


def test_a_start_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    """Each path tries a system that cannot be started once more; its trace is as if nothing had been."""
    starts = Started(broken=1)
    summary = run(made_by(starts), tmp_path, traces=3)
    assert (summary.verdict, summary.paths, starts.starts, summary.trouble) == ("pass", 3, 4, "")
    assert judged(tmp_path / "path-0001.jsonl").steps == 50


@pytest.mark.parametrize("retries", [0, 1, 4])
def test_no_contact(tmp_path: Path, retries: int) -> None:
    """A system that cannot be started ends the campaign as inconclusive, with the reason; it was tried often enough."""
    starts = Started(broken=99)
    summary = run(made_by(starts, retries=retries), tmp_path)
    assert (summary.verdict, summary.exit_status, summary.paths) == ("inconclusive", 3, 0)
    assert starts.starts == retries + 1
    assert f"start {retries + 1} failed" in summary.trouble
    assert judged(tmp_path / "path-0001.jsonl").recorded == "inconclusive"


def test_no_contact_in_several_jobs(tmp_path: Path) -> None:
    """One lane without contact stops the others."""
    summary = run(made_by(Started(good=4), retries=0), tmp_path, traces=30, jobs=3)
    assert (summary.verdict, summary.paths) == ("inconclusive", 4)
    assert "failed" in summary.trouble


def test_contact_that_is_lost_later(tmp_path: Path) -> None:
    """What was found before the contact was lost stays found: the failure counts, not the trouble."""
    summary = run(made_by(Started((TEA,), good=4)), tmp_path)
    assert (summary.verdict, summary.exit_status) == ("fail", 1)
    assert "failed" in summary.trouble


def test_contact_that_is_lost_while_shrinking(tmp_path: Path) -> None:
    """A failure is reported as short as it has become when the system can no longer be started."""
    starts = Started((DIES,))
    run(made_by(starts), tmp_path / "whole")
    lost = run(made_by(Started((DIES,), good=starts.starts - 3)), tmp_path / "lost")
    assert (lost.verdict, lost.paths) == ("fail", 10)
    assert "failed" in lost.trouble
    [group] = lost.failures.values()
    assert group.shrunk is not None
    assert 6 <= group.shrunk.steps < group.first.steps
    assert not group.shrunk.minimal
    assert judged(group.shrunk.trace).recorded == "fail"


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_broken_model(tmp_path: Path, jobs: int) -> None:
    """A model that raises ends the campaign with an error that names state and input, not a group of them."""

    def step(_state: int, inp: object) -> Iterator[Transition[int]]:
        raise LookupError(f"nothing known of {inp}")
        yield

    broken = on_function(lambda: lambda _frame: None, spec=Spec(step, 0, ["p.ping"]), inputs="all")
    with pytest.raises(ModelError, match=r"0, 'p\.ping'.*LookupError: nothing known of p\.ping"):
        run(broken, tmp_path, jobs=jobs)
    assert judged(tmp_path / "path-0001.jsonl", broken).recorded == "inconclusive"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is a file is reported at once."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file: the folder cannot be written \(.*\); choose another with --out"):
        run(bench(), tmp_path / "file")


# Interruption


@pytest.mark.parametrize("seconds", [0.5, 20.25, 73.0, 130.0])
def test_an_interrupted_campaign(tmp_path: Path, seconds: float) -> None:
    """A cancelled campaign keeps its failures; the interrupted trace is complete and records the interruption."""
    machines = campaign(bench(TEA, THIEF, delay=0.25), tmp_path, traces=50, steps=20)

    async def interrupted() -> None:
        with anyio.move_on_after(seconds):
            await machines.run()

    virtually(interrupted)
    paths = sorted(tmp_path.glob("path-*"))
    assert len(paths) == machines.summary.paths + 1
    assert judged(paths[-1]).recorded == "inconclusive"
    failing = [path for path in paths if judged(path).recorded == "fail"]
    assert sum(group.count for group in machines.summary.failures.values()) == len(failing)


def test_interrupted_while_shrinking(tmp_path: Path) -> None:
    """What shrinking had come to is kept, and no candidate is left behind."""
    told = Impatient()
    machines = campaign(bench(DIES), tmp_path, told, traces=2)

    async def interrupted() -> None:
        with anyio.CancelScope() as told.scope:
            await machines.run()

    virtually(interrupted)
    [group] = machines.summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps == told.lengths["ended"][-1] < group.first.steps
    assert not list(tmp_path.glob("*candidate*"))


# Who listens


def test_a_listener_is_told(tmp_path: Path) -> None:
    """The listener is notified of events, paths and the progress of shrinking as they happen."""
    told = Told()
    summary = run(bench(TEA), tmp_path, told, traces=5)
    assert sum(isinstance(event, Sent) for event in told.events) == summary.steps
    assert len(told.offers) == 5
    assert [[node.value for node in view.nodes] for view in told.offers[1][:1]] == [[0]]
    assert [number for number, _ in told.paths] == [1, 2, 3, 4, 5]
    assert told.paths[-1][1] == summary.steps
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert sorted(told.lengths["wrong"], reverse=True) == told.lengths["wrong"]
    assert told.lengths["wrong"][-1] == group.shrunk.steps


def test_a_campaign_without_listener(tmp_path: Path) -> None:
    """A campaign needs no listener."""
    assert virtually(campaign(bench(TEA), tmp_path, None, traces=2).run).paths == 2
