"""The formats of the fields of a binary message: numbers, bytes, texts, lists and bits.

A format annotates the type of a dataclass field, and `otf.codec.records` makes a codec from such dataclasses. All
formats are strict: a value has only one form in bytes, so a decoded value encodes to the bytes that it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, Flag
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn, TypeAlias, get_args, get_origin

from otf.errors import CodecError, UsageError
from otf.values import show
from otf.values.arguments import checked

Inner: TypeAlias = Callable[[Any], "Format"]
"""A function that returns the format for the type of a part of a field."""


class Format:
    r"""A format reads and writes the values of one field of a message.

    `size` is the number of bytes of each value, or None if values differ in length. `is_open` is true if the field
    takes all bytes of the message that no other field takes. `fixed` maps positions in the field to bytes that are the
    same in all values.

    >>> u16be.write(258), u16be.read(b"..\1\2", 2, 4)
    (b'\x01\x02', (258, 4))
    >>> raw(2).bound(bytes, lambda hint: u8).size
    2
    """

    size: Any = None
    is_open: bool = False
    fixed: Mapping[int, int] = MappingProxyType({})

    def bound(self, hint: Any, inner: Inner) -> Format:
        """Return this format, adapted to a field with the type annotation `hint`.

        `inner` returns the format for the annotation of a part, such as an item of a list. Raises UsageError if the
        format does not fit the annotation.
        """
        raise NotImplementedError

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        """Return the value that begins at the position `at`, and the position where it ends. Raises CodecError."""
        raise NotImplementedError

    def write(self, value: Any) -> bytes:
        """Return the bytes of a value. If the format cannot encode the value, `write` may raise any exception."""
        raise NotImplementedError


@dataclass(frozen=True)
class Number(Format):
    r"""The format of an integer of `width` bytes; the field has the type int, bool, Flag, an integer Enum, or Literal.

    `order` is the byte order of the number: "big" or "little". `signed` is true if the number may be negative, as two's
    complement.

    >>> Number(3, "big").write(1)
    b'\x00\x00\x01'
    """

    width: int
    order: Literal["big", "little"] = "big"
    signed: bool = False

    @property
    def size(self) -> int:
        """Return how many bytes the number has."""
        return self.width

    def bound(self, hint: Any, inner: Inner) -> Format:
        """Return this format; for an Enum or a Literal, only with its values. Raises UsageError for other types."""
        del inner
        if hint is int:
            return self
        if isinstance(hint, type) and issubclass(hint, Flag):
            return _Flags(self, hint)
        return _Table(self, _allowed(self, hint))

    def read(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        """Return the number at the position `at`, and the position where it ends. Raises CodecError."""
        stop = at + self.width
        if stop > end:
            raise too_short(self.width, at, end)
        if self is u8:  # the most frequent one, and 0.1 µs faster this way
            return data[at], stop
        return int.from_bytes(data[at:stop], self.order, signed=self.signed), stop

    def write(self, value: int) -> bytes:
        """Return the bytes of a number. Raises OverflowError if the number does not fit."""
        return value.to_bytes(self.width, self.order, signed=self.signed)


u8, i8 = Number(1), Number(1, signed=True)
u16be, u16le = Number(2), Number(2, "little")
i16be, i16le = Number(2, signed=True), Number(2, "little", signed=True)
u24be, u24le = Number(3), Number(3, "little")
u32be, u32le = Number(4), Number(4, "little")
i32be, i32le = Number(4, signed=True), Number(4, "little", signed=True)
u64be, u64le = Number(8), Number(8, "little")
i64be, i64le = Number(8, signed=True), Number(8, "little", signed=True)


class _Table(Format):
    def __init__(self, number: Number, values: Mapping[int, Any]) -> None:
        self.number, self.values, self.size = number, values, number.width
        self.numbers = {value: number for number, value in values.items()}

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        number, stop = self.number.read(data, at, end)
        if number not in self.values:
            raise CodecError(f"{number} at byte {at} is none of {', '.join(map(show, self.values.values()))}")
        return self.values[number], stop

    def write(self, value: Any) -> bytes:
        return self.number.write(self.numbers[value])


class _Flags(Format):
    def __init__(self, number: Number, kind: type[Flag]) -> None:
        self.number, self.kind, self.size = number, kind, number.width

    def read(self, data: bytes, at: int, end: int) -> tuple[Flag, int]:
        number, stop = self.number.read(data, at, end)
        value = self.kind(number)  # ValueError for unknown bits where the class refuses them
        if value.value != number:
            raise CodecError(f"{number:#x} at byte {at} has bits that {self.kind.__name__} has not")
        return value, stop

    def write(self, value: Any) -> bytes:
        return self.number.write(value.value if type(value) is self.kind else refused(value, self.kind.__name__))


def _allowed(number: Number, hint: Any) -> dict[int, Any]:
    values: dict[int, Any] = {}
    if hint is bool:
        values = {0: False, 1: True}
    elif isinstance(hint, type) and issubclass(hint, Enum):
        values = {each.value: each for each in hint if isinstance(each.value, int)}
    elif get_origin(hint) is Literal:
        values = {each: each for each in get_args(hint) if isinstance(each, int)}
    if not values:
        raise UsageError(f"a number has the type int, bool, an Enum or a Literal of integers, not {hint}")
    for value in values:
        try:
            number.write(value)
        except OverflowError:
            raise UsageError(f"{value} of {hint} does not fit into {number.width} bytes") from None
    return values


@dataclass(frozen=True)
class Extent:
    r"""An extent describes where a field ends; a field with `Extent()` ends at the end of the message.

    `size` is the number of bytes of the field. `prefix` is the format of the number that precedes the field and
    contains the length of the field. `stop` is the mark that ends the field.

    >>> Extent(prefix=u8).write(b"abc"), Extent(stop=b"\0").read(b"abc\0d", 0, 5)
    (b'\x03abc', (b'abc', 4))
    """

    size: int | None = None
    prefix: Number | None = None
    stop: bytes = b""

    def read(self, data: bytes, at: int, end: int) -> tuple[bytes, int]:
        """Return the field's bytes, and where the next field begins. Raises CodecError if the message is too short."""
        if self.stop:
            found = data.find(self.stop, at, end)
            if found < 0:
                raise CodecError(f"no {self.stop!r} ends what begins at byte {at}")
            return data[at:found], found + len(self.stop)
        first, last = self.limits(data, at, end)
        return data[first:last], last

    def limits(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        """Return where the bytes of the field begin and end. Raises CodecError if the message is too short."""
        wanted = self.size
        if self.prefix is not None:
            wanted, at = self.prefix.read(data, at, end)
        if wanted is None:
            wanted = max(end - at, 0)
        if wanted > end - at:
            raise too_short(wanted, at, end)
        return at, at + wanted

    def write(self, raw: bytes) -> bytes:
        """Return the bytes of the field with their length before them or the mark after them. Raises ValueError."""
        if self.stop and (raw + self.stop).find(self.stop) != len(raw):
            raise ValueError(f"{raw!r} has the mark {self.stop!r} that ends it")
        if self.size is not None and len(raw) != self.size:
            raise ValueError(f"there must be {self.size} bytes, not {len(raw)}")
        return raw + self.stop if self.prefix is None else self.prefix.write(len(raw)) + raw


rest: Final = Extent()
r"""The extent of a field that takes all bytes up to the end of the frame, or up to fields of fixed size after it.

>>> raw(rest).read(b"\1\2\3", 1, 3)
(b'\x02\x03', 3)
"""


@checked
def until(stop: bytes) -> Extent:
    r"""Return the extent of a field that ends at the mark `stop`; the bytes of the field must not contain the mark.

    Raises UsageError if `stop` is empty.

    >>> text(until(b"\0")).write("abc")
    b'abc\x00'
    """
    if not stop:
        raise UsageError("until: name the bytes that end the field, such as b'\\0'")
    return Extent(stop=stop)


def extent_of(extent: int | Number | Extent) -> Extent:
    """Return the extent of a field, given a fixed length, the format of a length before the field, or an extent.

    Raises UsageError for a length below 1, and for the format of a length with a sign.

    >>> extent_of(4).size, extent_of(u8).prefix == u8, extent_of(rest) is rest
    (4, True, True)
    """
    if isinstance(extent, Number):
        if extent.signed:
            raise UsageError("a length has no sign: take u8, u16be, …")
        return Extent(prefix=extent)
    if isinstance(extent, int) and extent < 1:
        raise UsageError(f"{extent} bytes or items are not a field; give 1 or more")
    return extent if isinstance(extent, Extent) else Extent(size=extent)


class _Bytes(Format):
    def __init__(self, extent: Extent) -> None:
        self.extent, self.size, self.is_open = extent, extent.size, extent == rest

    def bound(self, hint: Any, inner: Inner) -> Format:
        del inner
        return self if hint is bytes else _no_type("bytes", hint)

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        return self.extent.read(data, at, end)

    def write(self, value: Any) -> bytes:
        return self.extent.write(value if type(value) is bytes else refused(value, "bytes"))


class _Text(_Bytes):
    def __init__(self, extent: Extent, encoding: str, pad: bytes) -> None:
        super().__init__(extent)
        self.encoding, self.pad = encoding, pad

    def bound(self, hint: Any, inner: Inner) -> Format:
        del inner
        return self if hint is str else _no_type("str", hint)

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        raw, stop = self.extent.read(data, at, end)
        raw = raw.rstrip(self.pad) if self.pad else raw
        try:
            value = raw.decode(self.encoding)
            is_exact = value.encode(self.encoding) == raw  # utf-7 and others write one text in several ways
        except UnicodeError as error:
            raise CodecError(f"at byte {at}: {error}") from error
        if not is_exact:
            raise CodecError(f"{raw!r} at byte {at} is not how {value!r} is written in {self.encoding}")
        return value, stop

    def write(self, value: Any) -> bytes:
        raw: bytes = value.encode(self.encoding) if isinstance(value, str) else refused(value, "a str")
        if raw.decode(self.encoding) != value or (self.pad and raw.endswith(self.pad)):
            raise ValueError(f"{value!r} would be read back as another text")
        return self.extent.write(raw.ljust(self.extent.size or 0, self.pad) if self.pad else raw)


@checked
def raw(extent: int | Number | Extent) -> Format:
    r"""Return the format of a field of bytes.

    `extent` is the size of the field in bytes, the format of a length before it, `until(mark)`, or `rest` for all
    further bytes. Raises UsageError for a size below 1, and for a length with a sign.

    >>> raw(2).write(b"ab"), raw(u16be).write(b"ab")
    (b'ab', b'\x00\x02ab')
    """
    return _Bytes(extent_of(extent))


@checked
def text(extent: int | Number | Extent, encoding: str = "utf-8", *, pad: bytes = b"") -> Format:
    r"""Return the format of a field of text; a length before the text counts its bytes, not its characters.

    `extent` is that of `raw`. `encoding` is the character encoding of the text. `pad` is the byte that fills up a text
    of a fixed size. Raises UsageError for an unknown encoding, and for a `pad` that is not one byte.

    >>> text(u8).write("abc"), text(5, "ascii", pad=b" ").write("abc")
    (b'\x03abc', b'abc  ')
    """
    try:
        "".encode(encoding)
    except LookupError as error:
        raise UsageError(f"text: {error}") from error
    if pad and (len(pad) != 1 or not isinstance(extent, int)):
        raise UsageError("text: pad is one byte, for a text of a fixed size")
    return _Text(extent_of(extent), encoding, pad)


def too_short(wanted: int, at: int, end: int) -> CodecError:
    """Return the CodecError for a message that ends within a field.

    >>> too_short(4, at=2, end=3)
    CodecError('4 bytes are needed at byte 2, and there are 1')
    """
    return CodecError(f"{wanted} bytes are needed at byte {at}, and there are {max(end - at, 0)}")


def refused(value: object, wanted: str) -> NoReturn:
    """Raise TypeError for a value that does not have the type of its field.

    >>> refused("7", "an int")
    Traceback (most recent call last):
    TypeError: '7' where an int must be
    """
    raise TypeError(f"{show(value)} where {wanted} must be")


def _no_type(wanted: str, hint: object) -> NoReturn:
    raise UsageError(f"this format is for the type {wanted}, not {hint}")


__all__ = [
    "Extent", "Format", "Number", "i8", "i16be", "i16le", "i32be", "i32le", "i64be", "i64le", "raw", "rest", "text",
    "u8", "u16be", "u16le", "u24be", "u24le", "u32be", "u32le", "u64be", "u64le", "until",
]  # fmt: skip
