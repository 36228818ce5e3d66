"""The values of types that are put together from others: annotated ones, unions, classes, other names."""

from __future__ import annotations

import types
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_origin, is_typeddict

from otf.values.asked import Asked
from otf.values.bounds import Among, Bounds
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
from otf.values.derived import Filtered, Once, RecordTiers, RecursiveTiers, UnionTiers
from otf.values.enumeration import distinct, given, is_enumeration
from otf.values.sameness import fingerprint
from otf.values.strategies import is_strategy
from otf.values.tiers import Flat, Tiers
from otf.values.tuples import Alone, together

_MISSING: Final = object()  # instead of a value that may be left out
_ABSENT: Final = Flat([_MISSING], finite=True)


def _annotated(asked: Asked) -> Tiers:
    bounds = Bounds.of(asked.kind.__metadata__)
    tiers = _within(asked, bounds)
    return Filtered(tiers, bounds.meets(asked.where), asked.where) if bounds.said else tiers


def _within(asked: Asked, bounds: Bounds) -> Tiers:
    for item in reversed(bounds.others):
        if isinstance(item, Among):
            return given(item.values, asked.where).tiers
        if is_enumeration(item) or is_strategy(item):
            return given(item, asked.where).tiers
    return asked.reader.read(asked.arguments[0], asked.where, bounds)


def _builtin(asked: Asked) -> Tiers:
    return BUILTIN[get_origin(asked.kind) or asked.kind](asked)


def _is_builtin(kind: object) -> bool:
    form = get_origin(kind)
    return (
        form in NEED_ARGUMENTS if form else kind is None or (is_class(kind) and kind in BUILTIN.keys() - NEED_ARGUMENTS)
    )


def _literal(asked: Asked) -> Tiers:
    values = list(distinct(asked.arguments))
    return Flat(values, frozenset(map(type, values)), finite=True)


def _union(asked: Asked) -> Tiers:
    return _either([asked.part(at, "") for at in range(len(asked.arguments))])


def _either(parts: list[Tiers]) -> Tiers:
    both = UnionTiers(parts)
    kinds = [kind for part in parts for kind in part.kinds or ()]
    # only where a value may belong to two of them is it worth the memory to look for those that were there
    apart = both.kinds is not None and len(kinds) == len(both.kinds)
    return both if apart else Once(both, fingerprint)


def _enum(asked: Asked) -> Tiers:
    return Flat(members(asked.kind), frozenset({asked.kind}), finite=True)


def _record(asked: Asked) -> Tiers:
    kind = get_origin(asked.kind) or asked.kind
    record, is_new = asked.reader.record(asked.kind, asked.where, RecordTiers(kind, frozen=is_frozen(kind)))
    if is_new:
        fields = field_types(asked.kind, asked.where)
        parts = [asked.reader.read(field, f"{asked.where}.{name}") for name, field in fields.items()]
        record.hold(together(parts), builder(kind, list(fields)), min(len(fields), 1))
    return record if is_new else RecursiveTiers(record)


def _typed_dict(asked: Asked) -> Tiers:
    record, is_new = asked.reader.record(asked.kind, asked.where, RecordTiers(dict, frozen=False))
    if is_new:
        fields = table_types(asked.kind, asked.where)
        parts = [
            UnionTiers([_ABSENT, part]) if absent else part
            for name, (field, absent) in fields.items()
            for part in (asked.reader.read(field, f"{asked.where}[{name!r}]"),)
        ]
        record.hold(together(parts), _filled(list(fields)), min(len(fields), 1))
    return record if is_new else RecursiveTiers(record)


def _filled(names: list[str]) -> Callable[..., dict[str, Any]]:
    return lambda *row: {name: value for name, value in zip(names, row, strict=True) if value is not _MISSING}


def _uuid(asked: Asked) -> Tiers:
    kind = asked.kind
    return Flat((kind(int=number) for number in range(1 << 128)), frozenset({kind}))


def _new_type(asked: Asked) -> Tiers:
    return asked.reader.read(asked.kind.__supertype__, asked.where, asked.bounds)


def _alias(asked: Asked) -> Tiers:
    # what is declared by `type` may name itself, as a class may: so it costs one, as a class does
    record, is_new = asked.reader.record(asked.kind, asked.where, RecordTiers(None, frozen=True))
    if is_new:
        record.hold(Alone(asked.reader.read(asked.kind.__value__, asked.where)), _itself, 1)
    return record if is_new else RecursiveTiers(record)


def _itself(value: object) -> object:
    return value


def _variable(asked: Asked) -> Tiers:
    kind = asked.kind
    parts = kind.__constraints__ or (kind.__bound__,)
    return _either([asked.reader.read(part, asked.where, asked.bounds) for part in parts])


def _is_variable(kind: object) -> bool:
    return isinstance(kind, TypeVar) and bool(kind.__constraints__ or kind.__bound__)


FORMS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Asked], Tiers]], ...]] = (
    (lambda kind: get_origin(kind) is Annotated, _annotated),
    (lambda kind: get_origin(kind) is Literal, _literal),
    (lambda kind: get_origin(kind) in {Union, types.UnionType}, _union),
    (_is_builtin, _builtin),
    (is_uuid, _uuid),
    (lambda kind: is_typeddict(get_origin(kind) or kind), _typed_dict),
    (lambda kind: is_class(kind) and issubclass(kind, Enum), _enum),
    (lambda kind: is_record(get_origin(kind) or kind), _record),
    (is_new_type, _new_type),
    (is_alias, _alias),
    (_is_variable, _variable),
)
