"""Equivalence of two models: the same inputs specified, the same outputs, after whatever was seen."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any, TypeAlias

from otf.errors import UsageError
from otf.explore.explorer import explore
from otf.explore.finding import Finding, LawVerdict, TakenStep, taken
from otf.explore.graph import OPEN, Graph
from otf.explore.naming import name, output_name
from otf.explore.observed import observed
from otf.spec import Spec
from otf.values import show

_Set: TypeAlias = frozenset[int]
_Label: TypeAlias = tuple[Hashable, Hashable]  # of an input and of outputs
_After: TypeAlias = dict[_Label, tuple[_Set, TakenStep]]


def equivalent(one: Spec[Any, Any] | Graph, other: Spec[Any, Any] | Graph) -> Finding:
    """Find out whether two finite models have the same traces; where not, `way` is a shortest one of one of them."""
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
