"""A failure of a system that has been on for long shrinks to a wait."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.shrink_simulated import unpaused
from otf.core import Chooser, Model, Monitor, Oracle
from otf.shrink import Issue, Setting, issue_of
from otf.spec import Idle, Spec, goto
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent

SPEC: Spec[int, str] = Spec(lambda state, inp: [goto(state, inp.upper(), within=(0, 0.3))], 0, ["a", "b", "c"])
ORACLE = Oracle(Model(SPEC))
STEP = 0.5  # seconds that an input takes
OLD = 20.0


def _run(chooser: Chooser, limit: int, *, counts: bool) -> Issue:
    """Drive a system that answers wrongly once it has been on for 20 s, or with `counts`, after 40 inputs."""
    monitor, events, now = Monitor(ORACLE), list[Event](), 0.0
    for given in range(limit):
        inp = chooser.choose(ORACLE.view(monitor.belief))
        if inp is None or monitor.verdict is not None:
            break
        new: list[Event] = [Sent(inp.value, "sut", now)]
        if isinstance(inp.value, Idle):
            now += inp.value.seconds
        else:
            wrong = given >= OLD / STEP if counts else now >= OLD
            new.append(Seen("?" if wrong else str(inp.value).upper(), "sut", now + 0.1))
            now += STEP
        for event in (*new, Quiet(now)):
            events.append(event)
            monitor.tell(event)
    return issue_of(ORACLE, events)


def _shrunk(*, counts: bool, seconds: float = OLD) -> list[object]:
    issue = _run(Script(["a", "b", "c"] * 20), 60, counts=counts)
    assert (len(issue), issue.seconds) == (41, 20.0)
    search = unpaused(replace(issue, seconds=seconds), Setting(ORACLE))
    try:
        candidate = next(search)
        while True:
            found = _run(candidate.chooser(), candidate.limit, counts=counts)
            candidate = search.send(found if found.signature else None)
    except StopIteration as done:
        return [symbol.value for symbol in done.value.inputs]


def test_time_alone_is_enough() -> None:
    """What fails after twenty seconds fails after a wait of twenty seconds, whatever was sent meanwhile."""
    assert _shrunk(counts=False) == [Idle(20), "b"]


def test_a_wait_is_no_replacement_for_inputs_that_are_counted() -> None:
    """Where the system counts inputs, the wait passes, and all 41 inputs stay."""
    found = _shrunk(counts=True)
    assert (len(found), any(isinstance(each, Idle) for each in found)) == (41, False)


def test_a_short_run_is_not_worth_a_wait() -> None:
    """Less than a second of a run is not a uptime: no wait is tried."""
    assert not any(isinstance(each, Idle) for each in _shrunk(counts=False, seconds=0.9))


def test_an_output_that_the_tester_saw_late_ends_no_issue() -> None:
    """A run that went on after an output that came late was not over there: all of its inputs belong to the issue."""
    late: list[Event] = [Sent("a", "sut", 0.0), Seen("A", "sut", 0.9), Quiet(1.0)]
    issue = issue_of(ORACLE, [*late, Sent("b", "sut", 1.5), Seen("?", "sut", 1.6)])
    assert (len(issue), issue.signature is not None and issue.signature.kind) == (2, "wrong")
