"""Commands to an engine, its output, and the lines of both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.models.texts import text_of
from otf.values import show

PORT: Final = "uci"


@dataclass(frozen=True, slots=True)
class Say:
    """A line to the engine, which answers with one line, several, or none."""

    line: str


@dataclass(frozen=True, slots=True)
class Position:
    """Set up one of the positions of `POSITIONS`."""

    name: str


@dataclass(frozen=True, slots=True)
class Go:
    """Search, with these words, in any order: "infinite", "depth 2", "searchmoves e2e4 d2d4", "ponder"."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsReady:
    """Ask whether all earlier commands have been carried out."""


@dataclass(frozen=True, slots=True)
class Info:
    """Information about the search; `kind` is its first word, `depth` the plies searched, 0 if it does not say."""

    kind: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class BestMove:
    """The end of a search: the move, and the expected reply."""

    move: str
    ponder: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """A line of the answer to "uci": `id name`, `id author` or `option`."""

    what: str


@dataclass(frozen=True, slots=True)
class Word:
    """A line that is one word: "uciok", "readyok"; "" is an empty line."""

    text: str


@dataclass(frozen=True, slots=True)
class Other:
    """A line outside the interface."""

    line: str


# in long algebraic notation; 0000 is a null move
_MOVE: Final = re.compile("[a-h][1-8][a-h][1-8][qrbn]?")
_DEPTH: Final = re.compile("[0-9]{1,9}")
_NAMES: Final = frozenset(("uci", "debug", "isready", "setoption", "register", "ucinewgame", "position", "go", "stop"))
_MORE: Final = frozenset(
    ("ponderhit", "quit", "d", "bench", "eval", "compiler", "flip", "export_net", "help", "license")
)
"""Commands of engines, other than those of the model."""

_BEST: Final = re.compile(r"bestmove (\S+)(?: ponder (\S+))?")
_ABOUT: Final = re.compile(r"(id name|id author|option name)\s+\S.*")


@dataclass(frozen=True, slots=True)
class UciCodec:
    """One line each way."""

    positions: dict[str, str]

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Say, Position, Go, IsReady, Info, BestMove, About, Word, Other)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes:
        """Return the line of an input."""
        match value:
            case Say(line):
                return line.encode()
            case Position(name) if name in self.positions:
                return f"position {self.positions[name]}".encode()
            case Go(words):
                return " ".join(("go", *words)).encode()
            case IsReady():
                return b"isready"
            case _:
                message = f"{show(value)} is not an input, or names no position of {list(self.positions)}"
                raise CodecError(message)

    def decode_input(self, port: str, data: bytes) -> Say | Position | Go | IsReady:
        """Return the command in a line. Raises CodecError if an engine would ignore it for lack of known words."""
        del port
        line = text_of(data, "latin-1")
        words = [text_of(each, "latin-1").strip("-").lower() for each in data.split()]
        if words and not _NAMES.union(_MORE).intersection(words):
            message = f"no word of {show(line)} is a command"
            raise CodecError(message)
        placed = {f"position {text}": Position(name) for name, text in self.positions.items()}
        if line == "isready":
            return IsReady()
        if line.startswith("go "):
            return self._search(line)
        return placed.get(line, Say(line))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the lines in a frame."""
        del port
        return data.split(b"\n")

    @staticmethod
    def _search(line: str) -> Go:
        """Return a search by its words; some of them have a value, or several."""
        found = list[str]()
        for word in line.split(" ")[1:]:
            if found and (word.isdecimal() or _MOVE.fullmatch(word)):
                found[-1] += f" {word}"
            else:
                found.append(word)
        return Go(tuple(found))

    def decode(self, port: str, data: bytes) -> object:
        """Return the output in a line."""
        del port
        line = text_of(data).strip()
        best, about = _BEST.fullmatch(line), _ABOUT.fullmatch(line)
        if best is not None:
            return BestMove(best[1], best[2] or "")
        if about is not None:
            return About(about[1])
        if line in {"uciok", "readyok", ""}:
            return Word(line)
        if line.startswith("info "):
            return _info(line.split())
        return Other(line)


def _info(words: list[str]) -> Info:
    depth = words[words.index("depth") + 1 :][:1] if "depth" in words and words[1] != "string" else []
    if depth and not _DEPTH.fullmatch(depth[0]):
        message = f"the depth of {show(' '.join(words))} is not a number"
        raise CodecError(message)
    return Info(words[1], int(depth[0]) if depth else 0)
