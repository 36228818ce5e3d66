"""A WebSocket server: handshakes that it accepts, frames that it answers, and what ends a connection."""

from __future__ import annotations

import pytest

from otf.codec import PortAction
from otf.core import Monitor
from otf.errors import CodecError
from otf.models.websocket import bench, echo, served_by
from otf.models.websocket.codec import SocketCodec
from otf.models.websocket.messages import (
    BINARY,
    CLOSE,
    CONTINUED,
    FIELDS,
    PING,
    PONG,
    PORT,
    TEXT,
    HandshakeAnswer,
    RawFrame,
    RawFrames,
    RawHandshake,
    SocketConnect,
    SocketMessage,
    frame_bytes,
)
from otf.models.websocket.spec import Socket
from otf.models.websocket.wire import SocketFramer
from otf.trace.events import Closed, Quiet, Seen, Sent
from tests.models.scripts import QUICK

END = "end of stream"
OPEN = (RawHandshake(), HandshakeAnswer(101, accepts=True))
FAILED = SocketMessage(CLOSE, "\x03\xea")
HALF = RawFrame(TEXT, "he", fin=False)
REST = RawFrame(CONTINUED, "llo")


def _judged(*script: tuple[object, ...], opened: bool = True) -> str:
    """Return the outcome of a script; a text among the outputs is the end of the connection."""
    monitor, at = Monitor(bench().oracle()), 0.0
    for inp, *outputs in ((SocketConnect(),), *([OPEN] if opened else []), *script):
        monitor.tell(Sent(inp, PORT, at := at + QUICK))
        for output in outputs:
            at += QUICK
            monitor.tell(Closed(PORT, output, at) if isinstance(output, str) else Seen(output, PORT, at))
        monitor.tell(Quiet(at := at + QUICK))
    return monitor.end().outcome


def _frames(*frames: RawFrame) -> RawFrames:
    return RawFrames(frames)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(_frames(RawFrame(TEXT, "a")), SocketMessage(TEXT, "a"))], "pass"),
        ([(_frames(RawFrame(TEXT, "a")), SocketMessage(BINARY, "a"))], "fail"),
        ([(_frames(RawFrame(TEXT, "a")),)], "fail"),
        ([(_frames(RawFrame(PING, "hi")), SocketMessage(PONG, "hi"))], "pass"),
        ([(_frames(RawFrame(PING, "hi")), SocketMessage(PONG))], "fail"),
        ([(_frames(RawFrame(PONG, "hi")),)], "pass"),
        (
            [
                (_frames(HALF),),
                (_frames(RawFrame(PING)), SocketMessage(PONG)),
                (_frames(REST), SocketMessage(TEXT, "hello")),
            ],
            "pass",
        ),
        ([(_frames(HALF, REST), SocketMessage(TEXT, "llo"))], "fail"),
        (
            [(_frames(RawFrame(CLOSE, "\x03\xe8")), SocketMessage(CLOSE, "\x03\xe8"), END), (SocketConnect(),), OPEN],
            "pass",
        ),
        ([(_frames(RawFrame(TEXT, "a"), RawFrame(PING)), SocketMessage(PONG), SocketMessage(TEXT, "a"))], "pass"),
        ([(_frames(RawFrame(TEXT, "a"), RawFrame(CLOSE)), SocketMessage(CLOSE), END)], "pass"),
        ([(_frames(RawFrame(CLOSE)), END)], "fail"),
        ([(_frames(RawFrame(CLOSE)), SocketMessage(CLOSE))], "fail"),
        ([(_frames(RawFrame(CLOSE)), SocketMessage(CLOSE, "\x03\xed"), END)], "fail"),
        ([(_frames(RawFrame(CLOSE), RawFrame(TEXT, "a")), SocketMessage(CLOSE), "connection reset")], "pass"),
        (
            [(_frames(RawFrame(CLOSE), RawFrame(TEXT, "a")), SocketMessage(CLOSE), SocketMessage(TEXT, "a"), END)],
            "fail",
        ),
        ([(_frames(RawFrame(TEXT, "hello", wide=2)), SocketMessage(TEXT, "hello"))], "pass"),
        ([(_frames(RawFrame(TEXT, "hello", wide=2)), FAILED, END)], "pass"),
        ([(_frames(RawFrame(TEXT, "\xff", fin=False)),)], "pass"),
        ([(_frames(RawFrame(CLOSE, "\x03\xed")), FAILED, END)], "pass"),
    ],
)
def test_what_a_server_may_send(script: list[tuple[object, ...]], outcome: str) -> None:
    """On an open connection."""
    assert _judged(*script) == outcome


