"""What a class makes of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from otf.values.tiers import Tiers


class RecordTiers(Tiers):
    """What a class makes of rows of arguments: larger by one than its arguments together, so that it may hold itself.

    Without arguments it is one value, which costs nothing. A class that raises ValueError has no such value.
    """

    builds = True

    def __init__(self, kind: type | None, *, frozen: bool) -> None:
        super().__init__()
        self.kinds: frozenset[type] | None = None if kind is None else frozenset({kind})
        self.fixed = frozen
        self._build: Callable[..., Any] = tuple
        self._cost = 0

    def hold(self, rows: Tiers, build: Callable[..., Any], cost: int) -> None:
        """Say what it is made of, once that is known: its arguments may be made of this record."""
        self.parts: tuple[Tiers, ...] = (rows,)
        self._build, self._cost = build, cost

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size."""
        if size < self._cost:
            return ()
        rows = self.parts[0].make(size - self._cost)
        return None if rows is None else self._built(rows)

    def _built(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        for row in rows:
            try:
                value = self._build(*row)
            except ValueError:
                continue
            yield value


class RecursiveTiers(Tiers):
    """A record inside itself: what it has made already, so that no value is made from the beginning again."""

    def __init__(self, record: RecordTiers) -> None:
        super().__init__()
        self.parts: tuple[Tiers, ...] = (record,)
        self.kinds: frozenset[type] | None = record.kinds

    def make(self, size: int) -> Iterable[Any] | None:
        """Return the values of this size that were made before."""
        tiers = self.parts[0].upto(size)
        return tiers[size] if size < len(tiers) else None
