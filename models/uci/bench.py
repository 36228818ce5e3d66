"""The bench: a fresh engine for every path, on its pipes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from otf.adapter import Bench, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.core import Barrier
from otf.models.serving import chosen, expected, known_issue, program
from otf.models.uci.messages import PORT, IsReady, UciCodec, Word
from otf.models.uci.requirements import UCI_REQUIREMENTS, UciRule
from otf.models.uci.spec import ALSO, POSITIONS, chess

KNOWN: Final = {
    "unknown": known_issue("Stockfish 15.1 answers what it should ignore", "Unknown command", req=UciRule.UCI_UNKNOWN),
    "debug": known_issue("Stockfish 15.1 does not know debug", "Unknown command", "debug", req=UciRule.UCI_DEBUG),
    "register": known_issue(
        "Stockfish 15.1 does not know register", "Unknown command", "register", req=UciRule.UCI_REGISTER
    ),
    "order": known_issue(
        "Stockfish 15.1 takes what follows searchmoves for moves", "Info(kind='depth'", req=UciRule.UCI_SEARCHMOVES
    ),
    "mate": known_issue("Stockfish 15.1 has a best move that is not a move", "(none)", req=UciRule.UCI_NULLMOVE),
}
"""The known issues that each of `ALSO` shows."""
READY: Final = 10.0
"""Seconds that an engine may take to load its chess data."""


@trace_may_set(also=ALSO)
def bench(*, engine: str = "", also: str = "") -> Bench:
    """Return the bench of a chess engine.

    `engine` is the command line of the chess engine (default: Stockfish). `also` adds inputs that the bench leaves out
    by default: `unknown`, `debug`, `register`, `order` or `mate`.

    >>> bench().name
    'uci'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="uci",
        known_issues=expected(KNOWN, also),
        spec=chess(also),
        codec=UciCodec(POSITIONS),
        ports={PORT: lambda: _engine(engine)},
        inputs="uioco",
        # the engine must answer "isready" at once, even while it searches
        quiescence=0.2,
        latency=0.1,
        busy=0.2,
        barrier=Barrier({PORT: IsReady()}, lambda _port, output: output == Word("readyok")),
        requirements=UCI_REQUIREMENTS,
    )


@asynccontextmanager
async def _engine(engine: str) -> AsyncGenerator[Line, None]:
    argv = words(engine) if engine else [program("stockfish", "stockfish")]
    async with open_process(argv, ready=None) as line:
        # unrequested output about itself is not part of the interface
        await line.send(b"uci")
        await line.until_ready("uciok", READY)
        yield line
