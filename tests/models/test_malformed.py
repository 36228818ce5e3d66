"""Malformed inputs for the shipped benches: what a message is, what frames are, and what their models take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from otf.adapter import Bench
from otf.adapter.malformed import Disturbed, hardened, sample_of
from otf.adapter.socket import CUT_OFF
from otf.cli.benches import load
from otf.codec.malformed import Malformed, MalformedCodec
from otf.core import Model, Node, Symbol
from otf.models.dns.messages import Raw
from otf.models.http.codec import RawHttpCodec
from otf.models.http.messages import RawRequest, RawResponse, WebConnect, WebFinish
from otf.models.http.spec import WebSession
from otf.models.modbus.messages import PORT, ModbusCodec, Request
from otf.models.mqtt.messages import MqttViolation
from otf.models.smtp.messages import Command, Connect, Reply
from otf.models.ssh.messages import Dial, Send, Sent
from otf.models.websocket.messages import HandshakeAnswer, RawHandshake, SocketConnect, SocketMessage
from otf.spec import Elapse
from otf.trace.events import Ended
from tests.models.scripts import judged

BENCHES = (
    *("coap", "coffee", "conference", "dns", "gtp", "irc", "jobs", "memcached", "modbus", "mqtt", "redis", "smtp"),
    *("http", "ssh", "tftp", "uci", "websocket", "bootloader", "elm327", "microbit", "uboot"),
)
INVALID = {"http": 0.3, "websocket": 0.1}
"""Benches many of whose inputs are not messages on purpose; the least share of the others."""
NODES, INPUTS = 12, 60


def _steps(model: Model) -> Iterator[tuple[Node, list[Symbol]]]:
    """Yield the first states of a model, each with some of its inputs."""
    left, seen = deque([model.initial]), {model.initial}
    while left and len(seen) < NODES:
        node = left.popleft()
        inputs = [each for each in islice(model.enabled_inputs(node), INPUTS) if not isinstance(each.value, Elapse)]
        yield node, inputs
        for move in (move for inp in inputs for move in model.moves(node, inp)):
            if isinstance(move.target, Node) and move.target not in seen:
                seen.add(move.target)
                left.append(move.target)


@pytest.mark.parametrize("name", BENCHES)
def test_a_model_takes_any_bytes_that_are_no_message(name: str) -> None:
    """In each state something may happen on them; they have one frame that is not a message, or several frames."""
    made: Bench = load(name, {}).with_malformed(0.1)
    model, random, count = made.oracle().model, Random(7), 0
    codec = made.codec
    assert isinstance(codec, MalformedCodec)
    for node, inputs in _steps(model):
        for inp in inputs:
            bad = codec.damaged(inp.value, random, [each.value for each in inputs[:9]])
            if bad is None:
                continue
            count += 1
            frames = codec.frames(bad.port, bad.raw)
            assert len(frames) > 1 or codec.message(bad.port, frames[0]) is None
            model.moves(node, model.symbol(bad))
    assert count > 5


def test_a_new_connection_follows_the_end_of_one_in_an_unknown_state() -> None:
    """Before that end nothing is sent; after it the model is as at first, so that the path shows whether it lives."""
    made = load("http", {})
    hard = hardened(made.spec, MalformedCodec(RawHttpCodec()), ["web"])
    [lost] = (getattr(way, "state", None) for way in hard.step(WebSession(), Malformed(b"?\r\n\r\n", "web")))
    assert (list(hard.inputs(lost)), list(hard.step(lost, WebConnect()))) == ([], [])
    assert hard.emits is not None
    assert [getattr(way, "state", "") for way in hard.emits(lost)] == [lost, None, None, None, None]


def test_after_malformed_bytes_no_sentence_is_violated() -> None:
    """What is wrong then may follow from the malformed bytes: a failure cites no sentence about the next request."""
    made = load("modbus", {})
    spec, request = made.spec, Request(3, 0, 1)
    hard = hardened(spec, MalformedCodec(ModbusCodec()), [PORT])
    cited = [[way.req for way in hard.step(state, request)] for state in (spec.initial, Disturbed(spec.initial, PORT))]
    assert any(cited[0])
    assert not any(cited[1])
    assert len(cited[0]) == len(cited[1])


@pytest.mark.parametrize("name", BENCHES)
def test_inputs_are_decoded_as_they_were(name: str) -> None:
    """The codec reads the bytes of almost all inputs as these inputs; their bytes are one frame."""
    made = load(name, {})
    assert made.codec is not None
    codec = MalformedCodec(made.codec)
    # some inputs of DNS and MQTT are not messages on purpose
    inputs = [each for each in sample_of(made.spec, made.codec) if not isinstance(each, (MqttViolation, Raw))]
    read = [each for each in inputs if codec.reads(each)]
    assert len(read) >= INVALID.get(name, 0.8) * len(inputs)
    for each in read:
        data = codec.encode(each)
        assert isinstance(data, bytes)
        assert codec.frames(codec.port(each), data) == (data,)


@pytest.mark.parametrize(
    ("name", "raw", "frames"),
    [
        ("memcached", b"get a\r\nset a 0 0 2\r\nxy\r\n", [b"get a\r\n", b"set a 0 0 2\r\nxy\r\n"]),
        ("memcached", b"set a 0 0 1\r\nxy\r\n", [b"set a 0 0 1\r\nxy\r", b"\n"]),
        ("memcached", b"set a 0 0 9\r\nxy\r\n", []),
        ("memcached", b"set a 0 0 x\r\nxy\r\n", [b"set a 0 0 x\r\n", b"xy\r\n"]),
        ("jobs", b"put 1 0 9 2\r\nxy\r\ndelete 1\r\n", [b"put 1 0 9 2\r\nxy\r\n", b"delete 1\r\n"]),
        ("jobs", b"delete 1\n", []),
        ("redis", b"*1\r\n$4\r\nPING\r\nPING\n", [b"*1\r\n$4\r\nPING\r\n", b"PING\n"]),
        ("redis", b"*1\r\n$9\r\nPING\r\n", []),
        ("redis", b"*1\r\n?4\r\nPING\r\n*1\r\n", [b"*1\r\n?4\r\nPING\r\n*1\r\n"]),
        ("redis", b"*99999999\r\n", [b"*99999999\r\n"]),
        ("redis", b"*\x001\r\n$4\r\nPING\r\n", []),
        ("redis", b"*0\r\nPING\n", [b"*0\r\n", b"PING\n"]),
        ("redis", b"*1", []),
        ("redis", b"*1\r\n$4\rPING\r\n", []),
        ("redis", b"*1\r?$4\r?PING??", [b"*1\r?$4\r?PING??"]),
        ("irc", b"NAMES #x\r\nJOIN #x", [b"NAMES #x", b"JOIN #x"]),
        ("irc", b"NAMES \0#x", []),
        ("irc", b"N" * 600, []),
        ("gtp", b"name\nversion", [b"name", b"version"]),
        ("uci", b"stop\nstop", [b"stop", b"stop"]),
    ],
)
def test_what_a_server_reads_as_frames(name: str, raw: bytes, frames: list[bytes]) -> None:
    """A server takes each command with its data, and waits for what is missing: then there are none."""
    codec = load(name, {}).codec
    assert codec is not None
    assert list(MalformedCodec(codec).frames("a", raw)) == frames


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("coap", b"\x40\x01"),
        ("coap", b"\x50\0\0\0"),
        ("coap", b"\x40\x45\0\0"),
        ("gtp", b"playy b a1"),
        ("irc", b"JOINN #x"),
        ("irc", b""),
        ("jobs", b"deletee 1\r\n"),
        ("jobs", b"put 1 0 9\r\n"),
        ("jobs", b"put 1 0 9 3\r\nxy\r\n"),
        ("http", b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("http", b"GET / HTTP/1.1\r\n\r\n"),
        ("http", b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        ("http", b"GET / HTTP/1.1\nHost: a\n\n"),
        ("http", b"GET / HTTP/1.1\r\nHost: a\r\n X: y\r\n\r\n"),
        ("http", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab"),
        ("http", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\nab"),
        ("http", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunkeb\r\n\r\n0\r\n\r\n"),
        ("http", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n"),
        ("http", b""),
        ("memcached", b"gett a\r\n"),
        ("memcached", b"set a 0 0\r\n"),
        ("memcached", b"set a 0 0 2\r\nxyz\r\n"),
        ("modbus", bytes.fromhex("0103000000ff85cf")),
        ("modbus", b""),
        ("redis", b"*1\r\n?4\r\nPING\r\n"),
        ("redis", b"*0\r\n"),
        ("ssh", b""),
        ("ssh", b"\x5a\0\0\0\x09session"),
        ("ssh", b"\x02\0\0\0\1xy"),
        ("ssh", b"\x65"),
        ("tftp", b"\0\1short\0"),
        ("tftp", b"\0\1short\0octett\0"),
        ("tftp", b"\0\4"),
        ("uci", b"frob now"),
        ("websocket", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("websocket", b"GET / HTTP/1.1\r\n"),
        ("websocket", b"\x89\x02hi"),
        ("websocket", b"\x89\x82\0\0\0\0h"),
        ("websocket", b"\x89\xfe\0\2\0\0\0\0hi"),
        ("websocket", b"\x83\x80\0\0\0\0"),
        ("websocket", b"\x81\x81\0\0\0\0\xff"),
        ("websocket", b"\x88\x82\0\0\0\0\0\1"),
        ("websocket", b""),
    ],
)
def test_what_is_no_message(name: str, raw: bytes) -> None:
    """A name that no server has, a number that does not fit, a part that is missing."""
    codec = load(name, {}).codec
    assert codec is not None
    assert MalformedCodec(codec).message("a", raw) is None


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("coap", bytes.fromhex("4201000061625161")),
        ("coap", bytes.fromhex("40010000b161") + b"\xff\xe9"),
        ("gtp", b"12 quit"),
        ("http", b"GET /other HTTP/1.1\r\nHost: a\r\n\r\n"),
        ("irc", b"quit :bye"),
        ("jobs", b"stats\r\n"),
        ("memcached", b"flush_all 9 noreply\r\n"),
        ("redis", b"config get x\n"),
        ("ssh", b"\x32\0\0\0\4user\0\0\0\1x\0\0\0\4none"),
        ("uci", b"joho \xa0 stop"),
        ("websocket", b"\x89\x81\0\0\0\0?"),
    ],
)
def test_a_message_that_the_model_does_not_send_may_do_anything(name: str, raw: bytes) -> None:
    """It is none of the inputs, and yet a server takes it: the path ends there."""
    made = load(name, {}).with_malformed(0.1)
    assert isinstance(made.codec, MalformedCodec)
    port = made.codec.port(next(iter(made.spec.inputs(made.spec.initial))))
    assert made.codec.message(port, raw) is not None
    model = made.oracle().model
    [move] = model.moves(model.initial, model.symbol(Malformed(raw, port, raw)))
    assert isinstance(move.target, Node)
    assert str(move.target.value) == "Anywhere()"


def _request(*fields: str, body: str = "") -> bytes:
    return "\r\n".join(["POST /echo HTTP/1.1", "Host: a", *fields, "", body]).encode("latin-1")


def _socket(raw: bytes, *outputs: object, opened: bool = True) -> list[tuple[object, ...]]:
    handshake = (RawHandshake(), HandshakeAnswer(101, accepts=True))
    return [(SocketConnect(),), *([handshake] if opened else []), (raw, *outputs)]


SERVED = RawResponse(200, "POST /echo note= body=hello")
REFUSED = RawResponse(400, closes=True)
CLOSED = Ended("end of stream")
GET = (RawRequest(), RawResponse(200, "GET / note= body="))
FAILED = SocketMessage(8, "\x03\xea")
GREETED = [(Connect(), Reply(220)), (Command("HELO me.example"), Reply(250))]
RECIPIENT = (Command("RCPT TO:<b@example.org>"), Reply(250))
KEYED = [(Dial(),), (Send("HELLO"),), (Send("EXCHANGE"), Sent("NEWKEYS")), (Send("NEWKEYS"),)]


@pytest.mark.parametrize(
    ("name", "script", "outcome"),
    [
        ("http", [(_request("Content-Length: 5x", body="hello"), REFUSED, CLOSED), (WebConnect(),), GET], "pass"),
        ("http", [(_request("Content-Length: 5x", body="hello"), SERVED)], "fail"),
        ("http", [(_request("Content-Length: 5x", body="hello"), CLOSED)], "fail"),
        ("http", [(_request("Content-Length: 5", "X: a\0", body="hello"), SERVED), GET], "pass"),
        ("http", [(_request("Content-Length: 5", "X: a\0", body="hello"), CLOSED), (WebConnect(),), GET], "pass"),
        ("http", [(_request("Content-Length: 5", "X: a\0", body="hello"), REFUSED, Ended("connection reset"))], "pass"),
        ("http", [(_request("Content-Length: 5", "X: a\0", body="hello"), SERVED, SERVED)], "fail"),
        ("http", [(_request("Content-Length: 5", "X: a\0", body="hello"),)], "fail"),
        ("http", [(_request("Content-Length: 6", body="hello"),), (WebFinish(), CLOSED), (WebConnect(),), GET], "pass"),
        ("http", [(_request("Content-Length: 6", body="hello"), SERVED)], "fail"),
        ("http", [(_request("X(: y", "Content-Length: 5", body="hello"), SERVED, SERVED)], "pass"),
        ("http", [(_request("X(: y", body="hello"), RawResponse(599), CLOSED), (WebConnect(),), GET], "pass"),
        ("http", [(_request("Content-Length: 5", body="hello") * 6, SERVED, CLOSED), (WebConnect(),), GET], "pass"),
        ("http", [(b"1.0\r\nX: y\r\n\r\n", RawResponse(200), CLOSED), (WebConnect(),), GET], "pass"),
        ("http", [(b"GET / HTTP/1.1\r\nX: y\r\n\r\n", RawResponse(200))], "fail"),
        ("http", [(b"POST /skip HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nhello", RawResponse(200))], "pass"),
        ("websocket", _socket(b"\x89\x02hi", FAILED, CLOSED), "pass"),
        ("websocket", [*_socket(b"\xf9\x80\0\0\0\0\x81", CLOSED), *_socket(b"\x81")], "pass"),
        ("websocket", _socket(b"\x89\x02hi"), "fail"),
        ("websocket", _socket(b"\x89\x02hi", SocketMessage(10, "hi")), "fail"),
        ("websocket", [*_socket(b"\x81\x82\0\0\0\0h", CLOSED), *_socket(b"\x81")], "pass"),
        ("websocket", _socket(b"GET / HTTP/1.1\r\n\r\n", HandshakeAnswer(400), CLOSED, opened=False), "pass"),
        ("websocket", _socket(b"GET / HTTP/1.1\r\n\r\n", HandshakeAnswer(101), opened=False), "fail"),
        ("websocket", _socket(b"GET /x HTTP/1.1\r\n\r\n", HandshakeAnswer(404), opened=False), "pass"),
        ("ssh", [*KEYED, (b"\x65x", Sent("UNIMPLEMENTED")), (Send("IGNORE", ("x",)),)], "pass"),
        ("ssh", [*KEYED, (b"\x65x", CLOSED), *KEYED], "pass"),
        ("ssh", [*KEYED, (b"\x65x", Sent("USERAUTH_SUCCESS"))], "fail"),
        ("ssh", [*KEYED, (b"\x05\0\0\0\x0dssh-userauth", Sent("DISCONNECT"), CLOSED), *KEYED], "pass"),
        ("smtp", [*GREETED, (b"FROM\r\n", Reply(500)), RECIPIENT], "fail"),
        ("smtp", [*GREETED, (b"FROM\r\n", Ended(CUT_OFF))], "pass"),
        ("smtp", [*GREETED, (b"RSET\r\nmail from:<>\r\nN\r\n", Reply(250), Reply(250), Reply(500))], "pass"),
        ("smtp", [*GREETED, (b"RSET\r\nmail from:<>\r\nN\r\n", Reply(250)), RECIPIENT], "pass"),
    ],
)
def test_what_may_follow_malformed_bytes(name: str, script: list[tuple[object, ...]], outcome: str) -> None:
    """The model reads them as a server may: it refuses them, or takes them for what they are nevertheless."""
    made = load(name, {}).with_malformed(0.1)
    port = "session" if name == "smtp" else made.outputs[0]
    opened = [(WebConnect(),)] if name == "http" else []
    steps = [
        (Malformed(inp, port) if isinstance(inp, bytes) else inp, *outputs) for inp, *outputs in [*opened, *script]
    ]
    assert judged(made, *steps) == outcome
