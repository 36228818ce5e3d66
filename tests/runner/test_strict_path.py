"""The fast path of strict mode: whatever happens on the wire, the run is the one that takes the general path."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters import process
from otf.core import Pacing, Session
from otf.core.stalls import Stalls
from otf.core.waits import Strict
from otf.framing import lines
from otf.runner.strict_path import StrictPath
from otf.runner.waiting import FIRST
from otf.spec import Spec
from otf.strategy import Script
from otf.trace.events import Quiet, Sent
from otf.trace.verdict import Verdict
from tests.runner.playing import Words
from tests.runner.quickly import Answer, Near, Plan, Resting, Story, drove, kind, steps, told
from tests.runner.test_fast_path import ECHO, ELSEWHERE, WRONG, Closing, Doing, Faulty

pytestmark = pytest.mark.real
Both = Callable[..., Story]


def strict(bench: Bench) -> Pacing:
    """Wait for quiescence after each input."""
    return Strict(bench.timing)


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Both:
    """Return a function that conducts a campaign both ways, compares the results, and returns the fast one's story."""

    def compare(**plan: Any) -> Story:  # noqa: ANN401 -- the fields of a plan
        plan = {"pacing": strict, "rests": Resting, **plan}
        long, quick = (told(Plan(**plan), tmp_path, monkeypatch, quick=each) for each in (False, True))
        assert list(map(_by_port, quick.lines)) == list(map(_by_port, long.lines))
        assert quick.verdicts == long.verdicts
        assert quick.views == long.views
        assert long.quick == 0
        return quick

    return compare


