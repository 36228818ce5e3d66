"""The states of a model with what they allow, as the search needs it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple, TypeAlias

from otf.core.symbols import Symbol
from otf.core.wants import Want
from otf.spec import Accept

Owes: TypeAlias = tuple[tuple[str, tuple[tuple[Want, ...], ...]], ...]


class Place(Symbol):
    """A state of the model, with a memory of what the spec said of it: each function is called once a question."""

    __slots__ = ("moves", "must", "offers", "specified", "unasked")

    def __init__(self, value: object, key: Hashable) -> None:
        super().__init__(value, key)
        self.moves: dict[Symbol, tuple[Move, ...]] = {}
        self.specified: dict[Symbol, bool] = {}
        self.unasked: tuple[Move, ...] | None = None
        # the seconds after which something must have come unasked, once `unasked` is known; None: nothing must
        self.must: float | None = None
        self.offers: tuple[Symbol, ...] | None = None

    def forget(self) -> None:
        """Forget the answers, to make room."""
        self.moves.clear()
        self.specified.clear()
        self.unasked = self.offers = None


class Open(NamedTuple):
    """The middle of an `Accept`: its outputs are coming in, and only they tell the next state."""

    accept: Accept
    port: str
    got: tuple[Symbol, ...] = ()


class Move:
    """A transition, compiled: the target, and for each port the bags of outputs that are owed there in turn."""

    __slots__ = ("owes", "target", "texts", "within")

    def __init__(
        self, target: Place | Open, owes: Owes, texts: tuple[str, ...], within: tuple[float, float] | None
    ) -> None:
        self.target: Place | Open = target
        self.owes: Owes = owes
        self.texts: tuple[str, ...] = texts
        self.within: tuple[float, float] | None = within

    @property
    def silent(self) -> bool:
        """Tell whether nothing is seen of this move."""
        return not self.owes and isinstance(self.target, Place)
