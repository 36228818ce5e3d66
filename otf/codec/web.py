"""HTTP/1.1 and WebSocket messages as values, for the framings `http` and `websocket` of `otf.framing.web`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from otf.codec import OnePort
from otf.errors import CodecError, UsageError
from otf.values import show

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""The headers of a message: pairs of a name and a value, in the order in which they are sent.

>>> headers: Headers = (("host", "localhost"), ("accept", "text/html"))
>>> HttpRequest("GET", "/", headers).headers[0]
('host', 'localhost')
"""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request with its `method`, its `target` (a path with a query), its `headers` and its `body`.

    The codec adds the header `host`, and `content-length` if the request has a body. A body that is not bytes is sent
    as JSON; unless the request's headers have a content type, the codec adds `content-type: application/json`.

    >>> HttpRequest("POST", "/holds", body={"room": "red"})
    HttpRequest(method='POST', target='/holds', headers=(('content-type', 'application/json'),), body=b'{"room":"red"}')
    """

    method: str
    target: str
    headers: Headers = ()
    body: Any = b""

    def __post_init__(self) -> None:
        """Write a body that is not bytes as JSON. Raises UsageError for what is not JSON."""
        if not isinstance(self.body, bytes):
            object.__setattr__(self, "body", _json(self.body))
            if not any(name.lower() == "content-type" for name, _ in self.headers):
                object.__setattr__(self, "headers", (*self.headers, ("content-type", "application/json")))


@dataclass(frozen=True, slots=True)
class HttpResponse:
    r"""An HTTP response with its `status`, its `body`, and the `headers` that the codec keeps (names in lower case).

    otf compares a JSON object or array as a value: spaces and the order of keys make no difference. otf compares any
    other body byte by byte. A model may give the body as a Python value, which the codec writes as JSON.

    >>> HttpResponse(200, body={"left": 1, "of": 2}) == HttpResponse(200, body=b'{ "of": 2,\n "left": 1 }')
    True
    """

    status: int
    headers: Headers = ()
    body: Any = b""

    def __post_init__(self) -> None:
        """Write JSON in one way. Raises UsageError for what is not JSON, and for a body in the place of the headers."""
        if isinstance(self.headers, bytes | str | dict | list):
            raise UsageError(f"HttpResponse({self.status}, {self.headers!r}): a body is named: body={self.headers!r}")
        if not isinstance(self.body, bytes):
            object.__setattr__(self, "body", _json(self.body))
        elif self.body.lstrip()[:1] in {b"{", b"["}:
            with suppress(ValueError, RecursionError, UsageError):  # it only looks like JSON
                object.__setattr__(self, "body", _json(json.loads(self.body, object_pairs_hook=_object)))


def _json(value: object) -> bytes:
    """Return a value as JSON in one way. Raises UsageError."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the body {show(value)} is neither bytes nor JSON: {error}") from error


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON. Raises ValueError if a key is in it twice: that would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


@dataclass(frozen=True, slots=True)
class HttpCodec(OnePort):
    r"""The codec of HTTP requests and responses; the library h11 reads and writes the messages.

    `keep` names the headers of a response that the codec keeps. The codec drops all other headers, since a model cannot
    predict a header such as the date. `host` is the value of the header `host` in each request. `name` is the name of
    the codec's port, `types` are the classes of the messages. The codec rejects requests that break the rules of HTTP.

    >>> HttpCodec("a.org").encode(HttpRequest("PUT", "/x", body=b"1"))
    b'PUT /x HTTP/1.1\r\nhost: a.org\r\ncontent-length: 1\r\n\r\n1'
    >>> HttpCodec().decode("", b"HTTP/1.1 204 No Content\r\n\r\n").status
    204
    >>> HttpCodec(name="web").port(HttpRequest("GET", "/"))
    'web'
    """

    host: str = "localhost"
    keep: tuple[str, ...] = ()
    name: str = ""
    types: tuple[type, ...] = (HttpRequest, HttpResponse)

    def __post_init__(self) -> None:
        """Raise UsageError at once if h11 is not installed, rather than at the first request."""
        if find_spec("h11") is None:
            raise UsageError("HTTP needs h11: pip install 'otf[http]', or pip install -e '.[http]' in a clone")

    def encode(self, value: object) -> bytes:
        """Return the bytes of a request. Raises CodecError."""
        import h11

        if not isinstance(value, HttpRequest):
            raise CodecError(f"{show(value)} is not an HttpRequest")
        length = [("content-length", str(len(value.body)))] if value.body else []
        connection = h11.Connection(h11.CLIENT)
        try:
            request = h11.Request(
                method=value.method, target=value.target, headers=[("host", self.host), *length, *value.headers]
            )
            head = connection.send(request) or b""
            body = connection.send(h11.Data(data=value.body)) or b"" if value.body else b""
            return head + body + (connection.send(h11.EndOfMessage()) or b"")
        except (h11.LocalProtocolError, ValueError) as error:
            raise CodecError(f"{show(value)} is not an HTTP/1.1 request: {error}") from error

    def decode(self, port: str, data: bytes) -> HttpResponse:
        """Return the response in these bytes. Raises CodecError."""
        import h11

        del port
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=len(data) + 1)
        connection.send(h11.Request(method="GET", target="/", headers=[("host", "-")]))
        connection.send(h11.EndOfMessage())
        try:
            connection.receive_data(data)
            head = connection.next_event()
            body = _body(connection, data) if isinstance(head, h11.Response) else b""
        except h11.RemoteProtocolError as error:
            raise CodecError(f"{data[:200]!r} is not a response: {error}") from error
        if not isinstance(head, h11.Response | h11.InformationalResponse) or connection.trailing_data[0]:
            raise CodecError(f"{data[:200]!r} is not a response: its head does not end, or more follows")
        kept = ((name.decode("latin-1"), text.decode("latin-1")) for name, text in head.headers)
        return HttpResponse(head.status_code, tuple(pair for pair in kept if pair[0] in self.keep), body)


