"""What a pass is worth: exact bounds, predictions, and where nothing is stated."""

from dataclasses import replace
from math import comb
from random import Random

import pytest

from benchmarks.worth import failing
from otf.adapter import Bench
from otf.campaign.confidence import (
    FEWEST,
    Discoveries,
    lower_bound,
    passes_after,
    passes_needed,
    percent,
    predicted,
    rate_interval,
    stated,
    upper_bound,
)
from otf.campaign.settings import learn
from otf.core import Model, Monitor, Oracle
from otf.errors import UsageError
from otf.models import coffee
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.trace.result import CampaignResult, FailureResult, InconclusiveResult, KnownIssueResult
from tests.report.runs import header


def at_least(failed: int, runs: int, rate: float) -> float:
    """The probability of so many failures or more."""
    return sum(comb(runs, k) * rate**k * (1 - rate) ** (runs - k) for k in range(failed, runs + 1))


@pytest.mark.parametrize(("failed", "runs"), [(1, 2), (1, 20), (10, 20), (19, 20), (3, 200), (150, 200)])
def test_bounds_are_exact(failed: int, runs: int) -> None:
    """At the bound of Clopper and Pearson what was seen, or more, has exactly the probability of the error."""
    low, high = lower_bound(failed, runs, 0.025), upper_bound(failed, runs, 0.025)
    assert at_least(failed, runs, low) == pytest.approx(0.025)
    assert 1 - at_least(failed + 1, runs, high) == pytest.approx(0.025)


def test_the_ends_of_the_scale() -> None:
    """Without failures the bound is 1 - error^(1/n); nothing is below 0 or above 1; a long campaign costs no time."""
    assert upper_bound(0, 3000) == pytest.approx(1 - 0.05 ** (1 / 3000))
    assert (lower_bound(0, 5, 0.05), upper_bound(5, 5)) == (0.0, 1.0)
    assert lower_bound(50_000, 100_000, 0.025) == pytest.approx(0.4968960625)


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("stages", [(1, 10), (4, 20)])
def test_intervals_of_rates_hold(rate: float, stages: tuple[int, int]) -> None:
    """At any rate the interval of a measurement in two stages holds with at least 95 %: summed, not simulated."""
    first, most = stages
    whole = rate**first
    holds = whole if rate_interval(first, first)[0] <= rate else 0.0
    for failed in range(most):
        ways = comb(most, failed) - (comb(most - first, failed - first) if failed >= first else 0)
        low, high = rate_interval(failed, most)
        holds += ways * rate**failed * (1 - rate) ** (most - failed) * (low <= rate <= high)
    assert holds >= 0.95


def test_simulated_campaigns() -> None:
    """Of 2,000 campaigns of which 6 % would pass, no more pass than chance explains: the bound for these holds."""
    random = Random(7)
    passed = sum(failing(random, 0.01, 300) == 0 for _ in range(2000))
    assert passed / 2000 == pytest.approx(0.99**300, abs=0.02)
    assert upper_bound(0, 300) < 0.01


def test_runs_that_show_a_repair() -> None:
    """Runs are enough as soon as an unrepaired failure would pass them too rarely, and one fewer is not."""
    for rate in (0.01, 0.3, 0.9):
        runs = passes_needed(0.99, rate)
        assert (1 - rate) ** runs <= 0.01 < (1 - rate) ** (runs - 1)
    assert (passes_needed(0.99, 1.0), passes_needed(0.5, 0.5), passes_needed(0.99, 0.9)) == (1, 1, 2)
    assert passes_after(0.99, 20, 20) < passes_after(0.99, 4, 4) < passes_after(0.99, 3, 10)


