"""One path: a session on a fresh copy of the system, with its pacing and its trace."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final

from anyio import CancelScope, current_time
from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.adapter.board import recorded
from otf.adapter.faults import planned
from otf.adapter.log import bound, note
from otf.adapter.observed_rest.wakers import Wakers
from otf.adapter.third_party import blaming, where
from otf.adapter.threads import ThreadWatch
from otf.campaign.recorder import OnEvent, Recorder, reread
from otf.campaign.results import PathResult
from otf.codec.malformed import Malformed
from otf.core import Chooser, Oracle, Pacing, Session, Symbol, View
from otf.core.commands import GoesPast
from otf.core.pacing import Strict
from otf.core.timer_waits import Timers
from otf.core.undelayed import is_undelayed
from otf.core.walk import Act, Walk, bounded, excused
from otf.errors import USERS_OWN, ContactError, OtfError, UsageError, WriteError
from otf.runner import TraceWriter, drive
from otf.runner.driving import Aftermath, with_all_sent
from otf.strategy.renames import NamedRun, renaming
from otf.trace.drawn_names import without_drawn_names
from otf.trace.events import Event, Sent
from otf.trace.record import LARGEST, Header
from otf.trace.verdict import Verdict
from otf.values.arguments import brief, unfit
from otf.values.raised import describe

TURN: Final = 100  # steps of a system in this process until the event loop gets a turn
SLICE: Final = 0.05  # seconds that these steps may take: if they take longer, the next turn comes sooner
GRACE: Final = 10  # quiescence times in which the last step may end once the time is over
SELDOM: Final = 100  # garbage collection searches the oldest objects this many times less often than usual
INTERRUPTED = Verdict("inconclusive", why="interrupted")
STARTING: Final = Verdict("inconclusive", why="the time was over while the system was being started")


class PathRun:
    """One path on one bench: `run` it once."""

    def __init__(  # noqa: PLR0913 -- what a path needs, each once
        self,
        bench: Bench,
        oracle: Oracle,
        header: Header,
        trace: Path,
        on_event: OnEvent | None = None,
        *,
        largest: int = LARGEST,
        aftermath: Aftermath = lambda _: 0.0,
        wakers: Wakers | None = None,
        observe: OnEvent | None = None,
        records: bool = True,
        goes_past: GoesPast | None = None,
        least: int = 0,
    ) -> None:
        self.aftermath = aftermath
        # with fewer inputs it does not pass
        self._least = least
        self.records = records
        # inputs of a burst may have been taken in any order: after its failure, no state can be guessed
        self._goes_past = goes_past if header.burst == 1 else None
        self._wakers = wakers
        self.bench = bench
        self.oracle = oracle
        self.header = header
        self.trace = trace
        self.largest = largest
        self._on_event = on_event
        # what the chooser hears before it chooses
        self._observe = observe
        self.silence: str | None = None  # how it is recognised, None until the system has started
        self.short: bool = False
        self.malformed: int = 0
        self._session: Session | None = None
        self._writer: TraceWriter
        self._record: Recorder

    async def run(
        self,
        chooser: Chooser,
        steps: int,
        pacing: Pacing | None = None,
        *,
        until: float = inf,
        earlier: Sequence[NamedRun | None] = (),
    ) -> PathResult:
        """Run the path, strictly if no pacing is given, and return its result; its trace always has an end.

        After `until`, by anyio's clock, it sends no input, and cuts off a step that does not end soon. If it cannot
        reach the system, it tries again as often as the bench allows, then raises ContactError. `earlier`: the runs
        that the chooser's inputs come from, if the system chose names in them.
        """
        began = current_time()
        self._begin(renaming(chooser, earlier) if earlier else None)
        try:
            where = bound(run=self.header.run, path=self.header.path)
            with where, blaming(), planned(f"{self.header.seed}/{self.header.path}", self.header.faults):
                note("path begins", trace=str(self.trace))
                verdict = self._whole(await self._try_starts(self._until(chooser, until), steps, pacing, until))
            self._finish(verdict)
        except Exception as error:
            with suppress(WriteError):
                self._writer.end(Verdict("inconclusive", why=str(error)))
            raise
        except BaseException:  # cancelled, or interrupted in a model that hangs
            with suppress(WriteError):
                self._writer.end(INTERRUPTED)
            raise
        finally:
            self._writer.close()
        kept = self._events() if verdict.failed else ()
        writer, lasted = self._writer, current_time() - began
        told = tuple(self._record.faults), writer.trouble, self.silence or "", lasted, self.short, (), self.malformed
        together = max(min(1, writer.steps), 0 if self._session is None else self._session.together)
        return PathResult(
            self.header.path,
            without_drawn_names(verdict, kept) if kept else verdict,
            writer.steps,
            self.trace,
            kept,
            *told,
            together,
            writer.digest,
            writer.heard,
        )

    def _begin(self, renames: OnEvent | None) -> None:
        self._observe = renames or self._observe
        types = None if self.bench.codec is None else self.bench.known_types  # asks the model, which may raise
        self._writer = TraceWriter(self.trace, self.header, datetime.now(UTC), self.largest)
        # if the model says what follows them, malformed inputs count as tests like any others
        counts = self.bench.malformed and self.bench.spec.malformed is None
        told = self._count if counts else self._on_event
        self._record = Recorder(self._writer, _both(self._observe, told), types)

    def _whole(self, verdict: Verdict) -> Verdict:
        if verdict.stalled and self._record.whole and is_undelayed(self.oracle, self._record.events):
            verdict = replace(verdict, stalled=0.0)
        return verdict if self.short else with_all_sent(verdict, self._writer.steps, self._least)

    def _finish(self, verdict: Verdict) -> None:
        head, steps = self.header, self._writer.steps
        note("path ended", run=head.run, path=head.path, verdict=verdict.outcome, why=verdict.why, steps=steps)
        try:
            self._writer.end(verdict)
        except WriteError:
            if not verdict.failed:
                raise
            # it found a failure: report it, even if the disk is full

    def _count(self, event: Event) -> None:
        self.malformed += isinstance(event, Sent) and isinstance(event.input, Malformed)
        if self._on_event is not None:
            self._on_event(event)

    def _events(self) -> Sequence[Event]:
        if self._writer.dropped.events:
            return ()
        return self._record.events if self._record.whole else reread(self.trace, self.bench)

    def _note_silence(self, silence: str) -> None:
        """Record how the silences of the path are detected; its header says so as long as no event was recorded."""
        self.silence = silence
        note("silence", known=silence)
        if not self._record.begun:
            self._writer.known(silence)

    def _until(self, chooser: Chooser, until: float) -> Chooser:
        # every step makes a choice, and reading the clock takes time, so skip it without an end
        return chooser if until == inf else _Timed(chooser, until, self._over)

    def _over(self) -> None:
        self.short = True

    async def _walk(self, chooser: Chooser, steps: int, make: Callable[[], Act]) -> Verdict:
        """Walk through a system in this process; the event loop gets its turns, so that interruptions arrive."""
        died = list[BaseException]()
        with ThreadWatch(died.append) as watch:
            act = bounded(watch.call(_made, make, self.bench.made_at), died)
            walk = Walk(self.oracle, act, keep=TURN, goes_past=self._goes_past)
            verdict, recorded, turn = None, 0, 1
            while verdict is None and walk.steps < steps:
                began = monotonic()
                verdict = watch.call(walk.chosen, chooser, min(turn, steps - walk.steps))
                slow = monotonic() - began > SLICE or self._observe is not None
                turn = max(1, turn // 2) if slow else min(TURN, turn * 2)
                for event in walk.events(recorded):
                    self._record(event)
                recorded = walk.steps
                await checkpoint()
        if died and verdict is None:
            self._record(walk.ended(died[0]))
        return excused(verdict or walk.end(), walk)

    async def _try_starts(self, chooser: Chooser, steps: int, pacing: Pacing | None, until: float) -> Verdict:
        if self.bench.system is not None:
            return await self._walk(chooser, steps, self.bench.system)
        pacing = pacing or Strict(self.bench.timing, Timers(last=True))
        for attempt in range(self.bench.retries + 1):
            given, past = self.bench.barrier, self._goes_past
            session = self._session = Session(self.oracle, chooser, pacing, steps=steps, barrier=given, goes_past=past)
            grace = GRACE * self.bench.timing.quiescence
            try:
                with CancelScope(deadline=until + grace):
                    return await self._drive_session(session)
                self.short = True
                return STARTING if self.silence is None else _cut_verdict(session, grace)
            except ContactError:
                # after the first event the path is used up: a second start would be another path of the same name
                if attempt == self.bench.retries or self._record.begun:
                    raise
                note("start failed, and is tried again", "warning", attempt=attempt + 1)
        raise AssertionError

    async def _drive_session(self, session: Session) -> Verdict:
        recording = self.bench.life.recording if self.records and self.bench.life else None
        if recording is None:
            return await self._drive(session)
        async with recorded(recording, self.trace) as keep:
            verdict = await self._drive(session)
            if verdict.failed:
                keep()
        return _with_recording(verdict, recording.file(self.trace))

    async def _drive(self, session: Session) -> Verdict:
        return await drive(self.bench, session, self._record, self._note_silence, self.aftermath, self._wakers)


def _with_recording(verdict: Verdict, file: Path) -> Verdict:
    """Return a verdict whose failure mentions the recording that was kept."""
    failure = verdict.failure
    if failure is None or not file.exists():
        return verdict
    note = "\n".join(filter(None, (failure.note, f"recorded beside this path: {file.name}")))
    return replace(verdict, failure=replace(failure, note=note))


def _both(one: OnEvent | None, other: OnEvent | None) -> OnEvent | None:
    if one is None or other is None:
        return one or other

    def told(event: Event) -> None:
        one(event)
        other(event)

    return told


class _Timed:
    """Ends a path once its time is over, after the quiescence of its last step."""

    def __init__(self, chooser: Chooser, until: float, over: Callable[[], None]) -> None:
        self._chooser = chooser
        self._until = until
        self._over = over

    def choose(self, view: View) -> Symbol | None:
        if current_time() < self._until:
            return self._chooser.choose(view)
        self._over()
        return None


def _cut_verdict(session: Session, grace: float) -> Verdict:
    """Return the verdict of a path that could send no input until its time was over, and for some time after."""
    verdict = session.verdict or session.monitor.end()
    if verdict.outcome != "pass":
        return verdict
    why = f"no input could be sent in the last {grace:.3g} s or more: {session.hindrance()}"
    return replace(verdict, outcome="pass" if session.monitor.sent else "inconclusive", why=why)


def _made(make: Callable[[], Act], made_at: str) -> Act:
    """Return the system; `made_at` is the line of its bench. Raises UsageError, or ContactError if `make` raises."""
    try:
        act = make()
    except (OtfError, *USERS_OWN):
        raise
    except BaseException as error:
        message = f"the system cannot be made: {where(error)}: {describe(error)}"
        raise ContactError(message) from error
    if why := unfit(act, "input"):
        message = f"{brief(make)} must make a function from an input to its outputs, such as Machine().step"
        raise UsageError(f"{message}; {why}{made_at}")
    return act


@contextmanager
def undisturbed() -> Generator[None, None, None]:
    """Exclude all existing objects from garbage collection until the context is left.

    Searching all modules and models takes ten milliseconds or more, in which the tester neither sends nor receives;
    with time windows, an output may come in that time. Objects made during a run are collected as before, but the
    oldest generation a hundred times less often. The core remembers 100,000 answers without any cycle, and searching
    these takes a third of a second. Objects that were frozen before stay frozen.
    """
    young, middle, old = gc.get_threshold()
    ours = gc.get_freeze_count() == 0
    if ours:
        gc.freeze()
    gc.set_threshold(young, middle, old * SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        if ours:
            gc.unfreeze()
