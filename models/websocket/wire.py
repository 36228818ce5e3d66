"""Cuts the answer to a handshake and the messages of a server out of a stream."""

from __future__ import annotations

from typing import Final

from otf.framing import LARGEST, Frame, Framing
from otf.models.http.wire import ResponseFramer
from otf.models.websocket.messages import BINARY, CLOSE, CONTINUED, PING, PONG, TEXT

SIZES: Final = {126: 2, 127: 8}
"""Length codes of a frame, and how many bytes of real length follow."""
SWITCHING: Final = b"101"
_STATUS: Final = slice(9, 12)  # the place of the status in an answer, after "HTTP/1.1 "


class SocketFramer(ResponseFramer):
    """Cuts a stream into the answer to a handshake and messages; after anything else it finds no more."""

    def __init__(self, largest: int = 4 * LARGEST) -> None:
        super().__init__(largest)
        self._parts = b""
        self._is_open = False

    @property
    def unfinished(self) -> bool:
        """Return whether a message has begun but not ended."""
        return bool(self._raw or self._parts)

    def rest(self) -> list[Frame]:
        """Return the answer to a handshake if it may end with the connection, and start again.

        It drops an incomplete message. If a reset cut it off, no answer is due; otherwise it counts as missing.
        """
        if self._is_open:
            self._raw = self._parts = b""
        self._is_open = False
        return super().rest()

    def take(self) -> bytes | None:
        """Take the answer or a frame off; return its message, nothing for a fragment, None if it is incomplete.

        Raises ValueError for anything else.
        """
        if self._is_open:
            return self._message()
        answer = super().take()
        self._is_open = answer is not None and answer[_STATUS] == SWITCHING
        return answer

    def _message(self) -> bytes | None:
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


def messages() -> Framing:
    """Return the framing: a frame is the answer to a handshake, or a message after its opcode."""
    return SocketFramer
