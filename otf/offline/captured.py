"""Turns the packets of a capture, or the lines of a JSON Lines log, into events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import msgspec

from otf.adapter import Bench, Port
from otf.adapter.socket.connection import read_address
from otf.errors import OtfError, TraceError, UsageError
from otf.framing import Frame, Framer, Framing, lines
from otf.framing.lines import outgoing
from otf.offline.entries import KNOWN, UNTIMED, Entries, InputFinder, LogEntry, Way, decoded
from otf.offline.logs import Noted
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Stalled, Taken, Undecodable
from otf.trace.pcap import Capture, Endpoint, Packet, Stream
from otf.trace.reading import BAD_JSON, LONGEST
from otf.values import as_text, show

_FIN, _SYN, _RST = 1, 2, 4
FORM: Final = "say where it was: --sut PORT=udp://HOST:PORT?bind=HOST:PORT, or --sut PORT=tcp://HOST:PORT"


@dataclass(frozen=True, slots=True)
class CapturedPort:
    """The addresses of a port in a capture: the system's, and ours if known."""

    port: str
    kind: str
    system: Endpoint
    ours: Endpoint | None = None


def captured_ports(bench: Bench) -> tuple[CapturedPort, ...]:
    """Return the ports of a bench that have an address. Raises UsageError if none has."""
    found = [_captured_port(name, port) for name, port in bench.ports.items() if isinstance(port, Port) and port.url]
    if not found:
        message = f"the bench {bench.name} does not state the addresses of its ports; {FORM}"
        raise UsageError(message)
    return tuple(found)


def _captured_port(name: str, port: Port) -> CapturedPort:
    url = urlsplit(port.url if "://" in port.url else f"{port.kind}://{port.url}")
    if url.scheme not in {"udp", "tcp"}:
        message = f"the port {name} is at {port.url}, and captures have UDP and TCP only; {FORM}"
        raise UsageError(message)
    bind = parse_qs(url.query).get("bind", [""])[0]
    return CapturedPort(name, url.scheme, read_address(url.netloc), read_address(bind) if bind else None)


class _Connection:
    """One TCP connection: a stream and a framer for each direction."""

    def __init__(self, captured: CapturedPort, framer: tuple[Framer, Framer]) -> None:
        self.captured = captured
        self.streams = Stream(), Stream()
        self.framers = framer
        self.closed = False


