"""What otf knows of a run: its possible states, as interned sets of hypotheses, and the times of its inputs.

A belief caches the beliefs that each event leads to. A ledger records when each input was sent, and bounds when it was
taken and dealt with.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from otf.core.hypothesis import NEVER, Hypothesis, renumber
from otf.core.memory import Memory, Remembered
from otf.core.model import Model
from otf.core.moves import Moves
from otf.core.nodes import UNCONSTRAINED, Midway, Node
from otf.core.timing import FOREVER, Span, Timing, is_later
from otf.core.view import View
from otf.trace.events import Closed, Quiet, Seen, Sent, Stalled

_NUMBER: Final = attrgetter("number")
_DUE: Final = attrgetter("due")
_PORT: Final = itemgetter(0)
SPAN: Final = attrgetter("span")
NO_NUMBERS: Final = frozenset((0, NEVER))
LONG: Final = 1_000  # outputs after which a step ends for a device that never stops talking, if all is settled


class Belief(Remembered):
    """All explanations of what was seen so far; a run without any does not conform.

    `at_rest`: every explanation is a state of the model and nothing more, with no output, input or timer open.
    `settled`: no explanation has outputs outstanding or inputs in flight. `unconstrained`: every explanation took an
    unspecified input, so the model allows anything. `done`: the same, with no output outstanding. `ticking`: in some
    explanation a time window obliges the system to emit something. `expecting`: the same, or every explanation has an
    output outstanding. `in_flight`: the ports with inputs in flight in some explanation. `after`, `silent`, `answered`
    and `view` cache results that do not change: the belief after each event, and facts about the set.
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
        # results of classes that look ahead of a monitor, cached by class
        self.ahead: dict[type, object] = {}

    def _take_all(self) -> None:
        nodes: dict[Node, None] = {}
        busy = 0
        for each in self.hypotheses:
            if isinstance(each.position, Node):
                nodes[each.position] = None
            outstanding = bool(each.outstanding)
            # only hypotheses with something open need a closer look; usually there are none
            if outstanding or each.flight or each.timers or each.position.__class__ is not Node:
                busy += 1
                self.settled = self.settled and not (outstanding or each.flight or isinstance(each.position, Midway))
                self.timed = self.timed or bool(each.timers) or (outstanding and each.timed)
                self.ticking = self.ticking or bool(each.timers) or (outstanding and each.obliged)
                self.expecting = self.expecting and outstanding and each.expecting
                self.unconstrained = self.unconstrained and each.position is UNCONSTRAINED
                self.done = self.done and not outstanding
                self.in_flight = self.in_flight.union(map(_PORT, each.flight))
        self.nodes: tuple[Node, ...] = tuple(nodes)
        self.at_rest: bool = not busy
        whole = busy == len(self.hypotheses)
        self.expecting = self.ticking or (whole and self.expecting)
        self.unconstrained = whole and self.unconstrained
        self.done = self.done and self.unconstrained


class EventResult(NamedTuple):
    """The belief after an event, the numbers of the inputs that still matter in it, and the requirements considered.

    `cut` names the ports on which more spontaneous outputs may have been in flight than were followed.
    """

    belief: Belief
    kept: tuple[int, ...] = ()
    requirements: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()


class Beliefs:
    """The beliefs of a model: one for each set of hypotheses."""

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory: Memory = Memory() if memory is None else memory
        self._known: dict[frozenset[Hypothesis], Belief] = {}

    def __len__(self) -> int:
        """Return how many beliefs are remembered."""
        return len(self._known)

    def of(self, hypotheses: Iterable[Hypothesis]) -> Belief:
        """Return the belief with these hypotheses, in the order in which they were found."""
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
    """Renumber the inputs that matter from 1; return the hypotheses and the former numbers.

    Only the order of the numbers matters. Otherwise every step would be new, and nothing could be cached.
    """
    # `set[int]()` takes ten times as long as `set()`
    numbers: set[int] = set()
    held = False
    for each in found:
        for _, flight in each.flight:
            numbers.update(map(_NUMBER, flight))
        for _, outputs in each.outstanding:
            # the numbers by which outputs are due, and that of an `Accept`
            numbers.update(map(_DUE, outputs), map(_NUMBER, outputs))
        if each.held:
            held = True
    kept = tuple(sorted(numbers - NO_NUMBERS))
    # distinct numbers from 1: if the last equals the count, none is missing
    if (not kept or kept[-1] == len(kept)) and not held:
        return found, kept
    return dict.fromkeys(renumber(each, kept) for each in found), kept


