"""Commands and replies of the job queue, and their bytes."""

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
_BODIES: Final = (b"RESERVED ", b"FOUND ", b"OK ")  # the last number in these is the size of the body
_DIGITS: Final = 10
_NAMES: Final = re.compile(
    "put|reserve(-with-timeout|-job)?|delete|release|bury|kick(-job)?|touch|peek(-ready|-delayed|-buried)?|use|watch|ignore"
    "|list-tubes|list-tube-used|list-tubes-watched|stats(-job|-tube)?|pause-tube|quit|bogus"
)
"""Words that a server takes for commands, known to the model or not, and one that no server has.
"""

_PUT: Final = 5  # words of its line, the last of which is the size of the body


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a client, with its numbers, or other words if it is wrong; a job has a body."""

    client: str
    name: str
    words: tuple[int | str, ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to a client: a word, numbers, and the body of a job."""

    client: str
    word: str
    numbers: tuple[int, ...] = ()
    body: str = ""


@dataclass(frozen=True, slots=True)
class JobsCodec:
    """The codec; ports are named after the clients."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Command, Reply)

    def port(self, value: object) -> str:
        """Return the client that a value belongs to."""
        return str(getattr(value, "client", ""))

    def encode(self, value: object) -> bytes:
        """Return the bytes of a command, with its job."""
        if not isinstance(value, Command):
            message = f"{show(value)} is not a command"
            raise CodecError(message)
        size = (len(value.body),) if value.body else ()
        line = " ".join(map(str, (value.name, *value.words, *size))).encode() + _END
        return line + value.body.encode() + _END if value.body else line

    def decode(self, port: str, data: bytes) -> Reply:
        """Return the answer in a frame: a line, and the job that follows it."""
        head, _, body = text_of(data, "ascii").removesuffix("\r\n").partition("\r\n")
        word, *numbers = head.split(" ")
        if not all(number.isdecimal() for number in numbers):
            # the name of a tube, in the answer to the ping
            return Reply(port, head)
        if any(len(number) > _DIGITS for number in numbers):
            message = f"the line {show(head)} has a number of more than {_DIGITS} digits"
            raise CodecError(message)
        return Reply(port, word, tuple(map(int, numbers)), body)

    def decode_input(self, port: str, data: bytes) -> Command:
        """Return the command in a frame. Raises CodecError if no server would take it for one."""
        line, _, rest = data.partition(_END)
        name, *words = text_of(line, "latin-1").split(" ")
        if not _NAMES.fullmatch(name):
            message = f"{show(name)} is not a command"
            raise CodecError(message)
        if name != "put":
            return Command(port, name, tuple(map(number_of, words)))
        if len(words) < _PUT - 1 or words.pop() != str(len(rest) - len(_END)) or not rest.endswith(_END):
            message = f"the body after {show(line)} has another size, or no end"
            raise CodecError(message)
        return Command(port, name, tuple(map(number_of, words)), text_of(rest[: -len(_END)], "latin-1"))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the commands in some bytes. Raises CodecError if a server would wait for more."""
        del port
        return with_blocks(data, _END, _block)


def replies() -> Framing:
    """Return the framing of answers: a line, followed by as many bytes as it announces."""
    return measured(_size)


def _size(begun: bytes) -> int | None:
    line = begun.find(_END)
    if line < 0:
        return None
    head = bytes(begun[:line])
    digits = head.rsplit(b" ", 1)[-1]
    follows = head.startswith(_BODIES) and digits.isdigit() and len(digits) < _DIGITS
    return line + 2 + (int(digits) + 2 if follows else 0)


def _block(words: list[bytes]) -> int | None:
    if len(words) != _PUT or words[0] != b"put":
        return None
    size = number_of(words[-1].decode("latin-1"))
    return size if isinstance(size, int) and size >= 0 else None
