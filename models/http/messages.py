"""Requests as their parts, from which the bytes are made as they are, and responses as they came."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.http.wire import read_response
from otf.values import show

PORT: Final = "web"


@dataclass(frozen=True, slots=True)
class WebConnect:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class WebFinish:
    """The client closes its half of the connection."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request: each part is sent as it is, right or wrong; characters are bytes (Latin-1).

    `fields` are the field lines without their ends, `body` is all that follows the empty line.
    """

    method: str = "GET"
    target: str = "/"
    version: str = "HTTP/1.1"
    fields: tuple[str, ...] = ("Host: a",)
    body: str = ""
    end: str = "\r\n"

    @property
    def text(self) -> str:
        """Return the bytes of the request as text."""
        line = " ".join(each for each in (self.method, self.target, self.version) if each)
        return self.end.join([line, *self.fields, "", ""]) + self.body


@dataclass(frozen=True, slots=True)
class Pipelined:
    """Requests that are sent at once."""

    requests: tuple[RawRequest, ...]

    @property
    def text(self) -> str:
        """Return the bytes of the requests as text."""
        return "".join(each.text for each in self.requests)


@dataclass(frozen=True, slots=True)
class FirstPart:
    """The first `size` bytes of a request."""

    request: RawRequest
    size: int

    @property
    def text(self) -> str:
        """Return these bytes as text."""
        return self.request.text[: self.size]

    @property
    def rest(self) -> str:
        """Return the other bytes as text."""
        return self.request.text[self.size :]


@dataclass(frozen=True, slots=True)
class NextPart:
    """More bytes of a request."""

    text: str


@dataclass(frozen=True, slots=True)
class RawResponse:
    """A response: its status and content, and what matters beside them.

    `closes`: it says that the connection ends, by its fields or its version. `coded`: it has a transfer coding.
    `dated`: it has a date. `version`: what it says of the version, if that is neither HTTP/1.1 nor HTTP/1.0.
    """

    status: int
    content: str = ""
    closes: bool = False
    coded: bool = False
    dated: bool = field(default=True, kw_only=True)
    version: str = field(default="", kw_only=True)


Bytes: TypeAlias = RawRequest | Pipelined | FirstPart | NextPart
WebInput: TypeAlias = WebConnect | WebFinish | Bytes


@dataclass(frozen=True, slots=True)
class RawHttpCodec:
    """The codec: what is sent is the text of an input as Latin-1."""

    types: tuple[type, ...] = (WebConnect, WebFinish, RawRequest, Pipelined, FirstPart, NextPart, RawResponse)

    def port(self, value: object) -> str:
        """Return the name of the port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input. Raises CodecError."""
        match value:
            case WebConnect():
                return PortAction.CONNECT
            case WebFinish():
                return PortAction.FINISH
            case RawRequest() | Pipelined() | FirstPart() | NextPart():
                return _latin(value.text)
            case _:
                raise CodecError(f"{show(value)} is no input of a web server")

    def decode(self, port: str, data: bytes) -> RawResponse:
        """Return the response in a frame. Raises CodecError."""
        del port
        try:
            found = read_response(data, ended=True)
        except ValueError as error:
            raise CodecError(f"{data[:200]!r} is no response: {error}") from error
        if found is None or found.size != len(data):
            raise CodecError(f"{data[:200]!r} is no response: it is not whole, or more follows")
        options = [each.strip().lower() for each in found.field("connection").split(",")]
        closes = "close" in options or (found.version == "HTTP/1.0" and "keep-alive" not in options)
        own = found.field("saw") != ""
        return RawResponse(
            found.status,
            found.content.decode("latin-1") if own else "",
            closes and found.status >= 200,  # noqa: PLR2004 -- an interim response ends nothing
            bool(found.field("transfer-encoding")),
            dated=bool(found.field("date")),
            version="" if found.version in {"HTTP/1.0", "HTTP/1.1"} else found.version,
        )


def _latin(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeError as error:
        raise CodecError(f"{show(text)} has characters that are no bytes") from error
