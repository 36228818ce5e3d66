"""The values of Python's own types, within bounds."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from datetime import date
from typing import Final

from otf.errors import UsageError
from otf.values.asked import Asked
from otf.values.atoms import PRINTABLE, floats, ints
from otf.values.derived import Mapped
from otf.values.functions import functions
from otf.values.subsets import Subsets, Tables
from otf.values.tiers import Flat, Tiers
from otf.values.tuples import Sequences, together

BYTES: Final = bytes(range(256))
DAY: Final = date(2000, 1, 1).toordinal()


def _none(_: Asked) -> Tiers:
    return Flat([None], frozenset({type(None)}), finite=True)


def _bool(_: Asked) -> Tiers:
    return Flat([False, True], frozenset({bool}), finite=True)


def _int(asked: Asked) -> Tiers:
    low, high = asked.bounds.ints()
    return Flat(ints(low, high), frozenset({int}), finite=None not in {low, high})


def _float(asked: Asked) -> Tiers:
    # there is an end, but nobody will see it
    return Flat(floats(*asked.bounds.floats()), frozenset({float}))


def _str(asked: Asked) -> Tiers:
    return Mapped(_symbols(asked, PRINTABLE, str), "".join, str)


def _bytes(asked: Asked) -> Tiers:
    return Mapped(_symbols(asked, BYTES, bytes), bytes, bytes)


def _symbols(asked: Asked, usual: str | bytes, kind: type) -> Tiers:
    symbols = asked.bounds.symbols(usual)
    if not isinstance(symbols, kind):
        raise UsageError(f"{asked.where}: an alphabet of a {kind.__name__} is a {kind.__name__}, not {symbols!r}")
    return Sequences(Flat(dict.fromkeys(symbols), finite=True), *asked.bounds.length())


def _list(asked: Asked) -> Tiers:
    return Mapped(Sequences(asked.part(0, "[…]"), *asked.bounds.length()), list, list, fixed=False)


def _set(asked: Asked) -> Tiers:
    return Mapped(_subsets(asked), set, set, fixed=False)


def _frozenset(asked: Asked) -> Tiers:
    return Mapped(_subsets(asked), frozenset, frozenset)


def _subsets(asked: Asked) -> Tiers:
    where = f"{asked.where}{{…}}"
    return Subsets(asked.part(0, "{…}"), where, *asked.bounds.length())


def _dict(asked: Asked) -> Tiers:
    keys, values = asked.part(0, ".keys()"), asked.part(1, "[…]")
    tables = Tables(Subsets(keys, f"{asked.where}.keys()", *asked.bounds.length()), values)
    return Mapped(tables, lambda table: dict(zip(*table, strict=True)), dict, fixed=False)


def _sequence(asked: Asked) -> Tiers:
    return Sequences(asked.part(0, "[…]"), *asked.bounds.length())


def _tuple(asked: Asked) -> Tiers:
    if asked.arguments[1:] == (Ellipsis,):
        return _sequence(asked)
    return together([asked.part(at, f"[{at}]") for at in range(len(asked.arguments))])


def _date(_: Asked) -> Tiers:
    # around the first day of 2000; there is an end, but nobody will see it
    days = ints(1 - DAY, date.max.toordinal() - DAY)
    return Flat((date.fromordinal(DAY + number) for number in days), frozenset({date}))


BUILTIN: Final[dict[object, Callable[[Asked], Tiers]]] = {
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
