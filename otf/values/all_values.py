"""All values of a type: reads annotated types, unions, classes and aliases part by part."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_origin,
    is_typeddict,
    overload,
)

from otf.errors import UsageError
from otf.values.bounds import Among, Bounds, TypeRequest
from otf.values.builtin import BUILTIN, NEED_ARGUMENTS
from otf.values.classes import (
    builder,
    field_types,
    is_alias,
    is_class,
    is_frozen,
    is_new_type,
    is_record,
    is_uuid,
    members,
    table_types,
)
from otf.values.derived import Filtered, Once, RecordTiers, RecursiveTiers, UnionTiers, alone, together
from otf.values.enumeration import Enumeration, Flat, Tiers, distinct, everything, filled, given, is_enumeration
from otf.values.identity import fingerprint
from otf.values.strategies import is_strategy

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_MISSING: Final = object()  # stands for a value that may be left out
_ABSENT: Final = Flat([_MISSING], finite=True)


def _annotated(request: TypeRequest) -> Tiers:
    bounds = Bounds.of(request.kind.__metadata__)
    tiers = _within(request, bounds)
    return Filtered(tiers, bounds.meets(request.where), request.where) if bounds.limits else tiers


def _within(request: TypeRequest, bounds: Bounds) -> Tiers:
    for item in reversed(bounds.others):
        if isinstance(item, Among):
            return given(item.values, request.where).tiers
        if is_enumeration(item) or is_strategy(item):
            return request.reader.listed(given(item, request.where))
    return request.reader.read(request.arguments[0], request.where, bounds)


def _is_builtin(kind: object) -> bool:
    form = get_origin(kind)
    return (
        form in NEED_ARGUMENTS if form else kind is None or (is_class(kind) and kind in BUILTIN.keys() - NEED_ARGUMENTS)
    )


def _literal(request: TypeRequest) -> Tiers:
    values = list(distinct(request.arguments))
    return Flat(values, frozenset(map(type, values)), finite=True)


def _union(request: TypeRequest) -> Tiers:
    return _either([request.part(at, "") for at in range(len(request.arguments))])


def _either(parts: list[Tiers]) -> Tiers:
    both = UnionTiers(parts)
    kinds = [kind for part in parts for kind in part.kinds or ()]
    # remembering the values takes memory, so only do it if one value may belong to two parts
    apart = both.kinds is not None and len(kinds) == len(both.kinds)
    return both if apart else Once(both, fingerprint)


def _record(request: TypeRequest) -> Tiers:
    kind = get_origin(request.kind) or request.kind
    record, is_new = request.reader.record(request.kind, request.where, RecordTiers(kind, frozen=is_frozen(kind)))
    if is_new:
        fields = field_types(request.kind, request.where)
        parts = [request.reader.read(field, f"{request.where}.{name}") for name, field in fields.items()]
        record.hold(together(parts), builder(kind, list(fields)), min(len(fields), 1))
    return record if is_new else RecursiveTiers(record)


def _typed_dict(request: TypeRequest) -> Tiers:
    record, is_new = request.reader.record(request.kind, request.where, RecordTiers(dict, frozen=False))
    if is_new:
        fields = table_types(request.kind, request.where)
        parts = [
            UnionTiers([_ABSENT, part]) if absent else part
            for name, (field, absent) in fields.items()
            for part in (request.reader.read(field, f"{request.where}[{name!r}]"),)
        ]
        record.hold(together(parts), _filled(list(fields)), min(len(fields), 1))
    return record if is_new else RecursiveTiers(record)


def _filled(names: list[str]) -> Callable[..., dict[str, Any]]:
    return lambda *row: {name: value for name, value in zip(names, row, strict=True) if value is not _MISSING}


def _alias(request: TypeRequest) -> Tiers:
    # a type alias may name itself, as a class may, so it also adds one to the size
    record, is_new = request.reader.record(request.kind, request.where, RecordTiers(None, frozen=True))
    if is_new:
        record.hold(alone(request.reader.read(request.kind.__value__, request.where)), _itself, 1)
    return record if is_new else RecursiveTiers(record)


def _itself(value: object) -> object:
    return value


def _variable(request: TypeRequest) -> Tiers:
    kind = request.kind
    parts = kind.__constraints__ or (kind.__bound__,)
    return _either([request.reader.read(part, request.where, request.bounds) for part in parts])


def _is_variable(kind: object) -> bool:
    return isinstance(kind, TypeVar) and bool(kind.__constraints__ or kind.__bound__)


FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[TypeRequest], Tiers]], ...]] = (
    (lambda kind: get_origin(kind) is Annotated, _annotated),
    (lambda kind: get_origin(kind) is Literal, _literal),
    (lambda kind: get_origin(kind) in {Union, types.UnionType}, _union),
    (_is_builtin, lambda request: BUILTIN[get_origin(request.kind) or request.kind](request)),
    (
        is_uuid,
        lambda request: Flat((request.kind(int=each) for each in range(1 << 128)), frozenset({request.kind})),
    ),
    (lambda kind: is_typeddict(get_origin(kind) or kind), _typed_dict),
    (
        lambda kind: is_class(kind) and issubclass(kind, Enum),
        lambda request: Flat(members(request.kind), frozenset({request.kind}), finite=True),
    ),
    (lambda kind: is_record(get_origin(kind) or kind), _record),
    (is_new_type, lambda request: request.reader.read(request.kind.__supertype__, request.where, request.bounds)),
    (is_alias, _alias),
    (_is_variable, _variable),
)


T = TypeVar("T")
ValueSource: TypeAlias = "type[T] | Iterable[T] | SearchStrategy[T]"
"""A source of values of a type T: a subtype of T, an iterable, or a Hypothesis strategy.

