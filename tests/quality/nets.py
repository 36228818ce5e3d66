"""Systems that conform, behind a channel that loses, doubles and holds up messages, and testers that know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, TypeAlias

from benchmarks.unreliable import Net, UnreliableWorld
from otf.channels import duplicating, lossy, reordering
from otf.core import Limits, Model, Oracle, Pacing, Routes, Session, Timing
from otf.core.burst import Burst
from otf.core.pacing import Eager, Strict
from otf.models import altbit
from otf.models.conference import Sizes, conference
from otf.models.conference.codec import ConferenceCodec
from otf.simulate import System, TimeBounds, conduct
from otf.spec import Spec, total
from otf.strategy import Strategy
from otf.trace.events import Event
from otf.trace.verdict import Verdict
from tests.core.random_specs import Shape, random_machine

Kind: TypeAlias = Literal["lossy", "duplicating", "reordering"]
Combinator: TypeAlias = Callable[[Spec[Any, Any]], Spec[Any, Any]]
Record: TypeAlias = Callable[[Session, Event], None]
KINDS: tuple[Kind, ...] = ("lossy", "duplicating", "reordering")
BOUNDS = TimeBounds()
SHAPE = Shape(emits=0.3)
# copies and what was held up come on top of the input that is waited for: the system may be busy with all of them
TIMING = Timing(0.02, BOUNDS.latency, 10 * BOUNDS.busy)
MODES: dict[str, Callable[[], Pacing]] = {
    "strict": lambda: Strict(TIMING),
    "eager": lambda: Eager(TIMING),
    "burst": lambda: Burst(TIMING, 2),
}


@dataclass(frozen=True)
class Subject:
    """A system by its spec, its ports, and those of them on which the channel lies."""

    spec: Spec[Any, Any]
    routes: Routes
    inputs: frozenset[str]
    outputs: frozenset[str]

    def port(self, value: object) -> str:
        """Return the port of a value."""
        return self.routes.into(value)

    def oracle(self, spec: Spec[Any, Any] | None = None, limits: Limits | None = None) -> Oracle:
        """Return the oracle for the system without the channel, or for another spec on its ports."""
        return Oracle(Model(spec or self.spec, self.routes), limits=limits or Limits(), timing=TIMING)


@dataclass(frozen=True)
class Line:
    """What a channel does, how late messages come, and how often that happens."""

    kinds: frozenset[Kind] = frozenset(KINDS)
    late: int = 1
    delay: float | None = None
    often: float = 0.2

    def net(self, subject: Subject) -> Net:
        """Return the channel."""
        lose, copy, hold = (self.often if kind in self.kinds else 0.0 for kind in KINDS)
        # what comes out of the channel may have to wait until the system has done with other inputs
        delay = 0.05 if self.delay is None else self.delay / 2
        return Net(subject.inputs, subject.outputs, lose, copy, hold, self.late, delay)

    def over(self, subject: Subject, order: Iterable[Kind] = KINDS) -> Spec[Any, Any]:
        """Return the spec of the subject behind it, the combinators applied in this order."""
        spec = subject.spec
        for kind in order:
            spec = self._combinator(kind, subject)(spec) if kind in self.kinds else spec
        return spec

    def _combinator(self, kind: Kind, subject: Subject) -> Combinator:
        inputs, outputs, port, late = subject.inputs, subject.outputs, subject.port, self.late
        makers: dict[Kind, Combinator] = {
            "lossy": lambda spec: lossy(spec, inputs=inputs, outputs=outputs, port=port),
            "duplicating": lambda spec: duplicating(spec, inputs=inputs, outputs=outputs, port=port, late=late),
            "reordering": lambda spec: reordering(
                spec, inputs=inputs, outputs=outputs, port=port, late=late, delay=self.delay
            ),
        }
        return makers[kind]


def conference_bench(entities: int = 3) -> Subject:
    """Return the conference entity; the channel lies between it and the other entities."""
    codec = ConferenceCodec(1, entities)
    peers = frozenset(codec.ports[1:])
    return Subject(total(conference(Sizes(entities))), Routes(codec.ports, codec.port), peers, peers)


def altbit_bench(timer: tuple[float, float] | None = None) -> Subject:
    """Return the sender of the alternating-bit protocol; the channel lies between it and the receiver."""
    net = frozenset({"net"})
    return Subject(total(altbit.sender(timer)), Routes(("net",), altbit.port), net, net)


def random_bench(random: Random) -> Subject:
    """Return a random small spec; the channel lies on one of its ports in each direction, or in one."""
    machine = random_machine(random, SHAPE)
    inputs, outputs = (frozenset(random.choice([{first}, {second}, set()])) for first, second in ("AB", "PQ"))
    return Subject(total(machine.spec()), machine.routes(), inputs, outputs if inputs else frozenset("P"))


def world_of(subject: Subject, line: Line, random: Random, made: Spec[Any, Any] | None = None) -> UnreliableWorld:
    """Return a system that conforms to the subject's spec, or is made from another one, behind the channel."""
    system = System(made or subject.spec, subject.port, random)
    return UnreliableWorld(
        system, BOUNDS, random, ignoring=random.random() < 0.5, choosy=random.random() < 0.5, net=line.net(subject)
    )


@dataclass(frozen=True)
class Path:
    """One path of a tester in the simulated world; a name names it."""

    subject: Subject
    line: Line
    oracle: Oracle
    mode: str = "strict"
    steps: int = 20
    made: Spec[Any, Any] | None = None

    def by(self, spec: Spec[Any, Any]) -> Path:
        """Return the same path judged by another spec."""
        return replace(self, oracle=self.subject.oracle(spec))

    def run(self, name: str, record: Record | None = None) -> Verdict:
        """Go the path of this name."""
        random = Random(name)
        world = world_of(self.subject, self.line, random, self.made)
        chooser = Strategy("random", "all", random.randrange(1 << 30)).path(1)
        session = Session(self.oracle, chooser, MODES[self.mode](), steps=self.steps)

        def note(event: Event) -> None:
            if record is not None:
                record(session, event)

        return conduct(session, world, self.subject.port, note)
