"""One explanation of what was seen so far: where the system may be, what it still owes, what it has not taken yet."""

from __future__ import annotations

import sys
from bisect import bisect_right
from typing import Final, NamedTuple, TypeAlias, TypeVar

from otf.core.bags import Bag, Chain
from otf.core.memory import Symbol
from otf.core.nodes import UNCONSTRAINED, Midway, Move, OpenAccept, Position
from otf.core.timing import Span, Window

Item = TypeVar("Item")
Queues: TypeAlias = tuple[tuple[str, tuple[Item, ...]], ...]


def queue(queues: Queues[Item], port: str) -> tuple[Item, ...]:
    """Return the queue of `port`, empty where there is none."""
    for name, items in queues:
        if name == port:
            return items
    return ()


def put(queues: Queues[Item], port: str, items: tuple[Item, ...]) -> Queues[Item]:
    """Return the map with `items` as the queue of `port`; an empty queue leaves no trace."""
    if not queues or (len(queues) == 1 and queues[0][0] == port):
        return ((port, items),) if items else ()
    rest = tuple(entry for entry in queues if entry[0] != port)
    return tuple(sorted((*rest, (port, items)), key=_port)) if items else rest


def push(queues: Queues[Item], port: str, item: Item) -> Queues[Item]:
    """Return the map with `item` at the end of the queue of `port`."""
    return put(queues, port, (*queue(queues, port), item))


def _port(entry: tuple[str, object]) -> str:
    return entry[0]


NEVER: Final = sys.maxsize


class Outstanding(NamedTuple):
    """Outputs that were emitted and not yet seen: what a move still owes on one port.

    `what` is the chain of what comes, and `left` what is left of its first bag; for an `Accept` it is the opening,
    whose outputs tell the next state. `due` is the least number of an input that was taken after they were emitted:
    once that input is proven taken with everything before it seen, a hypothesis that still owes them is wrong. Inputs
    up to `loose` say nothing of that: they may have been taken before as well. `spontaneous`: they came by themselves.
    `window` is the time in which they are due; `stamp` marks the timers that their move started. Of an `Accept`,
    `number` is the input that brought it, or else `entered` bounds the time at which its state is entered.
    """

    what: Chain | OpenAccept
    left: int = 0
    due: int = NEVER
    loose: int = 0
    spontaneous: bool = False
    window: Window | None = None
    stamp: int = 0
    number: int = 0
    entered: Span | None = None


class QueuedInput(NamedTuple):
    """An input that was sent and is perhaps not taken; `number` counts those that still matter, from 1."""

    symbol: Symbol
    number: int


class Timer(NamedTuple):
    """A timer that runs: its name, or the number of the spontaneous transition whose window it is."""

    name: str | int
    window: Window
    stamp: int = 0


class HeldBack(NamedTuple):
    """An output that came while an `Accept` was open on other ports: only its end tells which state explains it.

    It came at this time, after the inputs up to `upto` were sent: no others can have brought it.
    """

    port: str
    output: Symbol
    at: float
    upto: int


