"""The events of a trace that was written before."""

from __future__ import annotations

from pathlib import Path

from otf.adapter import Bench
from otf.errors import TraceError
from otf.trace.events import Event
from otf.trace.reading import TraceReader, bounded
from otf.trace.tagged import Registry


def reread(trace: Path, bench: Bench) -> list[Event]:
    """Return all events of a trace of this bench. Raises TraceError for one that cannot be read."""
    try:
        with trace.open("rb") as file:
            reader = TraceReader(bounded(file), str(trace))
            return [told.event for told in reader.events(Registry(bench.known_types))]
    except OSError as error:
        message = f"{trace}: it cannot be read ({error.strerror or error})"
        raise TraceError(message) from error
