"""One path: a session on a fresh copy of the system, with its trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from anyio.lowlevel import checkpoint

from otf.adapter import Bench
from otf.adapter.acting import bounded, excused
from otf.adapter.exits import blaming, said, where
from otf.adapter.faults import planned
from otf.campaign.recorder import LongTraceError, OnEvent, Recorder
from otf.campaign.reread import reread
from otf.campaign.results import PathResult
from otf.campaign.settings import LARGEST
from otf.core import Chooser, Oracle, Pacing, Session
from otf.core.strict import Strict
from otf.core.timers import Timers
from otf.errors import USERS_OWN, ContactError, OtfError, WriteError
from otf.runner import TraceWriter, drive
from otf.simulate import Walk
from otf.simulate.walk import Act
from otf.trace.events import Event
from otf.trace.record import Header
from otf.trace.verdict import Verdict

TURN: Final = 100  # steps of a system in this process between two turns of the event loop
INTERRUPTED = Verdict("inconclusive", why="interrupted")


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
    ) -> None:
        self.bench = bench
        self.oracle = oracle
        self.header = header
        self.trace = trace
        self.largest = largest
        self._on_event = on_event
        self._session: Session | None = None
        self._writer: TraceWriter
        self._record: Recorder

    async def run(self, chooser: Chooser, steps: int, pacing: Pacing | None = None) -> PathResult:
        """Conduct the path, strictly if no pacing is given, and return its result; the trace is whole whatever happens.

        A system that cannot be reached is tried again as often as the bench says. Raises ContactError after that.
        """
        self._writer = TraceWriter(self.trace, self.header, datetime.now(UTC))
        types = None if self.bench.codec is None else self.bench.known_types
        self._record = Recorder(self._writer, self._on_event, types, largest=self.largest, end=self._end)
        try:
            with blaming(), planned(f"{self.header.seed}/{self.header.path}", self.header.faults):
                verdict = await self._bounded(chooser, steps, pacing or Strict(self.bench.timing, Timers(last=True)))
            self._finish(verdict)
        except Exception as error:
            with suppress(WriteError):
                self._writer.end(Verdict("inconclusive", why=str(error)))
            raise
        except BaseException:  # cancelled, or broken out of a model that hangs
            with suppress(WriteError):
                self._writer.end(INTERRUPTED)
            raise
        finally:
            self._writer.close()
        kept = self._events() if verdict.failed else ()
        faults, writer = tuple(self._record.faults), self._writer
        return PathResult(self.header.path, verdict, writer.steps, self.trace, kept, faults, writer.trouble)

    def _finish(self, verdict: Verdict) -> None:
        try:
            self._writer.end(verdict)
        except WriteError:
            if not verdict.failed:
                raise
            # a failure was found: it is told whether the disk is full or not

    def _events(self) -> Sequence[Event]:
        return self._record.events if self._record.whole else reread(self.trace, self.bench)

    def _end(self) -> None:
        """Let no more inputs be sent: the path comes to its end."""
        if self._session is not None:
            self._session.steps = 0

    async def _bounded(self, chooser: Chooser, steps: int, pacing: Pacing) -> Verdict:
        """Return the verdict, with a word about a path that was ended for the length of its trace."""
        try:
            verdict = await self._tried(chooser, steps, pacing)
        except LongTraceError as error:
            known = None if self._session is None else self._session.verdict
            return known or Verdict("inconclusive", why=str(error))
        if self._record.full and verdict.outcome == "pass":
            return replace(verdict, why=f"the path was ended when its trace had {self.largest} bytes")
        return verdict

    async def _walked(self, chooser: Chooser, steps: int, make: Callable[[], Act]) -> Verdict:
        """Walk through a system in this process; now and then others get their turn, and interruptions are heard."""
        walk, verdict, told = Walk(self.oracle, bounded(_made(make)), keep=TURN), None, 0
        while verdict is None and not self._record.full and walk.steps < steps:
            verdict = walk.chosen(chooser, min(TURN, steps - walk.steps))
            for event in walk.events(told):
                self._record(event)
            told = walk.steps
            await checkpoint()
        return excused(verdict or walk.end(), walk)

    async def _tried(self, chooser: Chooser, steps: int, pacing: Pacing) -> Verdict:
        if self.bench.system is not None:
            return await self._walked(chooser, steps, self.bench.system)
        for attempt in range(self.bench.retries + 1):
            session = self._session = Session(self.oracle, chooser, pacing, steps=steps, barrier=self.bench.barrier)
            try:
                return await drive(self.bench, session, self._record)
            except ContactError:
                # once something was sent the path is spent: a second start would be another path under the same name
                if attempt == self.bench.retries or self._record.begun:
                    raise
        raise AssertionError


def _made(make: Callable[[], Act]) -> Act:
    try:
        return make()
    except (OtfError, *USERS_OWN):
        raise
    except BaseException as error:
        message = f"the system cannot be made: {where(error)}: {said(error)}"
        raise ContactError(message) from error
