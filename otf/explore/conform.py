"""Comparisons of two models: whether one conforms to the other, whether they are equivalent, and where they differ.

To prove that model A conforms to model B, otf searches all reachable pairs: a state of A, and the possible states of B.
The monitor that judges real systems also judges each step of the model A, so a comparison supports everything that a
spec can express. To find out whether two models are equivalent, otf sends equal inputs to both models, and compares the
outputs that each model then allows. otf compares inputs and outputs as texts, so you can compare a model from a file
with a model in Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from itertools import permutations, product
from typing import Any, Final, NamedTuple, TypeAlias

from otf.core import Model, Monitor, Oracle, Relation, Routes
from otf.core.compile import choices
from otf.core.expectations import texts_of
from otf.core.macro_step import MacroSteps, follow
from otf.errors import UsageError
from otf.explore.explorer import explore
from otf.explore.finding import Finding, LawVerdict, TakenStep, taken
from otf.explore.graph import OPEN, Graph
from otf.explore.naming import name, observed, output_name
from otf.spec import Accept, AnyOrder, On, Spec, Transition
from otf.spec.outputs import vague
from otf.trace.events import Event, Quiet, Seen
from otf.values import show
from otf.values.arguments import checked

LIMIT: Final = 10_000
"""The most pairs that are compared: a state, and the states that the monitor considers possible.

>>> from otf.models.coffees import C0, C1
>>> bool(conforms(C0, C1, limit=LIMIT))
True
"""
BAG: Final = 6
"""The most outputs in a bag of outputs in any order; a larger bag has too many orders to try.

