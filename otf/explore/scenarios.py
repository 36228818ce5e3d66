"""Scenarios as unit tests of a model: what it has to allow, and what it has to forbid."""

from __future__ import annotations

from typing import Any, Final

from otf.compose import Scenario, composed, scenario
from otf.compose.guided import check
from otf.explore.analysis import reachable
from otf.explore.explorer import explore
from otf.explore.finding import Finding, LawVerdict
from otf.spec import Spec

LOOKED: Final = 1_000  # states in which it is looked for actions that a scenario names
LIMIT: Final = 20_000


def allows(spec: Spec[Any, Any], told: Any, limit: int = LIMIT) -> Finding:  # noqa: ANN401 -- however it is written
    """Find out whether a model can go through a scenario to its end; `way` shows how.

    >>> from otf.spec import goto
    >>> def step(stack, inp):
    ...     if inp == "push": return [goto((1, *stack))]
    ...     return [goto(stack[1:], stack[0])] if stack else []
    >>> stack = Spec(step, (), ["push", "pop"], name="stack")
    >>> bool(allows(stack, "push pop/1")), bool(allows(stack, "push pop pop"))
    (True, False)
    """
    law = f"{spec.name} allows the scenario"
    graph = explore(composed(spec, known(spec, told)), limit)
    return reachable(graph, graph.accepting, law)


def forbids(spec: Spec[Any, Any], told: Any, limit: int = LIMIT) -> Finding:  # noqa: ANN401 -- however it is written
    """Find out whether a model cannot go through a scenario to its end; where it can, `way` shows how."""
    found = allows(spec, told, limit)
    law = f"{spec.name} forbids the scenario"
    if found.verdict is LawVerdict.UNDECIDED:
        return Finding(law, LawVerdict.PASSED, found.says)
    return Finding(law, LawVerdict.REFUTED if found else LawVerdict.PROVEN, found.says, found.way)


def known(spec: Spec[Any, Any], told: Any) -> Scenario:  # noqa: ANN401 -- however it is written
    """Return a scenario whose actions the model has. Raises UsageError for one that names another."""
    made = told if isinstance(told, Scenario) else scenario(told)
    graph = explore(spec, LOOKED)
    check(made, graph.inputs, [item for outputs in graph.outputs for item in outputs])
    return made
