"""Numbers as SVG: growth of coverage, and response times."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from typing import Final

from otf.report.markup import Markup, joined, tag

WIDE: Final = 640
HIGH: Final = 180
LEFT: Final = 54
LOW: Final = 34
BINS: Final = (1, 2, 5)  # in each tenfold
FEWEST: Final = 8  # bars: fewer would be too wide to show a distribution
TINY: Final = 1e-6  # seconds


def growth(points: Sequence[tuple[int, int]], total: int | None) -> Markup:
    """Return the number of visited transitions over the steps; `total`: how many there are, if known."""
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


def histogram(seconds: Sequence[float]) -> Markup:
    """Return a histogram of response times, in bins each about twice as long as the one before."""
    edges = _edges(min(seconds), max(seconds))
    counts = [sum(low <= each < high for each in seconds) for low, high in pairwise(edges)]
    most, share = max(counts), 1 / len(counts)
    bars = [
        tag(
            "g",
            tag("title", f"{count} answers took {duration(low)} to {duration(high)}"),
            tag(
                "rect",
                x=f"{_x(at * share) + 1:.1f}",
                y=f"{_y(count / most):.1f}",
                width=f"{_x(share) - LEFT - 2:.1f}",
                height=f"{_y(0) - _y(count / most):.1f}",
            ),
        )
        for at, (count, low, high) in enumerate(zip(counts, edges, edges[1:], strict=False))
    ]
    labels = [(at * share, duration(edge)) for at, edge in enumerate(edges)]
    return tag(
        "svg",
        _axes(labels[:: ceil(len(labels) / 8)], [(0, "0"), (1, f"{most:,}")]),
        *bars,
        class_="numbers",
        viewBox=f"0 0 {WIDE} {HIGH}",
        role="img",
        aria_label=f"histogram of {len(seconds)} response times",
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that fits.

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
