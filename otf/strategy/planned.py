"""Strategies that plan a way: to the nearest input that was not tried, or to a goal."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from otf.core import Place, Symbol, View
from otf.strategy.pool import Pool
from otf.strategy.visits import LeastInput, Visits

FAR: Final = 20_000  # states looked at for one plan

Wanted = Callable[[Place], "Symbol | bool"]


@dataclass(slots=True)
class Nearest:
    """Goes the shortest way to a state where something was not tried, and tries it; then the least tried input.

    Where the system chooses another way than was planned, a new way is planned from there.
    """

    pool: Pool
    visits: Visits
    plan: _Plan = field(init=False)

    def __post_init__(self) -> None:
        """Begin without a plan."""
        self.plan = _Plan(self.pool)

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where nothing may be offered."""
        chosen = self.plan.next(view, lambda place: self._untried(view, place))
        if chosen is None:
            return LeastInput(self.pool, self.visits).choose(view)
        self.visits.note(view, chosen)
        return chosen

    def _untried(self, view: View, place: Place) -> Symbol | bool:
        tried = self.visits.inputs[place]
        fresh = [inp for inp in view.model.offers(place) if not tried[inp] and self._may(view, place, inp)]
        return self.pool.random.choice(fresh) if fresh else False

    def _may(self, view: View, place: Place, inp: Symbol) -> bool:
        specified = view.model.specified(place, inp)
        return specified or self.pool.mode in {"all", "mixed"}


@dataclass(slots=True)
class Goal:
    """Goes the shortest way to a goal, and from there on tries what was tried least."""

    pool: Pool
    visits: Visits
    reached: Callable[[Any], bool]
    plan: _Plan = field(init=False)
    done: bool = False

    def __post_init__(self) -> None:
        """Begin without a plan."""
        self.plan = _Plan(self.pool)

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None where nothing may be offered."""
        self.done = self.done or any(self.reached(place.value) for place in view.places)
        chosen = None if self.done else self.plan.next(view, lambda place: self.reached(place.value))
        if chosen is None:
            return LeastInput(self.pool, self.visits).choose(view)
        self.visits.note(view, chosen)
        return chosen


@dataclass(slots=True)
class _Plan:
    """The rest of a planned way: inputs, each with the state in which it is to be sent."""

    pool: Pool
    steps: deque[tuple[Place, Symbol]] = field(default_factory=deque[tuple[Place, Symbol]])

    def next(self, view: View, wanted: Wanted) -> Symbol | None:
        """Return the next input on the way, planned anew where the system went another one; None without a way."""
        if not self.steps or self.steps[0][0] not in view.places:
            self.steps = next(
                (way for place in view.places if (way := _way(view, place, wanted))), deque[tuple[Place, Symbol]]()
            )
        chosen = self.steps.popleft()[1] if self.steps else None
        return chosen if chosen is not None and view.allows(chosen) else None


def _way(view: View, start: Place, wanted: Wanted) -> deque[tuple[Place, Symbol]]:
    """Return the shortest way to what is wanted, empty where there is none."""
    came: dict[Place, tuple[Place, Symbol] | None] = {start: None}
    queue = deque([start])
    while queue and len(came) < FAR:
        place = queue.popleft()
        found = wanted(place)
        if found is not False:
            last = [(place, found)] if isinstance(found, Symbol) else []
            return deque([*_back(came, place), *last])
        for inp in view.model.offers(place):
            for move in view.model.moves(place, inp):
                if isinstance(move.target, Place) and move.target not in came:
                    came[move.target] = (place, inp)
                    queue.append(move.target)
    return deque()


def _back(came: dict[Place, tuple[Place, Symbol] | None], place: Place) -> list[tuple[Place, Symbol]]:
    way: list[tuple[Place, Symbol]] = []
    while (step := came[place]) is not None:
        way.append(step)
        place = step[0]
    return way[::-1]
