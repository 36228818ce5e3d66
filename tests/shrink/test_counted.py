"""A failure of a system that numbers what it says: the number makes no other state to be reached."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.shrink_simulated import unpaused
from otf.core import Chooser, Model, Monitor, Oracle, Routes
from otf.shrink import Issue, Setting, issue_of
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent

State = tuple[str, int]
INPUTS = ["a", "b", "c", "d"]


def _step(state: State, inp: str) -> Iterator[Transition[State]]:
    yield goto((inp, state[1]), inp.upper())


def _emits(state: State) -> Iterator[Transition[State]]:
    yield goto((state[0], (state[1] + 1) % 256), f"tick {state[1]}")


SPEC: Spec[State, str] = Spec(_step, ("", 0), INPUTS, _emits)
ORACLE = Oracle(Model(SPEC, Routes(("p",), lambda _value: "p")))


def _run(chooser: Chooser, limit: int) -> Issue | None:
    """Drive a system that ticks before each answer, and answers wrongly to `d` after `b`."""
    monitor, events, before = Monitor(ORACLE), list[Event](), ""
    for number in range(limit):
        inp = chooser.choose(ORACLE.view(monitor.belief))
        if inp is None or monitor.verdict is not None:
            break
        value, now = str(inp.value), float(number)
        answer = "?" if (before, value) == ("b", "d") else value.upper()
        before = value
        for event in (Sent(value, "p", now), Seen(f"tick {number % 256}", "p", now), Seen(answer, "p", now)):
            events.append(event)
            monitor.tell(event)
        events.append(Quiet(now + 0.5))
        monitor.tell(events[-1])
    found = issue_of(ORACLE, events)
    return found if found.signature else None


def test_two_inputs_are_left_of_forty() -> None:
    """The steps that matter came at numbers of the tick which no short run has."""
    issue = _run(Script([*"acbcadcabc" * 4, "b", "d"]), 42)
    assert issue is not None
    assert len(issue) == 42
    assert {len(step.nodes) for step in issue.steps} == {1}
    shortest, runs = _shrunk(issue)
    assert [symbol.value for symbol in shortest.inputs] == ["b", "d"]
    assert runs < 10


def _shrunk(issue: Issue) -> tuple[Issue, int]:
    search, runs = unpaused(issue, Setting(ORACLE)), 0
    try:
        candidate = next(search)
        while True:
            runs += 1
            candidate = search.send(_run(candidate.chooser(), candidate.limit))
    except StopIteration as done:
        return done.value, runs
