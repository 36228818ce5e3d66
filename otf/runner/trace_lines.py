"""The lines of a trace as text: the same messages come over and over, and only number and time of a line are new."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from otf.trace.events import Event, Quiet, Seen, Sent, Undecodable
from otf.trace.record import TraceLine, event_line
from otf.trace.tagged import encode
from otf.values import as_text

KEPT: Final = 16_384  # endings of lines; the next one clears them
SHORT: Final = 4_096  # bytes: a longer ending hardly ever repeats, and would take much memory
SECOND: Final = 1_000_000  # microseconds

_to_json: Final[Callable[[Any], bytes]] = msgspec.json.Encoder(enc_hook=as_text).encode
_HEADS: Final[dict[type[Event], bytes]] = {
    kind: b'{"event":"%b","level":"info","timestamp":"' % kind.__name__.lower().encode() for kind in (Sent, Seen, Quiet)
}


class TraceLines:
    """Makes the lines of one trace.

    The moment of a line is `began` plus the time of the event; the text that all moments of one second share is made
    once.

    >>> lines = TraceLines()
    >>> began = datetime.fromisoformat("2026-11-20T06:41:56.900000+00:00")
    >>> lines.event(3, Seen("tea", "line", 0.25), began, b"t")[:75]
    b'{"event":"seen","level":"info","timestamp":"2026-11-20T06:41:57.150000+00:0'
    """

    def __init__(self) -> None:
        # by the identity of values, which are kept alive here: most repeat as the same objects
        self._ends: dict[tuple[int, str, bytes], tuple[object, bytes]] = {}
        self._began: datetime | None = None
        self._start: int = 0
        self._second: bytes = b""
        self._zone: bytes = b""

    def event(self, number: int, event: Event, began: datetime, raw: bytes | None, **more: Any) -> bytes:  # noqa: ANN401 -- JSON data
        """Return the line of an event with its line break; `raw` are the bytes on the wire.

        Raises TypeError for a value that has no text.
        """
        micros = round(event.at * SECOND)
        after = micros - self._start
        if not 0 <= after < SECOND or began is not self._began:
            after = self._turn(began, micros)
        end = None if more else self._end(event, raw)
        if end is None:
            moment = f"{self._second.decode()}{after:06}{self._zone.decode()}"
            return self.line(event_line(number, event, moment, raw, **more))
        return b'%b%b%06d%b","n":%d,"at":%.6f%b' % (
            _HEADS[event.__class__], self._second, after, self._zone, number, micros / SECOND, end
        )  # fmt: skip

    def line(self, line: TraceLine) -> bytes:
        """Return a line with its line break."""
        try:
            return b"%b\n" % _to_json(line)
        except UnicodeEncodeError:
            # half a surrogate pair, from a file name or the text of an error: JSON in UTF-8 cannot hold it
            text = json.dumps(line, ensure_ascii=False, default=as_text, separators=(",", ":"))
            return text.encode(errors="replace") + b"\n"

    def _end(self, event: Event, raw: bytes | None) -> bytes | None:
        """Return the text after the time; None for a line that hardly ever repeats."""
        if isinstance(event, Sent):
            value = event.input
        elif isinstance(event, Seen):
            value = event.output
        else:
            return _quiet(event) if raw is None and isinstance(event, Quiet) else None
        if raw is None or value.__class__ is Undecodable:
            return None
        name = id(value), event.port, raw
        known = self._ends.get(name)
        return self._made(name, value) if known is None else known[1]

    def _made(self, name: tuple[int, str, bytes], value: object) -> bytes | None:
        try:
            end = b',"port":%b,"value":%b,"raw":"%b"}\n' % (
                _to_json(name[1]), _to_json(encode(value)), name[2].hex().encode()
            )  # fmt: skip
        except UnicodeEncodeError:
            return None
        if len(end) <= SHORT:
            if len(self._ends) >= KEPT:
                self._ends.clear()
            self._ends[name] = value, end
        return end

    def _turn(self, began: datetime, micros: int) -> int:
        """Begin another second; return how many microseconds of it have passed."""
        second, after = divmod(began.microsecond + micros, SECOND)
        whole = (began.replace(microsecond=0) + timedelta(seconds=second)).isoformat()
        self._second, self._zone = f"{whole[:19]}.".encode(), whole[19:].encode()
        self._began, self._start = began, second * SECOND - began.microsecond
        return after


def _quiet(event: Quiet) -> bytes:
    by = b',"by":"%b"' % event.by.encode() if event.by else b""
    return b"%b%b}\n" % (b',"restless":true' if event.restless else b"", by)
