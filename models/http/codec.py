"""The codec of requests and responses, and a grammar of requests that is stricter than any server has to be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.http.heads import TARGET
from otf.models.http.messages import (
    PORT,
    FirstPart,
    NextPart,
    Pipelined,
    RawRequest,
    RawResponse,
    WebConnect,
    WebFinish,
)
from otf.models.http.reader import HOST, read_chunks
from otf.models.http.wire import read_response
from otf.values import show

MOST: Final = 20  # requests in one input
_CRLF: Final = "\r\n"
_HEAD_END: Final = _CRLF + _CRLF
_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_VALUE: Final = r"(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?"
_LINE: Final = re.compile(rf"({_NAME}) ({TARGET}) (HTTP/1\.[0-9])", re.ASCII)
_FIELD: Final = re.compile(rf"({_NAME}):[ \t]*({_VALUE})[ \t]*", re.ASCII)
_LENGTH: Final = re.compile(r"[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RawHttpCodec:
    """The codec: it sends the text of an input as Latin-1."""

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
                raise CodecError(f"{show(value)} is not an input of a web server")

    def decode_input(self, port: str, data: bytes) -> RawRequest | Pipelined:
        """Return the request, or several, in some bytes. Raises CodecError, even for the beginning of a request."""
        del port
        return request_in(data.decode("latin-1"))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the bytes unchanged: the model finds everything in them that a server may take for requests."""
        del port
        return [data]

    def decode(self, port: str, data: bytes) -> RawResponse:
        """Return the response in a frame. Raises CodecError."""
        del port
        try:
            found = read_response(data, ended=True)
        except ValueError as error:
            raise CodecError(f"{data[:200]!r} is not a response: {error}") from error
        if found is None or found.size != len(data):
            raise CodecError(f"{data[:200]!r} is not a response: it is not whole, or more follows")
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
        raise CodecError(f"{show(text)} has characters that are not bytes") from error


def request_in(text: str) -> RawRequest | Pipelined:
    r"""Return the request in a text, or successive ones. Raises CodecError if one is malformed.

    A request is also malformed if the standard forbids sending it: without a Host, or with two body lengths.

    >>> request_in("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    RawRequest(method='GET', target='/', version='HTTP/1.1', fields=('Host: a',), body='', end='\r\n')
    """
    found = list[RawRequest]()
    while text and len(found) < MOST:
        found.append(_first(text))
        text = text[len(found[-1].text) :]
    if text or not found:
        raise CodecError("there is no request, or there are too many")
    return found[0] if len(found) == 1 else Pipelined(tuple(found))


def _first(text: str) -> RawRequest:
    head, end, rest = text.partition(_HEAD_END)
    line, *fields = head.split(_CRLF)
    words, pairs = _LINE.fullmatch(line), [_FIELD.fullmatch(each) for each in fields]
    if not end or words is None or None in pairs:
        raise CodecError(f"{show(head[:100])} is not a head of a request")
    named = [(each[1].lower(), each[2]) for each in pairs if each is not None]
    _check_host(words[3], _values(named, "host"))
    size = _body_size(words[3], named, rest)
    return RawRequest(words[1], words[2], words[3], tuple(fields), rest[:size])


def _values(fields: Sequence[tuple[str, str]], name: str) -> list[str]:
    return [value for each, value in fields if each == name]


def _check_host(version: str, hosts: list[str]) -> None:
    if len(hosts) > 1 or (not hosts and version != "HTTP/1.0") or not all(map(HOST.fullmatch, hosts)):
        raise CodecError(f"a request of {version} has one field Host (RFC 9112, 3.2), not {show(hosts)[:100]}")


def _body_size(version: str, fields: Sequence[tuple[str, str]], rest: str) -> int:
    codings, lengths = _values(fields, "transfer-encoding"), _values(fields, "content-length")
    if codings:
        _, size, _ = read_chunks(rest)
        valid = [each.lower() for each in codings] == ["chunked"] and not lengths and version != "HTTP/1.0"
    else:
        size = int(lengths[0]) if lengths and _LENGTH.fullmatch(lengths[0]) else None if lengths else 0
        valid = len(lengths) < 2  # noqa: PLR2004 -- one says it all
    if not valid or size is None or not 0 <= size <= len(rest):
        raise CodecError("the length of the body is invalid, or the body is not whole (RFC 9112, 6.3)")
    return size
