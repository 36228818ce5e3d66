"""The states of a model with what they allow, as the search needs it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple, TypeAlias

from otf.core.bags import Emitted
from otf.core.expectations import texts_of
from otf.core.memory import Symbol
from otf.spec import Accept, TimerStart

TransitionWindows: TypeAlias = tuple[tuple[int, float, float], ...]
"""The windows of spontaneous transitions: the number of the transition, and its bounds in seconds."""


class Node(Symbol):
    """A state of the model, with a memory of what the spec said of it: each function is called once a question.

    `moves` has an entry for each input that was asked for, and under None the spontaneous ones.
    """

    __slots__ = ("enabled_inputs", "expiring", "independent", "moves", "specified", "windows")

    def __init__(self, value: object, key: Hashable) -> None:
        super().__init__(value, key)
        self.moves: dict[Symbol | None, tuple[Move, ...]] = {}
        # tables that few places need
        self.specified: dict[Symbol, bool] | None = None
        self.independent: dict[tuple[Symbol, Symbol], bool] | None = None
        # of its spontaneous moves, once they are known: their windows, and the timers that they come after
        self.windows: TransitionWindows = ()
        self.expiring: frozenset[str] = frozenset()
        self.enabled_inputs: tuple[Symbol, ...] | None = None


class Unconstrained:
    """The spot of a system that took an input which the model does not specify: anything goes from there."""

    __slots__ = ()


class Unknown:
    """The spot of a system whose state depends on outputs that are still owed, those of an `Accept`."""

    __slots__ = ()


class Midway:
    """The spot of a system on its way from a state, with a part of its outputs made: one of these moves comes next."""

    __slots__ = ("moves", "origin", "spontaneous")

    def __init__(self, origin: Node, moves: tuple[Move, ...], *, spontaneous: bool) -> None:
        self.origin: Node = origin
        self.moves: tuple[Move, ...] = moves
        self.spontaneous: bool = spontaneous


UNCONSTRAINED: Final = Unconstrained()
UNKNOWN: Final = Unknown()
Position: TypeAlias = Node | Unconstrained | Unknown | Midway


class OpenAccept(NamedTuple):
    """An `Accept` with the ports of its outputs, and the state in which it is made."""

    accept: Accept
    ports: tuple[str, ...]
    origin: Node

    @property
    def ends(self) -> bool:
        """Return whether the model says how many outputs it takes."""
        return isinstance(self.accept.until, int)

    def asked(self, got: tuple[tuple[str, Symbol], ...]) -> object:
        """Return the outputs so far as the model's functions want them: of one port, or of each."""
        seen = {port: tuple(each.value for name, each in got if name == port) for port in self.ports}
        return seen if isinstance(self.accept.port, tuple) else seen[self.ports[0]]


class Move:
    """A transition, compiled: where it leads, and what is owed on each port.

    `target` is the state in the end, None where an `Accept` decides; `position` is where the system is right after it.
    `starts` and `stops` are the timers that it starts and stops, `after` the timer that brings it about.
    """

    __slots__ = ("_shown", "after", "emitted", "opening", "position", "starts", "stops", "target", "within")

    def __init__(  # noqa: PLR0913 -- what a transition is made of
        self,
        position: Position,
        emitted: Emitted,
        shown: tuple[object, ...] | str,
        *,
        target: Node | None = None,
        within: tuple[float, float] | None = None,
        opening: OpenAccept | None = None,
        starts: tuple[TimerStart, ...] = (),
        stops: frozenset[str] = frozenset(),
        after: str = "",
    ) -> None:
        self.position: Position = position
        self.target: Node | None = position if isinstance(position, Node) else target
        self.emitted: Emitted = emitted
        self._shown = shown
        self.within: tuple[float, float] | None = within
        self.opening: OpenAccept | None = opening
        self.starts: tuple[TimerStart, ...] = starts
        self.stops: frozenset[str] = stops
        self.after: str = after

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what it brings as a person reads it; asked for only where something is shown."""
        return (self._shown,) if isinstance(self._shown, str) else tuple(texts_of(self._shown))

    @property
    def silent(self) -> bool:
        """Return whether nothing is seen of this move."""
        return not self.emitted and isinstance(self.position, Node)

    @property
    def ports(self) -> set[str]:
        """Return the ports on which it brings outputs."""
        return {port for port, _ in self.emitted}.union(self.opening.ports if self.opening else ())
