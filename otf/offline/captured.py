"""From the packets of a capture to events: the addresses of a bench's ports tell what went which way on which port."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, urlsplit

from otf.adapter import Bench, Port
from otf.adapter.socket.address import read_address
from otf.errors import CodecError, TraceError, UsageError
from otf.framing import Framer, Framing, lines
from otf.offline.logs import Noted
from otf.trace.events import Closed, Event, Seen, Sent, Undecodable
from otf.trace.pcap import Capture, Endpoint, Packet, Stream
from otf.values import show

_FIN, _SYN, _RST = 1, 2, 4
KNOWN: Final = 100_000  # inputs whose bytes are remembered
FORM: Final = "say where it was: --sut PORT=udp://HOST:PORT?bind=HOST:PORT, or --sut PORT=tcp://HOST:PORT"


@dataclass(frozen=True, slots=True)
class CapturedPort:
    """Where a port is in a capture: the system's address, and ours where that is known."""

    port: str
    kind: str
    system: Endpoint
    ours: Endpoint | None = None


def places(bench: Bench) -> tuple[CapturedPort, ...]:
    """Return where the ports of a bench are that have an address. Raises UsageError where none has."""
    found = [_place(name, port) for name, port in bench.ports.items() if isinstance(port, Port) and port.url]
    if not found:
        message = f"the bench {bench.name} does not tell the addresses of its ports; {FORM}"
        raise UsageError(message)
    return tuple(found)


def _place(name: str, port: Port) -> CapturedPort:
    url = urlsplit(port.url if "://" in port.url else f"{port.kind}://{port.url}")
    if url.scheme not in {"udp", "tcp"}:
        message = f"the port {name} is at {port.url}, and captures have UDP and TCP only; {FORM}"
        raise UsageError(message)
    bind = parse_qs(url.query).get("bind", [""])[0]
    return CapturedPort(name, url.scheme, read_address(url.netloc), read_address(bind) if bind else None)


@dataclass
class InputFinder:
    """Which input some bytes stand for: a codec decodes outputs, so inputs are encoded until one fits.

    A codec may have `decode_input(port, data)` instead, for inputs without end.
    """

    bench: Bench
    _known: dict[tuple[str, bytes], object] = field(default_factory=dict[tuple[str, bytes], object])

    def of(self, port: str, data: bytes) -> object:
        """Return the input, `Undecodable` for none that is known."""
        decode = getattr(self.bench.codec, "decode_input", None)
        if decode is not None:
            return _decoded(decode, port, data)
        if not self._known:
            self._learn(self.bench.spec.initial)
        return self._known.get((port, data), Undecodable(data, "no input of the model has these bytes"))

    def _learn(self, state: object) -> None:
        codec = self.bench.codec
        assert codec is not None  # noqa: S101 -- asked before
        for number, inp in enumerate(self.bench.spec.inputs(state)):
            if number > KNOWN:
                return
            data = codec.encode(inp)
            if isinstance(data, bytes):
                self._known[self.bench.port(inp), data] = inp


def _decoded(decode: object, port: str, data: bytes) -> object:
    try:
        return decode(port, data) if callable(decode) else None
    except CodecError as error:
        return Undecodable(data, str(error))
    except Exception as error:  # noqa: BLE001 -- bytes that a codec stumbles over do not decode
        return Undecodable(data, f"{type(error).__name__}: {error}")


class _Connection:
    """One TCP connection: a stream and a framer for each direction."""

    def __init__(self, place: CapturedPort, framer: tuple[Framer, Framer]) -> None:
        self.place = place
        self.streams = Stream(), Stream()
        self.framers = framer
        self.closed = False


class Captured:
    """The events of a capture of a bench; iterate over it. `strange` counts packets of other addresses."""

    def __init__(self, capture: Capture, bench: Bench) -> None:
        if bench.codec is None:
            raise UsageError("the bench has no codec: its system is in this process, and nothing of it is in a capture")
        self.strange: int = 0
        self._capture = capture
        self._bench = bench
        self._codec = bench.codec
        self._places = places(bench)
        self._inputs = InputFinder(bench)
        self._datagrams: dict[tuple[Endpoint, Endpoint], tuple[str, bool] | None] = {}
        self._connections: dict[tuple[Endpoint, Endpoint], _Connection] = {}

    def __iter__(self) -> Iterator[Noted]:
        """Yield the events with the numbers of their packets. Raises TraceError for an input that is not known."""
        for packet in self._capture:
            events = self._datagram(packet) if packet.kind == "udp" else self._segment(packet)
            for event in events:
                yield Noted(event, packet.number)

    def _event(self, port: str, data: bytes, packet: Packet, *, sent: bool) -> Event:
        if not sent:
            return Seen(_decoded(self._codec.decode, port, data), port, packet.at)
        value = self._inputs.of(port, data)
        if isinstance(value, Undecodable):
            message = f"{self._capture.name}, packet {packet.number}: {value.why}: {show(data)} on {port}; "
            raise TraceError(message + "offer it in the model, or give the codec `decode_input(port, data)`")
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
            yield self._event(way[0], packet.data, packet, sent=way[1])

    def _way(self, packet: Packet) -> tuple[str, bool] | None:
        """Return the port of a packet, and whether it went to the system."""
        for place in self._places:
            for system, other, sent in ((packet.target, packet.source, True), (packet.source, packet.target, False)):
                if place.kind == packet.kind and system == place.system and place.ours in {None, other}:
                    return place.port, sent
        return None

    def _segment(self, packet: Packet) -> Iterator[Event]:
        connection, sent = self._connection(packet)
        if connection is None:
            self.strange += 1
            return
        stream = connection.streams[sent]
        if packet.flags & _SYN:
            stream.begin(packet.seq)
        port = connection.place.port
        for frame in connection.framers[sent].feed(stream.feed(packet.seq, packet.data)):
            yield self._event(port, frame.data, packet, sent=sent)
        if packet.flags & (_FIN | _RST) and not connection.closed:
            connection.closed = True
            if not sent:  # what the tester ended is no output of the system
                yield Closed(port, "end of stream" if packet.flags & _FIN else "connection reset", packet.at)

    def _connection(self, packet: Packet) -> tuple[_Connection | None, bool]:
        for ends, sent in (((packet.target, packet.source), True), ((packet.source, packet.target), False)):
            known = self._connections.get(ends)
            if known is not None and not (packet.flags & _SYN and known.closed):
                return known, sent
            place = self._free(*ends)
            if place is not None:
                # a port that is connected anew replaces the connection that it had
                self._connections = {end: old for end, old in self._connections.items() if old.place != place}
                framing = self._framing(place.port)
                self._connections[ends] = _Connection(place, (framing(), framing()))
                return self._connections[ends], sent
        return None, False

    def _free(self, system: Endpoint, other: Endpoint) -> CapturedPort | None:
        """Return the place of a new connection: of several at one address the first that has none."""
        at = [each for each in self._places if each.kind == "tcp" and each.system == system]
        fit = [each for each in at if each.ours in {None, other}]
        used = {each.place for each in self._connections.values() if not each.closed}
        return next((each for each in fit if each not in used), None)

    def _framing(self, port: str) -> Framing:
        opener = self._bench.ports[port]
        return (opener.framing if isinstance(opener, Port) else None) or lines()