class Captured:
    """The events of a bench in a capture; iterate over it. `strange` counts packets of other addresses.

    `cut`: the capture ends inside a frame that only silence would have ended.
    """

    def __init__(self, capture: Capture, bench: Bench, port: str = "") -> None:
        if bench.codec is None:
            raise UsageError("the bench has no codec: its system is in this process, and a capture cannot contain it")
        self.strange: int = 0
        self.cut: bool = False
        self._begun: dict[tuple[_Connection, bool], Packet] = {}
        self._capture = capture
        self._bench = bench
        self._codec = bench.codec
        self._port = port
        self._inputs = InputFinder(bench)
        self._datagrams: dict[tuple[Endpoint, Endpoint], tuple[str, bool] | None] = {}
        self._connections: dict[tuple[Endpoint, Endpoint], _Connection] = {}

    def __iter__(self) -> Iterator[Noted]:
        """Yield the events with their packet numbers. Raises TraceError if sent bytes are not a known input."""
        for packet in self._capture:
            if packet.kind == "can":
                # frames from other nodes may be the tester's
                way: Way = "sent" if packet.sent else "unknown"
                yield from self.bus.events(LogEntry(packet.at, packet.data, way, packet.number, is_frame=True))
                continue
            yield from self._ended(packet.at)
            events = self._datagram(packet) if packet.kind == "udp" else self._segment(packet)
            for event in events:
                yield Noted(event, packet.number)
        yield from self._last()

    def _last(self) -> Iterator[Noted]:
        """Yield the events of the last frames, without one that the end of the capture cuts."""
        with suppress(TraceError):
            for noted in self._ended(UNTIMED):
                if isinstance(noted.event, Seen) and isinstance(noted.event.output, Undecodable):
                    break
                yield noted
            else:
                return
        self.cut = True

    def _ended(self, at: float, only: _Connection | None = None) -> Iterator[Noted]:
        """Yield, in order, the events of frames that silence ended before this time."""
        for (connection, sent), last in sorted(self._begun.items(), key=lambda item: item[1].at):
            framer = connection.framers[sent]
            if at - last.at > framer.gap and only in {None, connection}:
                del self._begun[connection, sent]
                for frame in framer.rest():
                    yield Noted(self._event(connection.captured.port, frame, last, sent=sent), last.number)

    @property
    def has_bus(self) -> bool:
        """Return whether the capture had bus frames."""
        return "bus" in vars(self)

    @cached_property
    def bus(self) -> Entries:
        """Return the judge of frames without addresses."""
        return Entries((), self._bench, self._capture.name, self._port)

    @cached_property
    def _ports(self) -> tuple[CapturedPort, ...]:
        return captured_ports(self._bench)

    def _event(self, port: str, frame: Frame, packet: Packet, *, sent: bool) -> Event:
        data = frame.data
        if not sent:
            # cut at the right place, a wrong answer would look like a right one
            output = Undecodable(data, frame.trouble) if frame.trouble else decoded(self._codec.decode, port, data)
            return Seen(output, port, packet.at)
        value = self._inputs.of(port, data)
        if isinstance(value, Undecodable):
            message = f"{self._capture.name}, packet {packet.number}: {value.why}: {show(data)} on {port}; "
            raise TraceError(message + "add it to the model, or to the codec, in `decode_input(port, data)`")
        return Sent(value, port, packet.at)

    def _datagram(self, packet: Packet) -> Iterator[Event]:
        ends = packet.source, packet.target
        if ends not in self._datagrams:
            if len(self._datagrams) > KNOWN:
                self._datagrams.clear()
            self._datagrams[ends] = self._way(packet)
        way = self._datagrams[ends]
        if way is None:
            self.strange += 1
        else:
            yield self._event(way[0], Frame(packet.data), packet, sent=way[1])

    def _way(self, packet: Packet) -> tuple[str, bool] | None:
        """Return the port of a packet, and whether it went to the system."""
        for captured in self._ports:
            for system, other, sent in ((packet.target, packet.source, True), (packet.source, packet.target, False)):
                if captured.kind == packet.kind and system == captured.system and captured.ours in {None, other}:
                    return captured.port, sent
        return None

    def _segment(self, packet: Packet) -> Iterator[Event]:
        connection, sent = self._connection(packet)
        if connection is None:
            self.strange += 1
            return
        stream = connection.streams[sent]
        if packet.flags & _SYN:
            stream.begin(packet.seq)
        port = connection.captured.port
        framer, is_over = connection.framers[sent], bool(packet.flags & (_FIN | _RST))
        frames = framer.feed(stream.feed(packet.seq, packet.data))
        if is_over and not sent and not framer.gap:
            frames += framer.rest()  # the end of the stream ends its last line, too
        for frame in frames:
            yield self._event(port, frame, packet, sent=sent)
        if framer.gap and packet.data:
            self._begun[connection, sent] = packet
        if is_over:
            # both directions together: an answer must not come before its input
            yield from (noted.event for noted in self._ended(UNTIMED, connection))
        if is_over and not connection.closed:
            connection.closed = True
            if not sent:  # if the tester closed the connection, that is no output of the system
                yield Closed(port, "end of stream" if packet.flags & _FIN else "connection reset", packet.at)

    def _connection(self, packet: Packet) -> tuple[_Connection | None, bool]:
        for ends, sent in (((packet.target, packet.source), True), ((packet.source, packet.target), False)):
            known = self._connections.get(ends)
            if known is not None and not (packet.flags & _SYN and known.closed):
                return known, sent
            captured = self._free(*ends)
            if captured is not None:
                # a new connection of a port replaces its old one
                self._connections = {end: old for end, old in self._connections.items() if old.captured != captured}
                framing = self._framing(captured.port)
                self._connections[ends] = _Connection(captured, (framing(), outgoing(framing)))
                return self._connections[ends], sent
        return None, False

    def _free(self, system: Endpoint, other: Endpoint) -> CapturedPort | None:
        """Return the port of a new connection: among several at one address, the first without a connection."""
        at = [each for each in self._ports if each.kind == "tcp" and each.system == system]
        fit = [each for each in at if each.ours in {None, other}]
        used = {each.captured for each in self._connections.values() if not each.closed}
        return next((each for each in fit if each not in used), None)

    def _framing(self, port: str) -> Framing:
        opener = self._bench.ports[port]
        return (opener.framing if isinstance(opener, Port) else None) or lines()


def listed(source: Iterable[bytes], name: str, bench: Bench) -> Iterator[Noted]:
    """Yield the events that the bench's `foreign` makes from the lines of a log, with line numbers.

    Raises TraceError, with the line number, if a line is not a JSON object or `foreign` fails; UsageError if the bench
    has no `foreign`.
    """
    if bench.foreign is None:
        message = (
            f"{name}: this is not a trace of otf, and the bench {bench.name} does not map the lines of other logs: "
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
    except BAD_JSON as error:
        message = f"{where}: this is not JSON: {error}"
        raise TraceError(message) from error
    try:
        event: Any = bench.foreign(data) if bench.foreign is not None else None
    except OtfError:
        raise
    except Exception as error:
        message = f"{where}: the bench's foreign raised {type(error).__name__}: {as_text(error)}"
        raise TraceError(message) from error
    if event is not None and not isinstance(event, (Sent, Seen, Quiet, Taken, Closed, Stalled)):
        message = (
            f"{where}: the bench's foreign returned {show(event)}, which is not an event: Sent, Seen, Closed or Quiet"
        )
        raise TraceError(message)
    return event
