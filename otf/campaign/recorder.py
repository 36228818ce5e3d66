"""What happens in a path, as it happens: into the trace, into memory, and told to whoever listens."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from otf.runner import TraceWriter
from otf.trace.events import Event

OnEvent: TypeAlias = Callable[[Event], None]


class Recorder:
    """Takes the events of one path; `events` are all of them, `faults` those that the tester itself injected."""

    def __init__(self, writer: TraceWriter, on_event: OnEvent | None = None) -> None:
        self.events: list[Event] = []
        self.faults: list[str] = []
        self._writer = writer
        self._on_event = on_event

    def __call__(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Take an event."""
        if not self.events:
            # seconds count from the moment at which the system was there, and that may be long after the header
            self._writer.began = datetime.now(UTC) - timedelta(seconds=event.at)
        if more:
            self._writer.event(event, raw, **more)
            self.faults += more.get("faults", ())
        else:
            # handing on no names costs as much as writing a line
            self._writer.event(event, raw)
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)