def _body(connection: Any, data: bytes) -> bytes:  # noqa: ANN401 -- a h11.Connection, imported late
    """Return the body of a response. Raises h11.RemoteProtocolError if it is incomplete."""
    import h11

    parts = list[bytes]()
    connection.receive_data(b"")  # the framing has found the end
    try:
        while isinstance(event := connection.next_event(), h11.Data):
            parts.append(bytes(event.data))
    except h11.RemoteProtocolError:
        # only the framing knows that the request was a HEAD: then the length is that of a body which is not sent
        if parts or not data.endswith(b"\r\n\r\n"):
            raise
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class WsOpen:
    """The HTTP request that opens a WebSocket at the path `target`; the system answers it with `WsOpened`.

    >>> WsOpen("/chat")
    WsOpen(target='/chat')
    """

    target: str = "/"


@dataclass(frozen=True, slots=True)
class WsOpened:
    """The answer to `WsOpen`: its `status` is 101 if the system has opened the WebSocket.

    >>> WebSocketCodec().decode("", bytes([0]) + b"101")
    WsOpened(status=101)
    """

    status: int = 101


@dataclass(frozen=True, slots=True)
class WsText:
    """A WebSocket message with a `text`.

    >>> WebSocketCodec().decode("", bytes([1]) + b"hi")
    WsText(text='hi')
    """

    text: str


@dataclass(frozen=True, slots=True)
class WsBytes:
    """A WebSocket message with bytes as its `data`.

    >>> WebSocketCodec().decode("", bytes([2]) + b"hi")
    WsBytes(data=b'hi')
    """

    data: bytes


@dataclass(frozen=True, slots=True)
class WsPing:
    """A WebSocket ping with its `data`; the system must return the same bytes in a `WsPong`.

    >>> WebSocketCodec().decode("", bytes([9]) + b"a")
    WsPing(data=b'a')
    """

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class WsPong:
    """The answer to a WebSocket ping, with the `data` of the ping.

    >>> WebSocketCodec().decode("", bytes([10]) + b"a")
    WsPong(data=b'a')
    """

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class WsClose:
    """The message that closes a WebSocket, or confirms the closing, with a `reason` and a `code` (0 for none).

    >>> WebSocketCodec().decode("", bytes([8, 3, 232]) + b"bye")
    WsClose(code=1000, reason='bye')
    """

    code: int = 1000
    reason: str = ""


WsMessage: TypeAlias = WsOpen | WsOpened | WsText | WsBytes | WsPing | WsPong | WsClose
"""A message of a WebSocket, in either direction.

>>> message: WsMessage = WsText("hello")
"""

_KINDS: Final[dict[int, Callable[[bytes], WsMessage]]] = {
    1: lambda payload: WsText(payload.decode()),
    2: WsBytes,
    8: lambda payload: WsClose(0) if not payload else WsClose(int.from_bytes(payload[:2]), payload[2:].decode()),
    9: WsPing,
    10: WsPong,
}


def _frame(value: object) -> bytes:
    match value:
        case WsOpen(target):
            return b"\x00" + target.encode()
        case WsText(text):
            return b"\x01" + text.encode()
        case WsBytes(data):
            return b"\x02" + data
        case WsClose(code, reason) if code or not reason:
            return b"\x08" + (code.to_bytes(2) if code else b"") + reason.encode()
        case WsPing(data):
            return b"\x09" + data
        case WsPong(data):
            return b"\x0a" + data
        case _:
            raise CodecError(f"{show(value)} is not a WebSocket message that can be sent")


@dataclass(frozen=True, slots=True)
class WebSocketCodec(OnePort):
    r"""The codec of WebSocket messages; `name` is the name of the codec's port, `types` are the message classes.

    >>> WebSocketCodec().encode(WsText("hi")), WebSocketCodec().decode("", bytes([0]) + b"101")
    (b'\x01hi', WsOpened(status=101))
    >>> WebSocketCodec(name="chat").port(WsText("hi"))
    'chat'
    """

    name: str = ""
    types: tuple[type, ...] = (WsOpen, WsOpened, WsText, WsBytes, WsPing, WsPong, WsClose)

    def encode(self, value: object) -> bytes:
        """Return the frame of a message. Raises CodecError."""
        try:
            return _frame(value)
        except (UnicodeError, OverflowError) as error:
            raise CodecError(f"{show(value)} cannot be sent: {error}") from error

    def decode(self, port: str, data: bytes) -> WsMessage:
        """Return the message in a frame. Raises CodecError."""
        del port
        try:
            return WsOpened(int(data[1:])) if data[:1] == b"\x00" else _KINDS[data[0]](data[1:])
        except (KeyError, IndexError, ValueError) as error:
            raise CodecError(f"{data[:200]!r} is not a WebSocket message") from error
