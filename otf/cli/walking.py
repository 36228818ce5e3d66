"""What can be said on a walk through a model: numbers, names of inputs, and where to go."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

from otf.core import Model, Node, Symbol
from otf.core.nodes import Move
from otf.values import show

FAR: Final = 20_000  # states looked at for a way to one
PossibleMove: TypeAlias = tuple[Symbol | None, Move]


def named(text: str, ways: Sequence[Symbol | None]) -> list[int]:
    """Return the places of those inputs that are called so, or begin so where none is."""
    said = text.casefold()
    texts = ["(unasked)" if inp is None else show(inp.value).casefold() for inp in ways]
    exact = [at for at, each in enumerate(texts) if each == said or each.split("(")[0] == said]
    return exact or [at for at, each in enumerate(texts) if each.startswith(said)]


def ways_of(model: Model, node: Node) -> list[PossibleMove]:
    """Return what may happen in a state: inputs in the model's order, then what comes unasked."""
    asked: list[PossibleMove] = [(inp, move) for inp in model.enabled_inputs(node) for move in model.moves(node, inp)]
    return asked + [(None, move) for move in model.spontaneous(node)]


def route(model: Model, start: Node, text: str) -> list[Node] | None:
    """Return the states on the shortest way to one that is called so, None where none was found."""
    came: dict[Node, Node | None] = {start: None}
    queue = deque([start])
    while queue and len(came) < FAR:
        node = queue.popleft()
        if show(node.value).casefold() == text.casefold() and node is not start:
            return _back(came, node)
        for _, move in ways_of(model, node):
            if isinstance(move.target, Node) and move.target not in came:
                came[move.target] = node
                queue.append(move.target)
    return None


def _back(came: dict[Node, Node | None], node: Node) -> list[Node]:
    way = [node]
    while (before := came[way[-1]]) is not None:
        way.append(before)
    return way[-2::-1]


def why(model: Model, nodes: Sequence[Node], text: str) -> str:
    """Return why an input is offered or not, in the states that are possible."""
    inputs = list(dict.fromkeys(inp for node in nodes for inp in model.enabled_inputs(node)))
    found = [inputs[at] for at in named(text, inputs)]
    if not found:
        known = ", ".join(show(inp.value) for inp in inputs) or "none"
        return f"{text} is not among the inputs that the model tries here: {known}"
    return "\n".join(_told(model, nodes, inp) for inp in found)


def _told(model: Model, nodes: Sequence[Node], inp: Symbol) -> str:
    silent = [node for node in nodes if not model.specified(node, inp)]
    if not silent:
        return f"{show(inp.value)} can be chosen: the model says what happens on it"
    states = " or ".join(show(node.value) for node in silent)
    elsewhere = " (in others that are possible it does)" if len(silent) < len(nodes) else ""
    return f"{show(inp.value)} is not offered: the model says nothing of it in {states}{elsewhere}"
