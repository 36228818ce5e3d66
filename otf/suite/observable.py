"""Observable machines: the model leaves the system a choice, and the outputs show what it chose.

In each state, at most one next state fits an input and its outputs. So the model's state is known after each step, and
a test can depend on it.

Some states can be reached, and some pairs distinguished, whatever the system chooses. Both are games against the
system: a position is won if after some input every position that the system can choose is won. Alur, Courcoubetis and
Yannakakis, "Distinguishing tests for nondeterministic and probabilistic machines", 1995; Petrenko and Yevtushenko,
"Adaptive testing of nondeterministic systems with FSM", 2014.

An adaptive suite is a tree of everything to try, cut into tests that send one input at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, zip_longest
from typing import Any, Final, Generic, NamedTuple, TypeVar

from otf.errors import UsageError
from otf.explore import Graph
from otf.suite.machine import lookalikes, sampled, whole
from otf.values import show

MOST: Final = 1_000_000  # nodes of a tree, and decisions
Ends = dict[int, int]
"""The next state for each possible output, by number."""


@dataclass(frozen=True)
class Observable:
    """A machine as a table: `ends[state][input]` has the next state for each output; unspecified inputs are missing.

    `same` has the pairs of numbers of outputs that may look the same, including each output with itself. The initial
    state is 0.
    """

    name: str
    states: Sequence[Any]
    inputs: Sequence[Any]
    ends: Sequence[dict[int, Ends]]
    same: frozenset[tuple[int, int]]
    notes: tuple[str, ...] = field(default=())

    @property
    def size(self) -> int:
        """Return the number of states."""
        return len(self.ends)

    def targets(self, state: int, inp: int) -> list[int]:
        """Return the distinct states that an input may lead to."""
        return list(dict.fromkeys(self.ends[state][inp].values()))

    def both(self, one: int, other: int, inp: int) -> list[tuple[int, int]]:
        """Return the pairs of states that two states may lead to with the same outputs."""
        here, there = self.ends[one][inp], self.ends[other][inp]
        return list(
            dict.fromkeys((to, also) for a, to in here.items() for b, also in there.items() if (a, b) in self.same)
        )


def observable(graph: Graph) -> Observable:
    """Return the observable machine of a graph. Raises UsageError, with the reason, if the graph is not observable."""
    whole(graph)
    ends: list[dict[int, Ends]] = [{} for _ in graph.values]
    same = _same(graph)
    for arc in graph.arcs():
        known = ends[arc.source].setdefault(arc.input, {})
        for output, target in known.items():
            if target != arc.target and (output, arc.outputs) in same:
                raise UsageError(_unobservable(graph, arc.source, arc.input, (target, arc.target)))
        known[arc.outputs] = arc.target
    return Observable(graph.name, graph.values, graph.inputs, ends, same, sampled(graph))


def _same(graph: Graph) -> frozenset[tuple[int, int]]:
    found = list(lookalikes(graph.outputs))
    return frozenset([*found, *((b, a) for a, b in found), *((each, each) for each in range(len(graph.outputs)))])


def _unobservable(graph: Graph, source: int, inp: int, targets: tuple[int, int]) -> str:
    one, other = (show(graph.values[each]) for each in targets)
    return (
        f"{graph.name} is not observable: in {show(graph.values[source])}, {show(graph.inputs[inp])} may lead to {one} "
        f"and to {other} with outputs that look the same; no test can know which: use `otf run`"
    )


def enough(number: int) -> None:
    """Raise UsageError if an adaptive suite becomes too large."""
    if number > MOST:
        raise UsageError(
            f"there are more than {MOST:,} things to try or to compare: allow fewer extra states, make the model "
            "smaller, or take adaptive-cover, which tries less"
        )


P = TypeVar("P", bound=Hashable)
Options = Iterable[tuple[P, int, list[P]]]
"""Positions, each with an input and the positions that the system may choose after it."""
Sends = dict[int, int]
"""The input to send in each state."""
SeparatingInputs = dict[tuple[int, int], int]
"""For each pair of states, in both orders, the input to send if the system may be in either."""


def won(options: Options[P], goals: Iterable[P] = ()) -> dict[P, int]:
    """Return the input to send in each position from which the tester can surely win, except in the goals."""
    strategy, fresh = dict[P, int](), deque(goals)
    done, game = set(fresh), _Game(options)
    while fresh or game.ready:
        if fresh:
            game.win(fresh.popleft())
        elif (choice := game.ready.popleft())[0] not in done:
            done.add(choice[0])
            strategy[choice[0]] = choice[1]
            fresh.append(choice[0])
    return strategy


class _Game(Generic[P]):
    """How many positions each choice still waits for; `ready` has the choices that wait for none."""

    def __init__(self, options: Options[P]) -> None:
        self.ready: deque[tuple[P, int]] = deque()
        self._open: dict[tuple[P, int], int] = {}
        self._waiting = defaultdict[P, list[tuple[P, int]]](list)
        for position, inp, after in options:
            self._open[position, inp] = len(after)
            for each in after:
                self._waiting[each].append((position, inp))
            if not after:
                self.ready.append((position, inp))

    def win(self, position: P) -> None:
        for choice in self._waiting[position]:
            self._open[choice] -= 1
            if not self._open[choice]:
                self.ready.append(choice)


def reaching(machine: Observable) -> dict[int, Sends]:
    """Return for each state that can surely be reached the inputs to send on the way; the initial state comes first."""
    options = [(state, inp, machine.targets(state, inp)) for state, row in enumerate(machine.ends) for inp in row]
    found = {goal: won(options, [goal]) for goal in range(machine.size)}
    return {goal: strategy for goal, strategy in found.items() if goal == 0 or 0 in strategy}


def separating(machine: Observable) -> SeparatingInputs:
    """Return the first input to send for each pair of states that can be distinguished whatever the system chooses.

    No system conforms in both states of such a pair, since its last answer is wrong in one of them.
    """
    found = won(_pairs(machine))
    return found | {(other, one): inp for (one, other), inp in found.items()}


def _pairs(machine: Observable) -> Options[tuple[int, int]]:
    """Return the games of all pairs; inputs that distinguish many come first, so that tests have more in common."""
    enough(machine.size * (machine.size - 1) // 2 * len(machine.inputs))
    options = [
        (pair, inp, sorted({(min(after), max(after)) for after in machine.both(*pair, inp)}))
        for pair in combinations(range(machine.size), 2)
        for inp in sorted(machine.ends[pair[0]].keys() & machine.ends[pair[1]].keys())
    ]
    at_once = Counter(inp for _, inp, after in options if not after)
    return sorted(options, key=lambda option: -at_once[option[1]])


def groups(size: int, apart: SeparatingInputs, sure: set[int]) -> list[frozenset[int]]:
    """Return sets of pairwise distinguishable states, at least one set containing each state; any such sets will do.

    Surely reachable states are added first: the more of them a set has, the sooner a test may end.
    """
    ranked = sorted(range(size), key=lambda state: (state not in sure, state))
    found: dict[frozenset[int], None] = {}
    for state in range(size):
        group = [state]
        for other in ranked:
            if all((each, other) in apart for each in group):
                group.append(other)
        found[frozenset(group)] = None
    return list(found)


class Decision(NamedTuple):
    """An input of a test, and the number of the next decision for each state that may follow; else the test ends."""

    input: int
    then: tuple[tuple[int, int], ...] = ()


@dataclass
class Decisions:
    """The decisions of an adaptive suite, as rows that differ. Each refers only to earlier rows, so every test ends."""

    rows: list[Decision] = field(default_factory=list[Decision])
    depth: list[int] = field(default_factory=list[int])
    _known: dict[Decision, int] = field(default_factory=dict[Decision, int])

    def add(self, inp: int, then: Iterable[tuple[int, int]]) -> int:
        """Return the number of a decision; add it if it is new. Raises UsageError if there are too many."""
        row = Decision(inp, tuple(sorted(then)))
        number = self._known.setdefault(row, len(self.rows))
        if number == len(self.rows):
            enough(number)
            self.rows.append(row)
            self.depth.append(1 + max((self.depth[each] for _, each in row.then), default=0))
        return number


@dataclass(slots=True)
class TrialNode:
    """A node of the tree of trials: the model's state, and for each tried input the next node by the next state."""

    state: int
    after: dict[int, dict[int, TrialNode]] = field(default_factory=dict[int, dict[int, "TrialNode"]])
    tests: list[int] = field(default_factory=list[int])


