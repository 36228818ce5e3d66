"""Commands to an engine, its answers, and the bytes of both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.models.texts import text_of
from otf.values import show

PORT: Final = "gtp"
_DIGITS: Final = 15  # of an id


@dataclass(frozen=True, slots=True)
class Command:
    """A line of words, the first of which is the command, with a number if `id` is one."""

    words: tuple[str, ...]
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """A line without a command: blanks, a comment."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; `id` repeats the command's; `text` is the rest of the answer, which may have several lines."""

    ok: bool
    text: str = ""
    id: int | None = None


_NAMES: Final = re.compile(
    "protocol_version|name|version|known_command|list_commands|quit|boardsize|clear_board|komi|play|genmove|undo|showboard"
    "|list_stones|fixed_handicap|place_free_handicap|set_free_handicap|time_settings|time_left|final_score|final_status_list"
    "|loadsgf|reg_genmove|frobnicate|Play"
)
"""The commands of the draft, and others that the model tries."""

_REPLY: Final = re.compile(r"([=?])([0-9]{0,15})(?:[ \t]+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GtpCodec:
    """One line a command, one paragraph an answer."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Command, Noise, Reply)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes:
        """Return the line of an input."""
        match value:
            case Noise(text):
                return text.encode()
            case Command(words, number):
                return " ".join(([] if number is None else [str(number)]) + list(words)).encode()
            case _:
                message = f"{show(value)} is not an input of an engine; there are Command and Noise"
                raise CodecError(message)

    def decode_input(self, port: str, data: bytes) -> Command | Noise:
        """Return the command in a line, or a `Noise`. Raises CodecError for an unknown command."""
        del port
        line = text_of(data, "ascii")
        plain = "".join(char for char in line if char.isprintable() or char == "\t")
        if not plain.partition("#")[0].strip():
            return Noise(line)
        words = tuple(plain.split())
        numbered = words[0].isdigit() and len(words[0]) <= _DIGITS
        name, *rest = words[numbered:] or [""]
        if not _NAMES.fullmatch(name):
            message = f"there is no command {show(name)}"
            raise CodecError(message)
        return Command((name, *rest), int(words[0]) if numbered else None)

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the lines in a frame."""
        del port
        return data.split(b"\n")

    def decode(self, port: str, data: bytes) -> Reply:
        """Return the answer in a paragraph."""
        del port
        found = _REPLY.fullmatch(text_of(data, "ascii"))
        if found is None:
            message = f"{show(data)} does not begin with = or ?, a number, and a blank before any text"
            raise CodecError(message)
        sign, number, text = found.groups()
        return Reply(sign == "=", (text or "").rstrip(), int(number) if number else None)
