"""Sets of hypotheses: interned, and with a memory of where each event led."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final, NamedTuple

from otf.core.hypothesis import UNCONSTRAINED, Hypothesis, renumbered
from otf.core.places import Place

REMEMBERED: Final = 300_000  # hypotheses and steps between beliefs


class Belief:
    """All explanations of what was seen so far.

    `after` remembers the belief that an event led to. `settled` tells that nothing is owed or in flight in any
    explanation, `sure` that one is not a mere doubt; without any, there is nonconformance. `unconstrained`: the model
    says nothing any more, since every explanation took an unspecified input; `done`: nothing is owed besides.
    `owing`: something is owed in every explanation; `flying`: the ports with inputs in flight in some explanation.
    """

    __slots__ = (
        "after",
        "calm",
        "done",
        "flying",
        "hypotheses",
        "known",
        "offered",
        "owing",
        "places",
        "settled",
        "sure",
        "unconstrained",
        "ways",
    )

    def __init__(self, hypotheses: tuple[Hypothesis, ...]) -> None:
        self.hypotheses: tuple[Hypothesis, ...] = hypotheses
        self.places: tuple[Place, ...] = tuple(
            dict.fromkeys(each.spot for each in hypotheses if isinstance(each.spot, Place))
        )
        self.settled: bool = all(each.settled for each in hypotheses)
        self.sure: bool = any(not each.beyond for each in hypotheses)
        self.unconstrained: bool = bool(hypotheses) and all(each.spot is UNCONSTRAINED for each in hypotheses)
        self.done: bool = self.unconstrained and not any(each.owed for each in hypotheses)
        self.owing: bool = all(each.owed for each in hypotheses)
        self.flying: frozenset[str] = frozenset(port for each in hypotheses for port, _ in each.flight)
        self.after: dict[Hashable, Led] = {}
        # what others found out about this set: each is asked again and again, and does not change
        self.calm: bool | None = None
        self.offered: Any = None
        self.ways: Any = None
        self.known: Any = None


class Led(NamedTuple):
    """Where an event led: the belief, and the numbers of the inputs that still matter in it."""

    belief: Belief
    kept: tuple[int, ...] = ()


class Beliefs:
    """The beliefs of a model, each set once; bounded, forgotten as a whole when there are too many."""

    def __init__(self) -> None:
        self._known: dict[frozenset[Hypothesis], Belief] = {}
        self._size = 0

    def __len__(self) -> int:
        """Return how many are remembered."""
        return len(self._known)

    def of(self, found: Iterable[Hypothesis]) -> Belief:
        """Return the belief with these hypotheses; the order in which they were found first is kept."""
        hypotheses = tuple(dict.fromkeys(found))
        name = frozenset(hypotheses)
        belief = self._known.get(name)
        if belief is None:
            self._make_room(1 + len(hypotheses))
            belief = self._known[name] = Belief(hypotheses)
        return belief

    def remember(self, before: Belief, event: Hashable, led: Led) -> None:
        """Remember where an event led."""
        self._make_room(1)
        before.after[event] = led

    def count(self) -> None:
        """Take that something else was found out about a belief, and is remembered with it."""
        self._make_room(1)

    def _make_room(self, more: int) -> None:
        self._size += more
        if self._size > REMEMBERED:
            # beliefs refer to each other through `after`: dropping half of them would keep the others alive
            for belief in self._known.values():
                belief.after.clear()
                belief.known = None
            self._known.clear()
            self._size = more


def counted(found: list[Hypothesis]) -> tuple[list[Hypothesis], tuple[int, ...]]:
    """Return the hypotheses with the inputs that still matter numbered from 1, and which these were.

    Numbers tell only who came before whom: without this every step would be new, and nothing could be remembered.
    """
    kept = tuple(sorted(set[int]().union(*(each.numbers for each in found))))
    ranks = {number: rank for rank, number in enumerate(kept, 1)}
    if all(number == rank for number, rank in ranks.items()):
        return found, kept
    return [renumbered(each, ranks) for each in found], kept
