"""Commands and replies of memcached's text protocol, and their bytes over TCP and UDP."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.models.texts import number_of, text_of, with_blocks
from otf.values import show

CLIENTS: Final = ("a", "b")
_END: Final = b"\r\n"
HEADER: Final = bytes((0, 0, 0, 0, 0, 1, 0, 0))
"""The header of a datagram: request 0, the first of one datagram. The protocol lets the client choose the number."""

_WITH_DATA: Final = frozenset({"set", "add", "replace", "append", "prepend", "cas"})
_NAMES: Final = re.compile(
    "set|add|replace|(ap|pre)pend|cas|gets?|gats?|delete|touch|incr|decr|flush_all|version|verbosity|stats|quit|bogus"
    "|m[gsdane]|watch|lru|lru_crawler|slabs|cache_memlimit|shutdown|misbehave|refresh_certs|extstore"
)
"""Words that a server takes for commands, known to the model or not, and one that no server has.
"""

_SIZE: Final = 4  # the place of the size of the data among the words of a line
_VALUE_WORDS: Final = (4, 5)  # VALUE <key> <flags> <bytes> [<cas unique>]


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a client: its name, its words, and the data block of a storage command."""

    client: str
    name: str
    words: tuple[str | int, ...] = ()
    data: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """An item in a reply; `unique` is its cas id, None if the command does not ask for it."""

    key: str
    flags: int
    data: str
    unique: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a client: its last line, and the items before it."""

    client: str
    line: str
    values: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class MemcachedCodec:
    """The codec; ports are named after the clients. With `udp`, each message has the header of a datagram."""

    udp: bool = False

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Command, Reply, Value)

    def port(self, value: object) -> str:
        """Return the client that a value belongs to."""
        return str(getattr(value, "client", ""))

    def encode(self, value: object) -> bytes:
        """Return the bytes of a command, with its data block. Raises CodecError."""
        if not isinstance(value, Command):
            message = f"{show(value)} is not a command"
            raise CodecError(message)
        return (HEADER if self.udp else b"") + _command(value)

    def decode(self, port: str, data: bytes) -> Reply:
        """Return the reply in a frame. Raises CodecError."""
        if self.udp:
            if data[: len(HEADER)] != HEADER:
                message = f"a reply of one datagram begins with {HEADER.hex(' ')}, not with {data[:8].hex(' ')}"
                raise CodecError(message)
            data = data[len(HEADER) :]
        return _reply(port, data)

    def decode_input(self, port: str, data: bytes) -> Command:
        """Return the command in a frame. Raises CodecError if no server would take it for one."""
        line, _, block = data[len(HEADER) if self.udp else 0 :].partition(b"\n")
        name, *words = [word for word in text_of(line.removesuffix(b"\r"), "latin-1").split(" ") if word] or [""]
        if not _NAMES.fullmatch(name):
            message = f"{show(name)} is not a command"
            raise CodecError(message)
        if name not in _WITH_DATA:
            return Command(port, name, tuple(map(number_of, words)))
        if len(words) < _SIZE or words.pop(_SIZE - 1) != str(len(block) - len(_END)) or not block.endswith(_END):
            message = f"the data after {show(line)} has another size, or no end"
            raise CodecError(message)
        return Command(port, name, tuple(map(number_of, words)), text_of(block[: -len(_END)], "latin-1"))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the commands in some bytes. Raises CodecError if a server would wait for more."""
        del port
        head = data[: len(HEADER)] if self.udp else b""
        return [head + each for each in with_blocks(data[len(head) :], b"\n", _block)]


def replies() -> Framing:
    """Return the framing of replies over TCP: a line, or items with their data up to the line END."""
    return measured(_size)


def _block(words: list[bytes]) -> int | None:
    if len(words) <= _SIZE or words[0].decode("latin-1") not in _WITH_DATA:
        return None
    size = number_of(words[_SIZE].decode("latin-1"))
    return size if isinstance(size, int) and size >= 0 else None


def _command(command: Command) -> bytes:
    words = [command.name, *map(str, command.words)]
    if command.name not in _WITH_DATA:
        return " ".join(words).encode() + _END
    # the size is the fourth word; the cas id follows it
    words.insert(4, str(len(command.data)))
    return " ".join(words).encode() + _END + command.data.encode() + _END


def _reply(port: str, data: bytes) -> Reply:
    values: list[Value] = []
    while True:
        line, _, rest = data.partition(_END)
        value = _value(line)
        if value is None:
            if rest:
                message = f"{rest[:20]!r} follows the last line"
                raise CodecError(message)
            return Reply(port, line.decode("ascii"), tuple(values))
        key, flags, size, unique = value
        values.append(Value(key, flags, rest[:size].decode("ascii"), unique))
        data = rest[size + len(_END) :]


def _value(line: bytes) -> tuple[str, int, int, int | None] | None:
    """Return key, flags, size and cas id of a line before an item, None for any other line."""
    words = line.decode("ascii").split(" ")
    if words[0] != "VALUE" or len(words) not in _VALUE_WORDS or not all(word.isdecimal() for word in words[2:]):
        return None
    flags, size, *unique = map(int, words[2:])
    return words[1], flags, size, unique[0] if unique else None


def _size(begun: bytes) -> int | None:
    at = 0
    while (end := begun.find(_END, at)) >= 0:
        value = _value(bytes(begun[at:end]))
        if value is None:
            return end + len(_END)
        at = end + len(_END) + value[2] + len(_END)
    return None
