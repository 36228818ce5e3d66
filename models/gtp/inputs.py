"""Commands worth sending to a Go engine."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from otf.models.gtp.messages import Command, Noise
from otf.models.gtp.rules import empty
from otf.models.gtp.state import DEEPEST, LARGEST, MOST, Input, State, Unset

_ANYWHERE: Final[tuple[Input, ...]] = (
    Noise(""),
    Noise(" \t "),
    Noise("# play b a1"),
    Command(("protocol_version",)),
    Command(("protocol_version", "# 3"), 12),
    Command(("name",), 0),
    Command(("version\r",)),
    Command(("list_commands",)),
    Command(("known_command\tplay",), MOST - 1),
    Command(("known_command", "frobnicate")),
    Command(("frobnicate", "b", "a1")),
    Command(("Play", "b", "a1"), 7),
    Command(("komi", "5.5")),
    Command(("komi", "-3"), 3),
)
_PLAYING: Final[tuple[Input, ...]] = (
    Command(("clear_board",)),
    Command(("undo",)),
    Command(("undo",), 5),
    Command(("showboard",), 1),
    Command(("list_stones", "b")),
    Command(("list_stones", "white"), 2),
    Command(("genmove", "b")),
    Command(("genmove", "White"), 9),
    Command(("play", "b", "pass")),
    Command(("play", "W", "PASS"), 4),
)
ALSO: Final[dict[str, tuple[Command, ...]]] = {
    "boardsize": (Command(("boardsize", "x")), Command(("boardsize",), 4)),
    "komi": (Command(("komi",)), Command(("komi", "x"), 6)),
    "vertex": (Command(("play", "b", "z9")), Command(("play", "b"), 8)),
    "color": (Command(("genmove", "x")), Command(("play", "x", "a1"), 8)),
    "many": (Command(("play", "b", "a1", "a2")),),
}
"""Commands with wrong arguments, by what is wrong."""


def inputs(size: int, also: str, state: State) -> Iterator[Input]:
    """Yield commands, and moves to every point of a board of this size; `also` is one of `ALSO`."""
    yield from _ANYWHERE
    yield from (Command(("boardsize", str(each))) for each in (size, LARGEST + 1))
    yield from ALSO.get(also, ())
    if isinstance(state, Unset):
        yield from [Command(("clear_board",))] * bool(state.size)
    elif len(state.before) >= DEEPEST:
        yield from (Command(("undo",)), Command(("clear_board",)))
    else:
        yield from _PLAYING
        points = range(size * size)
        yield from (Command(("play", color, empty(size).vertex(at))) for color, at in product("bw", points))
