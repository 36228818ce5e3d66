"""Failures of a timer that depend on how many inputs came before: few trials find the fewest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.shrink_simulated import unpaused
from otf.compose import cyclic
from otf.core import Chooser, Model, Monitor, Oracle
from otf.shrink import Issue, Setting, issue_of
from otf.spec import Idle, Spec, goto
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.trace.verdict import Signature

SPEC = cyclic(Spec(lambda state, inp: [goto(state, inp.upper())], 0, ["a", "b", "c"]), "tick", "t", every=1.0)
ORACLE = Oracle(Model(SPEC))
INPUTS = [*"abcacbbacbca" * 5]
MISSING = Signature("missing", "", "", "", "")
LAST = 2.5  # seconds after the last input


class Device:
    """A device that says `t` each second until it is broken: `breaks` looks at the inputs so far."""

    def __init__(self, breaks: Callable[[str], bool]) -> None:
        self.runs = 0
        self._breaks = breaks

    def shows(self, chooser: Chooser, limit: int) -> Issue | None:
        """Return the issue of a run, None if it passes."""
        self.runs += 1
        monitor, events, sent, due = Monitor(ORACLE), list[Event](), "", 1.0
        at = 0.05
        for number in range(limit + 1):
            inp = chooser.choose(ORACLE.view(monitor.belief)) if number < limit else None
            value = None if inp is None else inp.value
            end = at + (LAST if inp is None else value.seconds if isinstance(value, Idle) else 0.1)
            new: list[Event] = [] if inp is None else [Sent(inp.value, "sut", at)]
            if inp is not None and not isinstance(value, Idle):
                sent += str(inp.value)
                new.append(Seen(str(inp.value).upper(), "sut", at + 0.01))
            while due <= end:
                new += [] if self._breaks(sent) else [Seen("t", "sut", due)]
                due += 1.0
            for event in sorted([*new, Quiet(end, restless=True)], key=lambda each: each.at):
                events.append(event)
                if monitor.tell(event) is not None:
                    # the campaign counts each failure of one timer as the same
                    return replace(issue_of(ORACLE, events), signature=MISSING)
            if inp is None:
                return None
            at = end
        return None

    def shrunk(self) -> list[object]:
        """Return the fewest inputs found, all runs counted."""
        issue = self.shows(Script(INPUTS), len(INPUTS))
        assert issue is not None
        search = unpaused(issue, Setting(ORACLE))
        try:
            candidate = next(search)
            while True:
                candidate = search.send(self.shows(candidate.chooser(), candidate.limit))
        except StopIteration as done:
            return [symbol.value for symbol in done.value.inputs]


def test_so_many_inputs_whatever_they_are() -> None:
    """Where every input counts, as many of one kind are left, and no chunk of different ones is tried."""
    device = Device(lambda sent: len(sent) >= 30)
    assert device.shrunk() == ["a"] * 30
    assert device.runs < 40


def test_so_many_inputs_of_one_kind_among_others() -> None:
    """Where only some inputs count, the others are left out all at once."""
    device = Device(lambda sent: sent.count("b") >= 12)
    assert device.shrunk() == ["b"] * 12
    assert device.runs < 40


def test_two_kinds_that_count() -> None:
    """Where two kinds count, the third is left out all at once."""
    device = Device(lambda sent: sent.count("b") >= 6 and sent.count("c") >= 6)
    assert sorted(map(str, device.shrunk())) == [*"bbbbbbcccccc"]


def test_the_last_input_is_not_to_blame() -> None:
    """What a timer does not do may be caused by what came first: everything after that is left out."""
    assert Device(lambda sent: "cac" in sent).shrunk() == [*"cac"]
