"""Specs from specs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from otf.spec import Spec, Transition, goto, restrict, total


def vend(paid: int, inp: str) -> Iterable[Transition[int]]:
    """Sell coffee for two coins; the button is unspecified before."""
    if inp == "coin" and paid < 2:
        yield goto(paid + 1)
        yield goto(paid)
    if inp == "button" and paid == 2:
        yield goto(0, "coffee")


def ticking(paid: int) -> Iterable[Transition[int]]:
    """Give change spontaneously."""
    return [goto(0, "coin")] if paid else []


VENDING = Spec(vend, 0, ["coin", "button"], ticking)


@pytest.mark.parametrize(("paid", "inp"), [(0, "button"), (2, "coin"), (1, "anything")])
def test_total_ignores_what_is_left_open(paid: int, inp: str) -> None:
    """An ignored input has no output, and does not change the state."""
    assert list(total(VENDING).step(paid, inp)) == [Transition(paid)]


@pytest.mark.parametrize(("paid", "inp"), [(0, "coin"), (1, "coin"), (2, "button")])
def test_total_says_the_same_of_what_is_specified(paid: int, inp: str) -> None:
    """The transitions of a specified input do not change."""
    assert list(total(VENDING).step(paid, inp)) == list(VENDING.step(paid, inp))


def nothing(_paid: int, _inp: str) -> None:
    """Forget to yield."""


def test_what_lists_nothing_is_left_to_the_oracle() -> None:
    """A step that returns no list is a mistake, which the oracle reports."""
    broken: Spec[int, str] = Spec(cast("Any", nothing), 0, ["coin"])
    assert total(broken).step(0, "coin") is None


def test_total_remembers_what_the_model_itself_specifies() -> None:
    """Completing twice is completing once."""
    for spec in (total(VENDING), total(total(VENDING))):
        assert spec.partial is VENDING
        assert [spec.specifies(paid, "button") for paid in range(3)] == [False, False, True]
        assert (spec.initial, spec.name, spec.emits) == (0, "vend", ticking)
        assert list(spec.inputs(0)) == ["coin", "button"]


def test_restrict_offers_less_and_says_as_much() -> None:
    """A restricted spec offers no more coins than needed; a further coin is judged as before."""
    spec = restrict(VENDING, lambda paid, inp: paid < 2 or inp != "coin")
    assert [list(spec.inputs(paid)) for paid in (0, 2)] == [["coin", "button"], ["button"]]
    assert list(spec.step(1, "coin")) == list(VENDING.step(1, "coin"))
    assert spec.specifies(1, "coin")
    assert (spec.initial, spec.name, spec.emits) == (0, "vend", ticking)


def test_restriction_and_completion_go_together() -> None:
    """In either order, `specifies` answers for the model, and the inputs are restricted."""
    for spec in (
        total(restrict(VENDING, lambda _paid, inp: inp == "coin")),
        restrict(total(VENDING), lambda _, inp: inp == "coin"),
    ):
        assert list(spec.inputs(2)) == ["coin"]
        assert not spec.specifies(2, "coin")
        assert list(spec.step(2, "coin")) == [Transition(2)]
