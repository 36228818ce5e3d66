"""Records a path: its events go to the trace, to memory and to a callback, and can be read from the trace again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from otf.adapter import Bench
from otf.adapter.log import is_heard, note
from otf.errors import TraceError
from otf.runner import TraceWriter
from otf.trace.events import Event, Seen, Sent
from otf.trace.reading import TraceReader, bounded
from otf.trace.record import Header, event_line
from otf.trace.tagged import Registry, encode
from otf.values import message_of

OnEvent: TypeAlias = Callable[[Event], None]

SENT: Final = b'{"event":"sent"'  # the beginning of an input's line

KEPT: Final = 100_000
"""Events to keep in memory: a path may go on all night, and its trace has them all."""

HEAVY: Final = 1 << 27
"""Bytes of the trace whose events stay in memory."""


class Recorder:
    """Records the events of one path; `faults` lists those that the tester itself injected.

    While `whole`, `events` has all events. A longer path drops its first events, and reads them from its trace when
    needed. That takes `types`, which decode the values of a trace: without them, or if they do not restore the values,
    it keeps all events.
    """

    def __init__(
        self,
        writer: TraceWriter,
        on_event: OnEvent | None = None,
        types: Iterable[type] | None = None,
    ) -> None:
        self.events: list[Event] = []
        self.faults: list[str] = []
        self.begun: bool = False
        self.whole: bool = True
        self._writer = writer
        self._on_event = on_event
        self._types = types
        self._heard = is_heard()
        self._next = HEAVY  # bytes of the trace

    def __call__(self, event: Event, raw: bytes | None = None, /, **more: Any) -> None:  # noqa: ANN401 -- JSON data
        """Record an event."""
        if more and more.get("aftermath"):
            self._writer.event(event, raw, **more)
            return
        if not self.begun:
            # seconds count from the start of the system, perhaps long after the header was written
            self.begun = True
            self._writer.began = datetime.now(UTC) - timedelta(seconds=event.at)
        # first: an event counts as seen even if the disk has no room for it
        self.events.append(event)
        if more:
            self._writer.event(event, raw, **more)
            self.faults += more.get("faults", ())
        else:
            # passing on an empty `**more` costs as much as writing a line
            self._writer.event(event, raw)
        if len(self.events) > KEPT and self._types is not None:
            self._forget()
        if self._heard:
            self._log(event)
        if self._on_event is not None:
            self._on_event(event)
        if self._writer.size > self._next:
            self._next = self._writer.size + HEAVY
            if self._types is not None:
                self._forget()

    def _log(self, event: Event) -> None:
        line = event_line(len(self.events), event, "")
        fields = {name: what for name, what in line.items() if name not in {"event", "level", "timestamp"}}
        note(line["event"], "debug", **fields)

    def _forget(self) -> None:
        if _restores_all(_kinds(self.events).values(), Registry(self._types or ())):
            self.events.clear()
            self.whole = False
        else:
            self._types = None


def _restores_all(values: Iterable[object], types: Registry) -> bool:
    try:
        return all(types.decode(encode(value)) == value for value in values)
    except (TypeError, ValueError):
        return False


def _kinds(events: list[Event]) -> dict[type, object]:
    with_values = (event for event in events if isinstance(event, (Sent, Seen)))
    values = (event.input if isinstance(event, Sent) else event.output for event in with_values)
    return {type(message_of(value)): value for value in values}


@lru_cache(maxsize=1)  # once for each failing path, the hints of 2,000 types more than doubled the time of a campaign
def _registry(types: tuple[type, ...], made_at: str) -> Registry:
    return Registry(types, made_at)


def reread(trace: Path, bench: Bench) -> list[Event]:
    """Return all events of a trace of this bench; none if the trace lacks some.

    Raises TraceError if it cannot be read.
    """
    with _reading(trace) as reader:
        events = [read.event for read in reader.events(_registry(bench.known_types, bench.made_at))]
        return [] if reader.dropped else events


def header_of(trace: Path) -> Header:
    """Return the header of a trace. Raises TraceError if it cannot be read."""
    with _reading(trace) as reader:
        return reader.header


@contextmanager
def _reading(trace: Path) -> Generator[TraceReader]:
    try:
        with trace.open("rb") as file:
            yield TraceReader(bounded(file), str(trace))
    except OSError as error:
        message = f"{trace}: it cannot be read ({error.strerror or error})"
        raise TraceError(message) from error


def inputs_in(trace: Path) -> int:
    """Return the number of inputs in an unfinished path's trace; 0 if there is no trace."""
    with suppress(OSError), trace.open("rb") as file:
        return sum(line.startswith(SENT) for line in bounded(file))
    return 0
