"""Walks by hand through a model, or with the live system: finds moves, inputs and states by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from otf.cli.output import say
from otf.core import Model, Node, Symbol
from otf.core.nodes import Move
from otf.spec import TimerStop
from otf.spec.transition import in_words
from otf.values import show

FAR: Final = 20_000  # states to search for a way to one
WALK_HELP: Final = (
    "a number or the name of an input goes that way, `back` undoes it, `all` shows the inputs that are not specified "
    "here, `goto STATE`, `why INPUT`, `quit` ends"
)
PossibleMove: TypeAlias = tuple[Symbol | None, Move]


def named(text: str, ways: Sequence[Symbol | None]) -> list[int]:
    """Return the indices of the inputs with that name, or else of those whose name starts with it."""
    wanted = text.casefold()
    texts = ["(spontaneous)" if inp is None else show(inp.value).casefold() for inp in ways]
    exact = [at for at, each in enumerate(texts) if each == wanted or each.split("(")[0] == wanted]
    return exact or [at for at, each in enumerate(texts) if each.startswith(wanted)]


def ways_of(model: Model, node: Node) -> list[PossibleMove]:
    """Return what may happen in a state: inputs in the model's order, then spontaneous outputs."""
    asked: list[PossibleMove] = [(inp, move) for inp in model.enabled_inputs(node) for move in model.moves(node, inp)]
    return asked + [(None, move) for move in model.spontaneous(node)]


def route(model: Model, start: Node, text: str) -> list[Node] | None:
    """Return the states on the shortest way to the state with that name; None if there is none."""
    previous: dict[Node, Node | None] = {start: None}
    queue = deque([start])
    while queue and len(previous) < FAR:
        node = queue.popleft()
        if show(node.value).casefold() == text.casefold() and node is not start:
            return _back(previous, node)
        for _, move in ways_of(model, node):
            if isinstance(move.target, Node) and move.target not in previous:
                previous[move.target] = node
                queue.append(move.target)
    return None


def _back(previous: dict[Node, Node | None], node: Node) -> list[Node]:
    way = [node]
    while (before := previous[way[-1]]) is not None:
        way.append(before)
    return way[-2::-1]


def why(model: Model, nodes: Sequence[Node], text: str) -> str:
    """Return why an input is enabled or not in the possible states."""
    inputs = list(dict.fromkeys(inp for node in nodes for inp in model.enabled_inputs(node)))
    found = [inputs[at] for at in named(text, inputs)]
    if not found:
        known = ", ".join(show(inp.value) for inp in inputs) or "none"
        return f"{text} is not one of the inputs that the model may take here: {known}"
    return "\n".join(_reason(model, nodes, inp) for inp in found)


def _reason(model: Model, nodes: Sequence[Node], inp: Symbol) -> str:
    silent = [node for node in nodes if not model.specified(node, inp)]
    if not silent:
        return f"{show(inp.value)} is enabled: the model specifies what happens on it"
    states = " or ".join(show(node.value) for node in silent)
    elsewhere = " (in other possible states it is)" if len(silent) < len(nodes) else ""
    return f"{show(inp.value)} is not enabled: the model does not specify it in {states}{elsewhere}"


class StepWalk:
    """A walk through a spec: the states so far, and the ways on from the last."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.states: list[Node] = [model.initial]
        self.ways: list[tuple[str, Node | None]] = self._ways()

    def take(self, line: str) -> None:
        """Carry out one command."""
        match line:
            case "":
                self.print_state()
            case "b" | "back":
                self._back()
            case "a" | "all":
                self._print_unspecified()
            case "h" | "help" | "?":
                say(WALK_HELP)
            case _ if line.isascii() and line.isdecimal() and 1 <= int(line[:9]) <= len(self.ways):
                self._go(self.ways[int(line) - 1][1])
            case _ if line.startswith("goto "):
                self._goto(line.removeprefix("goto ").strip())
            case _ if line.startswith("why "):
                say(why(self.model, [self.states[-1]], line.removeprefix("why ").strip()))
            case _ if len(found := named(line, [inp for inp, _ in ways_of(self.model, self.states[-1])])) == 1:
                self._go(self.ways[found[0]][1])
            case _ if len(found := [at for at, (text, _) in enumerate(self.ways) if text.split("  [")[0] == line]) == 1:
                self._go(self.ways[found[0]][1])  # as a way is printed, without its times
            case _:
                ways = f"the ways are 1 to {len(self.ways)}" if self.ways else "there is no way on"
                say(f"{show(line)} is not a command: {ways}; {WALK_HELP}")

    def print_state(self) -> None:
        """Show the state and the ways on."""
        say(f"\nstate: {show(self.states[-1].value)}")
        for number, (text, _) in enumerate(self.ways, 1):
            say(f"  {number:3}  {text}")
        if not self.ways:
            say("  the model does not specify what may happen here")

    def _go(self, target: Node | None) -> None:
        if target is None:
            say("the next state depends on what the system answers: `otf step --live` asks it; or choose another way")
            return
        self.states.append(target)
        self.ways = self._ways()
        self.print_state()

    def _goto(self, text: str) -> None:
        way = route(self.model, self.states[-1], text)
        if way is None:
            say(f"there is no way from here to a state {show(text)}; write a state as it is shown")
            return
        self.states += way
        self.ways = self._ways()
        self.print_state()

    def _back(self) -> None:
        if len(self.states) > 1:
            self.states.pop()
            self.ways = self._ways()
        self.print_state()

    def _print_unspecified(self) -> None:
        node = self.states[-1]
        inputs = [show(inp.value) for inp in self.model.enabled_inputs(node) if not self.model.moves(node, inp)]
        say("not specified here:" if inputs else "every input is specified here")
        for text in inputs:
            say(f"       {text}")

    def _ways(self) -> list[tuple[str, Node | None]]:
        return [(_in_words(inp, move), move.target) for inp, move in ways_of(self.model, self.states[-1])]


def in_time(model: Model, nodes: Iterable[Node]) -> list[str]:
    """Return what may happen in some states with a window or a timer, or spontaneously; each once.

    >>> from otf.models.session_device import SPEC
    >>> model = Model(SPEC)
    >>> in_time(model, [model.initial])
    ["Begin()  ->  Status(what='begun')  [starts tick (0.15 to 0.3 s), starts session (0.765 to 1.02 s)]"]
    """
    every = [
        _in_words(inp, move) for node in nodes for inp, move in ways_of(model, node) if inp is None or _times(move)
    ]
    return list(dict.fromkeys(every))


def _in_words(inp: Symbol | None, move: Move) -> str:
    text = "(spontaneous)" if inp is None else show(inp.value)
    return f"{text}  ->  {', '.join(filter(None, move.texts)) or 'no output'}{_times(move)}"


def _times(move: Move) -> str:
    words = in_words(move.within, (*move.starts, *map(TimerStop, sorted(move.stops))), move.after)
    return f"  [{words}]" if words else ""
