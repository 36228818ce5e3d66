"""The result of a campaign so far: what it drove, what failed and how, where the time went; and who listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from otf.adapter import KnownIssue
from otf.campaign.failure_kinds import FailureKinds
from otf.campaign.results import FailureGroup, GuessedFailure, KnownIssueCount, PathResult, Retried
from otf.campaign.time_shares import SpentParts
from otf.errors import STATUS_OF
from otf.runner.time_spent import TimeSpent
from otf.trace.events import Event
from otf.trace.requirements import RequirementRecord
from otf.trace.result import CampaignResult, InconclusiveResult, untested
from otf.trace.verdict import Failure, Judged, Outcome, Signature

if TYPE_CHECKING:  # a model file does not need the core
    from otf.core import Chooser, Symbol, View

GUESSED: Final = 200  # failures behind guesses to look at


@dataclass(slots=True)
class Summary(FailureKinds):
    """The results of a campaign so far.

    Attributes:
        paths: The number of paths driven; paths of saved failures are not among them.
        steps: The number of inputs of these paths.
        truncated: The number of paths that ended at an input that the model does not specify.
        short: The number of paths cut off when the time ran out.
        malformed: The number of malformed inputs.
        excused: The number of inputs that showed a known issue, or came after one.
        late: The number of outputs that came after the quiescence time.
        unfinished: The steps of each path that an interruption ended.
        inconclusive: The paths that are inconclusive.
        saved: The failures of earlier campaigns, driven again.
        known_issues: The known issues of the bench that paths showed; such a path has not failed.
        trouble: The error that ended contact with the system.
        interrupted: Whether a signal ended the campaign.
        unwritten: The reasons why parts of traces are missing.
        silence: The number of paths for each method of detecting silence.
        spent: Where the time went, in seconds: waiting for silence or outputs, starting the system, computing.
        cut: Whether a state enabled more inputs than the strategy considered.
        parts: The seconds of each activity of the campaign.
        earlier: The seconds of the campaign before it was resumed.
        failed_starts: The number of starts of the system that failed and were repeated after a pause; see the log.
        devices_out: The devices that stopped answering, each with the reason.
        requirements: The requirements that paths reached and decided.
        untested: The reason why nothing was tested.
        unshown: The number of paths that passed before the campaign was resumed, and have no trace.
        altered: What was changed in the folder of the campaign before it was resumed.
        longest: The greatest number of inputs on one path.
        uptime: The seconds of the longest path.
        together: The most inputs in flight at once.
        heard: Whether any output came.
        judged: How much otf judged against times, and how much of that while the machine stalled.

    >>> from pathlib import Path
    >>> from otf.trace import Verdict
    >>> summary = Summary()
    >>> summary.add(PathResult(1, Verdict("pass"), 20, Path("out/path-0001.jsonl")))
    >>> summary.verdict, summary.paths, summary.steps
    ('pass', 1, 20)
    """

    paths: int = 0
    steps: int = 0
    truncated: int = 0
    short: int = 0
    malformed: int = 0
    excused: int = 0
    late: int = 0
    unfinished: list[int] = field(default_factory=list[int])
    inconclusive: list[PathResult] = field(default_factory=list[PathResult])
    saved: list[Retried] = field(default_factory=list[Retried])
    known_issues: list[KnownIssueCount] = field(default_factory=list[KnownIssueCount])
    trouble: str = ""
    interrupted: bool = False
    unwritten: list[str] = field(default_factory=list[str])
    silence: dict[str, int] = field(default_factory=dict[str, int])
    spent: TimeSpent = field(default_factory=TimeSpent)
    cut: bool = False
    parts: SpentParts = field(default_factory=SpentParts)
    earlier: float = 0.0
    failed_starts: int = 0
    devices_out: list[str] = field(default_factory=list[str])
    requirements: RequirementRecord = field(default_factory=RequirementRecord)
    untested: str = ""
    unshown: int = 0
    altered: list[str] = field(default_factory=list[str])
    longest: int = 0
    uptime: float = 0.0
    together: int = 0
    heard: bool = False
    judged: Judged = field(default_factory=Judged)
    # the failures that paths showed only after a guess of the state, by fingerprint
    guessed: dict[str, GuessedFailure] = field(default_factory=dict[str, GuessedFailure])

    @property
    def result(self) -> CampaignResult:
        """Return the result of the campaign, from which otf makes every kind of report."""
        undecided: dict[str, list[PathResult]] = {}
        for each in sorted(self.inconclusive, key=lambda path: path.number):
            undecided.setdefault(each.verdict.why, []).append(each)
        return CampaignResult(
            paths=self.paths,
            steps=self.steps,
            failures=tuple(group.result for group in self.failures.values()),
            known_issues=tuple(each.result for each in self.known_issues),
            inconclusive=tuple(
                InconclusiveResult(why, len(paths), str(paths[0].trace)) for why, paths in undecided.items()
            ),
            silence=dict(self.silence),
            truncated=self.truncated,
            short=self.short,
            late=self.late,
            unfinished=len(self.unfinished),
            unfinished_steps=sum(self.unfinished),
            parts=self.parts.named(self.earlier),
            failed_starts=self.failed_starts,
            devices_out=tuple(self.devices_out),
            trouble=self.trouble,
            interrupted=self.interrupted,
            requirements=self.requirements.results(),
            untested=self.untested,
            heard=self.heard,
            unshown=self.unshown,
            full=self.kinds.full,
            guessed=tuple(each.result for each in self.unconfirmed()),
        )

    @property
    def verdict(self) -> Outcome:
        """Return the verdict: "fail" if any path failed, "inconclusive" if any path was undecided, else "pass"."""
        return "fail" if any(each.result for each in self.saved) else self.result.verdict

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for the verdict of the campaign."""
        return STATUS_OF[self.verdict]

    def add(
        self,
        result: PathResult,
        tries: int = 0,
        known: Signature | None = None,
        known_issue: KnownIssueCount | None = None,
        driven: PathResult | None = None,
    ) -> None:
        """Add the result of a path.

        If otf drove the path again to confirm its failure, `tries` is the number of tries, and `result` is the last
        result.

        `known` is the signature that the failure had in strict mode. `known_issue` is the known issue that the failure
        shows. `driven` is the path as the campaign first drove it; only the steps of `driven` are added to the total.
        """
        driven = driven or result
        self.paths += 1
        if driven.silence:
            self.silence[driven.silence] = self.silence.get(driven.silence, 0) + 1
        self.unwritten += [result.unwritten] * bool(result.unwritten)
        self.steps += driven.steps
        self.longest, self.uptime = max(self.longest, driven.steps), max(self.uptime, driven.seconds)
        self.together = max(self.together, driven.together)
        self.heard |= driven.heard
        self.judged += driven.verdict.judged
        self.truncated += driven.verdict.truncated
        self.short += driven.short
        self.malformed += driven.malformed
        self.late += len(driven.verdict.late)
        if result.verdict.outcome == "inconclusive":
            self.inconclusive.append(result)
        elif known_issue is not None:
            known_issue.add(result)
            self.excused += driven.excused
        elif result.verdict.failure is not None:
            self.failed(FailureGroup(known or result.verdict.failure.signature, result, tries=tries))

    def behind(self, driven: PathResult, known_issue: Callable[[Failure], KnownIssue | None]) -> None:
        """Add the failures after a path's first; otf must confirm them, since it guessed the state in between."""
        if (first := driven.verdict.failure) is None:
            return
        after, kinds = first.signature, self.kinds
        for failure in {each.signature.fingerprint: each for each in driven.verdict.behind}.values():
            same = self.guessed.get(failure.signature.fingerprint)
            if known_issue(failure) is not None:
                continue
            if same is not None:
                same.count += 1
            elif len(self.guessed) < GUESSED and not self._shown(failure):
                guessed = GuessedFailure(kinds.as_added(failure.signature), after, driven.upto(failure))
                self.guessed[failure.signature.fingerprint] = guessed

    def _shown(self, failure: Failure) -> bool:
        """Return whether a failure is like one seen without a guess: of its kind, or the same answer."""
        if self.kinds.as_added(failure.signature) in self.failures:
            return True
        exact = failure.signature.exact
        seen = [each.first.verdict.failure for each in self.alike.values()]
        return exact is not None and any(
            each is not None and (each.kind, each.input, each.seen) == (failure.kind, failure.input, failure.seen)
            for each in seen
        )

    def taken_out(self, device: int, why: str) -> None:
        """Take note that a device stopped answering, and that otf no longer drives this device."""
        self.devices_out.append(f"device {device} was taken out, and others drove its paths: {why}")

    def unconfirmed(self) -> list[GuessedFailure]:
        """Return the failures that occurred only after a guess of the state, each kind once."""
        left: dict[Signature, GuessedFailure] = {}
        for each in self.guessed.values():
            if not each.confirmed and each.signature not in left:
                failure = each.first.verdict.failure
                if failure is not None and not self._shown(failure):
                    left[each.signature] = each
                    kind = self.kind_of(each.after)
                    each.behind = str(kind)
                    each.title = self.failures[kind].result.title if kind in self.failures else ""
        return [*left.values()]

    def kept(self, group: FailureGroup) -> list[Path]:
        """Return the traces that earlier campaigns saved and that still show this kind of failure."""
        shown = ((each.trace, each.result.verdict.failure) for each in self.saved if each.result is not None)
        return [trace for trace, failure in shown if failure and self.kind_of(failure.signature) == group.signature]

    def conclude(self, *, timed: bool) -> None:
        """Take note if the campaign has sent no input at all; `timed` is true if the campaign had a time limit."""
        driven = any(not each.why or each.known_issue for each in self.saved)
        if not self.steps and not driven:
            over = "the time was over before the first input, or " * timed
            none = "the model enables no input in its initial state, or the strategy chooses none; "
            none += "otf waits for an output that has to come first if its transition has a window (within=)"
            self.untested = f"nothing was sent: {over}{none}"
        elif not driven:
            self.untested = untested(self.steps, self.malformed, self.truncated, self.excused)

    def rest(self, before: int) -> None:
        """Take note that a resumed campaign had no paths left to drive, and so has only earlier results."""
        said = f"nothing was driven: all its paths ({before:,}) had counted before; --into drives more, "
        said += "another --out begins anew, and `otf replay` judges the traces again"
        if self.failures:
            self.altered.append(said)
        else:
            self.untested = said

    def admit(self) -> None:
        """Add the saved failures that still occur and that no path of this campaign has shown."""
        for result in [each.result for each in self.saved if each.result is not None]:
            failure = result.verdict.failure
            self.unwritten += [result.unwritten] * bool(result.unwritten)
            if failure is not None:
                self.failed(FailureGroup(failure.signature, result, count=0))


