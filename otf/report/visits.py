"""Which states and transitions a run went through, as far as what was seen tells it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from otf.core import Model, Monitor, Node, Symbol
from otf.report.space import EdgeKey, Space, StatePair
from otf.trace.events import Event, Sent


@dataclass
class VisitedSpace:
    """What all runs together went through of what there is.

    A transition counts where some explanation of what was seen goes through it. What a completed model adds (that what
    is unspecified is ignored) does not count.
    """

    space: Space
    states: set[Hashable] = field(default_factory=set[Hashable])
    pairs: set[StatePair] = field(default_factory=set[StatePair])
    edges: set[EdgeKey] = field(default_factory=set[EdgeKey])

    def tried(self, node: Node, inp: Symbol) -> None:
        """Take that an input was sent in a state."""
        if (node.key, inp.key) in self.space.pairs:
            self.pairs.add((node.key, inp.key))

    def went(self, node: Node, inp: Symbol, target: Node) -> None:
        """Take that an input led from one state to another."""
        self.tried(node, inp)
        self.states.update((node.key, target.key))
        if (node.key, inp.key, target.key) in self.space.edges:
            self.edges.add((node.key, inp.key, target.key))


class Walker:
    """Follows one run: is told each event, with the monitor that has been told it."""

    def __init__(self, visits: VisitedSpace, model: Model) -> None:
        self._visits, self._model = visits, model
        self._nodes = frozenset({model.initial})
        self._inputs: list[Symbol] = []
        visits.states.add(model.initial.key)

    def event(self, event: Event, monitor: Monitor) -> None:
        """Take an event. Where everything is settled, the inputs since the last time led to the states of now."""
        if isinstance(event, Sent):
            self._inputs.append(self._model.symbol(event.input))
        if monitor.verdict is None and monitor.belief.settled:
            self._settle(frozenset(monitor.states))

    def end(self) -> None:
        """Take the end of the run: what was sent last was tried, and nobody knows where it led to."""
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
        # backwards: of all that was possible only that remains which leads to where the run is now
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
    """Return places with those that unasked transitions lead to."""
    found = set(nodes)
    left = list(found)
    while left:
        for move in model.spontaneous(left.pop()):
            if isinstance(move.target, Node) and move.target not in found:
                found.add(move.target)
                left.append(move.target)
    return frozenset(found)
