"""The states and transitions of a model, within bounds, and which of them runs visited."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.core import Model, Monitor, Node, Symbol
from otf.trace.events import Event, Sent
from otf.values import show

MOST: Final = 2_000  # states that are explored
PAIRS: Final = 20_000  # states with inputs: asking a model takes time, and no one reads a longer list

StatePair = tuple[Hashable, Hashable]
EdgeKey = tuple[Hashable, Hashable, Hashable]


class WordedTransition(NamedTuple):
    """A transition as texts; `input` is empty for a spontaneous one, `target` if the outputs decide it.

    `to` is the key of the target.
    """

    source: str
    input: str
    outputs: str
    target: str
    to: Hashable = None


@dataclass
class Space:
    """The states and transitions of a model, each by its key; not `whole` if there may be more.

    `pairs` are states with the inputs that they specify. `spontaneous` are transitions without an input.
    """

    initial: Hashable
    states: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    values: dict[Hashable, object] = field(default_factory=dict[Hashable, object])
    pairs: dict[StatePair, list[WordedTransition]] = field(default_factory=dict[StatePair, list[WordedTransition]])
    edges: dict[EdgeKey, WordedTransition] = field(default_factory=dict[EdgeKey, WordedTransition])
    spontaneous: dict[tuple[Hashable, Hashable], WordedTransition] = field(
        default_factory=dict[tuple[Hashable, Hashable], WordedTransition]
    )
    whole: bool = True


def space(model: Model, most: int = MOST) -> Space:
    """Return the reachable states and transitions of a model, nearest first, up to `most` states."""
    first = model.initial
    found = Space(first.key, {first.key: show(first.value)}, {first.key: first.value})
    queue = deque([model.initial])
    while queue and len(found.pairs) < PAIRS:
        node = queue.popleft()
        for target in [*_asked(model, node, found), *_spontaneous(model, node, found)]:
            if target.key in found.states:
                continue
            if len(found.states) >= most:
                found.whole = False
                continue
            found.states[target.key], found.values[target.key] = show(target.value), target.value
            queue.append(target)
    found.whole = found.whole and not queue
    return found


def _asked(model: Model, node: Node, found: Space) -> Iterator[Node]:
    for inp in model.enabled_inputs(node):
        for move in model.moves(node, inp):
            target = move.target if isinstance(move.target, Node) else None
            way = WordedTransition(
                show(node.value),
                show(inp.value),
                _outputs(move.texts),
                show(target.value) if target else "",
                target.key if target else None,
            )
            found.pairs.setdefault((node.key, inp.key), []).append(way)
            if target is None:
                found.whole = False  # only the outputs determine the states behind it
                continue
            found.edges.setdefault((node.key, inp.key, target.key), way)
            yield target


def _spontaneous(model: Model, node: Node, found: Space) -> Iterator[Node]:
    for move in model.spontaneous(node):
        if not isinstance(move.target, Node):
            found.whole = False
            continue
        way = WordedTransition(show(node.value), "", _outputs(move.texts), show(move.target.value), move.target.key)
        found.spontaneous.setdefault((node.key, move.target.key), way)
        yield move.target


def _outputs(texts: tuple[str, ...]) -> str:
    return ", ".join(filter(None, texts)) or "no output"


@dataclass
class VisitedSpace:
    """The part of the space that all runs together visited.

    A transition counts if some explanation of the observed outputs contains it. What a completed model adds (ignoring
    unspecified inputs) does not count.
    """

    space: Space
    states: set[Hashable] = field(default_factory=set[Hashable])
    pairs: set[StatePair] = field(default_factory=set[StatePair])
    edges: set[EdgeKey] = field(default_factory=set[EdgeKey])

    def tried(self, node: Node, inp: Symbol) -> None:
        """Note that an input was sent in a state."""
        if (node.key, inp.key) in self.space.pairs:
            self.pairs.add((node.key, inp.key))

    def went(self, node: Node, inp: Symbol, target: Node) -> None:
        """Note that an input led from one state to another."""
        self.tried(node, inp)
        self.states.update((node.key, target.key))
        if (node.key, inp.key, target.key) in self.space.edges:
            self.edges.add((node.key, inp.key, target.key))


class Walker:
    """Follows one run: gets each event, with the monitor after that event."""

    def __init__(self, visits: VisitedSpace, model: Model) -> None:
        self._visits, self._model = visits, model
        self._nodes = frozenset({model.initial})
        self._inputs: list[Symbol] = []
        visits.states.add(model.initial.key)

    def event(self, event: Event, monitor: Monitor) -> None:
        """Follow an event. When the belief is settled, the inputs since the last time led to the current states."""
        if isinstance(event, Sent):
            self._inputs.append(self._model.symbol(event.input))
        if monitor.verdict is None and monitor.belief.settled:
            self._settle(frozenset(monitor.states))

    def end(self) -> None:
        """Note the end of the run: the last inputs were tried, but where they led is unknown."""
        nodes = self._nodes
        for inp in self._inputs:
            for node in nodes:
                self._visits.tried(node, inp)
            nodes = frozenset(target for node in nodes for target in self._targets(node, inp))

    def _settle(self, now: frozenset[Node]) -> None:
        layers = [_closed(self._model, self._nodes)]
        for inp in self._inputs:
            after = (target for node in layers[-1] for target in self._targets(node, inp))
            layers.append(_closed(self._model, after))
        # backwards: of the possible states only those remain that lead to the current ones
        right = layers[-1] & now or layers[-1]
        for inp, before in zip(reversed(self._inputs), reversed(layers[:-1]), strict=True):
            right = self._through(before, inp, right)
        self._visits.states.update(node.key for node in now)
        self._nodes, self._inputs = now, []

    def _through(self, before: frozenset[Node], inp: Symbol, after: frozenset[Node]) -> frozenset[Node]:
        used: set[Node] = set()
        for node in before:
            for target in self._targets(node, inp):
                if target in after or not _closed(self._model, [target]).isdisjoint(after):
                    used.add(node)
                    self._visits.went(node, inp, target)
        return frozenset(used)

    def _targets(self, node: Node, inp: Symbol) -> list[Node]:
        return [move.target for move in self._model.moves(node, inp) if isinstance(move.target, Node)]


def _closed(model: Model, nodes: Iterable[Node]) -> frozenset[Node]:
    """Return nodes with those that spontaneous transitions lead to."""
    found = set(nodes)
    left = list(found)
    while left:
        for move in model.spontaneous(left.pop()):
            if isinstance(move.target, Node) and move.target not in found:
                found.add(move.target)
                left.append(move.target)
    return frozenset(found)
