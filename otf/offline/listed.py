"""Event logs in JSON Lines that other programs wrote: the bench maps each line to an event, or to none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from otf.adapter import Bench
from otf.errors import OtfError, TraceError, UsageError
from otf.offline.logs import Noted
from otf.trace.events import Closed, Quiet, Seen, Sent, Taken
from otf.trace.reading import LONGEST
from otf.values import show


def listed(source: Iterable[bytes], name: str, bench: Bench) -> Iterator[Noted]:
    """Yield the events that the bench's `foreign` makes from the lines of a log, with their line numbers.

    Raises TraceError, with the line number, if a line is no JSON object or the mapping fails; UsageError if the bench
    has no such mapping.
    """
    if bench.foreign is None:
        message = (
            f"{name}: this is no trace of otf, and the bench {bench.name} does not map the lines of other logs: "
            "give it foreign=, a function from a line (a dictionary) to an event, or to None for no event"
        )
        raise UsageError(message)
    for number, text in enumerate(source, 1):
        if not text.strip():
            continue
        event = _mapped(bench, text, f"{name}, line {number}")
        if event is not None:
            yield Noted(event, number)


def _mapped(bench: Bench, text: bytes, where: str) -> Any:  # noqa: ANN401 -- checked here
    if len(text) > LONGEST:
        message = f"{where}: it is longer than {LONGEST} bytes"
        raise TraceError(message)
    try:
        data: Any = msgspec.json.decode(text)
        event: Any = bench.foreign(data) if bench.foreign is not None else None
    except OtfError:
        raise
    except msgspec.DecodeError as error:
        message = f"{where}: this is no JSON: {error}"
        raise TraceError(message) from error
    except Exception as error:
        message = f"{where}: the bench's foreign raised {type(error).__name__}: {error}"
        raise TraceError(message) from error
    if event is not None and not isinstance(event, (Sent, Seen, Quiet, Taken, Closed)):
        message = f"{where}: the bench's foreign returned {show(event)}, which is no event: Sent, Seen, Closed or Quiet"
        raise TraceError(message)
    return event
