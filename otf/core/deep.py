"""Follows one explanation at a time if there are too many to keep, as linearizability checkers do.

Each event extends one explanation of all events so far. If that fails, the search goes back to earlier events (Wing and
Gong, Testing and verifying concurrent objects, JPDC 17, 1993). It remembers what each event reached (state, outputs
outstanding, inputs in flight) and never enters it again (Lowe, Testing for linearizability, CCPE 29, 2017). By then the
later outputs are known: the search does not take an input with a different answer, and goes straight back to where an
input was taken.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final, TypeAlias, cast

from otf.core.belief import Belief, Ledger
from otf.core.commuting import brings
from otf.core.expectations import Chain
from otf.core.explainer import Explainer, Finder, finder
from otf.core.hypothesis import Hypothesis, Outstanding
from otf.core.memory import Symbol
from otf.core.moves import Moves
from otf.core.nodes import UNKNOWN, Position
from otf.core.search import HypothesisSet, OvergrownError, Search, bound_depth
from otf.core.timing import Clock
from otf.trace.events import Closed, Event, Seen, Taken
from otf.trace.verdict import Verdict

PortOutput: TypeAlias = tuple[str, Symbol]
SAVED: Final = 2.75
"""The work that one event may do, in events: most of them need little. It takes less than half a second of CPU."""
FRESH: Final = 4
"""The moves that take as long as one into a state that the search has not been in, whose transitions are asked for."""
OUTSTANDING: Final = 4  # outputs in flight that take as long as a move


@dataclass(slots=True)
class LazySearch(Search):
    """A search that yields the nearest explanations first, each on demand, and enters none twice."""

    spend: Callable[[Hypothesis], None] = lambda _: None
    fits: Callable[[Hypothesis], bool] = lambda _: True
    known: set[Hypothesis] = field(default_factory=set[Hypothesis])

    def _explore(
        self,
        starts: Iterable[Hypothesis],
        done: Callable[[Hypothesis], Iterable[Hypothesis] | None],
        follow: Callable[[Hypothesis, Hypothesis], bool] | None = None,
        keep: Callable[[Hypothesis], bool] | None = None,
        goal: str = "",
    ) -> HypothesisSet:
        # iterated over only once
        return cast("HypothesisSet", self._lazily(starts, done, follow, keep, goal))

    def _lazily(
        self,
        starts: Iterable[Hypothesis],
        done: Callable[[Hypothesis], Iterable[Hypothesis] | None],
        follow: Callable[[Hypothesis, Hypothesis], bool] | None,
        keep: Callable[[Hypothesis], bool] | None,
        goal: str,
    ) -> Iterator[Hypothesis]:
        todo = deque((start, 0) for start in starts)
        while todo:
            now, depth = todo.popleft()
            if now in self.known:
                continue
            self.known.add(now)
            ends = done(now)
            if now.position is UNKNOWN:
                raise OvergrownError  # an output held back is judged by its time, which is unknown here
            if ends is not None:
                yield from ends
                continue
            if keep is not None and keep(now):
                yield now
            for step in self.moves.of(now):
                self.spend(step.then)
                if (follow is None or follow(now, step.then)) and self.fits(step.then):
                    # What may explain the event at once comes first, then what needs the fewest moves. Without an
                    # output, only what takes all inputs explains it, so one order is followed to its end.
                    add = todo.appendleft if not goal or brings(step, goal) else todo.append
                    add(bound_depth(now, step.then, depth))


@dataclass(slots=True)
class SearchLevel:
    """An event: its search, how many outputs came before it on each port, and the explanation being followed.

    `left` are the untried explanations that follow from the explanation of the level before.
    """

    find: Finder
    seen: dict[str, int]
    search: LazySearch
    left: Iterator[Hypothesis] = field(default_factory=lambda: iter(()))
    now: Hypothesis | None = None
    tried: set[Hypothesis] = field(default_factory=set[Hypothesis])


class DeepSearch:
    """The search for one explanation of the events after these starts; `work` bounds the moves per event on average.

    It ignores time: not for models with windows, timers or spontaneous outputs.
    """

    def __init__(
        self, starts: Iterable[Hypothesis], moves: Callable[[], Moves], work: int, before: DeepSearch | None = None
    ) -> None:
        self._starts, self._moves, self._most = tuple(starts), moves, work
        self.outputs: dict[str, list[Symbol]] = {}
        self._spent, self._places = 0, set[Position]()
        self.levels = [self._level(lambda _search, now: now)]
        if before is not None:
            self.outputs = {port: [*outputs] for port, outputs in before.outputs.items()}
            self.levels += [self._level(each.find, each.seen) for each in before.levels[1:]]
        self.levels[0].left = iter(self._starts)
        self._advance(0)

    @property
    def now(self) -> Hypothesis:
        """Return the explanation of all events."""
        return cast("Hypothesis", self.levels[-1].now)

    def tell(self, find: Finder, output: PortOutput | None = None) -> bool:
        """Take an event; return whether there is an explanation. Raises OvergrownError if it takes too long."""
        self._spent = max(0, self._spent - self._most)
        level = self._level(find)
        if output is not None:
            self.outputs.setdefault(output[0], []).append(output[1])
        level.left = iter(find(level.search, (self.now,)))
        self.levels.append(level)
        return self._advance()

    def would(self, find: Finder, output: PortOutput | None = None) -> bool:
        """Return whether an event would leave an explanation, without taking it. Raises OvergrownError."""
        return self._anew().tell(find, output)

    def each(self, most: int) -> Iterator[Hypothesis]:
        """Yield up to `most` remaining explanations. Raises OvergrownError if there are more, or too much work."""
        for number in count(1):
            yield self.now
            if not self._advance():
                return
            if number == most:
                raise OvergrownError

    def _anew(self) -> DeepSearch:
        """Return a search of the same events that knows all outputs from the first event on."""
        return DeepSearch(self._starts, self._moves, self._most, self)

    def _level(self, find: Finder, seen: dict[str, int] | None = None) -> SearchLevel:
        seen = {port: len(outputs) for port, outputs in self.outputs.items()} if seen is None else seen
        search = LazySearch(self._moves(), Clock(0.0, 0.0), spend=self._spend)
        search.fits = lambda then: self._fits(then, seen)
        return SearchLevel(find, seen, search)

    def _spend(self, into: Hypothesis) -> None:
        self._spent += 1 if into.position in self._places else FRESH
        self._spent += sum([len(outputs) for _, outputs in into.outstanding]) // OUTSTANDING
        self._places.add(into.position)
        if self._spent > SAVED * self._most:
            raise OvergrownError

    def _advance(self, at: int = -1) -> bool:
        """Find the next explanation of the last event, or go back; return whether there is one."""
        levels = self.levels
        at = len(levels) - 1 if at < 0 else at
        while at < len(levels):
            level = levels[at]
            level.now = self._next(level, at)
            if level.now is not None:
                at += 1
                if at < len(levels):
                    levels[at].left = iter(levels[at].find(levels[at].search, (level.now,)))
                continue
            at -= 1
            # nothing follows from what contradicts later outputs
            while at > 0 and not self._fits(cast("Hypothesis", levels[at - 1].now), levels[at].seen):
                at -= 1
            if at < 0:
                return False
        return True

    def _next(self, level: SearchLevel, at: int) -> Hypothesis | None:
        after = self.levels[at + 1].seen if at + 1 < len(self.levels) else None
        for end in level.left:
            if end not in level.tried:
                level.tried.add(end)
                if after is None or self._fits(end, after):
                    return end
        return None

    def _fits(self, now: Hypothesis, seen: dict[str, int]) -> bool:
        """Return whether the outstanding outputs match what came later, as far as that is known."""
        return all(
            _match(outputs, self.outputs[port], seen.get(port, 0))
            for port, outputs in now.outstanding
            if port in self.outputs
        )


def _match(queue: tuple[Outstanding, ...], came: list[Symbol], at: int) -> bool:
    for each in queue:
        if not isinstance(each.what, Chain):
            return True
        chain: Chain | None = each.what
        left = each.left
        while chain is not None:
            while left:
                if at >= len(came):
                    return True
                ways = list(chain.bag.without(left, came[at]))
                if len(ways) != 1:
                    return bool(ways)
                left, at = ways[0], at + 1
            chain = chain.then
            left = 0 if chain is None else chain.bag.all
    return True


class DeepRun:
    """The part of a run that follows one explanation at a time, because this belief outgrew its limit.

    Inputs are numbered on from those in `ledger` at that moment.
    """

    def __init__(self, explainer: Explainer, belief: Belief, ledger: Ledger) -> None:
        oracle = explainer.oracle
        moves = partial(Moves, oracle.model, oracle.relation, oracle.limits)
        self.search = DeepSearch(belief.hypotheses, moves, oracle.limits.work)
        self._explainer = explainer
        self._before = ledger

    def tell(self, event: Event, ledger: Ledger) -> bool:
        """Take an event; return whether it has an explanation."""
        return self.search.tell(*self._asked(event, ledger))

    def would(self, event: Event, ledger: Ledger) -> bool:
        """Return whether an event would have an explanation."""
        return self.search.would(*self._asked(event, ledger))

    def _asked(self, event: Event, ledger: Ledger) -> tuple[Finder, PortOutput | None]:
        before, model = self._before, self._explainer.oracle.model
        base = len(before.inputs) - before.sent
        number = base + (event.upto if isinstance(event, Taken) else ledger.sent + 1)
        if isinstance(event, Taken) and event.upto <= before.sent:
            number = before.upto(event.upto)
        output = (event.port, model.output_symbol(event.output)) if isinstance(event, (Seen, Closed)) else None
        return finder(model, event, number), output


def too_many(most: int) -> Verdict:
    """Return the verdict of a run with more than `most` explanations left."""
    why = (
        f"more than {most} explanations left; with fewer inputs in flight there are fewer (strict mode, smaller bursts)"
    )
    return Verdict("inconclusive", why=why)
