"""Handshakes and frames of a client as their parts, right or wrong, and what a server sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otf.codec import PortAction
from otf.errors import CodecError
from otf.framing import LARGEST, Frame, Framing
from otf.framing.frame import too_long
from otf.models.http.wire import read_response
from otf.values import show

PORT: Final = "socket"
KEY: Final = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT: Final = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The answer to that key (RFC 6455, section 1.3)."""
FIELDS: Final = (
    "Host: a",
    "Upgrade: websocket",
    "Connection: Upgrade",
    f"Sec-WebSocket-Key: {KEY}",
    "Sec-WebSocket-Version: 13",
)
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
SHORT: Final = 125
"""The longest payload of a control frame."""
_MASK: Final = b"mask"
_SIZES: Final = {126: 2, 127: 8}


@dataclass(frozen=True, slots=True)
class SocketConnect:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class RawHandshake:
    """A request to open a WebSocket; its field lines are sent as they are."""

    fields: tuple[str, ...] = FIELDS
    method: str = "GET"
    version: str = "HTTP/1.1"


@dataclass(frozen=True, slots=True)
class RawFrame:
    """A frame; characters of the payload are bytes (Latin-1).

    `wide`: its length takes 2 or 8 bytes though fewer would do; `claimed`: its length is said to be this.
    """

    opcode: int
    payload: str = ""
    fin: bool = True
    reserved: int = 0
    masked: bool = True
    wide: int = 0
    claimed: int = -1


@dataclass(frozen=True, slots=True)
class RawFrames:
    """Frames that are sent at once."""

    frames: tuple[RawFrame, ...]


@dataclass(frozen=True, slots=True)
class HandshakeAnswer:
    """The answer to a handshake: its status, whether it accepts the key, and the fields that matter."""

    status: int
    accepts: bool = False
    versions: str = ""
    protocol: str = ""
    extensions: str = ""


@dataclass(frozen=True, slots=True)
class SocketMessage:
    """A message from the server: fragments are put together. Characters of the payload are bytes."""

    opcode: int
    payload: str = ""


SocketInput = SocketConnect | RawHandshake | RawFrames


def frame_bytes(frame: RawFrame) -> bytes:
    r"""Return the bytes of a frame.

    >>> frame_bytes(RawFrame(9, "hi", masked=False))
    b'\x89\x02hi'
    """
    payload = frame.payload.encode("latin-1")
    size = frame.claimed if frame.claimed >= 0 else len(payload)
    wide = frame.wide or (0 if size <= SHORT else 2 if size < 1 << 16 else 8)
    first = bytes([frame.fin << 7 | frame.reserved << 4 | frame.opcode])
    length = bytes([frame.masked << 7 | {0: size, 2: 126, 8: 127}[wide]]) + (size.to_bytes(wide) if wide else b"")
    masked = bytes(byte ^ _MASK[at % 4] for at, byte in enumerate(payload))
    return first + length + (_MASK + masked if frame.masked else payload)


@dataclass(frozen=True, slots=True)
class SocketCodec:
    """The codec of handshakes and frames."""

    types: tuple[type, ...] = (SocketConnect, RawHandshake, RawFrames, RawFrame, HandshakeAnswer, SocketMessage)

    def port(self, value: object) -> str:
        """Return the name of the port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input. Raises CodecError."""
        try:
            match value:
                case SocketConnect():
                    return PortAction.CONNECT
                case RawHandshake(fields, method, version):
                    return "\r\n".join([f"{method} / {version}", *fields, "", ""]).encode("latin-1")
                case RawFrames(frames) if frames:
                    return b"".join(map(frame_bytes, frames))
                case _:
                    raise CodecError(f"{show(value)} is no input of a WebSocket server")
        except (UnicodeError, OverflowError, ValueError, KeyError) as error:
            raise CodecError(f"{show(value)} has no bytes: {error}") from error

    def decode(self, port: str, data: bytes) -> HandshakeAnswer | SocketMessage:
        """Return the answer or the message in a frame. Raises CodecError."""
        del port
        if data[:1] != b"H":
            return SocketMessage(data[0], data[1:].decode("latin-1"))
        try:
            found = read_response(data, ended=True)
        except ValueError as error:
            raise CodecError(f"{data[:200]!r} is no response: {error}") from error
        if found is None:
            raise CodecError(f"{data[:200]!r} is no whole response")
        names = ("version", "protocol", "extensions")
        accepts = found.field("sec-websocket-accept") == ACCEPT and found.field("upgrade").lower() == "websocket"
        return HandshakeAnswer(found.status, accepts, *(found.field(f"sec-websocket-{each}") for each in names))


