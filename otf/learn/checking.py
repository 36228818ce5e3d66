"""Black-box checking: properties of a learnt machine, with each counterexample tried on the real system.

After Peled, Vardi and Yannakakis, "Black Box Checking" (2002).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otf.explore import explore
from otf.explore.expiring import temporal
from otf.explore.finding import Finding, LawVerdict
from otf.learn.learnt import LearntSystem
from otf.learn.listening import PathDriver
from otf.temporal import Formula, PropertyStep, Residue
from otf.values import key


@dataclass(frozen=True)
class CheckedProperty:
    """Whether the machine has a property, and whether the system `confirms` a violation.

    `confirms` is None if the machine does not violate the property.
    """

    finding: Finding
    confirms: bool | None = None

    def __str__(self) -> str:
        """Return the finding, and below it what the system did."""
        if self.confirms is None:
            return str(self.finding)
        did = "does so, too" if self.confirms else "does not: what was learnt is wrong there"
        return f"{self.finding}\nthe system {did}"


async def checked(driver: PathDriver, learnt: LearntSystem, properties: Mapping[str, Formula]) -> list[CheckedProperty]:
    """Return which properties hold, after a path on the system for each that the machine violates.

    Raises ContactError if such a path decides nothing.
    """
    graph, found = explore(learnt.spec(), learnt.machine.size + 1), list[CheckedProperty]()
    for name, what in properties.items():
        finding = temporal(graph, name, what)
        refuted = finding.verdict is LawVerdict.REFUTED and finding.way
        found.append(CheckedProperty(finding, await _violates(driver, learnt, what, finding) if refuted else None))
    return found


async def _violates(driver: PathDriver, learnt: LearntSystem, what: Formula, finding: Finding) -> bool:
    numbers = {key(inp): number for number, inp in enumerate(driver.inputs)}
    word = tuple(numbers[key(step.input)] for step in finding.way if not step.spontaneous)
    came = await driver.drive(word)
    left = Residue.of(what)
    if learnt.greeting:
        left = left.after(PropertyStep(None, tuple(output for _, output in learnt.greeting)))
    for inp, outputs in zip(word, came, strict=True):
        if outputs is not None:  # else it could not be sent
            left = left.after(PropertyStep(driver.inputs[inp], tuple(output for _, output in outputs)))
    return left.truth is False
