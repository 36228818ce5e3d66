"""The items that a memcached server holds, in the model."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations

from otf.models.memcached.messages import Command


@dataclass(frozen=True, slots=True)
class Item:
    """The flags and the data of an item; `unique` is its cas id once `gets` reported it, `used` the previous one.

    An `expiring` item may be gone at any time: a server under load decides how long a second is.
    """

    flags: int
    data: str
    unique: int | None = None
    used: tuple[int, ...] = ()
    expiring: bool = False

    def number(self) -> int | None:
        """Return the data as a 64-bit decimal number, without trailing spaces; None if it is not a number."""
        digits = self.data.rstrip(" ")
        number = int(digits) if digits.isdecimal() and digits.isascii() else None
        return number if number is not None and number < 2**64 else None


@dataclass(frozen=True, slots=True)
class State:
    """All items, in the order of their keys."""

    items: tuple[tuple[str, Item], ...] = ()

    def item(self, key: str) -> Item | None:
        """Return the item under a key, None if there is none."""
        return next((item for name, item in self.items if name == key), None)

    def perhaps(self, keys: tuple[object, ...]) -> Iterator[State]:
        """Yield the state with and without each of these items that may have expired."""
        at_stake = [name for name, item in self.items if item.expiring and name in keys]
        for gone in chain.from_iterable(combinations(at_stake, size) for size in range(len(at_stake) + 1)):
            yield State(tuple(pair for pair in self.items if pair[0] not in gone))

    def lasting(self) -> State:
        """Return the state without the items that expire."""
        return State(tuple(pair for pair in self.items if not pair[1].expiring))

    def without(self, key: str) -> State:
        """Return the state without the item under a key."""
        return State(tuple(pair for pair in self.items if pair[0] != key))

    def having(self, key: str, item: Item, *, stored: bool = True) -> State:
        """Return the state with an item under a key; if it is newly `stored`, the previous id is used up."""
        old = self.item(key)
        if stored and old is not None:
            item = replace(item, used=old.used if old.unique is None else (old.unique,))
        others = [pair for pair in self.items if pair[0] != key]
        return State(tuple(sorted([*others, (key, item)], key=lambda pair: pair[0])))


def alike(state: object, inp: object) -> Hashable:
    """Return what decides whether the server says more after an input: which of its keys have items."""
    if not (isinstance(state, State) and isinstance(inp, Command)):
        return state, inp  # malformed, or a wait
    return inp.client, inp.name, tuple(state.item(word) is not None for word in inp.words if isinstance(word, str))
