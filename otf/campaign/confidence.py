"""What a pass is worth: bounds on the failure probability, discoveries to expect, and runs that prove a repair.

These are pure functions. All their statements need independent paths, so if paths learn from each other they state
nothing. No verdict ever depends on any of this.

Sources: Clopper and Pearson, The use of confidence or fiducial limits, Biometrika 26 (1934), for exact intervals; Chao,
Estimating the population size for capture-recapture data with unequal catchability, Biometrics 43 (1987), and Colwell
et al., Models and estimators linking rarefaction, extrapolation and comparison of assemblages, Journal of Plant Ecology
5 (2012), for discoveries; Böhme, STADS, ACM TOSEM 27(2) (2018), sections 3 and 4, for these in testing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, exp, floor, lgamma, log, log1p, log10, sqrt
from typing import Final

from otf.core import Monitor
from otf.errors import UsageError
from otf.trace.events import Event, Seen, Sent
from otf.trace.result import CampaignResult, counted
from otf.values import key

CONFIDENCE: Final = 0.95
HOUR: Final = 3600.0
FEWEST: Final = 20
"""Fewest paths for predicting discoveries."""
DEVIATIONS: Final = 2.0
"""Standard deviations on each side of a prediction; `benchmarks/worth.py` measures how often it holds."""
_CLOSE: Final = 1e-14


def upper_bound(failed: int, runs: int, error: float = 1 - CONFIDENCE) -> float:
    """Return an upper bound of the failure rate; the true rate is above it with a probability of at most `error`.

    >>> round(upper_bound(0, 3000), 6) == round(1 - 0.05 ** (1 / 3000), 6)
    True
    """
    return 1 - lower_bound(runs - failed, runs, error)


def lower_bound(failed: int, runs: int, error: float) -> float:
    """Return a lower bound of the failure rate; the true rate is below it with a probability of at most `error`.

    >>> round(lower_bound(10, 10, 0.025), 3), lower_bound(0, 10, 0.025)
    (0.692, 0.0)
    """
    if failed == 0:
        return 0.0
    if failed == runs:
        return float(error ** (1 / runs))
    low, high = 0.0, 1.0
    while high - low > _CLOSE:
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (low, middle) if _at_least(failed, runs, middle) > error else (middle, high)
    return low


def rate_interval(failed: int, runs: int) -> tuple[float, float]:
    """Return the interval of a rate measured in two stages, with more runs only if some of the first passed.

    The lower end may come out too high in each stage, so each stage gets half of that error; the upper end comes from
    the second.

    >>> low, high = rate_interval(3, 10)
    >>> round(low, 2), round(high, 2)
    (0.05, 0.65)
    """
    error = (1 - CONFIDENCE) / 2
    return lower_bound(failed, runs, error / 2), upper_bound(failed, runs, error)


def passes_needed(confidence: float, rate: float) -> int:
    """Return how many runs must pass in a row, so that this failure rate is excluded with this confidence.

    >>> passes_needed(0.99, 0.5), passes_needed(0.99, 1.0)
    (7, 1)
    """
    # a quotient that is whole except for rounding needs no extra run
    return 1 if rate >= 1 else max(1, ceil(log1p(-confidence) / log1p(-rate) - _CLOSE))


def passes_after(confidence: float, failed: int, runs: int) -> int:
    """Return the same for a rate measured in runs; half of the error covers a rate below its lower bound.

    >>> passes_after(0.99, 4, 4)
    21
    """
    error = (1 - confidence) / 2
    return passes_needed(1 - error, lower_bound(failed, runs, error / 2))


def stated(result: CampaignResult, unfinished: int = 0) -> str:
    """Return what independent paths without a failure prove, "" if there is nothing to state.

    At most `unfinished` paths were cut by a time bound or by a goal. If no path counts as failed, the bound holds
    whatever ended the campaign: if it is wrong, then a fixed number of first paths passed against the odds.

    >>> stated(CampaignResult(paths=3000, steps=60_000))
    '3,000 paths: with 95 % confidence a path of this strategy fails with a probability below 0.1 %'
    """
    maybe = result.undecided or unfinished
    if result.failures or result.trouble or result.interrupted or not result.steps:
        return ""
    if maybe >= result.paths or (result.undecided and unfinished):
        return ""
    below = percent(upper_bound(maybe, result.paths), up=True)
    counts = [f"{counted(result.undecided, 'inconclusive path')} counted as failed"] if result.undecided else []
    counts += [f"{counted(unfinished, 'path')} that may have been cut short counted as failed"] if unfinished else []
    counts += ["known issues apart"] if result.known else []
    text = f"with 95 % confidence a path of this strategy fails with a probability below {below}"
    more = f" ({', '.join(counts)})" if counts else ""
    return f"{counted(result.paths, 'path')}: {text}{more}"


def percent(share: float, *, up: bool = False) -> str:
    """Return a share with two digits, rounded down, or up.

    >>> percent(0.0518), percent(0.000998, up=True), percent(0.0)
    ('5.1 %', '0.1 %', '0 %')
    """
    if share <= 0:
        return "0 %"
    scale = 10.0 ** (1 - floor(log10(100 * share)))
    # what is whole except for rounding stays as it is
    found = ceil(100 * share * scale - 1e-9) if up else floor(100 * share * scale + 1e-9)
    return f"{found / scale:g} %"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What further independent paths will probably show: new triples, from `low` to `high`.

    `rate` is the share of paths with a triple that no other path showed. It estimates the probability that the next
    path shows something new (Good and Turing).
    """

    rate: float
    new: float
    low: int
    high: int


