"""What there is to be tried: the states of a model, and the transitions on inputs, as far as they are many."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.core import Model, Node
from otf.values import show

MOST: Final = 2_000  # states that are looked at
PAIRS: Final = 20_000  # states with inputs: to ask a model takes time, and nobody reads so long a list

StatePair = tuple[Hashable, Hashable]
EdgeKey = tuple[Hashable, Hashable, Hashable]


class WordedTransition(NamedTuple):
    """A transition in words; `input` is empty where it comes unasked, `target` where the outputs decide it."""

    source: str
    input: str
    outputs: str
    target: str


@dataclass
class Space:
    """The states and transitions of a model, each by its key; not `whole` where there may be more.

    `pairs` are states with the inputs that they specify. `spontaneous` are transitions without an input.
    """

    initial: Hashable
    states: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    pairs: dict[StatePair, list[WordedTransition]] = field(default_factory=dict[StatePair, list[WordedTransition]])
    edges: dict[EdgeKey, WordedTransition] = field(default_factory=dict[EdgeKey, WordedTransition])
    spontaneous: dict[tuple[Hashable, Hashable], WordedTransition] = field(
        default_factory=dict[tuple[Hashable, Hashable], WordedTransition]
    )
    whole: bool = True


def space(model: Model, most: int = MOST) -> Space:
    """Return what can be reached in a model, nearest first, up to so many states."""
    found = Space(model.initial.key, {model.initial.key: show(model.initial.value)})
    queue = deque([model.initial])
    while queue and len(found.pairs) < PAIRS:
        node = queue.popleft()
        for target in [*_asked(model, node, found), *_spontaneous(model, node, found)]:
            if target.key in found.states:
                continue
            if len(found.states) >= most:
                found.whole = False
                continue
            found.states[target.key] = show(target.value)
            queue.append(target)
    found.whole = found.whole and not queue
    return found


def _asked(model: Model, node: Node, found: Space) -> Iterator[Node]:
    for inp in model.enabled_inputs(node):
        for move in model.moves(node, inp):
            target = move.target if isinstance(move.target, Node) else None
            way = WordedTransition(
                show(node.value), show(inp.value), _outputs(move.texts), show(target.value) if target else ""
            )
            found.pairs.setdefault((node.key, inp.key), []).append(way)
            if target is None:
                found.whole = False  # only the outputs tell which states there are behind it
                continue
            found.edges.setdefault((node.key, inp.key, target.key), way)
            yield target


def _spontaneous(model: Model, node: Node, found: Space) -> Iterator[Node]:
    for move in model.spontaneous(node):
        if not isinstance(move.target, Node):
            found.whole = False
            continue
        way = WordedTransition(show(node.value), "", _outputs(move.texts), show(move.target.value))
        found.spontaneous.setdefault((node.key, move.target.key), way)
        yield move.target


def _outputs(texts: tuple[str, ...]) -> str:
    return ", ".join(filter(None, texts)) or "no output"
