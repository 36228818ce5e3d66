"""Logs that otf did not write: it judges their events, and the silences between them, with the same oracle as live.

Foreign logs do not record quiescence, so it follows from the times. A pause is silence if a tester would have waited
that long; if silence would fail, the pause must be ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.adapter import Bench
from otf.core import Monitor, Oracle, Session
from otf.core.belief import Belief
from otf.core.pacing import PATIENCE, Strict
from otf.core.timing import FOREVER, Span
from otf.errors import UsageError
from otf.explore import explore
from otf.offline import EventTally
from otf.strategy import Script
from otf.trace.events import Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.verdict import Verdict

MOST: Final = 10_000  # possible states if the start of a log is lost
UNIT: Final = 5e-6
"""How far the times of other tools may be off, in seconds: many write microseconds."""


class Noted(NamedTuple):
    """An `event` of a foreign log; `place` is the number of its line or packet, from 1.

    >>> Noted(Sent("press", "line", 0.0), 7).place
    7
    """

    event: Event
    place: int


@dataclass(slots=True)
class Opinion:
    """The result for a foreign log: its `verdict`, and how many inputs (`steps`) and `events` were judged.

    `place` is the place of the deciding event or, if silence decided, of the last event before it.
    `skipped`: the number of events before the first silence, if the start is lost. `cut`: the log ends inside an event.
    `strange`: the number of ignored messages, neither input nor output.

    >>> Opinion(Verdict("fail"), place=7).verdict.outcome
    'fail'
    """

    verdict: Verdict = field(default_factory=lambda: Verdict("pass"))
    place: int = 0
    steps: int = 0
    events: int = 0
    skipped: int = 0
    cut: bool = False
    strange: int = 0


def judge_foreign(log: Iterable[Noted], bench: Bench, *, lost: bool = False, ended: bool = False) -> Opinion:
    """Judge a foreign log in constant memory.

    `lost`: the start is lost, so the system may be in any state of the spec, which must have a bounded number of
    states. Events before the first silence are skipped, since they may answer lost inputs. `ended`: silence followed
    the last event; otherwise that is unknown, and outputs outstanding at the end make the log inconclusive.

    >>> from dataclasses import replace
    >>> from otf.models.coffee import Button, Coffee, Coin, bench
    >>> slow = replace(bench(), quiescence=0.5)
    >>> log = [Sent(Coin(10), "line", 0.0), Sent(Button(), "line", 1.0), Seen(Coffee(), "line", 1.1)]
    >>> opinion = judge_foreign(map(Noted, log, range(1, 4)), slow, ended=True)
    >>> opinion.verdict.outcome, opinion.steps
    ('pass', 2)
    """
    judge = ForeignJudge(bench, lost=lost)
    for each in log:
        judge.take(each)
        if judge.decided:
            break
    return judge.end(ended=ended)


class ForeignJudge:
    """The judge of one foreign log, which takes events and the current time."""

    def __init__(self, bench: Bench, *, lost: bool) -> None:
        self.opinion: Opinion = Opinion()
        self._bench = bench
        self._timing = bench.timing
        oracle = bench.oracle()
        # the session and not its monitor alone: a flood is its verdict
        self._session = Session(oracle, Script(()), Strict(bench.timing), steps=0)
        self._tally = EventTally(bench.spec)
        self._waits = lost
        if lost:
            self._session.monitor = Monitor(oracle, _anywhere(bench, oracle))
        self._last: float | None = None
        self._input = -FOREVER
        self._burst = 0
        self._quiet = True
        self._unit = UNIT

    @property
    def last(self) -> float:
        """Return the time of the last event."""
        return self._last or 0.0

    @property
    def decided(self) -> bool:
        """Return whether no further event can change the verdict."""
        return self._session.verdict is not None or self._session.monitor.belief.done

    def take(self, noted: Noted, unit: float = 0.0) -> None:
        """Take an event, and the silence before it; `unit` is the unit of the log's times in seconds, if coarse.

        Raises UsageError if the model has times, which such a log cannot show.
        """
        event = noted.event
        self._unit = max(UNIT, unit)
        self._take(noted, event)
        self._check(unit)

    def _take(self, noted: Noted, event: Event) -> None:
        self.until(event.at)
        if self.decided:
            return
        self._last = max(event.at, self._last if self._last is not None else event.at)
        self.opinion.place = noted.place
        if self._waits:
            self.opinion.skipped += 1
            return
        self._tell(event)

    def _check(self, unit: float) -> None:
        # a model shows its times only when it reaches them
        if unit > self._bench.latency and self._session.monitor.oracle.model.timed:
            has = "has no times" if unit == FOREVER else f"has times in units of {unit:g} s"
            raise UsageError(f"the model says when outputs come, and this log {has}; record it with finer ones")

    def until(self, at: float) -> None:
        """Take the current time: nothing came before it."""
        if self._last is None or (self._quiet and not self._waits):
            return
        silence = self._silence()
        if at != FOREVER:
            at -= self._unit - UNIT  # the pause may be shorter than it looks
        if at < silence - UNIT:
            return
        if self._waits:
            self._waits, self._quiet = False, True
        elif self._session.monitor.would(Quiet(silence)):
            self._tell(Quiet(silence))
        elif at >= (late := silence + (PATIENCE - 1) * (silence - self._last)):
            self._tell(Quiet(late))

    def end(self, *, ended: bool, cut: bool = False) -> Opinion:
        """Return the opinion after the last event; `cut`: an outstanding output may be in the missing part."""
        opinion, monitor = self.opinion, self._session.monitor
        opinion.cut = cut
        if ended and not cut:
            self.until(FOREVER)
        if self._waits:
            opinion.verdict = Verdict("inconclusive", why="it has no silence after which it could be judged")
        elif self.decided or self._quiet or monitor.would(Quiet(self._silence())):
            opinion.verdict = self._session.verdict or monitor.end()
        else:
            why = "it ends while an output is outstanding, and what followed is unknown"
            opinion.verdict = Verdict("inconclusive", why=why)
        opinion.steps, opinion.events = monitor.sent, monitor.events
        if opinion.events and opinion.verdict.outcome == "pass":
            why = self._tally.nothing(truncated=opinion.verdict.truncated)
            opinion.verdict = Verdict("inconclusive", why=why) if why else opinion.verdict
        return opinion

    def _tell(self, event: Event) -> None:
        self._session.tell(event)
        self._tally.take(event, free=self._session.monitor.belief.unconstrained)
        self._quiet = isinstance(event, Quiet)
        if isinstance(event, Sent):
            self._input = event.at
        self._burst = 0 if self._quiet else self._burst + isinstance(event, Sent)

    def _silence(self) -> float:
        """Return the time at which a tester would have observed quiescence."""
        monitor, timing = self._session.monitor, self._timing
        inputs = max(1, min(self._burst, monitor.ledger.unproven + 1))
        over = max(self._input + timing.round_trip(inputs), monitor.ledger.done_by + timing.latency)
        return max((self._last or 0.0) + max(timing.quiescence, timing.latency), over)


def _anywhere(bench: Bench, oracle: Oracle) -> Belief:
    """Return the belief that the system is quiet, in any state of the spec."""
    graph = explore(bench.spec, MOST)
    if not graph.whole:
        message = (
            f"the spec has more than {MOST} states: a log without its start cannot be judged; "
            "record it from the start of the system"
        )
        raise UsageError(message)
    nodes = [oracle.model.node(state) for state in graph.values]
    return oracle.anywhere(nodes, Span(-FOREVER, FOREVER))


def timed(noted: Iterable[Noted]) -> Iterator[Noted]:
    """Yield the events with times that start at 0 and never decrease, since another tool's clock may go back."""
    zero: float | None = None
    last = 0.0
    for event, place in noted:
        zero = event.at if zero is None else zero
        last = max(last, event.at - zero)
        yield Noted(_at(event, last), place)


def _at(event: Event, at: float) -> Event:  # noqa: PLR0911 -- one for each kind of event
    # `replace` would take five times as long, and there may be millions of events
    match event:
        case Sent(value, port):
            return Sent(value, port, at)
        case Seen(value, port):
            return Seen(value, port, at)
        case Closed(port, reason):
            return Closed(port, reason, at)
        case Taken(upto):
            return Taken(upto, at)
        case Stalled(seconds):
            return Stalled(seconds, at)
        case Guess():
            return Guess(at)
        case Quiet(restless=restless):
            return Quiet(at, restless)
