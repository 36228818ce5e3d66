"""Ways through the model: where inputs lead, and the shortest way between two nodes. The system takes no part in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, NamedTuple

from otf.core import Model, Node, Oracle, Symbol
from otf.core.hypothesis import Hypothesis
from otf.core.view import view
from otf.shrink.issue import ANYWHERE, ModelStep, NodeSet

SEARCHED: Final = 3000  # nodes that a search for a way examines; beyond, a known detour must do


class Tree:
    """The shortest ways from a source: a breadth-first search that goes on as far as asked, up to `most` nodes."""

    def __init__(self, source: NodeSet, steps: Callable[[NodeSet], Iterable[ModelStep]], most: int) -> None:
        self._steps = steps
        self._most = most
        self._into: dict[NodeSet, ModelStep | None] = {source: None}
        self._depth = {source: 0}
        self._order = [source]
        self._todo = deque([source])

    def path(self, target: NodeSet, within: int) -> tuple[ModelStep, ...] | None:
        """Return a shortest way of at most `within` steps, None if none is found."""
        while target not in self._into and self._todo and self._depth[self._todo[0]] < within and self._grow():
            pass
        return self.way(target) if self._depth.get(target, within + 1) <= within else None

    def nodes(self, most: int) -> Iterator[NodeSet]:
        """Yield at most `most` nodes, the nearest first."""
        for at in range(most):
            while at >= len(self._order) and self._todo and self._grow():
                pass
            if at >= len(self._order):
                return
            yield self._order[at]

    def way(self, nodes: NodeSet) -> tuple[ModelStep, ...]:
        """Return the way to nodes that were found."""
        steps = list[ModelStep]()
        step = self._into[nodes]
        while step is not None:
            steps.append(step)
            step = self._into[step.nodes]
        return tuple(reversed(steps))

    def _grow(self) -> bool:
        if len(self._into) >= self._most:
            return False
        nodes = self._todo.popleft()
        for step in self._steps(nodes):
            if step.target not in self._into:
                self._into[step.target] = step
                self._depth[step.target] = self._depth[nodes] + 1
                self._order.append(step.target)
                self._todo.append(step.target)
        return True


class Successor(NamedTuple):
    """One possible effect of an input: the outputs that are seen, and the nodes to which it leads."""

    seen: Hashable
    target: NodeSet


class ModelMap:
    """The model of an oracle as a map between sets of nodes: sets, since the system need not show what it chose."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.model: Model = oracle.model
        self.start: NodeSet = self._open(frozenset([oracle.model.initial]))
        self._outcomes: dict[tuple[NodeSet, Symbol], tuple[Successor, ...]] = {}
        self._steps: dict[NodeSet, tuple[ModelStep, ...]] = {}
        self._trees: dict[NodeSet, Tree] = {}
        self._learnt: dict[tuple[NodeSet, Symbol], NodeSet] = {}

    def learn(self, steps: Iterable[ModelStep]) -> None:
        """Remember where the system went at steps whose next state it decides (`Accept`)."""
        self._learnt.update({(step.nodes, step.input): step.target for step in steps if step.target})

    def enabled_inputs(self, nodes: NodeSet) -> tuple[Symbol, ...]:
        """Return the enabled inputs."""
        return tuple(dict.fromkeys(inp for node in nodes for inp in self.model.enabled_inputs(node)))

    def outcomes(self, nodes: NodeSet, inp: Symbol) -> tuple[Successor, ...]:
        """Return the possible effects of an input, in the model's order; empty if it is not enabled."""
        if not nodes:
            return (Successor(None, ANYWHERE),)
        known = self._outcomes.get((nodes, inp))
        if known is None:
            known = self._outcomes[nodes, inp] = tuple(self._find(nodes, inp))
        return known

    def open(self, step: ModelStep) -> bool:
        """Return whether the model leaves it to the system where a step leads."""
        outcomes = self.outcomes(step.nodes, step.input)
        return len(outcomes) != 1 or outcomes[0].target == ANYWHERE

    def steps(self, nodes: NodeSet) -> tuple[ModelStep, ...]:
        """Return every step whose next nodes are known."""
        known = self._steps.get(nodes)
        if known is None:
            pairs = (
                (inp, outcome.target) for inp in self.enabled_inputs(nodes) for outcome in self.outcomes(nodes, inp)
            )
            known = self._steps[nodes] = tuple(ModelStep(nodes, inp, target) for inp, target in pairs if target)
        return known

    def path(self, source: NodeSet, target: NodeSet, within: int = SEARCHED) -> tuple[ModelStep, ...] | None:
        """Return a shortest way of at most `within` steps, None if none is found."""
        return self._tree(source).path(target, within)

    def nearest(self, source: NodeSet, wanted: Callable[[ModelStep], bool]) -> tuple[ModelStep, ...] | None:
        """Return a shortest way that ends with a wanted step, None if none is found."""
        tree = self._tree(source)
        for nodes in tree.nodes(SEARCHED):
            for step in self.steps(nodes):
                if wanted(step):
                    return (*tree.way(nodes), step)
        return None

    def along(self, steps: Iterable[ModelStep]) -> tuple[ModelStep, ...]:
        """Return the walk from the start with the inputs of these steps; inputs that are not enabled are skipped.

        Where the model leaves a choice, the walk assumes the choice that the system made at these steps.
        """
        nodes, walk = self.start, list[ModelStep]()
        for step in steps:
            outcomes = self.outcomes(nodes, step.input)
            if outcomes:
                target = self._expected(step, outcomes)
                walk.append(ModelStep(nodes, step.input, target))
                nodes = target
        return tuple(walk)

    def clean(self, steps: Iterable[ModelStep]) -> tuple[ModelStep, ...]:
        """Return the steps without those at which the system could have moved on, and chose to stay where it was."""
        return tuple(
            step for step in steps if step.target != step.nodes or len(self.outcomes(step.nodes, step.input)) == 1
        )

    def shortened(self, steps: tuple[ModelStep, ...]) -> tuple[ModelStep, ...]:
        """Return a shorter walk from the start to where these steps lead, for nodes that are too far for a search."""
        end = steps[-1].target if steps else self.start
        walk = _uncircled(self.along(steps))
        at = 0
        while at < len(walk):
            shorter = self.along(walk[:at] + walk[at + 1 :])
            if shorter and shorter[-1].target == end:
                walk = shorter
            else:
                at += 1
        return walk

    def _expected(self, step: ModelStep, outcomes: tuple[Successor, ...]) -> NodeSet:
        then = [each.seen for each in self.outcomes(step.nodes, step.input) if each.target == step.target]
        return next((each.target for each in outcomes if each.seen in then), outcomes[0].target)

    def _find(self, nodes: NodeSet, inp: Symbol) -> Iterator[Successor]:
        moves = {node: self.model.moves(node, inp) for node in nodes}
        says = [bool(each) for each in moves.values()]
        if not (all(says) if self._oracle.relation == "uioco" else any(says)):
            return
        groups: dict[Hashable, set[Node]] = {}
        for move in (move for each in moves.values() for move in each):
            if move.target is None:
                yield Successor(None, self._learnt.get((nodes, inp), ANYWHERE))
            else:
                groups.setdefault(move.emitted, set()).add(move.target)
        yield from (Successor(seen, self._open(frozenset(targets))) for seen, targets in groups.items())

    def _open(self, nodes: NodeSet) -> NodeSet:
        # spontaneous outputs may come before the next input
        if self.model.spec.emits is None:
            return nodes
        oracle = self._oracle
        return frozenset(view(self.model, oracle.relation, oracle.limits, map(Hypothesis, nodes)).nodes)

    def _tree(self, source: NodeSet) -> Tree:
        tree = self._trees.get(source)
        if tree is None:
            tree = self._trees[source] = Tree(source, self.steps, SEARCHED)
        return tree


def _uncircled(walk: tuple[ModelStep, ...]) -> tuple[ModelStep, ...]:
    last = {step.nodes: at for at, step in enumerate(walk)}
    at, kept = 0, list[ModelStep]()
    while at < len(walk):
        kept.append(walk[last[walk[at].nodes]])
        at = last[walk[at].nodes] + 1
    return tuple(kept)
