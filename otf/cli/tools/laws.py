"""The laws of a model and its size, as text and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from otf.explore import Graph
    from otf.explore.finding import Finding

KINDS: Final = 12  # of states or inputs that are counted
MEANINGS: Final = {
    "deterministic": "in each state, an input has one outcome",
    "output-deterministic": "in each state, the outputs show which outcome an input had",
    "total": "each state specifies every input that is enabled in it",
    "input-enabled": "each state specifies every input of the model",
    "minimal": "any two states differ in their outputs, now or later",
    "no dead end": "every state has a way on, and if some states are final, a way to one of them",
    "no lost timer": "a timer expires only where the model has a transition for it",
    "no unknown timer": "each timer that a transition waits for is started somewhere",
    "invariant": "the model's own invariant holds in every state",
}


def summary(graph: Graph, found: list[Finding], required: list[Finding], overview: Iterable[str] = ()) -> str:
    """Return the size of a graph and its laws, each explained; of those that fail, the `required` are *refuted*."""
    size = f"{graph.name}: {len(graph.values):,} states, {len(graph.target):,} transitions"
    return "\n".join([size + _cut(graph), *overview, *(_law(each, required=each in required) for each in found)])


def _law(finding: Finding, *, required: bool) -> str:
    head, *way = str(finding).split("\n")
    meaning = MEANINGS.get(finding.law, "")
    if not finding and not required:
        # a way to a state is of use where something is wrong
        head, way = head.replace(f"{finding.law}: refuted", f"{finding.law}: no", 1), []
        meaning += "; it need not be so"
    return "\n".join([head, *([f"      {meaning}"] if meaning else []), *way])


def overview(graph: Graph) -> Iterator[str]:
    """Yield what a large model consists of, and how to see its states."""
    from otf.values import show

    states = Counter(type(value).__name__ for value in graph.values)
    inputs = Counter(type(value).__name__ for value in graph.inputs)
    if graph.parent:  # groups of states have no types, and no ways to them
        far = len(graph.way(len(graph.values) - 1))
        yield f"states:   {_counted(states)}; the farthest is {far} steps from the start"
    yield f"inputs:   {_counted(inputs)}"
    yield f"too many to list: --whole lists all states, --depth 2 those near {show(graph.values[0])}"


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common(KINDS))


def _cut(graph: Graph) -> str:
    if graph.edge:
        return f"; not whole, cut at {len(graph.edge):,} states by {', '.join(graph.cuts)}"
    return "" if graph.whole else "; not whole: some outputs decide the next state"


def as_law(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON data."""
    return {
        "law": finding.law,
        "verdict": str(finding.verdict),
        "says": finding.says,
        "way": list(map(str, finding.way)),
        **({"requirements": list(finding.req)} if finding.req else {}),
    }
