"""The values of Python's own types, within bounds; numbers and characters in the order in which they are tried."""

from __future__ import annotations

import string
from collections import abc
from collections.abc import Callable, Iterator
from datetime import date
from itertools import chain, count, zip_longest
from math import inf, isfinite, isinf, ldexp, nan
from typing import Final

from otf.errors import UsageError
from otf.values.bounds import TypeRequest
from otf.values.derived import Mapped, Sequences, together
from otf.values.enumeration import Flat, Tiers
from otf.values.subsets import Subsets, Tables, functions

# One of each class in turn, so that characters that programs treat differently come early.
_CLASSES: Final = (string.ascii_lowercase, string.ascii_uppercase, string.digits, " \n\t\r", string.punctuation)
PRINTABLE: Final = "".join(chain.from_iterable(zip_longest(*_CLASSES, fillvalue="")))
"""The 98 characters of which otf makes a `str`, in the order in which otf tries them; they are those of Gast."""

# A finite double is an odd number of at most _DIGITS bits times a power of 2. The power is at least _SMALLEST, and the
# product is below 2 to the power of _TOO_LARGE.
_DIGITS: Final = 53
_SMALLEST: Final = -1074
_TOO_LARGE: Final = 1024


def ints(low: int | None = None, high: int | None = None) -> Iterator[int]:
    """Yield the integers between two bounds, those near 0 first.

    >>> list(ints(-2, 3)), list(ints(5, 7))
    ([0, 1, -1, 2, -2, 3], [5, 6, 7])
    """
    if low is not None and low > 0:
        return iter(_up(low, high))
    if high is not None and high < 0:
        return iter(_down(high, low))
    return _around(low, high)


def floats(low: float = -inf, high: float = inf) -> Iterator[float]:
    """Yield the floats between two bounds: first the bounds, then the values between, few digits before many.

    Without bounds, this includes the infinities and nan.

    >>> from itertools import islice
    >>> list(islice(floats(), 10))
    [0.0, 1.0, -1.0, inf, -inf, nan, 0.5, -0.5, 3.0, -3.0]
    >>> list(islice(floats(0, 1), 7))
    [0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.375]
    """
    if low == -inf and high == inf:
        return _all_floats()
    if isinf(low) or isinf(high):
        bounds = [bound + 0.0 for bound in (low, high) if isfinite(bound)]
        return chain(bounds, (value for value in _all_floats() if low <= value <= high and value not in bounds))
    return _between(low, high)


def _up(low: int, high: int | None) -> Iterator[int]:
    return iter(count(low) if high is None else range(low, high + 1))


def _down(high: int, low: int | None) -> Iterator[int]:
    return iter(count(high, -1) if low is None else range(high, low - 1, -1))


def _around(low: int | None, high: int | None) -> Iterator[int]:
    yield 0
    bounds = [abs(bound) for bound in (low, high) if bound is not None]
    for number in range(1, min(bounds) + 1) if bounds else count(1):
        yield number
        yield -number
    yield from _up(min(bounds) + 1, high)
    yield from _down(-min(bounds) - 1, low)


def _all_floats() -> Iterator[float]:
    special = (0.0, 1.0, -1.0, inf, -inf, nan)
    return chain(special, chain.from_iterable(map(diagonal, count(1))))


def diagonal(total: int) -> Iterator[float]:
    """Yield products of an odd number and a power of 2, whose places in the lists of both add up to `total`."""
    for place in range(min(total, 2 * -_SMALLEST), -1, -1):
        odd = 2 * (total - place) + 1
        power = place // 2 if place % 2 == 0 else -(place + 1) // 2
        if odd.bit_length() <= _DIGITS and _SMALLEST <= power <= _TOO_LARGE - odd.bit_length():
            yield ldexp(odd, power)
            yield -ldexp(odd, power)


def _between(low: float, high: float) -> Iterator[float]:
    yield from dict.fromkeys(bound + 0.0 for bound in (low, high) if low <= high)
    least, greatest = _units(low), _units(high)
    coarse = (greatest - least).bit_length() - 1 if greatest > least else -1
    for digits in range(coarse, -1, -1):
        numbers = ints((least >> digits) + 1, -(-greatest >> digits) - 1)
        for number in numbers:
            if number.bit_length() > _DIGITS:
                break
            # an even multiple of this step was a multiple of a coarser one
            if number % 2 or digits == coarse:
                yield ldexp(number, digits + _SMALLEST)


def _units(number: float) -> int:
    """Return a finite float in units of the smallest one."""
    over, under = number.as_integer_ratio()
    return over * (1 << -_SMALLEST) // under


BYTES: Final = bytes(range(256))
DAY: Final = date(2000, 1, 1).toordinal()


def _int(request: TypeRequest) -> Tiers:
    low, high = request.bounds.ints()
    return Flat(ints(low, high), frozenset({int}), finite=None not in {low, high})


def _float(request: TypeRequest) -> Tiers:
    # finite, but no run reaches the end
    return Flat(floats(*request.bounds.floats()), frozenset({float}))


def _symbols(request: TypeRequest, usual: str | bytes, kind: type) -> Tiers:
    symbols = request.bounds.symbols(usual)
    if not isinstance(symbols, kind):
        raise UsageError(f"{request.where}: an alphabet of a {kind.__name__} is a {kind.__name__}, not {symbols!r}")
    return Sequences(Flat(dict.fromkeys(symbols), finite=True), *request.bounds.length())


def _list(request: TypeRequest) -> Tiers:
    return Mapped(Sequences(request.part(0, "[…]"), *request.bounds.length()), list, list, fixed=False)


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
    # from the first day of 2000 outwards; finite, but no run reaches the end
    days = ints(1 - DAY, date.max.toordinal() - DAY)
    return Flat((date.fromordinal(DAY + number) for number in days), frozenset({date}))


BUILTIN: Final[dict[object, Callable[[TypeRequest], Tiers]]] = {
    None: lambda _: Flat([None], frozenset({type(None)}), finite=True),
    type(None): lambda _: Flat([None], frozenset({type(None)}), finite=True),
    bool: lambda _: Flat([False, True], frozenset({bool}), finite=True),
    int: _int,
    float: _float,
    str: lambda request: Mapped(_symbols(request, PRINTABLE, str), "".join, str),
    bytes: lambda request: Mapped(_symbols(request, BYTES, bytes), bytes, bytes),
    list: _list,
    set: lambda request: Mapped(_subsets(request), set, set, fixed=False),
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
