"""What an analysis came to: a verdict, and where it is against the model the shortest way to see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from otf.explore.graph import OPEN, SPONTANEOUS, Graph
from otf.values import show


class LawVerdict(StrEnum):
    """What is known of a law.

    Proven: all states were seen; proven within: all that there are within so many steps, certain states, given values;
    passed: some of them; refuted: there is a way to see that it is not so; undecided: what was looked for may be beyond
    the bounds.
    """

    PROVEN = "proven"
    WITHIN = "proven within"
    PASSED = "passed"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


class TakenStep(NamedTuple):
    """A step of a way: the input (None: unasked), and the outputs as texts."""

    input: Any
    outputs: tuple[str, ...]
    spontaneous: bool = False

    def __str__(self) -> str:
        """Write it as input / outputs."""
        asked = "(unasked)" if self.spontaneous else show(self.input)
        return f"{asked} / {', '.join(filter(None, self.outputs)) or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one law, what it rests on in a line, and the way to the place where the law does not hold."""

    law: str
    verdict: LawVerdict
    says: str = ""
    way: tuple[TakenStep, ...] = ()

    def __bool__(self) -> bool:
        """Return whether the law stands: `assert safety(graph, …)` is a test."""
        return self.verdict in {LawVerdict.PROVEN, LawVerdict.WITHIN, LawVerdict.PASSED}

    def __str__(self) -> str:
        """Say it in lines."""
        between = " " if self.verdict is LawVerdict.WITHIN else ": "
        lines = [f"{self.law}: {self.verdict}" + (f"{between}{self.says}" if self.says else "")]
        return "\n".join([*lines, *(f"  {number:3}  {step}" for number, step in enumerate(self.way, 1))])


def stands(graph: Graph, law: str, *, ignores: Iterable[str] = ()) -> Finding:
    """Return that a law holds of all states of a graph; within the bounds that it `ignores` it needs nothing beyond."""
    counted = f"{len(graph.values):,} states, {len(graph.target):,} transitions"
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
    """Return that a law does not hold in a state, or at an entry of the table of transitions."""
    way = [taken(graph, arc.input, arc.outputs) for arc in graph.way(state)]
    if at is not None:
        way.append(taken(graph, graph.input[at], graph.output[at]))
    return Finding(law, LawVerdict.REFUTED, says, tuple(way))


def taken(graph: Graph, inp: int, outputs: int) -> TakenStep:
    """Return a step of a way from its numbers."""
    spontaneous = inp == SPONTANEOUS
    return TakenStep(None if spontaneous else graph.inputs[inp], graph.texts[outputs], spontaneous)
