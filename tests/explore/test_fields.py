"""States by their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from otf.errors import UsageError
from otf.explore import explore
from otf.explore.refine import clipped, grouped, ordered, state_parts
from otf.spec import Spec, goto


@dataclass(frozen=True)
class Inner:
    """A record in a record."""

    block: int


@dataclass(frozen=True)
class Outer:
    """A record."""

    name: str
    transfer: Inner


class Pair(NamedTuple):
    """A tuple with names."""

    one: int
    other: tuple[int, ...]


def test_the_fields_of_states() -> None:
    """A record inside another is its type and its own fields; a plain tuple has numbers, a named one names."""
    assert state_parts(Outer("a", Inner(1))) == ("Outer", {"name": "a", "transfer": Inner, "transfer.block": 1})
    assert state_parts(Pair(1, ())).fields == {"one": 1, "other": ()}
    assert state_parts((7, 8)).fields == {"0": 7, "1": 8}
    assert state_parts(()).fields == {"": ()}


def test_texts_are_the_same_each_time() -> None:
    """Members of a set are sorted, wherever the set is; a type is its name."""
    assert ordered((frozenset({"b", "a"}),)) == "({'a', 'b'},)"
    assert ordered((1, 2)) == "(1, 2)"
    assert ordered(Inner) == "Inner"


def test_long_texts_are_cut_between_tokens() -> None:
    """The number of the characters left out is shown; a single long token has to be cut itself."""
    assert clipped("(first, second)", 12) == "(first, … (7 more characters)"
    assert clipped("x" * 20, 10) == f"{'x' * 10} … (10 more characters)"


def test_groups() -> None:
    """States without the field are a group of their own; `type` is that of the state."""
    step = {0: Inner(1), Inner(1): Inner(2), Inner(2): 0}
    graph = explore(Spec(lambda state, _: [goto(step[state])], 0, ["go"]))
    assert grouped(graph, ["block"]).values == ["the others (1 state)", "block=1 (1 state)", "block=2 (1 state)"]
    assert grouped(graph, ["type"]).values == ["int (1 state)", "Inner (2 states)"]
    with pytest.raises(UsageError, match="the states have no field tea; group them by one or more of type, block"):
        grouped(graph, ["tea"])
    with pytest.raises(UsageError, match="without a name"):
        grouped(graph, [])
