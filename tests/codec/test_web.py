"""HTTP/1.1 and WebSocket as values."""

from __future__ import annotations

import pytest

from otf.codec.web import (
    HttpCodec,
    HttpRequest,
    HttpResponse,
    WebSocketCodec,
    WsBytes,
    WsClose,
    WsOpen,
    WsOpened,
    WsPing,
    WsPong,
    WsText,
)
from otf.errors import CodecError, UsageError
from otf.testing import check_codec

FRAMES = [
    b"HTTP/1.1 200 OK\r\nDate: x\r\nContent-Type: a/b\r\ncontent-length: 2\r\n\r\nok",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 404 No\r\n\r\nto the end\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
]


def test_the_codec_of_http_keeps_the_contract() -> None:
    """Requests are written, responses are read, and nothing else is raised."""
    codec = HttpCodec("a", keep=("content-type",), name="web")
    check_codec(codec, inputs=[HttpRequest("GET", "/")], frames=[("web", each) for each in FRAMES])
    assert codec.port(HttpRequest("GET", "/")) == "web"
    assert [codec.decode("web", each) for each in FRAMES] == [
        HttpResponse(200, (("content-type", "a/b"),), b"ok"),
        HttpResponse(100),
        HttpResponse(404, (), b"to the end\r\n\r\n"),
        HttpResponse(200),
        HttpResponse(200, (), b"abc"),
    ]


@pytest.mark.parametrize(
    "data",
    [b"HTTP/1.1 200", b"x\r\n\r\n", FRAMES[0] + b"x", FRAMES[0][:-1], b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"],
)
def test_what_is_no_response_is_undecodable(data: bytes) -> None:
    """Half a head, no head, a body that is too short or too long."""
    with pytest.raises(CodecError, match="is not a response"):
        HttpCodec().decode("", data)


@pytest.mark.parametrize(
    "value", ["x", HttpRequest("G T", "/"), HttpRequest("GET", "ä"), HttpRequest("GET", "/", (("a b", ""),))]
)
def test_what_is_no_request_is_refused(value: object) -> None:
    """The error says why."""
    with pytest.raises(CodecError, match="is no"):
        HttpCodec().encode(value)


def test_a_body_in_the_place_of_the_headers_is_refused() -> None:
    """The third argument is the body; the error says how to write it."""
    with pytest.raises(UsageError, match=r"HttpResponse\(200, b'x'\): a body is named: body=b'x'"):
        HttpResponse(200, b"x")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_http_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The codec is refused when it is made, and the error says what to install."""
    monkeypatch.setattr("otf.codec.web.find_spec", dict[str, object]().get)
    with pytest.raises(UsageError, match=r"pip install 'otf\[http\]'"):
        HttpCodec()


def test_the_codec_of_websockets_keeps_the_contract() -> None:
    """One form for each message; what opens a connection, and its answer, go one way only."""
    codec = WebSocketCodec("chat")
    values = [WsText("hi"), WsBytes(b"hi"), WsPing(b"1"), WsPong(), WsClose(), WsClose(0), WsClose(1001, "away")]
    check_codec(codec, values, inputs=[WsOpen("/x")], frames=[("chat", b"\x00101")])
    assert (codec.port(WsPing()), codec.decode("", b"\x00403")) == ("chat", WsOpened(403))


@pytest.mark.parametrize("value", ["x", WsOpened(), WsClose(0, "why"), WsClose(70_000), WsText("\ud800")])
def test_what_is_no_message_is_refused(value: object) -> None:
    """The error names it."""
    with pytest.raises(CodecError, match="sent"):
        WebSocketCodec().encode(value)


def test_a_body_of_json_is_a_value() -> None:
    """Spaces and the order of keys do not count; a key that is there twice, a number and a text are bytes as any."""
    sent = b'HTTP/1.1 200 OK\r\ncontent-length: 26\r\n\r\n{ "of" : 2, "left": [1, 2]}'.replace(b"26", b"27")
    assert HttpCodec().decode("", sent) == HttpResponse(200, body={"left": [1, 2], "of": 2})
    assert HttpResponse(200, body=b"[1, 2]") == HttpResponse(200, body=[1, 2])
    for exact in (b'{"a": 1, "a": 2}', b"1 ", b"{oops", b"[" * 100_000, b"[NaN]"):
        assert HttpResponse(200, body=exact).body == exact


def test_a_request_of_json() -> None:
    """It names its type, unless it has one already; what is not JSON is refused where it is written."""
    assert HttpRequest("POST", "/", body=[1]).headers == (("content-type", "application/json"),)
    named = (("Content-Type", "application/problem+json"),)
    assert HttpRequest("POST", "/", named, body={}).headers == named
    assert HttpRequest("POST", "/", body=b'{"a": 1}').body == b'{"a": 1}'
    with pytest.raises(UsageError, match="neither bytes nor JSON"):
        HttpRequest("POST", "/", body={1})