def test_what_is_stated() -> None:
    """A bound, and how paths count that did not pass; nothing after a failure, or if all paths are in doubt."""
    clean = CampaignResult(paths=300, steps=9)
    assert stated(clean) == "300 paths: with 95 % confidence a path of this strategy fails with a probability below 1 %"
    doubt = replace(clean, inconclusive=(InconclusiveResult("lost", 2),))
    assert stated(doubt).endswith("below 2.1 % (2 inconclusive paths counted as failed)")
    assert stated(clean, 1).endswith("below 1.6 % (1 path that may have been cut short counted as failed)")
    assert stated(replace(clean, known_issues=(KnownIssueResult("late", 4),))).endswith("(known issues apart)")
    failed = replace(clean, failures=(FailureResult("wrong", 1, "path-0001.jsonl"),))
    for silent in (failed, replace(clean, trouble="gone"), replace(clean, interrupted=True), replace(clean, steps=0)):
        assert not stated(silent)
    assert not stated(clean, 300)
    assert not stated(doubt, 1)


def test_rounding() -> None:
    """What is stated is never stronger than what is known."""
    assert (percent(0.0999, up=True), percent(0.1001, up=True)) == ("10 %", "11 %")
    assert (percent(0.0999), percent(1.0, up=True), percent(0)) == ("9.9 %", "100 %", "0 %")


def test_paths_that_may_learn() -> None:
    """Strategies with visits, eager mode on a wire, and timers in strict mode learn."""
    ports, spec = coffee.bench(), Spec(lambda on, _inp: [goto(not on)], initial=False, inputs=["press"])

    def emits(_state: object) -> list[Transition[object]]:
        return []

    timed = replace(ports, spec=Spec(ports.spec.step, ports.spec.initial, ports.spec.inputs, emits))
    inside = Bench.in_process(spec, lambda: lambda _inp: [], types=(str,))
    assert learn(header(strategy="alternating", mode="strict"), inside)
    assert [learn(header(strategy="random", mode="eager"), bench) for bench in (inside, ports)] == [False, True]
    assert [learn(header(strategy="random", mode="strict"), bench) for bench in (inside, ports, timed)] == [
        *(False, False, True)
    ]


def test_discoveries_are_predicted() -> None:
    """Of 400 kinds, equally frequent, the second half shows about as many new ones as predicted."""
    random = Random(3)
    paths = [{random.randrange(400) for _ in range(3)} for _ in range(200)]
    known = set[int]().union(*paths[:100])
    came = len(set[int]().union(*paths) - known)
    found = predicted(paths[:100])
    assert abs(found.new - came) <= 0.2 * came
    assert found.low <= came <= found.high
    assert found.rate > 0.8


def test_another_hour_is_predicted() -> None:
    """A quarter of the paths shows less than all of them would; further ahead than these nothing is known."""
    random = Random(3)
    paths = [{random.randrange(400) for _ in range(3)} for _ in range(250)]
    known = set[int]().union(*paths[:200])
    came = len(set[int]().union(*paths) - known)
    found = predicted(paths[:200], 0.25)
    assert abs(found.new - came) <= 0.2 * came
    assert found.low <= came <= found.high < predicted(paths[:200]).high
    for more in (0.0, 1.5, float("nan")):
        with pytest.raises(UsageError, match="further ahead nothing is known"):
            predicted(paths, more)
    discoveries = Discoveries([set(path) for path in paths])
    assert " Another hour is expected to show about " in next(discoveries.lines(4 * 3600.0))
    assert " 250 paths more are expected " in next(discoveries.lines(3599.0))


def test_triples() -> None:
    """A triple has the possible states before an input, the input, and an output, or none if silence followed."""
    spec = Spec(lambda on, _inp: [goto(not on, *(() if on else ("click",)))], initial=False, inputs=["press"])
    found, oracle = Discoveries(), Oracle(Model(spec))
    events: list[Event] = [
        Sent("press", "line", 0.0),
        Seen("click", "line", 0.1),
        Quiet(0.2),
        Sent("press", "line", 0.3),
    ]
    for _ in range(FEWEST):
        monitor = Monitor(oracle)
        for event in events:
            monitor.tell(event)
            found.event(event, monitor)
        assert not [*found.lines()]
        found.end()
    assert [len(path) for path in found.paths] == [2] * FEWEST
    (line,) = found.lines()
    assert line.startswith("20 paths showed 2 combinations of possible states, input and output; 0 % of the paths ")
    assert line.endswith("did. 20 paths more are expected to show about 0 new ones (0 to 2)")
