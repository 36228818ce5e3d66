"""Responses as bytes: where each ends, and its parts; accepts whatever a server may choose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from otf.errors import CodecError
from otf.framing import LARGEST, Frame, Framing
from otf.framing.frame import too_long

_STATUS_LINE: Final = re.compile(rb"(HTTP/[0-9]\.[0-9]) ([1-5][0-9]{2}) ([^\r\n]*)", re.ASCII)
_FIELD: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*?)[ \t]*", re.ASCII)
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(;[^\r\n]*)?", re.ASCII)
_LENGTH: Final = re.compile(r"[0-9]{1,15}", re.ASCII)
_END: Final = b"\r\n"
_BODILESS: Final = {204, 304}
_FINAL: Final = 200


@dataclass(frozen=True, slots=True)
class ReadResponse:
    """A response as read, with its fields in lower case; `size` counts all its bytes."""

    version: str
    status: int
    fields: tuple[tuple[str, str], ...]
    content: bytes
    size: int

    def field(self, name: str) -> str:
        """Return the values of a field, joined by commas."""
        return ",".join(value for each, value in self.fields if each == name)


def read_response(data: bytes, *, ended: bool = False) -> ReadResponse | None:
    """Return the first response in these bytes; None if it is incomplete. `ended`: the connection has ended.

    Raises ValueError if the bytes are not a response.
    """
    head, found, rest = data.partition(_END + _END)
    if not found:
        if not data.startswith(b"HTTP/"[: len(data)]):
            message = "it does not begin with a status line"
            raise ValueError(message)
        return None
    line, *lines = head.split(_END)
    status_line = _STATUS_LINE.fullmatch(line)
    pairs = [_FIELD.fullmatch(each) for each in lines]
    if status_line is None or None in pairs:
        message = "a line of its head is neither a status line nor a field"
        raise ValueError(message)
    fields = tuple((each[1].decode().lower(), each[2].decode("latin-1")) for each in pairs if each is not None)
    response = ReadResponse(status_line[1].decode(), int(status_line[2]), fields, b"", len(head) + len(found))
    body = _body(response, rest, ended=ended)
    if body is None:
        return None
    content, size = body
    return ReadResponse(response.version, response.status, fields, content, response.size + size)


def _body(head: ReadResponse, rest: bytes, *, ended: bool) -> tuple[bytes, int] | None:
    """Return the content and its size on the wire; None if it is incomplete."""
    coded, length = head.field("transfer-encoding").lower(), head.field("content-length")
    if (head.status < _FINAL or head.status == 204) and (coded or length):  # noqa: PLR2004 -- No Content
        message = f"a response with the status {head.status} has neither a length nor a coding (RFC 9110, 8.6)"
        raise ValueError(message)
    if head.status < _FINAL or head.status in _BODILESS or head.field("saw") == "HEAD":
        return b"", 0
    if coded:
        return _unchunked(rest)
    if length:
        if not _LENGTH.fullmatch(length):
            message = f"its Content-Length is {length!r}"
            raise ValueError(message)
        return (rest[: int(length)], int(length)) if len(rest) >= int(length) else None
    # neither: it ends with the connection
    return (rest, len(rest)) if ended else None


def _unchunked(data: bytes) -> tuple[bytes, int] | None:
    content, at = b"", 0
    while (end := data.find(_END, at)) >= 0:
        line = _SIZE.fullmatch(data[at:end])
        if line is None:
            message = f"{data[at:end][:80]!r} is not a size of a chunk"
            raise ValueError(message)
        size, at = int(line[1], 16), end + 2
        if size == 0:
            after = at if data.startswith(_END, at) else data.find(_END + _END, at) + 2
            return (content, after + 2) if data[after : after + 2] == _END and after >= at else None
        if len(data) < at + size + 2:
            return None
        content, at = content + data[at : at + size], at + size + 2
    return None


class ResponseFramer:
    """Cuts a stream into responses; after other bytes it finds none until the next connection."""

    gap: float = 0.0

    def __init__(self, largest: int = 16 * LARGEST) -> None:
        self._largest = largest
        self._raw = b""
        self._lost = False

    @property
    def unfinished(self) -> bool:
        """Return whether a response has begun but not ended."""
        return bool(self._raw)

    @property
    def begun(self) -> bytes:
        """Return the bytes of a response that has not ended."""
        return self._raw

    def pack(self, data: bytes) -> bytes:
        """Return the bytes of a request as they are. Raises CodecError if there are none."""
        if not data:
            raise CodecError("a request has at least one byte")
        return data

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the responses that they complete."""
        if self._lost:
            return []
        self._raw += chunk
        frames = list[Frame]()
        try:
            while self._raw and (found := self.take()) is not None:
                frames += [Frame(found)] if found else []
        except ValueError as error:
            frames.append(self._given_up(str(error)))
        if len(self._raw) > self._largest:
            frames.append(self._given_up(too_long(self._largest)))
        return frames

    def take(self) -> bytes | None:
        """Take a response off the stream, None if it is incomplete. Raises ValueError for other bytes."""
        found = read_response(self._raw)
        if found is None:
            return None
        taken, self._raw = self._raw[: found.size], self._raw[found.size :]
        return taken

    def rest(self) -> list[Frame]:
        """Return the last response if it may end with the connection, and start again.

        It drops an incomplete response. If a reset cut it off, no answer is due; otherwise it counts as missing.
        """
        left, self._raw, self._lost = self._raw, b"", False
        if not left:
            return []
        try:
            whole = read_response(left, ended=True) is not None
        except ValueError as error:
            return [Frame(left, str(error))]
        return [Frame(left)] if whole else []

    def _given_up(self, trouble: str) -> Frame:
        broken, self._raw, self._lost = self._raw[: self._largest], b"", True
        return Frame(broken, trouble)


def responses() -> Framing:
    """Return the framing: a frame is a response, whole."""
    return ResponseFramer
