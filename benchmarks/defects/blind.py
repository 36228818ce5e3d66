"""Looking for a defect without knowing what it is: what fails on the bad version and does not on the fixed one."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeAlias

import anyio

from benchmarks.defects.environments import command, running
from benchmarks.defects.published import Defect
from otf.adapter import Bench, KnownIssue
from otf.campaign import Budget, Campaign, Settings, Shrinker, rerun
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.settings import UNLIMITED, header
from otf.campaign.summary import Summary
from otf.codec.malformed import Malformed, MalformedCodec
from otf.spec import restrict
from otf.trace import Event, Signature
from otf.trace.verdict import Failure, Outcome
from otf.values import show

AGAIN: Final = 3
"""How often a run is driven again that may be the defect: it has to pass on the fixed version each time, and to fail on
the bad one; any other run once."""
BUDGET: Final = Budget(seconds=120.0)
"""For shrinking one failure."""
MALFORMED: Final = 0.6
"""The share of malformed inputs in every other campaign, where the bench has a server at an address."""
PARTS: Final = 6
"""Campaigns without a new failure that the time is enough for."""
FailureKey: TypeAlias = tuple[Signature, str]
"""Failures that are one: a signature with the inputs of the failing step, since one signature has many causes."""


def _key(failure: Failure) -> FailureKey:
    if Malformed.__name__ in failure.signature.input:
        # no two of these are the same, but what they violate is
        return failure.signature, ", ".join(each.id for each in failure.violates)
    return failure.signature, failure.input


@cache
def _shown(value: object) -> str:
    """Return an input as a failure has it."""
    return show(value)


@dataclass(slots=True)
class Hunt:
    """Campaigns on the bad version of one defect, each until a failure that is not known yet.

    For `learning` seconds the fixed version is tested first: what fails there is no defect that was fixed, it is
    `common` to both. Each failing run of the bad version is driven again on the fixed one: if it passes there, that is
    a difference, whatever its signature, and it is shrunk; if not, it is common to both. `inputs` and the seconds of a
    difference are those on the bad version. Where the bench has a server at an address, an input that failed before
    is not sent again, since each path would end there, and every other campaign sends malformed inputs too.
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
        parts = 1 if self.defect.at is None else PARTS
        for _ in range(min(parts, 2)):
            with _folder() as folder:
                self._campaign(self.defect.fixed, folder, self.learning / min(parts, 2), self._learnt)
        began = monotonic()
        while not self.found and (left := self.seconds - (monotonic() - began)) > self.least:
            with _folder() as folder:
                summary = self._campaign(self.defect.bad, folder, min(left, self.seconds / parts), self._is_known)
                self.inputs += summary.steps
                if not summary.failures and (parts == 1 or not summary.steps):
                    break
                for group in summary.failures.values():
                    self._compare(group.first, monotonic() - began)
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
        """Return the bench that starts a fresh server for each path; it takes malformed inputs if there may be some."""
        bench = self.defect.bench(self._command(version))
        return bench if self.defect.at is None else bench.with_malformed(MALFORMED)

    def _command(self, version: str) -> list[str]:
        return command(self.defect, version, self.environments)

    def _is_known(self, failure: Failure) -> bool:
        return _key(failure) in self._known

    def _learnt(self, failure: Failure) -> bool:
        """Note what fails on the fixed version, and let the campaign go on past it."""
        self._known.setdefault(_key(failure), "fails on the fixed version")
        return True

    def _campaign(self, version: str, folder: str, seconds: float, known: Callable[[Failure], bool]) -> Summary:
        self.seed += 1
        with running(self.defect, self._command(version)) as bench:
            return self._on(replace(bench, known_issues=(KnownIssue(known, "seen before"),)), folder, seconds)

    def _on(self, bench: Bench, folder: str, seconds: float) -> Summary:
        if self.defect.at is not None:
            seen = {says for _, says in self._known}
            bench = replace(bench, spec=restrict(bench.spec, lambda _, inp: _shown(inp) not in seen))
            if self.seed % 2:
                # made of valid inputs only: an invalid one may fail before it was damaged
                assert bench.codec is not None
                valid = cache(MalformedCodec(bench.codec).reads)
                bench = replace(bench, spec=restrict(bench.spec, lambda _, inp: valid(inp))).with_malformed(MALFORMED)
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

    def _compare(self, failing: PathResult, after: float) -> None:
        failure = failing.verdict.failure
        assert failure is not None
        bad, fixed = self._bench(self.defect.bad), self._bench(self.defect.fixed)
        # other differences are only named: to be sure of them would cost the time in which the defect is found
        times = AGAIN if self._is_it(failure) else 1
        passes = _always("pass", fixed, failing.events, times)
        # the run itself is no longer new, whatever it shows
        self._known[_key(failure)] = "" if passes else "does not pass on the fixed version"
        if not passes or not _always("fail", bad, failing.events, times):
            return
        shown: PathResult | Shrunk = _shrunk(bad, failing) if self._is_it(failure) else failing
        if shown is not failing and not _always("pass", fixed, shown.events, times):
            # without some of its inputs it shows another failure of the same signature
            shown = failing
        verdict = shown.verdict.failure or failure
        self._known[_key(verdict)] = ""
        self.differences.append(
            {
                "is it": self._is_it(verdict),
                "inputs": self.inputs,
                "seconds": round(after, 1),
                "shrunk": shown.steps,
                "sentence": [str(each) for each in verdict.violates],
                "failure": _text(verdict),
            }
        )

    def _is_it(self, failure: Failure) -> bool:
        """Return whether a difference of the versions that fails so is the defect, as far as its advisory says."""
        return not self.defect.violates or any(each.id in self.defect.violates for each in failure.violates)

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


def _always(outcome: Outcome, bench: Bench, events: Sequence[Event], times: int) -> bool:
    """Return whether a run ends so each of these times that it is driven again."""
    return all(_again(bench, events) == outcome for _ in range(times))


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
