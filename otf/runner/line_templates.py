"""Line templates: trace lines of values that repeat, of which only the number and the time are new.

The codec cache: systems exchange the same few messages over and over, and codecs are pure functions.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from otf.codec import Codec, PortAction
from otf.trace.events import Event, Quiet, Seen, Sent

KEPT: Final = 16_384  # values and frames; the next one clears the cache. Of 10,000 inputs, 4,096 were hardly met again
SHORT: Final = 512  # bytes: longer frames hardly ever repeat, and would take much memory


class CodecCache:
    """A codec that remembers its recent results, but not its exceptions."""

    def __init__(self, codec: Codec) -> None:
        self.codec: Codec = codec
        # by the identity of values, which are kept alive here: a model's inputs are the same objects again and again
        self._encoded: dict[int, tuple[object, bytes | PortAction]] = {}
        self._decoded: dict[tuple[str, bytes], object] = {}

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or its port action. Raises any exception of the codec."""
        known = self._encoded.get(id(value))
        if known is None:
            known = value, self.codec.encode(value)
            if len(self._encoded) >= KEPT:
                self._encoded.clear()
            self._encoded[id(value)] = known
        return known[1]

    def decode(self, port: str, data: bytes) -> object:
        """Return the output of a frame. Raises any exception of the codec."""
        frame = port, data
        if frame in self._decoded:
            return self._decoded[frame]
        output = self.codec.decode(port, data)
        if output is None and type(None) not in self.codec.types:
            raise TypeError("decode returned None, which is no value of its `types`: perhaps a branch has no `return`")
        if len(data) <= SHORT:
            if len(self._decoded) >= KEPT:
                self._decoded.clear()
            self._decoded[frame] = output
        return output


SECOND: Final = 1_000_000  # microseconds


class Moments:
    """Turns seconds since a moment into timestamps; the text that all events of one second share is made once.

    >>> moments = Moments()
    >>> moments(datetime.fromisoformat("2026-11-20T06:41:56.900000+00:00"), 0.25)
    '2026-11-20T06:41:57.150000+00:00'
    """

    def __init__(self) -> None:
        self.began: datetime | None = None
        self.start: int = 0
        self.prefix: bytes = b""
        self.zone: bytes = b""

    def __call__(self, began: datetime, seconds: float) -> str:
        """Return the timestamp of the moment `seconds` after `began`."""
        micros = self.micros(began, round(seconds * SECOND))
        return f"{self.prefix.decode()}{micros:06}{self.zone.decode()}"

    def micros(self, began: datetime, after: int) -> int:
        """Return the number between `prefix` and `zone` in the timestamp `after` microseconds after `began`."""
        micros = after - self.start
        if not 0 <= micros < SECOND or began is not self.began:
            second, micros = divmod(began.microsecond + after, SECOND)
            whole = (began.replace(microsecond=0) + timedelta(seconds=second)).isoformat()
            self.prefix, self.zone = f"{whole[:19]}.".encode(), whole[19:].encode()
            self.began, self.start = began, second * SECOND - began.microsecond
        return micros


_SENT: Final = b'{"event":"sent","level":"info","timestamp":"'
_SEEN: Final = b'{"event":"seen","level":"info","timestamp":"'
_QUIET: Final = b'{"event":"quiet","level":"info","timestamp":"'
_RESTLESS: Final = b',"restless":true'
_PORT: Final = b',"port":'
"""The text after the time in such a line."""


class LineTemplates:
    """The templates of one trace, by the identity of the bytes on the wire, which are kept alive here.

    A frame that repeats comes from the codec cache as the same object each time, and so does its value.
    """

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._known: dict[int, tuple[bytes, object, str, bytes]] = {}

    def line(self, number: int, event: Event, began: datetime, raw: bytes | None) -> bytes | None:
        """Return the line of an event with its line break; None if there is no template for it."""
        if raw is None and isinstance(event, Quiet):
            return self._quiet(number, event, began)
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
        if value is not its or same is not raw or port != event.port:
            return None
        moments = self._moments
        micros = round(event.at * SECOND)
        second = micros - moments.start
        if not 0 <= second < SECOND or began is not moments.began:
            second = moments.micros(began, micros)
        return b'%b%b%06d%b","n":%d,"at":%.6f%b' % (
            head, moments.prefix, second, moments.zone, number, micros / SECOND, rest
        )  # fmt: skip

    def _quiet(self, number: int, event: Quiet, began: datetime) -> bytes:
        moments = self._moments
        micros = round(event.at * SECOND)
        rest = _RESTLESS if event.restless else b""
        by = b',"by":"%b"' % event.by.encode() if event.by else b""
        second = moments.micros(began, micros)
        return b'%b%b%06d%b","n":%d,"at":%b%b%b}\n' % (
            _QUIET, moments.prefix, second, moments.zone, number, b"%.6f" % (micros / SECOND), rest, by
        )  # fmt: skip

    def learn(self, event: Event, raw: bytes, line: bytes) -> None:
        """Make a template of the line of an event, unless it is long: long frames hardly ever repeat."""
        if isinstance(event, (Sent, Seen)) and len(raw) <= SHORT:
            if len(self._known) >= KEPT:
                self._known.clear()
            value = event.input if isinstance(event, Sent) else event.output
            self._known[id(raw)] = raw, value, event.port, line[line.index(_PORT) :]
