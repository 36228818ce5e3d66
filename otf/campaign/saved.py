"""Saved failures: the next campaign on the same bench drives them first, and reports which are still there."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self, TypeAlias

import anyio

from otf.adapter import Bench
from otf.campaign.confirm import FOREVER, alone, counts
from otf.campaign.doubts import mixed, once
from otf.campaign.pace import as_before, repeating
from otf.campaign.paths import PathRun
from otf.campaign.recorder import header_of, reread
from otf.campaign.results import PathResult, Retried
from otf.campaign.settings import Settings, header
from otf.core import Monitor, Oracle
from otf.core.repeatable import ask_again
from otf.errors import TraceError
from otf.runner.writer import writing
from otf.shrink import Issue, again, issue_of, repeats
from otf.strategy.renames import NamedRun
from otf.trace.events import Event, Sent
from otf.trace.record import Header
from otf.trace.verdict import Signature
from otf.values import as_text, show

TRIES: Final = 5  # runs that have to pass before a failure counts as fixed, since it may depend on chance
TIMES: Final = frozenset({"quiescence", "L", "R"})  # parameters that do not change the system


SavedRun: TypeAlias = tuple[PathResult | None, str]
"""The run that shows a saved failure; if none, why the runs do not decide, or "" if all of them passed."""
DriveSaved: TypeAlias = Callable[[Path, int, float], Awaitable[SavedRun]]
"""Drives a saved failure elsewhere, given its trace, its number, and the time at which its runs end."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The failures in a folder that belong to one bench with its parameters; `header` is for new traces.

    `where` lists the system's addresses if they differ from the bench's: the failures of a device say nothing about its
    stand-in.
    """

    folder: Path
    header: Header
    where: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings, bench: Bench) -> Self | None:
        """Return those of a campaign on this bench at its own speed, None if it saves none."""
        if settings.saved is None:
            return None
        head = header(bench, replace(settings, mode="strict"), 0, strategy="script")
        return cls(settings.saved, head, settings.where)

    def keep(self, signature: Signature, trace: Path, same: Iterable[Path] = ()) -> None:
        """Save a copy of a failing trace. It replaces earlier traces of the same kind, and those listed in `same`."""
        kept = self.folder / f"{self._name()}-{_hash(signature)}.jsonl"
        with writing(kept, "the failure", "say --no-saved, or make room"):
            self.folder.mkdir(parents=True, exist_ok=True)
            # atomically: another run may be saving or reading the same failure
            copied = kept.with_name(f".{kept.name}.{os.getpid()}")
            shutil.copyfile(trace, copied)
            copied.replace(kept)
        for earlier in same:
            if earlier != kept:
                _remove(earlier)

    def traces(self) -> list[Path]:
        """Return the traces of the saved failures."""
        # anything but a file is not ours, and opening it may block for ever
        return sorted(path for path in self.folder.glob(f"{self._name()}-*.jsonl") if path.is_file())

    async def retried(
        self, bench: Bench, oracle: Oracle, out: Path, until: float = FOREVER, drive: DriveSaved | None = None
    ) -> AsyncGenerator[Retried]:
        """Drive each saved failure again, and yield the outcome; delete a failure that no longer shows.

        `drive` does so elsewhere. The runs end at the time `until`, and undecided failures stay. Raises ContactError if
        the system cannot be reached, ModelError if the model is broken.
        """
        # one by one: if the first kills the system, that is a failure, even if the second finds no system
        for number, kept in enumerate(self.traces(), 1):
            try:
                events = reread(kept, bench)
                issue = _issue(oracle, kept, events)
            except TraceError as error:
                if not isinstance(error.__cause__, OSError):
                    _remove(kept)
                yield Retried(kept, why=str(error))
                continue
            if drive is None:
                result, why = await self.driven(bench, oracle, kept, saved_trace(out, number), until)
            else:
                result, why = await drive(kept, number, until)
            if result is None:
                disabled = _why_disabled(oracle, events)
                if disabled or not why:
                    _remove(kept)
                why = disabled or why
            yield Retried(kept, issue.signature, result, why)

    async def driven(self, bench: Bench, oracle: Oracle, kept: Path, trace: Path, until: float) -> SavedRun:
        """Drive a saved failure a few times, or until it shows or time is up. Raises TraceError."""
        events, recorded = reread(kept, bench), header_of(kept)
        issue = _issue(oracle, kept, events)
        candidate, seen, others = again(issue, oracle), list[PathResult](), list[PathResult]()
        # inputs sent at once are a race: one by one, they would pass
        earlier = [NamedRun.of(oracle, events)]
        head, joins = replace(self.header, burst=min(recorded.burst, len(issue))), as_before(events)
        tries = max(TRIES, repeats(recorded.rate) if recorded.rate else 0)
        while len(seen) + len(others) < tries and anyio.current_time() < until:
            run = PathRun(bench, oracle, head, trace, least=candidate.least)
            pacing = repeating(oracle, bench, events, head.burst, joins).pacing()
            result = await run.run(candidate.chooser(), candidate.limit, pacing, until=until, earlier=earlier)
            if result.verdict.failed:
                ask_again(oracle.model, bench.oracle(), result.events)
                if counts(result, seen):
                    found = await alone(bench, oracle, head, result, until) if head.burst > 1 else None
                    return found.result if found is not None else result, ""
                seen.append(result)
            else:
                others.append(result)
        _remove(trace)
        if anyio.current_time() >= until:
            return None, "the time of the campaign was over before it was driven often enough"
        return None, once(seen, others) if seen else mixed(others, "runs")

    def _name(self) -> str:
        own = {key: _readable(value) for key, value in self.header.parameters.items() if key not in TIMES}
        words = re.sub(r"\W+", "_", self.header.bench).strip("_")
        return f"{words}-{_hash((self.header.bench, sorted(own.items()), *sorted(self.where)))}"


def _remove(trace: Path) -> None:
    with suppress(OSError):  # it will be tried again the next time
        trace.unlink()


def saved_trace(out: Path, number: int) -> Path:
    """Return the trace of a saved failure when it is driven again."""
    return out / f"saved-{number:04}.jsonl"


def _issue(oracle: Oracle, trace: Path, events: Iterable[Event]) -> Issue:
    issue = issue_of(oracle, events)
    if not issue.steps:
        raise TraceError(f"{trace}: there is no input in it")
    return issue


def _why_disabled(oracle: Oracle, events: Iterable[Event]) -> str:
    """Return why a run of a trace's inputs shows nothing: the model no longer enables one of them; "" if it does.

    Such an input is skipped, so the failure could not show: it counts neither as fixed nor as still there.
    """
    monitor, number = Monitor(oracle), 0
    for event in events:
        if isinstance(event, Sent):
            number += 1
            if not oracle.view(monitor.belief).allows(oracle.model.symbol(event.input)):
                return f"the model no longer enables the input of its step {number}, {show(event.input)}, there"
        if monitor.tell(event) is not None:
            break
    return ""


def _readable(value: object) -> object:
    """Return a parameter with a `repr` that can be hashed: the user's own type may raise."""
    try:
        repr(value)
    except Exception:  # noqa: BLE001 -- the user's code may raise anything
        return as_text(value)
    return value


def _hash(value: object) -> str:
    # parameters may come from the command line, where a file name need not be valid text
    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()[:10]
