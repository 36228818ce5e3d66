"""All values of a type: the front of the enumeration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_origin, overload

from otf.values.classes import is_alias, is_new_type
from otf.values.enumeration import Enumeration
from otf.values.instead import given
from otf.values.reader import Reader, name_of
from otf.values.registry import registered

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")
ValueSource: TypeAlias = "type[T] | Iterable[T] | SearchStrategy[T]"
Values: TypeAlias = Mapping[Any, Any]  # what stands instead of the values of a type, by type


@overload
def every(kind: type[T], values: Values | None = None, where: str = "") -> Enumeration[T]: ...
@overload
def every(kind: object, values: Values | None = None, where: str = "") -> Enumeration[Any]: ...
def every(kind: object, values: Values | None = None, where: str = "") -> Enumeration[Any]:
    """Return all values of a type, small before large, none twice; lazily.

    `values` says for some types which values there are. `where` is the path that an error begins with. Raises
    UsageError for a type that cannot be enumerated.

    >>> every(tuple[bool, int]).first(6)
    [(False, 0), (False, 1), (True, 0), (False, -1), (True, 1), (False, 2)]
    >>> list(every(int | None, {int: range(2)}))
    [0, None, 1]
    """
    instead = ready(values or {})
    return Reader(lambda part: instead.get(part) or registered(part)).enumeration(kind, where or name_of(kind))


def enumerated(source: object, values: Values | None = None, where: str = "") -> Enumeration[Any]:
    """Return the enumeration of a type, or of what else gives values: an iterable, a Hypothesis strategy."""
    return every(source, values, where) if is_type(source) else given(source, where or name_of(source))


def is_type(source: object) -> bool:
    """Tell whether something stands for a type."""
    return isinstance(source, type) or get_origin(source) is not None or is_alias(source) or is_new_type(source)


def ready(values: Values) -> dict[object, Enumeration[Any]]:
    """Return values that can be read many times, whatever they are given as."""
    return {kind: enumerated(source, _without(values, kind), name_of(kind)) for kind, source in values.items()}


def _without(values: Values, kind: object) -> Values:
    # a source may name the type that it stands for: {int: Annotated[int, Range(0, 9)]}
    return {other: source for other, source in values.items() if other != kind}
