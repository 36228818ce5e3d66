"""Malformed inputs for the shipped benches: what a message is, what frames are, and what their models take."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from otf.adapter import Bench
from otf.adapter.malformed import Disturbed, hardened, sample_of
from otf.cli.benches import load
from otf.codec.malformed import Malformed, MalformedCodec
from otf.core import Model, Node, Symbol
from otf.models.dns.messages import Raw
from otf.models.elm327 import ElmCommand
from otf.models.modbus.messages import PORT, ModbusCodec, Request
from otf.models.mqtt.messages import MqttViolation
from otf.models.uboot.messages import Type
from otf.spec import Elapse, Transition

BENCHES = (
    *("coap", "coffee", "conference", "dns", "gtp", "irc", "jobs", "memcached", "modbus", "mqtt", "redis", "smtp"),
    *("tftp", "uci", "bootloader", "elm327", "microbit", "uboot"),
)
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
    """In each state something may happen on them; they have one frame that is no message, or several frames."""
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
    # some inputs of DNS and MQTT are no messages on purpose
    inputs = [each for each in sample_of(made.spec, made.codec) if not isinstance(each, (MqttViolation, Raw))]
    read = [each for each in inputs if codec.reads(each)]
    assert len(read) >= 0.8 * len(inputs)
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
        ("bootloader", b"n ", [b"n "]),
        ("bootloader", b"U\0\x08 ", [b"U\0\x08 "]),
        ("bootloader", b"n\0 ", []),
        ("bootloader", b"0#", []),
        ("elm327", b"AT\xff I", [b"AT\xff I"]),
        ("elm327", b"AT\rI", []),
        ("microbit", b"a\xff", [b"a\xff"]),
        ("microbit", b"a\x7f", []),
        ("microbit", b"\3", [b"\3"]),
        ("uboot", b"echo\xff", [b"echo\xff"]),
        ("uboot", b"echo\x1b[A", []),
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
        ("memcached", b"gett a\r\n"),
        ("memcached", b"set a 0 0\r\n"),
        ("memcached", b"set a 0 0 2\r\nxyz\r\n"),
        ("modbus", bytes.fromhex("0103000000ff85cf")),
        ("modbus", b""),
        ("redis", b"*1\r\n?4\r\nPING\r\n"),
        ("redis", b"*0\r\n"),
        ("tftp", b"\0\1short\0"),
        ("tftp", b"\0\1short\0octett\0"),
        ("tftp", b"\0\4"),
        ("uci", b"frob now"),
        ("bootloader", b"n "),
        ("elm327", b"AT\xff I"),
        ("microbit", b"a\xff"),
        ("uboot", b"echo\xff"),
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
        ("irc", b"quit :bye"),
        ("jobs", b"stats\r\n"),
        ("memcached", b"flush_all 9 noreply\r\n"),
        ("redis", b"config get x\n"),
        ("uci", b"joho \xa0 stop"),
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


@pytest.mark.parametrize(
    ("name", "raw", "of", "number"),
    [
        ("bootloader", b"n ", b"0 ", 1),  # an unknown letter changes nothing
        ("bootloader", b"0!", b"0 ", 0),  # what follows a command without its end is a known issue
        ("elm327", b"ATH1\xff", b"ATH1", 2),  # it is not understood, or taken without the byte
        ("elm327", b"\xff\xff", b"ATH1", 0),  # it might be an empty line, which repeats a command
        ("microbit", b"a = 3\xff", b"a = 3", 2),
        ("microbit", b"b = -\xff", b"b = -7", 0),  # taken without the byte, it is another line
        ("uboot", b"\xffsetenv a 1", b"setenv a 1", 2),
        ("uboot", b"\xf3etenv a 1", b"setenv a 1", 2),
        ("uboot", b"setenv a 1\xff", b"setenv a 1", 0),  # a part of the value
        ("uboot", b"re\xffset", b"reset", 0),  # the board may start anew
    ],
)
def test_a_prompt_takes_most_bytes(name: str, raw: bytes, of: bytes, number: int) -> None:
    """What a line with odd bytes may do is known, or it is not sent."""
    spec = load(name, {}).spec
    assert spec.malformed is not None
    ways = spec.malformed(spec.initial, Malformed(raw, "", of))
    assert ways is not None
    assert len({way.state for way in ways if isinstance(way, Transition)}) == number


def test_whether_an_empty_line_repeats_malformed_bytes_is_left_open() -> None:
    """U-Boot and the ELM327 may do so: no empty line is sent before the next command."""
    for name, raw, empty in (("uboot", b"echo\xa0hi you", Type("")), ("elm327", b"ATI\xff", ElmCommand(""))):
        spec = load(name, {}).spec
        assert spec.malformed is not None
        first, *_ = spec.malformed(spec.initial, Malformed(raw, "", raw[:4])) or ()
        assert isinstance(first, Transition)
        assert list(spec.step(first.state.state, empty)) == []
