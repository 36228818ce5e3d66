"""Candidates that run at the same time, each against its own copy of the system, judged in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import anyio
from anyio.abc import TaskGroup

from otf.adapter.third_party import ungrouped
from otf.shrink import Ahead, Candidate, Issue
from otf.shrink.issue import Thinking
from otf.trace.verdict import Signature

RunCounts: TypeAlias = Callable[[Signature], Awaitable[None]]
"""Waits until all earlier candidates have been judged; it receives the failure that the run showed."""
AHEAD: Final = 8  # candidates per copy to run before the first is judged
Runs: TypeAlias = Callable[[Candidate, RunCounts], Awaitable[Issue | None]]
Thinks: TypeAlias = Callable[[Thinking[list[Candidate]]], Awaitable[list[Candidate]]]


async def counts_always(_shown: Signature) -> None:
    """Return at once: there is no earlier candidate."""


@dataclass(slots=True, eq=False)
class CandidateRun:
    """A run of a candidate. It may end before those of earlier candidates, but `counts` only once these are judged."""

    candidate: Candidate
    woken: Callable[[], None]
    turn: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    shown: Signature | None = None
    ended: bool = False
    answer: Issue | None = None

    async def counts(self, shown: Signature) -> None:
        """Wait until every earlier candidate was judged. If one did not turn out as assumed, this run is aborted."""
        self.shown = shown
        self.woken()
        await self.turn.wait()


class ParallelRuns:
    """Runs candidates of a search, up to `jobs` at a time, and judges them in order.

    Whenever a run ends, the next one starts, however long earlier runs take. Runs with a false assumption are cut off.
    `original` is the path that failed, if it runs along with the first candidates: once a candidate shows the same
    failure, it need not go on.
    """

    def __init__(self, ahead: Ahead, runs: Runs, jobs: int, original: Candidate | None, wanted: Signature) -> None:
        self._ahead = ahead
        self._runs = runs
        self._jobs = jobs
        self._original = original
        self._wanted = wanted
        self._running = deque[CandidateRun]()
        self._active = 0
        self._event = anyio.Event()

    async def drive(self, more: Callable[[], bool], thinks: Thinks) -> None:
        """Run candidates until the search ends. When `more` forbids new ones, judge those that still run."""
        with ungrouped():
            async with anyio.create_task_group() as tasks:
                while await self._start(tasks, more, thinks):
                    await self._judge()

    async def _start(self, tasks: TaskGroup, more: Callable[[], bool], thinks: Thinks) -> bool:
        known = len(self._running)
        most = min(known + self._jobs - self._active, AHEAD * self._jobs if self._jobs > 1 else 1)
        if most > known and more():
            candidates = await thinks(self._ahead.upcoming(most))
            for candidate in candidates[known:]:
                run = CandidateRun(candidate, self._wake)
                self._running.append(run)
                self._active += 1
                tasks.start_soon(self._run, run)
        return bool(self._running or self._active)

    async def _run(self, run: CandidateRun) -> None:
        try:
            with run.scope:
                run.answer = await self._runs(run.candidate, run.counts)
                run.ended = True
        finally:
            self._active -= 1
            self._wake()

    def _wake(self) -> None:
        self._event.set()

    async def _judge(self) -> None:
        head = self._running[0] if self._running else None
        if head is not None and not head.ended and self._needless(head):
            head.scope.cancel()
            head.answer, head.ended = self._ahead.bets[0], True
        if head is None or not head.ended:
            if head is not None:
                head.turn.set()
            self._event = anyio.Event()
            await self._event.wait()
            return
        self._running.popleft()
        lost = self._ahead.bets[:1] not in ([], [head.answer])
        self._ahead.tell(head.answer)
        if lost:
            for run in self._running:
                run.scope.cancel()
            self._running.clear()

    def _needless(self, head: CandidateRun) -> bool:
        later = [run.shown for run in self._running if run is not head]
        return head.candidate is self._original and self._wanted in later
