"""The search for the moves that explain an event."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Final, TypeAlias

from otf.core.commuting import EXAMINED, Orders
from otf.core.crowd import CROWDED, Crowd, Following
from otf.core.expectations import Chain
from otf.core.hypothesis import NEVER, Asleep, HeldBack, Hypothesis, Outstanding, join_queues, put, queue, split
from otf.core.memory import Symbol
from otf.core.model_calls import CURRENT
from otf.core.moves import INTERNAL, Moves, Next, endless
from otf.core.nodes import UNCONSTRAINED, UNKNOWN, Midway, OpenAccept
from otf.core.timing import Clock
from otf.core.windows import Windows
from otf.spec.offering import TRANSITIONS, limited
from otf.trace.events import Ended, Undecodable
from otf.values import show
from otf.values.raised import blame

_SETTLED: Final = attrgetter("settled")
UNDER_WAY: Final = 128  # outputs in flight that double the time of a move in a state with timers
TIMED: Final = 2  # moves without timers that take as long as one with them
WINDOWS: Final = 512  # outputs in flight that can be examined in the time of a move
PAIRS: Final = 16  # pairs of inputs in flight that take as long as a move

HypothesisSet: TypeAlias = dict[Hypothesis, None]
"""Hypotheses, each once, in the order in which they were found."""


class OvergrownError(Exception):
    """There are more explanations of an event than the search considers."""


@dataclass(slots=True)
class Search:
    """One search over moves, at the time of a clock.

    `commuting`: of inputs on different ports that may be taken in either order, it considers only one order. `work`
    counts the moves considered.
    """

    moves: Moves
    clock: Clock
    commuting: bool = False
    work: int = 0
    windows: Windows = field(init=False)

    def __post_init__(self) -> None:
        """Use windows at the time of this clock."""
        self.windows = self.moves.windows = Windows(self.moves.model, self.clock)

    def seen(self, starts: Iterable[Hypothesis], port: str, output: Symbol) -> HypothesisSet:
        """Return every hypothesis in which one of `starts` has moved on until `output` was seen on `port`."""

        def done(now: Hypothesis) -> Iterable[Hypothesis] | None:
            if outputs := queue(now.outstanding, port):
                return self._consume(now, port, outputs, output)
            if now.position is UNCONSTRAINED:
                return (now,)
            if now.position is UNKNOWN:
                self.clock.used = True
                return (now._replace(held=(*now.held, HeldBack(port, output, self.clock.now, len(self.clock.inputs)))),)
            return None

        return self._explore(starts, done, goal=port)

    def quiet(self, starts: Iterable[Hypothesis]) -> HypothesisSet:
        """Return every hypothesis in which all inputs were taken and no output is outstanding."""
        alone = self.moves.model.alone

        def done(now: Hypothesis) -> Iterable[Hypothesis] | None:
            if now.outstanding:
                # an output due in a window may not have been emitted while the window is open
                return () if now.flight or not _is_pending(now) else (now,)
            if now.position is UNCONSTRAINED:
                return (now._replace(flight=()),)
            return (now,) if alone and not now.flight and not isinstance(now.position, Midway) else None

        # follows spontaneous moves even from a settled hypothesis
        return self._explore(starts, done, None, None if alone else _SETTLED)

    def rested(self, starts: Iterable[Hypothesis]) -> HypothesisSet:
        """Return every hypothesis in which all inputs were taken, and unseen outputs were spontaneous after that."""

        def done(now: Hypothesis) -> Iterable[Hypothesis] | None:
            if now.position is UNCONSTRAINED:
                return (now._replace(flight=()),)
            if any(
                not (each.spontaneous or each.window) or each.due != NEVER
                for _, outputs in now.outstanding
                for each in outputs
            ):
                return ()
            halfway = isinstance(now.position, Midway) and not now.position.spontaneous
            return None if now.flight or halfway else (now,)

        return self._explore(starts, done, None if self.moves.model.alone else _stale)

    def taken(self, starts: Iterable[Hypothesis], upto: int) -> HypothesisSet:
        """Return every hypothesis in which the inputs up to `upto` were taken, and earlier outputs were seen."""

        def done(now: Hypothesis) -> Iterable[Hypothesis] | None:
            if any(outstanding.due <= upto for _, outputs in now.outstanding for outstanding in outputs):
                return ()
            return None if any(in_flight[0].number <= upto for _, in_flight in now.flight) else (now,)

        return self._explore(starts, done, None if self.moves.model.alone else _stale)

    def current(self, starts: Iterable[Hypothesis]) -> HypothesisSet:
        """Return the hypotheses that `starts` lead to by the time of the clock.

        An overdue output rules a hypothesis out. If a spontaneous move was due, the system has moved on.
        """

        def done(now: Hypothesis) -> Iterable[Hypothesis] | None:
            if not now.timed:
                return (now,)
            if self.windows.missed(now):
                return ()
            return None if self.windows.moved_on(now) else (self.windows.waiting(now),)

        return self._explore(starts, done)

    def _explore(
        self,
        starts: Iterable[Hypothesis],
        done: Callable[[Hypothesis], Iterable[Hypothesis] | None],
        follow: Callable[[Hypothesis, Hypothesis], bool] | None = None,
        keep: Callable[[Hypothesis], bool] | None = None,
        goal: str = "",
    ) -> HypothesisSet:
        """Return the ends of all paths from `starts`.

        `done` returns the ends at a hypothesis, or None to follow its moves. Only moves that
        `follow` allows are followed. A hypothesis that `keep` accepts is an end, and is followed as well.
        """
        known: dict[Hypothesis, Asleep] = {}
        found: HypothesisSet = {}
        # starts with the first start, and with the model's first move
        stack = [*map(Following, starts)][::-1]
        orders = Orders(self.moves, self.windows, goal) if self.commuting and goal else None
        for now, depth, slept in self._remaining(stack, known):
            under_way = sum(len(outputs) for _, outputs in now.outstanding) if now.timers else 0
            ends = done(now)
            if ends is not None:
                found.update(dict.fromkeys(ends))
                self.work += under_way // WINDOWS
                continue
            before = known.get(now)
            # its moves were followed, except those of inputs that were asleep
            woken = None if before is None else before - slept
            if before is not None and not woken:
                continue
            asleep = known[now] = slept if before is None else slept & before
            if keep is not None and keep(now):
                found[now] = None
            steps = self._ordered(orders, now, asleep, woken) if orders else self.moves.of(now) if woken is None else []
            # every pair of inputs is asked whether it commutes
            self.work += len(steps) * (TIMED if now.timers else 1) + len(now.flight) ** 2 // PAIRS
            self.work += len(steps) * under_way // UNDER_WAY
            for step in reversed(steps):
                if follow is None or follow(now, step.then):
                    stack.append(Following(*bound_depth(now, step.then, depth), step.asleep))
            if self.work > self.moves.limits.work:
                raise OvergrownError
        return found

    def _ordered(self, orders: Orders, now: Hypothesis, asleep: Asleep, woken: Asleep | None) -> list[Next]:
        steps = orders.of(now, asleep, woken)
        self.work, orders.examined = self.work + orders.examined // EXAMINED, orders.examined % EXAMINED
        return steps

    def _remaining(self, stack: list[Following], known: Sized) -> Iterator[Following]:
        """Yield what is left to follow: the last of the stack or, once many are known, the least advanced."""
        most = CROWDED if self.moves.model.timed else sys.maxsize
        while stack and len(known) <= most:
            yield stack.pop()
        if stack:
            yield from Crowd().following(stack)

    def _consume(
        self, now: Hypothesis, port: str, outputs: tuple[Outstanding, ...], output: Symbol
    ) -> Iterable[Hypothesis]:
        head, *rest = outputs
        what = head.what
        if isinstance(output.value, Undecodable) or (head.window and not self.windows.due(head.window)):
            return
        if isinstance(what, OpenAccept):
            yield from self._collect(now, port, head, what, output)
            return
        for left in what.bag.without(head.left, output):
            then = head._replace(left=left) if left else _next(head, what)
            timers = self.windows.seen(now, head) if head.stamp and not then else now.timers
            queued = (then, *rest) if then else tuple(rest)
            yield Hypothesis(now.position, put(now.outstanding, port, queued), now.flight, timers, *now[4:])

    def _collect(
        self, now: Hypothesis, port: str, head: Outstanding, opening: OpenAccept, output: Symbol
    ) -> Iterator[Hypothesis]:
        if isinstance(output.value, Ended) and not opening.accept.closing:
            return
        got = (*now.got, (port, output))
        complete, states = _closing(opening, got)
        if complete:
            yield from self._close(now, head, opening, states)
        elif opening.accept.full([name for name, _ in got if name == port]):
            yield now._replace(outstanding=put(now.outstanding, port, ()), got=got)
        else:
            yield now._replace(got=got)

    def _close(
        self, now: Hypothesis, head: Outstanding, opening: OpenAccept, states: tuple[object, ...]
    ) -> Iterator[Hypothesis]:
        outstanding = now.outstanding
        for port in opening.ports:
            outstanding = put(
                outstanding, port, tuple(each for each in queue(outstanding, port) if each.what != opening)
            )
        timers = self.windows.seen(now, head) if head.stamp else now.timers
        for state in states:
            node = self.moves.model.node(state)
            then = self.windows.accepted(
                now._replace(position=node, outstanding=outstanding, timers=timers, held=(), got=()), opening, head
            )
            found: Iterable[Hypothesis] = (then,)
            for each in now.held:
                found = self._release(found, each)
            yield from found

    def _release(self, starts: Iterable[Hypothesis], held: HeldBack) -> HypothesisSet:
        """Return the hypotheses that explain an output seen before the state was known."""
        search = Search(replace(self.moves), replace(self.clock, now=held.at))
        found: HypothesisSet = {}
        for start in starts:
            before, later = split(start.flight, held.upto)
            for each in search.seen([start._replace(flight=before)], held.port, held.output):
                found[each._replace(flight=join_queues(each.flight, later))] = None
        self.work += search.work
        return found


def _next(head: Outstanding, chain: Chain) -> Outstanding | None:
    """Return the outstanding outputs after a bag, or None if that was the last."""
    return None if chain.then is None else head._replace(what=chain.then, left=chain.then.bag.all)


def _is_pending(now: Hypothesis) -> bool:
    # no need to follow spontaneous outputs that are still to come again and again
    return bool(now.outstanding) and all(
        each.window and not each.spontaneous for _, outputs in now.outstanding for each in outputs
    )


def _stale(now: Hypothesis, then: Hypothesis) -> bool:
    # a spontaneous output in between would have been seen before the last of those inputs was taken, or can come later
    return _spontaneous(then) <= _spontaneous(now)


def _spontaneous(now: Hypothesis) -> int:
    return sum(outstanding.spontaneous for _, outputs in now.outstanding for outstanding in outputs)


def _closing(opening: OpenAccept, got: tuple[tuple[str, Symbol], ...]) -> tuple[bool, tuple[object, ...]]:
    accept, outputs = opening.accept, opening.arguments(got)
    CURRENT.now = "Accept", tuple(symbol.value for _, symbol in got)
    try:
        states = accept.closing_states(outputs)
        return states is not None, tuple(limited(() if states is None else states, TRANSITIONS, "next states"))
    except Exception as error:
        where = f"an Accept in the state {show(opening.origin.value)}"
        raise blame(f"{where} raised on the outputs {show(outputs)}:", error, accept.then) from error
    finally:
        CURRENT.now = None


def bound_depth(now: Hypothesis, then: Hypothesis, depth: int) -> tuple[Hypothesis, int]:
    """Return a hypothesis after a move, and how many moves in a row changed nothing. Raises ModelError."""
    # inputs in flight get fewer and outstanding outputs are bounded: only moves that change neither can go on forever
    if now.flight != then.flight or now.outstanding != then.outstanding:
        return then, 0
    if depth < INTERNAL:
        return then, depth + 1
    raise endless(then)
