"""The values of Python's own types, within bounds."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from datetime import date
from typing import Final

from otf.errors import UsageError
from otf.values.atoms import PRINTABLE, floats, ints
from otf.values.derived import Mapped
from otf.values.functions import functions
from otf.values.request import TypeRequest
from otf.values.subsets import Subsets, Tables
from otf.values.tiers import Flat, Tiers
from otf.values.tuples import Sequences, together

BYTES: Final = bytes(range(256))
DAY: Final = date(2000, 1, 1).toordinal()


def _none(_: TypeRequest) -> Tiers:
    return Flat([None], frozenset({type(None)}), finite=True)


def _bool(_: TypeRequest) -> Tiers:
    return Flat([False, True], frozenset({bool}), finite=True)


def _int(request: TypeRequest) -> Tiers:
    low, high = request.bounds.ints()
    return Flat(ints(low, high), frozenset({int}), finite=None not in {low, high})


def _float(request: TypeRequest) -> Tiers:
    # there is an end, but no run reaches it
    return Flat(floats(*request.bounds.floats()), frozenset({float}))


def _str(request: TypeRequest) -> Tiers:
    return Mapped(_symbols(request, PRINTABLE, str), "".join, str)


def _bytes(request: TypeRequest) -> Tiers:
    return Mapped(_symbols(request, BYTES, bytes), bytes, bytes)


def _symbols(request: TypeRequest, usual: str | bytes, kind: type) -> Tiers:
    symbols = request.bounds.symbols(usual)
    if not isinstance(symbols, kind):
        raise UsageError(f"{request.where}: an alphabet of a {kind.__name__} is a {kind.__name__}, not {symbols!r}")
    return Sequences(Flat(dict.fromkeys(symbols), finite=True), *request.bounds.length())


def _list(request: TypeRequest) -> Tiers:
    return Mapped(Sequences(request.part(0, "[…]"), *request.bounds.length()), list, list, fixed=False)


def _set(request: TypeRequest) -> Tiers:
    return Mapped(_subsets(request), set, set, fixed=False)


def _frozenset(request: TypeRequest) -> Tiers:
    return Mapped(_subsets(request), frozenset, frozenset)


def _subsets(request: TypeRequest) -> Tiers:
    where = f"{request.where}{{…}}"
    return Subsets(request.part(0, "{…}"), where, *request.bounds.length())


def _dict(request: TypeRequest) -> Tiers:
    keys, values = request.part(0, ".keys()"), request.part(1, "[…]")
    tables = Tables(Subsets(keys, f"{request.where}.keys()", *request.bounds.length()), values)
    return Mapped(tables, lambda table: dict(zip(*table, strict=True)), dict, fixed=False)


def _sequence(request: TypeRequest) -> Tiers:
    return Sequences(request.part(0, "[…]"), *request.bounds.length())


def _tuple(request: TypeRequest) -> Tiers:
    if request.arguments[1:] == (Ellipsis,):
        return _sequence(request)
    return together([request.part(at, f"[{at}]") for at in range(len(request.arguments))])


def _date(_: TypeRequest) -> Tiers:
    # from the first day of 2000 outwards; there is an end, but no run reaches it
    days = ints(1 - DAY, date.max.toordinal() - DAY)
    return Flat((date.fromordinal(DAY + number) for number in days), frozenset({date}))


BUILTIN: Final[dict[object, Callable[[TypeRequest], Tiers]]] = {
    None: _none,
    type(None): _none,
    bool: _bool,
    int: _int,
    float: _float,
    str: _str,
    bytes: _bytes,
    list: _list,
    set: _set,
    frozenset: _frozenset,
    dict: _dict,
    tuple: _tuple,
    abc.Sequence: _sequence,
    abc.Collection: _sequence,
    abc.Iterable: _sequence,
    abc.Set: _frozenset,
    abc.Mapping: _dict,
    abc.Callable: functions,  # pyright: ignore[reportUnknownMemberType] -- as a class it has no arguments
    date: _date,
}
_ABSTRACT: Final = frozenset({abc.Sequence, abc.Collection, abc.Iterable, abc.Set, abc.Mapping, abc.Callable})
NEED_ARGUMENTS: Final = frozenset({list, set, frozenset, dict, tuple}) | _ABSTRACT
