"""Handshakes and frames of a client as parts, right or wrong, and the messages of a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
MASK: Final = b"mask"


@dataclass(frozen=True, slots=True)
class SocketConnect:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class RawHandshake:
    """A request to open a WebSocket; its field lines go out unchanged."""

    fields: tuple[str, ...] = FIELDS
    method: str = "GET"
    version: str = "HTTP/1.1"


@dataclass(frozen=True, slots=True)
class RawFrame:
    """A frame; characters of the payload are bytes (Latin-1).

    `wide`: its length takes 2 or 8 bytes although fewer would do; `claimed`: the stated length.
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
    """Frames sent at once."""

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
    """A message from the server, assembled from fragments. Characters of the payload are bytes."""

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
    masked = bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))
    return first + length + (MASK + masked if frame.masked else payload)
