"""Random specs with everything at once: what is simulated, and that system and solver mean the same by a spec.

`python -m benchmarks.simulated --runs 200000 --mutants 20000 --processes 2` does the same on demand, with more runs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from benchmarks import simulated
from benchmarks.blueprints import Blueprint, Branch
from benchmarks.campaigns import TESTERS
from benchmarks.proven import LONG
from benchmarks.simulated import NEEDED, SHARE, Score, conform, names, prove
from benchmarks.simulating import Rehearsal, RunName, named
from benchmarks.solver import decided
from benchmarks.stalling import stalling
from otf.trace.events import Seen, Stalled

RUNS, SEED = 1_200, 1


@pytest.fixture(scope="module")
def score() -> Score:
    """Return what comes of some runs."""
    return conform(RUNS, SEED)


def test_a_tenth_of_the_runs_has_whatever_makes_it_hard(score: Score) -> None:
    """An Accept, a window, two input ports, a cyclic message, a named timer, a system that never rests."""
    assert {what for what in NEEDED if score.met[what] < SHARE * score.runs} == set()


def test_a_conforming_system_is_never_failed(score: Score) -> None:
    """By strict, eager and burst pacing.

    In hardly any campaign of ten runs one is given up: only where the tester thinks for longer than the pauses of a
    system that never rests. Then most of its runs are: 114 of 12,000, in 25 of 1,200 campaigns, with seeds 2 to 4.
    """
    assert [str(run.name) for run in score.alarms] == []
    assert len({(name.mode, name.campaign) for name in score.stuck}) <= RUNS / 400


@pytest.mark.parametrize("runs", [RUNS // 4, pytest.param(4 * RUNS, marks=pytest.mark.slow)])
def test_explanations_that_differ_in_times_alone_are_joined_without_a_false_alarm(
    runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Crowded sets are joined; here all of them are, in each run."""
    monkeypatch.setattr("otf.core.crowd.CROWDED", 0)
    assert [str(run.name) for run in conform(runs, SEED + 1).alarms] == []


def test_a_name_draws_the_same_run_again(score: Score) -> None:
    """However many processes there are, and whichever run of its campaign it is."""
    few = conform(200, SEED, processes=2)
    assert [str(run.name) for run in few.alarms] == [str(run.name) for run in conform(200, SEED).alarms]
    run = score.alarms[0] if score.alarms else next(Rehearsal(RunName("strict", SEED, 0)).runs())
    assert simulated.again(named(str(run.name)))[1] == run


