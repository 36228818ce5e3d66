"""The moves of a system in a hypothesis, and the search for those that explain an event.

Moves are made only when an event needs them: a hypothesis stands for everything that it may still do by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from otf.core.asking import ASKING
from otf.core.clock import FOREVER, Clock, Window
from otf.core.hypothesis import UNCONSTRAINED, Flying, Hypothesis, taken
from otf.core.model import Model
from otf.core.places import Move, Open, Place
from otf.core.queues import push, put, queue
from otf.core.symbols import Symbol
from otf.core.windows import Windows
from otf.errors import ModelError
from otf.spec.endless import TRANSITIONS, limited
from otf.trace.events import Ended, Garbled
from otf.values import show

Relation = Literal["uioco", "any"]
INTERNAL: Final = 1_000
UNFOLLOWED: Final = 100  # moves in a row of which nothing is kept but a doubt
HARD: Final = 5  # a set this many times over its cap is not waited for any longer


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is kept: hypotheses in a set, unasked outputs unseen on one port.

    In between, until quiescence settles what is possible, a set may be five times as large.
    """

    hypotheses: int = 2_000
    unasked: int = 3

    @property
    def most(self) -> int:
        """Return how many hypotheses there may be, as long as quiescence may still settle which are possible."""
        return HARD * self.hypotheses

    @property
    def work(self) -> int:
        """Return how many moves are thought of at most to explain one event: by default about half a second's work."""
        return HARD * self.most


class OvergrownError(Exception):
    """There are more explanations of an event than are thought of."""


@dataclass(slots=True)
class Search:
    """One search over the moves of a model.

    `free` are the inputs (by number) that no possible state specifies; `specified` and `unspecified` are those that
    the search found to be so in some state. `known`: where it was already, from whichever explanation it came there.
    """

    model: Model
    relation: Relation = "uioco"
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=lambda: Clock(0.0, FOREVER))
    free: frozenset[int] = frozenset()
    specified: set[int] = field(default_factory=set[int])
    unspecified: set[int] = field(default_factory=set[int])
    known: set[Hypothesis] = field(default_factory=set[Hypothesis])
    windows: Windows = field(init=False)

    def __post_init__(self) -> None:
        """Look at windows by the clock of this search."""
        self.windows = Windows(self.model, self.clock)

    def seen(
        self, start: Hypothesis, port: str, output: Symbol, known: set[Hypothesis] | None = None
    ) -> Iterator[Hypothesis]:
        """Yield every hypothesis in which `start` has gone on until `output` was seen on `port`.

        Without those behind what is `known`, from where they were yielded before.
        """

        def done(now: Hypothesis) -> Iterator[Hypothesis] | None:
            if queue(now.owed, port):
                return self._consume(now, port, output)
            if now.spot is UNCONSTRAINED or port in now.beyond:
                return iter([now])
            if isinstance(now.spot, Open):
                return self._collect(now, now.spot, port, output)
            return None

        return self._explore(start, done, lambda _now: True, known=known)

    def quiet(self, start: Hypothesis, known: set[Hypothesis]) -> Iterator[Hypothesis]:
        """Yield every hypothesis in which all inputs were taken and nothing is owed; without those behind the known."""

        def done(now: Hypothesis) -> Iterator[Hypothesis] | None:
            if now.owed or isinstance(now.spot, Open):
                # what is due in a window is not emitted yet, as long as the window is open
                return iter([now] if _pending(now) and not now.flight else [])
            if now.spot is UNCONSTRAINED:
                return iter([now._replace(flight=())])
            return None

        return self._explore(start, done, lambda now: not now.owed or _pending(now), lambda now: now.settled, known)

    def current(self, start: Hypothesis) -> Iterator[Hypothesis]:
        """Yield the hypotheses that `start` stands for at the time of the clock.

        What was due and is not seen makes it wrong; where something must have come unasked, the system has gone on.
        """

        def done(now: Hypothesis) -> Iterator[Hypothesis] | None:
            if self.windows.missed(now):
                return iter(())
            return None if self.windows.gone_on(now) else iter([self.windows.waiting(now)])

        return self._explore(start, done, lambda _now: True) if start.timed else iter([start])

    def taken(self, start: Hypothesis, upto: int) -> Iterator[Hypothesis]:
        """Yield every hypothesis in which the inputs up to `upto` were taken, and what came before was seen."""

        def done(now: Hypothesis) -> Iterator[Hypothesis] | None:
            if any(owed.due <= upto for _, owing in now.owed for owed in owing):
                return iter(())
            return None if _waits(now, upto) else iter([now])

        # an unasked output on the way would have been seen before the last of those inputs was taken, or can come later
        return self._explore(start, done, lambda now: not _fresh(start, now))

    def _explore(
        self,
        start: Hypothesis,
        done: Callable[[Hypothesis], Iterator[Hypothesis] | None],
        follow: Callable[[Hypothesis], bool],
        keep: Callable[[Hypothesis], bool] | None = None,
        known: set[Hypothesis] | None = None,
    ) -> Iterator[Hypothesis]:
        seen = set[Hypothesis]() if known is None else known
        stack = [] if start in seen else [(start, 0)]
        seen.add(start)
        while stack:
            now, depth = stack.pop()
            ends = done(now)
            if ends is not None:
                yield from ends
                continue
            if keep is not None and keep(now):
                yield now
            # the model's first move is followed first
            for then, deeper in reversed([_bounded(now, each, depth) for each in self._moves(now)]):
                if then not in seen and follow(then):
                    seen.add(then)
                    stack.append((then, deeper))
            if len(seen) > self.limits.work:
                raise OvergrownError

    def _moves(self, now: Hypothesis) -> Iterator[Hypothesis]:
        for port, flying in now.flight:
            yield from self._take(now, port, flying[0])
        if isinstance(now.spot, Place):
            for move in self.model.unasked(now.spot):
                window = self.windows.of(now, move)
                if window is None or self.windows.open(now, window):
                    yield self._unasked(now, move, window)

    def _take(self, now: Hypothesis, port: str, flying: Flying) -> Iterator[Hypothesis]:
        after = taken(now, port)
        if now.spot is UNCONSTRAINED:
            yield after
        elif isinstance(now.spot, Place) and self.windows.in_time(now, flying):
            moves = self.model.moves(now.spot, flying.symbol)
            (self.specified if moves else self.unspecified).add(flying.number)
            for move in moves:
                yield self.windows.triggered(after, move, flying.number)
            if not moves and (self.relation == "uioco" or flying.number in self.free):
                yield after._replace(spot=UNCONSTRAINED)

    def _unasked(self, now: Hypothesis, move: Move, window: Window | None) -> Hypothesis:
        then = self.windows.unasked(now, move, window)
        full = {port for port, _ in move.owes if self._crowded(now, port)}
        return then._replace(beyond=tuple(sorted(full.union(now.beyond)))) if full else then

    def _crowded(self, now: Hypothesis, port: str) -> bool:
        return sum(owed.unasked for owed in queue(now.owed, port)) >= self.limits.unasked

    def _consume(self, now: Hypothesis, port: str, output: Symbol) -> Iterator[Hypothesis]:
        head, *rest = queue(now.owed, port)
        if isinstance(output.value, Garbled) or (head.window and not self.windows.due(head.window)):
            return
        for at, want in enumerate(head.wants):
            if want not in head.wants[:at] and want.matches(output):
                left = head.wants[:at] + head.wants[at + 1 :]
                queued = ((head._replace(wants=left),) if left else ()) + tuple(rest)
                since = now.since if left else self.windows.seen(now, head)
                yield now._replace(owed=put(now.owed, port, queued), since=since)

    def _collect(self, now: Hypothesis, spot: Open, port: str, output: Symbol) -> Iterator[Hypothesis]:
        if port != spot.port:
            yield now._replace(held=(*now.held, (port, output)))
        elif not isinstance(output.value, (Garbled, Ended)):
            yield from self._closed(now, spot._replace(got=(*spot.got, output)))

    def _closed(self, now: Hypothesis, spot: Open) -> Iterator[Hypothesis]:
        outputs = tuple(symbol.value for symbol in spot.got)
        complete, states = _asked(spot, outputs)
        if not complete:
            yield now._replace(spot=spot)
            return
        for state in states:
            then = [self.windows.accepted(now._replace(spot=self.model.place(state), held=()))]
            for port, output in now.held:
                then = [later for each in then for later in self.seen(each, port, output)]
            yield from then


