"""Cyclic messages: one declaration adds their timers, transitions and counter to a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NoReturn, TypeVar

from otf.errors import ModelError, UsageError
from otf.spec import Accept, Spec, TimerStart, Transition, goto, start, stop
from otf.spec.redrawing import Within
from otf.spec.transition import BoundStart
from otf.values import show
from otf.values.arguments import checked

State = TypeVar("State")
OVER: Final = 10
"""How many periods to average by default."""
COUNTED: Final = 1 << 32
"""The most numbers of a counter."""


@dataclass(frozen=True, slots=True)
class Cycling(Generic[State]):
    """The `state` of a model that also sends a cyclic message, with the progress of the cyclic message.

    `number` is the number of the next cyclic message. The `period` counts the messages since otf last checked the mean
    of several periods.

    >>> Cycling("on", 3, 1)
    'on' | message 3
    """

    state: State
    number: int = 0
    period: int = 0

    def __repr__(self) -> str:
        """Return the state of the model, and the number of the next message."""
        return f"{show(self.state)} | message {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """The times of a cyclic message in seconds: its period, jitter and clock drift; `cyclic` explains them."""

    name: str
    every: float
    jitter: float
    drift: float
    over: int
    first: tuple[float, float] | None

    def after(self, periods: int) -> tuple[float, float]:
        """Return the window of that many periods, with jitter at each end."""
        seconds, jitter = periods * self.every, 2 * self.jitter
        return max(0.0, seconds * (1 - self.drift) - jitter), seconds * (1 + self.drift) + jitter

    @property
    def mean(self) -> str:
        """Return the name of the timer of the mean."""
        return f"{self.name}/{self.over}"

    @property
    def begins(self) -> TimerStart:
        """Return the timer of the first message: at any time in a period, unless the model says when."""
        lo, hi = self.first or (0.0, self.every * (1 + self.drift) + self.jitter)
        return start(self.name, lo, hi)

    @property
    def stops(self) -> list[Any]:
        """Return the actions that end it."""
        return [stop(self.name), stop(self.mean)]

    def next(self, period: int) -> tuple[str, list[TimerStart], int]:
        """Return the timer that brings a message, the timers that it starts, and the periods since the mean began.

        The first message has its own timer, so period 0 comes before it, and period 1 after it.
        """
        each = [start(self.name, *self.after(1))]
        if self.over < 2:  # noqa: PLR2004 -- a mean of one period is the period
            return self.name, each, 1
        if period in {0, self.over}:
            # the last of the periods ends when their mean says so
            return self.name if not period else self.mean, [*each, BoundStart(self.mean, *self.after(self.over))], 1
        return self.name, each if period < self.over - 1 else [], period + 1


@checked
def cyclic(  # noqa: PLR0913 -- a message has that many attributes; each is given by name
    spec: Spec[Any, Any],
    name: str,
    output: object,
    *,
    every: float,
    jitter: float = 0.0,
    drift: float = 0.0,
    over: int = OVER,
    wraps: int | None = None,
    first: tuple[float, float] | None = None,
    runs: Callable[[Any], bool] = lambda _state: True,
) -> Spec[Any, Any]:
    """Return the spec of a system that also sends a message periodically, for example a heartbeat each 20 ms.

    The period is `every` seconds. Each message may come up to `jitter` seconds before or after its time. `drift` is the
    largest relative error of the system's clock: 100e-6 means 100 ppm. otf checks each period, and the mean of `over`
    periods, so that it also notices a period that is wrong by less than the jitter. A path fails on a missing, doubled,
    early or late message.

    `output` is the message, or a function of the state and the message's number. Whenever the system begins to send,
    the first message has the number 0. After `wraps` messages, the numbers begin at 0 again: pass 256 for an 8-bit
    counter, or 15 for profile 1 of AUTOSAR E2E. A path fails on a counter that freezes, skips a number, or wraps at the
    wrong number. If `wraps` is not given, the message must not depend on its number; the model raises ModelError for a
    message that does.

    `runs(state)` returns whether the system sends the message in a state (default: in all states). The first message
    comes within the window `first`, in seconds after the system begins to send (default: after one period). `name` is
    the name of the timer. The states of the returned spec are objects of the class `Cycling`. `cyclic` raises
    UsageError for invalid times or numbers.

    >>> from otf.spec import goto
    >>> node = Spec(lambda on, inp: [goto(not on, "ok")], False, ["switch"], name="node")
    >>> beats = cyclic(node, "beat", lambda on, n: f"beat {n}", every=0.02, jitter=0.002, wraps=16, runs=lambda on: on)
    >>> [way.timers for way in beats.step(beats.initial, "switch")]
    [(TimerStart(name='beat', lo=0.0, hi=0.022),)]
    """
    if not (every > 0 and jitter >= 0 and 0 <= drift < 1 and over >= 1 and (wraps is None or 1 <= wraps <= COUNTED)):
        message = (
            f"cyclic(…, {name!r}, every={every!r}, jitter={jitter!r}, drift={drift!r}, over={over!r}, wraps={wraps!r})"
        )
        raise UsageError(
            f"{message}: give seconds, the drift as a share from 0 to 1, and numbers up to 2 to the power of 32"
        )
    made = _Cyclic(spec, Cycle(name=name, every=every, jitter=jitter, drift=drift, over=over, first=first), runs)
    return made.spec(output, wraps)


class _Cyclic:
    """The functions of a spec with a cyclic message."""

    def __init__(self, base: Spec[Any, Any], cycle: Cycle, runs: Callable[[Any], bool]) -> None:
        self.base, self.cycle, self.runs = base, cycle, runs

    def spec(self, output: object, wraps: int | None) -> Spec[Any, Any]:
        base, moved = self.base, self.moved

        # closures over the base, not over this object: a model's fingerprint looks for specs there
        def step(now: Cycling[Any], inp: Any) -> Iterator[Any]:  # noqa: ANN401 -- any input
            return (moved(now, way) for way in base.step(now.state, inp))

        def emits(now: Cycling[Any]) -> Iterator[Any]:
            if base.emits is not None:
                yield from (moved(now, way) for way in base.emits(now.state))
            yield from self.ticks(now, output, wraps)

        inputs = Within(lambda now: base.inputs(now.state), base.inputs, lambda now: now.state)

        def malformed(now: Cycling[Any], inp: Any) -> Iterable[Any] | None:  # noqa: ANN401 -- any input
            ways = None if base.malformed is None else base.malformed(now.state, inp)
            return None if ways is None else [moved(now, way) for way in ways]

        return Spec(
            step,
            Cycling(base.initial),
            inputs,
            emits,
            name=base.name,
            partial=None if base.partial is None else _Cyclic(base.partial, self.cycle, self.runs).spec(output, wraps),
            malformed=None if base.malformed is None else malformed,
            timers=[*base.timers, *([self.cycle.begins] if self.runs(base.initial) else [])],
        )

    def ticks(self, now: Cycling[Any], output: object, wraps: int | None) -> Iterator[Transition[Any]]:
        """Yield the next message, if the state sends it."""
        if self.runs(now.state):
            message = output(now.state, now.number) if callable(output) else output
            if wraps is None and callable(output) and (second := output(now.state, 1)) != message:
                self._unnumbered(message, second)
            after, timers, period = self.cycle.next(now.period)
            yield goto(Cycling(now.state, (now.number + 1) % (wraps or 1), period), message, after=after, timers=timers)

    def _unnumbered(self, first: object, second: object) -> NoReturn:
        numbers = f"its messages are numbered ({show(first)}, then {show(second)}), and nothing says when the number"
        message = f"cyclic(…, {self.cycle.name!r}): {numbers} begins again at 0"
        raise ModelError(f"{message}: give wraps=, such as 256 for an 8-bit counter")

    def moved(self, now: Cycling[Any], way: Any) -> Any:  # noqa: ANN401 -- whatever a model yields
        """Return a transition of the base with its effect on the message."""
        if isinstance(way, Accept):

            def then(seen: Sequence[Any]) -> list[Cycling[Any]]:
                return [self._unmoved(now, state) for state in way.then(seen)]

            return replace(way, then=then)
        if not isinstance(way, Transition):
            return way  # the oracle reports it, with its place
        moved: Transition[Any] = way  # pyright: ignore[reportUnknownVariableType] -- a model may yield anything
        before, after = self.runs(now.state), self.runs(moved.state)
        if before == after:
            return replace(moved, state=Cycling(moved.state, now.number, now.period))
        actions = [self.cycle.begins] if after else self.cycle.stops
        return replace(moved, state=Cycling(moved.state), timers=(*moved.timers, *actions))

    def _unmoved(self, now: Cycling[Any], state: Hashable) -> Cycling[Any]:
        if self.runs(now.state) != self.runs(state):
            message = f"an Accept starts or stops the cyclic message {self.cycle.name!r}: its state is known too late"
            raise ModelError(f"{message} for a timer; start it in a transition")
        return Cycling(state, now.number, now.period)
