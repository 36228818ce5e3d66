"""The result of a campaign so far: what was driven, what failed in which ways, where the time went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from otf.adapter import KnownIssue
from otf.campaign.results import FailureGroup, GuessedFailure, KnownIssueCount, PathResult, Retried
from otf.campaign.time_shares import SpentParts
from otf.errors import STATUS_OF
from otf.runner.time_spent import TimeSpent
from otf.trace.clock import TimedOutput, by_clock, timed_output
from otf.trace.kinds import Kinds, Scope
from otf.trace.requirements import RequirementRecord
from otf.trace.result import CampaignResult, InconclusiveResult, untested
from otf.trace.verdict import Failure, Judged, Outcome, Signature

APART: Final = Scope(parts=("state", "input"))
"""How a defect is told from another of the same signature: by where its shortest run fails."""
GUESSED: Final = 200  # failures behind guesses that are looked at


@dataclass(slots=True)
class Summary:
    """The result of a campaign so far; `trouble` is the error that ended contact with the system.

    `saved` are the failures of earlier campaigns; their runs count neither as paths nor as steps. A path that shows one
    of the `known_issues` of the bench is no failure. `silence` counts the paths by how their silences are known,
    `short` those that the end of the time cut short; `unfinished` are the steps of paths that were interrupted. `spent`
    is where the time went, `parts` how the campaign divided it, `earlier` the seconds before it continued. `cut`: a
    state enabled more inputs than were drawn from. `failed_starts` of the system were tried again after a pause, and
    are in the log. `untested` is the reason why nothing was tested at all. `unshown` paths passed before the campaign
    continued, and have no trace; `altered` says what of its folder was not as it was written. `longest` is the
    greatest number of inputs on one path, `uptime` the seconds of the path that lasted longest, `together` the most
    inputs in flight. `judged` is how much was judged, and how much of that beside stalls. `kinds` tells failures apart;
    those that turned out to be the `same` count with another kind. `apart` are the kinds of failures, by their
    fingerprints, whose shortest runs showed that they are other defects than those of their signature. `excused` counts
    the inputs that showed a known issue, or came behind one.

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
    failures: dict[Signature, FailureGroup] = field(default_factory=dict[Signature, FailureGroup])
    kinds: Kinds = field(default_factory=Kinds)
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
    same: dict[Signature, Signature] = field(default_factory=dict[Signature, Signature])
    apart: dict[str, Signature] = field(default_factory=dict[str, Signature])
    # what failed behind a guess, by its fingerprint
    guessed: dict[str, GuessedFailure] = field(default_factory=dict[str, GuessedFailure])
    # outputs that come by the system's own clock, by the signatures of runs without any input
    _clocks: dict[Signature, TimedOutput] = field(default_factory=dict[Signature, TimedOutput], repr=False)
    # failures with the same values, by their fingerprints
    _alike: dict[str, FailureGroup] = field(default_factory=dict[str, FailureGroup], repr=False)

    @property
    def result(self) -> CampaignResult:
        """Return what is to be reported of the campaign, wherever it is reported."""
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
        """Return the verdict of the campaign: fail before inconclusive before pass."""
        return "fail" if any(each.result for each in self.saved) else self.result.verdict

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for the verdict."""
        return STATUS_OF[self.verdict]

    def add(
        self,
        result: PathResult,
        tries: int = 0,
        known: Signature | None = None,
        known_issue: KnownIssueCount | None = None,
        driven: PathResult | None = None,
    ) -> None:
        """Count a path; `tries` strict re-runs confirmed its failure, and `result` is then the last of these.

        `known` is the signature of the same failure in strict mode; `known_issue` is the issue that its failure shows.
        `driven` is the path itself: its steps count, and those of the runs that confirm it do not.
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
        """Add what failed on a path after its failure: the state was guessed, so that it needs to be confirmed."""
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
        """Return whether a failure is like one that was seen without a guess: of its kind, or the same answer."""
        if self.kinds.as_added(failure.signature) in self.failures:
            return True
        exact = failure.signature.exact
        seen = [each.first.verdict.failure for each in self._alike.values()]
        return exact is not None and any(
            each is not None and (each.kind, each.input, each.seen) == (failure.kind, failure.input, failure.seen)
            for each in seen
        )

    def taken_out(self, device: int, why: str) -> None:
        """Note that a device stopped answering, and is driven no more."""
        self.devices_out.append(f"device {device} was taken out, and others drove its paths: {why}")

    def unconfirmed(self) -> list[GuessedFailure]:
        """Return what failed only behind a guess, each kind once."""
        left: dict[Signature, GuessedFailure] = {}
        for each in self.guessed.values():
            if not each.confirmed and each.signature not in left:
                failure = each.first.verdict.failure
                if failure is not None and not self._shown(failure):
                    left[each.signature] = each
                    each.behind = str(self._of(each.after))
        return [*left.values()]

    def failed(self, found: FailureGroup) -> None:
        """Add a failure: kinds may be told apart by it, or turn out to be one."""
        signature = found.signature
        same = self._alike.setdefault(signature.fingerprint, found)
        self.kinds.add(signature, found.first.passed)
        # another failure, which counts with this one, does not explain it
        failure = found.first.verdict.failure
        shown = found.first if failure is not None and failure.signature == signature else None
        if same is not found:
            same.count += found.count
            same.meet(shown)
        group = self.failures.get(self._kind(found))
        if same is found or group is None:
            self.regroup()
        else:
            group.count += found.count
            group.meet(shown)

    def merge_clocks(self) -> None:
        """Count the failures with one that a run without any input showed, if they have its output at its time."""
        if self.kinds.parts is not None:
            return
        runs = [(each.shrunk.verdict.failure, each.shrunk.events) for each in self.failures.values() if each.shrunk]
        found = {run[0].signature: clock for run in runs if run[0] is not None and (clock := by_clock(*run))}
        if found.keys() - self._clocks.keys():
            self._clocks |= found
            self.regroup()

    def now(self, group: FailureGroup) -> FailureGroup:
        """Return the group with which the failures of another one count now."""
        return self.failures.get(self._kind(group), group)

    def _kind(self, found: FailureGroup) -> Signature:
        if self._clocks:
            seen = timed_output(found.first.verdict.failure, found.first.events)
            for signature, clock in self._clocks.items():
                if seen is not None and seen.matches(clock):
                    return signature
        return self._of(found.signature)

    def _of(self, signature: Signature) -> Signature:
        return self._merged(self.apart.get(signature.fingerprint) or self.kinds.of(signature))

    def regroup(self) -> None:
        """Group the failures by the kinds that are known now; a shrunk trace stays with the kind that it shows."""
        before, self.failures = self.failures, {}
        # not in the order in which paths ended, which depends on the speed of workers
        for each in sorted(self._alike.values(), key=lambda each: each.first.place):
            kind = self._kind(each)
            group = self.failures.get(kind)
            if group is None:
                group = self.failures[kind] = before.get(kind) or FailureGroup(
                    kind, each.first, tries=each.tries, behind=each.behind
                )
                group.count = 0
            group.count += each.count
            group.meet(each.first)
            group.meet(each.shorter)
        for group in before.values():
            shown = None if group.shrunk is None else group.shrunk.verdict.failure
            if shown is not None and group.signature not in self.failures:
                now = self.failures.get(self._of(shown.signature))
                if now is not None and now.shrunk is None:
                    now.shrunk = group.shrunk

    def names(self) -> dict[str, str]:
        """Return the kinds of the failures by their fingerprints, where they are not the signatures."""
        kinds = {name: self._kind(each) for name, each in self._alike.items()}
        told = {name: str(kind) for name, kind in kinds.items() if kind != self._alike[name].signature}
        for kind, group in self.failures.items():
            shown = None if group.shrunk is None else group.shrunk.verdict.failure
            if shown is not None and kind != shown.signature:
                told[shown.signature.fingerprint] = str(kind)
        return told

    def kept(self, group: FailureGroup) -> list[Path]:
        """Return the traces that earlier campaigns saved of a kind, as far as they still show it."""
        shown = ((each.trace, each.result.verdict.failure) for each in self.saved if each.result is not None)
        return [trace for trace, failure in shown if failure and self._of(failure.signature) == group.signature]

    def to_shrink(self, group: FailureGroup) -> tuple[PathResult, Scope]:
        """Return the path of a kind that is to be shrunk, and what tells the kind from others with its signature."""
        for each in self._alike.values():
            if each.signature.fingerprint in self.apart and APART.of(each.signature) == group.signature:
                # by its input alone, the search would come upon the other defect, which is shorter
                return each.first, APART
        failure = group.first.verdict.failure
        return group.first, Scope() if failure is None else self.kinds.scope(failure.signature)

    def with_other_inputs(self, group: FailureGroup, shown: Failure) -> list[FailureGroup]:
        """Return the failures of a kind at other inputs than the one shown; none where the system names the kind."""
        own = shown.signature.exact
        if own is not None and self.kinds.scope(shown.signature).is_named(own):
            return []
        found = ((each, each.signature.exact) for each in self._of_kind(group))
        return [each for each, exact in found if own is not None and exact is not None and exact.input != own.input]

    def tell_apart(self, group: FailureGroup, failures: Sequence[FailureGroup]) -> None:
        """Count failures of a kind as a kind of their own, which the values of the first name."""
        if not (left := [each for each in self._of_kind(group) if each not in failures]):
            return  # no path has shown the other defect
        kind = APART.of(failures[0].signature)
        self.apart |= {each.signature.fingerprint: kind for each in failures}
        group.first, group.shorter = left[0].first, None
        self.regroup()

    def _of_kind(self, group: FailureGroup) -> list[FailureGroup]:
        found = [each for each in self._alike.values() if self._kind(each) == group.signature]
        return sorted(found, key=lambda each: each.first.place)

    def merge(self, kind: FailureGroup, other: FailureGroup) -> None:
        """Count the failures of one kind with those of another: the same defect shows in both."""
        self.same[kind.signature] = other.signature
        self.regroup()

    def _merged(self, kind: Signature) -> Signature:
        seen = {kind}
        while (other := self.same.get(kind)) is not None and other not in seen:
            seen.add(kind := other)
        return kind

    def conclude(self, *, timed: bool) -> None:
        """Note if no path and no saved failure tested anything; `timed`: the campaign had a bound in time."""
        driven = any(not each.why or each.known_issue for each in self.saved)
        if not self.steps and not driven:
            over = "the time was over before the first input, or " * timed
            none = "the model enables no input in its initial state, or the strategy chooses none; "
            none += "otf waits for an output that has to come first if its transition has a window (within=)"
            self.untested = f"nothing was sent: {over}{none}"
        elif not driven:
            self.untested = untested(self.steps, self.malformed, self.truncated, self.excused)

    def rest(self, before: int) -> None:
        """Note that a campaign continued and had nothing to drive: the result is that of an earlier day."""
        said = f"nothing was driven: all its paths ({before:,}) had counted before; --into drives more, "
        said += "another --out begins anew, and `otf replay` judges the traces again"
        if self.failures:
            self.altered.append(said)
        else:
            self.untested = said

    def admit(self) -> None:
        """Count saved failures that are still there and that no path showed."""
        for result in [each.result for each in self.saved if each.result is not None]:
            failure = result.verdict.failure
            self.unwritten += [result.unwritten] * bool(result.unwritten)
            if failure is not None:
                self.failed(FailureGroup(failure.signature, result, count=0))
