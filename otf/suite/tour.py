"""Tours: every transition, or each with a check of its target, in as few paths and inputs as possible.

The transitions to walk are the arcs of a graph. A flow gives the cheapest additional arcs with which every state has as
many ways in as out; then one walk goes through all arcs (the Chinese postman; Edmonds and Johnson 1973). If the arcs to
walk are not connected (the rural postman), the module joins their parts, and the tour may not be the shortest.

A2, A3 and A4 cover every transition too, but take the first one available: Koopman and Plasmeijer, "Testing Reactive
Systems with GAST", 8.4.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random
from typing import Final

from otf.explore.graph import reaching
from otf.suite.complete import neighbours, onward, reach
from otf.suite.machine import NOTHING, NumberedMachine, Word

RESET: Final = 1 << 20  # the cost of a reset, in inputs: prefer few paths, then few inputs
MANY: Final = 1 << 40


@dataclass
class Flow:
    """A network with capacities and costs; `balance` finds the cheapest flow.

    It uses shortest augmenting paths, with potentials that keep every cost from being negative.
    """

    size: int
    heads: list[int] = field(default_factory=list[int])
    room: list[int] = field(default_factory=list[int])
    cost: list[int] = field(default_factory=list[int])
    out: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        """Start without arcs."""
        self.out = [[] for _ in range(self.size)]

    def arc(self, tail: int, head: int, cost: int, room: int = MANY) -> int:
        """Add an arc and return its number; the next number is its way back."""
        number = len(self.heads)
        for start, end, capacity, price in ((tail, head, room, cost), (head, tail, 0, -cost)):
            self.out[start].append(len(self.heads))
            self.heads.append(end)
            self.room.append(capacity)
            self.cost.append(price)
        return number

    def used(self, arc: int) -> int:
        """Return how often the flow uses an arc."""
        return self.room[arc + 1]

    def balance(self, surplus: list[int]) -> None:
        """Move the surplus of nodes to nodes with a deficit at the least cost; there must be ways."""
        left, price = list(surplus), [0] * self.size
        while any(amount > 0 for amount in left):
            reached, reached_by, end = self._nearest(left, price)
            far = reached[end]
            price = [old + min(reached.get(node, far), far) for node, old in enumerate(price)]
            self._push(left, reached_by, end)

    def _nearest(self, left: list[int], price: list[int]) -> tuple[dict[int, int], dict[int, int], int]:
        """Return distances, the arcs that reached each node, and the nearest node with a deficit."""
        queue = [(0, node) for node, amount in enumerate(left) if amount > 0]
        done: dict[int, int] = {}
        best = {node: 0 for _, node in queue}
        reached_by: dict[int, int] = {}
        while True:
            far, node = heappop(queue)
            if node in done:
                continue
            done[node] = far
            if left[node] < 0:
                return done, reached_by, node
            for arc in self.out[node]:
                head = self.heads[arc]
                if not self.room[arc] or head in done:
                    continue
                further = far + self.cost[arc] + price[node] - price[head]
                if further < best.get(head, MANY):
                    best[head] = further
                    reached_by[head] = arc
                    heappush(queue, (further, head))

    def _push(self, left: list[int], reached_by: dict[int, int], end: int) -> None:
        arcs: list[int] = []
        node = end
        while node in reached_by:
            arcs.append(reached_by[node])
            node = self.heads[reached_by[node] ^ 1]
        amount = min(left[node], -left[end], *(self.room[arc] for arc in arcs))
        for arc in arcs:
            self.room[arc] -= amount
            self.room[arc ^ 1] += amount
        left[node] -= amount
        left[end] += amount


@dataclass(frozen=True, slots=True)
class Leg:
    """A part that a tour must walk: a reset, or inputs (a `word`) that lead from state `start` to state `end`."""

    start: int
    word: Word
    end: int


@dataclass(frozen=True, slots=True)
class Tour:
    """The paths of a tour; `optimal`: no other tour has fewer paths, or the same number of paths and fewer inputs."""

    paths: list[Word]
    optimal: bool


def transitions(machine: NumberedMachine) -> list[Leg]:
    """Return one leg of a tour for each transition of a machine."""
    return [Leg(state, (inp,), machine.next[state][inp]) for state, inp in machine.transitions]


def checked(machine: NumberedMachine, check: Callable[[int], Word]) -> list[Leg]:
    """Return a leg for each transition of a machine: the transition's input, then inputs that check its target."""
    legs: list[Leg] = []
    for state, inp in machine.transitions:
        word = (inp, *check(machine.next[state][inp]))
        legs.append(Leg(state, word, machine.run(word, state)[1]))
    return legs


def tour(machine: NumberedMachine, legs: list[Leg], reset: int = RESET) -> Tour:
    """Return paths that together walk all legs with few inputs; a further path costs as much as `reset` inputs."""
    ways = [Leg(state, (inp,), target) for state, row in enumerate(neighbours(machine)) for target, inp in row.items()]
    more = _balancing_legs(machine.size, legs, ways, reset)
    arcs, joined = _joined(machine, [*legs, *more])
    return Tour(list(_paths(arcs)), optimal=not joined)


