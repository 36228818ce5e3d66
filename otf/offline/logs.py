"""Logs that otf did not write: their events, and the silences between them, judged with the same oracle as live.

What a foreign log lacks is quiescence: nobody wrote down that nothing came. It follows from the times: where the pause
between two events is as long as a tester would have waited, there was silence; where silence would fail, it must have
lasted ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.adapter import Bench
from otf.core import Monitor, Oracle, Session
from otf.core.belief import Belief
from otf.core.pacing import PATIENCE
from otf.core.strict import Strict
from otf.core.timing import FOREVER, Span
from otf.errors import UsageError
from otf.explore import explore
from otf.strategy import Script
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Verdict

MOST: Final = 10_000  # states from which a log may begin whose start is lost


UNIT: Final = 5e-6
"""Seconds by which times of other tools may be off: many write microseconds."""


class Noted(NamedTuple):
    """An event of a foreign log, and its place there: the number of a line or packet."""

    event: Event
    place: int


@dataclass(slots=True)
class Opinion:
    """What a foreign log came to; `place` is that of the event that decided it, or of the last one before silence did.

    `skipped`: events before the first silence, of a log whose start is lost. `cut`: the log ends inside an event.
    """

    verdict: Verdict = field(default_factory=lambda: Verdict("pass"))
    place: int = 0
    steps: int = 0
    events: int = 0
    skipped: int = 0
    cut: bool = False


def judge_foreign(log: Iterable[Noted], bench: Bench, *, lost: bool = False, ended: bool = False) -> Opinion:
    """Judge a foreign log in constant memory.

    `lost`: its start is lost, and the system may be in any state of the spec, which must have a bounded number of them;
    what comes before the first silence is skipped, since it may be the end of what is not there. `ended`: after its
    last event there was silence; otherwise nobody knows, and what is still owed then makes it inconclusive.
    """
    judge = ForeignJudge(bench, lost=lost)
    for each in log:
        judge.take(each)
        if judge.decided:
            break
    return judge.end(ended=ended)


class ForeignJudge:
    """The judge of one foreign log: it is told events, and how late it is."""

    def __init__(self, bench: Bench, *, lost: bool) -> None:
        self.opinion: Opinion = Opinion()
        self._bench = bench
        self._timing = bench.timing
        oracle = bench.oracle()
        # the session and not its monitor alone: a flood is its verdict
        self._session = Session(oracle, Script(()), Strict(bench.timing), steps=0)
        self._waits = lost
        if lost:
            self._session.monitor = Monitor(oracle, _anywhere(bench, oracle))
        self._last: float | None = None
        self._input = -FOREVER
        self._burst = 0
        self._quiet = True

    @property
    def last(self) -> float:
        """Return the time of the last event."""
        return self._last or 0.0

    @property
    def decided(self) -> bool:
        """Tell whether nothing that comes can change the verdict."""
        return self._session.verdict is not None or self._session.monitor.belief.done

    def take(self, noted: Noted) -> None:
        """Take an event, and the silence before it."""
        event = noted.event
        self.until(event.at)
        if self.decided:
            return
        self._last = max(event.at, self._last if self._last is not None else event.at)
        self.opinion.place = noted.place
        if self._waits:
            self.opinion.skipped += 1
            return
        self._tell(event)

    def until(self, at: float) -> None:
        """Take that nothing came up to a time."""
        if self._last is None or (self._quiet and not self._waits):
            return
        silence = self._silence()
        if at < silence - UNIT:
            return
        if self._waits:
            self._waits, self._quiet = False, True
        elif self._session.monitor.would(Quiet(silence)):
            self._tell(Quiet(silence))
        elif at >= (late := silence + (PATIENCE - 1) * (silence - self._last)):
            self._tell(Quiet(late))

    def end(self, *, ended: bool, cut: bool = False) -> Opinion:
        """Return the opinion after the last event; what is `cut` off there may be the very output that is owed."""
        opinion, monitor = self.opinion, self._session.monitor
        opinion.cut = cut
        if ended and not cut:
            self.until(FOREVER)
        if self._waits:
            opinion.verdict = Verdict("inconclusive", why="there is no silence in it, after which it could be judged")
        elif self.decided or self._quiet or monitor.would(Quiet(self._silence())):
            opinion.verdict = self._session.verdict or monitor.end()
        else:
            why = "it ends while an output is owed, and nobody knows what followed"
            opinion.verdict = Verdict("inconclusive", why=why)
        opinion.steps, opinion.events = monitor.sent, monitor.events
        return opinion

    def _tell(self, event: Event) -> None:
        self._session.tell(event)
        self._quiet = isinstance(event, Quiet)
        if isinstance(event, Sent):
            self._input = event.at
        self._burst = 0 if self._quiet else self._burst + isinstance(event, Sent)

    def _silence(self) -> float:
        """Return the time at which a tester would have believed that there is silence."""
        monitor, timing = self._session.monitor, self._timing
        inputs = max(1, min(self._burst, monitor.ledger.unproven + 1))
        settled = max(self._input + timing.settled(inputs), monitor.ledger.done_by + timing.latency)
        return max((self._last or 0.0) + max(timing.quiescence, timing.latency), settled)


def _anywhere(bench: Bench, oracle: Oracle) -> Belief:
    """Return the belief in which the system may be in any state of the spec, and is quiet."""
    graph = explore(bench.spec, MOST)
    if not graph.whole:
        message = (
            f"the spec has more than {MOST} states, or no end of them: a log without its start cannot be judged; "
            "record it from the start of the system"
        )
        raise UsageError(message)
    nodes = [oracle.model.node(state) for state in graph.values]
    return oracle.anywhere(nodes, Span(-FOREVER, FOREVER))


def timed(noted: Iterable[Noted]) -> Iterator[Noted]:
    """Yield the events with times that never go back, from 0 at the first: clocks of other tools may be set."""
    zero: float | None = None
    last = 0.0
    for event, place in noted:
        zero = event.at if zero is None else zero
        last = max(last, event.at - zero)
        yield Noted(_at(event, last), place)


def _at(event: Event, at: float) -> Event:
    # made anew by hand: `replace` takes five times as long, and there may be millions
    match event:
        case Sent(value, port):
            return Sent(value, port, at)
        case Seen(value, port):
            return Seen(value, port, at)
        case Closed(port, reason):
            return Closed(port, reason, at)
        case Taken(upto):
            return Taken(upto, at)
        case Quiet(restless=restless):
            return Quiet(at, restless)
