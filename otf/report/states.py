"""The state graph as SVG: visited and unvisited states and transitions, and failures.

States are drawn in rows by their distance from the initial one, ordered so that few arrows cross.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import hypot
from typing import Final, NamedTuple

from otf.report.markup import Markup, joined, tag
from otf.report.space import Space, VisitedSpace, WordedTransition

SWEEPS: Final = 8  # rounds in which each row is ordered by its neighbours above and below
WIDE: Final = 190
HIGH: Final = 100
ACROSS: Final = 8  # states of one row; a longer row is broken
DRAWN: Final = 80  # states; a drawing of more is unreadable, and the table of inputs that were not tried is not
BOX: Final = (152, 44)
LETTERS: Final = 23
LISTED: Final = 20  # transitions in a tooltip
FIELD: Final = re.compile(r"\b\w+=")
BEND: Final = 22  # pixels that an arrow is bent, so that the opposite arrow does not cover it


class Point(NamedTuple):
    """The middle of a state, in pixels."""

    x: int
    y: int


def layout(
    first: Hashable, arcs: Iterable[tuple[Hashable, Hashable]], names: Iterable[Hashable]
) -> dict[Hashable, Point]:
    """Return a position for each state; no two share one.

    >>> layout("a", [("a", "b"), ("a", "c")], "abc")
    {'a': Point(x=190, y=50), 'b': Point(x=95, y=150), 'c': Point(x=285, y=150)}
    """
    near: dict[Hashable, set[Hashable]] = {name: set() for name in names}
    ahead: dict[Hashable, dict[Hashable, None]] = {name: {} for name in near}
    for source, target in arcs:
        near[source].add(target)
        near[target].add(source)
        ahead[source][target] = None
    rows = _rows(first, ahead)
    for _ in range(SWEEPS):
        _sort(rows, near)
    lines = [row[start : start + ACROSS] for row in rows for start in range(0, len(row), ACROSS)]
    widest = max(len(line) for line in lines)
    return {
        name: Point(round((at + 0.5 + (widest - len(line)) / 2) * WIDE), round((down + 0.5) * HIGH))
        for down, line in enumerate(lines)
        for at, name in enumerate(line)
    }


def _rows(first: Hashable, ahead: Mapping[Hashable, Iterable[Hashable]]) -> list[list[Hashable]]:
    distance = {first: 0}
    queue = deque([first])
    while queue:
        now = queue.popleft()
        for target in ahead[now]:
            if target not in distance:
                distance[target] = distance[now] + 1
                queue.append(target)
    furthest = max(distance.values())
    rows: list[list[Hashable]] = [[] for _ in range(furthest + 2)]
    for name in ahead:
        rows[distance.get(name, furthest + 1)].append(name)
    return [row for row in rows if row]


def _sort(rows: list[list[Hashable]], near: Mapping[Hashable, set[Hashable]]) -> None:
    position = {name: (at + 0.5) / len(row) for row in rows for at, name in enumerate(row)}
    for row in rows:
        middle = {name: sum(position[other] for other in near[name]) / (len(near[name]) or 1) for name in row}
        row.sort(key=lambda name: middle[name])
        position.update({name: (at + 0.5) / len(row) for at, name in enumerate(row)})


@dataclass
class DrawnArrow:
    """All transitions from one state to another, drawn as one arrow; spontaneous ones are not counted."""

    ways: list[WordedTransition] = field(default_factory=list[WordedTransition])
    spontaneous: list[WordedTransition] = field(default_factory=list[WordedTransition])
    visited: int = 0
    failed: bool = False

    @property
    def kind(self) -> str:
        """Return the class that the arrow is drawn with."""
        if self.failed:
            return "failed"
        if not self.ways:
            return "spontaneous"
        return "visited" if self.visited == len(self.ways) else "partly" if self.visited else "unvisited"


def states(space: Space, visits: VisitedSpace, failed: Collection[tuple[str, str]]) -> Markup | None:
    """Return the graph; None if there are too many states to draw. `failed` are states and inputs as texts."""
    if len(space.states) > DRAWN:
        return None
    arcs = _arcs(space, visits, failed)
    points = layout(space.initial, arcs, space.states)
    # failures are drawn last, on top
    drawn = sorted(arcs.items(), key=lambda each: each[1].failed)
    width = max(point.x for point in points.values()) + WIDE // 2
    height = max(point.y for point in points.values()) + HIGH // 2
    return tag(
        "svg",
        *(_arrow(points[source], points[target], arc) for (source, target), arc in drawn),
        *(_box(text, points[key], _class(key, space, visits)) for key, text in space.states.items()),
        class_="states",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"state graph with {len(space.states)} states",
    )


def _arcs(
    space: Space, visits: VisitedSpace, failed: Collection[tuple[str, str]]
) -> dict[tuple[Hashable, Hashable], DrawnArrow]:
    arcs = defaultdict[tuple[Hashable, Hashable], DrawnArrow](DrawnArrow)
    for (source, inp, target), way in space.edges.items():
        arc = arcs[source, target]
        arc.ways.append(way)
        arc.visited += (source, inp, target) in visits.edges
        arc.failed |= (way.source, way.input) in failed
    for (source, target), way in space.spontaneous.items():
        arcs[source, target].spontaneous.append(way)
    # a state that was left out has no position
    return {ends: arc for ends, arc in arcs.items() if ends[1] in space.states}


def _class(key: Hashable, space: Space, visits: VisitedSpace) -> str:
    first = " first" if key == space.initial else ""
    return ("visited" if key in visits.states else "unvisited") + first


def _box(text: str, point: Point, kind: str) -> Markup:
    wide, high = BOX
    above, below = _short(text)
    return tag(
        "g",
        tag("title", text),
        tag("rect", x=point.x - wide // 2, y=point.y - high // 2, width=wide, height=high, rx=8),
        tag("text", above, x=point.x, y=point.y + (-3 if below else 4), text_anchor="middle"),
        tag("text", below, x=point.x, y=point.y + 13, text_anchor="middle") if below else "",
        class_=f"state {kind}",
    )


def _short(text: str) -> tuple[str, str]:
    """Return two lines of a state without the names of its fields, which are the same in all of them."""
    plain = FIELD.sub("", text)
    if len(plain) > 2 * LETTERS:
        plain = plain[: 2 * LETTERS - 1] + "…"
    return plain[:LETTERS], plain[LETTERS:]


def _arrow(source: Point, target: Point, arc: DrawnArrow) -> Markup:
    ways = [f"{way.input or '(spontaneous)'} -> {way.outputs}" for way in [*arc.ways, *arc.spontaneous]]
    if len(ways) > LISTED:
        ways[LISTED:] = [f"… and {len(ways) - LISTED} more"]
    count = f"{arc.visited} of {len(arc.ways)} visited" if arc.ways else "spontaneous"
    one = (arc.ways or arc.spontaneous)[0]
    title = tag("title", "\n".join([f"{one.source} to {one.target}, {count}", *ways]))
    curve, head = _loop(source) if source == target else _curve(source, target)
    return tag("g", title, tag("path", d=curve, class_="line"), tag("path", d=head, class_="head"), class_=arc.kind)


def _loop(point: Point) -> tuple[str, str]:
    x, y = point.x + BOX[0] // 2, point.y
    return f"M{x} {y - 9}c22 -12 22 30 0 18", f"M{x} {y + 9}l9 1l-4 -7z"


def _curve(source: Point, target: Point) -> tuple[str, str]:
    long = hypot(target.x - source.x, target.y - source.y)
    dx, dy = (target.x - source.x) / long, (target.y - source.y) / long
    middle = ((source.x + target.x) / 2 - dy * BEND, (source.y + target.y) / 2 + dx * BEND)
    (x1, y1), (x2, y2) = _edge(source, middle), _edge(target, middle)
    # the arrow comes from the bend: its head points where the curve goes
    away = hypot(x2 - middle[0], y2 - middle[1]) or 1.0
    ux, uy = (x2 - middle[0]) / away, (y2 - middle[1]) / away
    corners = [(x2 - 9 * ux - side * 4 * uy, y2 - 9 * uy + side * 4 * ux) for side in (1, -1)]
    head = f"M{x2:.1f} {y2:.1f}" + "".join(f"L{x:.1f} {y:.1f}" for x, y in corners) + "z"
    return f"M{x1:.1f} {y1:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {x2:.1f} {y2:.1f}", head


def _edge(point: Point, towards: tuple[float, float]) -> tuple[float, float]:
    """Return where a line from the middle of a box leaves it."""
    dx, dy = towards[0] - point.x, towards[1] - point.y
    share = min(BOX[0] / 2 / abs(dx) if dx else 9e9, BOX[1] / 2 / abs(dy) if dy else 9e9)
    return point.x + dx * share, point.y + dy * share


def legend() -> Markup:
    """Return what the colours and lines mean."""
    kinds = {
        "visited": "visited",
        "partly": "some of several visited",
        "unvisited": "not visited",
        "failed": "failed",
        "spontaneous": "spontaneous (not counted)",
    }
    return joined(*(tag("span", text, class_=f"key {kind}") for kind, text in kinds.items()))