>>> from math import factorial
>>> factorial(BAG)
720
"""


class _Pair(NamedTuple):
    """A state of the implementation, the states that the monitor considers possible, and the last step."""

    state: Any
    ways: MacroSteps
    back: _Pair | None = None
    step: TakenStep | None = None

    def way(self) -> tuple[TakenStep, ...]:
        steps: list[TakenStep] = []
        pair: _Pair | None = self
        while pair is not None and pair.step is not None:
            steps.append(pair.step)
            pair = pair.back
        return tuple(steps[::-1])


@checked
def conforms(
    system: Spec[Any, Any],
    spec: Spec[Any, Any],
    *,
    relation: Relation = "uioco",
    routes: Routes | None = None,
    limit: int = LIMIT,
) -> Finding:
    """Check that a model, as an implementation, does only what a spec allows after the inputs that the spec specifies.

    `relation` is `uioco`, or `any`, the relation of Koopman and Plasmeijer, "Testing with Functions as Specifications",
    section 3.4. `limit` bounds the number of pairs of states that otf compares: conformance is proven if there are no
    more pairs. If the model does not conform, the finding's `way` is a shortest trace that the spec does not allow.
    `conforms` raises UsageError if the implementation only describes an output, or has more than `BAG` outputs in any
    order, and ModelError if one of the models is broken.

    >>> from otf.spec import OneOf, goto
    >>> free = Spec(lambda state, inp: [goto(state, OneOf("tea", "coffee"))], 0, ["button"], name="free")
    >>> strict = Spec(lambda state, inp: [goto(state, "tea")], 0, ["button"], name="strict")
    >>> print(conforms(strict, free))
    strict conforms to free: proven: 1 states of the product
    >>> print(conforms(free, strict))
    free conforms to strict: refuted: the spec allows 'tea'
        1  'button' / 'coffee'
    """
    law = f"{system.name} conforms to {spec.name}"
    if relation == "uioco" and (system.step, system.initial, system.emits) == (spec.step, spec.initial, spec.emits):
        # its state is always possible, and it accepts each input that all possible states specify
        return Finding(law, LawVerdict.PROVEN, "it is the spec itself")
    return compared(system, Oracle(Model(spec, routes or Routes()), relation), limit=limit, law=law)


def compared(system: Spec[Any, Any], oracle: Oracle, *, limit: int = LIMIT, law: str = "it conforms") -> Finding:
    """Check that a model, as an implementation, does only what the spec of an oracle allows; see `conforms`.

    An oracle remembers its answers, so it is fast to compare many models with one oracle. `limit` is the most pairs of
    states to compare. `compared` raises UsageError and ModelError as `conforms` does.

    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> lamp, dead = (Spec(lambda lit, inp, on=on: [goto(not lit, on)], False, ["press"]) for on in ("on", ""))
    >>> oracle = Oracle(Model(lamp))
    >>> [compared(each, oracle).verdict.name for each in (lamp, dead)]
    ['PROVEN', 'REFUTED']
    """
    start = _Pair(system.initial, MacroSteps.start(oracle))
    seen: set[tuple[Hashable, int]] = {(name(system.initial), id(start.ways.belief))}
    queue, kept = deque([start]), [start.ways]
    while queue:
        for found in _steps(oracle, system, queue.popleft()):
            if isinstance(found, Finding):
                return Finding(law, found.verdict, found.says, found.way)
            key = name(found.state), id(found.ways.belief)
            if key in seen:
                continue
            if len(seen) >= limit:
                return Finding(law, LawVerdict.PASSED, f"{len(seen):,} states of the product; there are more")
            seen.add(key)
            kept.append(found.ways)  # keeps the beliefs alive, so that their ids stay unique
            queue.append(found)
    return Finding(law, LawVerdict.PROVEN, f"{len(seen):,} states of the product")


def _steps(oracle: Oracle, system: Spec[Any, Any], pair: _Pair) -> Iterator[_Pair | Finding]:
    for inp in pair.ways.view.specified:
        ways = list(system.step(pair.state, inp.value))
        if not ways:
            says = (
                f"{system.name} does not accept {show(inp.value)} in {show(pair.state)}, so it is not an implementation"
            )
            yield Finding("", LawVerdict.REFUTED, says, pair.way())
        table = pair.ways.tables[inp]
        for way, outputs in _choices(ways):
            taken = TakenStep(inp.value, tuple(texts_of(outputs)))
            yield _judged(pair, way, taken, follow(oracle, pair.ways, inp.value, table, outputs))
    for way, outputs in _choices(system.emits(pair.state) if system.emits else ()):
        taken = TakenStep(None, tuple(texts_of(outputs)), spontaneous=True)
        yield _judged(pair, way, taken, _spontaneous(oracle, pair.ways, outputs))


def _judged(pair: _Pair, way: Transition[Any], taken: TakenStep, ways: MacroSteps | None) -> _Pair | Finding:
    if ways is not None:
        return _Pair(way.state, ways, pair, taken)
    allowed = _allowed(pair.ways, taken)
    return Finding("", LawVerdict.REFUTED, f"the spec allows {allowed}", (*pair.way(), taken))


def _allowed(ways: MacroSteps, taken: TakenStep) -> str:
    model, nodes = ways.view.model, ways.view.nodes
    moves = [
        move
        for node in nodes
        for move in (model.spontaneous(node) if taken.spontaneous else model.moves(node, model.symbol(taken.input)))
    ]
    return (
        " or ".join(dict.fromkeys(", ".join(filter(None, move.texts)) or "no output" for move in moves)) or "no output"
    )


def _spontaneous(oracle: Oracle, ways: MacroSteps, outputs: tuple[Any, ...]) -> MacroSteps | None:
    monitor = Monitor(oracle, ways.belief)
    routes = oracle.model.routes
    events: list[Event] = [*(Seen(each, routes.of(each), 0.0) for each in outputs), Quiet(0.0)]
    passed = all(monitor.tell(event) is None for event in events)
    return MacroSteps.of(oracle, monitor.belief) if passed else None


def _choices(ways: Iterable[object]) -> Iterator[tuple[Transition[Any], tuple[Any, ...]]]:
    """Yield each transition that an implementation may take, once for each list of output values."""
    for way in ways:
        if isinstance(way, Accept) or not isinstance(way, Transition):
            raise UsageError(f"an implementation must give its outputs as values, not {show(way)}")
        for spread in product(*map(choices, way.outputs)):
            for outputs in product(*map(_orders, spread)):
                yield way, tuple(each for part in outputs for each in part)


def _orders(item: Any) -> Iterable[tuple[Any, ...]]:  # noqa: ANN401 -- an item of outputs
    if isinstance(item, On):
        item = item.item
    if isinstance(item, AnyOrder):
        if len(item.items) > BAG:
            message = f"{len(item.items)} outputs in any order are more than {BAG}: too many orders to go through"
            raise UsageError(message)
        return (
            tuple(each for part in order for each in next(iter(_orders(part)))) for order in permutations(item.items)
        )
    if vague(item):
        raise UsageError(f"an implementation must give its outputs as values, not {show(item)}")
    return [(item,)]


_Set: TypeAlias = frozenset[int]
_Label: TypeAlias = tuple[Hashable, Hashable]  # of an input and of outputs
_After: TypeAlias = dict[_Label, tuple[_Set, TakenStep]]


@checked
def equivalent(one: Spec[Any, Any] | Graph, other: Spec[Any, Any] | Graph) -> Finding:
    """Check that after any trace, two finite models specify the same inputs and allow the same outputs.

    If the models differ, the finding's `way` is a shortest trace that only one of the models allows. `equivalent`
    raises UsageError for a model with an `Accept`, and ModelError if one of the models is broken.

    >>> from otf.spec import goto
    >>> once = Spec(lambda lit, inp: [goto(not lit)], False, ["press"], name="two states")
    >>> never = Spec(lambda lit, inp: [goto(lit)], False, ["press"], name="one state")
    >>> print(equivalent(once, never))
    two states is equivalent to one state: proven: 2 pairs of sets of states
    """
    first, second = (each if isinstance(each, Graph) else explore(each) for each in (one, other))
    law = f"{first.name} is equivalent to {second.name}"
    for graph in (first, second):
        if OPEN in graph.target:
            raise UsageError(f"{graph.name}: outputs decide the next state (Accept); equivalence cannot be decided")
    start = frozenset([0]), frozenset([0])
    seen, queue = {start}, deque[tuple[tuple[_Set, _Set], tuple[TakenStep, ...]]]([(start, ())])
    while queue:
        (here, there), way = queue.popleft()
        left, right = _after(first, here), _after(second, there)
        odd = next((label for label in [*left, *right] if label not in left or label not in right), None)
        if odd is not None:
            step = (left if odd in left else right)[odd][1]
            only = first if odd in left else second
            return Finding(law, LawVerdict.REFUTED, f"only {only.name} does that", (*way, step))
        for label, (target, step) in left.items():
            pair = target, right[label][0]
            if pair not in seen:
                seen.add(pair)
                queue.append((pair, (*way, step)))
    if first.whole and second.whole:
        return Finding(law, LawVerdict.PROVEN, f"{len(seen):,} pairs of sets of states")
    return Finding(
        law, LawVerdict.PASSED, f"{len(seen):,} pairs of sets of states; {show(first.cuts or second.cuts)} cut some"
    )


def _after(graph: Graph, states: _Set) -> _After:
    found: dict[_Label, tuple[set[int], TakenStep]] = {}
    for state in sorted(states):
        for arc in graph.arcs(state):
            inp = None if arc.input < 0 else name(graph.inputs[arc.input])
            label = inp, output_name(observed(graph.outputs[arc.outputs]))
            found.setdefault(label, (set(), taken(graph, arc.input, arc.outputs)))[0].add(arc.target)
    return {label: (frozenset(targets), step) for label, (targets, step) in found.items()}
