"""The answer to a handshake and the messages of a server, cut out of a stream."""

from __future__ import annotations

from typing import Final

from otf.errors import CodecError
from otf.framing import LARGEST, Frame, Framing
from otf.framing.frame import too_long
from otf.models.http.wire import read_response
from otf.models.websocket.messages import BINARY, CLOSE, CONTINUED, PING, PONG, TEXT

SIZES: Final = {126: 2, 127: 8}
"""Lengths of a frame that say how many bytes the real length has."""


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
        opcode, fin, more = raw[0] & 15, raw[0] >> 7, SIZES.get(raw[1] & 127, 0)
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
