"""Looking for a defect without knowing what it is: what fails on the bad version and does not on the fixed one."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

import anyio

from benchmarks.defects.environments import command
from benchmarks.defects.published import Defect
from otf.adapter import Bench, KnownIssue
from otf.campaign import Budget, Campaign, Settings, rerun
from otf.campaign.results import FailureGroup, PathResult, Shrunk, Summary
from otf.campaign.settings import UNLIMITED
from otf.trace import Signature
from otf.trace.verdict import Failure

AGAIN: Final = 3
"""How often the fixed version is driven with the shrunk run: it has to pass each time."""
BUDGET: Final = Budget(seconds=120.0)
"""For shrinking one failure."""


@dataclass(slots=True)
class Hunt:
    """Campaigns on the bad version of one defect, each until a failure that is not known yet.

    For `learning` seconds the fixed version is tested first: what fails there is no defect that was fixed, it is
    `common` to both. So is a failure whose shrunk run also fails on the fixed version. `inputs` and the seconds of a
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
    common: list[str] = field(default_factory=list[str])
    inputs: int = 0
    trouble: str = ""
    _known: set[Signature] = field(default_factory=set[Signature])

    def run(self) -> dict[str, Any]:
        """Return what was found until the time was up or the defect was found."""
        bad, fixed = (self._bench(each) for each in (self.defect.bad, self.defect.fixed))
        self._learn(fixed)
        began = monotonic()
        while not self.found and (left := self.seconds - (monotonic() - began)) > self.least:
            summary = self._campaign(bad, left, stop_first=True)
            self.inputs += summary.steps
            if not summary.failures:
                break
            for group in summary.failures.values():
                # a shrunk run may fail in fewer ways than the path did
                shown = (group.first, group.shrunk or group.first)
                self._known.update(each.verdict.failure.signature for each in shown if each.verdict.failure)
                self._known.add(group.signature)
                self._compare(group, fixed, monotonic() - began)
        return self._row(monotonic() - began)

    @property
    def found(self) -> bool:
        """Return whether a difference of the two versions is this defect."""
        return any(each["is it"] for each in self.differences)

    def _bench(self, version: str) -> Bench:
        return self.defect.bench(command(self.defect, version, self.environments))

    def _learn(self, fixed: Bench) -> None:
        summary = self._campaign(fixed, self.learning, stop_first=False)
        for signature in summary.failures:
            self._known.add(signature)
            self.common.append(f"{signature} (fails on the fixed version)")

    def _campaign(self, bench: Bench, seconds: float, *, stop_first: bool) -> Summary:
        known = KnownIssue(lambda failure: failure.signature in self._known, "seen before")
        bench = replace(bench, known_issues=(known,))
        self.seed += 1
        with tempfile.TemporaryDirectory(prefix="otf-defects-") as folder:
            settings = Settings(
                out=Path(folder) / "out",
                traces=UNLIMITED,
                steps=self.steps,
                time=seconds,
                seed=self.seed,
                keep="failures",
                stop_first=stop_first,
                shrink=stop_first,
                budget=BUDGET,
                aftermath=0.0,
            )
            summary = anyio.run(Campaign(bench, settings).run)
        self.trouble = summary.trouble
        return summary

    def _compare(self, group: FailureGroup, fixed: Bench, after: float) -> None:
        shown = group.shrunk or group.first
        outcomes = {_driven(fixed, shown).verdict.outcome for _ in range(AGAIN)}
        if outcomes != {"pass"}:
            both = f"{group.signature} ({', '.join(sorted(outcomes))} on the fixed version)"
            self.common = [*dict.fromkeys((*self.common, both))]
            return
        failure = shown.verdict.failure
        assert failure is not None
        cited = [each.id for each in failure.violates]
        self.differences.append(
            {
                "is it": not self.defect.violates or bool({*cited} & {*self.defect.violates}),
                "inputs": self.inputs,
                "seconds": round(after, 1),
                "shrunk": shown.steps,
                "sentence": [str(each) for each in failure.violates],
                "failure": _text(failure),
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


def _driven(bench: Bench, shown: PathResult | Shrunk) -> PathResult:
    with tempfile.TemporaryDirectory(prefix="otf-defects-") as folder:
        return anyio.run(rerun, bench, shown.events, Settings(out=Path(folder) / "out", aftermath=0.0))


def _text(failure: Failure) -> str:
    return f"{failure.input}: {failure.seen}"
