"""Trace lines of values that pass again and again: all of such a line but its number and its time is known."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from otf.runner.codec_cache import KEPT, SHORT
from otf.runner.moments import SECOND, Moments
from otf.trace.events import Event, Seen, Sent

_SENT: Final = b'{"event":"sent","level":"info","timestamp":"'
_SEEN: Final = b'{"event":"seen","level":"info","timestamp":"'
_PORT: Final = b',"port":'
"""What follows the time in such a line."""


class LineTemplates:
    """What is known of lines, by the identity of the bytes on the wire, which are kept with it.

    A frame that is one of a few comes to the trace as the same object each time, and so does its value.
    """

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._known: dict[int, tuple[bytes, object, str, bytes]] = {}

    def line(self, number: int, event: Event, began: datetime, raw: bytes | None) -> bytes | None:
        """Return the line of an event with its end; None where the like of it was not learnt."""
        known = self._known.get(id(raw))
        if known is None:
            return None
        same, value, port, rest = known
        if isinstance(event, Sent):
            head, its = _SENT, event.input
        elif isinstance(event, Seen):
            head, its = _SEEN, event.output
        else:
            return None
        if same is not raw or value is not its or port != event.port:
            return None
        moments = self._moments
        micros = round(event.at * SECOND)
        second = micros - moments.start
        if not 0 <= second < SECOND or began is not moments.began:
            second = moments.micros(began, micros)
        return b'%b%b%06d%b","n":%d,"at":%d.%06d%b' % (
            head, moments.prefix, second, moments.zone, number, *divmod(micros, SECOND), rest
        )  # fmt: skip

    def learn(self, event: Event, raw: bytes, line: bytes) -> None:
        """Take the line of an event, with its end, of which more may come; long ones hardly ever do."""
        if isinstance(event, (Sent, Seen)) and len(raw) <= SHORT:
            if len(self._known) >= KEPT:
                self._known.clear()
            value = event.input if isinstance(event, Sent) else event.output
            self._known[id(raw)] = raw, value, event.port, line[line.index(_PORT) :]
