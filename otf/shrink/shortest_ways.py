"""Ways through the model: where inputs lead, and the shortest way between two nodes. The system takes no part."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from otf.core import Model, Node, Oracle, Symbol
from otf.core.hypothesis import Hypothesis
from otf.core.view import view
from otf.shrink.issue import ANYWHERE, ModelStep, NodeSet, Thinking, counterpart
from otf.spec import Elapse
from otf.strategy.pool import PlanPatience, endless

SEARCHED: Final = 3000  # nodes that a search for a way examines; beyond, it settles for a known detour
ASKED: Final = 20_000  # steps that one search for a way asks the model about
ASKED_IN_ALL: Final = 100_000  # the same for all searches of one map: a model takes 10 to 100 microseconds for each
OFFERED: Final = 1000  # inputs among which a state must specify one, or the system has to leave it first

SOON: Final = 50  # steps after which a walk without one of its steps has to rejoin the original walk

ModelSteps: TypeAlias = tuple[ModelStep, ...]
"""Steps through the model, each from where the one before led."""


class TimeOverError(Exception):
    """Raised when the time of a search runs out while the search computes on the model."""


class Tree:
    """The shortest ways from a source: a breadth-first search that goes as far as asked, up to `SEARCHED` nodes.

    It ends early once it has asked the model too much.
    """

    def __init__(self, source: NodeSet, ways: ModelMap) -> None:
        self._ways = ways
        self._asked = 0
        self._into: dict[NodeSet, ModelStep | None] = {source: None}
        self._depth = {source: 0}
        self._order = [source]
        self._todo = deque([source])

    def path(self, target: NodeSet, within: int) -> Thinking[ModelSteps | None]:
        """Return a shortest way of at most `within` steps, None if it finds none."""
        while target not in self._into and self._todo and self._depth[self._todo[0]] < within and self._grow():
            yield None
        return self.way(target) if self._depth.get(target, within + 1) <= within else None

    def nodes(self) -> Iterator[NodeSet | None]:
        """Yield nodes, the nearest first; None is a pause."""
        at = 0
        while at < min(len(self._order), SEARCHED):
            yield self._order[at]
            at += 1
            while at >= len(self._order) and self._todo and self._grow():
                yield None

    def way(self, nodes: NodeSet) -> ModelSteps:
        """Return the way to nodes found before."""
        steps = list[ModelStep]()
        step = self._into[nodes]
        while step is not None:
            steps.append(step)
            step = self._into[step.nodes]
        return tuple(reversed(steps))

    def _grow(self) -> bool:
        if len(self._into) >= SEARCHED or self._asked >= ASKED or self._ways.tired:
            return False
        nodes, before = self._todo.popleft(), self._ways.asked
        for step in self._ways.steps(nodes):
            if step.target not in self._into:
                self._into[step.target] = step
                self._depth[step.target] = self._depth[nodes] + 1
                self._order.append(step.target)
                self._todo.append(step.target)
        self._asked += self._ways.asked - before
        return True


class Successor(NamedTuple):
    """One possible effect of an input: the outputs seen, and the nodes to which it leads."""

    seen: Hashable
    target: NodeSet


class ModelMap:
    """The model as a map, on which the shrinker finds the shortest inputs from some possible states to others.

    `patience` limits how long a candidate looks for inputs while its system waits. The inputs that the map finds take
    none of the `avoided` steps. When `over` returns true, each question to the map raises TimeOverError.
    """

    def __init__(
        self,
        oracle: Oracle,
        patience: PlanPatience = endless,
        learnt: dict[tuple[NodeSet, Symbol], NodeSet] | None = None,
        avoided: frozenset[tuple[NodeSet, Symbol]] = frozenset(),
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._over = over
        self._avoided = avoided
        self.patience: PlanPatience = patience
        self._oracle = oracle
        self.model: Model = oracle.model
        self.asked: int = 0  # about how many steps the model was asked for
        self._takes: dict[Node, bool] = {}
        self.start: NodeSet = self._open(frozenset([oracle.model.initial]))
        self._outcomes: dict[tuple[NodeSet, Symbol], tuple[Successor, ...]] = {}
        self._steps: dict[NodeSet, ModelSteps] = {}
        self._for_runs: ModelMap | None = None
        self._trees: dict[NodeSet, Tree] = {}
        self._learnt: dict[tuple[NodeSet, Symbol], NodeSet] = {} if learnt is None else learnt
        self._at_start = frozenset(self.enabled_inputs(self.start))
        self._named: dict[NodeSet, tuple[Symbol, ...]] = {}

    @property
    def tired(self) -> bool:
        """Return whether the model has been asked so much that another search for a way is not worth its time."""
        return self.asked >= ASKED_IN_ALL

    def for_runs(self) -> ModelMap:
        """Return the map for runs, which look for ways when the system chooses; each search then has the same bounds.

        If runs and the search shared a map, the search would depend on which runs came before.
        """
        if self._for_runs is None or self._for_runs.tired:
            self._for_runs = ModelMap(self._oracle, self.patience, self._learnt, self._avoided)
        return self._for_runs

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
            if self._over():
                raise TimeOverError
            self.asked += 1
            known = self._outcomes[nodes, inp] = tuple(self._find(nodes, inp))
        return known

    def open(self, step: ModelStep) -> bool:
        """Return whether the model leaves it to the system where a step leads."""
        outcomes = self.outcomes(step.nodes, step.input)
        return len(outcomes) != 1 or outcomes[0].target == ANYWHERE

    def steps(self, nodes: NodeSet) -> ModelSteps:
        """Return every step whose next nodes are known."""
        known = self._steps.get(nodes)
        if known is None:
            pairs = (
                (inp, outcome.target) for inp in self.enabled_inputs(nodes) for outcome in self.outcomes(nodes, inp)
            )
            steps = (ModelStep(nodes, inp, target) for inp, target in pairs if target)
            known = self._steps[nodes] = tuple(step for step in steps if not self.avoids(step))
        return known

    def avoids(self, step: ModelStep) -> bool:
        """Return whether ways avoid a step."""
        return (step.nodes, step.input) in self._avoided

    def path(self, source: NodeSet, target: NodeSet, within: int = SEARCHED) -> Thinking[ModelSteps | None]:
        """Return a shortest way of at most `within` steps, None if there is none."""
        return (yield from self._tree(source).path(target, within))

    def nearest(self, source: NodeSet, wanted: Callable[[ModelStep], bool]) -> Thinking[ModelSteps | None]:
        """Return a shortest way that ends with a wanted step, None if there is none."""
        tree, before = self._tree(source), self.asked
        for nodes in tree.nodes():
            yield None
            if nodes is None:
                continue
            if self.asked - before >= ASKED or self.tired:
                return None
            for step in self.steps(nodes):
                if wanted(step):
                    return (*tree.way(nodes), step)
        return None

    def along(self, steps: Iterable[ModelStep]) -> ModelSteps:
        """Return the walk from the start with the inputs of these steps, skipping inputs that are not enabled.

        Where the model leaves a choice, the walk assumes the system's choice at these steps. If an input carries a name
        made by an earlier step, such as an id, it carries the name that this walk makes.
        """
        nodes, walk = self.start, list[ModelStep]()
        for step in steps:
            taken = self._taken(step, nodes)
            if taken is not None:
                walk.append(taken)
                nodes = taken.target
        return tuple(walk)

    def _taken(self, step: ModelStep, nodes: NodeSet) -> ModelStep | None:
        """Return the step as taken in other nodes; None if its input is not enabled there."""
        inp = self._rename(step, nodes)
        outcomes = self.outcomes(nodes, inp)
        return ModelStep(nodes, inp, self._expected(step, outcomes), step.burst) if outcomes else None

    def _rename(self, step: ModelStep, nodes: NodeSet) -> Symbol:
        """Return the input of a step, with the names of other nodes.

        A name is something that no input has at the start. Without an earlier step, a counter gives other ids. An input
        with an old id would then do something other than the failing input, or nothing.
        """
        inp = step.input
        if step.nodes == nodes or inp in self._at_start or not (step.nodes and nodes):
            return inp
        now = self._with_names(nodes)
        return inp if inp in now else counterpart(inp, self._with_names(step.nodes), now)

    def _with_names(self, nodes: NodeSet) -> tuple[Symbol, ...]:
        known = self._named.get(nodes)
        if known is None:
            found = (inp for inp in self.enabled_inputs(nodes) if inp not in self._at_start)
            known = self._named[nodes] = tuple(found)
        return known

    def clean(self, steps: Iterable[ModelStep]) -> ModelSteps:
        """Return the steps without those at which the system could have moved on, but chose to stay."""
        return tuple(step for step in steps if step.target != step.nodes or not self._moves_on(step))

    def _moves_on(self, step: ModelStep) -> bool:
        """Return whether the system could have left the nodes of a step; each of several nodes has its own effects."""
        outcomes = self.outcomes(step.nodes, step.input)
        return len(outcomes) != 1 and not all(each.target <= step.nodes for each in outcomes)

    def shortened(self, steps: ModelSteps) -> Thinking[ModelSteps]:
        """Return a shorter walk from the start to where these steps lead, if that is too far for a search."""
        walk = _without_circles(self.along(steps))
        at = 0
        while at < len(walk) and not self.tired:
            yield None
            shorter = self._without(walk, at)
            if shorter is None:
                at += 1
            else:
                walk = shorter
        return walk

    def _without(self, walk: ModelSteps, at: int) -> ModelSteps | None:
        """Return a walk without one step, None if it does not soon rejoin the walk with it.

        If the model counts (ids, for one), it never does; following it to the end each time took most of a search.
        """
        nodes, new = walk[at].nodes, list[ModelStep]()
        for later in range(at + 1, min(at + SOON, len(walk))):
            if nodes == walk[later].nodes:
                return (*walk[:at], *new, *walk[later:])
            taken = self._taken(walk[later], nodes)
            if taken is not None:
                new.append(taken)
                nodes = taken.target
        return (*walk[:at], *new) if at + SOON >= len(walk) and nodes == walk[-1].target else None

    def _expected(self, step: ModelStep, outcomes: tuple[Successor, ...]) -> NodeSet:
        if len(outcomes) == 1:
            return outcomes[0].target
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
        reached = self._reached(nodes)
        passing = {node for node in reached if self._passing(node)} if len(reached) > 1 else set[Node]()
        return reached - passing or reached

    def _reached(self, nodes: NodeSet) -> NodeSet:
        oracle = self._oracle
        reached = frozenset(view(self.model, oracle.relation, oracle.limits, map(Hypothesis, nodes)).places)
        self.asked += len(reached)
        return reached

    def _passing(self, node: Node) -> bool:
        """Return whether a state ends before the next input is sent, such as that of a booting board.

        It takes no input, and leads to one that does. If none does, as after the system hung up, it may stay.
        """
        return not self._taking(node) and any(map(self._taking, self._reached(frozenset([node]))))

    def _taking(self, node: Node) -> bool:
        known = self._takes.get(node)
        if known is None:
            # a wait does not reach the system: a state that offers nothing else passes, too
            offered = (inp for inp in self.model.enabled_inputs(node)[:OFFERED] if not isinstance(inp.value, Elapse))
            known = self._takes[node] = any(self.model.specified(node, inp) for inp in offered)
        return known

    def _tree(self, source: NodeSet) -> Tree:
        tree = self._trees.get(source)
        if tree is None:
            tree = self._trees[source] = Tree(source, self)
        return tree


def _without_circles(walk: ModelSteps) -> ModelSteps:
    last = {step.nodes: at for at, step in enumerate(walk)}
    at, kept = 0, list[ModelStep]()
    while at < len(walk):
        kept.append(walk[last[walk[at].nodes]])
        at = last[walk[at].nodes] + 1
    return tuple(kept)
