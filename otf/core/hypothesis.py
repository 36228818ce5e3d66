"""One explanation of what was seen so far: where the system may be, what it still owes, what it has not taken yet."""

from __future__ import annotations

import sys
from typing import Final, NamedTuple, TypeAlias

from otf.core.clock import Span, Window
from otf.core.places import Move, Open, Place
from otf.core.queues import Queues, put, queue
from otf.core.symbols import Symbol
from otf.core.wants import Want

NEVER: Final = sys.maxsize


class Unconstrained:
    """The place of a system that took an input which the model does not specify: anything goes from there."""

    __slots__ = ()


UNCONSTRAINED: Final = Unconstrained()
Spot: TypeAlias = Place | Open | Unconstrained


class Owed(NamedTuple):
    """Outputs that were emitted and not yet seen, in any order among themselves (usually just one).

    `due` is the least number of an input that was taken after they were emitted: once that input is proven taken
    with everything before it seen, a hypothesis that still owes them is wrong. `unasked`: they came by themselves.
    `window` is the time in which they are due, where the model gives one; `entered` that in which the place was
    entered to which their move led, where timers start there.
    """

    wants: tuple[Want, ...]
    due: int = NEVER
    unasked: bool = False
    window: Window | None = None
    entered: Span | None = None


class Flying(NamedTuple):
    """An input that was sent and is perhaps not taken; `number` counts those that still matter, from 1."""

    symbol: Symbol
    number: int


class Hypothesis(NamedTuple):
    """A place, one queue of owed outputs a port, one queue of inputs in flight a port, outputs held back.

    Outputs are held back while an `Accept` is open: only its end tells the state that has to explain them. `since`
    bounds the time at which the place was entered, where outputs of it are due in a window. `beyond` names the ports on
    which more unasked outputs are unseen than are followed: after what is owed there, anything may come. Such a
    hypothesis is a doubt: it explains too much to pass a run, but it keeps a run from being failed.
    """

    spot: Spot
    owed: Queues[Owed] = ()
    flight: Queues[Flying] = ()
    held: tuple[tuple[str, Symbol], ...] = ()
    since: Span | None = None
    beyond: tuple[str, ...] = ()

    @property
    def settled(self) -> bool:
        """Tell whether nothing is owed, in flight or half done."""
        return not (self.owed or self.flight or isinstance(self.spot, Open))

    @property
    def timed(self) -> bool:
        """Tell whether time matters in it."""
        return self.since is not None or any(each.window for _, owing in self.owed for each in owing)

    @property
    def numbers(self) -> set[int]:
        """Return the numbers of the inputs that matter: those in flight, and those after which something is due."""
        flying = {each.number for _, flight in self.flight for each in flight}
        return flying | {each.due for _, owing in self.owed for each in owing if each.due != NEVER}


def taken(hypothesis: Hypothesis, port: str) -> Hypothesis:
    """Return the hypothesis after the head of `port`'s flight was taken: what is owed now was emitted before it."""
    head, *rest = queue(hypothesis.flight, port)
    return hypothesis._replace(
        flight=put(hypothesis.flight, port, tuple(rest)),
        owed=tuple(
            (name, tuple(owed._replace(due=min(owed.due, head.number)) for owed in owing))
            for name, owing in hypothesis.owed
        ),
    )


def moved(hypothesis: Hypothesis, move: Move, window: Window | None = None, *, unasked: bool = False) -> Hypothesis:
    """Return the hypothesis after a move: its outputs join what is owed on their ports, due in the window."""
    owed = hypothesis.owed
    for port, bags in move.owes:
        if port not in hypothesis.beyond:
            fresh = tuple(Owed(wants, unasked=unasked, window=window) for wants in bags)
            owed = put(owed, port, queue(owed, port) + fresh)
    return hypothesis._replace(spot=_target(hypothesis, move), owed=owed, since=None)


def renumbered(hypothesis: Hypothesis, ranks: dict[int, int]) -> Hypothesis:
    """Return the hypothesis with the numbers of inputs replaced by their ranks."""
    return hypothesis._replace(
        flight=tuple(
            (port, tuple(each._replace(number=ranks[each.number]) for each in flight))
            for port, flight in hypothesis.flight
        ),
        owed=tuple(
            (port, tuple(each._replace(due=ranks.get(each.due, NEVER)) for each in owing))
            for port, owing in hypothesis.owed
        ),
    )


def _target(hypothesis: Hypothesis, move: Move) -> Spot:
    # what an Accept would accept comes after outputs that are not followed, and cannot be told from them
    lost = isinstance(move.target, Open) and move.target.port in hypothesis.beyond
    return UNCONSTRAINED if lost else move.target
