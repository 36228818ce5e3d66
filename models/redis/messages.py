"""Commands and replies of redis, and their bytes: the protocol RESP, version 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.models.texts import text_of, with_sizes
from otf.values import show

CLIENTS: Final = ("a", "b", "c")
_END: Final = b"\r\n"
_DEEPEST: Final = 8
_DIGITS: Final = 20
_SIGNS: Final = b"+-:$*"
_MOST: Final = 1_048_576  # words of a command


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a client, and its words."""

    client: str
    name: str
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """A reply of one word, such as OK."""

    text: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A reply that reports an error."""

    text: str


@dataclass(frozen=True, slots=True)
class NoArray:
    """The reply for a missing array; None stands for a missing text."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a client, or a message that it subscribed to.

    `value` is a number, a text, None, a `Status`, a `Fault`, `NoArray`, or a tuple of such values.
    """

    client: str
    value: object


@dataclass(frozen=True, slots=True)
class RedisCodec:
    """The codec; ports are named after the clients."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Command, Reply, Status, Fault, NoArray)

    def port(self, value: object) -> str:
        """Return the client that a value belongs to."""
        return str(getattr(value, "client", ""))

    def encode(self, value: object) -> bytes:
        """Return the bytes of a command: an array of texts. Raises CodecError."""
        if not isinstance(value, Command):
            message = f"{show(value)} is not a command"
            raise CodecError(message)
        words = [word.encode() for word in (value.name, *value.words)]
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)

    def decode(self, port: str, data: bytes) -> Reply:
        """Return the reply in a frame. Raises CodecError."""
        value, end = _value(data, 0, 0)
        if end != len(data):
            message = f"{data[end : end + 20]!r} follows the reply"
            raise CodecError(message)
        return Reply(port, value)

    def decode_input(self, port: str, data: bytes) -> Command:
        """Return the command in a frame: an array, or a line of words. Raises CodecError for anything else."""
        if not data.startswith(b"*"):
            words = data.split() or [b""]
        else:
            end = _command_end(data)
            words = [] if end is None else [word for _, word in _words(data)]
            if not words or end != len(data):
                message = f"{show(data[:40])} is not an array of texts"
                raise CodecError(message)
        name, *rest = (text_of(word, "latin-1") for word in words)
        return Command(port, name, tuple(rest))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the commands in some bytes, up to a protocol error. Raises CodecError if more must come."""
        del port
        return with_sizes(data, _command_end)


def _command_end(data: bytes) -> int | None:
    """Return where the first command ends, None if more must come. Raises CodecError for a protocol error."""
    if not data.startswith(b"*"):
        end, zero = data.find(b"\n"), data.find(b"\0")
        return None if end < 0 or 0 <= zero < end else end + 1
    head = _head(data, 0)
    if head is None:
        return None
    size = _number(head[0][1:])
    if size > _MOST:
        raise CodecError("an array of too many texts")
    ends = [head[1], *(end for end, _ in _words(data))]
    return ends[-1] if len(ends) > max(0, size) else None


def _head(data: bytes, at: int) -> tuple[bytes, int] | None:
    """Return a line with a size, and where it ends; to redis, any byte after the carriage return ends it.

    After a zero byte it sees no end, and waits for more.
    """
    end, zero = data.find(b"\r", at), data.find(b"\0", at)
    return None if end < 0 or end + len(_END) > len(data) or 0 <= zero < end else (data[at:end], end + len(_END))


def _words(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the texts of an array that are there, each with the place of its end."""
    head = _head(data, 0)
    line, at = head or (b"*0", 0)
    left = _number(line[1:])
    while left > 0 and (head := _head(data, at)) is not None:
        line, begin = head
        if line[:1] != b"$" or (size := _number(line[1:])) < 0:
            message = f"a text begins with $ and its size, not with {show(line[:20])}"
            raise CodecError(message)
        left, at = left - 1, begin + size + len(_END)
        if at > len(data):
            return
        yield at, data[begin : begin + size]


def replies() -> Framing:
    """Return the framing of replies: a line, a text of a given length, or an array of replies."""
    return measured(_size)


def _size(begun: bytes) -> int | None:
    """Return the size of the first reply; None while unknown."""
    at, left = 0, 1
    while left:
        end = begun.find(_END, at)
        if end < 0:
            return None
        sign, rest = begun[at : at + 1], begun[at + 1 : end]
        at, left = end + len(_END), left - 1
        if sign == b"$" and (size := _number(rest)) >= 0:
            at += size + len(_END)
        elif sign == b"*":
            left += max(0, _number(rest))
    return at


def _number(text: bytes) -> int:
    digits = text.removeprefix(b"-")
    if digits.isdigit() and len(digits) < _DIGITS:
        return int(text)
    message = f"{text[:_DIGITS]!r} is not a number"
    raise CodecError(message)


def _value(data: bytes, at: int, depth: int) -> tuple[object, int]:
    end = data.find(_END, at)
    if end < 0 or depth > _DEEPEST:
        message = f"the reply is cut off, or nested too deep, after {data[:at][-20:]!r}"
        raise CodecError(message)
    sign, rest, after = data[at : at + 1], data[at + 1 : end], end + len(_END)
    match sign:
        case b"+" | b"-":
            return (Status if sign == b"+" else Fault)(text_of(rest, "ascii")), after
        case b":":
            return _number(rest), after
        case b"$":
            return _text(data, after, _number(rest))
        case b"*":
            return _array(data, after, _number(rest), depth)
        case _:
            message = f"a reply begins with one of {_SIGNS.decode()}, not with {sign!r}"
            raise CodecError(message)


def _text(data: bytes, at: int, size: int) -> tuple[str | None, int]:
    if size < 0:
        return None, at
    end = at + size + len(_END)
    if data[end - len(_END) : end] != _END:
        message = f"a text of {size} bytes does not end there: {data[at:][:20]!r}"
        raise CodecError(message)
    return text_of(data[at : at + size], "ascii"), end


def _array(data: bytes, at: int, size: int, depth: int) -> tuple[object, int]:
    if size < 0:
        return NoArray(), at
    values: list[object] = []
    while len(values) < size:
        value, at = _value(data, at, depth + 1)
        values.append(value)
    return tuple(values), at
