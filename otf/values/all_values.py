"""All values of a type: the front of the enumeration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, get_origin, overload

from otf.errors import UsageError
from otf.values.bounds import Bounds, TypeRequest
from otf.values.built_types import FORMS
from otf.values.classes import is_alias, is_class, is_new_type
from otf.values.derived import RecordTiers
from otf.values.enumeration import Enumeration, given
from otf.values.size_tiers import Flat, Tiers, everything, filled

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


T = TypeVar("T")
ValueSource: TypeAlias = "type[T] | Iterable[T] | SearchStrategy[T]"
"""A source of values of a type T: a subtype, an iterable, or a Hypothesis strategy."""

Values: TypeAlias = Mapping[Any, Any]
"""Sources of values by type: each one replaces the values that the type has otherwise."""

Anew: TypeAlias = Callable[[Enumeration[Any]], Enumeration[Any]]
"""What takes the place of the values that a Hypothesis strategy generated: others that it generates."""

REGISTERED: Final[dict[object, Callable[[], Enumeration[Any]]]] = {}


@overload
def every(kind: type[T], values: Values | None = None, where: str = "", anew: Anew | None = None) -> Enumeration[T]: ...
@overload
def every(
    kind: object, values: Values | None = None, where: str = "", anew: Anew | None = None
) -> Enumeration[Any]: ...
def every(kind: object, values: Values | None = None, where: str = "", anew: Anew | None = None) -> Enumeration[Any]:
    """Return all values of a type, lazily: small before large, none twice.

    `values` gives sources for the types of the parts (see `Values`). `where` is the path that an error begins with.
    `anew` replaces the values of each Hypothesis strategy among the parts. Raises UsageError for a type that
    cannot be enumerated.

    >>> every(tuple[bool, int]).first(6)
    [(False, 0), (False, 1), (True, 0), (False, -1), (True, 1), (False, 2)]
    >>> list(every(int | None, {int: range(2)}))
    [0, None, 1]
    """
    instead = ready(values or {})
    return Reader(lambda part: instead.get(part) or registered(part), anew).enumeration(kind, where or name_of(kind))


def enumerated(source: object, values: Values | None = None, where: str = "") -> Enumeration[Any]:
    """Return the enumeration of a source: a type, an iterable, an `Enumeration` or a Hypothesis strategy.

    `values` and `where` are those of `every`. Raises UsageError for anything else.

    >>> list(enumerated(bool)), list(enumerated("ab"))
    ([False, True], ['a', 'b'])
    """
    return every(source, values, where) if is_type(source) else given(source, where or name_of(source))


def is_type(source: object) -> bool:
    """Return whether something is a type: a class, a generic type with arguments, an alias or a `NewType`.

    >>> is_type(list[int]), is_type([1, 2])
    (True, False)
    """
    return isinstance(source, type) or get_origin(source) is not None or is_alias(source) or is_new_type(source)


def ready(values: Values) -> dict[object, Enumeration[Any]]:
    """Return the enumerations of sources by type: so each source is read once, and its values many times.

    >>> {kind: list(found) for kind, found in ready({int: iter([5, 6])}).items()}
    {<class 'int'>: [5, 6]}
    """
    return {kind: enumerated(source, _without(values, kind), name_of(kind)) for kind, source in values.items()}


def _without(values: Values, kind: object) -> Values:
    # a source may name the type that it replaces: {int: Annotated[int, Range(0, 9)]}
    return {other: source for other, source in values.items() if other != kind}


def registered(kind: object) -> Enumeration[Any] | None:
    """Return the values that were registered for a type, if any were."""
    return REGISTERED[kind]() if kind in REGISTERED else None


class Reader:
    """Reads one type with all its parts; `instead` returns the values of a type that has values of its own."""

    def __init__(self, instead: Callable[[object], Enumeration[Any] | None], anew: Anew | None = None) -> None:
        self._instead, self._anew = instead, anew
        self._records: dict[tuple[int, str], tuple[RecordTiers, str, object]] = {}

    def enumeration(self, kind: object, where: str) -> Enumeration[Any]:
        """Return the values of a type. Raises UsageError with the path to the part that cannot be enumerated."""
        tiers = self.read(kind, where)
        having = filled(tiers)
        for record, path, made in reversed(self._records.values()):
            if id(record) not in having:
                self._end(record, path, made)
        return Enumeration(tiers)

    def read(self, kind: object, where: str, bounds: Bounds | None = None) -> Tiers:
        """Return the values of a type, or of a part of it."""
        instead = self._instead(kind) if _hashable(kind) else None
        if instead is not None:
            return self.listed(instead)
        request = TypeRequest(kind, where, self, bounds or Bounds())
        for applies, form in FORMS:
            if applies(kind):
                return form(request)
        name = name_of(kind)
        raise UsageError(
            f"{where}: the values of the type {name} cannot be enumerated; list them: "
            f"values={{{name}: [...]}}, Annotated[{name}, Among(...)] or register({name}, ...)"
        )

    def listed(self, values: Enumeration[Any]) -> Tiers:
        """Return given values, or what takes the place of those that a strategy generated."""
        return values.tiers if self._anew is None or values.origin is None else self._anew(values).tiers

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, and whether it is the new one."""
        # by identity and text: Python takes Pair[Literal[1]] and Pair[Literal[True]] for equal
        name = (id(kind) if is_class(kind) else 0, repr(kind))
        known, _, _ = self._records.setdefault(name, (new, where, kind))
        return known, known is new

    def _end(self, record: RecordTiers, where: str, kind: object) -> None:
        """Refuse a record that contains itself without an end; if a part has no values, the record has none either."""
        having = filled(record)
        if all(each.parts or id(each) in having for each in everything(record)):
            raise UsageError(
                f"{where}: a value of {name_of(kind)} would have to contain another one, and so on without end; "
                "give it an end, such as `| None` or a list"
            )
        record.hold(Flat(()), lambda: None, 0)


def name_of(kind: object) -> str:
    """Return the name of a type."""
    return kind.__name__ if is_class(kind) else str(kind)


def _hashable(kind: object) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True
