"""HTTP/1.1 responses, with h11, and WebSocket messages, with wsproto: both libraries read bytes and do no I/O."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from otf.errors import CodecError
from otf.framing.frame import LARGEST, TORN, Frame, Framing, too_long
from otf.values.arguments import checked

_OPENING, _TEXT, _BINARY, _CLOSE, _PING, _PONG = b"\x00", b"\x01", b"\x02", b"\x08", b"\x09", b"\x0a"
_NO_CODE: Final = 1005
_SHORT_HEAD, _MASK = 2, 4
_MORE: Final = {126: 2, 127: 8}  # bytes of a longer length after the first
_HEAD_END: Final = b"\r\n\r\n"
_BODILESS: Final = {b"HEAD", b"CONNECT"}


class _Parsed(ABC):
    """A framer whose frames a library finds. After invalid bytes it finds no more until the next connection."""

    gap: float = 0.0

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._raw: bytes = b""
        self._lost = False
        self.restart()

    @property
    def unfinished(self) -> bool:
        """Return whether a frame has begun but not ended."""
        return bool(self._raw)

    @property
    def begun(self) -> bytes:
        """Return the bytes of a frame that has not ended."""
        return self._raw

    @property
    def held(self) -> int:
        """Return how many bytes of an unfinished frame it keeps at most."""
        return self._largest

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the frames that they complete."""
        if self._lost:
            return []
        self._raw += chunk
        frames = list[Frame]()
        try:
            self.find(chunk, frames)
        except Exception as error:  # noqa: BLE001 -- from the library: these bytes are not a message
            frames.append(self._given_up(f"{type(error).__name__}: {error}"))
        if len(self._raw) > self.held:
            frames.append(self._given_up(too_long(self.held)))
        return frames

    def rest(self) -> list[Frame]:
        """Return the unfinished frame and start anew: the next bytes belong to another connection."""
        left, frames = self._raw, list[Frame]()
        if left:
            frames.append(Frame(left, "" if self.ends_here() else TORN))
        self._raw, self._lost = b"", False
        self.restart()
        return frames

    @abstractmethod
    def restart(self) -> None:
        """Start a new connection."""

    @abstractmethod
    def find(self, chunk: bytes, frames: list[Frame]) -> None:
        """Add the frames that end with this chunk, itself the end of `_raw`. Raises what the library raises."""

    @abstractmethod
    def ends_here(self) -> bool:
        """Return whether the end of the stream ends the frame."""

    def bounded(self, data: bytes) -> Frame:
        """Return the frame of these bytes, truncated if it is too long."""
        fits = len(data) <= self._largest
        return Frame(data) if fits else Frame(data[: self._largest], too_long(self._largest))

    def _given_up(self, trouble: str) -> Frame:
        broken, self._raw, self._lost = self._raw[: self.held], b"", True
        return Frame(broken, trouble)


class HttpFramer(_Parsed):
    """Cuts a stream into HTTP/1.1 responses; made by `http`."""

    def restart(self) -> None:
        """Start a new connection, on which no request was sent yet."""
        self._methods = deque[bytes]()
        self._connection: Any = None

    def pack(self, data: bytes) -> bytes:
        """Return the bytes of a request unchanged; its method decides whether the response has a body."""
        self._methods.append(data.partition(b" ")[0])
        return data

    def find(self, chunk: bytes, frames: list[Frame]) -> None:
        """Add the responses that end with this chunk. Raises h11.RemoteProtocolError."""
        import h11

        while chunk:
            if self._connection is None:
                self._connection, chunk = self._asked(), self._raw
            connection: Any = self._connection
            connection.receive_data(chunk)
            while not isinstance(event := connection.next_event(), h11.InformationalResponse | h11.EndOfMessage):
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
            used = len(self._raw) - len(connection.trailing_data[0])
            frames.append(self.bounded(self._raw[:used]))
            self._raw, self._connection = self._raw[used:], None
            chunk = self._raw
            if isinstance(event, h11.EndOfMessage) and self._methods:
                self._methods.popleft()

    def ends_here(self) -> bool:
        """Return whether the response is complete if the connection ends, as one without a length is."""
        import h11

        try:
            self._connection.receive_data(b"")
            return isinstance(self._connection.next_event(), h11.EndOfMessage)
        except h11.RemoteProtocolError:
            return False

    def _asked(self) -> Any:  # noqa: ANN401 -- a h11.Connection, imported late
        import h11

        method = self._methods[0] if self._methods and self._methods[0] in _BODILESS else b"GET"
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=self._largest)
        connection.send(h11.Request(method=method, target=b"/", headers=[(b"host", b"-")]))
        connection.send(h11.EndOfMessage())
        return connection


