"""Commands and replies of redis, and their bytes: the protocol RESP, version 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.models.texts import text_of
from otf.values import show

CLIENTS: Final = ("a", "b", "c")
_END: Final = b"\r\n"
_DEEPEST: Final = 8
_DIGITS: Final = 20
_SIGNS: Final = b"+-:$*"


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
    """The reply in place of an array that there is not; None is in place of a text."""


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
            message = f"{show(value)} is no command"
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


def replies() -> Framing:
    """Return the framing of replies: a line, a text of so many bytes, or an array of replies."""
    return measured(_size)


def _size(begun: bytes) -> int | None:
    """Return the size of the first reply; None while it is not known."""
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
    message = f"{text[:_DIGITS]!r} is no number"
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
