"""Two values are the same when they are equal and of the same type, all the way down."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.values import key
from otf.values.identity import likeness


class Colour(Enum):
    RED = "red"
    AMBER = 1
    LISTED = ["a member may have any value"]  # noqa: RUF012 -- the point of it


class Level(IntEnum):
    RED = 1


class Way(Flag):
    IN = 1
    OUT = 2


class Pair(NamedTuple):
    left: object
    right: object


@dataclass(frozen=True)
class Box:
    content: object
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class Crate(Box):
    pass


@dataclass(frozen=True, eq=False)
class Unique:
    content: object


@dataclass
class Mutable:
    content: object = None


class Fussy:
    """Has a hash in general, but not this one."""

    def __hash__(self) -> int:
        """Refuse."""
        message = "no hash today"
        raise TypeError(message)


UNIQUE = Unique(1)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN,
    lambda parts: (
        st.tuples(parts, parts) | st.frozensets(parts) | st.builds(Box, parts) | st.builds(Pair, parts, parts)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (1, 1.0),
        (0, False),
        ("a", b"a"),
        ((1, 2), (1, 2.0)),
        ((1, 2), Pair(1, 2)),
        (frozenset({1}), frozenset({True})),
        (Box(1), Box(1.0)),
        (Box(1), Crate(1)),
        (Colour.AMBER, 1),
        (Level.RED, 1),
        (Level.RED, Colour.RED),
        (Colour.RED, "RED"),
        (Way.IN, Way.OUT),
        (Way.IN | Way.OUT, Way.IN),
        (Unique(1), Unique(1)),
        ((), frozenset[object]()),
        (None, ()),
        (int, bool),
    ],
)
def test_different_values_have_different_keys(one: object, other: object) -> None:
    """Some of these are equal in Python; their types distinguish them."""
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (math.nan, math.nan),
        ((0.0,), (-0.0,)),
        (frozenset({1, 2}), frozenset({2, 1})),
        (Box(1, "here"), Box(1, "there")),
        (Colour.LISTED, Colour.LISTED),
        (Way.IN | Way.OUT, Way(3)),
        (UNIQUE, UNIQUE),
        (Pair(1, (2, 3)), Pair(1, (2, 3))),
        (int, int),
    ],
)
def test_the_same_value_has_the_same_key(one: object, other: object) -> None:
    """Nan equals nan here, and fields that a dataclass does not compare do not count."""
    assert key(one) == key(other)
    assert hash(key(one)) == hash(key(other))


@given(VALUES, VALUES)
def test_keys_are_equal_only_for_equal_values_of_one_type(one: object, other: object) -> None:
    """No two values share a key by accident; nan, which is unlike itself, is the one exception."""
    if key(one) == key(other) and one != other:
        assert "nan" in repr(one)
    if key(one) == key(other):
        assert type(one) is type(other)


@given(VALUES)
def test_a_key_can_be_hashed_and_is_the_same_each_time(value: object) -> None:
    """Sets of hypotheses are keyed by it."""
    assert {key(value): 1}[key(value)] == 1


@pytest.mark.parametrize("value", [[], {}, set[int](), bytearray(), Mutable(), (1, [2]), Box([])])
def test_what_can_change_is_refused_and_named(value: Any) -> None:  # noqa: ANN401 -- of any type
    """A list somewhere inside is as bad as a list."""
    with pytest.raises(TypeError, match="use a tuple, a frozenset or a frozen dataclass instead"):
        key(value)


def test_what_refuses_a_hash_by_itself_is_found_at_once() -> None:
    """The error is raised by `key`, and not later by a set."""
    with pytest.raises(TypeError, match="no hash today"):
        key(Fussy())


@dataclass
class Ajar:
    """Compared by value, and so without a hash."""

    door: int


def test_outputs_without_a_hash_are_compared_to_their_like() -> None:
    """Their keys are equal where they are, and never to those of another class or of a value with a hash."""

    class Odd:
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise ValueError

    odd = Odd()
    assert likeness(odd) == likeness(odd)
    assert likeness(odd) != likeness(Odd())
    assert likeness(odd) != 1
    assert likeness(Ajar(1)) == likeness(Ajar(1)) != likeness(Ajar(2))
