"""A sequence chart as text, for terminals and logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.report.sequence import Chart, SequenceRow

SYSTEM: Final = "SUT"
WIDE: Final = 34  # characters between two lifelines
TIME: Final = 10
HERE: Final = "  <== here"


def lifelines(chart: Chart, width: int = WIDE) -> str:
    """Return the chart as text: a column for each port, the system in the middle.

    >>> from otf.report.sequence import chart
    >>> from otf.trace.events import Quiet, Seen, Sent
    >>> print(lifelines(chart([Sent("coin", "line", 0.0), Seen("tea", "line", 0.1), Quiet(0.2)]), 16))
                 line              SUT
        0.0000     |---- 'coin' --->|
        0.1000     |<--- 'tea' -----|
        0.2000     :     quiet      :
    """
    return "\n".join(line.rstrip() for line in _lines(chart, width))


def _lines(chart: Chart, width: int) -> Iterator[str]:
    half = -(-len(chart.ports) // 2)
    names = [*chart.ports[:half], SYSTEM, *chart.ports[half:]]
    columns = {name: at * (width + 1) for at, name in enumerate(names)}
    yield _heads(names, width)
    if chart.earlier:
        yield f"{'':{TIME}}     … {chart.earlier} earlier events"
    for row in chart.rows:
        yield f"{row.at:{TIME}.4f}     {_row(row, columns)}{HERE if row.failed else ''}"


def _heads(names: list[str], width: int) -> str:
    line = [" "] * (TIME + 5 + len(names) * (width + 1) + 40)
    for at, name in enumerate(names):
        shown = (name or "port")[:width]
        start = TIME + 5 + at * (width + 1) - len(shown) // 2
        line[start : start + len(shown)] = shown
    return "".join(line)


def _row(row: SequenceRow, columns: dict[str, int]) -> str:
    last = max(columns.values())
    if row.kind in {"quiet", "taken"}:
        return _over(row.text, [*columns.values()], last)
    line = ["|" if at in columns.values() else " " for at in range(last + 1)]
    port, system = columns[row.port], columns[SYSTEM]
    low, high = sorted((port, system))
    towards = system if row.kind == "sent" else port
    line[low + 1 : high] = _arrow(row.text, high - low - 1, right=towards == high, ended=row.kind == "closed")
    return "".join(line)


def _over(text: str, columns: list[int], last: int) -> str:
    line = [":" if at in columns else " " for at in range(last + 1)]
    start = max(1, (last + 1 - len(text)) // 2)
    line[start : start + len(text)] = text[: max(0, last - start)]
    return "".join(line)


def _arrow(text: str, room: int, *, right: bool, ended: bool) -> str:
    label = text if len(text) <= room - 6 else text[: room - 7] + "…"
    rest = room - len(label) - 2
    before, after = "-" * (rest // 2), "-" * (rest - rest // 2)
    head = "x" if ended else ">" if right else "<"
    return f"{before} {label} {after[1:]}{head}" if right else f"{head}{before[1:]} {label} {after}"