@pytest.mark.parametrize(
    "frames",
    [
        (RawFrame(TEXT, "a", masked=False),),
        (RawFrame(TEXT, "a", reserved=4),),
        (RawFrame(3, "a"),),
        (RawFrame(11),),
        (RawFrame(PING, fin=False),),
        (RawFrame(PING, "x" * 126),),
        (RawFrame(CONTINUED, "a"),),
        (HALF, RawFrame(TEXT, "a")),
        (RawFrame(CLOSE, "\x03"),),
        (RawFrame(CLOSE, "\x03\xe8\xff"),),
        (RawFrame(TEXT, "\xff"),),
        (RawFrame(TEXT, "\xc3", fin=False), RawFrame(CONTINUED, "a")),
    ],
)
def test_what_fails_the_connection(frames: tuple[RawFrame, ...]) -> None:
    """With a Close or without; nothing more is processed."""
    echoed = SocketMessage(TEXT, "a")
    assert _judged((RawFrames(frames), FAILED, END)) == "pass"
    assert _judged((RawFrames(frames), END)) == "pass"
    assert _judged((RawFrames(frames), echoed)) == "fail"
    assert _judged((RawFrames(frames),)) == "fail"
    assert _judged((RawFrames((*frames, RawFrame(TEXT, "a"))), FAILED, echoed, END)) == "fail"


@pytest.mark.parametrize("left_out", range(len(FIELDS)))
def test_a_handshake_that_lacks_a_field_is_refused(left_out: int) -> None:
    """With an error; the connection may stay."""
    handshake = RawHandshake(FIELDS[:left_out] + FIELDS[left_out + 1 :])
    assert _judged((handshake, HandshakeAnswer(400)), OPEN, opened=False) == "pass"
    assert _judged((handshake, HandshakeAnswer(400), END), opened=False) == "pass"
    assert _judged((handshake, HandshakeAnswer(101, accepts=True)), opened=False) == "fail"


def test_handshakes() -> None:
    """The answer has to accept the key, and to name the versions if it does not know the one asked for."""
    other = RawHandshake((*FIELDS[:-1], "Sec-WebSocket-Version: 12"))
    assert _judged((RawHandshake(), HandshakeAnswer(101)), opened=False) == "fail"
    assert _judged((other, HandshakeAnswer(426, versions="13")), opened=False) == "pass"
    assert _judged((other, HandshakeAnswer(426)), opened=False) == "fail"
    chat = RawHandshake((*FIELDS, "Sec-WebSocket-Protocol: chat"))
    assert _judged((chat, HandshakeAnswer(101, accepts=True, protocol="chat")), opened=False) == "pass"
    assert _judged((chat, HandshakeAnswer(101, accepts=True, protocol="x")), opened=False) == "fail"
    assert _judged((RawHandshake(), HandshakeAnswer(101, accepts=True, extensions="x")), opened=False) == "fail"
    assert _judged((RawHandshake((*FIELDS[:3], "Sec-WebSocket-Key: =", FIELDS[4])), OPEN[1]), opened=False) == "fail"


def test_all_inputs_are_specified() -> None:
    """In the state in which they are tried."""
    spec = echo()
    for state in (None, Socket(), Socket(is_open=True), Socket(is_open=True, opcode=TEXT, payload="a")):
        assert all(spec.specifies(state, each) for each in spec.inputs(state))
    assert not spec.specifies(None, RawHandshake())
    assert served_by(["x"]).name == "websocket"


