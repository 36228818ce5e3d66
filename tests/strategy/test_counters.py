"""What strategies and coverage count is the state without its counters."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TypeAlias

from otf.core import Model, Oracle, View
from otf.core.timing import Span
from otf.explore import explore
from otf.spec import Spec, Transition, goto
from otf.spec.places import places
from otf.strategy import Coverage, Until
from otf.strategy.least import LeastNext
from otf.strategy.pool import Pool, VisitCounts

State: TypeAlias = tuple[int, int]


def numbered(state: State, inp: str) -> Iterable[Transition[State]]:
    """Unlock in three steps: a, b, c; anything else begins anew."""
    at, number = state
    yield goto(((at + 1 if inp == "abc"[min(at, 2)] else 0) % 4, number))


def beats(state: State) -> Iterable[Transition[State]]:
    """Number messages with four bits."""
    yield goto((state[0], (state[1] + 1) % 16), ("beat", state[1]))


SPEC = Spec(numbered, (0, 0), ["a", "b", "c"], beats)


def seen(oracle: Oracle, state: State) -> View:
    """Return what a chooser sees in a state."""
    return oracle.view(oracle.anywhere([oracle.model.node(state)], Span(0.0, 0.0)))


def test_a_counter_makes_no_new_states_to_visit() -> None:
    """Inputs that were tried at one number of a message were tried at all of them."""
    oracle, visits = Oracle(Model(SPEC)), VisitCounts()
    chooser, state = LeastNext(Pool("uioco", Random(1)), visits), (0, 0)
    for number in range(200):
        chosen = chooser.choose(seen(oracle, state))
        assert chosen is not None
        state = next(iter(numbered((state[0], number % 16), str(chosen.value)))).state
    assert len(visits.states) == 4
    assert min(visits.states.values()) >= 5


def test_coverage_counts_states_without_their_counters() -> None:
    """Its totals do as well, so that all of them can be covered."""
    graph = explore(SPEC)
    assert Coverage(graph).all()["states"] == 64
    covered = Coverage(graph, places(SPEC))
    there = covered.all()
    assert (there["states"], there["pairs"], there["transitions"]) == (4, 12, 12)
    oracle = Oracle(Model(SPEC))
    for at in range(4):
        for inp in "abc":
            before, then = (at, 5), next(iter(numbered((at, 5), inp))).state
            covered.note(seen(oracle, before), oracle.model.symbol(inp), seen(oracle, then))
    assert covered.met()["states"] == 4
    assert Until("transitions").reached(covered)
