"""Counterexamples are the smallest that there are, however they were found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

from otf.logic import Property, PropertyOutcome, check
from otf.values import Rows, rows
from tests.logic.faulty import FAULTY, Put, Take

SEEDS = range(20)


def first(prop: Callable[..., Any], table: Rows) -> tuple[int, Any]:
    """Find the first counterexample by trying one value after the other, without any help."""
    for number, (value,) in enumerate(table.values, 1):
        told: bool | Property = prop(value)
        if check(told).outcome is PropertyOutcome.COUNTEREXAMPLE:
            return number, value
    raise AssertionError


@pytest.mark.parametrize("name", FAULTY)
def test_the_counterexample_is_the_first_in_the_order(name: str) -> None:
    """No earlier value fails: this is tested one by one, and known by reasoning."""
    prop, smallest = FAULTY[name]
    result = check(prop, tests=100_000)
    number, value = first(prop, rows(prop))
    assert list(result.values.values()) == [value] == [smallest]
    assert result.tests + result.rejections == number
    assert result.found == result.values


@pytest.mark.parametrize("name", FAULTY)
def test_in_every_other_order_it_is_the_same_one(name: str) -> None:
    """The first counterexample may be larger; the reported one never is."""
    prop, smallest = FAULTY[name]
    results = [check(prop, tests=100_000, seed=seed) for seed in SEEDS]
    assert [list(result.values.values()) for result in results] == [[smallest]] * len(SEEDS)


def test_what_was_found_first_is_told_too() -> None:
    """`found` is the first counterexample, which is larger with some seeds."""
    prop, smallest = FAULTY["as_text"]
    found = [check(prop, seed=seed).found["xs"] for seed in SEEDS]
    assert smallest in found
    assert any(items != smallest for items in found)


DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "once_each": st.lists(st.integers()),
    "three_only": st.lists(st.integers()),
    "counted": st.text("()"),
    "Falsy": st.lists(st.builds(Put, st.integers()) | st.builds(Take)),
    "Stack": st.lists(st.builds(Put, st.integers(0, 9)) | st.builds(Take)),
}


def test_what_hypothesis_does_not_find_again_is_told_as_it_was_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """If Hypothesis does not find a counterexample again, the first one is reported."""
    monkeypatch.setattr("otf.logic.smallest", lambda *_: None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType] -- a stand-in for any method
    result = check(FAULTY["once_each"][0], DRAWN["once_each"])
    assert result.values == result.found
    assert not check(FAULTY["once_each"][0], result.values.values())


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_values_are_shrunk_as_hypothesis_does(name: str) -> None:
    """Where values come from a strategy, small is what Hypothesis takes for small."""
    prop, smallest = FAULTY[name]
    result = check(prop, DRAWN[name])
    assert result.outcome is PropertyOutcome.COUNTEREXAMPLE
    values: list[Any] = list(result.values.values())
    assert [len(value) for value in values] == [len(smallest)]
    assert not check(prop, [*result.values.values()])
