"""Values and states with their typed key and its hash at hand, so that comparing and looking up is cheap."""

from __future__ import annotations

from collections.abc import Hashable


class Symbol:
    """A value that is compared by its typed key: `Symbol(True) != Symbol(1)`."""

    __slots__ = ("_hash", "heavy", "key", "value")

    def __init__(self, value: object, key: Hashable) -> None:
        self.value: object = value
        self.key: Hashable = key
        self._hash = hash(key)
        # such a value hardly ever comes twice, and would take much room: nothing that knows it is remembered
        self.heavy: bool = False

    def __hash__(self) -> int:
        """Return the hash that was taken once: keys are nested tuples, and sets of hypotheses ask often."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare by key."""
        return self is other or (isinstance(other, Symbol) and self.key == other.key)
