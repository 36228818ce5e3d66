"""Finds the parts in which two values differ, by comparing their texts."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from otf.trace.texts import in_row, parsed

MOST: Final = 3  # more differences would not help
DEEPEST: Final = 100  # levels: about as deep as Python parses
LEVELS: Final = 10  # of more differences than a few, the parts above them are looked at, up to so many levels
LONG: Final = 60  # characters of a text; of two longer ones only what differs is shown
BINARY: Final = 16  # and so many bytes of binary data
AROUND: Final = 10  # and so many characters on each side of it
_DEFAULT: Final = ast.Name("its default")  # of a field that is not shown
_ABSENT: Final = ast.Name("absent")
_Pair: TypeAlias = tuple[ast.expr, ast.expr]
_Part: TypeAlias = tuple[ast.expr, ast.expr, str]
_InnerParts: TypeAlias = list[_Part]


class Difference(NamedTuple):
    """A part in which two values differ: its path, the value seen and the value allowed."""

    path: str
    seen: str
    allowed: str

    def __str__(self) -> str:
        """Return the difference as text."""
        return f"{self.path or 'it'} is {in_row(self.seen)}, not {in_row(self.allowed)}"


def differences(seen: str, allowed: str) -> list[Difference] | None:
    """Return the differences of two values of one type; None if the types differ or they are not plain values.

    JSON in a text or in bytes is compared as a value; of other long texts the range that differs is named.

    >>> differences("Money(coins=1, of='me')", "Money(coins=2, of='me')")
    [Difference(path='coins', seen='1', allowed='2')]
    >>> print(*differences("Got(body='[1, 4]')", "Got(body='[1, 3]')"))
    body[1] is 4, not 3
    """
    pair = _pair(seen, allowed)
    return None if pair is None else _told(_compared(pair, "", DEEPEST))


def few(seen: str, allowed: str) -> list[Difference]:
    """Return a few differences of two texts: if there are too many, those of larger parts; [] if still too many."""
    pair = _pair(seen, allowed)
    if pair is None:
        return []
    for deep in (DEEPEST, *range(LEVELS, 0, -1)):
        found = list(islice(_compared(pair, "", deep), MOST + 1))
        if len(found) <= MOST:
            return _told(found)
    return []


def _told(parts: Iterable[_Part]) -> list[Difference]:
    return [Difference(path, ast.unparse(one), ast.unparse(other)) for one, other, path in parts]


def _pair(seen: str, allowed: str) -> _Pair | None:
    one, other = parsed(seen), parsed(allowed)
    if one is None or other is None:
        return None
    calls = isinstance(one, ast.Call) and isinstance(other, ast.Call) and _same(one.func, other.func)
    return (one, other) if calls or _inner(one, other, "") is not None else None


def _compared(pair: _Pair, path: str, deep: int) -> Iterator[_Part]:
    one, other = pair
    inner = _inner(one, other, path) if deep else None
    if inner is None:
        if not _same(one, other):
            yield one, other, path
        return
    for left, right, where in inner:
        yield from _compared((left, right), where, deep - 1)


def _inner(one: ast.expr, other: ast.expr, path: str) -> _InnerParts | None:
    """Return the corresponding parts of two values; None if they must be compared as a whole."""
    match one, other:
        case (ast.Call(), ast.Call()) if _same(one.func, other.func) and len(one.args) == len(other.args):
            fields, others = _named(one), _named(other)
            if one.args and fields.keys() != others.keys():
                return None
            dot = f"{path}." if path else ""
            each = fields | others
            named = [(fields.get(name, _DEFAULT), others.get(name, _DEFAULT), f"{dot}{name}") for name in each]
            return [*_in_order(one.args, other.args, path), *named]
        case (ast.Tuple(elts=left), ast.Tuple(elts=right)) | (ast.List(elts=left), ast.List(elts=right)):
            return _elements(left, right, path)
        case (ast.Dict(), ast.Dict()):
            first, second = _keyed(one, path), _keyed(other, path)
            return [(first.get(key, _ABSENT), second.get(key, _ABSENT), key) for key in first | second]
        case (ast.Constant(value=str() | bytes() as text), ast.Constant(value=str() | bytes() as by)) if text != by:
            return _as_json(text, by, path) or _range(text, by, path)
        case _:
            return None


def _in_order(one: Sequence[ast.expr], other: Sequence[ast.expr], path: str, first: int = 0) -> _InnerParts:
    return [(left, right, f"{path}[{at}]") for at, (left, right) in enumerate(zip(one, other, strict=True), first)]


def _elements(one: Sequence[ast.expr], other: Sequence[ast.expr], path: str) -> _InnerParts | None:
    """Return the elements to compare; of different numbers, those that one has more, if these alone differ."""
    if len(one) == len(other):
        return _in_order(one, other, path)
    start, end = _common([*map(ast.dump, one)], [*map(ast.dump, other)])
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    if left and right:
        return None
    return _in_order(left or [_ABSENT] * len(right), right or [_ABSENT] * len(left), path, start)


def _common(one: Sequence[object], other: Sequence[object]) -> tuple[int, int]:
    """Return how many elements are equal at the start, and then how many at the end."""
    start = _equal(one, other)
    return start, _equal(one[start:][::-1], other[start:][::-1])


def _equal(one: Sequence[object], other: Sequence[object]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _keyed(value: ast.Dict, path: str) -> dict[str, ast.expr]:
    keys = (ast.unparse(key) if key is not None else "**" for key in value.keys)
    return {f"{path}{_at(key, path)}": each for key, each in zip(keys, value.values, strict=True)}


def _at(key: str, path: str) -> str:
    name = key[1:-1]
    return f"[{key}]" if key != repr(name) or not name.isidentifier() else f".{name}" if path else name


@lru_cache(16)  # one pair is compared at several depths
def _as_json(one: str | bytes, other: str | bytes, path: str) -> _InnerParts | None:
    """Return two texts as objects or arrays of JSON; None if they are not, or differ in spaces or order only."""
    with suppress(ValueError, RecursionError):
        values: list[object] = [json.loads(each) for each in (one, other)]
        left, right = (parsed(repr(each) if type(each) in {dict, list} else "") for each in values)
        if left is not None and right is not None and len({json.dumps(each, sort_keys=True) for each in values}) > 1:
            return [(left, right, path)]
    return None


def _range(one: str | bytes, other: str | bytes, path: str) -> _InnerParts | None:
    """Return the ranges in which two long texts differ, with a little around them; of binary data in hex, and alone."""
    if type(one) is not type(other):
        return None
    start, end = _common(one, other)
    binary = not all(map(_printable, (one[start : len(one) - end], other[start : len(other) - end])))
    around, longest = (0, BINARY) if binary else (AROUND, LONG)
    start, end = max(0, start - around), max(0, end - around)
    if min(len(one), len(other)) <= longest or not (start or end):
        return None
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    return [(_shown(left, binary=binary), _shown(right, binary=binary), f"{path}[{start}:{start + len(left)}]")]


def _printable(text: str | bytes) -> bool:
    return isinstance(text, str) or text.decode("latin-1").isprintable()


def _shown(text: str | bytes, *, binary: bool) -> ast.expr:
    return ast.Name(text.hex(" ") or "nothing") if binary and isinstance(text, bytes) else ast.Constant(text)


def _named(call: ast.Call) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords}


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)
