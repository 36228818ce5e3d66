"""The shape of a value: of equal values, those with the same types inside have the same shape, and no others."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.values import key
from otf.values.identity import shape


class Level(IntEnum):
    ONE = 1


@dataclass(frozen=True)
class Marked:
    mark: int


class Mark(Marked, Enum):
    """An enum whose members have the fields of a dataclass."""

    FIRST = 1


class Pair(NamedTuple):
    left: object
    right: object


@dataclass(frozen=True)
class Nothing:
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class Box:
    content: object


@dataclass(frozen=True)
class Crate:
    left: object
    right: object
    note: str = field(default="", compare=False)


# few values, so that equal ones of other types meet
SMALL = st.sampled_from([0, 0.0, False, 1, 1.0, True, Level.ONE, "", None])
VALUES = st.recursive(
    SMALL | st.builds(Nothing, st.sampled_from(["a", "b"])),
    lambda parts: (
        st.builds(Box, parts)
        | st.builds(Crate, parts, parts, st.sampled_from(["a", "b"]))
        | st.builds(Pair, parts, parts)
        | st.tuples(parts)
        | st.frozensets(parts, max_size=2)
    ),
    max_leaves=4,
)


@given(VALUES, VALUES)
def test_equal_values_have_equal_shapes_exactly_when_they_are_the_same(one: object, other: object) -> None:
    """For two equal values, the shapes are equal exactly when the keys are."""
    if one == other:
        assert (shape(one) == shape(other)) == (key(one) == key(other))


def around(value: object) -> list[object]:
    """Return the value alone, in a field, as one of several fields, in a tuple, in a set."""
    return [value, Box(value), Crate(value, 1), Crate("", (value,)), (value,), frozenset({value})]


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (1, Level.ONE), ((1,), (True,)), (Box(0), Box(0.0))])
def test_shapes_distinguish_types_at_any_depth(one: object, other: object) -> None:
    """Two equal values of different types have different shapes, also inside other values."""
    for left, same, right in zip(around(one), around(one), around(other), strict=True):
        assert left == right
        assert shape(left) == shape(same)
        assert shape(left) != shape(right)


def test_an_enum_is_what_its_class_says() -> None:
    """The fields of the members of an enum do not count."""
    assert shape(Mark.FIRST) is Mark
    assert shape(Nothing()) is Nothing


def test_what_is_remembered_of_types_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """If no more types may be remembered, the shapes are computed each time, and are the same."""
    monkeypatch.setattr("otf.values.identity.REMEMBERED", 0)
    assert shape(Crate(b"", 1.5)) != shape(Crate(b"", 1))