class SocketFramer:
    """Cuts a stream into the answer to a handshake and messages; after what is none it finds no more."""

    gap: float = 0.0

    def __init__(self, largest: int = 4 * LARGEST) -> None:
        self._largest = largest
        self._restart()

    @property
    def unfinished(self) -> bool:
        """Return whether a message has begun and not ended."""
        return bool(self._raw or self._parts)

    @property
    def begun(self) -> bytes:
        """Return the bytes of a message that has not ended."""
        return self._raw

    def pack(self, data: bytes) -> bytes:
        """Return the bytes as they are. Raises CodecError if there are none."""
        if not data:
            raise CodecError("at least one byte is sent")
        return data

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the messages that they complete."""
        if self._lost:
            return []
        self._raw += chunk
        frames = list[Frame]()
        try:
            while self._raw and (found := self._one() if self._is_open else self._answer()) is not None:
                frames += [Frame(found)] if found else []
        except ValueError as error:
            frames.append(self._given_up(str(error)))
        if len(self._raw) > self._largest:
            frames.append(self._given_up(too_long(self._largest)))
        return frames

    def rest(self) -> list[Frame]:
        """Return the answer to a handshake if it may end with the connection, and begin anew.

        What is not whole is dropped: a reset may cut it off, and then no answer counts; otherwise it is missing.
        """
        left, is_answer = self._parts + self._raw, not self._is_open
        self._restart()
        if not left:
            return []
        try:
            whole = is_answer and read_response(left, ended=True) is not None
        except ValueError as error:
            return [Frame(left, str(error))]
        return [Frame(left)] if whole else []

    def _restart(self) -> None:
        self._raw = self._parts = b""
        self._lost = self._is_open = False

    def _answer(self) -> bytes | None:
        found = read_response(self._raw)
        if found is None:
            return None
        answer, self._raw = self._raw[: found.size], self._raw[found.size :]
        self._is_open = found.status == 101  # noqa: PLR2004 -- Switching Protocols
        return answer

    def _one(self) -> bytes | None:
        """Take a frame off; return its message, nothing for a fragment, None if it is not whole. Raises ValueError."""
        raw = self._raw
        if len(raw) < 2:  # noqa: PLR2004 -- the bytes of each frame
            return None
        opcode, fin, more = raw[0] & 15, raw[0] >> 7, _SIZES.get(raw[1] & 127, 0)
        control = opcode >= CLOSE
        if raw[0] & 0x70 or raw[1] >> 7 or opcode not in {CONTINUED, TEXT, BINARY, CLOSE, PING, PONG}:
            message = "a frame of a server has no mask, no reserved bits and a known opcode (RFC 6455, 5.1 and 5.2)"
            raise ValueError(message)
        if (control and (more or not fin)) or (not control and (opcode == CONTINUED) != bool(self._parts)):
            message = "a control frame is short and whole, and fragments follow each other (RFC 6455, 5.4 and 5.5)"
            raise ValueError(message)
        size = int.from_bytes(raw[2 : 2 + more]) if more else raw[1] & 127
        if len(raw) < 2 + more + size:
            return None
        payload, self._raw = raw[2 + more : 2 + more + size], raw[2 + more + size :]
        if control:
            return bytes([opcode]) + payload
        self._parts = (self._parts or bytes([opcode])) + payload
        whole = self._parts if fin else b""
        self._parts = b"" if fin else self._parts
        return whole

    def _given_up(self, trouble: str) -> Frame:
        broken, self._raw, self._lost = self._raw[: self._largest], b"", True
        return Frame(broken, trouble)


def messages() -> Framing:
    """Return the framing: a frame is the answer to a handshake, or a message behind its opcode."""
    return SocketFramer