CODEC = SocketCodec()
ANSWER = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"
)
REFUSAL = b"HTTP/1.1 426 Upgrade\r\nSec-WebSocket-Version: 13\r\nContent-Length: 2\r\n\r\nno"


def test_bytes_from_a_server() -> None:
    """Fragments are put together, however the stream is cut."""
    stream = ANSWER + b"\x01\x02he\x89\x01p\x80\x03llo\x82\x7e\x00\x7e" + b"x" * 126 + b"\x88\x00"
    for chunks in ([stream], [stream[at : at + 1] for at in range(len(stream))]):
        framer = SocketFramer()
        frames = [frame for each in chunks for frame in framer.feed(each)] + framer.rest()
        assert [CODEC.decode(PORT, frame.data) for frame in frames if not frame.trouble] == [
            HandshakeAnswer(101, accepts=True),
            SocketMessage(PING, "p"),
            SocketMessage(TEXT, "hello"),
            SocketMessage(BINARY, "x" * 126),
            SocketMessage(CLOSE),
        ]
    framer = SocketFramer()
    assert [CODEC.decode(PORT, each.data) for each in framer.feed(REFUSAL)] == [HandshakeAnswer(426, versions="13")]


@pytest.mark.parametrize(
    "data", [b"\x81\x81maska", b"\xc1\x01a", b"\x83\x01a", b"\x09\x00", b"\x80\x01a", b"\x89\x7e\x00\x7e"]
)
def test_what_no_server_may_send(data: bytes) -> None:
    """A frame with a trouble; nothing after it counts."""
    framer = SocketFramer()
    framer.feed(ANSWER)
    assert framer.feed(data)[0].trouble
    assert framer.feed(b"\x81\x01a") == framer.rest() == []


def test_bounds_and_torn_messages() -> None:
    """What never ends is given up; what the end of a stream cuts off is none."""
    framer = SocketFramer(100)
    assert "longer than" in framer.feed(b"HTTP/1.1 101 S\r\n" + b"x" * 100)[0].trouble
    for begun, whole in ((ANSWER + b"\x81\x05a", False), (b"HTTP/1.1 400 Bad\r\n\r\nno", True), (b"HTTP/x", False)):
        framer = SocketFramer()
        framer.feed(begun)
        assert framer.unfinished
        assert framer.begun
        assert bool(framer.rest()) is whole
    assert SocketFramer().feed(b"SSH")[0].trouble
    for wrong in (b"HTTP/1.1 x\r\n\r\n", b"HTTP/1.1 200 O\r\nContent-Length: 5\r\n\r\n"):
        with pytest.raises(CodecError, match="response"):
            CODEC.decode(PORT, wrong)
    with pytest.raises(CodecError, match="at least one byte"):
        framer.pack(b"")


def test_bytes_of_inputs() -> None:
    """Frames of a client are masked unless they are not to be."""
    assert frame_bytes(RawFrame(TEXT, "a", masked=False)) == b"\x81\x01a"
    assert frame_bytes(RawFrame(BINARY, "a", wide=2, masked=False, fin=False, reserved=1)) == b"\x12\x7e\x00\x01a"
    assert frame_bytes(RawFrame(PING, "hi")) == b"\x89\x82mask\x05\x08"
    assert frame_bytes(RawFrame(TEXT, "", claimed=70_000))[:2] == b"\x81\xff"
    assert CODEC.encode(SocketConnect()) is PortAction.CONNECT
    handshake = CODEC.encode(RawHandshake())
    assert isinstance(handshake, bytes)
    assert handshake.startswith(b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n")
    for wrong in (RawFrames(()), RawFrames((RawFrame(999),)), RawFrames((RawFrame(TEXT, "\u20ac"),)), "x"):
        with pytest.raises(CodecError):
            CODEC.encode(wrong)
