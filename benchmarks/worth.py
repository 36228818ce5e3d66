"""What a pass is worth, checked by simulation: `python -m benchmarks.worth --campaigns N --json FILE`.

Campaigns of independent paths with known rates of failure: how often the stated bounds and intervals hold, and how
often a failure that was not repaired is caught by the runs that are to show its repair. Then campaigns on models of the
benches: what is predicted for the second half, and what it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from math import log, log1p
from random import Random
from statistics import mean
from typing import Any, Final

from benchmarks.measure import command, positive, save
from otf.campaign.candidate_budget import RESULT
from otf.campaign.confidence import Discoveries, passes_after, predicted, rate_interval, upper_bound
from otf.core import Model, Monitor, Oracle
from otf.core.walk import Walk
from otf.models import conference
from otf.models.coffee import coffee
from otf.models.laundry import LAUNDRY
from otf.models.queue import QUEUE
from otf.models.stack import STACK
from otf.models.vending import VENDING, Text
from otf.simulate.system import acting
from otf.spec import Spec
from otf.strategy import Strategy

RATES: Final = (0.0002, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99)
PATHS: Final = (10, 100, 300, 3000)
FIXED: Final = 0.99
BENCHES: Final[Mapping[str, Spec[Any, Any]]] = {
    "coffee": coffee,
    "conference": conference.bench().spec,
    "laundry": LAUNDRY,
    "queue": QUEUE,
    "stack": STACK,
    "vending": VENDING,
}
STEPS: Final = 50
HALVES: Final = (20, 50, 200)
PARTS: Final = (1.0, 0.25)
"""How many of the first paths come after them: what is predicted for as many again, and for another hour of four."""
SHARE, FEW = 0.2, 5
"""A prediction is close if it is so near, as a share of what comes or as a number."""
COLUMNS: Final = {"close": "close", "close at best": "at best", "in range": "held"}
_bound = cache(upper_bound)
_interval = cache(rate_interval)
_passes = cache(passes_after)


def failing(random: Random, rate: float, runs: int) -> int:
    """Return how many of so many runs fail; the passing runs between two failures are drawn at once."""
    found, at = 0, 0
    while True:
        at += 1 + int(log(1 - random.random()) / log1p(-rate))
        if at > runs:
            return found
        found += 1


def bounds(random: Random, campaigns: int) -> dict[str, float]:
    """Return how often the bound holds for each number of paths and rate; inconclusive paths count as failed.

    Half of the paths that fail are inconclusive. A campaign with a path that fails states nothing.
    """

    def holds(rate: float, paths: int) -> bool:
        bad = failing(random, rate, paths)
        wrong = failing(random, 0.5, bad) if bad else 0
        return wrong > 0 or bad == paths or rate <= _bound(bad, paths)

    return {
        f"{paths} paths, {rate:g}": mean(holds(rate, paths) for _ in range(campaigns))
        for paths in PATHS
        for rate in RATES
    }


def measured(random: Random, rate: float) -> tuple[int, int]:
    """Return failures and runs, as shrinking measures a rate: more runs only if one of the first passed."""
    first, most = RESULT
    failed = failing(random, rate, first)
    return (failed, first) if failed == first else (failed + failing(random, rate, most - first), most)


def intervals(random: Random, campaigns: int) -> dict[str, float]:
    """Return how often the interval of a measured rate holds."""

    def holds(rate: float) -> bool:
        low, high = _interval(*measured(random, rate))
        return low <= rate <= high

    return {f"{rate:g}": mean(holds(rate) for _ in range(campaigns)) for rate in RATES}


def repairs(random: Random, campaigns: int) -> dict[str, float]:
    """Return how often a failure that was not repaired is caught, with the runs needed after its rate was measured."""

    def caught(rate: float) -> bool:
        failed, runs = measured(random, rate)
        return not failed or failing(random, rate, _passes(FIXED, failed, runs)) > 0

    return {f"{rate:g}": mean(caught(rate) for _ in range(campaigns)) for rate in RATES}


def discoveries(seeds: int) -> dict[str, dict[str, float]]:
    """Return for each bench and half how near the predictions came, and how often what came was in the range.

    `close at best` is how near one comes who knows the rate of each triple.
    """
    found = dict[str, dict[str, float]]()
    for name, spec in BENCHES.items():
        runs = [paths_of(spec, seed, 2 * max(HALVES)) for seed in range(1, seeds + 1)]
        for half, more in product(HALVES, PARTS):
            found[f"{name}, {half} paths and {half * more:g}"] = _compared(runs, half, more)
    return found


def _compared(runs: Sequence[Sequence[set[Any]]], half: int, more: float) -> dict[str, float]:
    counts, new, said, shown = Counter[str](), list[int](), list[float](), _shown(runs)
    for paths in runs:
        guess, known = predicted(paths[:half], more), set[Any]().union(*paths[:half])
        after = round(more * half)
        came = len(set[Any]().union(*paths[half : half + after]) - known)
        counts["close"] += _near(guess.new, came)
        counts["held"] += guess.low <= came <= guess.high
        counts["at best"] += _near(_expected(shown, paths, known, after, sum(map(len, runs))), came)
        new.append(came)
        said.append(guess.new)
    shares = {name: counts[each] / len(runs) for name, each in COLUMNS.items()}
    return {"new": mean(new), "predicted": round(mean(said), 1), **shares, "mean close": _near(mean(said), mean(new))}


def _near(said: float, came: float) -> bool:
    return abs(came - said) <= max(SHARE * came, FEW)


def _shown(runs: Sequence[Sequence[set[Any]]]) -> Counter[Any]:
    """Return how many paths of all campaigns showed each triple."""
    return Counter(each for paths in runs for path in paths for each in path)


def _expected(shown: Counter[Any], paths: Sequence[set[Any]], known: set[Any], after: int, number: int) -> float:
    """Return what is to be expected of so many paths where the rate of each triple is known, from other campaigns.

    No prediction from the first half can be better: the rest is chance.
    """
    own, others = _shown([paths]), number - len(paths)
    rates = ((times - own[each]) / others for each, times in shown.items() if each not in known)
    return sum(1 - (1 - rate) ** after for rate in rates)


def paths_of(spec: Spec[Any, Any], seed: int, number: int) -> list[set[Any]]:
    """Return the triples of so many random paths against a system that is made from the spec."""
    oracle, strategy = Oracle(Model(spec)), Strategy("random", "uioco", seed)
    make, found = acting(spec, seed=seed, invent=_invented), Discoveries()
    for path in range(1, number + 1):
        walk, monitor = Walk(oracle, make(), keep=None), Monitor(oracle)
        walk.chosen(strategy.path(path), STEPS)
        for event in walk.events():
            monitor.tell(event)
            found.event(event, monitor)
        found.end()
    return found.paths


def _invented(_item: object) -> object:
    return Text("please choose")  # of the vending machine alone


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the shares of campaigns in which each statement holds; write them if asked to."""
    parser = command("worth", __doc__)
    parser.add_argument("--campaigns", type=positive, default=10_000, help="campaigns for each rate")
    parser.add_argument("--seeds", type=positive, default=20, help="campaigns for each bench")
    chosen = parser.parse_args(arguments)
    random = Random(1)
    kinds: dict[str, Callable[[Random, int], dict[str, float]]] = {
        "bounds": bounds,
        "intervals": intervals,
        "repairs": repairs,
    }
    data: dict[str, Any] = {name: kind(random, chosen.campaigns) for name, kind in kinds.items()}
    for name, shares in data.items():
        worst = min(shares, key=shares.__getitem__)
        print(f"{name:10} hold in at least {shares[worst]:.2%} of {chosen.campaigns:,} campaigns (at {worst})")
    data["discoveries"] = discoveries(chosen.seeds)
    for name, row in data["discoveries"].items():
        print(f"{name:30} {'  '.join(f'{what} {number:g}' for what, number in row.items())}")
    save(data, chosen.json)


if __name__ == "__main__":
    main()
