"""The result of a campaign in words."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Final

from otf.adapter import Bench
from otf.adapter.board import kept_recording
from otf.campaign import FailureGroup, PathResult, Settings, Shrunk, Summary
from otf.campaign.confidence import percent, rate_interval, stated
from otf.campaign.results import STRICT, tried_first
from otf.campaign.settings import header, learn
from otf.cli.benches import is_shipped
from otf.cli.output import columns, say, spaced
from otf.cli.spent import SLOW, spent_on, time_lines
from otf.cli.traces import raw, repeated
from otf.core.nodes import ITERATED
from otf.trace.explain import explanation
from otf.trace.result import CampaignResult, counted
from otf.trace.title import title
from otf.trace.verdict import Judged, Signature

MANY: Final = 4  # least number of paths before telling that most end at one failure
RULE: Final = 72  # columns of the rule above each failure, if there are several
ALTERED: Final = 10  # notes about a folder to show


class SummaryPrinter:
    """Prints the result of a campaign: each failure once, as soon as it is shrunk, then the verdict.

    `given` holds the command's options that no trace records but that a run of the same inputs needs.
    """

    def __init__(self, summary: Summary, settings: Settings, bench: Bench, given: str = "") -> None:
        self._summary, self._settings, self._bench, self._given = summary, settings, bench, given
        self._printed: set[Signature] = set()
        self._told_saved = False

    def failure(self, group: FailureGroup) -> None:
        """Print a failure: its explanation and what to do next."""
        self._tried_first()
        kinds = [*self._summary.failures]
        if len(kinds) > 1:
            say(f"---- {kinds.index(group.signature) + 1} of {len(kinds)} ".ljust(RULE, "-"))
        say("\n".join(self._failure(group)))
        self._printed.add(group.signature)

    def failures(self) -> None:
        """Print the failures not printed yet, and the inconclusive paths."""
        for group in self._summary.failures.values():
            if group.signature not in self._printed:
                self.failure(group)
        first = {each.verdict.why: each for each in reversed(self._summary.inconclusive)}
        for each in self._summary.result.inconclusive:
            say(f"inconclusive ({counted(each.paths, 'path')}): {each.why}")
            say(f"  look at it:      otf show {self._call(first[each.why])}")

    def _tried_first(self) -> None:
        """Say once, first of all, that failures of earlier runs were tried first, and what became of them."""
        if self._summary.saved and not self._told_saved:
            self._told_saved = True
            ends = f"; --stop-first ends here, before any path of the seed {self._settings.seed}"
            say(tried_first(self._summary.saved) + ends * (self._settings.stop_first and not self._summary.paths))

    def whole(self, coverage: str = "") -> None:
        """Print all that is left, and the verdict, with the `coverage` in words."""
        self._tried_first()
        self.failures()
        if self._summary.trouble:
            say(f"stopped: {self._summary.trouble}")
        result = self._summary.result
        tried = f"{counted(self._summary.parts.saved, 'saved failure')} tried, " * bool(self._summary.parts.saved)
        say(f"{result.headline} ({tried}{result.totals}, seed {self._settings.seed})")
        for line in (
            *_table(result),
            *self._hidden(),
            *self._earlier(),
            *self._known_issues(),
            *filter(None, [coverage]),
            *_notes(self._summary),
        ):
            say(line)
        if self._summary.longest and not result.failures and self._bench.system is None:
            longest, uptime = counted(self._summary.longest, "input"), f"{self._summary.uptime:.1f} s"
            together = counted(self._summary.together, "input")
            say(f"longest path: {longest}; longest uptime: {uptime}; in flight together: at most {together}")
        for judged in _sharp(self._summary.judged):
            say(judged)
        if self._settings.spend or result.seconds >= SLOW:
            say(f"spent: {spent_on(self._summary.parts)}")
        for line in time_lines(self._summary, own=self._bench.system is not None):
            say(line)
        if worth := self._worth():
            say(worth)
        say(f"traces: {self._settings.out}/")
        say(f"report: otf report {shlex.quote(str(self._settings.out))}{self._named(drives=False)}")

    def _hidden(self) -> Iterator[str]:
        """Yield how to test past a failure that ends most paths, since it hides what lies behind it."""
        paths = self._summary.paths
        for group in self._summary.failures.values():
            failure = (group.shrunk or group.first).verdict.failure
            if failure is None or 2 * group.count <= max(paths, MANY):
                continue
            shown = failure.kind, failure.input, failure.seen
            yield f"{group.count:,} of {counted(paths, 'path')} end at one failure; to test past it, the bench needs"
            yield "  from otf.adapter import KnownIssue"
            # a value in each line, so that they can be copied whatever the width of the terminal
            values = ",\n          ".join(map(repr, shown))
            yield "  known_issues=(\n      KnownIssue(lambda f: (f.kind, f.input, f.seen) == ("
            yield f"          {values}), 'why'),\n  )"

    def _earlier(self) -> Iterator[str]:
        """Yield what became of the failures left by earlier runs."""
        for kept in self._summary.saved:
            shown = kept.result and kept.result.verdict.failure
            what = title(shown) if shown else kept.signature or "a failure"
            gone = "" if kept.trace.exists() else ", now deleted"
            yield f"from an earlier run, {kept}: {what} ({kept.trace}{gone})"

    def _worth(self) -> str:
        """Return what the paths prove if none failed and they are independent, else ""."""
        settings, summary = self._settings, self._summary
        if summary.verdict == "fail" or learn(header(self._bench, settings, 0), self._bench):
            return ""
        whole = settings.time is None and isinstance(settings.strategy, str) and summary.paths >= settings.traces
        return stated(summary.result, 0 if whole else settings.lanes)

    def _known_issues(self) -> Iterator[str]:
        for known in self._summary.known_issues:
            if (group := known.group) is not None:
                shrunk = "" if group.shrunk is None else f", shrunk to {counted(group.shrunk.steps, 'step')}"
                kinds = f", {counted(len(known.kinds), 'kind')} of failure" if len(known.kinds) > 1 else ""
                yield f"known issue ({counted(known.count, 'path')}{kinds}{shrunk}): {known.says}"
                if (failure := (group.shrunk or group.first).verdict.failure) is not None:
                    yield f"  {title(failure)}, {_after(group)}"
                if group.shrunk is None:
                    yield f"  shrink it:       otf shrink {self._call(group.first, drives=True)}"
                yield f"  look at it:      otf show {self._call(group.shrunk or group.first)}"
                yield f"  its chart:       otf show {self._call(group.shrunk or group.first)} --chart"
            elif self._summary.paths:
                yield f"known issue that did not occur: {known.says}"

    def _failure(self, group: FailureGroup) -> Iterator[str]:
        shown, shrunk = group.shrunk or group.first, group.shrunk
        of = f"{group.count:,} of {counted(self._summary.paths, 'path')}"
        own = "on its paths another failure came first; confirmed by a run of its own,"
        alone = own if group.behind else "failed as before,"
        first, said, told = explanation(shown.verdict, shown.events, columns()).split("\n", 2)
        yield f"{first}\n{said}"
        yield f"{f'failed on {of}, first' if group.count else alone} {_after(group)}"
        yield from _recurrence(group)
        yield told
        yield from _bytes(shown)
        if shrunk is not None and shrunk.before:
            yield from notes(shrunk, lambda other: self._call(other, drives=True))
        yield from (f"  {f'{what}:':16} {command}" for what, command in self.commands(group))
        if shrunk is None:
            yield f"  shrink it:       otf shrink {self._call(group.first, drives=True)}"
        yield ""

    def commands(self, group: FailureGroup) -> Iterator[tuple[str, str]]:
        """Yield what to do with a failure, and how."""
        shown, shrunk = group.shrunk or group.first, group.shrunk
        yield "look at it", f"otf show {self._call(shown)}"
        yield "judge it again", f"otf replay {self._call(shown)}"
        yield "drive it again", f"otf rerun {self._call(shown, drives=True)}"
        rare = group.tries > 1 or (shrunk is not None and shrunk.rate and min(shrunk.rate, shrunk.before) < 1)
        if rare or shown.verdict.raced:
            yield "is it repaired", f"otf rerun {self._call(shown, drives=True)} --confidence 0.99"
        if (recorded := kept_recording(group.first.trace)) is not None:
            yield "recorded", shlex.quote(str(recorded))
        if shrunk is not None and shrunk.program is not None:
            without = "" if find_spec("pytest") else "  (pytest is not installed)"
            yield "as a test", f"pytest {shlex.quote(str(shrunk.program))}{without}"

    def onwards(self) -> Iterator[tuple[str, str]]:
        """Yield what to do with the campaign while it runs, and after it was stopped."""
        folder, reference = shlex.quote(str(self._settings.out)), self._settings.reference
        named = "" if is_shipped(reference) else f"{shlex.quote(reference)} "
        options = repeated(self._bench, reference, drives=True) + self._given
        yield "report what it has so far", f"otf report {folder}{self._named(drives=False)}"
        yield "go on after a stop", f"otf run {named}--resume {folder}{options}"

    def _call(self, result: PathResult | Shrunk, *, drives: bool = False) -> str:
        given = self._given if drives else ""
        return f"{shlex.quote(str(result.trace))}{self._named(drives=drives)}{given}"

    def _named(self, *, drives: bool) -> str:
        """Return the options that name a trace's bench."""
        reference = self._settings.reference
        named = "" if is_shipped(reference) else f" --bench {shlex.quote(reference)}"
        return named + repeated(self._bench, reference, drives=drives)


