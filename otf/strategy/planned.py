"""Strategies that plan a path: to the nearest untried input, to a goal, or to what changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from otf.core import FEW, Chooser, Node, Symbol, View
from otf.strategy.least import LeastInput
from otf.strategy.pool import DRAWN, ChangedFirst, PlanPatience, Pool, VisitCounts

FAR: Final = 20_000  # states to consider for one plan
REPLANNED: Final = 3  # how often a path replans its way to a changed transition

WantedStep = Callable[[Node], "Symbol | bool"]


@dataclass(slots=True)
class _Plan:
    """The rest of a planned way: inputs, each with the state to send it in.

    `left` counts how often the system left a way since the last completed one.
    """

    steps: deque[tuple[Node, Symbol]] = field(default_factory=deque[tuple[Node, Symbol]])
    left: int = 0

    def next(self, view: View, wanted: WantedStep, patience: PlanPatience) -> Symbol | None:
        """Return the next input on the way, replanned if the system left it; None without a way."""
        if not self.steps or self.steps[0][0] not in view.nodes:
            over = patience()
            self.left = self.left + 1 if self.steps else 0
            self.steps = next(
                (way for node in view.nodes if (way := _way(view, node, wanted, over))), deque[tuple[Node, Symbol]]()
            )
        chosen = self.steps.popleft()[1] if self.steps else None
        return chosen if chosen is not None and view.allows(chosen) else None


@dataclass(slots=True)
class Nearest:
    """Takes the shortest way to a state with an untried input, and sends it; without one, sends the least tried input.

    If the system takes another way, it plans a new one from there.
    """

    pool: Pool
    visits: VisitCounts
    plan: _Plan = field(default_factory=_Plan)

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        chosen = self.plan.next(view, lambda node: self._untried(view, node), self.pool.patience)
        if chosen is None:
            return LeastInput(self.pool, self.visits).choose(view)
        self.visits.note(view, chosen)
        return chosen

    def _untried(self, view: View, node: Node) -> Symbol | bool:
        tried, over = self.visits.inputs[view.model.place(node)].get, self.pool.patience()
        enabled, random = view.model.offered(node), self.pool.random
        for _ in range(DRAWN if enabled.size > FEW else 0):
            inp = enabled.at(int(random.random() * enabled.size))
            if not tried(inp) and self._may(view, node, inp):
                return inp
        fresh: list[Symbol] = []
        for inp in view.model.enabled_inputs(node):
            if not tried(inp) and self._may(view, node, inp):
                fresh.append(inp)
            if over():
                break
        return random.choice(fresh) if fresh else False

    def _may(self, view: View, node: Node, inp: Symbol) -> bool:
        specified = view.model.specified(node, inp)
        return specified or self.pool.mode in {"all", "mixed"}


@dataclass(slots=True)
class Goal:
    """Takes the shortest way to a goal, and then chooses the least tried inputs."""

    pool: Pool
    visits: VisitCounts
    reached: Callable[[Any], bool]
    plan: _Plan = field(default_factory=_Plan)
    done: bool = False

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        self.done = self.done or any(self.reached(node.value) for node in view.nodes)
        chosen = None if self.done else self.plan.next(view, lambda node: self.reached(node.value), self.pool.patience)
        if chosen is None:
            return LeastInput(self.pool, self.visits).choose(view)
        self.visits.note(view, chosen)
        return chosen


@dataclass(slots=True)
class ToChanged:
    """Goes to the nearest changed transition while there is one, then chooses like another chooser."""

    chooser: Chooser
    pool: Pool
    visits: VisitCounts
    changed: ChangedFirst
    plan: _Plan = field(default_factory=_Plan)
    over: bool = False

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        chosen = None if self.over else self._planned(view)
        if chosen is None:
            self.over = True
            return self.chooser.choose(view)
        self.visits.note(view, chosen)
        return chosen

    def _planned(self, view: View) -> Symbol | None:
        if not self.changed.left or self.plan.left > REPLANNED:
            return None
        return self.plan.next(view, lambda node: self._untried(view, node), self.pool.patience)

    def _untried(self, view: View, node: Node) -> Symbol | bool:
        found = self.changed.untried(view, self.visits, node)
        return self.pool.random.choice(found) if found else False


def _way(view: View, start: Node, wanted: WantedStep, over: Callable[[], bool]) -> deque[tuple[Node, Symbol]]:
    """Return the shortest way to a wanted step; empty if there is none, or if the search is `over` first."""
    came: dict[Node, tuple[Node, Symbol] | None] = {start: None}
    queue = deque([start])
    while queue and len(came) < FAR:
        node = queue.popleft()
        found = wanted(node)
        if found is not False:
            last = [(node, found)] if isinstance(found, Symbol) else []
            return deque([*_back(came, node), *last])
        for inp in view.model.enabled_inputs(node):
            if over():
                return deque()
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
