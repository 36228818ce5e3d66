"""What can be done surely in an observable machine, whatever the system chooses: reaching states, telling two apart.

Alur, Courcoubetis and Yannakakis, "Distinguishing tests for nondeterministic and probabilistic machines", 1995;
Petrenko and Yevtushenko, "Adaptive testing of nondeterministic systems with FSM", 2014. Both are games against the
system: a place is won if after some input every place that the system can choose is won.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import Generic, TypeVar

from otf.suite.decisions import enough
from otf.suite.observable import Observable

P = TypeVar("P", bound=Hashable)
Options = Iterable[tuple[P, int, list[P]]]
"""Places, each with an input and the places that the system may choose after it."""
Sends = dict[int, int]
"""The input to send in each state."""
SeparatingInputs = dict[tuple[int, int], int]
"""For each pair of states, in both orders, the input to send where the system may be in either."""


def won(options: Options[P], goals: Iterable[P] = ()) -> dict[P, int]:
    """Return the input to send in each place that is won, goals aside; the shortest games are found first."""
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
    """How many places each choice still waits for; `ready` are choices that wait for none."""

    def __init__(self, options: Options[P]) -> None:
        self.ready: deque[tuple[P, int]] = deque()
        self._open: dict[tuple[P, int], int] = {}
        self._waiting = defaultdict[P, list[tuple[P, int]]](list)
        for place, inp, after in options:
            self._open[place, inp] = len(after)
            for each in after:
                self._waiting[each].append((place, inp))
            if not after:
                self.ready.append((place, inp))

    def win(self, place: P) -> None:
        """Note that a place is won."""
        for choice in self._waiting[place]:
            self._open[choice] -= 1
            if not self._open[choice]:
                self.ready.append(choice)


def reaching(machine: Observable) -> dict[int, Sends]:
    """Return for each state that can surely be reached from the initial one how that is done, the initial one first."""
    options = [(state, inp, machine.targets(state, inp)) for state, row in enumerate(machine.ends) for inp in row]
    found = {goal: won(options, [goal]) for goal in range(machine.size)}
    return {goal: strategy for goal, strategy in found.items() if goal == 0 or 0 in strategy}


def separating(machine: Observable) -> SeparatingInputs:
    """Return for all pairs of states that can surely be told apart the input with which that begins.

    No system is right in both states of such a pair: what it answers at last is wrong in one of them.
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
    """Return sets of states that can be told apart pairwise, at least one with each state; any such sets will do.

    Those that can surely be reached are taken first: the more of these are in a set, the sooner a test may end.
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
