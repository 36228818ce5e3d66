"""Malformed inputs: bytes made of a message that are no message, and a codec that carries them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

from otf.codec import Codec, PortAction
from otf.errors import CodecError

TRIES: Final = 12  # damaged messages that are made until one is no message
LONGER: Final = 300  # bytes that are added at most
Damage: TypeAlias = Callable[[bytes, Random], bytes]


@dataclass(frozen=True, slots=True)
class Malformed:
    """An input that is no message: its bytes, the port, the message that it was made of, and how.

    >>> Malformed(b"gett", "", b"get", "longer")
    Malformed('gett', made of 'get')
    """

    raw: bytes
    port: str = ""
    of: bytes = b""
    how: str = ""

    def __repr__(self) -> str:
        """Return the bytes as text, and the message; shrunk bytes are no longer what was done to it at first."""
        return f"Malformed({_text(self.raw)}, made of {_text(self.of)})"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An output that the codec of the bench cannot decode, where malformed inputs are sent: an answer to one may be so.

    >>> Unreadable(b"?").raw
    b'?'
    """

    raw: bytes


class MalformedCodec:
    """A codec that carries malformed inputs beside the messages of another codec.

    >>> from otf.codec import lines
    >>> @dataclass(frozen=True)
    ... class Get: pass
    >>> codec = MalformedCodec(lines({Get: "get"}))
    >>> codec.encode(Malformed(b"gett")), codec.decode("", b"???")
    (b'gett', Unreadable(raw=b'???'))
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of the other codec, and those of malformed inputs and their answers."""
        return (*self.codec.types, Malformed, Unreadable)

    def port(self, value: object) -> str:
        """Return the port of a value."""
        return value.port if isinstance(value, Malformed) else self.codec.port(value)

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or its action on the port."""
        return value.raw if isinstance(value, Malformed) else self.codec.encode(value)

    def decode(self, port: str, data: bytes) -> object:
        """Return an output; one that the other codec cannot decode is `Unreadable`."""
        try:
            return self.codec.decode(port, data)
        except CodecError:
            return Unreadable(data)

    def message(self, port: str, data: bytes) -> object | None:
        """Return the input with these bytes, None if they are no message.

        A codec whose `decode` reads outputs only has a method `decode_input` besides.
        """
        decode = getattr(self.codec, "decode_input", self.codec.decode)
        try:
            return decode(port, data)
        except CodecError:
            return None

    def reads(self, value: object) -> bool:
        """Return whether the codec decodes the bytes of an input as this input, so that it can tell what is none."""
        data = self.codec.encode(value)
        return not isinstance(data, bytes) or self.message(self.codec.port(value), data) == value

    def damaged(self, value: object, random: Random) -> Malformed | None:
        """Return a malformed input made of a message, None if none was found.

        Bytes that are a message all the same are never returned: the system has to take them as one.
        """
        data, port = self.codec.encode(value), self.codec.port(value)
        if not isinstance(data, bytes) or not self.reads(value):
            return None
        for _ in range(TRIES):
            how = random.choice([*DAMAGES])
            raw = DAMAGES[how](data, random)
            # the end of a line would make two frames of one, of which each may be a message
            lines = any(end in raw and end not in data for end in (b"\n", b"\r"))
            if raw != data and not lines and self.message(port, raw) is None:
                return Malformed(raw, port, data, how)
        return None


def shorter(malformed: Malformed) -> Iterator[Malformed]:
    """Yield malformed inputs with fewer bytes: without halves, quarters, … of them, and without single ones.

    >>> [each.raw for each in shorter(Malformed(b"abc"))]
    [b'', b'bc', b'ac', b'ab']
    """
    raw, seen, size = malformed.raw, {malformed.raw}, len(malformed.raw)
    while size:
        for at in range(0, len(raw), size):
            rest = raw[:at] + raw[at + size :]
            if rest not in seen:
                seen.add(rest)
                yield Malformed(rest, malformed.port, malformed.of, malformed.how)
        size = 1 if size == 3 else size // 2  # noqa: PLR2004 -- of three bytes, one is the smaller half


def _other_bit(data: bytes, random: Random) -> bytes:
    if not data:
        return b"\x00"
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]


def _other_byte(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + bytes([random.choice(ODD)]) + data[at + 1 :]


def _cut(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(max(1, len(data)))]


def _without_some(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + data[at + random.randint(1, 4) :]


def _longer(data: bytes, random: Random) -> bytes:
    many = bytes([random.choice((*data[-1:], *ODD))]) * random.randint(1, LONGER)
    return data + random.choice((data, many, random.randbytes(random.randint(1, 8))))


def _number(data: bytes, random: Random) -> bytes:
    """Set one, two or four bytes to a number at the edge: where they are a length or a checksum, it is wrong."""
    size = random.choice((1, 2, 4))
    at = random.randrange(max(1, len(data) - size + 1))
    number = random.choice((0, 1, (1 << 8 * size - 1) - 1, 1 << 8 * size - 1, (1 << 8 * size) - 1))
    return data[:at] + number.to_bytes(size, random.choice(("big", "little"))) + data[at + size :]


def _foreign(data: bytes, random: Random) -> bytes:
    """Return the text in an encoding that was not meant: UTF-16, or with bytes that are no UTF-8."""
    if random.randrange(2):
        return data.decode("latin-1").encode("utf-16-le")
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(NO_TEXT) + data[at:]


ODD: Final[Sequence[int]] = (0x00, 0x01, 0x09, 0x20, 0x22, 0x25, 0x2D, 0x30, 0x3A, 0x7F, 0x80, 0xFE, 0xFF)
NO_TEXT: Final = (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80")
DAMAGES: Final[dict[str, Damage]] = {
    "another bit": _other_bit,
    "another byte": _other_byte,
    "cut": _cut,
    "fewer bytes": _without_some,
    "longer": _longer,
    "another number": _number,
    "foreign encoding": _foreign,
}
"""What is done to a message, by name."""


def _text(data: bytes) -> str:
    return repr(data)[1:] if len(data) <= 40 else f"{data[:40]!r}"[1:] + f" and {len(data) - 40:,} bytes"  # noqa: PLR2004