class Listener:
    """A campaign calls the methods of a `Listener` when something happens; write a subclass to show progress.

    If the campaign has several jobs, it drives several paths at the same time, and `number` identifies the path.

    >>> import anyio
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import Campaign, Settings
    >>> from otf.models.coffee import bench
    >>> class Names(Listener):
    ...     def path(self, result, summary):
    ...         print(result.number, result.verdict.outcome)
    ...     def failed_start(self, number, why, pause): print(f"{number}: {why}; again in {pause} s")
    ...     def confirming(self, number): print(f"{number} has failed, and is driven again")
    ...     def shrinking(self, group, length, transitions): print(f"{group.signature}: {length} inputs")
    ...     def failure(self, group): print(group.signature)
    ...     def enabled(self, number, view): pass  # as `event`, too often to print
    ...     def event(self, number, event): pass
    >>> with TemporaryDirectory() as folder:
    ...     campaign = Campaign(bench(), Settings(out=Path(folder, "out"), traces=2, steps=10), Names())
    ...     _ = anyio.run(campaign.run)
    1 pass
    2 pass
    """

    def enabled(self, number: int, view: View) -> None:
        """Called with the inputs that otf may send next on a path, and with the possible states."""

    def event(self, number: int, event: Event) -> None:
        """Called with each event of a path."""

    def path(self, result: PathResult, summary: Summary) -> None:
        """Take a finished path."""

    def confirming(self, number: int) -> None:
        """Called with a path that failed, before otf drives the path again to confirm the failure."""

    def failed_start(self, number: int, why: str, pause: float) -> None:
        """Called with a path that could not reach the system; otf drives the path again after a pause in seconds."""

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Called after each step of shrinking, with the shortest length and the number of inputs sent so far."""

    def failure(self, group: FailureGroup) -> None:
        """Called with a kind of failure when otf has shrunk the failure, or is not going to shrink it."""


def callback(listener: Listener, name: Literal["event", "enabled"], number: int) -> Callable[[Any], None] | None:
    """Return a listener's method for one path, None if its class does not override it."""
    method = getattr(listener, name)
    return None if getattr(method, "__func__", None) is getattr(Listener, name) else partial(method, number)


def listened(chooser: Chooser, enabled: Callable[[View], None] | None) -> Chooser:
    """Return a chooser that tells `enabled` of each choice."""
    # every step makes a choice: without a listener, ask the strategy itself
    return chooser if enabled is None else _Notifying(chooser, enabled)


class _Notifying:
    def __init__(self, chooser: Chooser, enabled: Callable[[View], None]) -> None:
        self._chooser = chooser
        self._enabled = enabled

    def choose(self, view: View) -> Symbol | None:
        self._enabled(view)
        return self._chooser.choose(view)
