"""The states of a model with what they allow, as the search needs it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple, TypeAlias

from otf.core.bags import Owes
from otf.core.symbols import Symbol
from otf.core.texts import texts_of
from otf.spec import Accept, TimerStart

Windows: TypeAlias = tuple[tuple[int, float, float], ...]
"""The windows of spontaneous transitions: the number of the transition, and its bounds in seconds."""


class Place(Symbol):
    """A state of the model, with a memory of what the spec said of it: each function is called once a question.

    `moves` has an entry for each input that was asked for, and under None the spontaneous ones.
    """

    __slots__ = ("expiring", "independent", "moves", "offers", "specified", "windows")

    def __init__(self, value: object, key: Hashable) -> None:
        super().__init__(value, key)
        self.moves: dict[Symbol | None, tuple[Move, ...]] = {}
        # tables that few places need
        self.specified: dict[Symbol, bool] | None = None
        self.independent: dict[tuple[Symbol, Symbol], bool] | None = None
        # of its spontaneous moves, once they are known: their windows, and the timers that they come after
        self.windows: Windows = ()
        self.expiring: frozenset[str] = frozenset()
        self.offers: tuple[Symbol, ...] | None = None


class Unconstrained:
    """The spot of a system that took an input which the model does not specify: anything goes from there."""

    __slots__ = ()


class Unknown:
    """The spot of a system whose state depends on outputs that are still owed, those of an `Accept`."""

    __slots__ = ()


class Midway:
    """The spot of a system on its way from a state, with a part of its outputs made: one of these moves comes next."""

    __slots__ = ("moves", "origin", "unasked")

    def __init__(self, origin: Place, moves: tuple[Move, ...], *, unasked: bool) -> None:
        self.origin: Place = origin
        self.moves: tuple[Move, ...] = moves
        self.unasked: bool = unasked


UNCONSTRAINED: Final = Unconstrained()
UNKNOWN: Final = Unknown()
Spot: TypeAlias = Place | Unconstrained | Unknown | Midway


class Opening(NamedTuple):
    """An `Accept` with the ports of its outputs, and the state in which it is made."""

    accept: Accept
    ports: tuple[str, ...]
    origin: Place

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

    `target` is the state in the end, None where an `Accept` decides; `spot` is where the system is right after it.
    `starts` and `stops` are the timers that it starts and stops, `after` the timer that brings it about.
    """

    __slots__ = ("_shown", "after", "opening", "owes", "spot", "starts", "stops", "target", "within")

    def __init__(  # noqa: PLR0913 -- what a transition is made of
        self,
        spot: Spot,
        owes: Owes,
        shown: tuple[object, ...] | str,
        *,
        target: Place | None = None,
        within: tuple[float, float] | None = None,
        opening: Opening | None = None,
        starts: tuple[TimerStart, ...] = (),
        stops: frozenset[str] = frozenset(),
        after: str = "",
    ) -> None:
        self.spot: Spot = spot
        self.target: Place | None = spot if isinstance(spot, Place) else target
        self.owes: Owes = owes
        self._shown = shown
        self.within: tuple[float, float] | None = within
        self.opening: Opening | None = opening
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
        return not self.owes and isinstance(self.spot, Place)

    @property
    def ports(self) -> set[str]:
        """Return the ports on which it brings outputs."""
        return {port for port, _ in self.owes}.union(self.opening.ports if self.opening else ())
