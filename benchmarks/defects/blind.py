"""Looking for a defect without knowing what it is: what fails on the bad version and does not on the fixed one."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeAlias

import anyio

from benchmarks.defects.environments import command
from benchmarks.defects.published import Defect
from otf.adapter import Bench, KnownIssue
from otf.campaign import Budget, Campaign, Settings, Shrinker, rerun
from otf.campaign.results import PathResult, Shrunk, Summary
from otf.campaign.settings import UNLIMITED, header
from otf.trace import Event, Signature
from otf.trace.verdict import Failure, Outcome

AGAIN: Final = 3
"""How often a run is driven again: it has to pass on the fixed version each time, and to fail on the bad one."""
BUDGET: Final = Budget(seconds=120.0)
"""For shrinking one failure."""
FailureKey: TypeAlias = tuple[Signature, str]
"""Failures that are one: a signature with the inputs of the failing step, since one signature has many causes."""


def _key(failure: Failure) -> FailureKey:
    return failure.signature, failure.input


@dataclass(slots=True)
class Hunt:
    """Campaigns on the bad version of one defect, each until a failure that is not known yet.

    For `learning` seconds the fixed version is tested first: what fails there is no defect that was fixed, it is
    `common` to both. Each failing run of the bad version is driven again on the fixed one: if it passes there, that is
    a difference, whatever its signature, and it is shrunk; if not, it is common to both. `inputs` and the seconds of a
    difference are those on the bad version.
    """

    defect: Defect
    environments: Path
    seconds: float
    steps: int = 50
    seed: int = 1
    learning: float = 30.0
    least: float = 1.0  # seconds below which no other campaign begins
    differences: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    inputs: int = 0
    trouble: str = ""
    _known: dict[FailureKey, str] = field(default_factory=dict[FailureKey, str])

    def run(self) -> dict[str, Any]:
        """Return what was found until the time was up or the defect was found."""
        bad, fixed = (self._bench(each) for each in (self.defect.bad, self.defect.fixed))
        with _folder() as folder:
            self._campaign(fixed, folder, self.learning, self._learnt)
        began = monotonic()
        while not self.found and (left := self.seconds - (monotonic() - began)) > self.least:
            with _folder() as folder:
                summary = self._campaign(bad, folder, left, lambda failure: _key(failure) in self._known)
                self.inputs += summary.steps
                if not summary.failures:
                    break
                for group in summary.failures.values():
                    self._compare(group.first, bad, fixed, monotonic() - began)
        return self._row(monotonic() - began)

    @property
    def found(self) -> bool:
        """Return whether a difference of the two versions is this defect."""
        return any(each["is it"] for each in self.differences)

    @property
    def common(self) -> list[str]:
        """Return the kinds of failures that both versions have, each with a remark."""
        found = Counter(f"{signature} ({says})" for (signature, _), says in self._known.items() if says)
        return [f"{number} inputs: {text}" for text, number in found.items()]

    def _bench(self, version: str) -> Bench:
        return self.defect.bench(command(self.defect, version, self.environments))

    def _learnt(self, failure: Failure) -> bool:
        """Note what fails on the fixed version, and let the campaign go on past it."""
        self._known.setdefault(_key(failure), "fails on the fixed version")
        return True

    def _campaign(self, bench: Bench, folder: str, seconds: float, known: Callable[[Failure], bool]) -> Summary:
        bench = replace(bench, known_issues=(KnownIssue(known, "seen before"),))
        self.seed += 1
        settings = Settings(
            out=Path(folder) / "out",
            traces=UNLIMITED,
            steps=self.steps,
            time=seconds,
            seed=self.seed,
            keep="failures",
            stop_first=True,
            shrink=False,
            aftermath=0.0,
        )
        summary = anyio.run(Campaign(bench, settings).run)
        self.trouble = summary.trouble
        return summary

    def _compare(self, failing: PathResult, bad: Bench, fixed: Bench, after: float) -> None:
        failure = failing.verdict.failure
        assert failure is not None
        passes = _always("pass", fixed, failing.events)
        # the run itself is no longer new, whatever it shows
        self._known[_key(failure)] = "" if passes else "does not pass on the fixed version"
        if not passes or not _always("fail", bad, failing.events):
            return
        shown: PathResult | Shrunk = _shrunk(bad, failing)
        if not _always("pass", fixed, shown.events):
            # without some of its inputs it shows another failure of the same signature
            shown = failing
        verdict = shown.verdict.failure or failure
        self._known[_key(verdict)] = ""
        cited = {each.id for each in verdict.violates}
        self.differences.append(
            {
                "is it": not self.defect.violates or not cited.isdisjoint(self.defect.violates),
                "inputs": self.inputs,
                "seconds": round(after, 1),
                "shrunk": shown.steps,
                "sentence": [str(each) for each in verdict.violates],
                "failure": _text(verdict),
            }
        )

    def _row(self, seconds: float) -> dict[str, Any]:
        return {
            "package": self.defect.package,
            "registry": self.defect.registry,
            "bad": self.defect.bad,
            "fixed": self.defect.fixed,
            "advisory": self.defect.advisory,
            "says": self.defect.says,
            "found": self.found,
            "seconds": round(seconds, 1),
            "inputs": self.inputs,
            "trouble": self.trouble,
            "differences": self.differences,
            "common": self.common,
        }


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="otf-defects-")


def _always(outcome: Outcome, bench: Bench, events: Sequence[Event]) -> bool:
    """Return whether a run ends so each time that it is driven again."""
    return all(_again(bench, events) == outcome for _ in range(AGAIN))


def _again(bench: Bench, events: Sequence[Event]) -> Outcome:
    with _folder() as folder:
        settings = Settings(out=Path(folder) / "out", aftermath=0.0)
        return anyio.run(rerun, bench, events, settings).verdict.outcome


def _shrunk(bench: Bench, failing: PathResult) -> Shrunk:
    settings = Settings(out=failing.trace.parent, mode="strict")
    head = header(bench, settings, failing.number, strategy="script")
    shrinker = Shrinker(bench=bench, oracle=bench.oracle(), header=head, budget=BUDGET, confirmed=True)
    return anyio.run(shrinker.run, failing)


def _text(failure: Failure) -> str:
    return f"{failure.input}: {failure.seen}"
