"""What `check_codec` accepts, what it finds, and that the shipped codecs pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest

from otf.adapter import Codec, PortAction
from otf.codec import lines
from otf.compat.pymodel import Apiece
from otf.errors import CodecError
from otf.models import coffee
from otf.models.coap.codec import CoapCodec
from otf.models.coap.messages import Ping, Request
from otf.models.coap.wire import Packet, packed
from otf.models.conference.codec import ConferenceCodec
from otf.models.conference.messages import DataPDUin, Join
from otf.models.gtp import messages as gtp
from otf.models.irc import messages as irc
from otf.models.jobs import messages as jobs
from otf.models.modbus import messages as modbus
from otf.models.redis import messages as redis
from otf.models.tftp import messages as tftp
from otf.models.uboot import messages as uboot
from otf.models.uci import messages as uci
from otf.testing import check_codec


@dataclass(frozen=True)
class Level:
    """A value of one byte."""

    number: int


@dataclass(frozen=True)
class Other:
    """A value that the codec does not know."""


class Bytes:
    """A codec of levels."""

    types: tuple[type, ...] = (Level,)

    def port(self, value: object) -> str:
        del value
        return "p"

    def encode(self, value: object) -> Any:  # noqa: ANN401 -- some of the codecs below return what they should not
        if not isinstance(value, Level):
            raise CodecError("no level")
        return bytes([value.number])

    def decode(self, port: str, data: bytes) -> object:
        del port
        if len(data) != 1:
            raise CodecError("no level")
        return Level(data[0])


class Unported(Bytes):
    def port(self, value: object) -> Any:  # noqa: ANN401 -- no text
        return value


class Counting(Bytes):
    def __init__(self) -> None:
        self.numbers = count()

    def encode(self, value: object) -> bytes:
        del value
        return bytes([next(self.numbers)])


class Shortened(Bytes):
    def decode(self, port: str, data: bytes) -> object:
        return replace(level, number=level.number & 15) if isinstance(level := super().decode(port, data), Level) else 0


class Stumbling(Bytes):
    def decode(self, port: str, data: bytes) -> object:
        if data[:1] == b"\xff":
            raise SystemExit(3)
        return super().decode(port, data)


class Undeclared(Bytes):
    def decode(self, port: str, data: bytes) -> object:
        return Other() if len(data) == 2 else super().decode(port, data)


class Texts(Bytes):
    def encode(self, value: object) -> Any:  # noqa: ANN401 -- no bytes
        return str(value)


@pytest.mark.parametrize(
    ("codec", "values", "frames", "says"),
    [
        (Unported(), [Level(1)], [], r"port\(Level\(number=1\)\) is Level\(number=1\); the name of a port is a text"),
        (Counting(), [Level(1)], [], r"encode\(Level\(number=1\)\) gives other bytes the second time"),
        (Shortened(), [Level(16)], [], r"decode\('p', b'\\x10'\) is Level\(number=0\); these are the bytes of Level"),
        (
            Shortened(),
            [],
            [("p", b"\x10")],
            r"encode\(Level\(number=0\)\) is b'\\x00'; this value was decoded from b'\\x10'",
        ),
        (Stumbling(), [Level(1)], [], r"decode\('p', b'\\xff.*'\) raised SystemExit: 3; only CodecError may be raised"),
        (Undeclared(), [Level(1)], [], r"decode\('p', b'.*'\) is Other\(\); add Other to the types of the codec"),
        (Bytes(), [Other()], [], r"encode\(Other\(\)\) raised CodecError; each value to test has bytes"),
        (Bytes(), [], [("p", b"12")], r"decode\('p', b'12'\) raised CodecError; each frame to test has a value"),
        (
            Texts(),
            [Level(1)],
            [],
            r"encode\(Level\(number=1\)\) is 'Level\(number=1\)'; it returns bytes, or a PortAction",
        ),
    ],
)
def test_a_wrong_codec_is_found(codec: Codec, values: list[object], frames: list[tuple[str, bytes]], says: str) -> None:
    """The error names the call that broke the contract."""
    with pytest.raises(AssertionError, match=says):
        check_codec(codec, values, frames=frames)


def test_an_interruption_is_no_finding() -> None:
    """Ctrl-C goes through."""

    class Interrupted(Bytes):
        def decode(self, port: str, data: bytes) -> object:
            del port, data
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_codec(Interrupted(), ports=["p"])


def test_port_actions_have_no_bytes_to_read_back() -> None:
    """They are inputs like others."""
    check_codec(
        lines({Other: PortAction.CLOSE, Level: "level {number}"}), [Other(), Level(-3)], frames=[("", b"level 7")]
    )


COAP = packed(Packet("ACK", 0x45, 0, b"t", (), b"a text"))
SHIPPED = [
    pytest.param(Bytes(), [Level(0), Level(255)], [], [("p", b"a")], id="bytes"),
    pytest.param(coffee.codec, [coffee.Coin(5), coffee.Coffee()], [], [("", b"coin 20")], id="lines"),
    pytest.param(CoapCodec(), [], [Ping("c1"), Request("c1", "GET", "x")], [("c1", COAP)], id="coap"),
    pytest.param(
        ConferenceCodec(1, 3),
        [],
        [Join("a", "b"), DataPDUin(2, "text")],
        [("cpe2", b"D\x01\x00"), ("cpe3", b"A\x01\x00\x02c1"), ("user", b"data n hi")],
        id="conference",
    ),
    pytest.param(
        gtp.GtpCodec(),
        [],
        [gtp.Command(("play", "b", "a1"), 7), gtp.Noise("#")],
        [("gtp", b"=7 a text"), ("gtp", b"? no")],
        id="gtp",
    ),
    pytest.param(
        irc.IrcCodec(),
        [],
        [],
        [
            ("n0", b":irc.test 353 n0 = #x :@n0 n1"),
            ("n0", b":n1!u@h PRIVMSG #x :hello"),
            ("n0", b":irc.test 331 n0 #x :none"),
        ],
        id="irc",
    ),
    pytest.param(
        jobs.JobsCodec(),
        [],
        [jobs.Command("a", "put", (1, 2), "body")],
        [("a", b"INSERTED 7\r\n"), ("a", b"RESERVED 7 2\r\nab\r\n"), ("a", b"USING tube\r\n")],
        id="jobs",
    ),
    pytest.param(
        modbus.ModbusCodec(),
        [],
        [],
        [
            ("line", frame + modbus.crc(frame))
            for frame in (b"\x01\x01\x01\x05", b"\x01\x03\x02\x00\x07", b"\x01\x83\x02", b"\x02\x03")
        ],
        id="modbus",
    ),
    pytest.param(
        redis.RedisCodec(),
        [],
        [redis.Command("a", "SET", ("k0", "x"))],
        [("a", b"+OK\r\n"), ("b", b"*2\r\n:1\r\n$-1\r\n"), ("c", b"*-1\r\n"), ("a", b"-ERR no\r\n")],
        id="redis",
    ),
    pytest.param(
        tftp.TftpCodec(),
        [tftp.Data(1, "a", 3), tftp.Ack(7)],
        [tftp.Read("f"), tftp.Error(1)],
        [("tftp", b"\0\4\0\7")],
        id="tftp",
    ),
    pytest.param(
        uboot.UbootCodec(),
        [],
        [uboot.Type("printenv a")],
        [("console", b"printenv a\r\na=1\r\n=> "), ("console", uboot.COUNTDOWN)],
        id="uboot",
    ),
    pytest.param(
        uci.UciCodec({"start": "startpos"}),
        [],
        [uci.Say("uci"), uci.Position("start"), uci.Go(("depth", "1")), uci.IsReady()],
        [
            ("uci", b"bestmove e2e4 ponder e7e5"),
            ("uci", b"info depth 7 nodes 1"),
            ("uci", b"id name x"),
            ("uci", b"readyok"),
        ],
        id="uci",
    ),
    pytest.param(Apiece(("a",), (Level,)), [], [], [], id="pymodel"),
]


@pytest.mark.parametrize(("codec", "values", "inputs", "frames"), SHIPPED)
def test_the_shipped_codecs_pass(
    codec: Codec, values: list[object], inputs: list[object], frames: list[tuple[str, bytes]]
) -> None:
    """With all kinds of their frames, damaged ones, and noise."""
    check_codec(codec, values, inputs=inputs, frames=frames, rounds=3000)