def _by_port(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of a trace, with neighbouring outputs by their ports: which is read first is chance."""
    groups = [list(group) for _, group in groupby(lines, lambda line: line["event"] == "seen")]
    ordered = [
        sorted(each, key=lambda line: str(line["port"])) if each[0]["event"] == "seen" else each for each in groups
    ]
    return [{**line, "n": 0} for group in ordered for line in group]


def test_known_strict_steps_are_quick(both: Both) -> None:
    """All steps but those whose result was not seen before: with one answer, several, on two ports, or none."""
    story = both(inputs=["p.ping", "q.ping", "p.more", "p.both", "p.hush"] * 12, ports="pq")
    assert story.verdicts == [Verdict("pass")] * 2
    assert 85 < story.quick < 120
    assert [line["by"] for line in story.lines[-1] if line["event"] == "quiet"] == ["observed"] * 60


def test_a_path_has_as_many_steps_as_it_may(both: Both) -> None:
    """The limit is that of the session."""
    story = both(inputs=["p.ping"] * 50, limit=20)
    assert [sum(isinstance(event, Sent) for event in events) for events in story.events] == [20] * 2
    assert story.quick > 30


@pytest.mark.parametrize(
    ("answers", "failure", "ports"),
    [*((*each, "p") for each in WRONG), *((*each, "pq") for each in WRONG[:2] + ELSEWHERE)],
)
def test_a_wrong_answer_is_the_same_failure(both: Both, answers: list[Answer], failure: str, ports: str) -> None:
    """After seven known steps of a path: one more step, and the same failure, event for event."""
    story = both(inputs=["p.ping", "p.more"] * 6, wrong={7: answers}, ports=ports)
    assert kind(story) == failure
    assert story.quick > 8


def test_an_output_after_a_silent_input_is_the_same_failure(both: Both) -> None:
    """No output was expected, and so it is only looked for, not waited for."""
    story = both(inputs=["p.hush"] * 12, wrong={8: [("p", b"pong")]})
    assert (kind(story), story.quick > 10) == ("unasked", True)


def test_a_lost_line_is_reported_by_the_session(both: Both) -> None:
    """Nothing was sent, the trace has nothing of it, and the port has ended."""
    story = both(inputs=["p.ping"] * 12, broken=8)
    assert kind(story) == "ended"
    assert sum(isinstance(event, Sent) for event in story.events[-1]) == 7


def test_an_endless_answer_is_a_flood(both: Both) -> None:
    """After as many outputs in one step the session counts them."""
    assert kind(both(inputs=["p.ping", "p.ping", "p.go"], flood=100)) == "flood"


def test_a_port_action_is_carried_out_by_the_session(both: Both) -> None:
    """It never takes the fast path; the inputs after it do."""
    story = both(inputs=["p.ping", "p.more", "p.ping", "p.ping"] * 4, bench={"codec": Closing()}, line=Doing)
    assert (kind(story), story.quick > 10) == ("pass", True)


def test_with_injected_faults_no_step_is_quick(both: Both) -> None:
    """An injected fault belongs to the event that it was injected at."""
    assert both(inputs=["p.ping"] * 6, line=Faulty).quick == 0


class Unseen(Resting):
    """Cannot see the system any more after some looks."""

    def look(self) -> bool:
        """Look, for a while."""
        found = super().look()
        self.why = "it hides" if self.looks > 12 else ""
        return found


def test_a_system_that_can_no_longer_be_observed_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step in progress ends with a timed silence, and so do all others."""
    plan = Plan(inputs=["p.ping"] * 12, pacing=strict, rests=Unseen)
    story = told(plan, tmp_path, monkeypatch, quick=True)
    known = [event.by for event in story.events[-1] if isinstance(event, Quiet)]
    assert story.verdicts == [Verdict("pass")] * 2
    assert set(known) == {"observed", "timed"}
    assert known == sorted(known)


class Halves(Near):
    """A line on which half a frame is always there."""

    def stirred(self) -> float:
        """Return that its bytes came just now."""
        return anyio.current_time() if self.sent > 3 else float("-inf")


def test_half_a_frame_is_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rest in the middle of a frame is left to the session, which waits for the rest of the frame."""
    monkeypatch.setattr("otf.runner.lookout.TRICKLE", 0.0)
    story = told(
        Plan(inputs=["p.ping"] * 6, pacing=strict, rests=Resting, line=Halves), tmp_path, monkeypatch, quick=True
    )
    assert story.verdicts == [Verdict("pass")] * 2


def test_a_late_wait_is_noted_as_a_stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tester woke up 3 ms after the end of its wait, and had not seen the answer."""
    noted, note = list[float](), Stalls.note

    def noting(stalls: Stalls, at: float, seconds: float) -> None:
        noted.append(seconds)
        note(stalls, at, seconds)

    def late(*_: object) -> tuple[list[int], list[int], list[int]]:
        time.sleep(FIRST + 0.003)
        return [], [], []

    monkeypatch.setattr(Stalls, "note", noting)
    monkeypatch.setattr("otf.runner.strict_path.select.select", late)
    story = told(Plan(inputs=["p.ping"] * 4, pacing=strict, rests=Resting), tmp_path, monkeypatch, quick=True)
    assert story.verdicts == [Verdict("pass")] * 2
    assert max(noted) >= 0.003


def test_a_child_process_is_observed_both_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over pipes, with real rests: the same trace."""
    port = process([sys.executable, "-c", ECHO], framing=lines())
    made = Bench(Spec(steps, 0, ["p.ping"]), codec=Words(), ports={"p": port}, quiescence=0.2)
    bench = replace(made, silence="observed")
    stories = list[Story]()
    for quick in (False, True):
        story = Story()
        with monkeypatch.context() as patch:
            if not quick:
                patch.setattr(StrictPath, "ready", property(lambda _self: False))
            session = Session(bench.oracle(), Script(["p.ping"] * 40), Strict(bench.timing), steps=40)
            drove(bench, session, story, tmp_path)
        stories.append(story)
    assert stories[0].lines == stories[1].lines
    assert stories[0].verdicts == stories[1].verdicts == [Verdict("pass")]
    assert sum(isinstance(event, Quiet) for event in stories[1].events[0]) == 40
