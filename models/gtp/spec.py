"""The Go Text Protocol as a function from a state and a line to the allowed answers.

After Farnebäck, "Specification of the Go Text Protocol, version 2, draft 2". It leaves the rules of the game to the
engine; those here (no suicide, the ko may not be retaken at once, everything else is allowed, two moves of one player
in a row too) are GNU Go's. `list_stones`, an extension of GNU Go, makes the board visible. That every wrong argument is
a `syntax error` is the draft in our words; GNU Go, whose version 3.4 is its reference, also uses other words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from otf.models.gtp.inputs import inputs
from otf.models.gtp.messages import PORT, Command, Noise, Reply
from otf.models.gtp.requirements import GtpRule
from otf.models.gtp.rules import Position, empty
from otf.models.gtp.state import COLORS, LARGEST, REQUIRED, Game, Input, State, Step, Unset
from otf.spec import Accept, OneOf, Spec, Transition, Where, goto


def go(size: int, also: str = "") -> Spec[State, Input]:
    """Return the spec of a Go engine on boards with `size` points along each side.

    `also` adds commands with wrong arguments: `boardsize`, `komi`, `vertex`, `color` or `many`.

    >>> go(3).name
    'gtp'
    """
    return Spec(step, Unset(), partial(inputs, size, also), name="gtp")


def step(state: State, inp: Input) -> Step:
    """Yield the allowed answers."""
    if isinstance(inp, Noise):
        yield goto(state, req=GtpRule.GTP2_DISCARDED)
    else:
        for way in _answered(state, *_words(inp)):
            yield _numbered(way, inp.id)


def _words(inp: Command) -> list[str]:
    # a comment extends to the end of the line; tabs are blanks; the engine discards other control characters
    line = " ".join(inp.words).partition("#")[0].replace("\t", " ")
    return "".join(char for char in line if char.isprintable()).split()


def _numbered(way: Transition[State] | Accept, number: int | None) -> Transition[State] | Accept:
    if isinstance(way, Accept):
        return replace(way, then=partial(_if_numbered, number, way.then))
    return replace(way, outputs=tuple(_with(output, number) for output in way.outputs))


def _if_numbered(
    number: int | None, then: Callable[[tuple[Any, ...]], Iterable[Any]], seen: tuple[Reply, ...]
) -> Iterable[Any]:
    # only an answer with the command's own number counts
    return then(seen) if seen[0].id == number else ()


def _with(output: object, number: int | None) -> object:
    match output:
        case Reply():
            return replace(output, id=number)
        case OneOf(items):
            return OneOf(*(_with(item, number) for item in items))
        case Where(test, says):
            return Where(lambda reply: reply.id == number and test(reply), says)
        case _:
            raise AssertionError(output)


def _answered(state: State, name: str, *words: str) -> Step:
    match state, name, words:
        case _, "protocol_version", ():
            yield goto(state, Reply(ok=True, text="2"), req=GtpRule.GTP2_PROTOCOL_VERSION)
        case _, ("name" | "list_commands"), ():
            rule = GtpRule.GTP2_NAME if name == "name" else GtpRule.GTP2_LIST_COMMANDS
            yield goto(state, _any(bool, "some text"), req=rule)
        case _, "version", ():
            yield goto(state, _any(lambda _text: True, "any text"), req=GtpRule.GTP2_VERSION)
        case _, "known_command", (known,):
            yield from _known(state, known)
        case _, "komi", (komi,) if _is_number(komi):
            yield goto(state, Reply(ok=True), req=GtpRule.GTP2_KOMI)
        case _, ("boardsize" | "clear_board"), _:
            yield from _cleared(state, name, words)
        case Unset(), ("play" | "genmove" | "undo" | "list_stones" | "showboard"), _:
            return  # on an arbitrary board anything may happen
        case Game(), ("play" | "genmove" | "undo" | "list_stones" | "showboard"), _:
            yield from _played(state, name, words)
        case _, ("frobnicate" | "Play"), _:
            yield goto(state, _refused("unknown command"), req=GtpRule.GTP2_UNKNOWN)
        case _:
            yield from _malformed(state, name)


def _known(state: State, name: str) -> Step:
    if name in REQUIRED:
        yield goto(state, Reply(ok=True, text="true"), req=GtpRule.GTP2_REQUIRED)
    elif name == "frobnicate":
        yield goto(state, Reply(ok=True, text="false"), req=GtpRule.GTP2_KNOWN_COMMAND)
    else:
        yield goto(state, OneOf(Reply(ok=True, text="true"), Reply(ok=True, text="false")))


def _cleared(state: State, name: str, words: tuple[str, ...]) -> Step:
    match state, name, words:
        case _, "boardsize", (size,) if size.isdecimal():
            yield from _sized(state, int(size))
        case ((Unset(size) | Game(Position(size))), "clear_board", ()) if size:
            yield goto(Game(empty(size)), Reply(ok=True), req=GtpRule.GTP2_CLEAR_BOARD)
        case Unset(), "clear_board", _:
            return  # the size is not known
        case _:
            yield from _malformed(state, name)


def _sized(state: State, size: int) -> Step:
    if 1 < size <= LARGEST:
        yield goto(Unset(size), Reply(ok=True), req=GtpRule.GTP2_BOARDSIZE)
    # an engine may refuse any size, and must refuse one for which the protocol lacks vertices
    rule = GtpRule.GTP2_LARGEST if size > LARGEST else GtpRule.GTP2_UNACCEPTABLE
    yield goto(state, _refused("unacceptable size"), req=rule)


def _played(game: Game, name: str, words: tuple[str, ...]) -> Step:
    match name, words:
        case "play", (color, vertex) if color.lower() in COLORS and _is_vertex(game.now, vertex):
            position = _move(game.now, COLORS[color.lower()], vertex)
            yield (
                goto(game.then(position), Reply(ok=True), req=GtpRule.GTP2_PLAY)
                if position
                else goto(game, _refused("illegal move"), req=GtpRule.GTP2_ILLEGAL)
            )
        case "genmove", (color,) if color.lower() in COLORS:
            generated = partial(_generated, game, COLORS[color.lower()])
            yield Accept(lambda seen: generated(seen[0]), PORT, req=GtpRule.GTP2_GENMOVE)
        case "undo", ():
            if game.before:
                yield goto(Game(game.before[-1], game.before[:-1]), Reply(ok=True), req=GtpRule.GTP2_UNDO)
            # no engine has to remember all moves
            yield goto(game, _refused("cannot undo"), req=GtpRule.GTP2_CANNOT_UNDO)
        case "list_stones", (color,) if color.lower() in COLORS:
            stones = game.now.stones(COLORS[color.lower()])
            says = f"the vertices {' '.join(sorted(stones)) or '(none)'}"
            yield goto(game, _any(lambda text: _is_list(text, stones), says))
        case "showboard", ():
            yield goto(game, _any(bool, "a board"))
        case _:
            yield from _malformed(game, name)


def _malformed(state: State, name: str) -> Step:
    """Answer a known command with wrong arguments."""
    if name in REQUIRED:
        yield goto(state, _refused("syntax error"), req=GtpRule.GTP2_SYNTAX)


def _generated(game: Game, color: str, reply: Reply) -> list[State]:
    if not reply.ok:
        return []  # `genmove` never fails
    if reply.text.lower() == "resign":
        return [game]
    legal = _is_vertex(game.now, reply.text) and _move(game.now, color, reply.text)
    return [game.then(legal)] if legal else []


def _move(position: Position, color: str, vertex: str) -> Position | None:
    point = position.point(vertex)
    return position.passed() if point is None else position.played(color, point)


def _is_vertex(position: Position, text: str) -> bool:
    return text.lower() == "pass" or position.point(text) is not None


def _is_list(text: str, stones: frozenset[str]) -> bool:
    listed = text.split()
    return len(listed) == len(stones) and frozenset(listed) == stones


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def _refused(text: str) -> Reply:
    return Reply(ok=False, text=text)


def _any(test: Callable[[str], bool], says: str) -> Where:
    return Where(lambda reply: reply.ok and test(reply.text), f"= and {says}")
