"""Long traces: keeps the head and the tail, and drops what is between them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class EventCount(NamedTuple):
    """A number of events, and of the inputs among them."""

    events: int
    inputs: int

    def since(self, other: EventCount) -> EventCount:
        """Return how many events and inputs came since another count."""
        return EventCount(self.events - other.events, self.inputs - other.inputs)


class TraceTail:
    """The tail of a long trace: pieces in two files beside it; each new piece replaces the older one.

    The files stay if a path is killed. `head` and `piece` are sizes in bytes: two pieces are as large as the head.

    >>> tail = TraceTail(Path("path-0001.jsonl"), 1000)
    >>> [tail.next(EventCount(events, events // 2)).name for events in (10, 14, 18)]
    ['path-0001.jsonl.1', 'path-0001.jsonl.2', 'path-0001.jsonl.1']
    >>> [file.name for file in tail.kept], tail.dropped
    (['path-0001.jsonl.2', 'path-0001.jsonl.1'], EventCount(events=4, inputs=2))
    """

    def __init__(self, trace: Path, largest: int) -> None:
        self.head: int = largest // 2
        self.piece: int = largest // 4
        self._files = [trace.with_name(f"{trace.name}.{number}") for number in (1, 2)]
        self._begun: list[EventCount] = []

    def next(self, count: EventCount) -> Path:
        """Return the file for the next piece, given how much has been written so far."""
        # the first and the last two counts are enough to tell what is kept
        self._begun = [*self._begun[:1], *self._begun[1:][-1:], count]
        self._files.reverse()
        return self._files[-1]

    @property
    def kept(self) -> list[Path]:
        """Return the files of the last two pieces, the older first; fewer if there are fewer."""
        return self._files[2 - min(2, len(self._begun)) :]

    @property
    def dropped(self) -> EventCount:
        """Return how much was written after the head but not kept."""
        older = self._begun[-2:][0] if self._begun else EventCount(0, 0)
        return older.since(self._begun[0]) if self._begun else older

    def clear(self) -> None:
        """Remove the files, and begin again."""
        self._begun.clear()
        for file in self._files:
            file.unlink(missing_ok=True)