class Trials:
    """The tree of everything that a suite tries, from the reset on; paths with equal beginnings share these."""

    def __init__(self, machine: Observable) -> None:
        self.machine = machine
        self.root = TrialNode(0)
        self._nodes = [self.root]

    def step(self, node: TrialNode, inp: int) -> Iterable[TrialNode]:
        """Return the nodes after an input; make them if missing. Raises UsageError if there are too many."""
        found = node.after.get(inp)
        if found is None:
            found = node.after[inp] = {state: TrialNode(state) for state in self.machine.targets(node.state, inp)}
            self._nodes += found.values()
            enough(len(self._nodes))
        return found.values()

    def walk(self, node: TrialNode, strategy: dict[int, int], goal: int) -> Iterator[TrialNode]:
        """Add the way to a state by a strategy; yield the nodes where it reaches the state."""
        left = [node]
        while left:
            here = left.pop()
            if here.state == goal:
                yield here
            else:
                left += self.step(here, strategy[here.state])

    def part(self, node: TrialNode, other: int, apart: dict[tuple[int, int], int]) -> None:
        """Add the inputs that distinguish the state of a node from another state."""
        left = [(node, other)]
        while left:
            here, there = left.pop()
            inp = apart[here.state, there]
            after = {each.state: each for each in self.step(here, inp)}
            left += [(after[to], also) for to, also in self.machine.both(here.state, there, inp)]

    def tests(self, table: Decisions) -> list[int]:
        """Return tests that try everything: after each input as many as the next node that needs most."""
        for node in reversed(self._nodes):
            for inp, after in node.after.items():
                together = zip_longest(*(each.tests for each in after.values()))
                node.tests += [table.add(inp, _there(after, row)) for row in together] or [table.add(inp, ())]
                enough(len(node.tests))
        return self.root.tests


def _there(after: dict[int, TrialNode], row: tuple[int | None, ...]) -> Iterator[tuple[int, int]]:
    return ((state, number) for state, number in zip(after, row, strict=True) if number is not None)
