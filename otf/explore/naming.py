"""Names of states and outputs for look-ups: equal exactly if `otf.values.key` gives equal keys.

Exploration looks every target up. For tuples of plain values, which most states are, this is four times as fast as
`key`: it compares their types as one interned tuple.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from typing import Any, Final, cast

from otf.errors import ModelError
from otf.spec import AnyOrder
from otf.values import as_text, key, likeness, show

_Kinds = tuple[type, ...]
# no float: nan differs from itself, which only `key` handles
_PLAIN: Final = frozenset({int, str, bool, bytes, type(None)})
_REMEMBERED: Final = 10_000
_FLAT: Final[dict[_Kinds, _Kinds]] = {}
_KNOWN: Final = (Enum, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, partial)


def name(value: Any) -> Hashable:  # noqa: ANN401 -- any state
    """Return the key under which `explore` stores a state.

    Raises ModelError if Python cannot compare the state with other states.
    """
    if value.__class__ is tuple:
        kinds = tuple([each.__class__ for each in value])
        known = _FLAT.get(kinds) or _noted(kinds)
        if known is not None:
            return known, value
    try:
        return key(value)
    except Exception as error:
        raise ModelError(f"the value {show(value)} cannot be compared: {as_text(error)}") from error


def output_name(outputs: Any) -> Hashable:  # noqa: ANN401 -- outputs, or an item of them
    """Return the key under which `explore` stores outputs: for outputs without a hash, such as lists, their text."""
    try:
        return name(outputs)
    except ModelError:
        return likeness(outputs)


def is_flat(named: Any) -> bool:  # noqa: ANN401 -- any name
    """Return whether a name is that of a tuple of plain values, which compares nothing by identity."""
    return named.__class__ is tuple and named[0].__class__ is tuple


def _noted(kinds: _Kinds) -> _Kinds | None:
    if not _PLAIN.issuperset(kinds) or len(_FLAT) >= _REMEMBERED:
        return None
    _FLAT[kinds] = kinds
    return kinds


class Alike:
    """Finds states that look the same but are not equal, because their class lacks `__eq__`.

    Without this check exploration would go on for ever, and no message would say why.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[type, str]] = set()

    def check(self, state: object) -> None:
        """Check a new state. Raises ModelError if an earlier one looks the same."""
        for part in _compared_by_identity(state):
            look = type(part), show(sorted(_contents(part).items()), 10_000)
            if look in self._seen:
                raise ModelError(
                    f"two objects of the class {type(part).__name__} hold the same and are not equal, so states would "
                    "never be found again: use a frozen dataclass or a tuple, or write __eq__ and __hash__"
                )
            self._seen.add(look)


def _compared_by_identity(value: Any) -> Iterator[object]:  # noqa: ANN401 -- any state
    kind: Any = value.__class__
    if kind in _PLAIN or isinstance(value, _KNOWN):
        return
    if isinstance(value, tuple | frozenset):
        for part in cast("tuple[object, ...]", value):
            yield from _compared_by_identity(part)
    elif is_dataclass(value) and kind.__eq__ is not object.__eq__:
        for field in fields(value):
            yield from _compared_by_identity(getattr(value, field.name))
    elif kind.__eq__ is object.__eq__ and _contents(value):
        yield value


def _contents(value: object) -> dict[str, object]:
    slots = [slot for kind in type(value).__mro__ for slot in _slots(kind)]
    found = {slot: getattr(value, slot) for slot in slots if hasattr(value, slot)}
    return {**found, **getattr(value, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    slots: Any = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def observed(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the outputs of a transition in a normal form: outputs that a tester cannot tell apart become equal.

    `observed` sorts the items of each `AnyOrder`. An `AnyOrder` with a single item becomes this item, and an empty one
    disappears.

    >>> observed((AnyOrder("b", "a"), AnyOrder("c"), AnyOrder()))
    (AnyOrder(items=('a', 'b')), 'c')
    """
    return tuple(_flat(outputs))


def _flat(outputs: tuple[Any, ...]) -> Iterator[Any]:
    for item in outputs:
        if not isinstance(item, AnyOrder):
            yield item
        elif len(item.items) == 1:
            yield from _flat(item.items)
        elif item.items:
            yield AnyOrder(*sorted(item.items, key=lambda each: repr(output_name(each))))
