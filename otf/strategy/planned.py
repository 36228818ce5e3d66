"""Strategies that plan a path: to the nearest untried input, or to a goal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from otf.core import Node, Symbol, View
from otf.strategy.pool import Pool
from otf.strategy.visits import LeastInput, VisitCounts

FAR: Final = 20_000  # states considered for one plan

WantedStep = Callable[[Node], "Symbol | bool"]


@dataclass(slots=True)
class Nearest:
    """Goes the shortest way to a state with an untried input, and tries it; without one, tries the least tried input.

    If the system takes another way than planned, a new way is planned from there.
    """

    pool: Pool
    visits: VisitCounts
    plan: _Plan = field(init=False)

    def __post_init__(self) -> None:
        """Begin without a plan."""
        self.plan = _Plan(self.pool)

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        chosen = self.plan.next(view, lambda node: self._untried(view, node))
        if chosen is None:
            return LeastInput(self.pool, self.visits).choose(view)
        self.visits.note(view, chosen)
        return chosen

    def _untried(self, view: View, node: Node) -> Symbol | bool:
        tried = self.visits.inputs[node]
        fresh = [inp for inp in view.model.enabled_inputs(node) if not tried[inp] and self._may(view, node, inp)]
        return self.pool.random.choice(fresh) if fresh else False

    def _may(self, view: View, node: Node, inp: Symbol) -> bool:
        specified = view.model.specified(node, inp)
        return specified or self.pool.mode in {"all", "mixed"}


@dataclass(slots=True)
class Goal:
    """Goes the shortest way to a goal, and then tries the least tried inputs."""

    pool: Pool
    visits: VisitCounts
    reached: Callable[[Any], bool]
    plan: _Plan = field(init=False)
    done: bool = False

    def __post_init__(self) -> None:
        """Begin without a plan."""
        self.plan = _Plan(self.pool)

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        self.done = self.done or any(self.reached(node.value) for node in view.nodes)
        chosen = None if self.done else self.plan.next(view, lambda node: self.reached(node.value))
        if chosen is None:
            return LeastInput(self.pool, self.visits).choose(view)
        self.visits.note(view, chosen)
        return chosen


@dataclass(slots=True)
class _Plan:
    """The rest of a planned way: inputs, each with the state in which to send it."""

    pool: Pool
    steps: deque[tuple[Node, Symbol]] = field(default_factory=deque[tuple[Node, Symbol]])

    def next(self, view: View, wanted: WantedStep) -> Symbol | None:
        """Return the next input on the way, planned anew if the system left it; None without a way."""
        if not self.steps or self.steps[0][0] not in view.nodes:
            self.steps = next(
                (way for node in view.nodes if (way := _way(view, node, wanted))), deque[tuple[Node, Symbol]]()
            )
        chosen = self.steps.popleft()[1] if self.steps else None
        return chosen if chosen is not None and view.allows(chosen) else None


def _way(view: View, start: Node, wanted: WantedStep) -> deque[tuple[Node, Symbol]]:
    """Return the shortest way to a wanted step, empty if there is none."""
    came: dict[Node, tuple[Node, Symbol] | None] = {start: None}
    queue = deque([start])
    while queue and len(came) < FAR:
        node = queue.popleft()
        found = wanted(node)
        if found is not False:
            last = [(node, found)] if isinstance(found, Symbol) else []
            return deque([*_back(came, node), *last])
        for inp in view.model.enabled_inputs(node):
            for move in view.model.moves(node, inp):
                if isinstance(move.target, Node) and move.target not in came:
                    came[move.target] = (node, inp)
                    queue.append(move.target)
    return deque()


def _back(came: dict[Node, tuple[Node, Symbol] | None], node: Node) -> list[tuple[Node, Symbol]]:
    way: list[tuple[Node, Symbol]] = []
    while (step := came[node]) is not None:
        way.append(step)
        node = step[0]
    return way[::-1]
