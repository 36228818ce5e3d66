"""An issue: a failing run as the shrinker sees it, and how a shrinker talks with whoever runs its candidates."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

from otf.core import Chooser, Monitor, Node, Oracle, Symbol
from otf.core.macro_step import MacroSteps
from otf.strategy import Script
from otf.trace.events import Event, Sent
from otf.trace.verdict import Signature

NodeSet: TypeAlias = frozenset[Node]
"""Where the model may be: more than one place where the system need not show what it chose."""

ANYWHERE: Final[NodeSet] = frozenset()
"""Where the model is after something that only the system decides, and after the end."""


class ModelStep(NamedTuple):
    """An input, where it was given, and where it led."""

    nodes: NodeSet
    input: Symbol
    target: NodeSet = ANYWHERE


@dataclass(frozen=True, slots=True)
class Issue:
    """The steps of a failing run up to its failure, and what the failure is; None where the run does not fail."""

    steps: tuple[ModelStep, ...]
    signature: Signature | None = None

    def __len__(self) -> int:
        """Return the number of inputs."""
        return len(self.steps)

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """Return the inputs in their order."""
        return tuple(step.input for step in self.steps)


class Candidate(Protocol):
    """What may fail with less: told apart by its value, so that none is tried twice."""

    @property
    def limit(self) -> int:
        """Return how many inputs it sends at most."""
        ...

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        ...

    def __hash__(self) -> int: ...


Shrinking: TypeAlias = Generator[Candidate, Issue | None, Issue]
"""Yields candidates, is sent the issue that each of them showed (None: it passed), and returns the best."""


def issue_of(oracle: Oracle, events: Iterable[Event]) -> Issue:
    """Return the issue of a run's events; inputs that the model did not allow were never sent, so none is in vain."""
    monitor = Monitor(oracle)
    given: list[tuple[NodeSet, Symbol]] = []
    for event in events:
        if isinstance(event, Sent):
            given.append((_node(monitor), oracle.model.symbol(event.input)))
        if monitor.tell(event) is not None:
            break
    targets = [nodes for nodes, _ in given[1:]]
    steps = [
        ModelStep(nodes, inp, target) for (nodes, inp), target in zip(given, [*targets, ANYWHERE], strict=bool(given))
    ]
    failure = monitor.verdict.failure if monitor.verdict else None
    return Issue(tuple(steps), failure.signature if failure else None)


def _node(monitor: Monitor) -> NodeSet:
    # what all inputs in flight may lead to, not what events have proven so far; `Ways` remembers it with the belief
    return frozenset(MacroSteps.of(monitor.oracle, monitor.belief).view.nodes)


@dataclass(frozen=True, slots=True)
class AllowedInputs:
    """These inputs; those that the model does not allow (any more) are skipped, so that none takes others with it.

    With `truncates` the run ends before the first of them, as in the paper of Koopman, Achten and Plasmeijer.
    """

    symbols: tuple[Symbol, ...]
    truncates: bool = False

    @property
    def limit(self) -> int:
        """Return how many inputs it sends at most."""
        return len(self.symbols)

    def chooser(self) -> Chooser:
        """Return what chooses its inputs in one run."""
        return Script((symbol.value for symbol in self.symbols), truncates=self.truncates)


def inputs(*parts: Iterable[ModelStep], truncates: bool = False) -> AllowedInputs:
    """Return the candidate with the inputs of these steps."""
    return AllowedInputs(tuple(step.input for part in parts for step in part), truncates)
