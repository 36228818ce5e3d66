"""A system made from a spec: wherever the spec leaves a choice, chance decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, Protocol, TypeAlias

from otf.errors import ModelError
from otf.spec import Accept, AnyOrder, On, OneOf, Spec, TimerAction, Transition
from otf.spec.outputs import vague
from otf.values import show

PortChoice = Callable[[Any], str]
SystemMove: TypeAlias = Transition[Any] | Accept


class Emission(NamedTuple):
    """An output and the port on which it comes."""

    output: object
    port: str


class Happening(NamedTuple):
    """What a system does at one move: its next state, its outputs in order, the window of their time, its timers."""

    state: object
    outputs: tuple[Emission, ...]
    within: tuple[float, float] | None
    timers: tuple[TimerAction, ...] = ()


class SimulatedSystem(Protocol):
    """What a world holds: a system made from a spec, or one that was written by hand."""

    @property
    def state(self) -> object:
        """Return its state, as far as a world asks: whether an input has changed it."""
        ...

    def take(self, inp: Any) -> Happening:  # noqa: ANN401 -- an input of any system
        """Take an input."""
        ...

    def spontaneous(self) -> Sequence[SystemMove]:
        """Return what it may do by itself now, each with its window from now on or the timer that brings it, if any."""
        ...

    def do(self, way: SystemMove, /) -> Happening:
        """Do one of these."""
        ...


@dataclass(slots=True)
class System:
    """A conforming system: it takes any input, and does what the spec allows.

    `state` is its own; `port` tells the port of an output that does not name it. `invent` thinks of a value where the
    spec gives only a class or a test, and of what an `Accept` takes: a tuple of values, or one for each of its ports.
    `otherwise` says what it may do on an input where the spec leaves that open; without it, and where it says nothing,
    such an input is ignored.
    """

    spec: Spec[Any, Any]
    port: PortChoice
    random: Random
    invent: Callable[[Any], Any] | None = None
    otherwise: Callable[[Any, Any], Iterable[SystemMove]] | None = None
    state: object = None

    def __post_init__(self) -> None:
        """Begin in the initial state."""
        self.state = self.spec.initial

    def take(self, inp: object) -> Happening:
        """Take an input: make one of the transitions that the spec allows."""
        ways = list(self.spec.step(self.state, inp))
        if not ways and self.otherwise is not None:
            ways = list(self.otherwise(self.state, inp))
        return self._make(ways) if ways else Happening(self.state, (), None)

    def spontaneous(self) -> list[SystemMove]:
        """Return what the system may do by itself now."""
        return list(self.spec.emits(self.state)) if self.spec.emits is not None else []

    def do(self, way: SystemMove) -> Happening:
        """Make one transition."""
        return self._make([way])

    def _make(self, ways: Sequence[SystemMove]) -> Happening:
        way = ways[0] if len(ways) == 1 else self.random.choice(ways)
        if isinstance(way, Accept):
            seen, emitted = self._accepted(way)
            self.state = self.random.choice(list(way.then(seen)))
            return Happening(self.state, emitted, way.within, way.timers)
        self.state = way.state
        emitted = tuple(each for item in way.outputs for each in self._emitted(item, ""))
        return Happening(way.state, emitted, way.within, way.timers)

    def _accepted(self, way: Accept) -> tuple[Any, tuple[Emission, ...]]:
        """Return outputs that an `Accept` takes, as its functions want them and as they come."""
        found = self._invented(way)
        if isinstance(way.port, tuple):
            seen = {port: tuple(found[port]) for port in way.port}
            return seen, tuple(Emission(each, port) for port, outputs in seen.items() for each in outputs)
        outputs: tuple[Any, ...] = tuple(found)
        return outputs, tuple(Emission(each, way.port or self.port(each)) for each in outputs)

    def _emitted(self, item: object, port: str) -> Iterator[Emission]:
        match item:
            case AnyOrder(items):
                for part in self.random.sample(items, len(items)):
                    yield from self._emitted(part, port)
            case OneOf(items):
                yield from self._emitted(self.random.choice(items), port)
            case On(name, inner):
                yield from self._emitted(inner, name)
            case _:
                value = self._invented(item) if vague(item) else item
                yield Emission(value, port or self.port(value))

    def _invented(self, item: object) -> Any:  # noqa: ANN401 -- any value of the model
        if self.invent is None:
            message = f"a system made from a spec cannot think of an output for {show(item)}: give it `invent`"
            raise ModelError(message)
        return self.invent(item)
