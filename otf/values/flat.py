"""A row of values, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from otf.values.tiers import Tier, Tiers


class Flat(Tiers):
    """A row of values, each as large as its place in the row."""

    def __init__(
        self,
        values: Iterable[Any],
        kinds: frozenset[type] | None = None,
        *,
        finite: bool = False,
        fixed: bool = True,
        complete: bool = True,
    ) -> None:
        super().__init__()
        self.kinds = kinds
        self._values = iter(values)
        self._row: Tier = []
        self.endless: bool = not finite
        self.fixed: bool = fixed
        self.complete: bool = complete

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the value at one place of the row."""
        # a tier may be asked for more than once: the row is read once and kept
        while size >= len(self._row):
            if not self._read_on():
                return None
        return self._row[size : size + 1]

    def walk(self) -> Iterator[Any]:
        """Yield the row; with a tier for each value it would take three times as long."""
        row, place = self._row, 0
        while place < len(row) or self._read_on():
            yield row[place]
            place += 1

    def _read_on(self) -> bool:
        for value in self._values:
            self._row.append(value)
            return True
        return False

    def has_value(self, known: Callable[[Tiers], bool]) -> bool:  # noqa: ARG002 -- a row has no parts
        """Tell whether the row has a first value."""
        return self.make(0) is not None
