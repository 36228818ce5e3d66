"""Exploration within bounds, and models that cannot be explored."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.explore.naming import name
from otf.models.stack import STACK
from otf.spec import AnyOrder, OneOf, Spec, Transition, goto
from otf.values import key


def test_the_bounded_stack() -> None:
    """Values 0 to 2, fewer than six elements: 3 + 9 + … states, one way to push and one to pop between each two."""
    graph = explore(STACK, states=lambda items: len(items) < 6)
    assert (len(graph.values), len(graph.target)) == (364, 726)
    assert graph.cuts == {"states": 729}
    assert len(graph.frontier) == 243


def test_values_of_the_inputs_bound_it() -> None:
    """`values` gives the domains of the declared input type."""

    def step(total: int, inp: int) -> list[Transition[int]]:
        return [goto((total + inp) % 10)]

    assert explore(Spec(step, 0), values={int: [2, 4]}).values == [0, 2, 4, 6, 8]


def test_a_shortest_way_leads_to_each_state() -> None:
    """The search is breadth first, so `way` is a shortest one."""
    graph = explore(STACK, states=lambda items: len(items) < 4)
    assert [len(graph.way(number)) for number in range(len(graph.values))] == [len(items) for items in graph.values]
    assert [graph.inputs[arc.input].value for arc in graph.way(len(graph.values) - 1)] == [2, 2, 2]


def test_progress_is_told() -> None:
    """Progress is reported now and then: states done, and states found."""
    told: list[tuple[int, int]] = []
    explore(STACK, 12_000, progress=lambda done, known: told.append((done, known)))
    assert [done for done, _ in told] == [0, 5_000, 10_000]
    assert all(done <= known <= 12_000 for done, known in told)


def test_alternatives_are_transitions() -> None:
    """Each alternative of the outputs is a transition; a bag is one."""
    graph = explore(
        Spec(lambda _s, _i: [goto(0, OneOf("x", "y")), goto(0, AnyOrder("p", "q")), goto(0, "x")], 0, ["a"])
    )
    assert [edge.outputs for edge in graph.transitions] == [("'x'",), ("'y'",), ("in any order: 'p', 'q'",), ("'x'",)]
    assert graph.output[0] == graph.output[3]


def test_a_transition_of_a_class_below_is_one() -> None:
    """An instance of a subclass of Transition is a transition."""

    class Own(Transition[int]):
        pass

    assert explore(Spec(lambda _state, _inp: [Own(1)], 0, ["a"])).values == [0, 1]


class Looks:
    def __init__(self, count: int) -> None:
        self.count = count


@dataclass(frozen=True)
class Holds:
    looks: Looks


class Colour(Enum):
    RED = 1


BROKEN: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda _s, _i: [goto([1])], "a list can change and has no hash"),
    (lambda _s, _i: 1 / 0, r"step\(0, 'a'\): the model raised ZeroDivisionError"),
    (lambda _s, _i: 7, "it returned 7; yield transitions"),
    (lambda _s, _i: ["x"], "it gave 'x', which is not a transition"),
    (lambda _s, _i: [Transition(0, "tea")], "with the outputs 'tea', no tuple"),  # type: ignore[arg-type]
    (lambda s, _i: [goto(Looks(1)), goto(s)], "two objects of the class Looks hold the same and are not equal"),
    (lambda s, _i: [goto(Holds(Looks(1))), goto(s)], "two objects of the class Looks hold"),
    (lambda s, _i: [goto((Looks(1), s if s == 0 else 1)), goto(s)], "two objects of the class Looks"),
    (lambda _s, _i: (goto(0) for _ in itertools.count()), "more than 10,000 transitions: it seems never to end"),
    (lambda _s, _i: [goto(0, *[OneOf("x", "z")] * 40)], "a transition has more than 10,000 alternatives"),
]


@pytest.mark.parametrize(("step", "said"), BROKEN)
def test_a_broken_model_is_told(step: Any, said: str) -> None:  # noqa: ANN401 -- broken ones
    """The error of a broken model names the state and the input of the call."""
    with pytest.raises(ModelError, match=said):
        explore(Spec(step, 0, ["a"]))


def test_broken_offers_and_emits_are_told() -> None:
    """Errors in inputs and emits name the state of the call."""

    def raises(_state: int) -> Iterator[Any]:
        raise KeyError("x")

    with pytest.raises(ModelError, match="inputs or emits"):
        explore(Spec(lambda _s, _i: [], 0, raises))
    with pytest.raises(ModelError, match="inputs or emits"):
        explore(Spec(lambda _s, _i: [], 0, ["a"], raises))


class Empty:
    """An object without attributes, so that two of them cannot be compared."""


def test_objects_without_anything_in_them_may_be_states() -> None:
    """Objects without attributes are distinct states."""
    one, other = Empty(), Empty()
    assert len(explore(Spec(lambda s, _i: [goto(other if s is one else one)], one, ["a"])).values) == 2


def test_objects_that_are_compared_by_identity_may_be_states() -> None:
    """Values compared by identity may be states if no two look alike: enum members, functions, objects."""
    one, other = Looks(1), Looks(2)
    graph = explore(Spec(lambda s, _i: [goto(other if s is one else one), goto(Colour.RED), goto(len)], one, ["a"]))
    assert len(graph.values) == 4


def test_time_bounds_an_exploration() -> None:
    """States that are not expanded when the time is up are its frontier, as those beyond any other bound."""
    graph = explore(STACK, is_late=lambda: True)
    assert (len(graph.states), graph.cuts, graph.whole) == (1, {"time": 1}, False)
    late = iter([False, False, True])
    assert len(explore(STACK, is_late=lambda: next(late, True)).cuts) == 1


@pytest.mark.parametrize(("limit", "depth"), [(0, None), (5, -1)])
def test_bounds_that_make_no_sense_are_refused(limit: int, depth: int | None) -> None:
    """A limit below one state and a negative depth are refused."""
    with pytest.raises(UsageError, match="at least one state and no negative depth"):
        explore(STACK, limit, depth=depth)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(-2, 2)
    | st.just(float("nan"))
    | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_names_say_what_keys_say(one: Any, other: Any) -> None:  # noqa: ANN401 -- any values
    """Two values have the same name exactly if they have the same key."""
    assert (name(one) == name(other)) == (key(one) == key(other))
    assert name((one, 1)) == name((one, 1))
