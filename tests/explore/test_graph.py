"""The explored graph has exactly the states and transitions that the literature counts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.explore import explore
from otf.models.conference import Sizes, conference
from otf.spec import Accept, Spec, Transition, goto


@pytest.mark.parametrize(
    ("sizes", "states", "transitions"),
    [
        (Sizes(1, 1, 1, 1), 2, 2),
        (Sizes(2, 1, 1, 1), 3, 9),
        (Sizes(3, 1, 1, 1), 5, 28),
        (Sizes(2, 2, 1, 1), 7, 30),
        (Sizes(2, 1, 2, 1), 5, 18),
        (Sizes(2, 1, 1, 2), 3, 12),
        (Sizes(2, 2, 2, 2), 13, 80),
        (Sizes(3, 3, 3, 3), 145, 2070),
    ],
)
def test_table_8_1(sizes: Sizes, states: int, transitions: int) -> None:
    """The conference protocol has the sizes of table 8.1 of Koopman and Plasmeijer."""
    graph = explore(conference(sizes))
    assert (len(graph.states), len(graph.transitions), graph.frontier) == (states, transitions, ())


def _count(state: int, inp: str) -> Iterator[Transition[int] | Accept]:
    yield goto(state + 1) if inp == "more" else Accept(lambda seen: seen)


def test_a_bound_that_cuts_says_so() -> None:
    """A machine without end is explored as far as the limit allows, and what was left out is named."""
    graph = explore(Spec(_count, initial=0, inputs=["more"]), limit=4)
    assert [node.value for node in graph.states] == [0, 1, 2, 3]
    assert [node.value for node in graph.frontier] == [3]
    assert (graph.whole, graph.cuts) == (False, {"limit": 1})


def test_unasked_and_accepting_transitions_are_edges() -> None:
    """A spontaneous transition has no input; one whose outputs decide the next state has no target."""
    spec = Spec(
        _count, initial=0, inputs=["ask"], emits=lambda state: [goto(1, "tick")] if state == 0 else [Accept(list)]
    )
    edges = explore(spec).transitions
    assert [(edge.input is None, edge.target is None) for edge in edges] == [
        (False, True),
        (True, False),
        (False, True),
        (True, True),
    ]
