"""A tree of shortest ways: a breadth-first search that is carried on when more of it is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from otf.shrink.issue import ModelStep, NodeSet


class Tree:
    """The shortest ways from a node, found as far as somebody asked, and no further than `most` nodes."""

    def __init__(self, source: NodeSet, steps: Callable[[NodeSet], Iterable[ModelStep]], most: int) -> None:
        self._steps = steps
        self._most = most
        self._into: dict[NodeSet, ModelStep | None] = {source: None}
        self._depth = {source: 0}
        self._order = [source]
        self._todo = deque([source])

    def path(self, target: NodeSet, within: int) -> tuple[ModelStep, ...] | None:
        """Return a shortest way of at most `within` steps, None where none is found."""
        while target not in self._into and self._todo and self._depth[self._todo[0]] < within and self._grow():
            pass
        return self.way(target) if self._depth.get(target, within + 1) <= within else None

    def nodes(self, most: int) -> Iterator[NodeSet]:
        """Yield at most so many nodes, the nearest first."""
        for at in range(most):
            while at >= len(self._order) and self._todo and self._grow():
                pass
            if at >= len(self._order):
                return
            yield self._order[at]

    def way(self, nodes: NodeSet) -> tuple[ModelStep, ...]:
        """Return the way to a node that was found."""
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
