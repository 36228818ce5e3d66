"""A long run beside stalls goes on past a time that was missed, and shows who is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

import pytest

from otf.core import Model, Monitor, Oracle
from otf.core.compile import Routes
from otf.core.missed_times import LONG
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled
from otf.trace.verdict import Verdict


def step(_state: int, inp: str) -> Iterator[Transition[int]]:
    """`read` is answered at once."""
    yield goto(0, inp)


def emits(_state: int) -> Iterator[Transition[int]]:
    """A message comes each second."""
    yield goto(0, "beat", after="beat", timers=[BEAT])


BEAT: Final = start("beat", 0.9, 1.1)
NODE: Final[Spec[int, str]] = Spec(step, 0, ["read"], emits, timers=[BEAT])
ORACLE: Final = Oracle(Model(NODE, Routes(("p",), lambda _: "p")))


def beats(*at: float) -> list[Event]:
    """Return messages that come then."""
    return [Seen("beat", "p", each) for each in at]


def every(until: float, stall: float = 0.02) -> list[Event]:
    """Return messages in time, and the stalls of a busy machine between them."""
    found: list[Event] = []
    for at in range(1, round(until)):
        found += [*beats(float(at)), *[Stalled(stall, at + 0.5)] * (stall > 0)]
    return found


def judged(events: list[Event]) -> Monitor:
    """Return the monitor that judged these events, as far as they decide."""
    monitor = Monitor(ORACLE)
    for event in events:
        if monitor.tell(event) is not None:
            break
    return monitor


def verdict(*events: Event, until: float = 40.0, stall: float = 0.02) -> Verdict:
    """Return the verdict of a run whose messages came in time until then, and then like this."""
    return judged([*every(until, stall), *events]).end()


def test_a_message_that_comes_late_once_leaves_the_run_going() -> None:
    """The run goes on, and at its end the miss is a failure that nothing has proven."""
    late = beats(40.2, 41.2, 42.2)
    assert judged([*every(40.0), *late]).verdict is None
    end = verdict(*late)
    assert end.failure is not None
    assert (end.failure.kind, end.proven) == ("late", False)
    assert end.failure.event == 1 + len(every(40.0))


def test_the_third_late_message_counts() -> None:
    """Three hidden stalls in a few seconds, longer than any that was measured, are no excuse."""
    found = verdict(*beats(40.2, 41.5, 42.8))
    assert found.proven
    assert found.failure is not None
    assert "within 2.6 s" in found.failure.note


def test_long_stalls_near_it_excuse_more() -> None:
    """Three misses that are no longer together than twice the longest stall may be stalls."""
    assert not verdict(*beats(40.2, 41.5, 42.8), stall=0.3).proven


def test_misses_that_are_far_apart_may_be_stalls() -> None:
    """A machine that is busy for an hour makes a message late now and then."""
    moments = accumulate((1.3 if number % 20 == 0 else 1.0 for number in range(60)), initial=39.0)
    late = [each for at in list(moments)[1:] for each in (*beats(at), Stalled(0.02, at + 0.5))]
    assert judged([*every(40.0), *late]).verdict is None


def test_a_message_that_stays_away() -> None:
    """Whatever came in between: what is missing for ten times the longest stall has not been held up by one."""
    asked = [each for at in range(1, 9) for each in (Sent("read", "p", 39 + at / 2), Seen("read", "p", 39.05 + at / 2))]
    found = verdict(*asked)
    assert found.proven
    assert found.failure is not None
    assert found.failure.kind == "missing"


@pytest.mark.parametrize("until", [10.0, LONG - 5])
def test_a_short_run_is_driven_again(until: float) -> None:
    """It ends at once, as each run without a stall does."""
    assert judged([*every(until), *beats(until + 0.2)]).verdict is not None
    assert judged([*every(40.0, stall=0.0), *beats(40.2)]).verdict is not None


@pytest.mark.parametrize("wrong", [Seen("beet", "p", 40.0), Seen("beat", "p", 39.5)])
def test_a_wrong_value_and_an_early_message_end_the_run(wrong: Event) -> None:
    """No stall makes these."""
    assert judged([*every(40.0), wrong]).verdict is not None


def test_an_answer_that_does_not_come() -> None:
    """It has no time of its own, so no hidden stall explains it, and the run ends with the failure as it was."""
    asked: list[Event] = [Sent("read", "p", 39.5), Quiet(40.3)]
    found = judged([*every(40.0), *asked]).verdict
    assert found is not None
    assert found.failed
    assert not found.proven
