"""The cheapest flow that balances a network: shortest augmenting paths, with potentials so that no cost is negative."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

MANY: Final = 1 << 40


@dataclass
class Flow:
    """Arcs between numbered nodes, each with a capacity and a cost; `balance` finds how often each is used."""

    size: int
    heads: list[int] = field(default_factory=list[int])
    room: list[int] = field(default_factory=list[int])
    cost: list[int] = field(default_factory=list[int])
    out: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        """Begin without arcs."""
        self.out = [[] for _ in range(self.size)]

    def arc(self, tail: int, head: int, cost: int, room: int = MANY) -> int:
        """Add an arc and return its number; the next one is its way back."""
        number = len(self.heads)
        for start, end, capacity, price in ((tail, head, room, cost), (head, tail, 0, -cost)):
            self.out[start].append(len(self.heads))
            self.heads.append(end)
            self.room.append(capacity)
            self.cost.append(price)
        return number

    def used(self, arc: int) -> int:
        """Return how often an arc is used."""
        return self.room[arc + 1]

    def balance(self, surplus: list[int]) -> None:
        """Send what is too much at some nodes to where it is missing, as cheaply as can be; there must be ways."""
        left, price = list(surplus), [0] * self.size
        while any(amount > 0 for amount in left):
            reached, came, end = self._nearest(left, price)
            far = reached[end]
            price = [old + min(reached.get(node, far), far) for node, old in enumerate(price)]
            self._push(left, came, end)

    def _nearest(self, left: list[int], price: list[int]) -> tuple[dict[int, int], dict[int, int], int]:
        """Return distances, the arcs by which nodes were reached, and the nearest node where something is missing."""
        queue = [(0, node) for node, amount in enumerate(left) if amount > 0]
        done: dict[int, int] = {}
        best = {node: 0 for _, node in queue}
        came: dict[int, int] = {}
        while True:
            far, node = heappop(queue)
            if node in done:
                continue
            done[node] = far
            if left[node] < 0:
                return done, came, node
            for arc in self.out[node]:
                head = self.heads[arc]
                if not self.room[arc] or head in done:
                    continue
                further = far + self.cost[arc] + price[node] - price[head]
                if further < best.get(head, MANY):
                    best[head] = further
                    came[head] = arc
                    heappush(queue, (further, head))

    def _push(self, left: list[int], came: dict[int, int], end: int) -> None:
        arcs: list[int] = []
        node = end
        while node in came:
            arcs.append(came[node])
            node = self.heads[came[node] ^ 1]
        amount = min(left[node], -left[end], *(self.room[arc] for arc in arcs))
        for arc in arcs:
            self.room[arc] -= amount
            self.room[arc ^ 1] += amount
        left[node] -= amount
        left[end] += amount
