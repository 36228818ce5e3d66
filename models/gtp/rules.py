"""The rules of Go: a board, and what a stone does to it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

COLUMNS: Final = "ABCDEFGHJKLMNOPQRSTUVWXYZ"  # there is no I
EMPTY: Final = "."
OTHER: Final = {"b": "w", "w": "b"}


@dataclass(frozen=True, slots=True)
class Position:
    """A board, its points row by row from A1, each ".", "b" or "w".

    `ko` is the point where the player `against` must not retake the stone just lost; -1 for none.
    """

    size: int
    points: str
    ko: int = -1
    against: str = ""

    def played(self, color: str, point: int) -> Position | None:
        """Return the board with one more stone, None if the move is illegal: a suicide, or retaking the ko."""
        if self.points[point] != EMPTY or (point == self.ko and color == self.against):
            return None
        board = _put(self.points, {point}, color)
        taken = {each for near in self._near(point) if board[near] == OTHER[color] for each in self._dead(board, near)}
        board = _put(board, taken, EMPTY)
        if self._dead(board, point):
            return None
        return Position(self.size, board, *self._ko(board, point, taken, color))

    def passed(self) -> Position:
        """Return the board after a pass, which lifts the ko."""
        return Position(self.size, self.points)

    def stones(self, color: str) -> frozenset[str]:
        """Return the vertices with a stone of this colour."""
        return frozenset(self.vertex(point) for point, stone in enumerate(self.points) if stone == color)

    def vertex(self, point: int) -> str:
        """Return the name of a point."""
        return f"{COLUMNS[point % self.size]}{point // self.size + 1}"

    def point(self, vertex: str) -> int | None:
        """Return the point of that name, in upper or lower case; None if the board has none."""
        column, row = COLUMNS.find(vertex[:1].upper()), vertex[1:]
        if not vertex or not row.isdecimal() or not row.isascii():
            return None
        inside = 0 <= column < self.size and 1 <= int(row) <= self.size
        return (int(row) - 1) * self.size + column if inside else None

    def _near(self, point: int) -> list[int]:
        row, column = divmod(point, self.size)
        sides = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return [r * self.size + c for r, c in sides if 0 <= r < self.size and 0 <= c < self.size]

    def _dead(self, board: str, point: int) -> frozenset[int]:
        """Return the stones connected with the one on a point if they have no liberty, otherwise none."""
        chain, border = {point}, [point]
        while border:
            near = self._near(border.pop())
            if any(board[each] == EMPTY for each in near):
                return frozenset()
            fresh = {each for each in near if board[each] == board[point]} - chain
            chain |= fresh
            border.extend(fresh)
        return frozenset(chain)

    def _ko(self, board: str, point: int, taken: set[int], color: str) -> tuple[int, str]:
        near = self._near(point)
        free = [each for each in near if board[each] == EMPTY]
        alone = len(taken) == 1 and free == list(taken) and all(board[each] != color for each in near)
        return (free[0], OTHER[color]) if alone else (-1, "")


def empty(size: int) -> Position:
    """Return the empty board of a size.

    >>> empty(2).played("b", 0).points
    'b...'
    """
    return Position(size, EMPTY * size * size)


def _put(board: str, points: set[int], stone: str) -> str:
    edges = [-1, *sorted(points), len(board)]
    return stone.join(board[before + 1 : after] for before, after in pairwise(edges))
