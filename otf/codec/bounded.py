"""Finds which construct declarations read in a time that the number of bytes bounds, whoever has sent them.

It knows the parts that read forwards, each at a cost proportional to what it takes from the stream. A repeated part
must take at least one byte, or four bytes could ask for four billion empty parts. Nothing in it may go back, or each
byte might be read as often as there are bytes. Anything unknown, such as a user's function, counts as unbounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

LONGEST: Final = 1 << 16
"""Bytes up to which this holds: a number of variable length takes the square of its length."""
_MOST: Final = 1_000  # parts of a declaration; one in several positions is read in each

_EMPTY: Final = frozenset({"GreedyBytes", "Pass", "Terminated", "Error", "Index", "Tell"})
_WITHIN: Final = frozenset({"Renamed", "Const", "Rebuild", "Default", "Enum", "FlagsEnum", "Mapping"}) | {
    "Hex",
    "HexDump",
    "Aligned",
}
_ENCODINGS: Final = ("utf", "ascii", "latin", "iso", "cp")  # others, such as idna, take quadratic time
_PLAIN: Final = frozenset({"add", "sub", "and_", "or_", "eq", "ne", "lt", "le", "gt", "ge"})
_TURNED: Final = frozenset({"bytes2bits", "bits2bytes", "swapbytes", "swapbitsinbytes"})


def is_bounded(declaration: Any) -> bool:
    """Return whether reading takes no more than a fixed amount for each byte.

    >>> from construct import Int8ub, Int32ub, Pass, PrefixedArray, Struct
    >>> is_bounded(Struct("rows" / PrefixedArray(Int32ub, Int8ub)))
    True
    >>> is_bounded(Struct("rows" / PrefixedArray(Int32ub, Pass)))
    False
    """
    try:
        _Walk().least(declaration, repeated=False)
    except _UnknownError:
        return False
    return True


class _UnknownError(Exception):
    """Nothing can be promised."""


class _Walk:
    """Walks through a declaration, with at most `left` more parts."""

    def __init__(self) -> None:
        self.left = _MOST

    def least(self, part: Any, *, repeated: bool) -> int:
        """Return the least number of bytes (or bits, within bits) that a part takes. Raises _UnknownError."""
        self.left -= 1
        name = type(part).__name__
        if self.left < 0 or not type(part).__module__.startswith("construct.") or getattr(part, "parsed", None):
            raise _UnknownError
        if name in _EMPTY or (name == "Computed" and not callable(part.func)):
            return 0
        if name in {"FormatField", "Bytes", "BytesInteger", "BitsInteger"}:
            return _number(part.length)
        if name in {"VarInt", "ZigZag", "Flag"}:
            return 1
        if name in _WITHIN or (name == "StringEncoded" and part.encoding.lower().startswith(_ENCODINGS)):
            return self.least(part.subcon, repeated=repeated)
        return self._least_composed(name, part, repeated=repeated)

    def _least_composed(self, name: str, part: Any, *, repeated: bool) -> int:
        if name == "Compiled":
            return self.least(part.defersubcon, repeated=repeated)
        if name in {"Struct", "Sequence", "FocusedSeq"}:
            return sum(self._all(part.subcons, repeated=repeated))
        if name == "Array" or (name == "GreedyRange" and not repeated):
            return self._repeated(part, _number(part.count) if name == "Array" else 0)
        parts = self._alternatives(name, part, repeated=repeated)
        return min(self._all(parts, repeated=repeated)) if parts else self._within_bytes(name, part)

    def _alternatives(self, name: str, part: Any, *, repeated: bool) -> Iterable[Any]:
        if name == "Select" and not repeated:
            return tuple(part.subcons)
        if name == "IfThenElse":
            _number(part.condfunc)
            return part.thensubcon, part.elsesubcon
        if name == "Switch":
            _number(part.keyfunc)
            return *part.cases.values(), part.default
        return ()

    def _within_bytes(self, name: str, part: Any) -> int:
        """Return the least number of bytes of a part that takes bytes and reads within them, where it may go back."""
        if name not in {"Prefixed", "FixedSized", "Padded", "NullTerminated", "NullStripped", "Transformed"}:
            raise _UnknownError
        self.least(part.subcon, repeated=name == "Padded")
        if name == "Prefixed":
            return self.least(part.lengthfield, repeated=True)
        if name in {"FixedSized", "Padded"}:
            return _number(part.length)
        if name == "Transformed":
            if part.decodefunc.__name__ not in _TURNED or not isinstance(part.decodeamount, int):
                raise _UnknownError
            return part.decodeamount
        return int(name == "NullTerminated" and part.consume and part.require)

    def _repeated(self, part: Any, count: int) -> int:
        least = self.least(part.subcon, repeated=True)
        if not least:
            raise _UnknownError
        return count * least

    def _all(self, parts: Iterable[Any], *, repeated: bool) -> list[int]:
        return [self.least(each, repeated=repeated) for each in parts]


def _number(found: Any) -> int:
    """Return a number in a declaration; 0 if another field has it. Raises _UnknownError for a function."""
    if isinstance(found, int):
        return found
    if not _is_plain(found):
        raise _UnknownError
    return 0


def _is_plain(found: Any) -> bool:
    """Return whether this is a field, or compares or adds fields and constants: a product of texts may be long."""
    name = type(found).__name__
    if name == "BinExpr" and type(found).__module__ == "construct.expr":
        return found.op.__name__ in _PLAIN and _is_plain(found.lhs) and _is_plain(found.rhs)
    return isinstance(found, (int, str, bytes)) or (name == "Path" and type(found).__module__ == "construct.expr")


__all__ = ["LONGEST", "is_bounded"]
