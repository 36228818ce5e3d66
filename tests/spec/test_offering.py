"""Inputs from the type that a step function declares: whole classes, first values, and values that the system gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, NewType

import pytest
from hypothesis import strategies as st

from otf.core import Model
from otf.errors import UsageError
from otf.explore import explore
from otf.spec import Spec, Transition, goto, restrict, total
from otf.spec.redrawing import redraw_of
from otf.values import Range, every

Ticket = NewType("Ticket", int)


@dataclass(frozen=True)
class Take:
    """Ask for a ticket."""


@dataclass(frozen=True)
class Use:
    """Show a ticket with a number of words."""

    ticket: Ticket
    words: int


@dataclass(frozen=True)
class Shout:
    text: str


Input = Take | Use | Shout


def counter(state: frozenset[int], inp: Take | Use) -> Iterator[Transition[frozenset[int]]]:
    """Give out up to two tickets; each can be used while it is held."""
    match inp:
        case Take() if len(state) < 2:
            number = min(set(range(2)) - state)
            yield goto(state | {number}, number)
        case Use(ticket, _) if ticket in state:
            yield goto(state - {ticket}, "welcome")
        case _:
            pass


def heard(state: int, inp: Input) -> list[Transition[int]]:
    """Listen to everything."""
    del inp
    return [goto(state)]


def bits(state: int, inp: tuple[Annotated[int, Range(0, 19)], Annotated[int, Range(0, 19)]]) -> list[Transition[int]]:
    """Take two bounded numbers."""
    return [goto(state + sum(inp))]


def test_an_endless_class_of_inputs_offers_its_first_values() -> None:
    """Each class of a union has a hundred inputs, so that none crowds out another; a finite class has all."""
    offered = list(Spec(heard, 0).inputs(0))
    assert [sum(type(inp) is kind for inp in offered) for kind in (Take, Use, Shout)] == [1, 100, 100]
    assert offered[:3] == [Take(), Use(Ticket(0), 0), Use(Ticket(0), 1)]
    assert len(list(Spec(bits, 0).inputs(0))) == 400


def test_a_class_that_ends_late_is_cut() -> None:
    """A finite class has ten thousand inputs in one state at most."""
    assert len(list(Spec(numbered, 0, values={int: range(20_000)}).inputs(0))) == 10_000


def numbered(state: int, inp: int) -> list[Transition[int]]:
    """Take any number."""
    return [goto(state + inp)]


def test_values_bound_the_types_inside_the_inputs() -> None:
    """Ranges, lists, other types and strategies replace a type wherever it occurs."""
    spec = Spec(heard, 0, values={int: range(2), Ticket: [7], str: ["hi"]})
    assert list(spec.inputs(0)) == [Take(), Use(Ticket(7), 0), Use(Ticket(7), 1), Shout("hi")]
    drawn = Spec(numbered, 0, values={int: st.sampled_from([3, 4])})
    assert sorted(drawn.inputs(0)) == [3, 4]


def test_a_bench_bounds_the_inputs_of_a_model_that_it_takes_over() -> None:
    """The rest of the spec stays as it is."""
    spec = total(Spec(numbered, 5, [99], name="sum"))
    small = spec.bounded({int: range(3)})
    assert list(small.inputs(5)) == [0, 1, 2]
    assert (small.initial, small.name, small.partial, small.step) == (5, "sum", spec.partial, spec.step)


def test_what_the_system_gave_comes_back_as_input() -> None:
    """A function of values is called in each state: here it returns the tickets of the state."""
    spec = Spec(counter, frozenset[int](), values={int: [3], Ticket: sorted})
    assert list(spec.inputs(frozenset())) == [Take()]
    assert list(spec.inputs(frozenset({0, 1}))) == [Take(), Use(Ticket(0), 3), Use(Ticket(1), 3)]
    graph = explore(spec)
    assert [place.value for place in graph.states] == [frozenset(each) for each in [(), {0}, {0, 1}, {1}]]
    assert len(graph.transitions) == 7


def test_a_function_of_the_state_may_do_the_same_by_hand() -> None:
    """A function of the state may use `every` for a part of the inputs."""
    spec = Spec(counter, frozenset[int](), lambda state: [Take(), *every(Use, {int: [3], Ticket: state})])
    assert list(spec.inputs(frozenset({1}))) == [Take(), Use(Ticket(1), 3)]


@pytest.mark.parametrize("inputs", [every(int), st.integers(0, 10**6)])
def test_an_enumeration_or_a_strategy_is_a_list_of_inputs(inputs: Any) -> None:  # noqa: ANN401 -- either
    """A spec has the first values of an enumeration, since it may not end."""
    spec = Spec(numbered, 0, inputs)
    assert len(list(spec.inputs(0))) == 100
    assert list(spec.inputs(0)) == list(spec.inputs(1))


def test_a_strategy_in_a_list_stands_for_its_values() -> None:
    """Beside other inputs, in their order: as an input of its own no model would specify it."""
    inputs: list[Any] = [7, st.integers(100, 200), every(int)]
    spec = Spec(numbered, 0, inputs)
    found = list(spec.inputs(0))
    assert (found[0], len(found), sum(100 <= each <= 200 for each in found)) == (7, 201, 100)
    assert redraw_of(spec.inputs) is not None


def test_inputs_and_values_exclude_each_other() -> None:
    """Values say which inputs the declared type has, and a list needs no type."""
    with pytest.raises(UsageError, match=r"^numbered: give inputs or values"):
        Spec(numbered, 0, [1, 2], values={int: range(3)})


def secret(state: int, inp: tuple[int, object]) -> list[Transition[int]]:
    """Take an input whose values cannot be enumerated."""
    del inp
    return [goto(state)]


def test_an_input_that_cannot_be_enumerated_is_named_with_its_path() -> None:
    """The error is raised when the spec is made, and not in the middle of a run."""
    with pytest.raises(UsageError, match=r"^inp\[1\]: the values of the type object cannot be enumerated"):
        Spec(secret, 0)
    assert list(Spec(secret, 0, values={int: [1], object: "a"}).inputs(0)) == [(1, "a")]


def test_the_oracle_offers_them_like_others() -> None:
    """Restricting a spec with inferred inputs restricts the inferred inputs."""
    spec = restrict(Spec(bits, 0, values={int: range(3)}), lambda _state, inp: sum(inp) < 2)
    model = Model(spec)
    assert [symbol.value for symbol in model.enabled_inputs(model.initial)] == [(0, 0), (0, 1), (1, 0)]
    assert set(product(range(3), repeat=2)) == set(Spec(bits, 0, values={int: range(3)}).inputs(0))
