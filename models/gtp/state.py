"""A game in the model, and the limits of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from otf.models.gtp.messages import Command, Noise
from otf.models.gtp.rules import Position
from otf.spec import Accept, Transition

COLORS: Final = {"b": "b", "black": "b", "w": "w", "white": "w"}
REQUIRED: Final = frozenset(
    ("protocol_version", "name", "version", "known_command", "list_commands", "quit", "boardsize", "clear_board")
).union(("komi", "play", "genmove"))
"""The commands that every engine has to know."""

LARGEST: Final = 25  # a vertex has one letter
MOST: Final = 2**31 - 1  # the largest int of the protocol, and so the largest number of a command
DEEPEST: Final = 40  # moves that the model remembers for `undo`


@dataclass(frozen=True, slots=True)
class Unset:
    """The contents of the board are arbitrary until it is cleared; its size is 0 until it is set."""

    size: int = 0


@dataclass(frozen=True, slots=True)
class Game:
    """A board, and those before it, the latest last."""

    now: Position
    before: tuple[Position, ...] = ()

    def then(self, position: Position) -> Game:
        """Return the game after one more move."""
        return Game(position, (*self.before, self.now))


State: TypeAlias = Unset | Game
Input: TypeAlias = Command | Noise
Step: TypeAlias = Iterator[Transition[State] | Accept]
