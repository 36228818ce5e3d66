"""Observes whether the system behind a wire rests, while a run waits for silence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from otf.adapter import Bench
from otf.adapter.kept import hand_over, recall
from otf.adapter.line import NEVER
from otf.adapter.observed_rest.calls import ANYTIME
from otf.adapter.observed_rest.place import Delaying, Placed, Unseen
from otf.adapter.observed_rest.wakers import Trust, Wakers
from otf.core import Symbol
from otf.core.pacing import PATIENCE
from otf.runner.cpu_use import in_real_time
from otf.runner.wire import Wire
from otf.strategy.least import action

if TYPE_CHECKING:
    from otf.adapter.observed_rest.system import Rest, SystemProcesses

OnSilence: TypeAlias = Callable[[str], None]
"""Takes how the silences of a run are known: `OBSERVED`, or `timed` with the reason."""

OBSERVED: Final = "observed"
TRUSTING: Final = "observed, trusting"
WRONGLY: Final = f"{TRUSTING} wrongly"
# Looks in a row. By then most systems have taken an input if they run alone. Next to busy processes, a tester that
# spins longer keeps the system from its processor: 210 steps/s with 20 looks, 410 with one, at a load of 27.
PROMPT: Final = 6
FIRST: Final = 0.00005  # seconds until the look after these; the pause grows by as much with each look …
LONGEST: Final = 0.001  # … up to this
ENDLESS: Final = 30.0  # seconds without a rest, after which none is expected any more
UNREAD: Final = 3.0  # seconds: ngircd, which limits its clients, reads a line 2 s late; a server that hangs never does
BUSY: Final = 0.25  # seconds of computing that are always waited for
SHARED: Final = "other runs drive the same processes, which did not rest within the quiescence time"
MOST: Final = 16  # runs that observe at once: with more, looking takes longer than waiting
ALL: Final = 0  # the key of all observing runs, as if it were the number of a process
watched: Final[Counter[int]] = Counter()  # how many runs observe, in total and per process of their systems


TICKS: Final = 200
"""Rests ended by timers within one wait, after which the system is taken to tick forever."""


@dataclass(slots=True)
class Stillness:
    """The rest that is still needed: `left` of the `wanted` seconds of sleep, as the quiescence time counts it.

    By wall-clock time, a chain of short timers, new threads and new processes outlasts any quiescence time on a busy
    machine. While all threads sleep, only timers can wake them.

    Silence is believed once no thread can wake within what is left. If one may, otf waits for it, and then needs a new
    rest. Only the time for which all threads certainly slept counts.
    """

    left: float
    wanted: float
    ticks: int = 0
    _since: float | None = None
    _due: float = ANYTIME

    def rest(self, began: float, ended: float, due: float, *, still: bool) -> bool:
        """Take a rest observed between two moments; return whether silence is believed.

        `due`: the earliest moment at which a thread may wake. `still`: no thread ran since the rest before.
        """
        self._count(began, still=still)
        if not still:
            self.ticks += 1
        self._since, self._due = ended, due
        if due > ended + max(self.left, 0.0):
            return True
        # A wake-up at an unknown time is not awaited any longer than that. One that is overdue is awaited twice as
        # long, since its interrupt may be late.
        return self.left <= (0.0 if due == ANYTIME else -self.wanted)

    def broken(self, at: float) -> None:
        """Record that a thread was seen to run at that moment."""
        self._count(at, still=False)
        self._since = None

    @property
    def ticking(self) -> bool:
        """Whether timers end the rests again and again."""
        return self.ticks > TICKS

    def _count(self, until: float, *, still: bool) -> None:
        if self._since is not None:
            # a sleep that only a timer can end lasted at least until that timer
            asleep = until if still else min(until, self._due)
            self.left -= max(asleep - self._since, 0.0)


class Observer:
    """Decides, while a run waits for silence, whether the system rests; `pause` (seconds) is when to look again.

    `wait` begins each wait; from then on, `why` says why no rest can be observed, "" if one can.
    """

    def __init__(self, wire: Wire, system: SystemProcesses, wakers: Wakers | None = None) -> None:
        self.trust: Trust | None = None if wakers is None else Trust(wakers)
        self.why: str = ""
        self.pause: float = 0.0
        self._wire = wire
        self._system = system
        self._delaying = [line for line in wire.lines.values() if isinstance(line, Delaying)]
        self._empty = self._all_arrived if self._delaying else wire.empty
        # the present wait: until when, and how long silence has to last
        self._until, self._wanted, self._rest = NEVER, 0.0, 0.0
        self._stillness = Stillness(0.0, 0.0)
        self._began = self._used = 0.0
        self._since, self._restless = NEVER, 0.0
        # when the last input was sent and what it was; whether to trust no thread; what `trust` has been told
        self._input, self._careful, self._told, self._new = NEVER, True, NEVER, True
        self._last: Symbol | None = None
        self._looks = 0

    def wait(  # noqa: PLR0913 -- what a wait needs, each once
        self,
        until: float,
        wanted: float,
        *,
        rest: float = NEVER,
        since: float = 0.0,
        careful: bool = False,
        last: Symbol | None = None,
    ) -> None:
        """Begin to wait for silence of `wanted` seconds, unless it is the same wait as before, by its end.

        `rest`: how long a rest must last, if less. `since`: when the last input was sent. How long a system computes
        counts from then, or from its last rest. Each output begins a new wait, so one that computes and emits forever
        would otherwise be waited for as long. `careful`: much depends on this rest, so slow checks are made too.
        `last`: the input, or None if no thread may be trusted to wake for nothing.
        """
        if self._until != until:
            self._rest = min(wanted, rest)
            self._stillness = Stillness(self._rest, self._rest)
            self._began = time.monotonic()
            self._input, self._last, self._careful, self._new = since, last, careful or last is None, True
            if self._since != since:
                self._since, self._restless, self._used = since, self._began, -1.0
            self._looks = 0
            if careful:
                self._examine()
        self._until, self._wanted = until, wanted

    def look(self) -> bool:
        """Look at the system and at all ports; return whether silence is certain."""
        try:
            rest = self._system.look(self._empty)
        except (Unseen, OSError) as unseen:
            self.why = str(unseen)
            return False
        now = time.monotonic()
        self._looks += 1
        if rest is None:
            self._stillness.broken(now)
        elif self._believes(rest):
            self._since, self._stillness = NEVER, Stillness(self._rest, self._rest)
            return True
        elif not rest.still:
            self._looks = PROMPT
        self._hurry(now)
        return False

    def asleep(self) -> bool:
        """Return whether all threads sleep at this moment with nothing under way, or none of that can be seen."""
        try:
            return self._system.look(self._empty) is not None
        except (Unseen, OSError):
            return True

    def glance(self) -> None:
        """Note which threads sleep now, while the run waits for a timer of the system.

        The more frequent these glances, the more precisely the end of a later sleep is known. Otherwise a thread whose
        timer has just expired might have slept since the wait began, and its next timer might be due at once.
        """
        with suppress(OSError):
            self._system.glance()

    def slept(self) -> float:
        """Return for how many seconds all threads certainly slept in the present wait, which an arrival has ended."""
        self._stillness.broken(time.monotonic())
        return self._rest - self._stillness.left

    def heard(self, since: float, *, answer: bool) -> None:
        """Note an arrival after the input at `since`: a thread trusted to wake for nothing may have sent it.

        `answer`: the model demands it. Then it answers that input, if there was no rest since.
        """
        trust = self.trust
        if trust is not None and trust.last and not (answer and (self._told != since or not trust.seen)):
            self.glance()
            trust.heard(self._system.sleepers.counters)

    @property
    def how(self) -> str:
        """How the silences are known, as text."""
        if self.why:
            return f"timed: {self.why}"
        if self.trust is None or not self.trust.used:
            return OBSERVED
        names = ", ".join(sorted({each.name for each in self.trust.used}))
        wrong = self.trust.used & self.trust.lost
        return f"{WRONGLY if wrong else TRUSTING} that these wake for nothing: {names} (95 % sure of 97 times in 100)"

    def _believes(self, rest: Rest) -> bool:
        certain, trust = self._stillness.rest(rest.began, rest.ended, rest.due, still=rest.still), self.trust
        if trust is None or (certain and not trust.last):
            return certain
        if self._told != self._input:
            trust.sent("" if self._last is None else action(self._last))
            self._told = self._input
        if self._new:
            trust.wait(careful=self._careful or self._shared)
            self._new = False
        by = rest.ended + max(self._stillness.left, 0.0)
        waking = {} if certain else self._system.waking(rest.ended, by)
        return trust.rest(waking, self._system.sleepers.counters) or certain

    def _examine(self) -> None:
        from otf.adapter.observed_rest.attach import examine

        try:
            examine(self._system)
        except (Unseen, OSError) as unseen:
            self.why = str(unseen)

    def _all_arrived(self) -> bool:
        # checks first for what was written but has not arrived: what arrives meanwhile is seen at the ports afterwards
        patient = time.monotonic() - self._began < UNREAD
        on_its_way = patient and any(line.under_way() for line in self._delaying)
        return self._wire.empty() and not on_its_way

    def _hurry(self, now: float) -> None:
        self.pause = 0.0 if self._looks < PROMPT else min(FIRST * (self._looks - PROMPT + 1), LONGEST)
        if self._stillness.ticking:
            self.why = "timers wake it again and again within the quiescence time"
        elif now - self._restless > ENDLESS:
            self.why = f"it has not rested for {ENDLESS:g} s"
        elif now - self._began > self._wanted and self._shared:
            # what they do for others does not mean that an answer is still to come, and with many runs it never ends
            self.why = SHARED
        elif now - self._restless > BUSY and self._looks % PROMPT == 0 and self._computes():
            self.why = "it computes for longer than silence would be waited for"

    @property
    def _shared(self) -> bool:
        return max(map(watched.__getitem__, self._system.roots), default=0) > 1

    def _computes(self) -> bool:
        used = self._system.used()
        if self._used < 0:
            self._used = used
        return used - self._used > max(BUSY, PATIENCE * self._wanted)


@asynccontextmanager
async def observing(
    bench: Bench, wire: Wire, started: Collection[int], known: OnSilence, wakers: Wakers | None = None
) -> AsyncGenerator[Observer | None, None]:
    """Observe the system behind a wire, if the bench wants that and it is possible; tell `known` whether it is.

    A system in this process needs no such observation, and `known` gets "".
    """
    if all(isinstance(line, Placed) and line.place().inside for line in wire.lines.values()):
        known("")
        yield None
        return
    try:
        system = _attach(bench, wire, started)
    except Unseen as unseen:
        known(f"timed: {unseen}")
        yield None
        return
    observer = Observer(wire, system, wakers)
    known(OBSERVED)
    counted = {ALL, *system.roots}
    watched.update(counted)
    try:
        yield observer
        if observer.how != OBSERVED:
            known(observer.how)
    finally:
        watched.subtract(counted)
        hand_over(system)


def _attach(bench: Bench, wire: Wire, started: Collection[int]) -> SystemProcesses:
    if bench.silence == "timed":
        raise Unseen("the bench or the user says so")
    if not in_real_time():
        raise Unseen("the clock of the event loop is not that of the system")
    if watched[ALL] >= MOST:
        raise Unseen(f"{MOST} other runs observe their systems at this time")
    from otf.adapter.observed_rest.attach import attached

    system = attached(wire.lines, started, bench.pids)
    recall(system)
    return system
