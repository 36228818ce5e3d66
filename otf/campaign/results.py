"""The results of a campaign, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from otf.campaign.turns import SpentParts
from otf.errors import FAIL, INCONCLUSIVE, PASS
from otf.runner.time_spent import TimeSpent
from otf.trace.clock import TimedOutput, by_clock, timed_output
from otf.trace.events import Event
from otf.trace.kinds import Kinds, PassedStep, Scope
from otf.trace.requirements import RequirementRecord
from otf.trace.result import ONLY_MALFORMED, CampaignResult, FailureResult, InconclusiveResult, KnownIssueResult
from otf.trace.verdict import Outcome, Signature, Verdict


@dataclass(frozen=True, slots=True)
class PathResult:
    """One path: its number, verdict, steps and trace; a failing path keeps its events for the shrinker.

    `faults` are the injected faults, as the trace records them; `unwritten` is the reason why part of the trace of a
    failure is missing. `silence` says how its silences are known. It lasted so many `seconds`; `short`: the end of the
    time cut it short. `passed` are the steps before its failure; of the answers to
    the `malformed` ones of its inputs the model says nothing. So many inputs were in flight `together` at most.
    `digest` is that of its trace.

    >>> from pathlib import Path
    >>> from otf.trace import Verdict
    >>> PathResult(1, Verdict("pass"), 20, Path("out/path-0001.jsonl")).verdict.outcome
    'pass'
    """

    number: int
    verdict: Verdict
    steps: int
    trace: Path
    events: Sequence[Event] = ()
    faults: tuple[str, ...] = ()
    unwritten: str = ""
    silence: str = ""
    seconds: float = 0.0
    short: bool = False
    passed: Sequence[PassedStep] = ()
    malformed: int = 0
    together: int = 0
    digest: str = ""

    @property
    def place(self) -> tuple[bool, int]:
        """Return where it stands among the paths of its campaign; runs of saved failures come after these."""
        return self.trace.name.startswith("saved"), self.number


@dataclass(frozen=True, slots=True)
class Shrunk:
    """A shrunk failure: its trace, its length, and its cost in transitions and resets of the system.

    `rate` is the share of `runs` runs of the result that showed the failure, `before` that of `tried` runs of the
    original. Both are 0 if the failure never showed again, and `trace` is then the original one. `minimal` is false if
    a budget or an interruption ended the search, and `ended` is the reason then. `tried` is 0 if not even the original
    was driven to its end in the time. `events` are those of the trace. `others` are failures with other
    signatures that the search met, each with its own trace; `program` is a pytest test that shows the failure.

    >>> from pathlib import Path
    >>> from otf.trace import Verdict
    >>> shrunk = Shrunk(Path("out/a.jsonl"), steps=2, transitions=40, resets=12, rate=1.0, verdict=Verdict("fail"))
    >>> shrunk.minimal, shrunk.runs
    (True, 1)
    """

    trace: Path
    steps: int
    transitions: int
    resets: int
    rate: float
    verdict: Verdict
    minimal: bool = True
    events: Sequence[Event] = ()
    runs: int = 1
    before: float = 1.0
    tried: int = 1
    others: Sequence[PathResult] = ()
    program: Path | None = None
    ended: str = ""

    @property
    def traces(self) -> list[Path]:
        """Return its trace, and those of the others."""
        return [self.trace, *(each.trace for each in self.others)]


@dataclass(frozen=True, slots=True)
class Retried:
    """A failure that an earlier campaign saved, driven again: `result` is the run that showed it, None if none did.

    `why` is the reason why it could not be driven: its trace no longer fits the bench. With a signature it is why
    the runs do not decide: one failed, beside a stall.

    >>> from pathlib import Path
    >>> Retried(Path("saved/a.jsonl"), why="the bench has no input 'tea'").result is None
    True
    """

    trace: Path
    signature: Signature | None = None
    result: PathResult | None = None
    why: str = ""
    known_issue: str = ""

    def __str__(self) -> str:
        """Return the outcome in a few words."""
        if self.known_issue:
            return f"now a known issue ({self.known_issue})"
        if self.result or not self.why:
            return "still there" if self.result else "fixed"
        return f"not decided: {self.why}" if self.signature else f"it fits no more: {self.why}"


@dataclass(slots=True)
class FailureGroup:
    """All failures of one kind: the first path that showed it, the number of such paths, and the shrunk trace.

    `count` is 0 if only the run of a saved failure showed it. `tries` is the number of strict re-runs until a failure
    of eager mode showed again (0: none was needed). `shorter` is a later path with fewer steps. `unshrunk` is the
    reason why there is no shrunk trace, "" if none was asked for.

    >>> from pathlib import Path
    >>> from otf.trace import Signature, Verdict
    >>> signature = Signature("missing", "int", "Button", "Coffee", "nothing")
    >>> group = FailureGroup(signature, PathResult(1, Verdict("fail"), 20, Path("out/path-0001.jsonl")))
    >>> group.count, group.shrunk
    (1, None)
    """

    signature: Signature
    first: PathResult
    count: int = 1
    tries: int = 0
    shrunk: Shrunk | None = None
    unshrunk: str = ""
    shorter: PathResult | None = None

    def meet(self, result: PathResult | None) -> None:
        """Note another path that showed it: it may be shorter, or have a lower number though it ended later."""
        if result is None or result.verdict.failure is None:
            return
        if (result.steps, result.place) < (self._shortest.steps, self._shortest.place):
            self.shorter = replace(result, events=())
        if not self.tries and result.events and result.place < self.first.place:
            self.first = result

    @property
    def _shortest(self) -> PathResult:
        return self.shorter or self.first

    @property
    def result(self) -> FailureResult:
        """Return what is to be reported of the failure, wherever it is reported."""
        shortest: PathResult | Shrunk = self._shortest
        if self.shrunk is not None and self.shrunk.steps <= shortest.steps:
            shortest = self.shrunk
        return FailureResult(str(self.signature), self.count, str(shortest.trace), shortest.steps)


@dataclass(slots=True)
class KnownIssueCount:
    """A known issue of the bench: its description, the number of paths that showed it, and the first of them."""

    says: str
    count: int = 0
    first: PathResult | None = None


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
    inputs in flight. `kinds` tells failures apart; those that turned out to be the `same` count with another kind.

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
    requirements: RequirementRecord = field(default_factory=RequirementRecord)
    untested: str = ""
    unshown: int = 0
    altered: list[str] = field(default_factory=list[str])
    longest: int = 0
    uptime: float = 0.0
    together: int = 0
    same: dict[Signature, Signature] = field(default_factory=dict[Signature, Signature])
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
            known_issues=tuple(
                KnownIssueResult(each.says, each.count, "" if each.first is None else str(each.first.trace))
                for each in self.known_issues
            ),
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
            trouble=self.trouble,
            interrupted=self.interrupted,
            requirements=self.requirements.results(),
            untested=self.untested,
            unshown=self.unshown,
            full=self.kinds.full,
        )

    @property
    def verdict(self) -> Outcome:
        """Return the verdict of the campaign: fail before inconclusive before pass."""
        return "fail" if any(each.result for each in self.saved) else self.result.verdict

    @property
    def exit_status(self) -> int:
        """Return the exit status of the command line for the verdict."""
        return {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}[self.verdict]

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
        self.truncated += driven.verdict.truncated
        self.short += driven.short
        self.malformed += driven.malformed
        self.late += len(driven.verdict.late)
        if result.verdict.outcome == "inconclusive":
            self.inconclusive.append(result)
        elif known_issue is not None:
            known_issue.count += 1
            first = known_issue.first or result
            known_issue.first = min(first, result, key=lambda path: path.number)
        elif result.verdict.failure is not None:
            self.failed(FailureGroup(known or result.verdict.failure.signature, result, tries=tries))

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
        return self._merged(self.kinds.of(found.signature))

    def regroup(self) -> None:
        """Group the failures by the kinds that are known now; a shrunk trace stays with the kind that it shows."""
        before, self.failures = self.failures, {}
        # not in the order in which paths ended, which depends on the speed of workers
        for each in sorted(self._alike.values(), key=lambda each: each.first.place):
            kind = self._kind(each)
            group = self.failures.get(kind)
            if group is None:
                group = self.failures[kind] = before.get(kind) or FailureGroup(kind, each.first, tries=each.tries)
                group.count = 0
            group.count += each.count
            group.meet(each.first)
            group.meet(each.shorter)
        for group in before.values():
            shown = None if group.shrunk is None else group.shrunk.verdict.failure
            if shown is not None and group.signature not in self.failures:
                now = self.failures.get(self._merged(self.kinds.of(shown.signature)))
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
        kinds = ((trace, self.kinds.of(failure.signature)) for trace, failure in shown if failure is not None)
        return [trace for trace, kind in kinds if self._merged(kind) == group.signature]

    def scope(self, group: FailureGroup) -> Scope:
        """Return how the kind of a group is told from others of its signature."""
        failure = group.first.verdict.failure
        return Scope() if failure is None else self.kinds.scope(failure.signature)

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
            none = "the model enables no input in its initial state, or the strategy chooses none"
            self.untested = f"nothing was sent: {over}{none}"
        elif self.steps == self.malformed and not driven:
            self.untested = ONLY_MALFORMED

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