@pytest.mark.parametrize("campaigns", [range(2), pytest.param(range(2, 10), marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", TESTERS)
def test_the_solver_explains_whatever_a_conforming_system_does(mode: str, campaigns: range) -> None:
    """World and solver were written apart from each other and from the core, and mean the same by a spec."""
    decisions = set[str]()
    for campaign in campaigns:
        rehearsal = Rehearsal(RunName(mode, SEED, campaign))
        bounds = rehearsal.bounds
        for run in rehearsal.runs():
            if len(run.events) <= LONG:
                decisions.add(decided(rehearsal.blueprint, run.events, bounds.latency, bounds.busy))
    assert decisions <= {"explained", "cut off"}


@pytest.mark.parametrize(("moments", "decision"), [((0.05,), "explained"), ((0.05, 0.06), "impossible")])
def test_to_the_solver_a_system_may_have_been_on_before(moments: tuple[float, ...], decision: str) -> None:
    """It has ticked since, so that the timer of the alarm was set earlier than that of the next tick."""
    tick, alarm = Branch("s0", ("x",), (0.1, 0.1)), Branch("s0", ("y",), (0.2, 0.3))
    blueprint = Blueprint({("s0", "a"): (Branch("s0"),)}, {"s0": (tick, alarm)}, {"a": "A"}, {"x": "P", "y": "P"})
    assert decided(blueprint, [Seen("y", "P", each) for each in moments], 0.001, 0.001) == decision


def test_what_is_missed_is_known() -> None:
    """Most mutants are found; of the others the solver says so, and they are listed."""
    found = prove(120, SEED)
    assert len(names(120, SEED, mutant=True)) == 12
    assert 0 < len(found.missed) + 10 < found.proven
    assert all(case.decision == "impossible" and not case.run.verdict.failed for case in found.missed)


@pytest.mark.slow
def test_of_the_failures_that_are_proven_few_are_missed() -> None:
    """One in twenty at most, and nothing is failed for which there is an explanation."""
    found = prove(4_000, SEED)
    assert len(found.missed) <= 0.05 * found.proven
    assert found.alarms == []


def test_the_figures_are_written_and_alarms_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file says what was found, the text shows the spec and the events."""
    simulated.main(["--runs", "80", "--mutants", "40", "--seed", "1", "--json", str(tmp_path / "figures.json")])
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert {"runs", "false_alarms", "stuck", "met", "proven", "missed"} <= figures.keys()
    assert "runs/s" in capsys.readouterr().out
    simulated.main(["--again", "strict/1/0/2"])
    assert "starts in ('s0', 0)" in capsys.readouterr().out


def test_a_window_without_an_end_beside_a_timer() -> None:
    """The one run of 200,000 that failed: what ends never, cut off by what ends soon, had no number for its end."""
    assert not simulated.again(named("eager/31/2653/1"))[1].verdict.failed


def test_quiescence_is_believed_after_what_was_left_out_was_looked_at() -> None:
    """Five spontaneous outputs came at once, and an answer was still due after them."""
    assert not simulated.again(named("eager/5/30/3"))[1].verdict.failed


def test_an_input_that_came_too_late_for_a_state_is_taken_after_the_timer_that_ended_it() -> None:
    """Neither order counts as followed if time forbids it."""
    assert not simulated.again(named("eager/77/89/6"))[1].verdict.failed


@pytest.mark.parametrize("name", ["eager/78/1229/8", "eager/78/1911/4"])
def test_an_input_may_be_taken_after_a_timer_has_expired_and_be_seen_to_be_taken_before_that(name: str) -> None:
    """The timers that are set anew have no effect while the system is busy with it: the order matters."""
    assert not simulated.again(named(name))[1].verdict.failed


@pytest.mark.parametrize("mode", TESTERS)
def test_a_conforming_system_is_never_failed_beside_a_machine_that_stalls(mode: str) -> None:
    """What the stalls touched is judged by what they may have delayed, and some runs have many."""
    runs = [run for campaign in range(12) for run in stalling(RunName(mode, SEED, campaign))]
    assert [str(name) for name, verdict, _ in runs if verdict.failed] == []
    assert sum(isinstance(event, Stalled) for _, _, playing in runs for event in playing.events) > 200


@pytest.mark.parametrize("name", ["eager/60/26/4", "burst 4/60/41/2", "eager/9001/29/2", "strict/9001/255/9"])
def test_a_timer_that_may_have_been_restarted_was_on_in_the_stalls_since_then(name: str) -> None:
    """An input that is taken late, and leaves its state as it is, may have set the timer of that state anew."""
    assert again(name) == "pass"


def again(name: str) -> str:
    """Return the outcome of a run beside stalls."""
    mode, seed, campaign, path = name.rsplit("/", 3)
    verdicts = {run.path: verdict for run, verdict, _ in stalling(RunName(mode, int(seed), int(campaign)))}
    return verdicts[int(path)].outcome


def test_spontaneous_outputs_that_were_left_out_may_be_delayed_by_a_stall() -> None:
    """More than were followed at first were under way; that is known only once the stall is over."""
    assert again("burst 4/101/21/10") == "pass"


def test_a_timer_that_was_set_before_an_output_was_held_back_may_be_delayed_by_the_stalls_since_then() -> None:
    """The output was seen before a stall and is judged after it, when an Accept is complete."""
    assert again("burst 2/101/29/6") == "pass"


def test_silence_is_no_failure_where_what_was_left_out_can_no_longer_be_decided() -> None:
    """It decides nothing that it is quiet at last."""
    assert again("strict/101/137/5") == "inconclusive"


SAID = re.compile(r"between ([\d.]+) s and ([\d.inf]+) s of the run")
CAME = re.compile(r"it came at ([\d.]+) s, (?:([\d.]+) s too (early|late)|in that time)")


def agreed(times: tuple[str, ...]) -> bool:
    """Return whether what is said of a time is true by the numbers beside it, which are rounded."""
    between, came = SAID.search(times[0]), CAME.fullmatch(times[1])
    if came is None:
        return times[1].endswith((" s it had not come", " s")) and between is not None
    assert between is not None
    begin, end, at = float(between[1]), float(between[2]), float(came[1])
    distance = {"early": begin - at, "late": at - end}.get(came[3])
    if distance is None:
        return begin - 0.0011 <= at <= end + 0.0011
    return abs(distance - float(came[2])) < 0.0016


def test_what_a_failure_says_of_times_agrees_with_its_numbers() -> None:
    """In all runs of wrong systems that fail where windows are open; most of them are early or late."""
    kinds = Counter[str]()
    for mode, campaign in product(TESTERS, range(12)):
        for run in Rehearsal(RunName(mode, SEED, campaign, mutant=True)).runs():
            failure = run.verdict.failure
            if failure is not None and failure.times:
                assert agreed(failure.times), (str(run.name), failure)
                kinds[failure.kind] += 1
    assert kinds["early"] + kinds["late"] >= 20
    assert kinds["missing"] >= 5
