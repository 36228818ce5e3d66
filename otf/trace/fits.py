"""Whether a value read from a file fits the annotation of its field."""

from __future__ import annotations

from types import UnionType
from typing import Any, Literal, NewType, TypeGuard, Union, get_args, get_origin


def fits(value: object, hint: Any) -> bool:  # noqa: ANN401 -- an annotation
    """Return whether a value fits an annotation."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if isinstance(hint, NewType):
        return fits(value, hint.__supertype__)
    if is_class(hint):
        return _is_a(value, hint)
    # a type variable or Any: the model itself does not restrict it
    return not is_class(origin) or (_is_a(value, origin) and _all_fit(value, origin, parts))


def _all_fit(value: object, origin: type[Any], parts: tuple[Any, ...]) -> bool:
    if _is_table(value):
        names, items = (parts[0], parts[-1]) if parts else (Any, Any)
        return all(fits(name, names) and (len(parts) == 1 or fits(item, items)) for name, item in value.items())
    if not _is_group(value):
        return True
    if origin is tuple and Ellipsis not in parts:
        return len(value) == len(parts) and all(map(fits, value, parts))
    return all(fits(item, parts[0]) for item in value)


def _is_a(value: object, kind: type[Any]) -> bool:
    if isinstance(value, bool) and kind in {int, float}:
        return False
    try:
        # users write 1 for 1.0
        return isinstance(value, (int, float) if kind is float else kind)
    except TypeError:  # some protocols have no isinstance
        return True


def is_class(kind: object) -> TypeGuard[type[Any]]:
    """Return whether an annotation is a class."""
    return isinstance(kind, type)


def _is_table(value: object) -> TypeGuard[dict[object, object]]:
    return type(value) is dict


def _is_group(value: object) -> TypeGuard[tuple[object, ...] | list[object] | frozenset[object] | set[object]]:
    return type(value) in {tuple, list, frozenset, set}
