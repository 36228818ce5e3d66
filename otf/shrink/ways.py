"""Ways through the model: where inputs lead, and the shortest way from here to there. They cost the system nothing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, NamedTuple

from otf.core import Model, Oracle, Place, Symbol
from otf.core.belief import Belief
from otf.core.hypothesis import Hypothesis
from otf.core.offer import view
from otf.shrink.issue import ANYWHERE, Node, Step
from otf.shrink.tree import Tree

WIDE: Final = 3000  # nodes that a search for a way looks at; beyond, a detour that is known has to do


class Outcome(NamedTuple):
    """One of the things that may happen on an input: what is seen of it, and where it leads."""

    seen: Hashable
    target: Node


class Ways:
    """The model of an oracle as a map; nodes are sets of places, since the system need not show what it chose."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.model: Model = oracle.model
        self.start: Node = self._open(frozenset([oracle.model.initial]))
        self._outcomes: dict[tuple[Node, Symbol], tuple[Outcome, ...]] = {}
        self._steps: dict[Node, tuple[Step, ...]] = {}
        self._trees: dict[Node, Tree] = {}
        self._told: dict[tuple[Node, Symbol], Node] = {}

    def learn(self, steps: Iterable[Step]) -> None:
        """Remember where the system went where the model leaves that to it (`Accept`)."""
        self._told.update({(step.node, step.input): step.target for step in steps if step.target})

    def offers(self, node: Node) -> tuple[Symbol, ...]:
        """Return the inputs worth trying at a node."""
        return tuple(dict.fromkeys(inp for place in node for inp in self.model.offers(place)))

    def outcomes(self, node: Node, inp: Symbol) -> tuple[Outcome, ...]:
        """Return what may happen on an input, the model's first first; empty where it may not be given."""
        if not node:
            return (Outcome(None, ANYWHERE),)
        known = self._outcomes.get((node, inp))
        if known is None:
            known = self._outcomes[node, inp] = tuple(self._find(node, inp))
        return known

    def open(self, step: Step) -> bool:
        """Tell whether the model leaves to the system where a step leads."""
        outcomes = self.outcomes(step.node, step.input)
        return len(outcomes) != 1 or outcomes[0].target == ANYWHERE

    def steps(self, node: Node) -> tuple[Step, ...]:
        """Return every step from a node that leads somewhere known."""
        known = self._steps.get(node)
        if known is None:
            pairs = ((inp, outcome.target) for inp in self.offers(node) for outcome in self.outcomes(node, inp))
            known = self._steps[node] = tuple(Step(node, inp, target) for inp, target in pairs if target)
        return known

    def path(self, source: Node, target: Node, within: int = WIDE) -> tuple[Step, ...] | None:
        """Return a shortest way of at most `within` steps, None where none is found."""
        return self._tree(source).path(target, within)

    def nearest(self, source: Node, wanted: Callable[[Step], bool]) -> tuple[Step, ...] | None:
        """Return a shortest way that ends with a step that is wanted, None where none is found."""
        tree = self._tree(source)
        for node in tree.nodes(WIDE):
            for step in self.steps(node):
                if wanted(step):
                    return (*tree.way(node), step)
        return None

    def along(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        """Return the walk with the inputs of these steps from the start, skipping what may not be given any more.

        Where the model leaves a choice, the system is expected to choose what it did at these steps.
        """
        node, walk = self.start, list[Step]()
        for step in steps:
            outcomes = self.outcomes(node, step.input)
            if outcomes:
                target = self._expected(step, outcomes)
                walk.append(Step(node, step.input, target))
                node = target
        return tuple(walk)

    def clean(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        """Return the steps without those in vain: the system might have gone on, and chose to stay where it was."""
        return tuple(
            step for step in steps if step.target != step.node or len(self.outcomes(step.node, step.input)) == 1
        )

    def shortened(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Return a shorter walk from the start to where these steps lead, for states too far off to search for."""
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

    def _expected(self, step: Step, outcomes: tuple[Outcome, ...]) -> Node:
        then = [each.seen for each in self.outcomes(step.node, step.input) if each.target == step.target]
        return next((each.target for each in outcomes if each.seen in then), outcomes[0].target)

    def _find(self, node: Node, inp: Symbol) -> Iterator[Outcome]:
        moves = {place: self.model.moves(place, inp) for place in node}
        says = [bool(each) for each in moves.values()]
        if not (all(says) if self._oracle.relation == "uioco" else any(says)):
            return
        groups: dict[Hashable, set[Place]] = {}
        for move in (move for each in moves.values() for move in each):
            if move.target is None:
                yield Outcome(None, self._told.get((node, inp), ANYWHERE))
            else:
                groups.setdefault(move.owes, set()).add(move.target)
        yield from (Outcome(seen, self._open(frozenset(targets))) for seen, targets in groups.items())

    def _open(self, places: Node) -> Node:
        # what comes unasked may have come when the next input is given
        if self.model.spec.emits is None:
            return places
        belief = Belief(tuple(Hypothesis(place) for place in places))
        return frozenset(view(self.model, self._oracle.relation, self._oracle.limits, belief).places)

    def _tree(self, source: Node) -> Tree:
        tree = self._trees.get(source)
        if tree is None:
            tree = self._trees[source] = Tree(source, self.steps, WIDE)
        return tree


def _uncircled(walk: tuple[Step, ...]) -> tuple[Step, ...]:
    last = {step.node: at for at, step in enumerate(walk)}
    at, kept = 0, list[Step]()
    while at < len(walk):
        kept.append(walk[last[walk[at].node]])
        at = last[walk[at].node] + 1
    return tuple(kept)
