"""Response times: drawn beside the bounds that the bench states for them, and compared between two campaigns.

Growth of coverage uses the same axes. The interval of a quantile needs no assumption about the distribution. The number
of measured times below the true quantile is distributed like the number of heads in n tosses of a coin (Thompson, On
confidence ranges for the median, Annals of Mathematical Statistics 7 (1936)). A quantile has drifted if the intervals
of both campaigns lie apart, by a share that matters. While the machine is busy, times are not independent, and the
system is slower too. So a drift is only a hint, and no verdict depends on it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, inf, log10, sqrt
from typing import Final, NamedTuple

from otf.report.markup import Markup, joined, tag
from otf.trace.result import counted

WIDE: Final = 640
HIGH: Final = 180
LEFT: Final = 54
LOW: Final = 34
BINS: Final = (1, 2, 5)  # in each tenfold
FEWEST: Final = 8  # bars: fewer would be too wide to show a distribution
TINY: Final = 1e-6  # seconds
TOP: Final = 62  # for the names of the bounds
ROW: Final = 58  # for the response times of one input
BARS: Final = 34  # of ROW, for the highest bar
LETTER: Final = 7  # pixels of a character on average
WINDOWS: Final = 6  # windows to draw for one input


def growth(points: Sequence[tuple[int, int]], total: int | None) -> Markup:
    """Return a chart of visited transitions over the steps; `total` is the number of all transitions, if known."""
    last = max(points[-1][0], 1)
    most = max(total or 0, points[-1][1], 1)
    corners: list[str] = []
    for (step, count), before in zip(points, [0, *(count for _, count in points)], strict=False):
        corners += [f"{_x(step / last):.1f},{_y(before / most):.1f}", f"{_x(step / last):.1f},{_y(count / most):.1f}"]
    return tag(
        "svg",
        _axes([(0, "0"), (1, f"{last:,} steps")], [(0, "0"), (1, f"{most:,}")]),
        tag("polyline", points=" ".join(corners), class_="curve"),
        class_="numbers",
        viewBox=f"0 0 {WIDE} {HIGH}",
        role="img",
        aria_label=f"{points[-1][1]} transitions visited after {points[-1][0]} steps",
    )


def response_times(
    answers: Mapping[str, Sequence[float]],
    bounds: Mapping[str, float],
    windows: Mapping[str, Iterable[tuple[float, float]]],
) -> Markup:
    """Return a histogram of the response times for each input, all on one scale.

    `bounds` are named times, drawn as lines through all histograms. `windows` are those in which the model allows the
    answers to an input, drawn behind them. Each bin is about twice as long as the one before.
    """
    shown = {name: [each for each in windows.get(name, ()) if each[1] < inf][:WINDOWS] for name in answers}
    ends = [end for each in shown.values() for window in each for end in window if end > 0]
    every = [*(second for seconds in answers.values() for second in seconds), *bounds.values(), *ends]
    edges = _edges(min(every), max(every))
    high = TOP + ROW * len(answers)
    rows = [
        _row(name, sorted(seconds), shown[name], edges, TOP + ROW * (at + 1))
        for at, (name, seconds) in enumerate(answers.items())
    ]
    labels = [(at / (len(edges) - 1), duration(edge)) for at, edge in enumerate(edges)]
    return tag(
        "svg",
        *(
            tag("text", text, x=f"{_x(share):.0f}", y=high + 18, text_anchor="middle")
            for share, text in labels[:: ceil(len(labels) / 8)]
        ),
        *rows,
        *_lines(bounds, edges, high),
        class_="numbers",
        viewBox=f"0 0 {WIDE} {high + 26}",
        role="img",
        aria_label=f"response times of {len(answers)} inputs; the table has their numbers",
    )


def _row(
    name: str, seconds: Sequence[float], windows: Sequence[tuple[float, float]], edges: Sequence[float], low: int
) -> Markup:
    counts = [bisect_left(seconds, after) - bisect_left(seconds, before) for before, after in pairwise(edges)]
    most, wide = max(counts), (_x(1) - _x(0)) / len(counts)
    behind = [
        tag(
            "rect",
            tag("title", f"window of {name}: {duration(start)} to {duration(end)}"),
            x=f"{_at(start, edges):.1f}",
            y=low - BARS,
            width=f"{max(2.0, _at(end, edges) - _at(start, edges)):.1f}",
            height=BARS,
            class_="window",
        )
        for start, end in windows
    ]
    bars = [
        tag(
            "rect",
            tag("title", f"{counted(count, 'answer')} to {name} took {duration(before)} to {duration(after)}"),
            x=f"{_x(0) + at * wide + 1:.1f}",
            y=f"{low - BARS * count / most:.1f}",
            width=f"{wide - 2:.1f}",
            height=f"{BARS * count / most:.1f}",
        )
        for at, (count, before, after) in enumerate(zip(counts, edges, edges[1:], strict=False))
        if count
    ]
    axis = tag("path", d=f"M{_x(0):.0f} {low}H{_x(1):.0f}", class_="axis")
    return tag("g", *behind, *bars, axis, tag("text", name, x=LEFT, y=low - BARS - 5, font_weight=600))


def _lines(bounds: Mapping[str, float], edges: Sequence[float], high: int) -> Iterator[Markup]:
    """Yield a line for each bound, equal ones merged; a label moves down until it fits beside the earlier ones."""
    ends = [float(-LEFT)] * 4
    for seconds in sorted(set(bounds.values())):
        names = ", ".join(name for name, other in bounds.items() if other == seconds)
        x, text = _at(seconds, edges), f"{names} {duration(seconds)}"
        half = LETTER * len(text) / 2
        middle = min(max(x, half), WIDE - half)
        level = next((at for at, end in enumerate(ends) if end < middle - half), len(ends) - 1)
        ends[level] = middle + half + LETTER
        yield tag("path", d=f"M{x:.1f} {14 * level + 16}V{high}", class_="bound")
        yield tag("text", text, x=f"{middle:.0f}", y=14 * level + 12, text_anchor="middle", class_="soft")


def _at(seconds: float, edges: Sequence[float]) -> float:
    """Return the place of a time on the scale of these edges."""
    if seconds >= edges[-1]:
        return _x(1)
    bin_ = max(0, bisect_right(edges, seconds) - 1)
    before, after = edges[bin_], edges[bin_ + 1]
    return _x((bin_ + max(0.0, seconds - before) / (after - before)) / (len(edges) - 1))


def duration(seconds: float) -> str:
    """Return a time in a fitting unit.

    >>> duration(0.00002), duration(0.02), duration(2)
    ('20 µs', '20 ms', '2 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def _edges(least: float, greatest: float) -> list[float]:
    """Return 1, 2, 5, 10, … around the measured times; the first is 0 if a time was below a microsecond."""
    # one power lower, since the logarithm of 99999.99999999999 is rounded up to 5
    low, high = floor(log10(max(least, TINY))) - 1, ceil(log10(max(greatest, TINY))) + FEWEST
    edges = [step * 10.0**power for power in range(low, high) for step in BINS]
    first = max(at for at, edge in enumerate(edges) if edge <= max(least, TINY))
    last = next(at for at, edge in enumerate(edges) if edge > greatest)
    chosen = edges[first : max(last, first + FEWEST) + 1]
    return [0.0 if least < TINY else chosen[0], *chosen[1:]]


def _axes(across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]]) -> Markup:
    lines = tag("path", d=f"M{LEFT} {_y(1):.0f}V{_y(0):.0f}H{WIDE - 16}", class_="axis")
    below = [
        tag("text", text, x=f"{_x(at):.0f}", y=HIGH - 12, text_anchor="end" if at == 1 else "middle")
        for at, text in across
    ]
    beside = [tag("text", text, x=LEFT - 6, y=f"{_y(at) + 4:.0f}", text_anchor="end") for at, text in up]
    return joined(lines, *below, *beside)


