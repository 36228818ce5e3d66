"""One explanation of what was seen so far: the node, the outstanding outputs, the inputs in flight, the timers."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias, TypeVar

from otf.core.expectations import Bag, Chain
from otf.core.memory import Symbol
from otf.core.nodes import Midway, Move, OpenAccept, Position
from otf.core.timing import Span, Window

Item = TypeVar("Item")
Queues: TypeAlias = tuple[tuple[str, tuple[Item, ...]], ...]


def queue(queues: Queues[Item], port: str) -> tuple[Item, ...]:
    """Return the queue of `port`, or an empty one."""
    for name, items in queues:
        if name == port:
            return items
    return ()


def put(queues: Queues[Item], port: str, items: tuple[Item, ...]) -> Queues[Item]:
    """Return the queues with `items` as that of `port`; an empty queue is left out."""
    if not queues or (len(queues) == 1 and queues[0][0] == port):
        return ((port, items),) if items else ()
    rest = [entry for entry in queues if entry[0] != port]
    return tuple(sorted((*rest, (port, items)), key=_PORT)) if items else tuple(rest)


def push(queues: Queues[Item], port: str, item: Item) -> Queues[Item]:
    """Return the queues with `item` added at the end of that of `port`."""
    return put(queues, port, (*queue(queues, port), item))


_PORT: Final = itemgetter(0)
NEVER: Final = sys.maxsize

Asleep: TypeAlias = frozenset[str]
"""Ports whose input in flight need not be taken now: an equivalent path took it before."""

AWAKE: Final[Asleep] = frozenset[str]()


class Outstanding(NamedTuple):
    """Outputs of one move on one port that were emitted but not yet seen.

    `what` is the chain of outputs, and `left` the rest of its first bag. For an `Accept`, `what` is the opening, whose
    outputs decide the next state. `due` is the lowest number of an input taken after the outputs were emitted. Once it
    is proven that the system took that input, and otf has seen everything before it, a hypothesis with these outputs is
    wrong. Inputs up to `loose` do not count, since they may have been taken earlier too. `spontaneous`: no input caused
    the outputs. `window` is when they are due; `stamp` marks the timers that their move started. For an `Accept`,
    `number` is the input that caused it; otherwise `entered` bounds the time at which its state is entered.
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
    """An input that was sent and may not have been taken yet; `number` counts, from 1, those that still matter."""

    symbol: Symbol
    number: int


class Timer(NamedTuple):
    """A running timer; its name is a number if it is the window of the spontaneous transition with that number."""

    name: str | int
    window: Window
    stamp: int = 0


class HeldBack(NamedTuple):
    """An output that came while an `Accept` was open on other ports: only the next state can explain it.

    It came at the time `at`, after the inputs up to `upto` were sent: no later input can have caused it.
    """

    port: str
    output: Symbol
    at: float
    upto: int


class Hypothesis(NamedTuple):
    """A position, for each port a queue of outstanding outputs and one of inputs in flight, and the timers.

    `held` are outputs to be judged later, `got` those of an open `Accept`.
    """

    position: Position
    outstanding: Queues[Outstanding] = ()
    flight: Queues[QueuedInput] = ()
    timers: tuple[Timer, ...] = ()
    held: tuple[HeldBack, ...] = ()
    got: tuple[tuple[str, Symbol], ...] = ()

    @property
    def settled(self) -> bool:
        """Return whether no output is outstanding, no input in flight, and no transition half done."""
        return not (self.outstanding or self.flight or isinstance(self.position, Midway))

    @property
    def expecting(self) -> bool:
        """Return whether outputs are outstanding whose number the model limits; an `Accept` may go on forever."""
        return any(
            isinstance(each.what, Chain) or each.what.ends for _, outputs in self.outstanding for each in outputs
        )

    @property
    def obliged(self) -> bool:
        """Return whether outputs of a timer are still unseen: an `Accept` may be half way through."""
        return any(each.spontaneous and each.window for _, outputs in self.outstanding for each in outputs)

    @property
    def timed(self) -> bool:
        """Return whether it has a timer, or an outstanding output with a window."""
        return bool(self.timers) or any(each.window for _, outputs in self.outstanding for each in outputs)


def with_input(starts: Iterable[Hypothesis], port: str, inp: Symbol, number: int) -> list[Hypothesis]:
    """Return the hypotheses with one more input in flight."""
    fresh = QueuedInput(inp, number)
    alone = ((port, (fresh,)),)
    return [
        Hypothesis(each.position, each.outstanding, push(each.flight, port, fresh) if each.flight else alone, *each[3:])
        for each in starts
    ]


def split(flight: Queues[QueuedInput], upto: int) -> tuple[Queues[QueuedInput], Queues[QueuedInput]]:
    """Split the inputs in flight into those up to a number and those sent later."""
    before, later = (
        tuple(
            (port, tuple(each for each in in_flight if (each.number <= upto) is wanted)) for port, in_flight in flight
        )
        for wanted in (True, False)
    )
    return tuple(each for each in before if each[1]), tuple(each for each in later if each[1])


def join_queues(flight: Queues[QueuedInput], later: Queues[QueuedInput]) -> Queues[QueuedInput]:
    """Append later inputs to the queues of inputs in flight on their ports."""
    for port, in_flight in later:
        flight = put(flight, port, (*queue(flight, port), *in_flight))
    return flight


def take_input(now: Hypothesis, port: str) -> Hypothesis:
    """Return the hypothesis in which the system has taken a port's first input, after emitting what was outstanding."""
    flight, number = list[tuple[str, tuple[QueuedInput, ...]]](), 0
    # the queues keep their order: sorting them took a fifth of the time of a move
    for name, in_flight in now.flight:
        left = in_flight if name != port else in_flight[1:]
        number = number if name != port else in_flight[0].number
        if left:
            flight.append((name, left))
    outstanding = now.outstanding and tuple([(name, _before(outputs, number)) for name, outputs in now.outstanding])
    return Hypothesis(now.position, outstanding, tuple(flight), *now[3:])


PLAIN: Final = Outstanding(Chain(Bag(()), None))
"""Outstanding outputs of a move that is neither spontaneous nor timed."""


def move_on(now: Hypothesis, move: Move, kind: Outstanding = PLAIN) -> Hypothesis:
    """Return the hypothesis after a move, with its outputs queued on their ports, with the attributes of `kind`."""
    outstanding, opening = now.outstanding, move.opening
    for port, chain in move.emitted:
        fresh = Outstanding(chain, chain.bag.all) if kind is PLAIN else kind._replace(what=chain, left=chain.bag.all)
        outstanding = put(outstanding, port, (*queue(outstanding, port), fresh) if outstanding else (fresh,))
    if opening is not None:
        for port in opening.ports:
            outstanding = put(outstanding, port, (*queue(outstanding, port), kind._replace(what=opening)))
    return Hypothesis(move.position, outstanding, now.flight, *now[3:])


def renumber(now: Hypothesis, kept: tuple[int, ...]) -> Hypothesis:
    """Replace the number of each input by its rank among those kept."""
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


def _before(outputs: tuple[Outstanding, ...], number: int) -> tuple[Outstanding, ...]:
    """Return outputs that were emitted before an input was taken."""
    # `_replace` takes three times as long, and each input taken needs this for all outputs in flight
    return tuple(
        [
            Outstanding(each.what, each.left, number, *each[3:]) if each.loose < number < each.due else each
            for each in outputs
        ]
    )
