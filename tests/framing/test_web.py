"""HTTP/1.1 responses and WebSocket messages, cut from a stream."""

from __future__ import annotations

import pytest
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, RejectConnection, Request
from wsproto.frame_protocol import FrameProtocol

from otf.errors import CodecError
from otf.framing import Frame, Framer
from otf.framing.web import http, websocket
from otf.testing import check_framing

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
EARLY = b"HTTP/1.1 100 Continue\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\nuntil the end"


def test_responses_are_cut_anywhere() -> None:
    """One after another, with a length, in chunks, without a body, interim; after HEAD the length is not a body's."""
    check_framing(http(), [OK, CHUNKED, EARLY, EMPTY, OK], largest=None, endless=[b"x", b"HTTP/1.1 200 OK\r\n\r\n"])
    check_framing(http(), [], exchanges=[(b"HEAD / HTTP/1.1\r\n\r\n", HEAD), (GET, OK)], endless=[])


def test_a_response_without_a_length_ends_with_the_connection() -> None:
    """Only then; the next connection begins anew."""
    framer = http()()
    framer.pack(b"HEAD / HTTP/1.1\r\n\r\n")
    assert (framer.rest(), framer.feed(ENDLESS), framer.unfinished) == ([], [], True)
    assert (framer.rest(), framer.unfinished, framer.feed(OK)) == ([Frame(ENDLESS)], False, [Frame(OK)])
    assert http(largest=len(OK) - 1)().feed(OK) == [Frame(OK[:-1], f"longer than {len(OK) - 1} bytes")]
    framer.feed(OK[:-1])
    assert framer.rest() == [Frame(OK[:-1], "torn: the stream ended within it")]
    framer.feed(b"HTTP/1.1")
    assert framer.rest() == [Frame(b"HTTP/1.1", "torn: the stream ended within it")]


def test_what_is_no_response_is_marked_and_the_rest_is_left() -> None:
    """Where the next one begins is not known; a new connection is read again."""
    framer = http(largest=60)()
    (frame,) = framer.feed(b"nonsense\r\n\r\n")
    assert (frame.data, "RemoteProtocolError" in frame.trouble) == (b"nonsense\r\n\r\n", True)
    assert (framer.feed(OK), framer.rest(), framer.feed(OK)) == ([], [], [Frame(OK)])
    assert framer.feed(ENDLESS + b"x" * 60)[0].trouble == "longer than 60 bytes"


def opened(*, largest: int = 65_536) -> tuple[Framer, FrameProtocol]:
    """A framer whose connection is open, and the other side of it."""
    framer, server = websocket("a", largest=largest)(), WSConnection(ConnectionType.SERVER)
    server.receive_data(framer.pack(b"\x00/chat"))
    (request,) = server.events()
    assert isinstance(request, Request)
    assert request.target == "/chat"
    answer = server.send(AcceptConnection())
    assert (framer.feed(answer[:9]), framer.feed(answer[9:])) == ([], [Frame(b"\x00101")])
    return framer, FrameProtocol(client=False, extensions=[])


def served(data: bytes) -> bytes:
    """The bytes of a message as a server sends it."""
    server, payload = FrameProtocol(client=False, extensions=[]), data[1:]
    match data[0]:
        case 1:
            return bytes(server.send_data(payload.decode()))
        case 2:
            return bytes(server.send_data(payload))
        case 9:
            return bytes(server.ping(payload))
        case _:
            return bytes(server.pong(payload))


MESSAGES = [
    b"\x01hello",
    b"\x02" + bytes(200),
    b"\x02" + bytes(66_000),
    b"\x01",
    b"\x09ping",
    b"\x0apong",
    "\x01äö".encode(),
]


def test_messages_are_cut_anywhere() -> None:
    """Each behind its opcode, whatever its length."""
    check_framing(lambda: opened(largest=70_000)[0], MESSAGES, wire=served, endless=[], rounds=50)
    check_framing(lambda: opened()[0], [], wire=served, endless=[b"x", b"\x02\x01x", b"\x02\x00"], rounds=0)


def test_a_message_in_parts_is_whole() -> None:
    """A ping may come between them."""
    framer, server = opened()
    parts = [bytes(server.send_data("one ", fin=False)), bytes(server.ping(b"?")), bytes(server.send_data("two"))]
    assert framer.feed(parts[0] + parts[1]) == [Frame(b"\x09?")]
    assert (framer.unfinished, framer.feed(parts[2]), framer.unfinished) == (True, [Frame(b"\x01one two")], False)
    framer.feed(parts[0])
    assert framer.rest() == [Frame(b"one ", "torn: the stream ended within it")]


def test_what_is_sent_is_masked_and_read_by_the_other_side() -> None:
    """Each kind of message; what cannot be sent is refused."""
    framer, server = opened()
    for data in (b"\x01text", b"\x02bytes", b"\x09?", b"\x0a!", b"\x08\x03\xe8bye", b"\x08"):
        server.receive_bytes(framer.pack(data))
    found = [(int(frame.opcode), frame.payload) for frame in server.received_frames()]
    assert found == [(1, "text"), (2, b"bytes"), (9, b"?"), (10, b"!"), (8, (1000, "bye"))]
    for data in (b"", b"\x03", b"\x01\xff", b"\x00/again", b"\x09" + bytes(126)):
        with pytest.raises(CodecError):
            framer.pack(data)


def test_a_close_is_the_last_message() -> None:
    """With a code and a reason, or without; a message after it is a trouble."""
    framer, server = opened()
    assert framer.feed(bytes(server.close(1001, "away"))) == [Frame(b"\x08\x03\xe9away")]
    assert "ValueError" in framer.feed(served(b"\x01x"))[0].trouble
    framer, server = opened()
    assert framer.feed(bytes(server.close())) == [Frame(b"\x08")]


def test_a_connection_may_be_refused() -> None:
    """The status is the answer; the body of the response is not a message, and another connection begins anew."""
    framer, server = websocket()(), WSConnection(ConnectionType.SERVER)
    server.receive_data(framer.pack(b"\x00/"))
    list(server.events())
    assert framer.feed(server.send(RejectConnection(status_code=403)) + b"body") == [Frame(b"\x00403")]
    assert (framer.feed(b"more"), framer.rest()) == ([], [])
    framer.pack(b"\x00/")
    assert "Error" in framer.feed(b"nonsense\r\n\r\n")[0].trouble


def test_broken_messages_are_marked() -> None:
    """A masked one, an opcode that there is not, text that is not UTF-8, and one over the largest size."""
    for raw in (b"\x81\x81abcdx", b"\x83\x00", b"\x81\x01\xff"):
        assert "ParseFailed" in opened()[0].feed(raw)[0].trouble
    framer, server = opened(largest=10)
    assert framer.feed(served(b"\x02" + bytes(11))) == [Frame(b"\x02" + bytes(9), "longer than 10 bytes")]
    framer, server = opened(largest=10)
    assert framer.feed(bytes(server.send_data(bytes(8), fin=False))) == []
    assert framer.feed(bytes(server.send_data(bytes(8), fin=False)))[0].trouble == "longer than 10 bytes"
