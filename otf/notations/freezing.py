"""Immutable copies of mutable values, and back: so the state of an object can be stored and compared."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from enum import Enum
from types import ModuleType
from typing import Any, Final, NamedTuple, Self

from otf.values import key

_PLAIN: Final = frozenset({int, str, bool, float, bytes, type(None)})


class Frozen(NamedTuple):
    """An immutable copy of a list, set or dict."""

    kind: str
    items: Any

    def __repr__(self) -> str:
        """Return the text of the original."""
        return repr(thawed(self))


class Copied:
    """A copy of an object that is mutable, or does not define `==`; compared by its contents."""

    __slots__ = ("_holds", "_value")

    def __init__(self, value: Any) -> None:  # noqa: ANN401 -- any object
        self._value = deepcopy(value)
        self._holds: tuple[Any, ...] = (value.__class__, _contents(value))

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same contents."""
        return isinstance(other, Copied) and key(self._holds) == key(other._holds)

    def __hash__(self) -> int:
        """Return the hash of the contents."""
        return hash(key(self._holds))

    def __repr__(self) -> str:
        """Return the text of the object."""
        return repr(self._value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: its contents never change."""
        return self

    def copy(self) -> Any:  # noqa: ANN401 -- any object
        """Return a fresh copy of the object."""
        return deepcopy(self._value)


def frozen(value: Any) -> Any:  # noqa: ANN401 -- any value of a state
    """Return an immutable copy of a value, with all its parts."""
    kind: Any = value.__class__
    if kind in _PLAIN:
        return value
    if kind is list:
        return Frozen("list", _all(value))
    if kind is tuple:
        return _all(value)
    if kind is set:
        return Frozen("set", frozenset(map(frozen, value)))
    if kind is dict:
        pairs = [(frozen(each), frozen(item)) for each, item in value.items()]
        # the order of its items does not matter when two dicts are compared
        return Frozen("dict", tuple(sorted(pairs, key=lambda pair: repr(key(pair[0])))))
    return value if _lasts(value, kind) else Copied(value)


def thawed(value: Any) -> Any:  # noqa: ANN401 -- as above
    """Return a fresh mutable value from its immutable copy."""
    kind: Any = value.__class__
    if kind in _PLAIN:
        return value
    if kind is Frozen:
        parts = _fresh(value.items)
        return parts if value.kind == "list" else set(parts) if value.kind == "set" else dict(parts)
    if kind is tuple:
        return tuple(_fresh(value))
    return value.copy() if kind is Copied else deepcopy(value)


def _all(values: Iterable[Any]) -> tuple[Any, ...]:
    # most values are plain, and each transition freezes and thaws a state
    return tuple([each if each.__class__ in _PLAIN else frozen(each) for each in values])


def _fresh(values: Iterable[Any]) -> list[Any]:
    return [each if each.__class__ in _PLAIN else thawed(each) for each in values]


def _lasts(value: Any, kind: Any) -> bool:  # noqa: ANN401 -- any value and its class
    """Return whether a value can be part of a state without a copy: it defines `==`, or there is only one of it."""
    if callable(value) or isinstance(value, Enum | ModuleType | Frozen | Copied):
        return True
    return kind.__hash__ is not None and kind.__eq__ is not object.__eq__


def _contents(value: Any) -> Any:  # noqa: ANN401 -- any object
    """Return the contents of an object, as pickle would collect them; nothing is pickled."""
    made: Any = value.__reduce_ex__(4)
    if isinstance(made, str):
        return made  # the name of a global
    _, args, state, items, pairs = (*made, None, None, None)[:5]
    return frozen(args), frozen(state), _all(items or ()), _all(pairs or ())
