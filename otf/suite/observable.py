"""Observable machines: the model leaves the system a choice, and the outputs show which one it took.

From each state at most one next state fits the outputs after an input. So the model's state is known after each step,
and a test can depend on it.

Whatever the system chooses, some states can be reached and some pairs told apart. Both are games against the system: a
position is won if after some input every position that the system can choose is won. Alur, Courcoubetis and Yannakakis,
"Distinguishing tests for nondeterministic and probabilistic machines", 1995; Petrenko and Yevtushenko, "Adaptive
testing of nondeterministic systems with FSM", 2014.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final, Generic, TypeVar

from otf.errors import UsageError
from otf.explore import Graph
from otf.suite.labels import lookalikes
from otf.suite.machine import sampled, whole
from otf.values import show

MOST: Final = 1_000_000  # nodes of a tree, and decisions
Ends = dict[int, int]
"""The next state for each output that may come, by number."""


@dataclass(frozen=True)
class Observable:
    """A machine as a table: `ends[state][input]` has the next state for each output; unspecified inputs are missing.

    `same` has the pairs of outputs, by number, that may look the same, each with itself too. The initial state is 0.
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
        """Return the states that an input may lead to, each once."""
        return list(dict.fromkeys(self.ends[state][inp].values()))

    def both(self, one: int, other: int, inp: int) -> list[tuple[int, int]]:
        """Return the pairs of next states that two states may be in after the same outputs."""
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
    """Raise UsageError for a suite that is too large."""
    if number > MOST:
        message = (
            f"there are more than {MOST:,} things to try or to compare: allow fewer extra states, make the model "
            "smaller, or take adaptive-cover, which tries less"
        )
        raise UsageError(message)


P = TypeVar("P", bound=Hashable)
Options = Iterable[tuple[P, int, list[P]]]
"""Positions, each with an input and the positions that the system may choose after it."""
Sends = dict[int, int]
"""The input to send in each state."""
SeparatingInputs = dict[tuple[int, int], int]
"""For each pair of states, in both orders, the input to send where the system may be in either."""


def won(options: Options[P], goals: Iterable[P] = ()) -> dict[P, int]:
    """Return the input to send in each won position, goals aside; the shortest games are found first."""
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
    """How many positions each choice still waits for; `ready` are the choices that wait for none."""

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
        """Mark a position as won."""
        for choice in self._waiting[position]:
            self._open[choice] -= 1
            if not self._open[choice]:
                self.ready.append(choice)


def reaching(machine: Observable) -> dict[int, Sends]:
    """Return the inputs to send for each state that can surely be reached, the initial one first."""
    options = [(state, inp, machine.targets(state, inp)) for state, row in enumerate(machine.ends) for inp in row]
    found = {goal: won(options, [goal]) for goal in range(machine.size)}
    return {goal: strategy for goal, strategy in found.items() if goal == 0 or 0 in strategy}


def separating(machine: Observable) -> SeparatingInputs:
    """Return the first input to send for each pair of states that can be told apart whatever the system chooses.

    No system conforms in both states of such a pair: its last answer is wrong in one of them.
    """
    found = won(_pairs(machine))
    return found | {(other, one): inp for (one, other), inp in found.items()}


def _pairs(machine: Observable) -> Options[tuple[int, int]]:
    """Return the games of all pairs; inputs that tell many apart come first, so that tests have more in common."""
    enough(machine.size * (machine.size - 1) // 2 * len(machine.inputs))
    options = [
        (pair, inp, sorted({(min(after), max(after)) for after in machine.both(*pair, inp)}))
        for pair in combinations(range(machine.size), 2)
        for inp in sorted(machine.ends[pair[0]].keys() & machine.ends[pair[1]].keys())
    ]
    at_once = Counter(inp for _, inp, after in options if not after)
    return sorted(options, key=lambda option: -at_once[option[1]])


def groups(size: int, apart: SeparatingInputs, sure: set[int]) -> list[frozenset[int]]:
    """Return sets of states that can be told apart pairwise, at least one set with each state; any such sets will do.

    States that can surely be reached are added first: the more of them a set has, the sooner a test may end.
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
