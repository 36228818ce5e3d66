"""Plots of the evaluation's tables, as SVG: a line for each row, and a mark for each column that is plotted.

A table of `evaluation.json` has a `plot`: its `file`, the columns of the `label` of a line and of the `values`, and
what the `axis` shows. The axis is logarithmic where the values differ by more than a factor of 50.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any, Final

WIDE, LEFT, RIGHT, LINE, TOP = 760, 300, 30, 20, 30  # px
COLOURS: Final = ("#0b6e99", "#b5541c", "#3f7d20", "#7a3e9d")
MARKS: Final = (
    '<circle cx="{x}" cy="{y}" r="4.5" fill="{colour}"/>',
    '<rect x="{left}" y="{top}" width="8" height="8" fill="{colour}"/>',
    '<path d="M{x} {top} l4.5 8 h-9 z" fill="{colour}"/>',
    '<path d="M{x} {top} l4.5 4 l-4.5 4 l-4.5 -4 z" fill="{colour}"/>',
)
LOGARITHMIC: Final = 50


class Axis:
    """Where values are: from 0, or on a logarithmic axis from the power of ten below the least one."""

    def __init__(self, values: Sequence[float]) -> None:
        least, most = min(filter(None, values), default=1), max(values, default=1)
        self._log = most > LOGARITHMIC * least
        self._low: float = floor(log10(least)) if self._log else 0
        self._high: float = ceil(log10(most)) if self._log else _round(most)

    def at(self, value: float) -> float:
        """Return the place of a value, in pixels from the left."""
        scaled = value if not self._log else log10(value) if value else self._low
        return round(LEFT + (WIDE - LEFT - RIGHT) * (scaled - self._low) / (self._high - self._low), 1)

    def ticks(self) -> list[float]:
        """Return the values that are written at the axis."""
        if self._log:
            return [10.0**power for power in range(int(self._low), int(self._high) + 1)]
        return [self._high * part / 4 for part in range(5)]


def _round(most: float) -> float:
    unit: float = 10.0 ** floor(log10(most))
    return next(step * unit for step in (1, 2, 4, 8, 10) if step * unit >= most)


def plot(table: dict[str, Any]) -> str:
    """Return the plot of a table as SVG."""
    asked, columns = table["plot"], table["columns"]
    names = asked["values"]
    rows = [
        (_label(row, columns, asked["label"]), [row[columns.index(name)] for name in names]) for row in table["rows"]
    ]
    rows = [(label, values) for label, values in rows if all(isinstance(each, int | float) for each in values)]
    axis = Axis([each for _, values in rows for each in values])
    high = TOP + LINE * (len(rows) + 3)
    says = f"{asked['axis']}: {', '.join(names)}"
    size = f'viewBox="0 0 {WIDE} {high}" width="{WIDE}" height="{high}" font-family="sans-serif" font-size="12"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(says)}">',
        f'<rect width="{WIDE}" height="{high}" fill="#fff"/>',
        *_legend(names),
        *_grid(axis, len(rows), asked["axis"]),
    ]
    for number, (label, values) in enumerate(rows):
        y = TOP + LINE * number + LINE / 2
        lines.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end" fill="#222">{escape(label)}</text>')
        lines += [
            _mark(kind, axis.at(value), y, f"{label}, {names[kind]}: {value:,}") for kind, value in enumerate(values)
        ]
    return "\n".join([*lines, "</svg>", ""])


def _label(row: Sequence[object], columns: list[str], label: list[str]) -> str:
    return ", ".join(
        f"{name} {row[columns.index(name)]}" if len(label) > 1 else str(row[columns.index(name)]) for name in label
    )


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = float(LEFT)
    for kind, name in enumerate(names):
        yield _mark(kind, x, 14, name)
        yield f'<text x="{x + 10}" y="18" fill="#222">{escape(name)}</text>'
        x += 26 + 7 * len(name)


def _grid(axis: Axis, rows: int, says: str) -> Iterator[str]:
    bottom = TOP + LINE * rows + 4
    for value in axis.ticks():
        x = axis.at(value)
        yield f'<path d="M{x} {TOP} V{bottom}" stroke="#ddd"/>'
        yield f'<text x="{x}" y="{bottom + 14}" text-anchor="middle" fill="#555">{value:,.10g}</text>'
    yield f'<text x="{LEFT}" y="{bottom + 34}" fill="#555">{escape(says)}</text>'


def _mark(kind: int, x: float, y: float, says: str) -> str:
    mark = MARKS[kind].format(x=x, y=y, left=x - 4, top=y - 4, colour=COLOURS[kind])
    return f"<g><title>{escape(says)}</title>{mark}</g>"
