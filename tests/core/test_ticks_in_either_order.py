"""Beside timers, a tick and an input whose order makes no difference are followed in one order only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.core import Limits, Model, Monitor, Oracle, Timing
from otf.core.commuting import Orders
from otf.core.compile import Routes
from otf.simulate import System, TimeBounds, World
from otf.spec import Spec, Transition, goto, start
from otf.trace.events import Event, Seen, Sent

UNIT: Final = 0.004
State = tuple[str, int]


@dataclass(frozen=True)
class Device:
    """A device with a cyclic message on `q`, perhaps numbered, perhaps one more, and answers on `p`.

    `named`: the cyclic message has a timer with a name. `lease`: an input that starts one, after which the state is
    another; `toggling`: an input that changes the state.
    """

    lo: int
    width: int
    named: bool
    numbered: bool
    second: bool
    lease: bool
    toggling: bool

    @property
    def spec(self) -> Spec[State, str]:
        """Return the model."""
        return Spec(self._step, ("off", 0), self.inputs, self._emits, timers=[self._timer] if self.named else [])

    @property
    def inputs(self) -> list[str]:
        """Return the inputs."""
        return ["p.ask", *["p.take"] * self.lease, *["p.turn"] * self.toggling]

    @property
    def _timer(self) -> Any:  # noqa: ANN401 -- what `start` returns
        return start("tick", self.lo * UNIT, (self.lo + self.width) * UNIT)

    def _step(self, state: State, inp: str) -> Iterator[Transition[State]]:
        name, number = state
        if inp == "p.turn":
            yield goto(("on" if name == "off" else "off", number), "p.turned")
        elif inp == "p.take":
            yield goto(state, "p.taken", timers=[start("lease", 9 * UNIT, 12 * UNIT)])
        else:
            yield goto(state, f"p.{name}")

    def _emits(self, state: State) -> Iterator[Transition[State]]:
        name, number = state
        then = name, (number + 1) % 3 if self.numbered else 0
        if self.named:
            yield goto(then, f"q.tick{number}", after="tick", timers=[self._timer])
        else:
            yield goto(then, f"q.tick{number}", within=(self.lo * UNIT, (self.lo + self.width) * UNIT))
        if self.second:
            yield goto(state, "r.tock", within=(5 * UNIT, 11 * UNIT))
        if self.lease and name == "on":
            yield goto(("off", number), "q.over", after="lease")


DEVICES: Final = st.builds(
    Device,
    st.integers(0, 5),
    st.integers(1, 4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


def _run(device: Device, timing: Timing, random: Random) -> list[Event]:
    """Return a run in which inputs do not wait for answers."""
    bounds = TimeBounds(timing.latency, timing.busy, chance=random.choice(("uniform", "extreme")))
    world = World(System(device.spec, lambda output: str(output)[0], random), bounds, random, wavering=True)
    events = list[Event]()
    for inp in random.choices(device.inputs, k=5):
        until = world.now + random.choice((0.0, 0.3, 1.0, 6.0)) * UNIT
        while world.now < until:
            world.advance(until)
            events += world.arrived
            world.arrived.clear()
        events.append(Sent(inp, "p", world.now))
        world.send(inp, "p")
    for _ in range(3):
        world.advance(world.now + 5 * UNIT)
        events += world.arrived
        world.arrived.clear()
    return events


def _mutated(events: list[Event], random: Random) -> list[Event]:
    """Return the run with an output that is another one, missing, or from another time."""
    seen = [at for at, event in enumerate(events) if isinstance(event, Seen)]
    if not seen:
        return events
    at = random.choice(seen)
    event = events[at]
    assert isinstance(event, Seen)
    other = random.choice(("q.tick0", "q.tick1", "p.on", "p.off", "r.tock", ""))
    kept = [replace(event, output=other, port=other[0])] if other else []
    return [*events[:at], *kept, *events[at + 1 :]]


def _failed_at(device: Device, timing: Timing, events: Sequence[Event]) -> int | None:
    """Return the number of the event that nothing explains; None if there is none, -1 if that takes too long to say."""
    routes = Routes(("p", "q", "r"), lambda value: str(value)[0])
    monitor = Monitor(Oracle(Model(device.spec, routes), timing=timing, limits=Limits(hypotheses=150)))
    for event in events:
        verdict = monitor.tell(event)
        if verdict is not None:
            return monitor.events if verdict.failed else -1
    return None


def _all(orders: Orders, now: Any, _asleep: Any, woken: Any) -> Any:  # noqa: ANN401 -- as `Orders.of`
    return orders.moves.of(now) if woken is None else []


@settings(max_examples=30)
@given(device=DEVICES, seed=st.integers(0, 1 << 32), latency=st.sampled_from((0.0, 0.5, 1.5)), wrong=st.booleans())
def test_one_order_explains_every_run_and_no_more_than_all_orders_do(
    device: Device, seed: int, latency: float, wrong: bool
) -> None:
    """No conforming run fails, and one that fails if all orders are followed fails no later if one is.

    It may fail where all orders explain it: these have ticks long under way that would have been seen, each of which
    is known by its own interval alone.
    """
    random, timing = Random(seed), Timing(quiescence=0.1, latency=latency * UNIT, busy=0.5 * UNIT)
    events = _run(device, timing, random)
    if wrong:
        events = _mutated(events, random)
    one = _failed_at(device, timing, events)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Orders, "of", _all)
        every = _failed_at(device, timing, events)
    assert wrong or one in {None, -1}
    assert every is None or every == -1 or one in {*range(every + 1), -1}
