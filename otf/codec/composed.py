"""The formats of fields that have parts: lists, fields with a length in front, and groups of bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from otf.codec.fields import Extent, Format, Inner, Number, extent_of, refused, rest
from otf.errors import CodecError, UsageError
from otf.values.arguments import checked


class _Template(Format):
    """A format that is complete only with the type of its field."""

    def __init__(self, make: Callable[[Any, Inner], Format]) -> None:
        self._make = make

    def bound(self, hint: Any, inner: Inner) -> Format:
        return self._make(hint, inner)


class _Items(Format):
    def __init__(self, count: int | Number | None, each: Format) -> None:
        self.count, self.each, self.is_open = count, each, count is None
        self.size = count * each.size if isinstance(count, int) and each.size is not None else None

    def read(self, data: bytes, at: int, end: int) -> tuple[tuple[Any, ...], int]:
        wanted, found = self.count, list[Any]()
        if isinstance(wanted, Number):
            wanted, at = wanted.read(data, at, end)
        while at < end if wanted is None else len(found) < wanted:
            value, at = self.each.read(data, at, end)  # each takes a byte, so a count of billions soon finds no more
            found.append(value)
        return tuple(found), at

    def write(self, value: Any) -> bytes:
        values = _tuple(value)
        pieces = [self.each.write(each) for each in values]
        if isinstance(self.count, int) and len(pieces) != self.count:
            raise ValueError(f"a list has {len(pieces)} items, and must have {self.count}")
        head = self.count.write(len(pieces)) if isinstance(self.count, Number) else b""
        return head + b"".join(pieces)


@checked
def items(count: int | Number | Extent, each: Format | None = None) -> Format:
    r"""Return the format of a field that is a tuple of items.

    `count` is the number of items, or the format of the number that precedes the items. If `count` is `rest`, the items
    fill the remaining bytes. `each` is the format of an item; leave it out if the items are dataclasses, whose fields
    have formats. A field with this format has the type `tuple[X, ...]`. Raises UsageError for a `count` below 1.

    >>> from otf.codec.fields import u8, u16be
    >>> items(u8, u16be).bound(tuple[int, ...], print).write((1, 2))
    b'\x02\x00\x01\x00\x02'
    """
    if isinstance(count, Extent) and count != rest:
        raise UsageError("items: give a count, the format of the count before the list, or `rest`")
    number = None if isinstance(count, Extent) else extent_of(count).prefix or count

    def make(hint: Any, inner: Inner) -> Format:
        kinds = get_args(hint)
        if get_origin(hint) is not tuple or kinds[1:] != (...,):
            raise UsageError(f"a list has the type tuple[X, ...], not {hint}: values cannot change")
        own = inner(kinds[0]) if each is None else each.bound(kinds[0], inner)
        if own.is_open or own.size == 0:
            raise UsageError(f"where one {kinds[0]} of a list ends cannot be seen; put a length before each: `sized`")
        return _Items(number, own)

    return _Template(make)


class _Sized(Format):
    def __init__(self, extent: Extent, inner: Format) -> None:
        self.extent, self.inner, self.size = extent, inner, extent.size

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        first, last = self.extent.limits(data, at, end)
        value, stop = self.inner.read(data, first, last)
        if stop != last:
            raise CodecError(f"{last - stop} of the {last - first} bytes at byte {first} are too many")
        return value, last

    def write(self, value: Any) -> bytes:
        return self.extent.write(self.inner.write(value))


@checked
def sized(extent: int | Number, inner: Format | None = None) -> Format:
    r"""Return the format of a field that has a fixed number of bytes, or that follows its own length in bytes.

    `extent` is the number of bytes, or the format of the number that precedes the field. `inner` is the format of the
    content; leave it out if the content is a dataclass, whose fields have formats. Raises UsageError for an `extent`
    below 1.

    >>> from otf.codec.fields import u8, u16be
    >>> sized(u16be, items(rest, u8)).bound(tuple[int, ...], print).write((1, 2))
    b'\x00\x02\x01\x02'
    """
    own = extent_of(extent)
    return _Template(lambda hint, make: _Sized(own, make(hint) if inner is None else inner.bound(hint, make)))


class _Bits(Format):
    def __init__(self, widths: tuple[int, ...], number: Number, make: Callable[[list[int]], Any]) -> None:
        self.widths, self.number, self.make, self.size = widths, number, make, number.width

    def read(self, data: bytes, at: int, end: int) -> tuple[Any, int]:
        number, stop = self.number.read(data, at, end)
        values = list[int]()
        for width in reversed(self.widths):
            values.append(number & ((1 << width) - 1))
            number >>= width
        return self.make(values[::-1]), stop

    def write(self, value: Any) -> bytes:
        number = 0
        values = _tuple(value)
        for each, width in zip(values, self.widths, strict=True):
            if not 0 <= each < 1 << width:
                raise ValueError(f"{each} is not a number of {width} bits")
            number = number << width | each
        return self.number.write(number)


@checked
def bits(*widths: int, order: Literal["big", "little"] = "big") -> Format:
    """Return the format of small numbers that share whole bytes; each of `widths` is the size of a number in bits.

    The first number takes the highest bits. A field with this format has the type tuple[int, ...], or a NamedTuple with
    one field for each width. For flags, use the format of a number instead, such as `u8`, and an IntFlag as the type.
    Raises UsageError for widths that do not fill whole bytes.

    >>> bits(4, 4).bound(tuple[int, ...], print).write((4, 5)).hex()
    '45'
    """
    if not widths or min(widths) < 1 or sum(widths) % 8:
        raise UsageError(f"bits{widths}: widths of 1 or more make up whole bytes, 8 bits each")
    number = Number(sum(widths) // 8, order)

    def make(hint: Any, inner: Inner) -> Format:
        del inner
        if hint == tuple[int, ...]:
            return _Bits(widths, number, tuple)
        if len(getattr(hint, "_fields", ())) != len(widths):
            raise UsageError(f"bits{widths}: the type is tuple[int, ...] or a NamedTuple of as many, not {hint}")
        return _Bits(widths, number, hint._make)

    return _Template(make)


def _tuple(value: Any) -> tuple[Any, ...]:
    # a list equals no tuple, and so nothing that is read
    return value if isinstance(value, tuple) else refused(value, "a tuple")  # pyright: ignore[reportUnknownVariableType] -- checked


__all__ = ["bits", "items", "sized"]
