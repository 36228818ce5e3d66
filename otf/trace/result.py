"""The result of a campaign: its verdict, failures, known issues, inconclusive paths, and counts.

otf makes the terminal output, the report page, JUnit XML, annotations and Markdown from one `CampaignResult`, so that
all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from otf.trace.requirements import RequirementResult, unmet
from otf.trace.requirements import tally as requirements_tally
from otf.trace.verdict import Outcome

# why nothing was tested
ONLY_MALFORMED: Final = (
    "only malformed inputs were sent, and after these the model allows any answer: what they did to the system shows "
    "in valid inputs; send some (a lower share, --malformed 0.1)"
)
# why nothing was tested
ONLY_UNSPECIFIED: Final = (
    "the first input of each path is one that the model does not specify, and after it any answer is allowed: send "
    "specified inputs, too, or let the model specify these (`--inputs all` expects that they are ignored)"
)


# why nothing was tested
ONLY_KNOWN: Final = (
    "each path showed a known issue at its first input, and behind one the state is a guess: no other failure could "
    "decide; repair it, or let the model allow what the system does there"
)


def untested(steps: int, malformed: int, truncated: int, excused: int = 0) -> str:
    """Return the reason why no input of a campaign tested anything, or "" if some input did.

    `malformed` counts the malformed inputs. `truncated` counts the inputs that the model does not specify and that
    ended their path. `excused` counts the inputs that showed a known issue, or came after a known issue.

    >>> untested(9, 0, 3), untested(3, 0, 3) == ONLY_UNSPECIFIED, untested(9, 0, 0, 9) == ONLY_KNOWN
    ('', True, True)
    """
    if steps and steps == excused:
        return ONLY_KNOWN
    if steps == malformed:
        return ONLY_MALFORMED
    return ONLY_UNSPECIFIED if steps <= malformed + truncated else ""


def counted(number: int, what: str) -> str:
    """Return a number with its noun, such as "1 step" or "2 steps".

    >>> counted(1, "step"), counted(1200, "path")
    ('1 step', '1,200 paths')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class FailureResult:
    """One kind of failure, with its `signature`, the number of `paths` that showed it, and its shortest `trace`.

    `steps` is the number of inputs in the shortest trace. `paths` is 0 if only a saved trace, which otf drove again,
    showed this kind of failure. `title` describes the failure in the shortest trace.

    >>> FailureResult("missing: int --Button--> expected Coffee", 3, "path-0001.jsonl", steps=2).data()["count"]
    3
    """

    signature: str
    paths: int
    trace: str
    steps: int = 0
    title: str = ""

    def data(self) -> dict[str, Any]:
        """Return the entry of this failure in JSON documents; its `trace` is the shortest one, shrunk or not."""
        return {"signature": self.signature, "count": self.paths, "trace": self.trace, "steps": self.steps}


GUESSES: Final = 3  # failures after others that are shown: a wrong guess has many consequences


@dataclass(frozen=True, slots=True)
class GuessedResult:
    """A failure (`signature`) that `count` paths showed only after an earlier failure, of the kind `after`.

    After the earlier failure, the paths continued from a guess of the state. The guess may be wrong, so a
    `GuessedResult` does not affect the verdict. `trace` is the first trace that shows the failure. `title` describes
    the failure in `trace`, and `first` describes the earlier failure.

    >>> print(GuessedResult("wrong: str --'c'--> expected str, seen str", "wrong: …", 3, "path-0002.jsonl"))
    seen only behind another failure, by a guess of the state (3 paths): wrong: str --'c'--> expected str, seen str
    """

    signature: str
    after: str
    count: int
    trace: str
    title: str = ""
    first: str = ""

    def __str__(self) -> str:
        """Return it on one line."""
        paths = counted(self.count, "path")
        said = f"seen only behind another failure, by a guess of the state ({paths})"
        return f"{said}: {self.title or self.signature}"


@dataclass(frozen=True, slots=True)
class KnownIssueResult:
    """A known issue of the bench: its description (`says`), how many `paths` showed it, and its shortest `trace`.

    `steps` is the number of inputs in the shortest trace.

    >>> KnownIssueResult("it answers late after a reset", 0).data()["count"]
    0
    """

    says: str
    paths: int
    trace: str = ""
    steps: int = 0

    def data(self) -> dict[str, Any]:
        """Return the entry of this known issue in JSON documents."""
        return {"says": self.says, "count": self.paths, "trace": self.trace or None, "steps": self.steps}


@dataclass(frozen=True, slots=True)
class InconclusiveResult:
    """The number of `paths` that are inconclusive for one reason (`why`), and the `trace` of the first such path.

    >>> InconclusiveResult("the line was lost", 2, "path-0003.jsonl").why
    'the line was lost'
    """

    why: str
    paths: int
    trace: str = ""


