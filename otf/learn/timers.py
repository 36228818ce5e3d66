"""Timers of a learnt system: measures what it does by itself in a wait, and which inputs restart the timer.

Waiting (`Elapse`) is one of the inputs. If a wait had an effect, a timer expired. The module measures when its outputs
come, and finds the time of a silent change by bisection. Then it finds out for each input that leads from one state of
a timer to another whether the timer runs on or restarts: it waits for half of the timer's time, sends the input, and
waits for the other half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Final, NamedTuple

from otf.adapter import Bench
from otf.learn.answers import CLOSED
from otf.learn.learning import LearntMachine
from otf.learn.listening import PathDriver
from otf.learn.symbols import SILENT, PortOutputs, Symbols
from otf.spec import Elapse
from otf.suite.complete import cover
from otf.suite.identify import Splitting
from otf.suite.machine import Word
from otf.values import show

TIMES: Final = 3  # paths that measure an output
TRIES: Final = 6  # paths to decide whether an input restarts a timer, if the machine is late
HALVINGS: Final = 6  # waits to find a silent change, to a 64th of the whole wait
PART: Final = 0.6  # share of a timer before and after an input: together more than the timer, each alone less
FEWER: Final = 0.8
MARGIN: Final = 0.1  # share of the measured times by which to widen the bounds on either side
LEAST: Final = 0.02  # the least such margin, in seconds


class _Probe(NamedTuple):
    """Whether a timer had expired; when that showed, since its start and since the last input; and the lateness."""

    expired: bool
    since_start: float
    since_input: float
    late: float


@dataclass
class LearntTimer:
    """A timer: its bounds in seconds, the states in which it runs, and the transitions that restart it.

    Whether the `unsure` ones do is unknown.
    """

    name: str
    lo: float
    hi: float
    answer: str
    states: set[int] = field(default_factory=set[int])
    restarted: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    unsure: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    @property
    def started(self) -> str:
        """Return the code that starts it."""
        return f"start({self.name!r}, {self.lo:.3g}, {self.hi:.3g})"

    def __str__(self) -> str:
        """Return it with its bounds."""
        return f"{self.name}: {self.lo:.3g} to {self.hi:.3g} s"

    def is_like(self, lo: float, hi: float, answer: str) -> bool:
        """Return whether a timer with these bounds and this answer may be this one."""
        return answer == self.answer and lo <= self.hi and self.lo <= hi


class TimerMeasurement:
    """Measures the timers of a learnt machine, by separate paths; `notes` say which waits remain."""

    def __init__(
        self, bench: Bench, inputs: Sequence[Any], machine: LearntMachine, symbols: Symbols, folder: Path
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._paths = 0
        self.timers: list[LearntTimer] = []
        self.notes: list[str] = []
        self._bench, self._inputs, self._machine, self._symbols = bench, inputs, machine, symbols
        self._wait = next(at for at, inp in enumerate(inputs) if isinstance(inp, Elapse))
        self._whole: float = inputs[self._wait].seconds
        numbered = machine.numbered()
        self._ways = cover(numbered)
        self._tree = Splitting(numbered)

    async def run(self) -> None:
        """Measure; the traces go to a folder of their own."""
        for state in range(self._machine.size):
            out, then = self._machine.out[state][self._wait], self._machine.next[state][self._wait]
            if out == CLOSED or (out == SILENT and then == state):
                continue
            bounds = await self._silent(state, then) if out == SILENT else await self._heard(state)
            if bounds is not None:
                self._timer(*bounds, out).states.add(state)
        for timer in self.timers:
            for state in sorted(timer.states):
                await self._restarts(timer, state)

    def _timer(self, first: float, last: float, answer: str) -> LearntTimer:
        lo = max(0.0, first * (1 - MARGIN) - LEAST)
        hi = last * (1 + MARGIN) + LEAST
        for known in self.timers:
            if known.is_like(lo, hi, answer):
                known.lo, known.hi = min(known.lo, lo), max(known.hi, hi)
                return known
        self.timers.append(LearntTimer(f"timer {len(self.timers) + 1}", lo, hi, answer))
        return self.timers[-1]

    async def _heard(self, state: int) -> tuple[float, float] | None:
        """Return when the outputs of a wait came, since the last input; None if they came at several moments."""
        first, last = list[float](), list[float]()
        for _ in range(TIMES):
            *before, (_, *came) = (await self._drive((*self._ways[state], self._wait)))[1]
            if came:
                began = before[-1][0] if before else 0.0
                first.append(came[0] - began)
                last.append(came[-1] - began)
        if not first or max(last) > 2 * min(first):
            shown = ", ".join(map(show, (self._inputs[inp] for inp in self._ways[state]))) or "the start"
            self.notes.append(
                f"After {shown} a wait has outputs of several moments: a shorter --wait tells them apart."
            )
            return None
        return min(first), max(last)

    async def _silent(self, state: int, then: int) -> tuple[float, float]:
        """Return the interval in which a state changes without an output.

        What counts is when the next input was sent, since the machine may be late, by `late` seconds.
        """
        lo, hi, late = 0.0, self._whole, 0.0
        for _ in range(HALVINGS):
            probe = await self._probe(self._ways[state], state, then, max(LEAST, (lo + hi) / 2 - late))
            if probe.expired:
                hi = min(hi, probe.since_start)
            else:
                lo = max(lo, probe.since_start)
            late = probe.late
        return lo, max(lo, hi)

    async def _probe(self, way: Word, state: int, then: int, *waits: float, between: Word = ()) -> _Probe:
        """Return whether a timer has expired after waits with an input between them.

        The output of a final wait shows that, or inputs that distinguish the two states.
        """
        heard = self._machine.out[state][self._wait] != SILENT
        apart = (self._wait,) if heard else self._tree.apart(state, then)
        first = len(self._inputs)
        waiting = [(*between * (at > 0), first + at) for at in range(len(waits))]
        word = (*way, *(inp for each in waiting for inp in each), *(between if heard else ()), *apart)
        outputs, times = await self._drive(word, [*map(Elapse, waits)])
        if len(times) < len(word):  # the connection had ended by then: the timer had expired too early
            return _Probe(expired=True, since_start=inf, since_input=0.0, late=0.0)
        ends = zip(apart, outputs[-len(apart) :], strict=True)
        seen = [CLOSED if each is None else self._symbols.text(each, inp) for inp, each in ends]
        began = times[len(way) - 1][0] if way else 0.0
        until = times[len(word) - len(apart)]
        last = times[len(way) + 1][0] if between else began
        looked = until[1] if heard and len(until) > 1 else until[0]
        expired = bool(outputs[-1]) if heard else seen != self._answers(state, apart)
        return _Probe(expired, looked - began, looked - last, looked - last - waits[-1])

    def _answers(self, state: int, word: Word) -> list[str]:
        found = list[str]()
        for inp in word:
            found.append(self._machine.out[state][inp])
            state = self._machine.next[state][inp]
        return found

    async def _restarts(self, timer: LearntTimer, state: int) -> None:
        """Find the inputs that restart a timer in one of its states."""
        machine = self._machine
        for inp, then in enumerate(machine.next[state]):
            if inp == self._wait or then not in timer.states or machine.out[state][inp] == CLOSED:
                continue
            found = await self._restarted(timer, state, inp)
            if found is None:
                self.notes.append(f"Whether {show(self._inputs[inp])} starts {timer.name} again could not be told.")
                timer.unsure.add((state, inp))
            elif found:
                timer.restarted.add((state, inp))

    async def _restarted(self, timer: LearntTimer, state: int, inp: int) -> bool | None:
        """Return whether an input restarts a timer: if not, it expires too early for that, else too late."""
        then, part = self._machine.next[state][inp], PART * timer.lo
        after = self._machine.next[then][self._wait]
        waits = [part] if timer.answer != SILENT else [part, part]
        for _ in range(TRIES):
            probe = await self._probe(self._ways[state], then, after, *waits, between=(inp,))
            before = probe.since_start - probe.since_input
            if before >= timer.lo:  # the machine was late: it may have expired before the input
                waits[0] = max(LEAST, waits[0] / 2)
            elif probe.expired and probe.since_input < timer.lo:
                return False
            elif probe.since_start > timer.hi:
                return True
            else:
                waits[-1] *= FEWER if probe.expired else 1 / FEWER
        return None

    async def _drive(
        self, word: Word, more: Sequence[Elapse] = ()
    ) -> tuple[list[PortOutputs | None], list[list[float]]]:
        driver = PathDriver(self._bench, [*self._inputs, *more], self._folder, begin=self._paths)
        outputs = await driver.drive(word)
        self._paths = driver.paths
        return outputs, driver.times