class WebSocketFramer(_Parsed):
    """Cuts a stream into WebSocket messages; made by `websocket`."""

    def __init__(self, host: str, largest: int) -> None:
        self._host = host
        super().__init__(largest)

    @property
    def unfinished(self) -> bool:
        """Return whether a message has begun but not ended."""
        return bool(self._raw or self._parts)

    @property
    def held(self) -> int:
        """Return how many bytes it keeps at most: the answer that opens the connection is not a message."""
        return self._largest if self._is_open else max(self._largest, LARGEST)

    def restart(self) -> None:
        """Start a new connection, which is not open yet."""
        from wsproto.connection import ConnectionType
        from wsproto.frame_protocol import FrameProtocol
        from wsproto.handshake import H11Handshake

        self._handshake = H11Handshake(ConnectionType.CLIENT)
        self._protocol = FrameProtocol(client=True, extensions=[])
        self._is_open = self._is_closed = False
        self._parts = list[bytes]()

    def pack(self, data: bytes) -> bytes:
        """Return the masked bytes of a message, or the request that opens the connection. Raises CodecError."""
        from wsproto.events import Request

        kind, payload = data[:1], data[1:]
        packers: dict[bytes, Callable[[], bytes | bytearray]] = {
            _OPENING: lambda: self._handshake.send(Request(host=self._host, target=payload.decode())),
            _TEXT: lambda: self._protocol.send_data(payload.decode()),
            _BINARY: lambda: self._protocol.send_data(payload),
            _CLOSE: lambda: self._protocol.close(int.from_bytes(payload[:2]) or None, payload[2:].decode() or None),
            _PING: lambda: self._protocol.ping(payload),
            _PONG: lambda: self._protocol.pong(payload),
        }
        if kind not in packers:
            raise CodecError(f"{data[:80]!r} is not a WebSocket message: its first byte is not an opcode")
        try:
            return bytes(packers[kind]())
        except Exception as error:
            raise CodecError(f"{data[:80]!r} cannot be sent: {type(error).__name__}: {error}") from error

    def find(self, chunk: bytes, frames: list[Frame]) -> None:
        """Add the messages that end with this chunk. Raises what wsproto raises."""
        del chunk
        if not self._is_open and not self._opened(frames):
            return
        while (size := _size(self._raw)) is not None and len(self._raw) >= size:
            if self._is_closed:
                raise ValueError("more came after the message that closes the connection")
            self._protocol.receive_bytes(self._raw[:size])
            self._raw = self._raw[size:]
            for frame in self._protocol.received_frames():
                self._add(frame, frames)
        if sum(map(len, self._parts)) > self._largest:
            self._raw, self._parts = b"".join(self._parts), []

    def ends_here(self) -> bool:
        """Return False: no message ends with the connection."""
        return False

    def rest(self) -> list[Frame]:
        """Return the unfinished message and start anew: the next bytes belong to another connection."""
        self._raw = b"".join([*self._parts, self._raw])
        return super().rest()

    def _opened(self, frames: list[Frame]) -> bool:
        """Read the answer to the request that opens the connection; return whether it is open."""
        from wsproto.events import AcceptConnection, RejectConnection

        head, end, rest = self._raw.partition(_HEAD_END)
        if not end or len(head + end) > self.held:  # too long however it was cut, which `feed` reports
            return False
        self._handshake.receive_data(head + end)
        for event in self._handshake.events():
            if isinstance(event, AcceptConnection):
                frames.append(Frame(_OPENING + b"101"))
                self._is_open, self._raw = True, rest
            elif isinstance(event, RejectConnection):
                # its body ends with the connection
                frames.append(Frame(_OPENING + b"%d" % event.status_code))
                self._lost, self._raw = True, b""
        return self._is_open

    def _add(self, frame: Any, frames: list[Frame]) -> None:  # noqa: ANN401 -- one of wsproto
        kind = bytes([frame.opcode])
        if kind == _CLOSE:
            code, reason = frame.payload
            self._is_closed = True
            frames.append(Frame(kind + (b"" if code == _NO_CODE else int(code).to_bytes(2)) + (reason or "").encode()))
        elif kind in {_PING, _PONG}:
            frames.append(Frame(kind + bytes(frame.payload)))
        else:
            payload = frame.payload
            self._parts.append(payload.encode() if isinstance(payload, str) else bytes(payload))
            if frame.message_finished:
                frames.append(self.bounded(kind + b"".join(self._parts)))
                self._parts = []


def _size(raw: bytes) -> int | None:
    """Return the size of the frame that begins here; None if too few of its bytes are there."""
    if len(raw) < _SHORT_HEAD:
        return None
    masked, size = _MASK * (raw[1] >> 7), raw[1] & 0x7F
    more = _MORE.get(size, 0)
    if len(raw) < _SHORT_HEAD + more:
        return None
    if more:
        size = int.from_bytes(raw[_SHORT_HEAD : _SHORT_HEAD + more])
    return _SHORT_HEAD + more + masked + size


@checked
def http(*, largest: int = LARGEST) -> Framing:
    r"""Return the framing of HTTP/1.1 for a client: it sends requests, and a frame is one complete response.

    Interim responses (1xx) are frames of their own. If a response is longer than `largest` bytes or invalid, its frame
    has `trouble` set, and nothing more is read from that connection. Needs the extra `http`.

    >>> framer = http()()
    >>> _ = framer.pack(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    >>> [frame.data for frame in framer.feed(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTT")], framer.begun
    ([b'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'], b'HTT')
    """
    return partial(HttpFramer, largest)


@checked
def websocket(host: str = "localhost", *, largest: int = LARGEST) -> Framing:
    """Return the framing of WebSocket for a client; `host` is for the request that opens the connection.

    A frame is a complete message after its opcode (1 text, 2 binary, 8 close, 9 ping, 10 pong). Opening is an input
    too: send 0 and the target; 0 and the status, such as 101, come back. Nothing is answered automatically, neither a
    ping nor a close. If a message is longer than `largest` bytes, its frame has `trouble` set. `WebSocketCodec` in
    `otf.codec.web` turns these into values. Needs the extra `websocket`.

    >>> framer = websocket()()
    >>> framer.pack(bytes([0]) + b"/chat").split()[:2]
    [b'GET', b'/chat']
    """
    return partial(WebSocketFramer, host, largest)
