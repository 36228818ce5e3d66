"""What may happen: the moves of a system in a hypothesis. Everything that thinks ahead walks over these, and no others.

A hypothesis takes the input at the head of a queue, or makes a spontaneous move. Moves are made only where an event
needs them: a hypothesis includes everything that the system may still do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from otf.core.hypothesis import PLAIN, Flying, Hypothesis, moved, taken
from otf.core.model import Model
from otf.core.places import UNCONSTRAINED, Midway, Move, Place
from otf.core.queues import queue
from otf.core.windows import UNASKED, Windows
from otf.errors import ModelError
from otf.values import show

Relation = Literal["uioco", "any"]
INTERNAL: Final = 1_000
UNFOLLOWED: Final = 100  # moves in a row of which nothing is kept but a doubt


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept: hypotheses in a set, unasked outputs unseen on one port.

    In between, until quiescence settles what is possible, a set may be five times as large.
    """

    hypotheses: int = 2_000
    unasked: int = 3

    @property
    def most(self) -> int:
        """Return how many hypotheses there may be, as long as quiescence may still settle which are possible."""
        return 5 * self.hypotheses

    @property
    def work(self) -> int:
        """Return how many moves are thought of at most to explain one event: by default about half a second's work."""
        return 5 * self.most


class Next(NamedTuple):
    """A hypothesis after a move; `flying` is the input that was taken, `move` what the model says of it, if it does."""

    then: Hypothesis
    move: Move | None = None
    flying: Flying | None = None
    port: str = ""


@dataclass(slots=True)
class Moves:
    """The moves of a model; without `windows` time leaves everything open.

    `free` are the inputs (by number) that no possible state specifies; `specified` and `unspecified` collect those that
    were found to be so in some state.
    """

    model: Model
    relation: Relation = "uioco"
    limits: Limits = field(default_factory=Limits)
    windows: Windows | None = None
    free: frozenset[int] = frozenset()
    specified: set[int] = field(default_factory=set[int])
    unspecified: set[int] = field(default_factory=set[int])
    alone: bool = field(init=False)

    def __post_init__(self) -> None:
        """Note whether the model makes no spontaneous moves."""
        self.alone = self.model.spec.emits is None

    def of(self, now: Hypothesis) -> list[Next]:
        """Return the moves of a hypothesis, those on inputs first, in the model's order."""
        steps: list[Next] = []
        for port, flying in now.flight:
            steps += self.taking(now, port, flying[0])
        return steps if self.alone and not now.timers and now.spot.__class__ is Place else steps + self.spontaneous(now)

    def taking(self, now: Hypothesis, port: str, flying: Flying, loose: int = 0) -> list[Next]:
        """Return the moves that take the first input in flight on a port; inputs up to `loose` may come before it."""
        spot, windows = now.spot, self.windows
        if spot is UNCONSTRAINED:
            return [Next(taken(now, port), None, flying, port)]
        if not isinstance(spot, Place) or not (windows is None or not now.timers or windows.in_time(now, flying)):
            return []
        moves, number = self.model.moves(spot, flying.symbol), flying.number
        if moves:
            self.specified.add(number)
            after = taken(now, port)
            if windows is None or windows.never(after, moves, loose):
                return [Next(moved(after, move), move, flying, port) for move in moves]
            return [Next(windows.triggered(after, move, number, loose), move, flying, port) for move in moves]
        self.unspecified.add(number)
        if self.relation == "uioco" or number in self.free:
            return [Next(taken(now, port)._replace(spot=UNCONSTRAINED, timers=()), None, flying, port)]
        return []

    def spontaneous(self, now: Hypothesis) -> list[Next]:
        """Return the moves that the system makes by itself."""
        spot = now.spot
        if isinstance(spot, Midway):
            return [Next(self._midway(now, move, unasked=spot.unasked), move) for move in spot.moves]
        if not isinstance(spot, Place) or (self.model.spec.emits is None and not now.timers):
            return []
        if self.windows is None:
            return [Next(moved(now, move, UNASKED), move) for move in self.model.unasked(spot)]
        return list(self._timely(now, spot, self.windows))

    def _timely(self, now: Hypothesis, place: Place, windows: Windows) -> Iterator[Next]:
        timers = {each.name: each for each in now.timers}
        for at, move in enumerate(self.model.unasked(place)):
            timer = timers.get(move.after or at)
            if (timer is None and move.after) or (timer and not windows.open(now, timer.window)):
                continue
            then = windows.unasked(now, move, timer)
            yield Next(self._followed(now, move, then), move)
        for timer in now.timers:
            if isinstance(timer.name, str) and timer.name not in place.expiring and windows.open(now, timer.window):
                yield Next(windows.expired(now, timer))

    def _midway(self, now: Hypothesis, move: Move, *, unasked: bool) -> Hypothesis:
        if self.windows is None:
            return moved(now, move, UNASKED if unasked else PLAIN)
        return self.windows.unasked(now, move, None, unasked=unasked)

    def _followed(self, now: Hypothesis, move: Move, then: Hypothesis) -> Hypothesis:
        full = {port for port in move.ports if self._crowded(now, port)}
        return then._replace(beyond=tuple(sorted(full.union(now.beyond)))) if full else then

    def _crowded(self, now: Hypothesis, port: str) -> bool:
        return sum(owed.unasked for owed in queue(now.owed, port)) >= self.limits.unasked


def endless(then: Hypothesis) -> ModelError:
    """Return the error of a model whose internal steps do not end."""
    where = show(getattr(then.spot, "value", None))
    return ModelError(f"more than {INTERNAL} internal steps in a row, the last into {where}")
