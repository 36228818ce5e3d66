"""Values that can change, as values that cannot, and back: so that the state of an object can be kept and compared."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from enum import Enum
from types import ModuleType
from typing import Any, Final, NamedTuple, Self

from otf.values import key

_PLAIN: Final = frozenset({int, str, bool, float, bytes, type(None)})


class Frozen(NamedTuple):
    """A list, set or dict that cannot change."""

    kind: str
    items: Any

    def __repr__(self) -> str:
        """Write it as what it was."""
        return repr(thawed(self))


class Copied:
    """A copy of an object that can change, or that does not say when it equals another; compared by what is in it."""

    __slots__ = ("_holds", "_value")

    def __init__(self, value: Any) -> None:  # noqa: ANN401 -- any object
        self._value = deepcopy(value)
        self._holds: tuple[Any, ...] = (value.__class__, _contents(value))

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same."""
        return isinstance(other, Copied) and key(self._holds) == key(other._holds)

    def __hash__(self) -> int:
        """Return a number that is the same for all that hold the same."""
        return hash(key(self._holds))

    def __repr__(self) -> str:
        """Write it as the object writes itself."""
        return repr(self._value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself: what it holds never changes."""
        return self

    def copy(self) -> Any:  # noqa: ANN401 -- any object
        """Return a fresh copy of the object."""
        return deepcopy(self._value)


def frozen(value: Any) -> Any:  # noqa: ANN401 -- any value of a state
    """Return a value with all in it that can change made unchangeable."""
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
        # two dicts are equal whatever the order of their items
        return Frozen("dict", tuple(sorted(pairs, key=lambda pair: repr(key(pair[0])))))
    return value if _lasts(value, kind) else Copied(value)


def thawed(value: Any) -> Any:  # noqa: ANN401 -- as above
    """Return a fresh value that may change again."""
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
    # most are plain, and a state is frozen and thawed at every transition
    return tuple([each if each.__class__ in _PLAIN else frozen(each) for each in values])


def _fresh(values: Iterable[Any]) -> list[Any]:
    return [each if each.__class__ in _PLAIN else thawed(each) for each in values]


def _lasts(value: Any, kind: Any) -> bool:  # noqa: ANN401 -- any value and its class
    """Return whether a value can stand in a state as it is: it compares by what it is, or is one of a kind."""
    if callable(value) or isinstance(value, Enum | ModuleType | Frozen | Copied):
        return True
    return kind.__hash__ is not None and kind.__eq__ is not object.__eq__


def _contents(value: Any) -> Any:  # noqa: ANN401 -- any object
    """Return what an object is made of, as pickle sees it; nothing is pickled."""
    made: Any = value.__reduce_ex__(4)
    if isinstance(made, str):
        return made  # the name of the one there is
    _, args, state, items, pairs = (*made, None, None, None)[:5]
    return frozen(args), frozen(state), _all(items or ()), _all(pairs or ())