def sent(start: Hypothesis, port: str, inp: Symbol, number: int) -> Hypothesis:
    """Return the hypothesis with one more input in flight."""
    return start._replace(flight=push(start.flight, port, Flying(inp, number)))


def _pending(now: Hypothesis) -> bool:
    # of what came by itself it is enough to say that it will come: then it is not followed over and over
    return bool(now.owed) and all(each.window and not each.unasked for _, owing in now.owed for each in owing)


def _waits(now: Hypothesis, upto: int) -> bool:
    return any(flying.number <= upto for _, flight in now.flight for flying in flight)


def _fresh(start: Hypothesis, now: Hypothesis) -> bool:
    return now.beyond != start.beyond or _unasked(now) > _unasked(start)


def _unasked(now: Hypothesis) -> int:
    return sum(owed.unasked for _, owing in now.owed for owed in owing)


def _asked(spot: Open, outputs: tuple[object, ...]) -> tuple[bool, tuple[object, ...]]:
    ASKING.now = "Accept", outputs
    try:
        complete = spot.accept.complete(outputs)
        return complete, tuple(limited(spot.accept.then(outputs), TRANSITIONS, "next states")) if complete else ()
    except Exception as error:
        message = f"an Accept of the model raised on the outputs {show(outputs)}: {error!r}"
        raise ModelError(message) from error
    finally:
        ASKING.now = None


def _bounded(now: Hypothesis, then: Hypothesis, depth: int) -> tuple[Hypothesis, int]:
    # inputs in flight get fewer and outputs owed are bounded: only moves that change neither can go on for ever
    if now.flight != then.flight or now.owed != then.owed:
        return then, 0
    if depth < (UNFOLLOWED if then.beyond else INTERNAL):
        return then, depth + 1
    if then.beyond:
        return then._replace(spot=UNCONSTRAINED), 0
    raise endless(then)


def endless(then: Hypothesis) -> ModelError:
    """Return the error of a model whose internal steps do not end."""
    where = show(getattr(then.spot, "value", None))
    return ModelError(f"more than {INTERNAL} internal steps in a row, the last into {where}")