class InFlight(NamedTuple):
    """An input that may not have been taken: its number in the run, its port, and when it may be taken."""

    number: int
    port: str
    span: Span


class Ledger(NamedTuple):
    """Facts about the inputs of a run. A ledger never changes; each event replaces it.

    `inputs` are those that a belief still refers to by numbers from 1. `taken_by` and `done_by` bound when the last
    input was taken and when all were dealt with, in seconds since the start of the run.
    """

    inputs: tuple[InFlight, ...] = ()
    sent: int = 0
    taken_by: float = -FOREVER
    done_by: float = -FOREVER

    @property
    def unproven(self) -> int:
        """Return how many inputs are not proven taken, including those after the first of them."""
        return self.sent - self.inputs[0].number + 1 if self.inputs else 0

    def then(self, event: Sent, timing: Timing) -> Ledger:
        """Return the ledger with one more input, taken once it has arrived and those before it are dealt with."""
        # The system may have received it at once, or only when all of it was handed over. Bounds are only added to:
        # after subtracting R, rounding might leave less than the input takes to arrive.
        taken = max(event.at + event.took + timing.latency, self.done_by)
        done, number = taken + timing.busy, self.sent + 1
        # the system may take an input on another port first
        before = self.inputs and [
            each
            if each.port == event.port or is_later(event.at, each.span.b)
            else each._replace(span=Span(each.span.a, each.span.b + timing.busy))
            for each in self.inputs
        ]
        return Ledger((*before, InFlight(number, event.port, Span(event.at, taken))), number, taken, done)

    def keep(self, ranks: tuple[int, ...], over: float) -> Ledger:
        """Return the ledger with only the inputs that still matter, by their numbers in a belief.

        If none matters, all were dealt with by the time `over`.
        """
        if not ranks:
            done = min(self.done_by, over)
            return Ledger((), self.sent, self.taken_by, done) if self.inputs or done < self.done_by else self
        if len(ranks) == len(self.inputs):
            return self
        # built by hand, since `_replace` takes four times as long, and nearly every output needs this
        inputs = tuple([self.inputs[rank - 1] for rank in ranks])
        return Ledger(inputs, self.sent, self.taken_by, self.done_by)

    def finish(self, event: Quiet, busy: float) -> Ledger:
        """Return the ledger once all inputs were dealt with."""
        if event.by == "barrier":
            # the system may still be busy with its last ping
            return Ledger(self.inputs, self.sent, self.taken_by, event.at + busy)
        return self if self.done_by <= event.at else Ledger(self.inputs, self.sent, self.taken_by, event.at)

    def delay(self, stall: Stalled, busy: float) -> Ledger:
        """Return the ledger after a stall: inputs in flight may be taken and dealt with later."""

        def later(by: float) -> float:
            return by if is_later(stall.begun, by) else by + stall.seconds

        def taken(one: InFlight) -> float:
            # an input on another port that was sent in the stall may now be taken first
            first = sum(one.port != each.port and one.span.b < each.span.a <= later(one.span.b) for each in self.inputs)
            return later(one.span.b) + first * busy

        inputs = tuple(each._replace(span=Span(each.span.a, taken(each))) for each in self.inputs)
        return Ledger(inputs, self.sent, later(self.taken_by), later(self.done_by))

    def upto(self, number: int) -> int:
        """Return how many of its inputs are among the first `number` of the run."""
        return bisect_right(self.inputs, number, key=lambda each: each.number)


@dataclass(slots=True)
class FailedStep:
    """The events since the run was last settled: the belief at the start, the inputs, and the outputs so far.

    `last` holds the inputs of the previous step, which cause any output that comes after silence. `earlier` is the
    belief at its start, and shows which timers have ended since.
    """

    before: Belief
    # plain factories: those of typed lists take ten times as long, and every step has two
    inputs: list[Sent]
    outputs: list[Seen | Closed]
    last: list[Sent] = field(default_factory=list[Sent])
    earlier: Belief | None = None

    def next(self, belief: Belief) -> FailedStep:
        """Return the step after quiescence: still this one while an output is due in a window."""
        if not belief.settled:
            return self
        return FailedStep(belief, [], [], self.inputs or self.last, self.before if self.inputs else self.earlier)
