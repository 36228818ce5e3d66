"""Analyses of an explored model. Where a law does not hold they name the first place in the order of the search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from otf.compose import Scenario, composed, scenario
from otf.compose.guided import check
from otf.errors import ModelError, UsageError
from otf.explore.explorer import explore
from otf.explore.finding import Finding, LawVerdict, refuted, stands
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.explore.naming import observed, output_name
from otf.explore.refine import blocks
from otf.spec import Spec
from otf.values import show

GENERAL: Final = ("deterministic", "output-deterministic", "total", "input-enabled", "minimal")

# what is seen of states and transitions within a bound is all that there is of them; what a state has of transitions is
# known within so many steps, and not where some lead to states that were left out
INSIDE: Final = ("depth", "states")
STEPS: Final = ("depth",)


def safety(graph: Graph, holds: Callable[[Any], object], law: str = "safe") -> Finding:
    """Find out whether `holds(state)` of every state."""
    for number, value in enumerate(graph.values):
        if not _asked(law, holds, value):
            return refuted(graph, law, number, f"not in {show(value)}")
    return stands(graph, law, ignores=INSIDE)


def transitions(graph: Graph, holds: Callable[..., object], law: str = "invariant") -> Finding:
    """Find out whether `holds(state, input, next_state, outputs)` of every transition on an input."""
    for arc, at in _arcs(graph):
        if arc.input != SPONTANEOUS and arc.target != OPEN:
            source, target = graph.values[arc.source], graph.values[arc.target]
            parts = source, graph.inputs[arc.input], target, graph.outputs[arc.outputs]
            if not _asked(law, holds, *parts):
                return refuted(graph, law, arc.source, f"not in {show(source)}, on the way to {show(target)}", at)
    return stands(graph, law, ignores=INSIDE)


def unsafe(graph: Graph, holds: Callable[[Any], object]) -> set[int]:
    """Return the numbers of the states for which it is not true."""
    return {number for number, value in enumerate(graph.values) if not _asked("safe", holds, value)}


def dead(graph: Graph, accepting: Callable[[Any], object] | None = None) -> set[int]:
    """Return the states from which no accepting state can be reached; without a test those without a way out.

    From where a bound cut something off one may be reached: that is no dead end.
    """
    test = accepting or graph.accepting
    if test is None:
        goals = {arc.source for arc in graph.arcs()} | set(graph.edge)
        return set(range(len(graph.values))) - goals
    goals = {number for number, value in enumerate(graph.values) if _asked("accepting", test, value)}
    return set(range(len(graph.values))) - _leading(graph, goals | set(graph.edge) | _open(graph))


def liveness(graph: Graph, accepting: Callable[[Any], object] | None = None, law: str = "live") -> Finding:
    """Find out whether an accepting state can be reached from every state: there is no dead end."""
    lost = dead(graph, accepting)
    if lost:
        first = min(lost)
        return refuted(graph, law, first, f"from {show(graph.values[first])} on no accepting state can be reached")
    return stands(graph, law)


def reachable(graph: Graph, goal: Callable[[Any], object], law: str = "reachable") -> Finding:
    """Find out whether a state for which `goal` is true can be reached; where it can, `way` leads there."""
    for number, value in enumerate(graph.values):
        if _asked(law, goal, value):
            found = refuted(graph, law, number, "")
            return Finding(law, LawVerdict.PROVEN, show(value), found.way)
    if graph.whole:
        return Finding(law, LawVerdict.REFUTED, f"no such state among {len(graph.values):,}")
    return Finding(law, LawVerdict.UNDECIDED, f"no such state among {len(graph.values):,}; bounds cut others off")


def general(graph: Graph) -> list[Finding]:
    """Return what holds of any model, or does not: `GENERAL`."""
    return [
        _alone(graph, "deterministic", lambda _out: None),
        _alone(graph, "output-deterministic", lambda out: output_name(observed(graph.outputs[out]))),
        _specified(graph, "total", None),
        _specified(graph, "input-enabled", len(graph.inputs)),
        minimal(graph),
    ]


def minimal(graph: Graph, law: str = "minimal") -> Finding:
    """Find out whether every two states can be told apart."""
    first: dict[int, int] = {}
    for number, block in enumerate(blocks(graph)):
        other = first.setdefault(block, number)
        if other != number:
            pair = f"{show(graph.values[other])} and {show(graph.values[number])}"
            return refuted(graph, law, number, f"nothing tells {pair} apart")
    return stands(graph, law)


def _alone(graph: Graph, law: str, kind: Callable[[int], object]) -> Finding:
    """Find out whether there is one transition at most on an input, of each kind of outputs."""
    for state in range(len(graph.values)):
        met: set[tuple[int, object]] = set()
        for at in range(*graph.span(state)):
            inp = graph.input[at]
            which = (inp, kind(graph.output[at]))
            if inp != SPONTANEOUS and which in met:
                says = f"several transitions in {show(graph.values[state])} on {show(graph.inputs[inp])}"
                return refuted(graph, law, state, says, at)
            met.add(which)
    return stands(graph, law, ignores=STEPS)


def _specified(graph: Graph, law: str, of: int | None) -> Finding:
    """Find out whether every input that a state offers, or every input that there is, is specified in it."""
    for state in range(len(graph.values)):
        there = {graph.input[at] for at in range(*graph.span(state))}
        offered = range(of) if of is not None else graph.offered(state)
        missing = [inp for inp in offered if inp not in there]
        if missing and state not in graph.edge:
            says = f"nothing is said in {show(graph.values[state])} of {show(graph.inputs[missing[0]])}"
            return refuted(graph, law, state, says)
    return stands(graph, law, ignores=STEPS)


def _leading(graph: Graph, goals: Iterable[int]) -> set[int]:
    """Return the states from which one of the goals can be reached."""
    before = defaultdict[int, list[int]](list)
    for arc in graph.arcs():
        before[arc.target].append(arc.source)
    found = set(goals)
    left = list(found)
    while left:
        for source in before[left.pop()]:
            if source not in found:
                found.add(source)
                left.append(source)
    return found


def _open(graph: Graph) -> set[int]:
    return {arc.source for arc in graph.arcs() if arc.target == OPEN}


def _arcs(graph: Graph) -> Iterator[tuple[Arc, int]]:
    for state in range(len(graph.values)):
        yield from zip(graph.arcs(state), range(*graph.span(state)), strict=True)


def _asked(law: str, holds: Callable[..., object], *arguments: object) -> bool:
    try:
        return bool(holds(*arguments))
    except (ModelError, UsageError):
        raise
    except Exception as error:
        message = f"{law}: it raised {type(error).__name__} on {', '.join(map(show, arguments))}: {error}"
        raise ModelError(message) from error


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
