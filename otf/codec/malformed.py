"""Malformed inputs: bytes made from a message that are not a message, and a codec that carries them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Final, TypeAlias

from otf.codec import Codec, PortAction
from otf.errors import CodecError

TRIES: Final = 12  # damaged messages tried until one is not a message
FRAMES: Final = 4  # the most frames in one malformed input: each that is not a message may lead to several states
LONGER: Final = 300  # the most bytes added
BETWEEN: Final = (b"", b"\n", b"\r\n")  # possible separators of two messages in one frame
Damage: TypeAlias = Callable[[bytes, Random], bytes]


@dataclass(frozen=True, slots=True)
class Malformed:
    """An input that otf made by changing the bytes of a correct message.

    `raw` are the changed bytes, and `port` is the port to which otf sends them. `of` contains the bytes of the
    unchanged message, and `how` describes the change. If `raw` equals `of`, the message is correct, but the model does
    not specify it in this state.

    >>> Malformed(b"gett", "", b"get", "longer")
    Malformed('gett', made of 'get')
    """

    raw: bytes
    port: str = ""
    of: bytes = b""
    how: str = ""

    def __repr__(self) -> str:
        """Return the bytes as text, and the message; once shrunk, the bytes need not show what was first done to it."""
        return f"Malformed({_text(self.raw)}, made of {_text(self.of)})"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An output that the bench's codec cannot decode, allowed as an answer to malformed inputs.

    >>> Unreadable(b"?").raw
    b'?'
    """

    raw: bytes


class MalformedCodec:
    """A codec that carries malformed inputs as well as the messages of another codec.

    The other codec may have these methods for them:

    - `decode_input(port, data)` returns the input for these bytes, or raises CodecError; the default is `decode`.
    - `split_input(port, data)` returns the frames that the system reads in these bytes. It raises CodecError if the
      system would wait for more. By default, all bytes are one frame.
    - `seal(data)` returns the bytes with a correct checksum, so that a parser accepts them.

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
        """Return the bytes of an input, or a `PortAction` if the input does something else with the port."""
        return value.raw if isinstance(value, Malformed) else self.codec.encode(value)

    def decode(self, port: str, data: bytes) -> object:
        """Return an output; it is `Unreadable` if the other codec cannot decode it."""
        try:
            return self.codec.decode(port, data)
        except CodecError:
            return Unreadable(data)

    def message(self, port: str, data: bytes) -> object | None:
        """Return the input with these bytes; None if they are not a message."""
        decode = getattr(self.codec, "decode_input", self.codec.decode)
        try:
            return decode(port, data)
        except CodecError:
            return None

    def reads(self, value: object) -> bool:
        """Return whether the codec decodes the bytes of an input as this input, so that it can recognise messages."""
        data = self.codec.encode(value)
        return not isinstance(data, bytes) or self.message(self.codec.port(value), data) == value

    def frames(self, port: str, raw: bytes) -> Sequence[bytes]:
        """Return the frames that the system reads in these bytes; empty if it would wait for more, or if many."""
        split: Callable[[str, bytes], Iterable[bytes]] | None = getattr(self.codec, "split_input", None)
        if split is None:
            return (raw,)
        try:
            found = tuple(islice(split(port, raw), FRAMES + 1))
        except CodecError:
            return ()
        return found if len(found) <= FRAMES else ()

    def misplaced(self, value: object) -> Malformed | None:
        """Return the bytes of a message, to send in a state that does not specify it; None if it has none."""
        data, port = self.codec.encode(value), self.codec.port(value)
        if not isinstance(data, bytes) or not self.reads(value):
            return None
        return Malformed(data, port, data, "of another state")

    def damaged(self, value: object, random: Random, sent: Sequence[object] = ()) -> Malformed | None:
        """Return a malformed input made from a message, None if none was found; `sent` are earlier inputs.

        Never returns bytes that still are one message: the system must take them as such.
        """
        whole = self.misplaced(value)
        if whole is None:
            return None
        kinds: Sequence[str] = (*DAMAGES, TWO) if sent else (*DAMAGES,)
        for _ in range(TRIES):
            how = random.choice(kinds)
            raw = self._damage(whole, how, random, sent)
            if raw != whole.raw and self._is_malformed(whole, raw):
                return Malformed(raw, whole.port, whole.raw, how)
        return None

    def _damage(self, whole: Malformed, how: str, random: Random, sent: Sequence[object]) -> bytes:
        if how == TWO:
            return self._with_another(whole, random.choice(sent))
        raw = DAMAGES[how](whole.raw, random)
        seal = getattr(self.codec, "seal", None)
        return seal(raw) if seal is not None and random.randrange(2) else raw

    def _with_another(self, whole: Malformed, value: object) -> bytes:
        """Return the bytes of two messages, separated so that they make two frames, if possible."""
        other, port = self.misplaced(value), whole.port
        if other is None or other.port != port:
            return whole.raw
        joined = [whole.raw + between + other.raw for between in BETWEEN]
        return next((raw for raw in joined if len(self.frames(port, raw)) > 1), joined[0])

    def _is_malformed(self, whole: Malformed, raw: bytes) -> bool:
        frames = self.frames(whole.port, raw)
        if len(frames) != 1:
            return bool(frames)
        # a line end may turn one frame into two, each of which may be a message
        unclear = not hasattr(self.codec, "split_input") and any(
            end in raw and end not in whole.raw for end in LINE_ENDS
        )
        return not unclear and self.message(whole.port, raw) is None


def shorter(malformed: Malformed) -> Iterator[Malformed]:
    """Yield malformed inputs with fewer bytes: without halves, quarters and so on, down to single bytes.

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
    """Set one, two or four bytes to a boundary value: if they are a length or a checksum, it is wrong."""
    size = random.choice((1, 2, 4))
    at = random.randrange(max(1, len(data) - size + 1))
    number = random.choice((0, 1, (1 << 8 * size - 1) - 1, 1 << 8 * size - 1, (1 << 8 * size) - 1))
    return data[:at] + number.to_bytes(size, random.choice(("big", "little"))) + data[at + size :]


def _foreign(data: bytes, random: Random) -> bytes:
    """Return the text in an unexpected encoding: UTF-16, or with bytes that are not UTF-8."""
    if random.randrange(2):
        return data.decode("latin-1").encode("utf-16-le")
    at = random.randrange(len(data) + 1)
    return data[:at] + random.choice(NO_TEXT) + data[at:]


ODD: Final[Sequence[int]] = (0x00, 0x01, 0x09, 0x20, 0x22, 0x25, 0x2D, 0x30, 0x3A, 0x7F, 0x80, 0xFE, 0xFF)
NO_TEXT: Final = (b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80")
LINE_ENDS: Final = (b"\n", b"\r")
TWO: Final = "two messages"
DAMAGES: Final[dict[str, Damage]] = {
    "another bit": _other_bit,
    "another byte": _other_byte,
    "cut": _cut,
    "fewer bytes": _without_some,
    "longer": _longer,
    "another number": _number,
    "foreign encoding": _foreign,
}
"""The ways to damage a message, by name; in addition, two messages may be put into one frame."""


def _text(data: bytes) -> str:
    return repr(data)[1:] if len(data) <= 40 else f"{data[:40]!r}"[1:] + f" and {len(data) - 40:,} bytes"  # noqa: PLR2004