@dataclass(frozen=True, slots=True)
class CampaignResult:
    """The result of a campaign; otf makes every report from it.

    `paths` and `steps` are the numbers of paths and inputs that otf judged. `failures`, `known_issues` and
    `inconclusive` list what the campaign found. `guessed` are failures that paths showed only after other failures;
    `guessed` does not affect the verdict. `requirements` are the requirements of the bench, with their status.
    `silence` maps each method of detecting silence to the number of paths that used the method. `truncated` is the
    number of paths that ended at an unspecified input. `short` is the number of paths that ended early because the
    campaign's time was up. `late` is the number of outputs that came after the quiescence time. `unshown` is the number
    of paths that passed before the campaign was resumed, but have no trace.

    `interrupted` is true if a signal ended the campaign. `unfinished` paths, with `unfinished_steps` steps, were in
    progress when the campaign was interrupted; no other field includes them. `parts` maps each activity of the campaign
    to the seconds spent on it. `failed_starts` counts the failed starts of the system after which otf paused and tried
    again. `devices_out` are the devices that stopped answering. `trouble` is the error that ended contact with the
    system. `untested` is the reason why the campaign tested nothing. `heard` is true if otf saw any output. `full` is
    true if there were more than 1,000 kinds of failure: otf then distinguishes further failures by types alone.

    >>> known = KnownIssueResult("it answers late after a reset", 2, "path-0001.jsonl")
    >>> result = CampaignResult(paths=2, steps=9, known_issues=(known,))
    >>> result.headline
    'PASS, 1 known issue: no other failure'
    >>> result.tally, result.data()["paths"], [*result.remarks()], [*result.basis()]
    ('paths: 2 showed a known issue', 2, [], [])
    """

    paths: int = 0
    steps: int = 0
    failures: tuple[FailureResult, ...] = ()
    known_issues: tuple[KnownIssueResult, ...] = ()
    inconclusive: tuple[InconclusiveResult, ...] = ()
    silence: Mapping[str, int] = field(default_factory=dict[str, int])
    truncated: int = 0
    short: int = 0
    late: int = 0
    unfinished: int = 0
    unfinished_steps: int = 0
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    failed_starts: int = 0
    devices_out: tuple[str, ...] = ()
    trouble: str = ""
    interrupted: bool = False
    requirements: tuple[RequirementResult, ...] = ()
    untested: str = ""
    heard: bool = True
    full: bool = False
    unshown: int = 0
    guessed: tuple[GuessedResult, ...] = ()

    @property
    def failed(self) -> int:
        """Return the number of paths that failed, without those that showed a known issue."""
        return sum(each.paths for each in self.failures)

    @property
    def known(self) -> int:
        """Return the number of paths that showed a known issue."""
        return sum(each.paths for each in self.known_issues)

    @property
    def undecided(self) -> int:
        """Return the number of inconclusive paths."""
        return sum(each.paths for each in self.inconclusive)

    @property
    def passed(self) -> int:
        """Return the number of paths on which the model allowed every answer."""
        return self.paths - self.failed - self.known - self.undecided

    @property
    def seconds(self) -> float:
        """Return how many seconds the campaign took since the start of its command; 0 if unknown."""
        # rounded only once: otherwise 1.9504 could be 2.0 in one output and 1.9 in another
        return round(sum(self.parts.values()), 3)

    @property
    def seen_issues(self) -> tuple[KnownIssueResult, ...]:
        """Return the known issues that some path showed."""
        return tuple(each for each in self.known_issues if each.paths)

    @property
    def verdict(self) -> Outcome:
        """Return the verdict: "fail" if any path failed, "inconclusive" if any path was undecided, else "pass"."""
        if self.failures:
            return "fail"
        return "inconclusive" if self.inconclusive or self.trouble or self.interrupted or self.untested else "pass"

    @property
    def headline(self) -> str:
        """Return the verdict of the campaign as a text for people."""
        if self.failures:
            return f"FAIL: {counted(len(self.failures), 'kind')} of failure"
        if self.interrupted:
            decided = self.paths > self.undecided or not self.paths
            return f"INTERRUPTED: {'nothing wrong was seen' if decided else 'nothing was decided'} so far"
        if self.trouble:
            return f"INCONCLUSIVE: {'lost' if self.steps else 'no'} contact with the system under test"
        if self.inconclusive:
            return "INCONCLUSIVE: neither passed nor failed"
        if self.untested:
            return "INCONCLUSIVE: nothing was tested"
        ruling = self.ruling.replace("pass", "PASS")
        silent = "no output was seen, which the model allows; is the system there?"
        said = "every answer is one that the model allows" if self.heard else silent
        said = "no other failure" if self.seen_issues else said
        unshown = f"; {counted(self.unshown, 'earlier path')} not shown: no trace" if self.unshown else ""
        return f"{ruling}: {said}{unshown}"

    @property
    def ruling(self) -> str:
        """Return the verdict in lower case, with the number of known issues if nothing else failed."""
        issues = counted(len(self.seen_issues), "known issue")
        return f"pass, {issues}" if self.verdict == "pass" and self.seen_issues else self.verdict

    @property
    def tone(self) -> str:
        """Return the name of the verdict's colour: a pass with known issues is not green."""
        return self.verdict if self.ruling == self.verdict else "known"

    @property
    def totals(self) -> str:
        """Return the size of the campaign as text: `2 paths, 9 steps, 0.5 s`."""
        unfinished = f"{counted(self.unfinished, 'unfinished path')} with {counted(self.unfinished_steps, 'step')}"
        parts = [counted(self.paths, "path"), counted(self.steps, "step")]
        parts += [unfinished] if self.unfinished else []
        return ", ".join([*parts, *([f"{self.seconds:.1f} s"] if self.parts else [])])

    @property
    def tally(self) -> str:
        """Return as text how many paths passed, failed, showed a known issue, and were inconclusive."""
        parts = {"passed": self.passed, "failed": self.failed, "showed a known issue": self.known}
        shown = [f"{number:,} {what}" for what, number in (parts | {"inconclusive": self.undecided}).items() if number]
        return f"paths: {', '.join(shown) or 'none'}"

    @property
    def mixed(self) -> bool:
        """Return whether a report must print `tally`: `headline` and `totals` may not show how the paths ended."""
        return bool(self.known or self.undecided or (self.failed and self.passed))

    def remarks(self) -> Iterator[str]:
        """Yield lines on why nothing was tested, paths that ended early, late outputs, and a system that was away."""
        if self.untested and not (self.failures or self.inconclusive or self.trouble):
            yield f"note: {self.untested}"
        if self.truncated:
            paths = counted(self.truncated, "path")
            yield f"{paths} ended early: an input arrived where the model does not specify it"
        if self.short:
            yield f"{counted(self.short, 'path')} cut short by the end of the time"
        if self.late:
            outputs = counted(self.late, "output")
            yield f"{outputs} came after the quiescence time, but before quiescence was concluded"
        if self.full:
            yield "more than 1,000 different failures: otf distinguishes the rest by their types alone"
        if self.failed_starts:
            starts = counted(self.failed_starts, "start")
            yield f"{starts} of the system failed, each tried again after a pause: campaign.jsonl has the reasons"
        yield from self.devices_out

    def basis(self) -> Iterator[str]:
        """Yield lines on what the verdict rests on: remarks, how otf detected silence, guesses, and requirements."""
        yield from self.remarks()
        for how, number in self.silence.items():
            several = f" ({counted(number, 'path')})" if len(self.silence) > 1 else ""
            yield f"silence: {how}{several}"
        for guessed in sorted(self.guessed, key=lambda each: -each.count)[:GUESSES]:
            yield f"{guessed}"
            yield f"  behind {guessed.first or guessed.after}; trace: {guessed.trace}"
        if len(self.guessed) > GUESSES:
            yield f"and {len(self.guessed) - GUESSES:,} more that were seen only behind others: --json has all"
        yield from requirements_tally(self.requirements)
        yield from unmet(self.requirements)

    def data(self) -> dict[str, Any]:
        """Return the result of the campaign as data for JSON documents."""
        return {
            "verdict": self.verdict,
            "ruling": self.ruling,
            "headline": self.headline,
            "paths": self.paths,
            "steps": self.steps,
            "passed": self.passed,
            "truncated": self.truncated,
            "short": self.short,
            "late": self.late,
            "unfinished": {"paths": self.unfinished, "steps": self.unfinished_steps},
            "silence": dict(self.silence),
            "interrupted": self.interrupted,
            "trouble": self.trouble,
            "seconds": self.seconds,
            "parts": {name: round(seconds, 3) for name, seconds in self.parts.items()},
            "failed_starts": self.failed_starts,
            "devices_out": list(self.devices_out),
            "failures": [each.data() for each in self.failures],
            "guessed": [asdict(each) for each in self.guessed],
            "departures": [each.data() for each in self.known_issues],
            "inconclusive": [{"why": each.why, "count": each.paths, "trace": each.trace} for each in self.inconclusive],
            "requirements": [
                {"id": each.requirement.id, "level": each.requirement.level, "status": each.status}
                for each in self.requirements
            ],
        }
