"""A session that tests a simulated world, with a tester that may take its time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from otf.core import Ping, Send, Session, Stop, Wait
from otf.simulate.system import PortChoice
from otf.simulate.world import World
from otf.trace.events import Event, Sent
from otf.trace.verdict import Verdict

OnSimulatedEvent: TypeAlias = Callable[[Event], None]
Think: TypeAlias = Callable[[], float]


def conduct(
    session: Session, world: World, port: PortChoice, record: OnSimulatedEvent | None = None, think: Think | None = None
) -> Verdict:
    """Let a session test a world to its verdict; `port` tells the port of an input.

    `think`: how many seconds the tester takes before it sends an input, and before it looks whether there is silence.
    """
    conducting = _Conducting(session, world, port, record or _ignored, think or _at_once)
    while True:
        conducting.hear()
        command = session.command()
        if isinstance(command, Stop):
            return command.verdict
        conducting.obey(command)


@dataclass(slots=True)
class _Conducting:
    """A test at work. `ready`: by when the tester has thought about the input that it is to send."""

    session: Session
    world: World
    port: PortChoice
    tell: OnSimulatedEvent
    think: Think
    ready: float | None = None

    def hear(self) -> None:
        """Tell the session what has arrived."""
        for seen in self.world.arrived:
            if not self.session.pong(seen):
                self.session.tell(seen)
                self.tell(seen)
            elif (proven := self.session.proven(seen.at)) is not None:
                self.tell(proven)
        self.world.arrived.clear()

    def obey(self, command: Send | Ping | Wait) -> None:
        """Do what the session says."""
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
            # what arrives in the meantime may be a reason to send something else
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


def _ignored(_event: Event) -> None:
    """Take an event that nobody asked for."""


def _at_once() -> float:
    return 0.0
