"""The values of types that are built from others: annotated types, unions, classes, aliases."""

from __future__ import annotations

import types
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_origin, is_typeddict

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
from otf.values.derived import Alone, Filtered, Once, RecordTiers, RecursiveTiers, UnionTiers, together
from otf.values.enumeration import distinct, given, is_enumeration
from otf.values.identity import fingerprint
from otf.values.size_tiers import Flat, Tiers
from otf.values.strategies import is_strategy

_MISSING: Final = object()  # instead of a value that may be left out
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


def _builtin(request: TypeRequest) -> Tiers:
    return BUILTIN[get_origin(request.kind) or request.kind](request)


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
    # remembering the values takes memory: it is needed only if one value may belong to two parts
    apart = both.kinds is not None and len(kinds) == len(both.kinds)
    return both if apart else Once(both, fingerprint)


def _enum(request: TypeRequest) -> Tiers:
    return Flat(members(request.kind), frozenset({request.kind}), finite=True)


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


def _uuid(request: TypeRequest) -> Tiers:
    kind = request.kind
    return Flat((kind(int=number) for number in range(1 << 128)), frozenset({kind}))


def _new_type(request: TypeRequest) -> Tiers:
    return request.reader.read(request.kind.__supertype__, request.where, request.bounds)


def _alias(request: TypeRequest) -> Tiers:
    # a type alias may name itself, as a class may: so it adds one to the size, as a class does
    record, is_new = request.reader.record(request.kind, request.where, RecordTiers(None, frozen=True))
    if is_new:
        record.hold(Alone(request.reader.read(request.kind.__value__, request.where)), _itself, 1)
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
    (_is_builtin, _builtin),
    (is_uuid, _uuid),
    (lambda kind: is_typeddict(get_origin(kind) or kind), _typed_dict),
    (lambda kind: is_class(kind) and issubclass(kind, Enum), _enum),
    (lambda kind: is_record(get_origin(kind) or kind), _record),
    (is_new_type, _new_type),
    (is_alias, _alias),
    (_is_variable, _variable),
)