class Hypothesis(NamedTuple):
    """A spot, one queue of owed outputs a port, one queue of inputs in flight a port, and the timers that run.

    `held` are outputs that are judged later, `got` those of an open `Accept`. `beyond` names the ports on which more
    unasked outputs are unseen than are followed: after what is owed there, anything may come. Such a hypothesis is a
    doubt: it explains too much to pass a run, but it keeps a run from being failed.
    """

    position: Position
    outstanding: Queues[Outstanding] = ()
    flight: Queues[QueuedInput] = ()
    timers: tuple[Timer, ...] = ()
    held: tuple[HeldBack, ...] = ()
    got: tuple[tuple[str, Symbol], ...] = ()
    beyond: tuple[str, ...] = ()

    @property
    def settled(self) -> bool:
        """Return whether nothing is owed, in flight or half done."""
        return not (self.outstanding or self.flight or isinstance(self.position, Midway))

    @property
    def expecting(self) -> bool:
        """Return whether so many outputs are owed as the model says; an `Accept` may go on for ever."""
        return any(
            isinstance(each.what, Chain) or each.what.ends for _, outputs in self.outstanding for each in outputs
        )

    @property
    def obliged(self) -> bool:
        """Return whether a timer has brought outputs that are not all seen: an `Accept` may be half way through."""
        return any(each.spontaneous and each.window for _, outputs in self.outstanding for each in outputs)

    @property
    def timed(self) -> bool:
        """Return whether time matters in it."""
        return bool(self.timers) or any(each.window for _, outputs in self.outstanding for each in outputs)

    @property
    def numbers(self) -> set[int]:
        """Return the numbers of the inputs that matter: those in flight, and those after which something is due."""
        found = {each.number for _, flight in self.flight for each in flight}
        if self.outstanding:
            found.update(each.due for _, outputs in self.outstanding for each in outputs if each.due != NEVER)
            found.update(each.number for _, outputs in self.outstanding for each in outputs if each.number)
        return found


def taken(now: Hypothesis, port: str) -> Hypothesis:
    """Return the hypothesis after the head of `port`'s flight was taken: what is owed now was emitted before it."""
    head, *rest = queue(now.flight, port)
    if not now.outstanding:
        return Hypothesis(now[0], (), put(now[2], port, tuple(rest)), *now[3:])
    outstanding = tuple(
        (name, tuple(_before(each, head.number) for each in outputs)) for name, outputs in now.outstanding
    )
    return Hypothesis(now.position, outstanding, put(now.flight, port, tuple(rest)), *now[3:])


PLAIN: Final = Outstanding(Chain(Bag(()), None))
"""What is owed by a move that is neither spontaneous nor due in a window."""


def moved(now: Hypothesis, move: Move, kind: Outstanding = PLAIN) -> Hypothesis:
    """Return the hypothesis after a move: its outputs join what is owed on their ports, owed like `kind`."""
    outstanding, opening = now.outstanding, move.opening
    for port, chain in move.emitted:
        if port not in now.beyond:
            fresh = (
                Outstanding(chain, chain.bag.all) if kind is PLAIN else kind._replace(what=chain, left=chain.bag.all)
            )
            outstanding = put(outstanding, port, (*queue(outstanding, port), fresh) if outstanding else (fresh,))
    if opening is not None:
        # what an Accept would accept comes after outputs that are not followed, and cannot be told from them
        if not now.beyond or set(opening.ports).isdisjoint(now.beyond):
            for port in opening.ports:
                outstanding = put(outstanding, port, (*queue(outstanding, port), kind._replace(what=opening)))
        else:
            return Hypothesis(UNCONSTRAINED, outstanding, now.flight, (), *now[4:])
    return Hypothesis(move.position, outstanding, now.flight, *now[3:])


def renumbered(now: Hypothesis, kept: tuple[int, ...]) -> Hypothesis:
    """Return the hypothesis with the numbers of inputs replaced by their ranks among those kept."""
    ranks = {number: rank for rank, number in enumerate(kept, 1)}
    flight = tuple(
        (port, tuple(QueuedInput(each.symbol, ranks[each.number]) for each in flight)) for port, flight in now.flight
    )
    outstanding = now.outstanding and tuple(
        (
            port,
            tuple(
                each._replace(
                    due=ranks.get(each.due, NEVER),
                    loose=bisect_right(kept, each.loose),
                    number=ranks.get(each.number, 0),
                )
                for each in outputs
            ),
        )
        for port, outputs in now.outstanding
    )
    held = now.held and tuple(each._replace(upto=bisect_right(kept, each.upto)) for each in now.held)
    return now._replace(outstanding=outstanding, flight=flight, held=held)


def _before(each: Outstanding, number: int) -> Outstanding:
    return each._replace(due=number) if each.loose < number < each.due else each
