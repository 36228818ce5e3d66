"""What lanes know of each other: the number of a path fixes it, so a path driven again knows the same.

The paths that lanes drive at the same time are a *round*: with n lanes, round 0 has the paths 1 to n. A path knows all
rounds but the last few, and of those the paths of its own lane. So it never depends on which copy of a system or which
worker was faster. The price: a lane waits when it gets too many rounds ahead of the slowest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final

import anyio
import msgspec

from otf.campaign.journal_lines import Knowledge
from otf.campaign.journal_reader import Past
from otf.campaign.lane_memory import Layer

LAG: Final = 8
"""Rounds that a lane may be ahead. In simulation, with exponentially distributed path lengths, 16 lanes with 8 rounds
work 84 % of the time, and with 4 rounds 76 %. Without waiting it is 85 %."""


class Known(msgspec.Struct, omit_defaults=True):
    """What a path knows: `upto` is the last round that it knows completely, -1 for none; `own` is from its own lane.

    `rounds` holds those that a process may lack. `base` sums up the rounds up to `since`, for one that lacks more. All
    paths under way or later know at least the rounds up to `floor`. `alone`: the only lane, in one process for the
    whole campaign, remembers by itself; `own` is what an earlier campaign left.
    """

    upto: int = -1
    floor: int = -1
    own: Knowledge = msgspec.field(default_factory=Knowledge)
    rounds: dict[int, Knowledge] = {}
    since: int = -1
    base: Knowledge | None = None
    alone: bool = False


class Merged:
    """What counted paths learned, as the campaign keeps it: it gives each path what that may know.

    `remote`: processes that may die drive the paths, and a new one gets all of it.
    """

    def __init__(self, lanes: int, past: Past, *, remote: bool) -> None:
        self._lanes, self._remote = lanes, remote
        # a path driven again knows the paths before it, as it did then, but not those after it
        self._alone = lanes == 1 and not remote and max(past.counted, default=0) == len(past.counted)
        self._moved = anyio.Event()
        self._over = False
        self._paths: dict[int, Knowledge] = {}
        self._rounds: dict[int, Knowledge] = {}
        self._base: Layer | None = None
        self._complete = 0  # the first round that lacks a path
        self._since = -1
        if self._alone:
            self._left = Known(own=past.knowledge(past.counted), alone=True)
        else:
            self._begin(past)

    def _begin(self, past: Past) -> None:
        first = next(number for number in count(1) if number not in past.counted)
        self._complete = (first - 1) // self._lanes
        self._since = self._floor - LAG
        summed = (self._since + 1) * self._lanes
        self._base = Layer(past.knowledge(range(1, summed + 1)))
        self._paths = {number: past.knowledge([number]) for number in past.counted if number > summed}
        self._rounds = {at: self._sum(at) for at in range(max(0, self._since + 1), self._complete)}

    @property
    def _floor(self) -> int:
        """Return the last round that every path under way or later knows."""
        return self._complete - 1 - LAG

    def add(self, number: int, learned: Knowledge) -> None:
        """Add what a counted path learned."""
        if self._alone:
            return
        self._paths[number] = learned
        while all(each in self._paths for each in self._numbers(self._complete)):
            self._rounds[self._complete] = self._sum(self._complete)
            self._complete += 1
            self._forget()
            self._moved.set()
            self._moved = anyio.Event()

    def end(self) -> None:
        """Wake waiting lanes: some path will never count."""
        self._over = True
        self._moved.set()

    def go_on(self) -> None:
        """Let lanes wait again: the remaining paths are driven after all."""
        self._over = False

    async def known(self, number: int) -> Known | None:
        """Wait for what a path knows, and return it; None if it will never be complete."""
        if self._alone:
            left, self._left = self._left, Known(alone=True)
            return left
        at, lane = divmod(number - 1, self._lanes)
        upto = at - 1 - LAG
        while upto >= self._complete and not self._over:
            await self._moved.wait()
        if upto >= self._complete:
            return None
        recent = (each * self._lanes + lane + 1 for each in range(max(0, upto + 1), at))
        own = _sum_of(self._paths[each] for each in recent if each in self._paths)
        rounds = {each: self._rounds[each] for each in range(upto - LAG, upto + 1) if each in self._rounds}
        known = Known(max(upto, -1), self._floor, own, rounds)
        if self._remote or self._base is None:
            return known
        # only this process exists, and it lacks this once
        known, self._base = self.whole(known), None
        return known

    def whole(self, known: Known) -> Known:
        """Return the same with everything that a new process needs."""
        rounds = {at: learned for at, learned in self._rounds.items() if at <= known.upto}
        base = None if self._base is None else self._base.knowledge()
        return Known(known.upto, known.floor, known.own, rounds, self._since, base)

    def reach(self, number: int) -> int:
        """Return the number up to which a path knows all paths."""
        return number - 1 if self._lanes == 1 else max(0, (number - 1) // self._lanes - LAG) * self._lanes

    def _forget(self) -> None:
        """Drop results that no path needs any more; merge rounds that all but new workers have into the base."""
        for number in self._numbers(self._floor):
            self._paths.pop(number, None)
        self._since = self._floor - LAG
        learned = self._rounds.pop(self._since, None)
        if learned is not None and self._base is not None:
            self._base.add(learned)

    def _sum(self, at: int) -> Knowledge:
        return _sum_of(self._paths[number] for number in self._numbers(at))

    def _numbers(self, at: int) -> range:
        return range(at * self._lanes + 1, (at + 1) * self._lanes + 1)


class Rounds:
    """The rounds that one process knows: those known to all its paths are one layer, each later one its own.

    >>> rounds = Rounds()
    >>> rounds.take(Known(0, -1, rounds={0: Knowledge({"a b": 1})}))
    True
    >>> [layer.states for layer in rounds.layers(Known(0))]
    [{}, {'a': 1}, {}]
    """

    def __init__(self) -> None:
        self._base = Layer()
        self._since = -1
        self._later: dict[int, Layer] = {}
        self.folded: int = 0

    def take(self, known: Known) -> bool:
        """Take the rounds that a path knows; return False if some are missing."""
        if known.base is not None and known.since > self._last:
            self._base, self._since = Layer(known.base), known.since
            self._later.clear()
            self.folded += 1
        for at in sorted(known.rounds):
            if at == self._last + 1:
                self._later[at] = Layer(known.rounds[at])
        while self._since < min(known.floor, self._last):
            self._since += 1
            self._base.add(self._later.pop(self._since).knowledge())
            self.folded += 1
        return self._last >= known.upto

    @property
    def _last(self) -> int:
        return self._since + len(self._later)

    def layers(self, known: Known) -> Iterable[Layer]:
        """Return what a path knows, which stays the same while rounds move into the base."""
        return _PathLayers(self, known.upto, Layer(known.own))

    def up_to(self, last: int) -> Sequence[Layer]:
        """Return the layers of the rounds up to `last`."""
        return [self._base, *(layer for at, layer in self._later.items() if at <= last)]


class _PathLayers(Iterable[Layer]):
    """The layers that one path sees; they change when some of them move into the base."""

    def __init__(self, rounds: Rounds, upto: int, own: Layer) -> None:
        self._rounds, self._upto, self._own = rounds, upto, own
        self._folded, self._found = -1, list[Layer]()

    def __iter__(self) -> Iterator[Layer]:
        if self._folded != self._rounds.folded:
            self._folded, self._found = self._rounds.folded, [*self._rounds.up_to(self._upto), self._own]
        return iter(self._found)


def _sum_of(learned: Iterable[Knowledge]) -> Knowledge:
    found = Knowledge()
    for each in learned:
        found.add(each)
    return found
