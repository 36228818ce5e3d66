"""The result of checking a law of a model: a verdict and, if the law fails, a shortest way that shows why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from otf.explore.graph import OPEN, SPONTANEOUS, Graph
from otf.spec.transition import RequirementIds, requirements
from otf.values import show


class LawVerdict(StrEnum):
    """The verdict after otf has checked a law on a model.

    `PROVEN`: the law holds, and the search saw all states. `WITHIN`: the law holds in all states within the bounds on
    steps, states or values. `PASSED`: the law holds in the states that the search saw, but the model has more states.
    `REFUTED`: a sequence of steps of the model breaks the law. `UNDECIDED`: the search did not find the required state,
    which may lie beyond the bounds.
    """

    PROVEN = "proven"
    WITHIN = "proven within"
    PASSED = "passed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class TakenStep(NamedTuple):
    """A step of a path through a model: its `input` (None for spontaneous outputs), and its `outputs` as texts."""

    input: Any
    outputs: tuple[str, ...]
    spontaneous: bool = False

    def __str__(self) -> str:
        """Return the step as input / outputs."""
        asked = "(spontaneous)" if self.spontaneous else show(self.input)
        return f"{asked} / {', '.join(filter(None, self.outputs)) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one `law`: the `verdict`, and the reason in one line (`says`).

    `way` lists the steps from the initial state to the state or transition that breaks the law. `req` lists the ids of
    the requirements that the law checks. `state` is the number of the state that breaks the law.

    >>> from otf.explore import explore
    >>> from otf.explore.analysis import safety
    >>> from otf.models.coffee import coffee
    >>> found = safety(explore(coffee), lambda paid: paid < 10)
    >>> bool(found), found.verdict.value, found.says, found.state
    (False, 'refuted', 'not in 10', 2)
    """

    law: str
    verdict: LawVerdict
    says: str = ""
    way: tuple[TakenStep, ...] = ()
    req: tuple[str, ...] = ()
    state: int | None = None

    def __bool__(self) -> bool:
        """Return whether the law holds as far as we know: `assert safety(graph, …)` is a test."""
        return self.verdict in {LawVerdict.PROVEN, LawVerdict.WITHIN, LawVerdict.PASSED}

    def __str__(self) -> str:
        """Return the verdict, and below it the way, one step a line."""
        between = " " if self.verdict is LawVerdict.WITHIN else ": "
        broken = "violates " if self.verdict is LawVerdict.REFUTED else ""
        cited = f" ({broken}{', '.join(self.req)})" if self.req else ""
        lines = [f"{self.law}: {self.verdict}" + (f"{between}{self.says}" if self.says else "") + cited]
        return "\n".join([*lines, *(f"  {number:3}  {step}" for number, step in enumerate(self.way, 1))])

    def citing(self, req: RequirementIds) -> Finding:
        """Return a copy of the finding that names the given requirements."""
        return replace(self, req=requirements(req)) if req else self


def upheld(graph: Graph, law: str, *, ignores: Iterable[str] = ()) -> Finding:
    """Return the finding that a law holds in all states of a graph.

    The verdict is PASSED if a bound that is not in `ignores` ended the search.
    """
    counted = graph.size
    if OPEN not in graph.target and graph.cuts.keys() <= set(ignores):
        within = ", ".join(graph.within())
        return (
            Finding(law, LawVerdict.WITHIN, f"{within}: {counted}")
            if within
            else Finding(law, LawVerdict.PROVEN, counted)
        )
    cuts = ", ".join(graph.cuts) or "outputs that decide the next state"
    return Finding(law, LawVerdict.PASSED, f"{counted}; not all were seen: {cuts}")


def refuted(graph: Graph, law: str, state: int, says: str, at: int | None = None) -> Finding:
    """Return the finding that a law fails in a state, or at the transition in row `at` of the graph's table."""
    way = [taken(graph, arc.input, arc.outputs) for arc in graph.way(state)]
    if at is not None:
        way.append(taken(graph, graph.input[at], graph.output[at]))
    return Finding(law, LawVerdict.REFUTED, says, tuple(way), state=state)


def taken(graph: Graph, inp: int, outputs: int) -> TakenStep:
    """Return a step of a path through a graph, given the indices of its input and outputs."""
    spontaneous = inp == SPONTANEOUS
    return TakenStep(None if spontaneous else graph.inputs[inp], graph.texts[outputs], spontaneous)
