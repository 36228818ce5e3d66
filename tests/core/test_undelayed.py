"""A failure that no delay explains counts, however busy the machine was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.core import Model, Oracle, Session
from otf.core.compile import Routes
from otf.core.pacing import Strict
from otf.core.undelayed import CROWDED, MOST, is_undelayed
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, Transition, goto, start, stop
from otf.strategy import Script
from otf.trace.events import Event, Guess, Quiet, Seen, Sent, Stalled


def step(held: str, inp: str) -> Iterator[Transition[str]]:
    """`hold` lasts for a second, unless it is booked; both are told."""
    if inp == "hold" and not held:
        yield goto("held", "ok", "news", timers=[start("hold", 0.9, 1.1)])
    elif inp == "book" and held == "held":
        yield goto("booked", "ok", "news", timers=[stop("hold")])
    else:
        yield goto(held, "no")


def emits(held: str) -> Iterator[Transition[str]]:
    """What is held expires."""
    if held == "held":
        yield goto("", "expired", after="hold")


HOLD: Spec[str, str] = Spec(step, "", ["hold", "book"], emits)
BOOKED: list[Event] = [
    Sent("hold", "p", 0.0),
    Seen("ok", "p", 0.1),
    Seen("news", "p", 0.1),
    Quiet(0.2, by="observed"),
    Sent("book", "p", 0.3),
    Stalled(0.05, 0.35),
    Seen("ok", "p", 0.4),
]


ORACLE = Oracle(Model(HOLD, Routes(("p",), lambda _: "p")))
GAPS = st.lists(st.floats(0, 5), min_size=1, max_size=30)


def undelayed(*events: Event) -> bool:
    """Whether no delay explains that these events fail."""
    return is_undelayed(ORACLE, events)


def test_an_observed_rest_needs_no_clock() -> None:
    """The answer came, its news did not, and the system rests: the stall before it explains nothing."""
    assert undelayed(*BOOKED, Quiet(0.5, by="observed"))


def test_timed_silence_proves_nothing() -> None:
    """Whoever stalled may still say it."""
    assert not undelayed(*BOOKED, Quiet(0.5, by="timed"))


def test_a_wrong_answer_needs_no_clock() -> None:
    """No delay makes this output of that one."""
    assert undelayed(*BOOKED, Seen("expired", "p", 0.5))


@pytest.mark.parametrize("at", [0.2, 5.0])
def test_a_wrong_time_may_be_a_delay(at: float) -> None:
    """A timer that shows too early or too late is a matter of clocks, as is one that does not show."""
    held = BOOKED[:3]
    assert not undelayed(*held, Seen("expired", "p", at))
    assert not undelayed(*held, Quiet(at, by="observed"))


def test_only_the_last_event_may_fail() -> None:
    """Without an event there is nothing, and what a run went past depends on a guess."""
    assert not undelayed()
    assert not undelayed(*BOOKED, Seen("no", "p", 0.5), Seen("no", "p", 0.6))
    assert not undelayed(*BOOKED, Guess(0.45), Seen("expired", "p", 0.5))


def test_what_would_take_long_is_left_open() -> None:
    """Too many events, or too many orders of the inputs in flight."""
    assert not undelayed(*[Sent("book", "p", 0.0)] * MOST, Seen("oh", "p", 1.0))
    sides: Spec[tuple[str, ...], str] = Spec(lambda told, inp: [goto((*told, inp), "x")], (), [*"0123456"])
    oracle = Oracle(Model(sides, Routes((*"0123456", "p"), lambda value: value if value.isdigit() else "p")))
    many: list[Event] = [*(Sent(each, each, 0.0) for each in "0123456"), *[Seen("x", "p", 0.5)] * 3]
    assert CROWDED < 7 * 6 * 5
    assert not is_undelayed(oracle, [*many, Seen("oh", "p", 1.0)])


@given(seed=st.integers(0, 2**32), inputs=st.lists(st.sampled_from(["hold", "book"]), max_size=12), gaps=GAPS)
def test_no_delay_makes_a_correct_system_wrong(seed: int, inputs: list[str], gaps: list[float]) -> None:
    """A correct run is never blamed, whenever its events are said to have come."""
    random, events = Random(seed), list[Event]()
    world = World(System(HOLD, lambda _: "p", random), TimeBounds(), random)
    session = Session(ORACLE, Script(inputs), Strict(ORACLE.timing), steps=12)
    conduct(session, world, lambda _: "p", events.append)
    moments = accumulate(gaps[at % len(gaps)] for at in range(len(events)))
    assert not is_undelayed(ORACLE, [replace(each, at=at) for each, at in zip(events, moments, strict=True)])
