"""A cyclic message that may be under way for longer than its period: many explanations, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otf.core import Limits, Model, Monitor, Oracle
from otf.core.compile import Routes
from otf.core.crowd import CROWDED
from otf.core.timing import Timing
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Event, Seen, Sent

TICK = start("tick", 0.012, 0.03)


def _answer(state: int, inp: str) -> Iterator[Transition[int]]:
    yield goto(state, f"ans.{inp}")


def _tick(state: int) -> Iterator[Transition[int]]:
    yield goto(state + 1, f"cyc.{state}", after="tick", timers=[TICK])


DEVICE = Spec(_answer, 0, ["ask"], _tick, timers=[start("tick", 0.0, 0.03)])
# each answer changes the state: whether it came before a tick or after it does matter
TOGGLING = Spec[tuple[int, bool], str](
    lambda state, inp: [goto((state[0], not state[1]), f"ans.{inp}")],
    (0, False),
    ["ask"],
    lambda state: [goto((state[0] + 1, state[1]), f"cyc.{state[0]}", after="tick", timers=[TICK])],
    timers=[start("tick", 0.0, 0.03)],
)


def _monitor(limits: Limits | None = None, spec: Spec[Any, str] = DEVICE) -> Monitor:
    routes = Routes(("ans", "cyc"), lambda value: str(value).partition(".")[0])
    timing = Timing(quiescence=0.05, latency=0.06, busy=0.002)
    return Monitor(Oracle(Model(spec, routes), timing=timing, limits=limits or Limits()))


def _eager(steps: int) -> Iterator[Event]:
    """Yield a run in which each answer takes 5 ms, and each tick 50 ms: three are always under way."""
    ticks = 0
    for step in range(steps):
        at = step * 0.008
        yield Sent("ask", "ans", at)
        yield Seen("ans.ask", "ans", at + 0.005)
        while ticks * 0.02 + 0.07 < at + 0.008:
            yield Seen(f"cyc.{ticks}", "cyc", ticks * 0.02 + 0.07)
            ticks += 1


def test_explanations_that_differ_in_times_alone_are_few() -> None:
    """Each tick may have been emitted before or after each of the last inputs, and at many times."""
    monitor, most = _monitor(spec=TOGGLING), 0
    for event in _eager(200):
        assert monitor.tell(event) is None
        most = max(most, len(monitor.belief.hypotheses))
    assert most <= CROWDED


def test_a_wrong_answer_is_found_among_them() -> None:
    """Joining times does not join outputs."""
    monitor = _monitor()
    for event in _eager(50):
        monitor.tell(event)
    verdict = monitor.tell(Seen("ans.other", "ans", 0.5))
    assert verdict is not None
    assert verdict.failed


def test_judging_again_is_bounded() -> None:
    """Where that takes too long, the run goes on, and what fails after that is not certain."""
    monitor = _monitor(Limits(hypotheses=4, spontaneous=1), TOGGLING)
    for event in _eager(50):
        monitor.tell(event)
    assert monitor.lookahead.lost or monitor.verdict is not None
