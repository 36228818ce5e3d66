"""Seeded faults: a spec that is wrong in one place."""

from __future__ import annotations

from typing import Any

import pytest

from otf.simulate import Mutation, faulty
from otf.simulate.system import MutationKind
from otf.spec import Accept, Spec, Transition, goto

TIMER = goto(0, "ring", within=(2.0, 3.0))
SPEC: Spec[int, str] = Spec(
    lambda state, inp: [goto(state + 1, "x", "y")] if inp == "a" else [Accept(lambda seen: [seen])],
    0,
    ["a", "b"],
    lambda state: [TIMER] if state else [],
)


@pytest.mark.parametrize(
    ("kind", "instead", "then"),
    [
        ("output", "z", goto(1, "x", "z")),
        ("transfer", 7, goto(7, "x", "y")),
        ("missing", None, goto(1, "x")),
        ("surplus", "z", goto(1, "x", "y", "z")),
    ],
)
def test_a_fault_is_in_one_place(kind: MutationKind, instead: object, then: Transition[int]) -> None:
    """There the transition is another one, elsewhere it is what it was."""
    wrong = faulty(SPEC, Mutation(kind, 0, "a", instead))
    assert list(wrong.step(0, "a")) == [then]
    assert list(wrong.step(1, "a")) == [goto(2, "x", "y")]
    assert wrong.emits is not None
    assert list(wrong.emits(1)) == [TIMER]


@pytest.mark.parametrize(
    ("kind", "instead", "then"),
    [("late", 1.0, [(3.0, 4.0)]), ("early", -1.5, [(0.5, 1.5)]), ("early", -2.5, [(0.0, 0.5)]), ("dead", None, [])],
)
def test_a_timer_is_late_early_or_dead(kind: MutationKind, instead: Any, then: list[object]) -> None:  # noqa: ANN401 -- seconds
    """Its window moves, not before now; or it never goes off."""
    wrong = faulty(SPEC, Mutation(kind, 1, None, instead))
    assert wrong.emits is not None
    assert [way.within for way in wrong.emits(1)] == then
    assert list(wrong.emits(0)) == []


def test_an_accept_is_as_it_was() -> None:
    """What it takes is a function, in which nothing can be seeded."""
    (way,) = faulty(SPEC, Mutation("missing", 0, "b")).step(0, "b")
    assert isinstance(way, Accept)
