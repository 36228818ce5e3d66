"""The Universal Chess Interface as a function from a state and a line to the possible answers.

After Meyer-Kahlen, "Description of the universal chess interface (UCI)", April 2006. A search runs beside the
conversation, so its end is not an answer: it is spontaneous, and comes when a timer expires. The timer starts when the
search has to end, whatever the engine has said until then: an engine that sends `info` for ever and never moves is
wrong. The description does not mention empty lines; the model allows them in the answer to "uci", where Stockfish has
one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from otf.models.uci.messages import PORT, About, BestMove, Go, Info, Position, Say, Word
from otf.models.uci.requirements import UciRule
from otf.spec import Accept, Spec, TimerStart, Transition, Where, goto, start

PATIENCE: Final = 5.0
"""Seconds within which the best move comes once the search has to end; generous, for a busy machine."""

_WHITE_FIRST: Final = tuple(f"{file}2{file}{row}" for file in "abcdefgh" for row in "34")
_BLACK_FIRST: Final = tuple(f"{file}7{file}{row}" for file in "abcdefgh" for row in "65")

POSITIONS: Final = {
    "start": "startpos",
    "e4": "startpos moves e2e4",
    "corner": "fen 7k/8/6KQ/8/8/8/8/8 b - - 0 1",
    "capture": "fen 8/8/8/8/8/5k2/7p/7K w - - 0 1",
    "promotion": "fen 8/P6k/8/8/8/8/8/K7 w - - 0 1",
    "mate": "fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "stalemate": "fen 7k/8/5KQ1/8/8/8/8/8 b - - 0 1",
}
LEGAL: Final[dict[str, frozenset[str]]] = {
    "start": frozenset((*_WHITE_FIRST, "b1a3", "b1c3", "g1f3", "g1h3")),
    "e4": frozenset((*_BLACK_FIRST, "b8a6", "b8c6", "g8f6", "g8h6")),
    "corner": frozenset(("h8g8",)),
    "capture": frozenset(("h1h2",)),
    "promotion": frozenset(("a7a8q", "a7a8r", "a7a8b", "a7a8n", "a1b1", "a1a2", "a1b2")),
    "mate": frozenset[str](),
    "stalemate": frozenset[str](),
}
"""The positions, and the legal moves in each, found by hand."""

_BEGUN: Final = {"": UciRule.UCI_GO, "stop": UciRule.UCI_INFINITE, "ponderhit": UciRule.UCI_PONDER}
"""The sentence on a search that ends by itself, or only after a command."""

_SILENT: Final[dict[str, tuple[UciRule, ...]]] = {
    "stop": (UciRule.UCI_NOT_EXPECTED,),
    "ponderhit": (UciRule.UCI_NOT_EXPECTED,),
    "debug": (UciRule.UCI_DEBUG,),
    "register": (UciRule.UCI_REGISTER,),
    "setoption": (),
}
"""The sentences on commands without an answer; others are unknown."""


@dataclass(frozen=True, slots=True)
class Idle:
    """No search is running."""

    position: str = "start"


@dataclass(frozen=True, slots=True)
class Searching:
    """A search among `moves`, of this many `plies` (0: any). It ends by itself, or only after the command `until`."""

    position: str
    moves: frozenset[str]
    until: str = ""
    plies: int = 0


ENDS: Final = start("bestmove", 0.0, PATIENCE)

State: TypeAlias = Idle | Searching
Input: TypeAlias = Say | Position | Go


def chess(also: str = "") -> Spec[State, Input]:
    """Return the spec of a chess engine.

    `also` adds inputs that the spec leaves out by default: `unknown`, `debug`, `register`, `order` or `mate`.

    >>> chess().name
    'uci'
    """
    return Spec(_step, Idle(), partial(_inputs, also), _emits, name="uci")


def _step(state: State, inp: Input) -> Iterator[Transition[State] | Accept]:
    match state, inp:
        case _, Say(line):
            yield from _said(state, line.split(), spaced=line != " ".join(line.split()))
        case Idle(), Position(name):
            yield goto(Idle(name), req=UciRule.UCI_FORCED)
        case Idle(position), Go(words):
            search = _search(position, words)
            yield goto(search, timers=_ending(search.until), req=_BEGUN[search.until])
        case _:
            return  # the description does not say what a new position or search does to a running search


def _said(state: State, words: list[str], *, spaced: bool) -> Iterator[Transition[State] | Accept]:
    match words, state:
        case ["uci"], Idle():
            yield Accept(lambda seen: [state] if _introduced(seen) else [], PORT, _is_introduced, req=UciRule.UCI_UCI)
        case ["ucinewgame"], Idle(position):
            yield goto(Idle(position))
        case ["stop"], Searching(until=until):
            required = UciRule.UCI_WHITE_SPACE if spaced else UciRule.UCI_STOP
            # a search that ends by itself still does: its timer runs
            yield goto(replace(state, until=""), timers=_ending("") if until else (), req=required)
        case ["ponderhit"], Searching(until="ponderhit"):
            yield goto(replace(state, until=""), timers=_ending(""), req=UciRule.UCI_PONDERHIT)
        case ["uci" | "ucinewgame" | "setoption", *_], Searching():
            return  # only for engines that wait
        case _:
            # there is no search to end; the engine ignores unknown and empty lines
            yield goto(state, req=_SILENT.get(words[0] if words else "", (UciRule.UCI_UNKNOWN,)))


def _ending(until: str) -> list[TimerStart]:
    """Return the start of the timer, unless the search waits for a command."""
    return [] if until else [ENDS]


def _search(position: str, words: tuple[str, ...]) -> Searching:
    tokens = " ".join(words).split()
    moves = LEGAL[position]
    chosen = moves.intersection(tokens) if "searchmoves" in tokens else moves
    until = "ponderhit" if "ponder" in tokens else "stop" if "infinite" in tokens else ""
    plies = int(tokens[tokens.index("depth") + 1]) if "depth" in tokens else 0
    return Searching(position, chosen or moves, until, plies)


def _emits(state: State) -> Iterator[Transition[State]]:
    """Yield the outputs of a search: information at any time, and the best move once."""
    if isinstance(state, Idle):
        yield goto(state, Info("string"))  # any text for people, at any time
        return
    searched = Where(lambda said: _is_info(state, said), f"info, of depth {state.plies or 'any'}")
    yield goto(state, searched, req=UciRule.UCI_DEPTH if state.plies else UciRule.UCI_INFO)
    if not state.until:
        says = f"bestmove, one of {', '.join(sorted(state.moves))}" if state.moves else "bestmove 0000"
        best = Where(lambda said: isinstance(said, BestMove) and _is_legal(state, said), says)
        yield goto(Idle(state.position), best, after="bestmove", req=_of_best(state))


def _of_best(state: Searching) -> UciRule:
    if not state.moves:
        return UciRule.UCI_NULLMOVE
    return UciRule.UCI_BESTMOVE if state.moves == LEGAL[state.position] else UciRule.UCI_SEARCHMOVES


def _is_info(state: Searching, said: object) -> bool:
    return isinstance(said, Info) and (not state.plies or said.depth <= state.plies)


def _is_legal(state: Searching, best: BestMove) -> bool:
    # the description does not say what is best without a legal move; 0000 is its null move
    return best.move in state.moves if state.moves else best.move == "0000"


def _is_introduced(seen: tuple[Any, ...]) -> bool:
    return bool(seen[-1] == Word("uciok"))


def _introduced(seen: tuple[Any, ...]) -> bool:
    about = [said.what for said in seen if isinstance(said, About)]
    named = about.count("id name") == 1 and about.count("id author") == 1
    return named and all(said in {Word("uciok"), Word("")} for said in seen if not isinstance(said, About))


# ---- what is worth trying ------------------------------------------------------------------------------------------

_ANY_TIME: Final = (Say("stop"), Say("  \t "), Say(" stop\t"))
_SEARCHES: Final = (
    Go(("depth 1",)),
    Go(("depth\t 4",)),
    Go(("nodes 100",)),
    Go(("movetime 20",)),
    Go(("wtime 50", "btime 50")),
    Go(("infinite",)),
    Go(("ponder", "movetime 20")),
)
_WAITING: Final = (Say("uci"), Say("ucinewgame"), Say("setoption name Hash value 2"), Say("ponderhit"))
_PLACES: Final = ("start", "e4", "corner", "capture", "promotion")

ALSO: Final[dict[str, tuple[Input, ...]]] = {
    "unknown": (Say("frobnicate"),),
    "debug": (Say("debug on"), Say("debug off")),
    "register": (Say("register later"),),
    "order": (Go(("searchmoves e2e4", "depth 1")),),
    "mate": (Position("mate"), Position("stalemate")),
}
"""Inputs that show a known issue of Stockfish, by name."""


def _inputs(also: str, state: State) -> Iterator[Input]:
    yield from _ANY_TIME
    more = ALSO.get(also, ())
    if isinstance(state, Searching):
        yield from (Say("ponderhit"), Say("debug off")) if also == "debug" else (Say("ponderhit"),)
        return
    yield from _WAITING
    yield from map(Position, _PLACES)
    yield from (each for each in more if not isinstance(each, Go) or state.position == "start")
    yield from _SEARCHES
    if state.position == "start":
        yield from (Go(("depth 2", "searchmoves e2e4 d2d4")), Go(("infinite", "searchmoves a2a3")))