def _table(result: CampaignResult) -> Iterator[str]:
    """Yield how many paths passed and failed, and the kinds of failure if there are several."""
    if result.mixed:
        yield result.tally
    if len(result.failures) > 1:
        for number, each in enumerate(result.failures, 1):
            shown = counted(each.paths, "path") if each.paths else "a run of its own"
            yield f"{number:4}  {each.title or each.signature} ({shown}): {each.trace}"


def notes(shrunk: Shrunk, call: Callable[[PathResult], str]) -> Iterator[str]:
    """Yield what the user must know about a shrunk failure besides its steps; `call` names a trace for a command."""
    if not shrunk.tried:
        yield f"nothing was shrunk: {shrunk.ended} before the failure was seen again"
    elif not shrunk.before:
        yield f"the failure did not recur in {counted(shrunk.tried, 'run')} of the same inputs: {CHANCE}"
    elif shrunk.rate < 1 or shrunk.before < 1:
        after, before = _of(shrunk.rate, shrunk.runs), _of(shrunk.before, shrunk.tried)
        yield f"it depends on chance: these steps failed in {after}, the original in {before}"
        between = f"{_between(shrunk.rate, shrunk.runs)}, and in {_between(shrunk.before, shrunk.tried)}"
        yield f"  with 95 % confidence, in {between} of all runs"
    elif shrunk.runs > 1 and shrunk.verdict.raced:
        yield f"these steps failed in {_of(shrunk.rate, shrunk.runs)}"
    if shrunk.before and not shrunk.minimal and shrunk.steps > 1:
        yield f"the search was stopped early, since {shrunk.ended}: fewer steps may be enough"
    for other in shrunk.others:
        failure = other.verdict.failure
        yield f"another failure was found on the way: {title(failure) if failure else ''}"
        yield f"  shrink it:       otf shrink {call(other)}"


