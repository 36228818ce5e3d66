"""Functions, typed dicts, abstract collections, dates and UUIDs as values."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict
from uuid import UUID

import pytest
from hypothesis import strategies as st

from otf.errors import UsageError
from otf.logic import PropertyOutcome, check
from otf.spec import Spec, Transition, goto
from otf.trace.tagged import Registry, encode
from otf.values import FiniteFunction, Size, every, key


def test_functions_between_finite_types_are_all_there_once() -> None:
    """There are as many functions as tables: each value for each row of arguments."""
    for kind, number in [
        (Callable[[bool], bool], 4),
        (Callable[[bool, bool], bool], 16),
        (Callable[[Literal[1, 2, 3]], Literal["a", "b", "c"]], 27),
        (Callable[[], bool], 2),
    ]:
        found = every(kind)
        functions = list(found)
        assert (len(functions), found.finite, found.complete) == (number, True, True)
        assert len(set(map(key, functions))) == number


def test_functions_of_types_without_end_begin_with_few_exceptions() -> None:
    """Constant functions come first, then those with one other result; none comes twice."""
    found = every(Callable[[int], bool]).first(200)
    assert [str(each) for each in found[:4]] == [
        "{else: False}",
        "{else: True}",
        "{0: True, else: False}",
        "{0: False, else: True}",
    ]
    behaviours = {tuple(function(number) for number in range(-50, 50)) for function in found}
    assert len(behaviours) == 200


def test_a_function_is_a_value() -> None:
    """Functions compare by their tables, distinguish 1 from True, and look up several arguments as a row."""
    function = FiniteFunction((((1,), "one"),), "other")
    assert [function(1), function(2), function(bool(1))] == ["one", "other", "other"]
    assert key(function) == key(FiniteFunction((((1,), "one"),), "other"))
    pair = FiniteFunction((((1, 2), "x"),), "y")
    assert (pair(1, 2), pair(2, 1), str(pair)) == ("x", "y", "{(1, 2): 'x', else: 'y'}")


def test_a_property_of_functions_is_checked() -> None:
    """Filtering with a predicate and its opposite keeps all elements; mapping does not commute with reversing a sum."""

    def parts(chosen: Callable[[int], bool], items: list[int]) -> bool:
        return len([each for each in items if chosen(each)]) + len([each for each in items if not chosen(each)]) == len(
            items
        )

    def twice(function: Callable[[bool], bool]) -> bool:
        return all(function(function(function(value))) == function(value) for value in (False, True))

    def idempotent(function: Callable[[bool], bool]) -> bool:
        return all(function(function(value)) == function(value) for value in (False, True))

    assert check(parts).outcome is PropertyOutcome.PASSED
    assert check(twice).outcome is PropertyOutcome.PROOF
    found = check(idempotent)
    assert found.outcome is PropertyOutcome.COUNTEREXAMPLE
    assert str(found.values["function"]) == "{False: True, else: False}"


class Point(TypedDict):
    """A TypedDict in which all keys are required."""

    x: int
    on: bool


class Loose(TypedDict, total=False):
    """A TypedDict in which only `a` is required."""

    a: Required[bool]
    b: bool


class Tight(TypedDict):
    """`b` may be left out."""

    a: bool
    b: NotRequired[Annotated[list[bool], Size(0, 1)]]


class Tree(TypedDict):
    """A TypedDict that contains itself."""

    left: Tree | None
    leaf: bool


def test_typed_dicts() -> None:
    """Optional keys are left out first; a TypedDict may contain itself. Changing a value changes no other."""
    assert every(Point).first(3) == [{"x": 0, "on": False}, {"x": 0, "on": True}, {"x": 1, "on": False}]
    loose = [dict(each) for each in every(Loose)]
    assert len(loose) == 6
    assert loose[:2] == [{"a": False}, {"a": False, "b": False}]
    assert len(list(every(Tight))) == 8
    assert every(Tree).first(3)[2] == {"left": {"left": None, "leaf": False}, "leaf": False}
    found = every(Point)
    found.first(1)[0]["x"] = 9
    assert found.first(1)[0]["x"] == 0
    with pytest.raises(UsageError, match=r"Odd\['x'\]: the values of the type complex cannot be enumerated"):
        every(TypedDict("Odd", {"x": complex}))  # type: ignore[operator] # pyright: ignore[reportArgumentType]


def test_abstract_collections_are_those_that_cannot_change() -> None:
    """The values of abstract collections are tuples and frozensets; those of mappings are dicts."""
    assert every(Sequence[bool]).first(3) == [(), (False,), (True,)]
    assert every(abc.Collection[bool]).first(2) == every(abc.Iterable[bool]).first(2) == [(), (False,)]
    assert list(every(abc.Set[bool])) == [frozenset(), {False}, {True}, {False, True}]
    assert every(Mapping[bool, None]).first(2) == [{}, {False: None}]
    assert every(Annotated[Sequence[bool], Size(1, 1)]).first(9) == [(False,), (True,)]


def test_dates_and_uuids() -> None:
    """Dates around the first of January 2000, UUIDs from nought."""
    assert [str(day) for day in every(date).first(4)] == ["2000-01-01", "2000-01-02", "1999-12-31", "2000-01-03"]
    assert [each.int for each in every(UUID).first(3)] == [0, 1, 2]


@dataclass(frozen=True)
class Booked:
    """An input of these types."""

    day: date
    number: UUID
    free: Callable[[date], bool]


def test_they_are_read_back_from_a_trace() -> None:
    """Dates and UUIDs are read back from traces like all values of a bench; invalid texts are errors."""
    for value in every(Booked).first(20):
        assert key(Registry([Booked]).decode(encode(value))) == key(value)
    for kind, text in (("date", "2000-13-01"), ("UUID", "1"), ("UUID", 1)):
        with pytest.raises(ValueError, match=r"month|hexadecimal|is not of the type UUID"):
            Registry([Booked]).decode({"type": kind, "value": text})


@dataclass(frozen=True)
class Set:
    """Sets a level."""

    level: int


def _sets(state: int, _inp: Set) -> list[Transition[int]]:
    return [goto(state)]


def test_drawn_inputs_are_offered_with_the_simple_ones_first() -> None:
    """So shrinking reaches the least of the offered values, from whichever batch."""
    spec = Spec(_sets, 0, values={int: st.integers(0, 1000)})
    levels = [inp.level for inp in spec.inputs(0)]
    assert len(levels) == 100
    assert levels == sorted(levels)


def _never(_value: object) -> bool:
    return False


@pytest.mark.parametrize("strategy", [st.nothing(), st.integers().filter(_never)])
def test_a_strategy_without_values_has_none(strategy: Any) -> None:  # noqa: ANN401 -- a strategy
    """An empty strategy means that nothing is tested; an invalid one is an error."""
    assert check(lambda value: value is None, strategy).outcome is PropertyOutcome.NOTHING
    with pytest.raises(UsageError, match=r"the strategy integers.* is invalid: .*max_value"):
        check(_never, st.integers(5, 1))
