"""Requests as parts that go on the wire unchanged, and responses as they came."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

PORT: Final = "web"


@dataclass(frozen=True, slots=True)
class WebConnect:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class WebFinish:
    """The client closes its half of the connection."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request: each part goes out unchanged, right or wrong; characters are bytes (Latin-1).

    `fields` are the field lines without line ends, `body` is everything after the empty line.
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
    """Requests sent at once."""

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
    """A response: its status, its content, and a few other properties.

    `closes`: it says that the connection ends, by its fields or its version. `coded`: it has a transfer coding.
    `dated`: it has a date. `version`: its version, if that is neither HTTP/1.1 nor HTTP/1.0.
    """

    status: int
    content: str = ""
    closes: bool = False
    coded: bool = False
    dated: bool = field(default=True, kw_only=True)
    version: str = field(default="", kw_only=True)


Bytes: TypeAlias = RawRequest | Pipelined | FirstPart | NextPart
WebInput: TypeAlias = WebConnect | WebFinish | Bytes
