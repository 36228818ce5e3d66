"""A campaign: paths with different seeds, one after another or several at once, then one shrunk trace a failure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import anyio

from otf.adapter import Bench
from otf.adapter.exits import blaming
from otf.adapter.serial.keeping import keeping
from otf.adapter.watchdog import watched
from otf.campaign.confirm import TOGETHER, at_once, confirm, unconfirmed
from otf.campaign.journal import Journal
from otf.campaign.listener import Listener
from otf.campaign.paths import Pace, PathRun
from otf.campaign.results import Departed, FailureGroup, PathResult, Shrunk, Summary
from otf.campaign.saved import Saved
from otf.campaign.settings import Settings, header
from otf.campaign.shrinking import Shrinker
from otf.campaign.undisturbed import undisturbed
from otf.core import Chooser, Oracle, Symbol, View
from otf.errors import ContactError, OtfError, WriteError
from otf.explore.steady import ask_again
from otf.runner.files import writing
from otf.runner.path import AT_FAULT
from otf.strategy import Strategy
from otf.trace.verdict import Signature


class Campaign:
    """One campaign on one bench; `summary` is what came of it so far, also when it was interrupted.

    With several jobs each takes every n-th path and has its own memory, so that the same seed and number of jobs give
    the same paths whatever the speed of each.
    """

    def __init__(self, bench: Bench, settings: Settings, listener: Listener | None = None) -> None:
        self.bench = bench
        self.settings = settings
        self.listener: Listener = listener or Listener()
        self.summary: Summary = Summary(known_issues=[Departed(each.says) for each in bench.known_issues])
        self._lanes = [_Lane.of(bench, settings) for _ in range(min(settings.jobs, settings.traces))]
        # signatures that eager mode gives, with those under which strict mode saw the same failures
        self._known: dict[Signature, Signature] = {}
        self._stop = False
        self._deadline = float("inf")

    async def run(self) -> Summary:
        """Run all paths, then shrink; return the summary. Raises ModelError where the model is broken."""
        if self.settings.time is not None:
            self._deadline = anyio.current_time() + self.settings.time
        with Journal(self.settings.out) as journal, undisturbed(), watched():
            async with keeping():
                with blaming():
                    await self._all(journal)
        return self.summary

    async def _all(self, journal: Journal) -> None:
        await self._retry(journal)
        await self._paths(journal)
        self.summary.admit()
        for group in self.summary.failures.values():
            if self.settings.shrink:
                await self._shrink(group, journal)
            self._keep(group)

    async def _retry(self, journal: Journal) -> None:
        """Try the failures of earlier campaigns first."""
        saved = self._saved()
        if saved is None:
            return
        try:
            # with an oracle of its own: what it remembers of them must not change the paths
            async with aclosing(saved.retried(self.bench, self.bench.oracle(), self.settings.out)) as retried:
                async for each in retried:
                    self.summary.saved.append(each)
                    journal.retried(each)
                    self._stop = self._stop or (self.settings.stop_first and each.result is not None)
        except ContactError as error:
            self._lost(error)

    def _keep(self, group: FailureGroup) -> None:
        saved, told = self._saved(), group.shrunk or group.first
        if saved is not None and (group.shrunk is None or group.shrunk.rate):
            saved.keep(group.signature, told.trace)

    def _saved(self) -> Saved | None:
        if self.settings.saved is None:
            return None
        head = header(self.bench, replace(self.settings, mode="strict"), 0, strategy="script")
        return Saved(self.settings.saved, head, self.settings.where)

    async def _paths(self, journal: Journal) -> None:
        if len(self._lanes) == 1:
            await self._lane(1, journal)
            return
        try:
            async with anyio.create_task_group() as tasks:
                for first in range(1, len(self._lanes) + 1):
                    tasks.start_soon(self._lane, first, journal)
        except* OtfError as group:
            # the lanes fail alike; a group would hide the message that says what to do
            raise group.exceptions[0] from None

    async def _lane(self, first: int, journal: Journal) -> None:
        lane = self._lanes[first - 1]
        for number in range(first, self.settings.traces + 1, len(self._lanes)):
            if self._stop or anyio.current_time() >= self._deadline:
                return
            try:
                with blaming():
                    seen = await self._confirmed(await self._path(number, lane, journal), lane)
            except ContactError as error:
                self._lost(error)
                return
            self._finish(seen)

    async def _path(self, number: int, lane: _Lane, journal: Journal) -> PathResult:
        """Run a path; where the line was at fault, again, as often as the bench says."""
        for _ in range(self.bench.retries):
            result = await self._attempt(number, lane, journal)
            if not result.verdict.why.startswith(AT_FAULT):
                return result
        return await self._attempt(number, lane, journal)

    async def _attempt(self, number: int, lane: _Lane, journal: Journal) -> PathResult:
        head = header(self.bench, self.settings, number)
        trace = self.settings.out / f"path-{number:04}.jsonl"
        with journal.path(head.run, number, trace) as done:
            told = self._told("event", number)
            run = PathRun(self.bench, lane.oracle, head, trace, told, largest=self.settings.largest)
            chooser = self._timed(lane.strategy.path(number), number)
            result = await run.run(chooser, self.settings.steps, lane.pace.pacing())
            done(result)
        return result

    def _timed(self, chooser: Chooser, number: int) -> Chooser:
        offered = self._told("offered", number)
        # where nobody wants to know of the choices or ends them, the strategy itself is asked: every step comes by
        unlimited = self._deadline == float("inf")
        return chooser if unlimited and offered is None else _Timed(chooser, self._deadline, offered or _nobody)

    def _told(self, name: Literal["event", "offered"], number: int) -> Callable[[Any], None] | None:
        """Return what tells the listener of a path, None for one that does not listen."""
        told = getattr(self.listener, name)
        return None if getattr(told, "__func__", None) is getattr(Listener, name) else partial(told, number)

    def _finish(self, seen: _Seen) -> None:
        result, departed = seen.result, self._departed(seen.result)
        self.summary.add(result, seen.tries, seen.known, departed)
        self.listener.path(result, self.summary)
        if result.verdict.outcome == "pass" and self.settings.keep == "failures":
            with writing(result.trace, "what passed"):
                result.trace.unlink(missing_ok=True)
        self._stop = self._stop or (self.settings.stop_first and result.verdict.failed and departed is None)

    def _departed(self, result: PathResult) -> Departed | None:
        """Return the known departure that a failing path shows."""
        failure = result.verdict.failure
        known = zip(self.bench.known_issues, self.summary.known_issues, strict=True)
        return next((departed for each, departed in known if failure is not None and each.shows(failure)), None)

    async def _confirmed(self, result: PathResult, lane: _Lane) -> _Seen:
        """Return a failure of eager mode as strict mode sees it."""
        failure = result.verdict.failure
        if failure is not None and failure.signature not in {*self.summary.failures, *self._known}:
            ask_again(lane.oracle.model, self.bench.oracle(), result.events)
        # a known departure blames nobody anew, and one that depends on chance might not come again
        if failure is None or self._departed(result) is not None:
            return _Seen(result)
        if failure.kind == "ended":
            await self._uninterrupted(result)
        if not lane.pace.doubtful:
            return _Seen(result)
        if failure.signature in self._known:
            return _Seen(result, known=self._known[failure.signature])
        strict = replace(self.settings, mode="strict")
        head = header(self.bench, strict, result.number, strategy="script")
        try:
            again, tries = await confirm(self.bench, lane.oracle, head, result)
        except ContactError as error:
            self._lost(error)
            return _Seen(unconfirmed(result, "there was no contact to see it again"))
        except (anyio.get_cancelled_exc_class(), WriteError) as error:
            what = "a trace could not be written" if isinstance(error, WriteError) else "an interruption came"
            self.summary.add(unconfirmed(result, f"{what} before it could be seen again"))
            raise
        if again.verdict.failure is not None:
            self._known[failure.signature] = again.verdict.failure.signature
        return _Seen(again, tries)

    async def _uninterrupted(self, result: PathResult) -> None:
        """Wait a moment for an interruption: Ctrl-C in a terminal ends all programs that were started there."""
        try:
            await anyio.sleep(TOGETHER)
        except anyio.get_cancelled_exc_class():
            self.summary.add(at_once(result))
            raise

    def _lost(self, error: ContactError) -> None:
        before = "; paths before this one reached it: it may have died since" if self.summary.steps else ""
        self.summary.trouble = f"{error}{before}"
        self._stop = True

    async def _shrink(self, group: FailureGroup, journal: Journal) -> None:
        def progress(length: int, transitions: int) -> None:
            self.listener.shrinking(group, length, transitions)

        def found(shrunk: Shrunk) -> None:
            group.shrunk = shrunk

        shrinker = Shrinker(
            bench=self.bench,
            oracle=self._lanes[0].oracle,
            header=header(self.bench, replace(self.settings, mode="strict"), group.first.number, strategy="script"),
            algorithm=self.settings.algorithm,
            budget=self.settings.budget,
            jobs=self.settings.jobs,
            mode=self.settings.mode,
            progress=progress,
            found=found,
        )
        try:
            group.shrunk = await shrinker.run(group.first)
        except ContactError as error:
            # what was found stays found, as short as it is by now
            self._lost(error)
        journal.shrunk(group)


class _Seen(NamedTuple):
    """A path as it counts: after so many strict re-runs, or for a failure that is known under a signature."""

    result: PathResult
    tries: int = 0
    known: Signature | None = None


def _nobody(view: View) -> None:
    del view


@dataclass(frozen=True, slots=True)
class _Lane:
    """What one job remembers.

    With one memory for all, the order in which a set of states was found first, and what was seen quiet already, would
    depend on which job is faster, and so would the choices.
    """

    oracle: Oracle
    strategy: Strategy
    pace: Pace

    @classmethod
    def of(cls, bench: Bench, settings: Settings) -> Self:
        """Return a lane that has seen nothing yet."""
        strategy = Strategy(settings.strategy, bench.inputs, settings.seed)
        return cls(
            bench.oracle(), strategy, Pace(settings.mode, settings.burst, bench.timing, waits=bench.system is None)
        )


class _Timed:
    """Ends a path when the campaign's time is over, after the quiescence of its last step; tells what is offered."""

    def __init__(self, chooser: Chooser, deadline: float, offered: Callable[[View], None]) -> None:
        self._chooser = chooser
        self._deadline = deadline
        self._offered = offered

    def choose(self, view: View) -> Symbol | None:
        self._offered(view)
        # without a deadline nobody asks for the time: each step comes by here
        over = self._deadline < float("inf") and anyio.current_time() >= self._deadline
        return None if over else self._chooser.choose(view)
