"""Where the states of a graph are drawn: in rows by their distance from the first, with few crossings."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Final, NamedTuple

SWEEPS: Final = 8  # rounds in which each row is ordered by its neighbours above and below
WIDE: Final = 190
HIGH: Final = 100
ACROSS: Final = 8  # states of one row; a longer one is broken


class Point(NamedTuple):
    """The middle of a state, in pixels."""

    x: int
    y: int


def layout(
    first: Hashable, arcs: Iterable[tuple[Hashable, Hashable]], names: Iterable[Hashable]
) -> dict[Hashable, Point]:
    """Return a place for each state; no two are at the same.

    >>> layout("a", [("a", "b"), ("a", "c")], "abc")
    {'a': Spot(x=190, y=50), 'b': Spot(x=95, y=150), 'c': Spot(x=285, y=150)}
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
    place = {name: (at + 0.5) / len(row) for row in rows for at, name in enumerate(row)}
    for row in rows:
        middle = {name: sum(place[other] for other in near[name]) / (len(near[name]) or 1) for name in row}
        row.sort(key=lambda name: middle[name])
        place.update({name: (at + 0.5) / len(row) for at, name in enumerate(row)})
