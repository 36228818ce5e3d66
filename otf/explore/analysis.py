"""Checks of an explored model: laws that its states and transitions must keep, and scenarios as tests of the model.

If a law fails, its `Finding` lists the fewest steps that lead to a state or transition that breaks the law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from otf.compose import Scenario, compose, scenario
from otf.compose.guided import check
from otf.core import Model
from otf.core.repeatable import compare
from otf.errors import ModelError, UsageError
from otf.explore.explorer import explore
from otf.explore.finding import Finding, LawVerdict, refuted, upheld
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph, Portless, reaching
from otf.explore.naming import observed, output_name
from otf.explore.refine import blocks
from otf.spec import Spec
from otf.spec.transition import RequirementIds
from otf.values import as_text, show
from otf.values.arguments import checked
from otf.values.raised import own_frames

SEARCHED: Final = 1_000  # states to search for the actions of a scenario
LIMIT: Final = 20_000  # states
# the laws that make sense for each model
GENERAL: Final = ("deterministic", "output-deterministic", "total", "input-enabled", "minimal")

# Within a bound of depth or states we see every state and transition, which proves a law about single ones within it. A
# law about all transitions of a state is proven only within a depth: a bound of states omits some of them.
INSIDE: Final = ("depth", "states")
STEPS: Final = ("depth",)  # the bound within which laws about all transitions of a state are proven


@checked
def safety(graph: Graph, holds: Callable[[Any], object], law: str = "safe", req: RequirementIds = ()) -> Finding:
    """Check that `holds(state)` is true in every state of a model.

    `req` lists the ids of the requirements that this law checks.

    >>> from otf.models.coffee import coffee
    >>> print(safety(explore(coffee), lambda paid: paid < 10))
    safe: refuted: not in 10
        1  Coin(cents=10) / nothing
    """
    for number, value in enumerate(graph.values):
        if not _asked(law, holds, value):
            return refuted(graph, law, number, f"not in {show(value)}").citing(req)
    return upheld(graph, law, ignores=INSIDE).citing(req)


@checked
def transitions(
    graph: Graph, holds: Callable[..., object], law: str = "invariant", req: RequirementIds = ()
) -> Finding:
    """Check that `holds(state, input, next_state, outputs)` is true for every transition that an input causes.

    `req` lists the ids of the requirements that this law checks.

    >>> from otf.models.coffee import coffee
    >>> print(transitions(explore(coffee), lambda paid, inp, then, outputs: not outputs or paid == 10))
    invariant: proven: 3 states, 4 transitions
    """
    for arc, at in _arcs(graph):
        if arc.input != SPONTANEOUS and arc.target != OPEN:
            source, target = graph.values[arc.source], graph.values[arc.target]
            parts = source, graph.inputs[arc.input], target, graph.outputs[arc.outputs]
            if not _asked(law, holds, *parts):
                says = f"not in {show(source)}, on the way to {show(target)}"
                return refuted(graph, law, arc.source, says, at).citing(req)
    return upheld(graph, law, ignores=INSIDE).citing(req)


@checked
def unsafe(graph: Graph, holds: Callable[[Any], object]) -> set[int]:
    """Return the numbers of the states in which `holds(state)` is false.

    >>> from otf.models.coffee import coffee
    >>> unsafe(explore(coffee), lambda paid: paid < 10)
    {2}
    """
    return {number for number, value in enumerate(graph.values) if not _asked("safe", holds, value)}


@checked
def dead(graph: Graph, accepting: Callable[[Any], object] | None = None) -> set[int]:
    """Return the numbers of all states from which no accepting state can be reached.

    If the graph has no function `accepting`, `dead` returns the numbers of all states that no transition leaves.

    `dead` omits states at which a bound ended the search, since an accepting state may lie beyond the bound.

    >>> from otf.models.coffee import coffee
    >>> dead(explore(coffee)), dead(explore(coffee), lambda paid: paid > 10)
    (set(), {0, 1, 2})
    """
    test = accepting or graph.accepting
    if test is None:
        goals = {arc.source for arc in graph.arcs()} | set(graph.edge)
        return set(range(len(graph.values))) - goals
    goals = {number for number, value in enumerate(graph.values) if _asked("accepting", test, value)}
    # a transition whose outputs decide the state may lead to an accepting one
    goals.update(graph.edge, [OPEN])
    return set(range(len(graph.values))) - reaching(((arc.source, arc.target) for arc in graph.arcs()), goals)


@checked
def liveness(
    graph: Graph, accepting: Callable[[Any], object] | None = None, law: str = "live", req: RequirementIds = ()
) -> Finding:
    """Check that the model has no dead end: from every state, some steps lead to an accepting state.

    `req` lists the ids of the requirements that this law checks.

    >>> from otf.models.coffee import coffee
    >>> print(liveness(explore(coffee), lambda paid: paid == 0))
    live: proven: 3 states, 4 transitions
    """
    lost = dead(graph, accepting)
    if lost:
        first = min(lost)
        says = f"no accepting state can be reached from {show(graph.values[first])}"
        return refuted(graph, law, first, says).citing(req)
    return upheld(graph, law).citing(req)


@checked
def reachable(graph: Graph, goal: Callable[[Any], object], law: str = "reachable", req: RequirementIds = ()) -> Finding:
    """Check that the model can reach a state in which `goal(state)` is true; the finding's `way` lists the steps.

    `req` lists the ids of the requirements that this law checks.

    >>> from otf.models.coffee import coffee
    >>> print(reachable(explore(coffee), lambda paid: paid == 5))
    reachable: proven: 5
        1  Coin(cents=5) / nothing
    """
    for number, value in enumerate(graph.values):
        if _asked(law, goal, value):
            found = refuted(graph, law, number, "")
            return Finding(law, LawVerdict.PROVEN, show(value), found.way).citing(req)
    none = f"no such state among {len(graph.values):,}"
    if graph.whole:
        return Finding(law, LawVerdict.REFUTED, none).citing(req)
    return Finding(law, LawVerdict.UNDECIDED, f"{none}; bounds cut others off").citing(req)


@checked
def general(graph: Graph) -> list[Finding]:
    """Check the laws in `GENERAL`, which make sense for any model.

    >>> from otf.models.coffee import coffee
    >>> [finding.law for finding in general(explore(coffee)) if not finding]
    ['total', 'input-enabled']
    """
    return [
        _alone(graph, "deterministic", lambda _out: None),
        _alone(graph, "output-deterministic", lambda out: output_name(observed(graph.outputs[out]))),
        _specified(graph, "total", None),
        _specified(graph, "input-enabled", len(graph.inputs)),
        minimal(graph),
    ]


@checked
def minimal(graph: Graph, law: str = "minimal") -> Finding:
    """Check that for any two states of a model some sequence of inputs leads to different outputs.

    >>> from otf.models.coffee import coffee
    >>> bool(minimal(explore(coffee)))
    True
    """
    first: dict[int, int] = {}
    for number, block in enumerate(blocks(graph)):
        other = first.setdefault(block, number)
        if other != number:
            pair = f"{show(graph.values[other])} and {show(graph.values[number])}"
            return refuted(graph, law, number, f"nothing tells {pair} apart")
    return upheld(graph, law)


def _alone(graph: Graph, law: str, kind: Callable[[int], object]) -> Finding:
    """Check that each state has at most one transition on an input, for each form of outputs."""
    for state in range(len(graph.values)):
        met: set[tuple[int, object]] = set()
        for at in range(*graph.span(state)):
            inp = graph.input[at]
            which = (inp, kind(graph.output[at]))
            if inp != SPONTANEOUS and which in met:
                says = f"several transitions in {show(graph.values[state])} on {show(graph.inputs[inp])}"
                return refuted(graph, law, state, says, at)
            met.add(which)
    return upheld(graph, law, ignores=STEPS)


def _specified(graph: Graph, law: str, of: int | None) -> Finding:
    """Check that every state specifies each of its enabled inputs, or each input of the graph (`of`)."""
    for state in range(len(graph.values)):
        there = {graph.input[at] for at in range(*graph.span(state))}
        enabled = range(of) if of is not None else graph.offered(state)
        missing = [inp for inp in enabled if inp not in there]
        if missing and state not in graph.edge:
            says = f"{show(graph.inputs[missing[0]])} is not specified in {show(graph.values[state])}"
            return refuted(graph, law, state, says)
    return upheld(graph, law, ignores=STEPS)


def _arcs(graph: Graph) -> Iterator[tuple[Arc, int]]:
    for state in range(len(graph.values)):
        yield from zip(graph.arcs(state), range(*graph.span(state)), strict=True)


def _asked(law: str, holds: Callable[..., object], *arguments: object) -> bool:
    try:
        return bool(holds(*arguments))
    except (ModelError, UsageError):
        raise
    except Exception as error:
        message = f"{law}: it raised {type(error).__name__} on {', '.join(map(show, arguments))}: {as_text(error)}"
        raise ModelError(message + own_frames(error, holds)) from error


@checked
def allows(
    spec: Spec[Any, Any],
    script: Any,  # noqa: ANN401 -- any notation
    limit: int = LIMIT,
    req: RequirementIds = (),
) -> Finding:
    """Check that a model can follow a scenario to its end; the finding's `way` shows the steps.

    `script` is a `Scenario`, or anything that `otf.compose.scenario` takes. `limit` bounds the number of states to
    explore. `req` lists the ids of the requirements that the scenario demonstrates.

    >>> from otf.spec import goto
    >>> def step(stack, inp):
    ...     if inp == "push": return [goto((1, *stack))]
    ...     return [goto(stack[1:], stack[0])] if stack else []
    >>> stack = Spec(step, (), ["push", "pop"], name="stack")
    >>> bool(allows(stack, "push pop/1")), bool(allows(stack, "push pop pop"))
    (True, False)
    """
    law = f"{spec.name} allows the scenario"
    graph = explore(compose(spec, known(spec, script)), limit)
    return reachable(graph, graph.accepting, law, req)


@checked
def forbids(
    spec: Spec[Any, Any],
    script: Any,  # noqa: ANN401 -- any notation
    limit: int = LIMIT,
    req: RequirementIds = (),
) -> Finding:
    """Check that a model cannot follow a scenario to its end; if it can, the finding's `way` shows the steps.

    >>> from otf.models.coffee import coffee
    >>> bool(forbids(coffee, "Coin(5) Button")), bool(forbids(coffee, "Coin(10) Button"))
    (True, False)
    """
    found = allows(spec, script, limit)
    law = f"{spec.name} forbids the scenario"
    if found.verdict is LawVerdict.UNDECIDED:
        return Finding(law, LawVerdict.PASSED, found.says).citing(req)
    return Finding(law, LawVerdict.REFUTED if found else LawVerdict.PROVEN, found.says, found.way).citing(req)


@checked
def known(spec: Spec[Any, Any], script: Any) -> Scenario:  # noqa: ANN401 -- any notation
    """Return the given scenario. Raises UsageError if the scenario names an action that the model does not have.

    A scenario may name any action of a model with `Accept`: its outputs decide later states, so `explore` cannot know
    all actions.
    """
    made = script if isinstance(script, Scenario) else scenario(script)
    graph = explore(spec, SEARCHED)
    if OPEN in graph.target:
        return made
    check(made, graph.inputs, [item for outputs in graph.outputs for item in outputs])
    return made


def ask_twice(spec: Spec[Any, Any], graph: Graph) -> None:
    """Compute every transition of a graph twice. Raise ModelError if the model returns different transitions."""
    first, second = Model(spec, Portless()), Model(spec, Portless())
    for model in (first, second):
        for number, state in enumerate(graph.values):
            node = model.node(state)
            model.spontaneous(node)
            for inp in graph.offered(number):
                model.moves(node, model.symbol(graph.inputs[inp]))
    compare(first, second)
