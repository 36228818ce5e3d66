"""Who is told of each event of a run."""

from __future__ import annotations

from typing import Any, Protocol

from otf.trace.events import Event


class EventRecord(Protocol):
    """Takes each event of a run as it happens, with its bytes on the wire: a trace file, a list, a progress display."""

    def __call__(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Take one event."""
        ...
