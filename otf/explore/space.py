"""The states and transitions of a model, within bounds, and those that runs visited."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from otf.core import Model, Monitor, Node, Symbol
from otf.explore.graph import reaching
from otf.spec import Idle
from otf.trace.events import Event, Sent
from otf.trace.result import counted
from otf.values import show

MOST: Final = 2_000  # states to explore
PAIRS: Final = 20_000  # pairs of state and input: asking a model takes time, and a longer list is too long to read
AHEAD: Final = 200  # states reached by spontaneous transitions, between two moments when the state is known

StatePair = tuple[Hashable, Hashable]
EdgeKey = tuple[Hashable, Hashable, Hashable]
Said = Callable[[Symbol], str]


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


def space(model: Model, most: int = MOST, pairs: int = PAIRS) -> Space:
    """Return the reachable states and transitions of a model, nearest first, up to `most` states and some `pairs`."""

    @cache
    def said(each: Symbol) -> str:
        return show(each.value)

    first = model.initial
    found = Space(first.key, {first.key: said(first)}, {first.key: first.value})
    queue = deque([model.initial])
    while queue and len(found.pairs) < pairs:
        node = queue.popleft()
        for target in [*_asked(model, node, found, said), *_spontaneous(model, node, found, said)]:
            if target.key in found.states:
                continue
            if len(found.states) >= most:
                found.whole = False
                continue
            found.states[target.key], found.values[target.key] = said(target), target.value
            queue.append(target)
    found.whole = found.whole and not queue
    return found


def _asked(model: Model, node: Node, found: Space, said: Said) -> Iterator[Node]:
    for inp in model.enabled_inputs(node):
        for move in model.moves(node, inp):
            target = move.target if isinstance(move.target, Node) else None
            way = WordedTransition(
                said(node),
                said(inp),
                _outputs(move.texts),
                said(target) if target else "",
                target.key if target else None,
            )
            found.pairs.setdefault((node.key, inp.key), []).append(way)
            if target is None:
                found.whole = False  # only the outputs determine the next states
                continue
            found.edges.setdefault((node.key, inp.key, target.key), way)
            yield target


def _spontaneous(model: Model, node: Node, found: Space, said: Said) -> Iterator[Node]:
    for move in model.spontaneous(node):
        if not isinstance(move.target, Node):
            found.whole = False
            continue
        way = WordedTransition(said(node), "", _outputs(move.texts), said(move.target), move.target.key)
        found.spontaneous.setdefault((node.key, move.target.key), way)
        yield move.target


def _outputs(texts: tuple[str, ...]) -> str:
    return ", ".join(filter(None, texts)) or "no output"


class CoveredPart(NamedTuple):
    """How many parts were visited, how many of them were also `explored`, and whether these are all.

    A campaign may visit a state outside the explored ones, by inputs that exploration does not try.

    >>> str(CoveredPart(36, 36, 37, whole=True)), str(CoveredPart(189, 117, 120, whole=True))
    ('36 of 37', '117 of 120, and 72 outside of these')
    >>> str(CoveredPart(39, 8, 2000, whole=False)), str(CoveredPart(102, 1, 1, whole=False))
    ('39, 8 of them among the 2,000 explored', '102')
    >>> CoveredPart(189, 117, 120, whole=True).told(" states")
    '117 of 120 states, and 72 outside of these'
    """

    visited: int
    within: int
    explored: int
    whole: bool

    @property
    def is_share(self) -> bool:
        """Return whether the visited parts are a share of a known whole."""
        return self.whole and self.visited == self.within

    def __str__(self) -> str:
        """Return it in words."""
        return self.told()

    def told(self, what: str = "") -> str:
        """Return it in words that say `what` the parts are."""
        if self.is_share:
            return f"{self.within:,} of {self.explored:,}{what}"
        if self.whole:
            return f"{self.within:,} of {self.explored:,}{what}, and {self.visited - self.within:,} outside of these"
        if self.explored < self.visited:  # nearly nothing is known: no share of it tells anything
            return f"{self.visited:,}{what}"
        return f"{self.visited:,}{what}, {self.within:,} of them among the {self.explored:,} explored"


class VisitedParts(NamedTuple):
    """What the paths of a campaign visited: states, inputs in their states, and transitions."""

    states: CoveredPart
    inputs: CoveredPart
    transitions: CoveredPart

    def __str__(self) -> str:
        """Return it in a line, with totals only where they are known."""
        whole = self.states.is_share
        parts = ((self.states, "state"), (self.transitions, "transition"))
        each = (part.told(f" {what}s") if whole else counted(part.visited, what) for part, what in parts)
        return f"visited: {', '.join(each)}"

    def data(self) -> dict[str, dict[str, object]]:
        """Return it as JSON data."""
        return {name: part._asdict() for name, part in self._asdict().items()}


@dataclass
class VisitedSpace:
    """Everything that all runs visited, within the space or not.

    A transition counts if some explanation of the observed outputs contains it. Ignored unspecified inputs of a
    completed model do not count.
    """

    space: Space
    states: set[Hashable] = field(default_factory=set[Hashable])
    pairs: set[StatePair] = field(default_factory=set[StatePair])
    edges: set[EdgeKey] = field(default_factory=set[EdgeKey])
    inputs: set[Hashable] = field(default_factory=set[Hashable])
    """Every input sent, even if the model does not say where it led."""

    @property
    def coverage(self) -> VisitedParts:
        """Return how much was visited, and how much of it lies within the space."""
        found, whole = self.space, self.space.whole
        return VisitedParts(
            CoveredPart(len(self.states), len(self.states & found.states.keys()), len(found.states), whole),
            CoveredPart(len(self.pairs), len(self.pairs & found.pairs.keys()), len(found.pairs), whole),
            CoveredPart(len(self.edges), len(self.edges & found.edges.keys()), len(found.edges), whole),
        )

    def tried(self, node: Node, inp: Symbol, model: Model) -> bool:
        """Note that an input was sent in a state; return whether the original model specifies it there.

        A wait that the tester adds by itself is no input of the model.
        """
        if isinstance(inp.value, Idle):
            return False
        pair = node.key, inp.key
        if pair not in self.pairs and model.specified(node, inp):
            self.pairs.add(pair)
        return pair in self.pairs

    def went(self, node: Node, inp: Symbol, target: Node, model: Model) -> None:
        """Note that an input led from one state to another."""
        self.states.update((node.key, target.key))
        if self.tried(node, inp, model):
            self.edges.add((node.key, inp.key, target.key))


class Walker:
    """Follows one run: gets each event, and the monitor after it."""

    def __init__(self, visits: VisitedSpace, model: Model) -> None:
        self._visits, self._model = visits, model
        self._nodes = frozenset({model.initial})
        self._inputs: list[Symbol] = []
        visits.states.add(model.initial.key)

    def event(self, event: Event, monitor: Monitor) -> None:
        """Follow an event. Once the possible states are settled again, the inputs in between have led to them."""
        if isinstance(event, Sent):
            self._inputs.append(self._model.symbol(event.input))
            self._visits.inputs.add(self._inputs[-1].key)
        if monitor.verdict is None and monitor.belief.settled:
            self._settle(frozenset(monitor.states))

    def end(self) -> None:
        """Note the end of the run: the last inputs were tried, but where they led is unknown."""
        nodes = self._nodes
        for inp in self._inputs:
            for node in nodes:
                self._visits.tried(node, inp, self._model)
            nodes = frozenset(target for node in nodes for target in self._targets(node, inp, ()))

    def _settle(self, now: frozenset[Node]) -> None:
        self._visits.states.update(node.key for node in now)
        if self._inputs:
            self._walk(now)
        self._nodes, self._inputs = now, []

    def _walk(self, now: frozenset[Node]) -> None:
        layers = [_closed(self._model, self._nodes)]
        # after an Accept the outputs choose the state, known only for the last input
        chosen: list[AbstractSet[Node]] = [*(set[Node]() for _ in self._inputs[1:]), now]
        for inp, states in zip(self._inputs, chosen, strict=True):
            after = (target for node in layers[-1] for target in self._targets(node, inp, states))
            layers.append(_closed(self._model, after))
        # backwards: keep only states that lead to the current ones
        right: AbstractSet[Node] = layers[-1].keys() & now or layers[-1].keys()
        for index in reversed(range(len(self._inputs))):
            right = self._through(layers[index], self._inputs[index], _before(layers[index + 1], right), chosen[index])

    def _through(
        self, before: Iterable[Node], inp: Symbol, after: AbstractSet[Node], chosen: AbstractSet[Node]
    ) -> AbstractSet[Node]:
        used: set[Node] = set()
        for node in before:
            for target in self._targets(node, inp, chosen):
                if target in after:
                    used.add(node)
                    self._visits.went(node, inp, target, self._model)
        return used

    def _targets(self, node: Node, inp: Symbol, chosen: Iterable[Node]) -> list[Node]:
        """Return where an input leads; an Accept leads to the `chosen` states, and always counts as tried."""
        moves = list(self._model.moves(node, inp))
        found = [move.target for move in moves if isinstance(move.target, Node)]
        if len(found) < len(moves):
            self._visits.tried(node, inp, self._model)
            found.extend(chosen)
        return found


def _closed(model: Model, nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """Return nodes and their spontaneous successors, each with its spontaneous transitions.

    It follows only the nearest states, since a numbered heartbeat leads to new ones for ever.
    """
    left = deque(dict.fromkeys(nodes))
    most = len(left) + AHEAD
    found = {node: list[Node]() for node in left}
    while left:
        node = left.popleft()
        for move in model.spontaneous(node):
            if not isinstance(move.target, Node) or (move.target not in found and len(found) >= most):
                continue
            if move.target not in found:
                found[move.target] = []
                left.append(move.target)
            found[node].append(move.target)
    return found


def _before(ways: Mapping[Node, Iterable[Node]], ends: AbstractSet[Node]) -> AbstractSet[Node]:
    """Return the nodes from which spontaneous transitions lead to one of `ends`, including `ends`."""
    return reaching(((node, target) for node, targets in ways.items() for target in targets), ends)
