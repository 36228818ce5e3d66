"""Ways through waits: to untried inputs in states that only timers reach.

A tester that always sends at once seldom gets there: a chain of timers leads to such a state, and almost any input
leads out again. So otf plans a way in seconds, over inputs and expiring timers, and then sends one untried input after
another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.nodes import FEW, Move, Node
from otf.core.timing import FOREVER

STEP: Final = 0.01  # assumed seconds per input
PLANNED: Final = 200  # states considered for one way
MANY: Final = 1_000_000  # more often than any input is tried
NOTED: Final = 10_000  # states that inputs alone reach; with more, none counts as reached only by timers

TimerName: TypeAlias = str | int | None
SecondsLeft: TypeAlias = Mapping[TimerName, float]
"""The running timers, each with the seconds until it will have expired."""
Tried: TypeAlias = Mapping[Node, Mapping[Symbol, int]]
"""How often inputs were tried in states without their counters."""


TimerEnd: TypeAlias = tuple[Hashable, ...]
"""What an expired timer brought: its outputs as text, or the timer itself if it has none."""


class WayStep(NamedTuple):
    """A step of a way: from a state by an input or, without one, by the expiry of a timer after `seconds`."""

    node: Node
    inp: Symbol | None
    timer: TimerName = None
    seconds: float = 0.0


_Spot: TypeAlias = "tuple[Node, TimerEnd | None]"
_CameFrom: TypeAlias = "tuple[_Spot, WayStep] | None"
"""The state before, and the step from there; None: a way begins here."""


class _Point(NamedTuple):
    """A state on the ways considered. `ended`: what the expired timer brought that led there, if one did."""

    node: Node
    ended: TimerEnd | None
    left: SecondsLeft


@dataclass(slots=True)
class TimedWays:
    """Plans ways; share it among the paths of a campaign.

    `told` holds the states that inputs alone reached on any path.

    The first choice is the input sent least often after what the expired timer brought, whatever the state, since
    fields that never matter multiply the states. Of equal inputs, it takes the one tried least in the state, then the
    one reached soonest.
    """

    tried: Tried
    told: dict[tuple[Hashable, ...], int]
    _near: int = 0
    _ended: TimerEnd | None = None
    _turn: int = 0
    _legs: deque[WayStep] = field(default_factory=deque[WayStep])

    def begin(self) -> None:
        """Begin a path."""
        self._ended = None
        self._legs.clear()

    def note(self, model: Model, nodes: Iterable[Node], before: Sequence[Node], inp: Symbol) -> None:
        """Note that the system is in one of `nodes` now, and was in one of `before` at the last input."""
        if self._ended is not None:
            name = "ended", *self._ended, inp
            self.told[name] = self.told.get(name, 0) + 1
        by_input = [move.target for node in before for move in model.moves(node, inp)]
        if not {*by_input}.issuperset(nodes):
            self._ended = _what_ended(model, [*by_input, *before], nodes) or self._ended
        for place in map(model.place, nodes):
            if not self._is_far(place):
                self._ended = None
            elif self._ended is None:
                self.told["near", place] = 1
                self._near += 1

    def _is_far(self, place: Node) -> bool:
        return self._near < NOTED and ("near", place) not in self.told

    def next(self, model: Model, node: Node, left: SecondsLeft, *, plans: bool) -> WayStep | None:
        """Return the next step of the way, or None.

        Unless it `plans`, only one already planned, or possible right here.
        """
        if not self._legs or self._legs[0].node is not node:
            self._legs.clear()
            here = None if self._ended is None else self._untried(model, node)
            if here is not None:
                self._legs.append(WayStep(node, here))
            elif plans:
                self._legs.extend(self._planned(model, _Point(node, self._ended, left)))
        return self._legs[0] if self._legs else None

    def gone(self) -> None:
        """Note that the step was made."""
        self._legs.popleft()

    @property
    def waits(self) -> float:
        """Return how many seconds the waits on the way take."""
        return sum(leg.seconds for leg in self._legs)

    def _planned(self, model: Model, start: _Point) -> list[WayStep]:
        """Return the way to the least tried input that only timers lead to."""
        order, came, found = count(), dict[_Spot, _CameFrom](), list[WayStep]()
        best: tuple[int, ...] = (MANY,)
        queue: list[tuple[float, int, _Point, _CameFrom]] = [(0.0, next(order), start, None)]
        while queue and any(best[:2]) and len(came) < PLANNED:
            cost, _, point, last = heappop(queue)
            here = point.node, point.ended
            if here in came:
                continue
            came[here] = last
            least = None if point.ended is None else self._least(model, point.node, point.ended)
            if least is not None and least[0] < best:
                best, found = least[0], [*_back(came, here), WayStep(point.node, least[1])]
            for leg, target in _steps(model, point):
                then = target if self._is_far(model.place(target.node)) else target._replace(ended=None)
                if (then.node, then.ended) not in came:
                    heappush(queue, (cost + (leg.seconds or STEP), next(order), then, (here, leg)))
        return found

    def _untried(self, model: Model, node: Node) -> Symbol | None:
        """Return an input never tried in a state, of those that leave the timers alone, so that others can follow."""
        tried, inputs = self.tried[model.place(node)], self._specified(model, node)
        return next((inp for inp in inputs if not (tried.get(inp) or _ends(model, node, inp))), None)

    def _least(self, model: Model, node: Node, ended: TimerEnd) -> tuple[tuple[int, ...], Symbol] | None:
        """Return the input to try first in a state, and its rank."""
        tried, found = self.tried[model.place(node)], self._specified(model, node)
        after = (self.told.get(("ended", *ended, inp), 0).bit_length() for inp in found)
        ranks = [(sent, tried.get(inp, 0), _ends(model, node, inp)) for sent, inp in zip(after, found, strict=True)]
        least = min(ranks, default=None)
        return None if least is None else (least, found[ranks.index(least)])

    def _specified(self, model: Model, node: Node) -> list[Symbol]:
        """Return the inputs of a state, starting from another one each time; none if there are many."""
        enabled = model.offered(node)
        if not 0 < enabled.size <= FEW:
            return []
        self._turn += 1
        at = self._turn % enabled.size
        return [inp for inp in (*enabled.all[at:], *enabled.all[:at]) if model.specified(node, inp)]


def _what_ended(model: Model, before: Iterable[object], nodes: Iterable[Node]) -> TimerEnd | None:
    """Return what the expired timer brought that led to one of the nodes, or None."""
    now = {*nodes}
    found = (
        _brought(move)
        for node in before
        if isinstance(node, Node)
        for move in model.spontaneous(node)
        if move.target in now
    )
    return next(found, None)


def _brought(move: Move) -> TimerEnd:
    return move.texts or (move.after,)


def _ends(model: Model, node: Node, inp: Symbol) -> bool:
    """Return whether an input may start or stop a timer."""
    return any(move.starts or move.stops for move in model.moves(node, inp))


def _back(came: Mapping[_Spot, _CameFrom], here: _Spot) -> list[WayStep]:
    legs = list[WayStep]()
    while (last := came[here]) is not None:
        here, leg = last
        legs.append(leg)
    return legs[::-1]


def _steps(model: Model, point: _Point) -> Iterator[tuple[WayStep, _Point]]:
    """Yield the steps from a state and where they lead: inputs, and the timer that expires first."""
    node, left = point.node, point.left
    enabled = model.offered(node)
    for inp in enabled.all if enabled.size <= FEW else ():
        if model.specified(node, inp):
            for move in model.moves(node, inp):
                if isinstance(move.target, Node):
                    yield WayStep(node, inp), _Point(move.target, point.ended, _after(model, node, move, left))
    running = {name: seconds for name, seconds in left.items() if _moves(model, node, name)}
    if running:
        first = min(running, key=running.__getitem__)
        took = running[first]
        rest = {name: seconds for name, seconds in left.items() if name != first}
        for move in _moves(model, node, first):
            if isinstance(move.target, Node):
                then = _after(model, node, move, rest, took)
                yield WayStep(node, None, first, took), _Point(move.target, _brought(move), then)


def _moves(model: Model, node: Node, timer: TimerName) -> list[Move]:
    """Return the moves of an expired timer in a state."""
    return [move for at, move in enumerate(model.spontaneous(node)) if timer == (move.after or at)]


def _after(model: Model, node: Node, move: Move, left: SecondsLeft, took: float = 0.0) -> dict[TimerName, float]:
    """Return the timers that run after a move that took `took` seconds; an input takes no time here."""
    then = {name: max(0.0, seconds - took) for name, seconds in left.items() if name not in move.stops}
    then |= {each.name: each.hi for each in move.starts}
    target = move.target
    if isinstance(target, Node) and target is not node:
        then = {name: seconds for name, seconds in then.items() if not isinstance(name, int)}
        model.spontaneous(target)
        then |= {at: hi for at, _, hi in target.windows if hi < FOREVER}
    return then
