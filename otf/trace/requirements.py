"""What a campaign shows about each requirement of a table, as text and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Final, Literal, TypeAlias, get_args

from otf.spec.requirements import LEVELS, Requirement, Requirements
from otf.trace.verdict import Failure

RequirementStatus: TypeAlias = Literal["violated", "covered", "not decided", "never tried", "undecidable"]
"""What is known about a requirement.

| status | meaning |
|---|---|
| `violated` | a failure cites it, and no other |
| `covered` | a run cannot be explained without the transitions that implement it |
| `not decided` | runs reached it, but can all be explained without it |
| `never tried` | no run reached it |
| `undecidable` | the table says why no test can decide it, and no run did |
"""

STATUSES: Final = get_args(RequirementStatus)
HEADER: Final = "id,level,status,trace,text"
UNLISTED: Final = "the model refers to it, and the table does not have it"


@dataclass(frozen=True, slots=True)
class RequirementResult:
    """A `requirement` with its `status` in a campaign; `trace` is the trace of a path that violates the requirement.

    >>> lamp = Requirement("R1", "MUST", "A press lights the lamp.")
    >>> str(RequirementResult(lamp, "covered"))
    'covered: R1, MUST: A press lights the lamp.'
    """

    requirement: Requirement
    status: RequirementStatus
    trace: str = ""

    def __str__(self) -> str:
        """Return the requirement and its status on one line."""
        known = self.requirement
        return f"{self.status}: {known.id}, {known.level}: {known.text}"


@dataclass(slots=True)
class RequirementRecord:
    """What the runs of a campaign show about the requirements of a table.

    `reached` and `decided` are the ids that `otf.core.RequirementEvidence` collects; `violated` maps ids to traces.

    >>> table = Requirements([Requirement("R1", "MUST", "It lights."), Requirement("R2", "MAY", "It flickers.")])
    >>> record = RequirementRecord(table, reached={"R1"}, decided={"R1"})
    >>> [each.status for each in record.results()]
    ['covered', 'never tried']
    """

    table: Requirements = field(default_factory=Requirements)
    reached: set[str] = field(default_factory=set[str])
    decided: set[str] = field(default_factory=set[str])
    violated: dict[str, str] = field(default_factory=dict[str, str])

    def open(self, others: Iterable[str] = ()) -> bool:
        """Return whether a requirement is left to decide, from the table or from `others` that a model refers to."""
        left = {each.id for each in self.table.values() if not each.undecided}.union(others)
        return not left <= self.decided.union(self.violated)

    def failed(self, failure: Failure, trace: str) -> None:
        """Add a failure with its trace. If it is unclear which requirement it violates, they only count as reached."""
        ids = [each.id for each in failure.violates]
        if failure.unclear:
            self.reached.update(ids)
        else:
            self.violates(ids, trace)

    def violates(self, ids: Iterable[str], trace: str) -> None:
        """Note that a path violates requirements."""
        for each in ids:
            self.violated.setdefault(each, trace)

    def add(self, found: RequirementRecord) -> None:
        """Add what further runs show; of two traces that violate a requirement, the first stays."""
        self.reached |= found.reached
        self.decided |= found.decided
        self.violated = {**found.violated, **self.violated}

    def results(self) -> tuple[RequirementResult, ...]:
        """Return the status of each requirement of the table, and of those that only the model has."""
        unlisted = sorted(self.reached.union(self.violated) - self.table.keys())
        every = [*self.table.values(), *(Requirement(name, "MUST", UNLISTED) for name in unlisted)]
        return tuple(RequirementResult(each, self._status(each), self.violated.get(each.id, "")) for each in every)

    def _status(self, each: Requirement) -> RequirementStatus:
        if each.id in self.violated:
            return "violated"
        if each.id in self.decided:
            return "covered"
        if each.undecided:
            return "undecidable"
        return "not decided" if each.id in self.reached else "never tried"


GOAL: Final = "goal: "
"""The start of the text of a temporal property that is a goal: `sometimes(…)`."""
PROPERTY: Final = "property: "


def unmet(results: Iterable[RequirementResult]) -> Iterator[str]:
    """Yield a line for each goal that no path reached, and for each property that the paths left open or never tested.

    >>> tea = Requirement("tea", "MUST", "goal: sometimes('tea')")
    >>> list(unmet([RequirementResult(tea, "never tried")]))
    ["goal that no path reached: tea, sometimes('tea')"]
    """
    for each in results:
        name, text = each.requirement.id, each.requirement.text
        if each.status in {"violated", "covered"}:
            continue
        if text.startswith(GOAL):
            yield f"goal that no path reached: {name}, {text.removeprefix(GOAL)}"
        elif text.startswith(PROPERTY):
            how = "open at the end of each path" if each.status == "not decided" else "never put to the test"
            yield f"property {how}: {name}, {text.removeprefix(PROPERTY)}"


def tally(results: Sequence[RequirementResult]) -> Iterator[str]:
    """Yield a line that counts the requirements by status, and the decided ones by level (such as MUST).

    >>> lamp = Requirement("R1", "MUST", "A press lights the lamp.")
    >>> list(tally([RequirementResult(lamp, "covered")]))
    ['requirements: 1 of 1 decided (MUST 1 of 1): 1 covered']
    """
    if not results:
        return
    levels = (_share(level, [each for each in results if each.requirement.level == level]) for level in LEVELS)
    counts = {status: sum(each.status == status for each in results) for status in STATUSES}
    by_status = ", ".join(f"{number:,} {status}" for status, number in counts.items() if number)
    yield f"requirements: {_share('', results)} decided ({', '.join(filter(None, levels))}): {by_status}"


def _share(name: str, results: Sequence[RequirementResult]) -> str:
    decided = sum(each.status in {"violated", "covered"} for each in results)
    return f"{name} {decided:,} of {len(results):,}".strip() if results else ""


def as_csv(results: Iterable[RequirementResult]) -> str:
    """Return the results as CSV: the columns of a table of requirements, with the status and the trace.

    >>> lamp = Requirement("R1", "MUST", "A press lights the lamp.")
    >>> print(as_csv([RequirementResult(lamp, "covered")]), end="")
    id,level,status,trace,text
    R1,MUST,covered,,A press lights the lamp.
    """
    out = StringIO()
    rows = csv.writer(out, lineterminator="\n")
    out.write(f"{HEADER}\n")
    for each in results:
        known = each.requirement
        rows.writerow((known.id, known.level, each.status, each.trace, known.text))
    return out.getvalue()
