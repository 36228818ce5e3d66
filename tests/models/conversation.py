"""Conversations with the pure entity, without sockets and pipes: as fast as the model itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from otf.core import Chooser, Oracle, Ping, Send, Session, Stop, Wait
from otf.core.pacing import Strict
from otf.models.conference import bench
from otf.models.conference.codec import ConferenceCodec
from otf.models.conference.entity import Effect, Entity
from otf.strategy import Strategy
from otf.trace.events import Event, Seen, Sent
from otf.trace.verdict import Verdict

BENCH = bench()


def entity(fault: str = "", entities: int = 3) -> Entity:
    """Return the entity with the id 1."""
    return Entity(1, list(range(2, entities + 1)), fault)


def takes(cpe: Entity, value: object, entities: int = 3) -> list[tuple[str, bytes]]:
    """Return what the entity answers to an input: ports and frames."""
    codec = ConferenceCodec(1, entities)
    data = codec.encode(value)
    effects = cpe.user(data.decode()) if codec.port(value) == "user" else cpe.datagram(data)
    return [_frame(effect) for effect in effects]


def _frame(effect: Effect) -> tuple[str, bytes]:
    return ("user", effect.encode()) if isinstance(effect, str) else (f"cpe{effect[0]}", effect[1])


@dataclass
class Conversation:
    """One run against one entity; `chance` says in which order frames on different ports arrive."""

    session: Session
    cpe: Entity
    chance: Random
    entities: int = 3
    events: list[Event] = field(default_factory=list[Event])
    at: float = 0.0

    def run(self) -> Verdict:
        """Do what the session commands until the verdict."""
        while True:
            match self.session.command():
                case Stop(verdict):
                    return verdict
                case Send(inp):
                    self._send(inp.value)
                case Wait(until):
                    self.at = until
                    believed = self.session.silence(until)
                    self.events += [] if believed is None else [believed]
                case Ping():
                    raise AssertionError

    def _send(self, value: object) -> None:
        codec = ConferenceCodec(1, self.entities)
        self._tell(Sent(value, codec.port(value), self.at))
        for port, data in _mixed(takes(self.cpe, value, self.entities), self.chance):
            self._tell(Seen(codec.decode(port, data), port, self.at))

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self.session.tell(event)


def _mixed(frames: Sequence[tuple[str, bytes]], chance: Random) -> list[tuple[str, bytes]]:
    """Return the frames in another order, but for that of each port."""
    left = list(frames)
    mixed: list[tuple[str, bytes]] = []
    while left:
        port = chance.choice([port for port, _ in left])
        mixed.append(next(frame for frame in left if frame[0] == port))
        left.remove(mixed[-1])
    return mixed


def converse(oracle: Oracle, chooser: Chooser, steps: int, cpe: Entity, chance: Random, entities: int = 3) -> Verdict:
    """Conduct one run; return its verdict."""
    return Conversation(Session(oracle, chooser, Strict(BENCH.timing), steps=steps), cpe, chance, entities).run()


@cache
def found_after(fault: str, seed: int, *, limit: int, steps: int = 50) -> int | None:
    """Return after how many inputs the default strategy finds a fault; None where it takes more than `limit`."""
    oracle, strategy, chance, sent = BENCH.oracle(), Strategy("alternating", "mixed", seed), Random(seed), 0
    for path in range(1, limit // steps + 1):
        session = Session(oracle, strategy.path(path), Strict(BENCH.timing), steps=steps)
        verdict = Conversation(session, entity(fault), chance).run()
        sent += session.monitor.sent
        if verdict.failed:
            return sent
    return None
