"""Values that can change, as values that cannot, and back: so that the state of an object can be kept and compared."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from otf.values import key


class Frozen(NamedTuple):
    """A list, set or dict that cannot change."""

    kind: str
    items: Any

    def __repr__(self) -> str:
        """Write it as what it was."""
        return repr(thawed(self))


def frozen(value: Any) -> Any:  # noqa: ANN401 -- any value of a state
    """Return a value with its lists, sets and dicts made unchangeable."""
    kind: Any = value.__class__
    if kind is list:
        return Frozen("list", tuple(map(frozen, value)))
    if kind is set:
        return Frozen("set", frozenset(map(frozen, value)))
    if kind is dict:
        pairs = [(frozen(each), frozen(item)) for each, item in value.items()]
        # two dicts are equal whatever the order of their items
        return Frozen("dict", tuple(sorted(pairs, key=lambda pair: repr(key(pair[0])))))
    return tuple(map(frozen, value)) if kind is tuple else value


def thawed(value: Any) -> Any:  # noqa: ANN401 -- as above
    """Return a fresh value that may change again."""
    if isinstance(value, Frozen):
        parts = [thawed(item) for item in value.items]
        return parts if value.kind == "list" else set(parts) if value.kind == "set" else dict(parts)
    return tuple(map(thawed, value)) if value.__class__ is tuple else deepcopy(value)
