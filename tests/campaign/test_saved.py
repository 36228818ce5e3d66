"""Failures are kept, and tried first by the next campaign on the same bench."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from otf.adapter import Bench, KnownIssue
from otf.campaign import Summary
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.runner.lookout import Lookout
from otf.spec import Spec
from otf.trace.verdict import Verdict
from tests.campaign.machine import (
    COFFEE,
    DIES,
    TEA,
    THIEF,
    Coin,
    Machine,
    Started,
    bench,
    judged,
    made_by,
    run,
)


def _run(tested: Bench, tmp_path: Path, **more: Any) -> Summary:  # noqa: ANN401 -- settings
    given: dict[str, Any] = {"traces": 4, "seed": 1, **more}
    shutil.rmtree(tmp_path / "out", ignore_errors=True)  # a folder of traces belongs to one run
    return run(tested, tmp_path / "out", None, saved=tmp_path / "kept", **given)


def _came(summary: Summary) -> list[str]:
    return [str(each) for each in summary.saved]


def test_a_failure_that_is_still_there(tmp_path: Path) -> None:
    """It is reported and counts as a failure even if no path shows it; its run has a trace."""
    first = _run(bench(TEA), tmp_path)
    assert _came(first) == []
    assert len(list((tmp_path / "kept").iterdir())) == 1
    again = _run(bench(TEA), tmp_path, traces=1, steps=1)
    assert (_came(again), again.verdict, again.paths) == (["still there"], "fail", 1)
    ((signature, group),) = again.failures.items()
    assert signature in first.failures
    assert (group.count, group.first.steps) == (0, 4)
    assert judged(tmp_path / "out" / "saved-0001.jsonl").recorded == "fail"


def test_a_failure_that_was_fixed(tmp_path: Path) -> None:
    """It is reported as fixed once, and no longer kept; no trace of its runs stays."""
    _run(bench(TEA), tmp_path)
    fixed = _run(bench(), tmp_path)
    assert (_came(fixed), fixed.verdict) == (["fixed"], "pass")
    assert not list((tmp_path / "out").glob("saved-*"))
    assert _came(_run(bench(), tmp_path)) == []


def test_the_paths_are_the_same(tmp_path: Path) -> None:
    """Saved failures do not change the paths of a seed."""
    one = _run(bench(TEA, THIEF), tmp_path)
    two = _run(bench(TEA, THIEF), tmp_path)
    assert _came(two) == ["still there"] * 2
    assert (one.paths, one.steps) == (two.paths, two.steps)
    assert [(key, each.count) for key, each in one.failures.items()] == [
        (key, each.count) for key, each in two.failures.items()
    ]


def test_only_failures_of_the_same_bench_are_tried(tmp_path: Path) -> None:
    """Another bench, or the same with other parameters, has failures of its own; times make no other bench."""
    _run(bench(TEA, parameters={"coins": 3, "L": 0.1}), tmp_path)
    assert _came(_run(bench(TEA, parameters={"coins": 4}), tmp_path, reference="other")) == []
    assert _came(_run(bench(TEA, parameters={"coins": 3, "L": 0.2}), tmp_path)) == ["still there"]


def test_a_failure_belongs_to_the_addresses_of_its_system(tmp_path: Path) -> None:
    """A stand-in that answers rightly does not make the device right: its failure is kept, and tried there."""
    device = ("line=/dev/ttyUSB0",)
    _run(bench(TEA), tmp_path, where=device)
    assert _came(_run(bench(), tmp_path)) == []
    assert _came(_run(bench(), tmp_path, where=("line=exec:standin",))) == []
    assert _came(_run(bench(TEA), tmp_path, where=device)) == ["still there"]


def test_a_kept_trace_that_fits_no_more(tmp_path: Path) -> None:
    """A trace that cannot be read any more, or has no input, is reported and no longer kept."""
    _run(bench(TEA), tmp_path)
    (kept,) = (tmp_path / "kept").iterdir()
    header = kept.read_text(encoding="utf-8").splitlines()[0]
    kept.write_text("nonsense\n", encoding="utf-8")
    kept.with_name(kept.name.replace(".jsonl", "0.jsonl")).write_text(f"{header}\n", encoding="utf-8")
    summary = _run(bench(), tmp_path)
    assert ["obsolete" in each for each in _came(summary)] == [True, True]
    assert not list((tmp_path / "kept").iterdir())
    assert summary.verdict == "pass"


def test_a_kept_failure_whose_input_is_no_longer_enabled(tmp_path: Path) -> None:
    """Its inputs are skipped, so that no run can show it: it counts as neither fixed nor there."""
    _run(bench(TEA, inputs="uioco"), tmp_path)
    less = Spec(lambda state, inp: COFFEE.step(state, inp) if isinstance(inp, Coin) else (), 0, COFFEE.inputs)
    summary = _run(replace(bench(TEA, inputs="uioco"), spec=less), tmp_path)
    (came,) = _came(summary)
    assert came.startswith("obsolete: the model no longer enables the input of its step ")
    assert "Button()" in came
    assert summary.verdict == "pass"
    assert not list((tmp_path / "kept").iterdir())


def test_a_kept_failure_that_is_a_known_issue_now(tmp_path: Path) -> None:
    """The bench has learnt of it since: it is reported as such, and is not a failure; it stays kept."""
    _run(bench(TEA), tmp_path)
    known = KnownIssue(lambda failure: failure.seen == "Tea()", "it makes tea")
    summary = _run(bench(TEA, known_issues=(known,)), tmp_path, stop_first=True)
    assert _came(summary) == ["now a known issue (it makes tea)"]
    assert (summary.verdict, summary.paths) == ("pass", 4)
    assert list((tmp_path / "kept").iterdir())


def test_the_first_failure_ends_the_campaign(tmp_path: Path) -> None:
    """With `stop_first` a kept failure that is still there is enough."""
    _run(bench(TEA), tmp_path)
    summary = _run(bench(TEA), tmp_path, stop_first=True)
    assert (summary.paths, summary.verdict, len(summary.failures)) == (0, "fail", 1)


def test_no_contact(tmp_path: Path) -> None:
    """A system that cannot be started leaves the saved failures as they are."""
    _run(bench(TEA), tmp_path)
    summary = _run(made_by(Started((TEA,), good=0), retries=0), tmp_path)
    assert (summary.verdict, summary.saved) == ("inconclusive", [])
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_what_never_showed_again_is_not_kept(tmp_path: Path) -> None:
    """A failure that no run of the shrinker shows is not a failure to be tried first."""
    copies = iter(range(1000))
    summary = _run(made_by(lambda: Machine((TEA,) if next(copies) == 0 else ())), tmp_path, steps=200, traces=1)
    assert summary.failures
    assert not (tmp_path / "kept").exists()


def test_without_shrinking_the_path_itself_is_kept(tmp_path: Path) -> None:
    """A failure that is not shrunk is tried again with all its inputs."""
    first = _run(bench(TEA), tmp_path, shrink=False)
    (group,) = first.failures.values()
    again = _run(bench(TEA), tmp_path, traces=1, steps=1, shrink=False)
    (kept,) = again.failures.values()
    assert kept.first.steps == group.first.steps


def test_a_kept_failure_that_ends_the_system(tmp_path: Path) -> None:
    """The first saved failure counts, even if no system is left for the second."""
    _run(bench(DIES, THIEF), tmp_path, seed=2, steps=200, traces=20)
    assert len(list((tmp_path / "kept").iterdir())) > 1
    summary = _run(made_by(Started((DIES, THIEF), good=1)), tmp_path)
    assert (_came(summary), summary.verdict, summary.paths) == (["still there"], "fail", 0)
    assert "failed" in summary.trouble


def test_a_kept_failure_that_is_seen_once_beside_a_stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Money that may come late is neither still there nor fixed, and is kept; seen twice, it is still there."""
    _run(bench(THIEF), tmp_path)

    def stalled(_lookout: Lookout) -> float:
        return 0.25

    monkeypatch.setattr(Lookout, "stalled", stalled)
    machines = iter([Machine((THIEF,))])
    once = _run(made_by(lambda: next(machines, Machine())), tmp_path, traces=1, steps=1)
    assert "not decided: a failure was seen once in 5 strict runs" in _came(once)[0]
    assert (once.verdict, len(list((tmp_path / "kept").iterdir()))) == ("pass", 1)
    assert _came(_run(bench(THIEF), tmp_path, traces=1, steps=1)) == ["still there"]


def test_a_kept_failure_whose_runs_do_not_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are inconclusive, or that the time of the campaign has no room for, do not show that it is fixed."""
    _run(bench(THIEF), tmp_path)
    late = _run(bench(), tmp_path, traces=1, steps=1, time=1e-9)
    assert _came(late) == ["not decided: the time of the campaign was over before it was driven often enough"]
    whole = PathRun.run

    async def unclear(path: PathRun, *given: Any, **more: Any) -> PathResult:  # noqa: ANN401 -- those of a run
        return replace(await whole(path, *given, **more), verdict=Verdict("inconclusive", why="it was busy"))

    monkeypatch.setattr(PathRun, "run", unclear)
    busy = _run(bench(), tmp_path, traces=1, steps=1)
    assert _came(busy) == ["not decided: all runs were inconclusive (the first: it was busy)"]
    assert len(list((tmp_path / "kept").iterdir())) == 1
