"""The failure on the first page of the docs: a drawing in which one event appears after the other, once.

It is one SVG with a few rules of CSS, so it plays wherever a page shows a picture, also in the repository. Within five
seconds the whole picture is there; a reader who wants no motion gets it at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from otf.report.markup import Markup, joined, tag

SPEED: Final = 0.36  # seconds from one event to the next
ROW: Final = 34
TOP: Final = 62
COLUMNS: Final[Mapping[str, int]] = {"user": 62, "system": 236, "cpe2": 410, "cpe3": 578}
HEADS: Final = {"user": "user", "system": "system under test", "cpe2": "entity 2", "cpe3": "entity 3"}
SHORT: Final = 19  # letters that fit between two lines
STYLE: Final = """
svg.failure { font: 14px system-ui, sans-serif; --ink: #1d2733; --soft: #6b7785; --bad: #b3261e; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  svg.failure { --ink: #e3e8ee; --soft: #98a3b0; --bad: #ff8a80; --paper: #14181d; }
}
svg.failure .ground { fill: var(--paper); }
svg.failure text { fill: var(--ink); text-anchor: middle; }
svg.failure .soft { fill: var(--soft); font-size: 12px; }
svg.failure line { stroke: var(--ink); stroke-width: 1.5; }
svg.failure path { fill: var(--ink); }
svg.failure .life { stroke: var(--soft); stroke-dasharray: 2 4; }
svg.failure .quiet line { stroke: var(--soft); stroke-dasharray: 6 4; stroke-width: 1; }
svg.failure .bad line { stroke: var(--bad); stroke-width: 2; stroke-dasharray: 5 5; }
svg.failure .bad text { fill: var(--bad); font-weight: 600; }
svg.failure .bad path { fill: var(--bad); }
svg.failure g { animation: appear 0.3s both; animation-delay: calc(var(--n) * {SPEED}s); }
@keyframes appear { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { svg.failure g { animation: none; } }
"""


def played(events: Sequence[Mapping[str, Any]], missing: str) -> str:
    """Draw the events of a trace, as `otf show --json` lists them, and at their end the output that did not come."""
    bottom = TOP + ROW * (len(events) + 1)
    rows = [_row(number, event) for number, event in enumerate(events[:-1])]
    drawing = tag(
        "svg",
        tag("style", Markup(STYLE.replace("{SPEED}", str(SPEED)))),
        tag("rect", width=640, height=bottom, rx=8, class_="ground"),
        *_lifelines(bottom),
        *rows,
        _missing(len(events) - 1, missing),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 640 {bottom}",
        width=640,
        height=bottom,
        class_="failure",
    )
    return f"{drawing}\n"


def _lifelines(bottom: int) -> Iterator[Markup]:
    for name, x in COLUMNS.items():
        yield tag("line", x1=x, y1=36, x2=x, y2=bottom - 12, class_="life")
        yield tag("text", HEADS[name], x=x, y=26)


def _row(number: int, event: Mapping[str, Any]) -> Markup:
    if event["kind"] == "quiet":
        return _group(number, *_silence(_height(number), "silence"), class_="quiet")
    port, system = COLUMNS[event["port"]], COLUMNS["system"]
    start, end = (port, system) if event["kind"] == "->" else (system, port)
    return _group(number, *_arrow(_height(number), start, end, _label(event["what"])))


def _missing(number: int, what: str) -> Markup:
    """The ghost of the output that did not come, and what was seen in its place."""
    ghost = _arrow(_height(number), COLUMNS["system"], COLUMNS["cpe3"], f"{_label(what)}: did not come")
    return _group(number, *ghost, class_="bad")


def _group(number: int, *inner: object, class_: str | None = None) -> Markup:
    return tag("g", *inner, class_=class_, style=f"--n: {number + 1}")


def _height(number: int) -> int:
    return TOP + ROW * number + 12


def _label(what: str) -> str:
    return what if len(what) <= SHORT else what.partition("(")[0]


def _silence(y: int, says: str) -> Iterator[Markup]:
    yield tag("line", x1=40, y1=y, x2=600, y2=y)
    yield joined(tag("rect", x=291, y=y - 9, width=64, height=18, class_="ground"))
    yield tag("text", says, x=323, y=y + 4, class_="soft")


def _arrow(y: int, start: int, end: int, says: str) -> Iterator[Markup]:
    middle, back = (start + end) // 2, 9 if end < start else -9
    wide = 8 * len(says)
    yield tag("line", x1=start, y1=y, x2=end, y2=y)
    yield tag("path", d=f"M{end} {y}l{back} -4v8z")
    yield tag("rect", x=middle - wide // 2, y=y - 18, width=wide, height=15, class_="ground")
    yield tag("text", says, x=middle, y=y - 6)
