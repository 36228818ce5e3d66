"""A sequence chart as SVG: a lifeline for each port, the system in the middle, time running down."""

from __future__ import annotations

from typing import Final

from otf.report.markup import Markup, joined, tag
from otf.report.sequence import Chart, SequenceRow

SYSTEM: Final = "system under test"
BETWEEN: Final = 230  # pixels between two lifelines
LEFT: Final = 150  # for the times
TOP: Final = 46
GAP: Final = 30  # between two events
LETTERS: Final = 30  # of a label; its tooltip has the whole text
STYLE: Final = """
svg.chart { font: 12px system-ui, sans-serif; --ink: #1d2733; --soft: #6b7785; --bad: #b3261e; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  svg.chart { --ink: #e3e8ee; --soft: #98a3b0; --bad: #ff8a80; --paper: #14181d; background: #14181d; }
}
svg.chart text { fill: var(--ink); } svg.chart .soft { fill: var(--soft); }
svg.chart line { stroke: var(--ink); stroke-width: 1.3; }
svg.chart .life { stroke: var(--soft); stroke-dasharray: 2 4; }
svg.chart .quiet { stroke: var(--soft); stroke-dasharray: 6 4; } svg.chart .back { fill: var(--paper); }
svg.chart .bad line { stroke: var(--bad); stroke-width: 2; }
svg.chart .bad text { fill: var(--bad); font-weight: 600; }
svg.chart path { fill: var(--ink); } svg.chart .bad path { fill: var(--bad); }
"""


def standalone(chart: Chart) -> str:
    """Return a sequence chart as the content of an SVG file.

    >>> from otf.report.sequence import chart
    >>> from otf.trace import Seen, Sent
    >>> standalone(chart([Sent("coin", "line", 0.0), Seen("tea", "line", 0.1)])).splitlines()[0]
    '<?xml version="1.0" encoding="UTF-8"?>'
    """
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_drawn(chart)}\n'


def _drawn(chart: Chart) -> Markup:
    half = -(-len(chart.ports) // 2)
    names = [*chart.ports[:half], None, *chart.ports[half:]]
    columns = {name: LEFT + BETWEEN // 2 + at * BETWEEN for at, name in enumerate(names)}
    heights = [TOP + GAP * at for at in range(1, len(chart.rows) + 1)]
    width, height = LEFT + len(names) * BETWEEN, (heights[-1] if heights else TOP) + 40
    return tag(
        "svg",
        tag("style", Markup(STYLE)),
        _heads(columns, height),
        tag("text", f"… {chart.earlier} earlier events", x=12, y=TOP, class_="soft") if chart.earlier else "",
        *(_row(row, y, columns) for row, y in zip(chart.rows, heights, strict=True)),
        class_="chart",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"sequence chart of {len(chart.rows)} events",
    )


def _heads(columns: dict[str | None, int], height: int) -> Markup:
    parts: list[Markup] = []
    for name, x in columns.items():
        shown = SYSTEM if name is None else name or "port"
        parts += [
            tag("text", _short(shown), x=x, y=24, text_anchor="middle", font_weight=600 if name is None else None),
            tag("line", x1=x, y1=34, x2=x, y2=height - 12, class_="life"),
        ]
    return joined(*parts)


def _row(row: SequenceRow, y: int, columns: dict[str | None, int]) -> Markup:
    time = tag("text", f"{row.at:.4f} s", x=12, y=y + 4, class_="soft")
    drawn = _across(row, y, columns) if row.kind in {"quiet", "taken", "stalled", "guess"} else _arrow(row, y, columns)
    title = tag("title", f"event {row.number} at {row.at:.6f} s: {row.text}")
    return tag("g", title, time, drawn, class_="bad" if row.failed else None)


def _across(row: SequenceRow, y: int, columns: dict[str | None, int]) -> Markup:
    low, high = min(columns.values()) - 60, max(columns.values()) + 60
    return joined(tag("line", x1=low, y1=y, x2=high, y2=y, class_="quiet"), _label(row.text, (low + high) // 2, y + 4))


def _arrow(row: SequenceRow, y: int, columns: dict[str | None, int]) -> Markup:
    port, system = columns[row.port], columns[None]
    start, end = (port, system) if row.kind == "sent" else (system, port)
    back = 9 if end < start else -9
    head = (
        f"M{end} {y}l{back} -4v8z"
        if row.kind != "closed"
        else f"M{end - 6} {y - 6}l12 12l-1 1l-12 -12zm0 12l12 -12l1 1l-12 12z"
    )
    return joined(
        tag("line", x1=start, y1=y, x2=end, y2=y), tag("path", d=head), _label(row.text, (start + end) // 2, y - 5)
    )


def _label(text: str, x: int, y: int) -> Markup:
    short = _short(text)
    room = 7 * len(short) + 8
    back = tag("rect", x=x - room // 2, y=y - 11, width=room, height=14, class_="back")
    return joined(back, tag("text", short, x=x, y=y, text_anchor="middle"))


def _short(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
