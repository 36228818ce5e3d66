"""Sets of hypotheses: interned, and with a cache of the belief that each event leads to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from otf.core.hypothesis import NEVER, Hypothesis, renumber
from otf.core.memory import Memory, Remembered
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.nodes import UNCONSTRAINED, Midway, Node
from otf.core.view import View

_NUMBER: Final = attrgetter("number")
_DUE: Final = attrgetter("due")
NO_NUMBERS: Final = frozenset((0, NEVER))


class Belief(Remembered):
    """All explanations of what was seen so far.

    `at_rest`: every explanation is a state of the model and nothing more: no output, input or timer is open. `settled`:
    no explanation has outputs outstanding or inputs in flight. A run that has no explanation left does not conform.
    `unconstrained`: every explanation took an unspecified input, so that the
    model allows anything; `done`: and no output is outstanding. `ticking`: in some explanation a window of time obliges
    the system to emit something; `expecting`: that, or every explanation has an output outstanding. `in_flight`: the
    ports with inputs in flight in some explanation. `after`, `silent`, `answered` and `view` cache results that are
    needed again and again and do not change: the belief after each event, and what was found out about the set.
    """

    __slots__ = (
        "after",
        "ahead",
        "answered",
        "at_rest",
        "done",
        "expecting",
        "hypotheses",
        "in_flight",
        "nodes",
        "settled",
        "silent",
        "ticking",
        "timed",
        "unconstrained",
        "view",
    )

    def __init__(self, hypotheses: tuple[Hypothesis, ...]) -> None:
        self.born = 0
        self.recurs = False
        self.hypotheses: tuple[Hypothesis, ...] = hypotheses
        self.settled: bool = True
        self.timed: bool = False
        self.ticking: bool = False
        self.expecting: bool = True
        self.unconstrained: bool = bool(hypotheses)
        self.done: bool = True
        self.in_flight: frozenset[str] = frozenset[str]()
        self._take_all()
        self.after: dict[Hashable, EventResult] = {}
        self.silent: bool | None = None
        self.answered: bool | None = None
        self.view: View | None = None
        # cached by classes that look ahead of a monitor, each under itself
        self.ahead: dict[type, object] = {}

    def _take_all(self) -> None:
        nodes: dict[Node, None] = {}
        busy = 0
        for each in self.hypotheses:
            if isinstance(each.position, Node):
                nodes[each.position] = None
            # only hypotheses with something open need a closer look; mostly there are none
            if each.outstanding or each.flight or each.timers or each.position.__class__ is not Node:
                self._take_open(each)
                busy += 1
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self.at_rest: bool = not busy
        whole = busy == len(self.hypotheses)
        self.expecting = self.ticking or (whole and self.expecting)
        self.unconstrained = whole and self.unconstrained
        self.done = self.done and self.unconstrained

    def _take_open(self, each: Hypothesis) -> None:
        outstanding = bool(each.outstanding)
        self.settled = self.settled and not (outstanding or each.flight or isinstance(each.position, Midway))
        self.timed = self.timed or bool(each.timers) or (outstanding and each.timed)
        self.ticking = self.ticking or bool(each.timers) or (outstanding and each.obliged)
        self.expecting = self.expecting and outstanding and each.expecting
        self.unconstrained = self.unconstrained and each.position is UNCONSTRAINED
        self.done = self.done and not outstanding
        for port, _ in each.flight:
            if port not in self.in_flight:
                self.in_flight = self.in_flight.union((port,))


class EventResult(NamedTuple):
    """The belief after an event, the numbers of the inputs that still matter in it, and the requirements considered.

    `cut` names the ports on which more spontaneous outputs may have been under way than were followed.
    """

    belief: Belief
    kept: tuple[int, ...] = ()
    requirements: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()


class Beliefs:
    """The beliefs of a model, each set of hypotheses once."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory: Memory = Memory() if memory is None else memory
        self._known: dict[frozenset[Hypothesis], Belief] = {}

    def __len__(self) -> int:
        """Return how many beliefs are remembered."""
        return len(self._known)

    def of(self, hypotheses: Iterable[Hypothesis]) -> Belief:
        """Return the belief with these hypotheses, kept in the order in which they were found."""
        found = dict.fromkeys(hypotheses)
        # a set made from a dictionary reuses its hashes
        name = frozenset(found)
        known = self._known.get(name)
        if known is None:
            belief = Belief(tuple(found))
            return self.memory.put(self._known, name, belief, belief)
        self.memory.meet(known)
        return known


def silent(model: Model, belief: Belief) -> bool:
    """Return whether no explanation has an output outstanding or possible, once all inputs in flight are taken."""
    if belief.silent is None:
        found = True
        for now in Moves(model).takings(belief.hypotheses[::-1]):
            speaks = not model.alone and isinstance(now.position, Node) and model.spontaneous(now.position)
            if now.outstanding or speaks or not isinstance(now.position, Node):
                found = False
                break
        belief.silent = found
    return belief.silent


def renumber_inputs(found: Iterable[Hypothesis]) -> tuple[Iterable[Hypothesis], tuple[int, ...]]:
    """Return the hypotheses with the relevant inputs renumbered from 1, and their former numbers.

    Only the order of the numbers matters. Without this every step would be new, and nothing could be remembered.
    """
    # `set[int]()` takes ten times as long as `set()`
    numbers: set[int] = set()
    held = False
    for each in found:
        for _, flight in each.flight:
            numbers.update(map(_NUMBER, flight))
        for _, outputs in each.outstanding:
            # those by which an output is due, and that of an `Accept`
            numbers.update(map(_DUE, outputs), map(_NUMBER, outputs))
        if each.held:
            held = True
    kept = tuple(sorted(numbers - NO_NUMBERS))
    # distinct numbers from 1 on: if the last equals the count, none is missing
    if (not kept or kept[-1] == len(kept)) and not held:
        return found, kept
    return dict.fromkeys(renumber(each, kept) for each in found), kept
