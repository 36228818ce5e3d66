"""Response times of two campaigns: quantiles, their intervals, and what drifted."""

from __future__ import annotations

from bisect import bisect_left
from random import Random

import pytest

from otf.report.times import Quantile, drifts


@pytest.mark.parametrize("share", [0.5, 0.99])
@pytest.mark.parametrize("number", [20, 500, 2000])
def test_intervals_hold(share: float, number: int) -> None:
    """However the times are distributed, the interval of a quantile fails rarely; few times have none."""
    random = Random(5)
    failed = 0
    for _ in range(400):
        # times of any distribution have uniform ranks
        found = Quantile.of(sorted(random.random() for _ in range(number)), share)
        failed += not found.low <= share <= found.high
    assert failed <= 3


def test_a_drift() -> None:
    """A slower system drifts, the same one does not, and half a percent is too little to matter."""
    random = Random(1)
    a, b = ([random.expovariate(1000) for _ in range(500)] for _ in range(2))
    [same] = drifts({"Coin": a}, {"Coin": b})
    assert same.drift == ""
    [slower] = drifts({"Coin": a}, {"Coin": [2 * each for each in b]})
    assert slower.drift.startswith("half of them 2")
    assert slower.drift.endswith("times as long in B")
    assert drifts({"Coin": a}, {"Coin": [2 * each for each in b]}, ("old", "new"))[0].drift.endswith(" in new")
    [faster] = drifts({"Coin": [2 * each for each in a]}, {"Coin": b})
    assert faster.drift.endswith("times as long in A")
    [little] = drifts({"Coin": [0.001] * 900}, {"Coin": [0.001005] * 900})
    assert little[3:] == ("", "99 of 100: too few to tell")
    assert little.a == "half within 1 ms, 99 of 100 within 1 ms (of 900)"


def test_the_slowest_may_drift_alone() -> None:
    """One in ten answers that takes longer leaves the median as it is."""
    a = [0.001 + at / 1e6 for at in range(3000)]
    b = [each * (30 if at % 10 == 0 else 1) for at, each in enumerate(a)]
    [found] = drifts({"Coin": a}, {"Coin": b})
    assert found.drift.startswith("99 of 100 of them ")


def test_what_says_nothing() -> None:
    """Too few times, a type that only one has, and times that are too short to be measured."""
    assert drifts({"Coin": [0.001] * 5}, {"Coin": [1.0] * 5})[0][3:] == ("", "half and 99 of 100: too few to tell")
    assert drifts({"Coin": [0.001] * 90}, {"Coin": [0.001] * 90})[0][3:] == ("", "99 of 100: too few to tell")
    assert drifts({"Coin": [0.001], "Tea": []}, {"Button": [0.1], "Tea": [0.1]}) == []
    assert drifts({"Coin": [0.0] * 50}, {"Coin": [1.0] * 50})[0].drift == "half of them longer in B"


def test_ranks() -> None:
    """The bounds are measured times, on both sides of the quantile."""
    times = [float(at) for at in range(100)]
    found = Quantile.of(times, 0.5)
    assert bisect_left(times, found.low) < 50 < bisect_left(times, found.high)
    assert Quantile.of(times, 0.99).high == float("inf")