def _balancing_legs(size: int, legs: list[Leg], ways: list[Leg], reset: int) -> list[Leg]:
    """Return the cheapest additional legs with which as many legs end in each state as start there."""
    flow, station = Flow(size + 1), size
    arcs = [flow.arc(way.start, way.end, 1) for way in ways]
    resets = [flow.arc(state, station, 0) for state in range(size)]
    # the last path needs no reset after it, so one way back is free
    flow.arc(station, 0, 0, 1)
    flow.arc(station, 0, reset, MANY)
    surplus = [0] * (size + 1)
    for leg in legs:
        surplus[leg.start] -= 1
        surplus[leg.end] += 1
    flow.balance(surplus)  # always possible: each state can be reset
    more = [way for way, arc in zip(ways, arcs, strict=True) for _ in range(flow.used(arc))]
    return more + [Leg(state, (), 0) for state, arc in enumerate(resets) for _ in range(flow.used(arc))]


def _joined(machine: NumberedMachine, legs: list[Leg]) -> tuple[list[Leg], bool]:
    """Return the legs, and round trips to the parts not connected to the initial state."""
    joined = False
    while lost := {leg.start for leg in legs} - (there := reaching(((leg.end, leg.start) for leg in legs), [0])):
        word, start = _cheapest(machine, there, lost)
        end = machine.run(word, start)[1]
        # walk there and back, or come back by a reset
        back = reach(neighbours(machine), [end], machine.size)[start]
        legs = [*legs, *_steps(machine, start, word), *(_steps(machine, end, back) if back else [Leg(end, (), 0)])]
        if not back:
            legs += _steps(machine, 0, reach(neighbours(machine), [0], machine.size)[start] or ())
        joined = True
    return legs, joined


def _cheapest(machine: NumberedMachine, there: set[int], lost: set[int]) -> tuple[Word, int]:
    words = reach(neighbours(machine), sorted(there), machine.size)
    ways: list[Word] = [word for state in lost if (word := words[state]) is not None]
    best = min(ways, key=len)
    start = next(state for state in sorted(there) if machine.run(best, state)[1] in lost)
    return best, start


def _steps(machine: NumberedMachine, state: int, word: Word) -> list[Leg]:
    legs: list[Leg] = []
    for inp in word:
        legs.append(Leg(state, (inp,), machine.next[state][inp]))
        state = machine.next[state][inp]
    return legs


def _paths(legs: list[Leg]) -> Iterator[Word]:
    """Yield the paths of one walk through all legs (Hierholzer), cut at the resets."""
    left = defaultdict[int, list[Leg]](list)
    for leg in reversed(legs):
        left[leg.start].append(leg)
    stack: list[tuple[int, Leg | None]] = [(0, None)]
    walk: list[Leg] = []
    while stack:
        state, reached_by = stack[-1]
        if left[state]:
            leg = left[state].pop()
            stack.append((leg.end, leg))
        else:
            stack.pop()
            if reached_by is not None:
                walk.append(reached_by)
    yield from _cut(walk[::-1])


def _cut(walk: list[Leg]) -> Iterator[Word]:
    word: list[int] = []
    for leg in [*walk, Leg(0, (), 0)]:
        word += leg.word
        if not leg.word and word:
            yield tuple(word)
            word = []


ORDERS: Final = 10  # orders of the inputs to try; the one with the fewest paths wins


def a2(machine: NumberedMachine) -> Iterator[Word]:
    """Yield every path that takes no transition twice, and that cannot be extended without taking one twice.

    An A2 suite grows fast: it has 118 paths for a machine with 9 transitions, and 27,848 paths for a machine with 18.
    """
    rows = [[inp for inp, target in enumerate(row) if target != NOTHING] for row in machine.next]
    word: list[int] = []
    used = set[tuple[int, int]]()
    trail: list[tuple[int, int]] = []
    left = [iter(rows[0])]
    longer = [False]
    while left:
        state = 0 if not trail else machine.next[trail[-1][0]][trail[-1][1]]
        inp = next((each for each in left[-1] if (state, each) not in used), None)
        if inp is not None:
            longer[-1] = True
            used.add((state, inp))
            trail.append((state, inp))
            word.append(inp)
            left.append(iter(rows[machine.next[state][inp]]))
            longer.append(False)
            continue
        left.pop()
        if not longer.pop() and word:
            yield tuple(word)
        if trail:
            used.discard(trail.pop())
            word.pop()


def a3(machine: NumberedMachine) -> list[Word]:
    """Return paths that take every transition at least twice; the inputs after a transition show where it led."""
    return _covering(machine, 2, lambda _state: ())


def a4(machine: NumberedMachine, check: Callable[[int], Word]) -> list[Word]:
    """Return paths that take every transition; the last inputs of each path check in which state the path ended."""
    return _covering(machine, 1, check)


def _covering(machine: NumberedMachine, times: int, check: Callable[[int], Word]) -> list[Word]:
    # the number of paths depends on the order of the inputs, which the paper does not state
    random, inputs = Random(0), range(len(machine.inputs))
    orders = [inputs, *(random.sample(inputs, len(inputs)) for _ in range(1, ORDERS))]
    found = (list(_first_available(machine, times, check, order)) for order in orders)
    return min(found, key=lambda words: (len(words), sum(map(len, words))))


def _first_available(
    machine: NumberedMachine, times: int, check: Callable[[int], Word], order: Sequence[int]
) -> Iterator[Word]:
    rows = [[inp for inp in order if row[inp] != NOTHING] for row in machine.next]
    used, table = Counter[tuple[int, int]](), neighbours(machine)

    def wanted(state: int) -> int | None:
        return next((inp for inp in rows[state] if used[state, inp] < times), None)

    while (start := next((word for at, word in onward(table, [0]) if wanted(at) is not None), None)) is not None:
        word = list(start)
        state = machine.run(start)[1]
        while (inp := wanted(state)) is not None:
            used[state, inp] += 1
            word.append(inp)
            state = machine.next[state][inp]
        yield (*word, *check(state))