def predicted(paths: Sequence[Iterable[Hashable]], more: float = 1.0) -> Prediction:
    """Return the prediction for `more` times as many paths, at most 1; each path is the triples that it showed.

    It uses Chao's estimate of the unseen triples, and the share of them that the future paths show. The series of Good
    and Toulmin has up to three times its error. Triples come in groups, since one path shows several. So the variance
    groups the outcomes of one path, once for the estimate and once for future paths.

    >>> predicted([{"a"}, {"a"}, {"a", "b"}, {"a"}]).rate
    0.25
    """
    if not 0 < more <= 1:
        message = f"more={more}: a share from 0 to 1 of the paths so far is needed; further ahead nothing is known"
        raise UsageError(message)
    shown = [set(path) for path in paths]
    times = Counter(each for path in shown for each in path)
    once, twice = (sum(number == count for number in times.values()) for count in (1, 2))
    new = _new(once, twice, len(shown), more)
    single = [sum(times[each] == 1 for each in path) for path in shown]
    groups = sum(number * number for number in single)
    by_once, by_twice = _new(once + 1, twice, len(shown), more) - new, _new(once, twice + 1, len(shown), more) - new
    # even if no group was seen, the next may be the first
    spread = DEVIATIONS * sqrt((more + by_once**2) * groups + by_twice**2 * twice + 1)
    rate = sum(map(bool, single)) / len(shown)
    return Prediction(rate, new, max(0, floor(new - spread)), ceil(new + spread))


def _new(once: int, twice: int, paths: int, more: float) -> float:
    """Return the triples to expect from `more` times as many paths, given those that one or two paths showed."""
    unseen = (1 - 1 / paths) * once * max(0, once - 1) / (2 * (twice + 1))
    return unseen and unseen * (1 - (1 - once / (paths * unseen + once)) ** (more * paths))


@dataclass(slots=True)
class Discoveries:
    """The triples of each path: the possible states when an input was sent, the input, and an output or none.

    Pass it each event, with the monitor after that event, and call `end` at the end of a path.
    """

    paths: list[set[Hashable]] = field(default_factory=list[set[Hashable]])
    _path: set[Hashable] = field(default_factory=set[Hashable])
    _states: frozenset[Hashable] = frozenset()
    _sent: tuple[Hashable, ...] = ()
    _answered: bool = True

    def event(self, event: Event, monitor: Monitor) -> None:
        """Follow an event."""
        if isinstance(event, Sent):
            self._unanswered()
            self._sent, self._answered = (self._states, key(event.input)), False
        elif isinstance(event, Seen):
            self._path.add((*self._sent, key(event.output)))
            self._answered = True
        self._states = frozenset(node.key for node in monitor.states)

    def _unanswered(self) -> None:
        if not self._answered:
            self._path.add(self._sent)

    def end(self) -> None:
        """End a path."""
        self._unanswered()
        self.paths.append(self._path)
        self._path, self._states, self._sent, self._answered = set(), frozenset(), (), True

    def lines(self, seconds: float = 0.0) -> Iterator[str]:
        """Yield what the paths, which are independent, showed and what to expect.

        It tells what as many paths again may show or, if these took an hour or more of `seconds`, another hour.
        """
        if len(self.paths) < FEWEST:
            return
        hour = seconds >= HOUR
        found = predicted(self.paths, HOUR / seconds if hour else 1.0)
        known, paths = len(set[Hashable]().union(*self.paths)), counted(len(self.paths), "path")
        yield (
            f"{paths} showed {known:,} combinations of possible states, input and output; {percent(found.rate)} of the "
            f"paths showed one that no other did. {'Another hour is' if hour else f'{paths} more are'} expected to "
            f"show about {found.new:.0f} new ones ({found.low:,} to {found.high:,})"
        )


def _at_least(failed: int, runs: int, rate: float) -> float:
    """Return the probability of so many failures or more, at a rate between 0 and 1: a sum of binomial terms."""
    if failed <= rate * runs:  # only beyond the mean do they fall
        return 1 - _at_least(runs - failed + 1, runs, 1 - rate)
    passed, total = runs - failed, 0.0
    ways = lgamma(runs + 1) - lgamma(failed + 1) - lgamma(passed + 1)
    term = exp(ways + failed * log(rate) + passed * log1p(-rate))
    while term > _CLOSE * total:
        total += term
        failed, passed, term = failed + 1, passed - 1, term * passed / (failed + 1) * rate / (1 - rate)
    return total