>>> source: ValueSource[int] = range(3)
>>> list(every(int, {int: source}))
[0, 1, 2]
"""

Values: TypeAlias = Mapping[Any, Any]
"""Sources of values by type, as in `{int: range(10)}`; a source replaces all values of its type.

>>> few: Values = {int: range(10, 12)}
>>> list(every(int, few))
[10, 11]
"""

Anew: TypeAlias = Callable[[Enumeration[Any]], Enumeration[Any]]
"""A function that replaces the values of a Hypothesis strategy by other values of that strategy."""

REGISTERED: Final[dict[object, Callable[[], Enumeration[Any]]]] = {}


@overload
def every(kind: type[T], values: Values | None = None, where: str = "", anew: Anew | None = None) -> Enumeration[T]: ...
@overload
def every(
    kind: object, values: Values | None = None, where: str = "", anew: Anew | None = None
) -> Enumeration[Any]: ...
def every(kind: object, values: Values | None = None, where: str = "", anew: Anew | None = None) -> Enumeration[Any]:
    """Return all values of a type: small values first, and no value twice.

    `every` makes each value only when it is asked for, so a type such as `int` may have infinitely many. `values`
    replaces the values of types within the type, as `{int: range(2)}` does. Error messages begin with `where`, by
    default the name of the type. By default, `every` takes the first values of a Hypothesis strategy; the function
    `anew` draws other values instead. `every` raises UsageError for a type whose values otf cannot enumerate.

    >>> every(tuple[bool, int]).first(6)
    [(False, 0), (False, 1), (True, 0), (False, -1), (True, 1), (False, 2)]
    >>> list(every(int | None, {int: range(2)}))
    [0, None, 1]
    """
    instead = ready(values or {})
    return Reader(lambda part: instead.get(part) or registered(part), anew).enumeration(kind, where or name_of(kind))


def enumerated(source: object, values: Values | None = None, where: str = "") -> Enumeration[Any]:
    """Return the values of a source: a type, an iterable, an `Enumeration` or a Hypothesis strategy.

    `values` replaces the values of types, as `{int: range(2)}` does. Error messages begin with `where`. `enumerated`
    raises UsageError for any other kind of source.

    >>> list(enumerated(bool)), list(enumerated("ab"))
    ([False, True], ['a', 'b'])
    """
    return every(source, values, where) if is_type(source) else given(source, where or name_of(source))


def is_type(source: object) -> bool:
    """Return whether `source` is a type: a class, a generic type with arguments, an alias or a `NewType`.

    >>> is_type(list[int]), is_type([1, 2])
    (True, False)
    """
    return isinstance(source, type) or get_origin(source) is not None or is_alias(source) or is_new_type(source)


def ready(values: Values) -> dict[object, Enumeration[Any]]:
    """Return an enumeration for each type in `values`; otf reads each source once, however often it is used.

    >>> {kind: list(found) for kind, found in ready({int: iter([5, 6])}).items()}
    {<class 'int'>: [5, 6]}
    """
    return {kind: enumerated(source, _without(values, kind), name_of(kind)) for kind, source in values.items()}


def _without(values: Values, kind: object) -> Values:
    # a source may name the type that it replaces: {int: Annotated[int, Range(0, 9)]}
    return {other: source for other, source in values.items() if other != kind}


def registered(kind: object) -> Enumeration[Any] | None:
    """Return the values registered for a type, or None."""
    return REGISTERED[kind]() if kind in REGISTERED else None


class Reader:
    """Reads one type with all its parts; `instead` returns the values of a type for which the user gave values."""

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
        """Return the values of a type, or of part of one."""
        instead = self._instead(kind) if _hashable(kind) else None
        if instead is not None:
            return self.listed(instead)
        request = TypeRequest(kind, where, self, bounds or Bounds())
        for applies, form in FORMS:
            if applies(kind):
                return form(request)
        name = name_of(kind)
        is_own = is_class(kind) and kind.__module__.partition(".")[0] not in {*sys.stdlib_module_names, "builtins"}
        first = f"make {name} a dataclass with @dataclass(frozen=True), or " * (is_own and not is_dataclass(kind))
        raise UsageError(
            f"{where}: the values of the type {name} cannot be enumerated; {first}list them: "
            f"values={{{name}: [...]}}, Annotated[{name}, Among(...)] or register({name}, ...)"
        )

    def listed(self, values: Enumeration[Any]) -> Tiers:
        """Return the given values; for values drawn by a strategy, return their replacements."""
        return values.tiers if self._anew is None or values.origin is None else self._anew(values).tiers

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, and whether it is the new one."""
        # by identity and text, since Python considers Pair[Literal[1]] and Pair[Literal[True]] equal
        name = (id(kind) if is_class(kind) else 0, repr(kind))
        known, _, _ = self._records.setdefault(name, (new, where, kind))
        return known, known is new

    def _end(self, record: RecordTiers, where: str, kind: object) -> None:
        """Raise UsageError for an endlessly nested record. If a field has no values, neither has the record."""
        having = filled(record)
        if all(each.parts or id(each) in having for each in everything(record)):
            raise UsageError(
                f"{where}: a value of {name_of(kind)} would have to contain another one, and so on without end; "
                "give it an end, such as `| None` or a list"
            )
        record.hold(Flat(()), lambda: None, 0)


def name_of(kind: object) -> str:
    """Return the name of a type as error messages show it."""
    return kind.__name__ if is_class(kind) else str(kind)


def _hashable(kind: object) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True