def _x(share: float) -> float:
    return LEFT + share * (WIDE - LEFT - 16)


def _y(share: float) -> float:
    return HIGH - LOW - share * (HIGH - LOW - 14)


# ---- of two campaigns ----------------------------------------------------------------------------------------------

SHARES: Final = {"half": 0.5, "99 of 100": 0.99}
DEVIATIONS: Final = 3.3
"""Standard deviations on each side of a rank: an interval fails in one of 1,000 cases, since there is one for each type
of input."""
DRIFT: Final = 1.2  # times that a quantile must be longer in one of the two


class ResponseDrift(NamedTuple):
    """The response times for a type of input in two campaigns, in words; `drift` is "" if no drift is certain.

    `few` names the quantiles of which there are too few times to tell, "" if there are enough.
    """

    what: str
    a: str
    b: str
    drift: str
    few: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Quantile:
    """A quantile of measured seconds with its interval; `high` is infinite and `low` 0 after too few measurements.

    >>> Quantile.of(sorted([0.001] * 50 + [0.002] * 50), 0.5)
    Quantile(value=0.002, low=0.001, high=0.002)
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, ordered: Sequence[float], share: float) -> Quantile:
        """Return the quantile of seconds, given in order; there must be at least one."""
        number = len(ordered)
        spread = DEVIATIONS * sqrt(number * share * (1 - share))
        # the ranks approximate the binomial distribution by the normal one, one further out
        low, high = floor(number * share - spread) - 1, floor(number * share + spread) + 1
        return cls(
            ordered[min(number - 1, int(share * number))],
            ordered[low] if low >= 0 else 0.0,
            ordered[high] if high < number else float("inf"),
        )


def drifts(
    a: Mapping[str, Sequence[float]], b: Mapping[str, Sequence[float]], names: tuple[str, str] = ("A", "B")
) -> list[ResponseDrift]:
    """Return the response times of two campaigns with these names, for each type of input that both have.

    >>> drifts({"Coin": [0.001] * 100}, {"Coin": [0.002] * 100})[0].drift
    'half of them 2 times as long in B'
    """
    pairs = {name: (sorted(a[name]), sorted(b[name])) for name in sorted(a) if a[name] and b.get(name)}
    return [
        ResponseDrift(name, _described(one), _described(other), ", ".join(_drifts(one, other, names)), _few(one, other))
        for name, (one, other) in pairs.items()
    ]


def _described(ordered: Sequence[float]) -> str:
    within = (f"{name} within {duration(Quantile.of(ordered, share).value)}" for name, share in SHARES.items())
    return f"{', '.join(within)} (of {len(ordered):,})"


def _drifts(a: Sequence[float], b: Sequence[float], names: tuple[str, str]) -> Iterator[str]:
    for name, share in SHARES.items():
        one, other = Quantile.of(a, share), Quantile.of(b, share)
        for slow, fast, side in ((other, one, names[1]), (one, other, names[0])):
            if slow.low > fast.high and slow.value >= DRIFT * fast.value:
                yield f"{name} of them {_times(slow.value, fast.value)} in {side}"


def _few(*sides: Sequence[float]) -> str:
    faster = {name: min(Quantile.of(each, share) for each in sides) for name, share in SHARES.items()}
    unknown = [name for name, each in faster.items() if each.high == float("inf")]
    return f"{' and '.join(unknown)}: too few to tell" if unknown else ""


def _times(slow: float, fast: float) -> str:
    # a time below a microsecond may be measured as 0
    return f"{slow / fast:.2g} times as long" if fast > 0 else "longer"
