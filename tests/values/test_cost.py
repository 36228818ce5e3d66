"""About how much room a value takes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from otf.values.identity import weight

LONG = "x" * 10_000


@dataclass(frozen=True, slots=True)
class Holds:
    text: str


@pytest.mark.parametrize(
    "value",
    [LONG, LONG.encode(), (LONG,), frozenset({LONG}), Holds(LONG), ((Holds(LONG),),)],
    ids=["text", "bytes", "tuple", "set", "dataclass", "nested"],
)
def test_what_is_in_a_value_counts(value: object) -> None:
    """The weight includes all parts, and little more."""
    assert 10_000 < weight(value) < 10_700


def test_a_class_weighs_itself() -> None:
    """A dataclass as a value has no fields of its own."""
    assert weight(Holds) < 10_000
