"""Simulation in virtual time: systems made from specs, behind ports with latencies.

`conduct` tests a simulated system, with a tester that may be slow. All random numbers come from a `Random` that the
caller passes in, so a simulation can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from otf.core import Ping, Send, Session, Stop, Wait
from otf.core.walk import Walk
from otf.simulate.system import Emission, Happening, Mutation, PortChoice, SimulatedSystem, System, faulty
from otf.simulate.world import TimeBounds, World
from otf.trace.events import Event, Sent
from otf.trace.verdict import Verdict

OnSimulatedEvent: TypeAlias = Callable[[Event], None]
Think: TypeAlias = Callable[[], float]


def conduct(
    session: Session, world: World, port: PortChoice, record: OnSimulatedEvent | None = None, think: Think | None = None
) -> Verdict:
    """Drive the path of a session in a simulated world, and return the verdict.

    `port` returns the port of an input. `record` gets each event. `think` returns how many seconds the tester computes
    before it sends an input or looks for silence.

    >>> from random import Random
    >>> from otf.core import Model, Oracle, Session
    >>> from otf.core.pacing import Strict
    >>> from otf.simulate import System, TimeBounds, World
    >>> from otf.spec import Spec, goto
    >>> from otf.strategy import Script
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])
    >>> oracle = Oracle(Model(lamp))
    >>> world = World(System(lamp, lambda output: "sut", Random(1)), TimeBounds(), Random(1))
    >>> session = Session(oracle, Script(["press", "press"]), Strict(oracle.timing), steps=2)
    >>> conduct(session, world, lambda value: "sut").outcome
    'pass'
    """
    conducting = _Conducting(session, world, port, record or _ignore, think or _at_once)
    while True:
        conducting.hear()
        command = session.command()
        if isinstance(command, Stop):
            return command.verdict
        conducting.obey(command)


@dataclass(slots=True)
class _Conducting:
    """A test in progress. `ready`: when the tester is ready to send the next input."""

    session: Session
    world: World
    port: PortChoice
    tell: OnSimulatedEvent
    think: Think
    ready: float | None = None

    def hear(self) -> None:
        """Pass the arrived outputs to the session."""
        for seen in self.world.arrived:
            if not self.session.pong(seen):
                self.session.tell(seen)
                self.tell(seen)
            elif (proven := self.session.proven(seen.at)) is not None:
                self.tell(proven)
        self.world.arrived.clear()

    def obey(self, command: Send | Ping | Wait) -> None:
        """Carry out a command of the session."""
        match command:
            case Send(inp):
                self._send(inp.value)
            case Ping(name, inp):
                self.world.send(inp, name)
                self.session.pinged(name, self.world.now)
            case wait:
                self._wait(wait.until + self.think())

    def _send(self, inp: object) -> None:
        if self.ready is None:
            self.ready = self.world.now + self.think()
        if self.world.now < self.ready:
            # an output in the meantime may be a reason to send something else
            self.world.advance(self.ready)
            return
        self.ready = None
        event = Sent(inp, self.port(inp), self.world.now)
        self.world.send(inp, event.port)
        self.session.tell(event)
        self.tell(event)

    def _wait(self, until: float) -> None:
        self.world.advance(until)
        if not self.world.arrived and (believed := self.session.silence(self.world.now)) is not None:
            self.tell(believed)


def _ignore(_event: Event) -> None:
    """Ignore an event."""


def _at_once() -> float:
    return 0.0


__all__ = [
    "Emission",
    "Happening",
    "Mutation",
    "SimulatedSystem",
    "System",
    "TimeBounds",
    "Walk",
    "World",
    "conduct",
    "faulty",
]
