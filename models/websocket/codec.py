"""The codec of handshakes and frames: it reads a client's bytes strictly, and a server's as they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.http.wire import read_response
from otf.models.websocket.messages import (
    ACCEPT,
    CLOSE,
    CONTINUED,
    PORT,
    SHORT,
    TEXT,
    HandshakeAnswer,
    RawFrame,
    RawFrames,
    RawHandshake,
    SocketConnect,
    SocketMessage,
    frame_bytes,
)
from otf.models.websocket.validity import is_defined, is_text, refusal, violation
from otf.models.websocket.wire import SIZES
from otf.values import show

_LINE: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+) / (HTTP/1\.[01])", re.ASCII)
_FIELD: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*", re.ASCII)
_END: Final = "\r\n\r\n"


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
                    raise CodecError(f"{show(value)} is not an input of a WebSocket server")
        except (UnicodeError, OverflowError, ValueError, KeyError) as error:
            raise CodecError(f"{show(value)} has no bytes: {error}") from error

    def decode_input(self, port: str, data: bytes) -> RawHandshake | RawFrames:
        """Return the valid handshake, or the valid frames, in some bytes. Raises CodecError."""
        del port
        if data.startswith(b"GET "):
            request = handshake_in(data)
            if rule := refusal(request):
                raise CodecError(f"a server refuses this handshake by {rule.name}")
            return request
        frames, rest = frames_in(data)
        if rest or not frames or not all(map(_is_valid, frames)):
            raise CodecError("the frames are invalid, or not whole")
        return RawFrames(frames)

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the bytes unchanged: the model reads the frames in them."""
        del port
        return [data]

    def decode(self, port: str, data: bytes) -> HandshakeAnswer | SocketMessage:
        """Return the answer or the message in a frame. Raises CodecError."""
        del port
        if data[:1] != b"H":
            return SocketMessage(data[0], data[1:].decode("latin-1"))
        try:
            found = read_response(data, ended=True)
        except ValueError as error:
            raise CodecError(f"{data[:200]!r} is not a response: {error}") from error
        if found is None:
            raise CodecError(f"{data[:200]!r} is not a whole response")
        names = ("version", "protocol", "extensions")
        accepts = found.field("sec-websocket-accept") == ACCEPT and found.field("upgrade").lower() == "websocket"
        return HandshakeAnswer(found.status, accepts, *(found.field(f"sec-websocket-{each}") for each in names))


def handshake_in(data: bytes) -> RawHandshake:
    """Return the handshake in some bytes, right or wrong. Raises CodecError if it is not an HTTP/1 request for /."""
    head, end, rest = data.decode("latin-1").partition(_END)
    line, *fields = head.split("\r\n")
    words = _LINE.fullmatch(line)
    if words is None or not end or rest or not all(map(_FIELD.fullmatch, fields)):
        raise CodecError(f"{show(head[:100])} is not a request for /")
    return RawHandshake(tuple(fields), words[1], words[2])


def frames_in(data: bytes) -> tuple[tuple[RawFrame, ...], bytes]:
    r"""Return the whole frames in some bytes, right or wrong, and the rest of the bytes.

    >>> frames_in(b"\x89\x02hi\x80")
    ((RawFrame(opcode=9, payload='hi', fin=True, reserved=0, masked=False, wide=0, claimed=-1),), b'\x80')
    """
    found = list[RawFrame]()
    while len(data) >= 2:  # noqa: PLR2004 -- the bytes of each frame
        masked, short = bool(data[1] >> 7), data[1] & 127
        more = SIZES.get(short, 0)
        begin = 2 + more + 4 * masked
        size = int.from_bytes(data[2 : 2 + more]) if more else short
        if len(data) < begin + size:
            break
        body = _unmasked(data[begin : begin + size], data[begin - 4 : begin] if masked else b"\0")
        fewest = 0 if size <= SHORT else 2 if size < 1 << 16 else 8
        wide = more if more != fewest else 0
        found.append(RawFrame(data[0] & 15, body, bool(data[0] >> 7), data[0] >> 4 & 7, masked, wide))
        data = data[begin + size :]
    return tuple(found), data


def _unmasked(body: bytes, mask: bytes) -> str:
    repeated = (mask * (len(body) // len(mask) + 1))[: len(body)]
    return (int.from_bytes(body) ^ int.from_bytes(repeated)).to_bytes(len(body)).decode("latin-1")


def _is_valid(frame: RawFrame) -> bool:
    """Return whether a frame is valid in some state."""
    if frame.wide or violation(frame, TEXT if frame.opcode == CONTINUED else 0):
        return False
    if frame.opcode == CLOSE:
        return is_defined(frame)
    return frame.opcode != TEXT or is_text(frame.payload.encode("latin-1"), whole=frame.fin)
