"""Response times of two campaigns side by side: quantiles by the type of input, and which of them drifted.

A quantile has an interval that needs no assumption about how times are distributed: so many of n independent times lie
below the true quantile as heads come in n tosses of a coin (Thompson, On confidence ranges for the median, Annals of
Mathematical Statistics 7 (1936)). A quantile drifted if the intervals of both campaigns lie apart, and by a share that
matters. Times of one campaign are not independent where the machine was busy for a while, and what slows the machine
slows the system: a drift is a hint, and no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, sqrt
from typing import Final, NamedTuple

from otf.report.curves import duration

SHARES: Final = {"half": 0.5, "99 of 100": 0.99}
DEVIATIONS: Final = 3.3
"""Standard deviations on each side of a rank: an interval fails in one of 1,000 cases, since there is one for each type
of input."""
DRIFT: Final = 1.2  # times that a quantile must be longer in one of the two


class ResponseDrift(NamedTuple):
    """The response times of a type of input in two campaigns, in words; `drift` is "" if none is certain."""

    what: str
    a: str
    b: str
    drift: str


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile of measured seconds with its interval; `high` is infinite and `low` 0 where too few were measured.

    >>> Quantile.of(sorted([0.001] * 50 + [0.002] * 50), 0.5)
    Quantile(value=0.002, low=0.001, high=0.002)
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, ordered: Sequence[float], share: float) -> Quantile:
        """Return the quantile of seconds in order, of which there is at least one."""
        number = len(ordered)
        spread = DEVIATIONS * sqrt(number * share * (1 - share))
        # the ranks are those of the binomial distribution by the normal one, one further outside
        low, high = floor(number * share - spread) - 1, floor(number * share + spread) + 1
        return cls(
            ordered[min(number - 1, int(share * number))],
            ordered[low] if low >= 0 else 0.0,
            ordered[high] if high < number else float("inf"),
        )


def drifts(a: Mapping[str, Sequence[float]], b: Mapping[str, Sequence[float]]) -> list[ResponseDrift]:
    """Return the response times of two campaigns by the type of input, each type that both have.

    >>> drifts({"Coin": [0.001] * 100}, {"Coin": [0.002] * 100})[0].drift
    'half of them 2 times as long in B'
    """
    return [_compared(name, sorted(a[name]), sorted(b[name])) for name in sorted(a) if a[name] and b.get(name)]


def _compared(name: str, a: Sequence[float], b: Sequence[float]) -> ResponseDrift:
    return ResponseDrift(name, _described(a), _described(b), ", ".join(_drifts(a, b)))


def _described(ordered: Sequence[float]) -> str:
    within = (f"{name} within {duration(Quantile.of(ordered, share).value)}" for name, share in SHARES.items())
    return f"{', '.join(within)} (of {len(ordered):,})"


def _drifts(a: Sequence[float], b: Sequence[float]) -> Iterator[str]:
    for name, share in SHARES.items():
        one, other = Quantile.of(a, share), Quantile.of(b, share)
        for slow, fast, side in ((other, one, "B"), (one, other, "A")):
            if slow.low > fast.high and slow.value >= DRIFT * fast.value:
                yield f"{name} of them {_times(slow.value, fast.value)} in {side}"


def _times(slow: float, fast: float) -> str:
    # a time below a microsecond may be measured as 0
    return f"{slow / fast:.2g} times as long" if fast > 0 else "longer"