CHANCE: Final = "it depends on chance or on timing"


def _of(rate: float, runs: int) -> str:
    return f"{round(rate * runs)} of {counted(runs, 'run')}"


def _between(rate: float, runs: int) -> str:
    low, high = rate_interval(round(rate * runs), runs)
    return f"{percent(low)} to {percent(high, up=True)}"


def _notes(summary: Summary) -> Iterator[str]:
    yield from (f"note: {each}" for each in (*summary.altered[:ALTERED], *summary.unwritten))
    if len(summary.altered) > ALTERED:
        yield f"note: and {len(summary.altered) - ALTERED:,} more; `otf check` with the folder has all"
    if summary.cut:
        yield f"note: only the first {ITERATED:,} inputs of a state were tried; from a list, all are drawn"
    yield from summary.result.basis()


def _sharp(judged: Judged) -> Iterator[str]:
    """Yield how much of a timed model was judged as if the machine had never stalled, and what was not.

    >>> for line in _sharp(Judged(2_000, 60.0, doubtful=40, doubted=1.5, unheard=(("lease", 7),))):
    ...     print(line)
    sharp: 97 % of the time, 98 % of 2,000 events; the rest depends on how long the machine stalled
    not decided: the timer 'lease' was due 7 times, and an input ended it before its output came; each may be a stall
    """
    if not judged.doubtful:
        return
    time, events = (
        percent(1 - part / whole)
        for part, whole in ((judged.doubted, judged.seconds), (judged.doubtful, judged.events))
    )
    yield (
        f"sharp: {time} of the time, {events} of {judged.events:,} events; "
        "the rest depends on how long the machine stalled"
    )
    yield from (f"not decided: {each}" for each in judged.undecided)


def _recurrence(group: FailureGroup) -> Iterator[str]:
    """Yield whether a failure recurred with the same inputs, if not every time."""
    tries, shrunk = group.tries, group.shrunk
    if tries and group.signature.kind == "ended" and not group.first.trace.name.endswith(STRICT):
        # it counts anyway: sending inputs fast is no reason for a system to end
        yield f"it did not recur in {counted(tries, 'strict re-run')} of the same inputs: {CHANCE}"
        return
    lost = "" if shrunk is None or shrunk.before else counted(shrunk.tried, "later run")
    if tries > 1 and lost:
        yield f"of {tries} strict runs of the same inputs the last reproduced it, {lost} did not: {CHANCE}"
    elif tries > 1:
        rate = f"; shrunk, it failed in {_of(shrunk.rate, shrunk.runs)}" if shrunk is not None else ""
        yield f"it took {tries} strict runs of the same inputs to reproduce it{rate}"
    elif lost:
        yield f"it did not recur in {lost} of the same inputs: {CHANCE}"


def _bytes(result: PathResult | Shrunk) -> Iterator[str]:
    """Yield the bytes of the output that failed, if the trace has them."""
    data = raw(result.trace, result.verdict.failure.event) if result.verdict.failure is not None else b""
    if data:
        yield f"  its bytes:       {spaced(data)}"


def _after(group: FailureGroup) -> str:
    steps, shrunk = f"after {counted(group.first.steps, 'step')}", group.shrunk
    if shrunk is None:
        return f"{steps}, not shrunk: {group.unshrunk}" if group.unshrunk else steps
    if not shrunk.before or not (shrunk.transitions or shrunk.minimal):
        return steps
    return f"{steps}, shrunk to {shrunk.steps} (by sending {counted(shrunk.transitions, 'input')})"
