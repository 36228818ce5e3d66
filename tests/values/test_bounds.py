"""What `Annotated` says, in our words, in those of `annotated_types` and of msgspec."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import time
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import UsageError
from otf.values import Alphabet, Among, Range, Size, every
from otf.values.builtin import diagonal

LEAST, GREATEST = 5e-324, 1.7976931348623157e308


@dataclass(frozen=True)
class Ge:
    """As in annotated_types, which need not be installed."""

    ge: Any


@dataclass(frozen=True)
class Gt:
    gt: Any


@dataclass(frozen=True)
class Lt:
    lt: Any


@dataclass(frozen=True)
class MultipleOf:
    multiple_of: int


@dataclass(frozen=True)
class Predicate:
    func: Any


class Grouped:
    """Several pieces of metadata in one, as annotated_types declares them."""

    __is_annotated_types_grouped_metadata__ = True

    def __iter__(self) -> Any:  # noqa: ANN401 -- pieces of metadata
        return iter((Ge(2), Lt(5)))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Annotated[int, Range(-2, 3)], [0, 1, -1, 2, -2, 3]),
        (Annotated[int, Range(-3, 1)], [0, 1, -1, -2, -3]),
        (Annotated[int, Range(5, 7)], [5, 6, 7]),
        (Annotated[int, Range(-7, -5)], [-5, -6, -7]),
        (Annotated[int, Range(0, 0)], [0]),
        (Annotated[int, Range(3, 2)], []),
        (Annotated[int, Ge(2), Lt(5)], [2, 3, 4]),
        (Annotated[int, Gt(2), Range(le=4)], [3, 4]),
        (Annotated[int, Grouped()], [2, 3, 4]),
        (Annotated[int, Ge(0.5), Lt(2.5)], [1, 2]),
        (Annotated[int, msgspec.Meta(gt=0, le=9, multiple_of=3)], [3, 6, 9]),
        (Annotated[int, Range(0, 9), MultipleOf(4), "a remark"], [0, 4, 8]),
        (Annotated[int, Range(0, 9), Predicate((6).__lt__)], [7, 8, 9]),
        (Annotated[Annotated[int, Range(0, 5)], Ge(4)], [4, 5]),
        (Annotated[bool, Ge(1)], [True]),
        (Annotated[int, Among(7, 0, 255, 7)], [7, 0, 255]),
        (Annotated[int, every(Literal[4, 2])], [4, 2]),
        (Annotated[int, Among(7, 0, 255), Lt(200)], [7, 0]),
        (Annotated[float, Range(3.0, 3.0)], [3.0]),
        (Annotated[float, Range(2.0, 1.0)], []),
        (Annotated[float, Range(0.0, 4 * LEAST)], [0.0, 4 * LEAST, 2 * LEAST, LEAST, 3 * LEAST]),
        (Annotated[float, Range(1.0, math.nextafter(1.0, 2))], [1.0, 1.0000000000000002]),
        (Annotated[str, Alphabet("ab"), Size(2, 2)], ["aa", "ab", "ba", "bb"]),
        (Annotated[str, Alphabet("aba"), msgspec.Meta(min_length=1, max_length=1)], ["a", "b"]),
        (Annotated[bytes, Alphabet(b"xy"), Size(max_length=1)], [b"", b"x", b"y"]),
        (Annotated[tuple[bool, ...], Size(1, 1)], [(False,), (True,)]),
        (Annotated[list[bool], Size(0, 1)], [[], [False], [True]]),
        (Annotated[set[Literal[1, 2, 3]], Size(2, 2)], [{1, 2}, {1, 3}, {2, 3}]),
        (Annotated[dict[bool, None], Size(1, 1)], [{False: None}, {True: None}]),
    ],
)
def test_bounds_are_kept_and_ended(kind: object, values: list[object]) -> None:
    """A bounded type has these values, in this order, and no others."""
    assert list(every(kind)) == values


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Annotated[int, Range(ge=-2)], [0, 1, -1, 2, -2, 3, 4, 5]),
        (Annotated[int, Range(le=2)], [0, 1, -1, 2, -2, -3, -4]),
        (Annotated[int, Gt(2)], [3, 4, 5]),
        (Annotated[int, Lt(-2)], [-3, -4, -5]),
        (Annotated[int, Range(-math.inf, math.inf)], [0, 1, -1, 2]),
        (Annotated[float, Range(0, 1)], [0.0, 1.0, 0.5, 0.25, 0.75, 0.125, 0.375]),
        (Annotated[float, Range(-1, 1)], [-1.0, 1.0, 0.0, 0.5, -0.5, 0.25, -0.25]),
        (Annotated[float, Range(1000, 1001)], [1000.0, 1001.0, 1000.5, 1000.25]),
        (Annotated[float, Gt(0)], [1.0, math.inf, 0.5, 3.0, 2.0]),
        (Annotated[float, Range(-5)], [-5.0, 0.0, 1.0, -1.0, math.inf, 0.5]),
        (Annotated[float, Range(le=-5)], [-5.0, -math.inf, -6.0]),
    ],
)
def test_half_open_bounds_and_floats_begin_so(kind: object, values: list[object]) -> None:
    """A bound comes first among floats; few digits before many."""
    found = every(kind).first(len(values))
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


def test_all_floats_come() -> None:
    """Special floats come early; then numbers of few digits, whose exponents are near 0."""
    first = every(float).first(20)
    assert first[:5] == [0.0, 1.0, -1.0, math.inf, -math.inf]
    assert math.isnan(first[5])
    assert first[6:] == [0.5, -0.5, 3.0, -3.0, 2.0, -2.0, 1.5, -1.5, 5.0, -5.0, 0.25, -0.25, 6.0, -6.0]


def test_floats_are_made_of_small_numbers() -> None:
    """Small odd numbers times powers near 1: all of them come within the square of both, with either sign."""
    found = set(islice(every(float), 2 * 80 * 80))
    assert {
        sign * math.ldexp(2 * odd + 1, power) for sign in (1, -1) for odd in range(30) for power in range(-15, 15)
    } <= found


def test_the_largest_and_smallest_exponents_stand_on_some_diagonal() -> None:
    """Bounds that are not floats are left out."""
    assert {2.0**1023, LEAST} <= {abs(each) for total in (2046, 2147) for each in diagonal(total)}
    assert len(list(diagonal(5000))) < 2 * 2149


def test_floats_end_with_the_largest_exponents() -> None:
    """The whole range is a grid like any other: it includes the largest float, and nothing beyond it."""
    between = every(Annotated[float, Range(-GREATEST, GREATEST)]).first(1000)
    assert between[:3] == [-GREATEST, GREATEST, 0.0]
    assert all(map(math.isfinite, between))


@given(st.floats(-1e300, 1e300), st.integers(1, 40))
def test_floats_between_two_neighbours_are_all_there(low: float, ulps: int) -> None:
    """A short range has every float in it, once, and then ends."""
    high = low
    for _ in range(ulps):
        high = math.nextafter(high, math.inf)
    found = list(every(Annotated[float, Range(low, high)]))
    steps = [low]
    while steps[-1] < high:
        steps.append(math.nextafter(steps[-1], math.inf))
    assert sorted(found) == sorted(set(steps))
    assert len(found) == len(set(found))


@given(st.integers(-9, 9) | st.none(), st.integers(-9, 9) | st.none())
def test_ints_between_two_bounds_are_all_there(low: int | None, high: int | None) -> None:
    """Integers near 0 come first, and of two the positive one."""
    found = every(Annotated[int, Range(low, high)]).first(30)
    span = range(-40 if low is None else low, 41 if high is None else high + 1)
    assert found == sorted(span, key=lambda number: (abs(number), number < 0))[:30]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Annotated[str, Alphabet(b"ab")], "here: an alphabet of a str is a str, not b'ab'"),
        (Annotated[bytes, Alphabet("ab")], "here: an alphabet of a bytes is a bytes, not 'ab'"),
        (Annotated[int | None, Range(0, 1)], "here: its bounds do not apply to None: '>=' not supported"),
        (Annotated[time, Ge(time(12))], "here: the values of the type time cannot be enumerated"),
    ],
)
def test_bounds_that_make_no_sense_are_named(kind: object, message: str) -> None:
    """The message names the path and the error."""
    with pytest.raises(UsageError) as raised:
        every(kind, where="here").first(3)
    assert str(raised.value).startswith(message)


def test_a_condition_that_nothing_meets_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a next value ends with an error, which asks for values."""
    monkeypatch.setattr("otf.values.derived.PATIENCE", 100)
    with pytest.raises(UsageError, match="here: 100 values in a row failed the condition"):
        every(Annotated[int, Predicate(().__contains__)], where="here").first(1)
