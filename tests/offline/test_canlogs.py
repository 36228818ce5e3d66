"""Logs of CAN buses: each frame has the bytes that the CAN adapter gives it."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Annotated, ClassVar

import pytest

from otf.adapter import Bench
from otf.adapters import tcp
from otf.cli.replay_logs import How, opinion
from otf.codec.can import CanCodec, CanFrame, decode_can, encode_can
from otf.codec.fields import raw, u8
from otf.codec.records import RecordCodec, records
from otf.errors import TraceError
from otf.offline.canlogs import asc, blf, candump
from otf.offline.entries import UNTIMED
from otf.offline.logs import Opinion
from otf.spec import Spec, Transition, goto
from tests.trace.test_pcapng import interface, option, packet, section


@dataclass(frozen=True)
class Coin:
    """A coin, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000010001000000")
    cents: Annotated[int, u8]


@dataclass(frozen=True)
class Button:
    """The button, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000010100000000")


@dataclass(frozen=True)
class Coffee:
    """A coffee, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000020001000000")
    cups: Annotated[int, u8]


def machine(paid: int, inp: Coin | Button) -> Iterator[Transition[int]]:
    """Yield what the machine may do."""
    match inp:
        case Coin(cents) if paid + cents <= 10:
            yield goto(paid + cents)
        case Button() if paid >= 10:
            yield goto(paid - 10, Coffee(1))
        case _:
            return


CODEC: RecordCodec = records(Coin, Button, Coffee)
BUS = Bench.on_ports(
    Spec(machine, 0, [Coin(5), Coin(10), Button()]),
    CODEC,
    {"bus": tcp("tcp://127.0.0.1:7000")},
    quiescence=0.05,
    latency=0.002,
)


def told(text: bytes, bench: Bench = BUS) -> Opinion:
    """Return the opinion of a log of candump."""
    return opinion("some.log", io.BytesIO(text), bench, How(form="candump"))


def test_messages_of_one_type_are_told_apart_by_their_bytes() -> None:
    """Frames as they are: those that the model sends are inputs, all others outputs."""
    bench = Bench.on_ports(Spec(answering, 0, [CanFrame(1)]), CanCodec(), BUS.ports, quiescence=0.05)
    found = told(b"(1.0) can0 001#\n(1.001) can0 002#\n", bench)
    assert (found.verdict.outcome, found.steps, found.strange) == ("pass", 1, 0)
    assert told(b"(1.0) can0 001#\n(1.001) can0 003#\n", bench).verdict.outcome == "fail"


def answering(state: int, _inp: CanFrame) -> Iterator[Transition[int]]:
    """Yield the answer to a frame."""
    yield goto(state, CanFrame(2))


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b"(1.5) can0 123#0102", CanFrame(0x123, b"\1\2")),
        (b"(1.5) can0 00000123#0102 R", CanFrame(0x123, b"\1\2", extended=True)),
        (b"(1.5) can0 123#R", CanFrame(0x123, remote=True)),
        (b"(1.5) can0 123#R2", CanFrame(0x123, b"\0\0", remote=True)),
        (b"(1.5) can0 123##30102", CanFrame(0x123, b"\1\2", fd=True, brs=True, esi=True)),
        (b" (1.5)  can0  123   [2]  01 02", CanFrame(0x123, b"\1\2")),
        (b"  vcan0  TX - -  123   [2]  01 02 ", CanFrame(0x123, b"\1\2")),
        (b"  can0  00000123   [02]  01 02", CanFrame(0x123, b"\1\2", extended=True, fd=True)),
        (b"  can0  123   [2]  remote request", CanFrame(0x123, b"\0\0", remote=True)),
    ],
)
def test_lines_of_candump(line: bytes, frame: CanFrame) -> None:
    """Each form has the bytes that the CAN adapter gives the same frame."""
    (entry,) = candump([line + b"\n"], "some.log")
    assert decode_can(entry.data) == frame
    assert entry.way == ("sent" if b"TX" in line else "unknown")
    assert entry.unit == (UNTIMED if b"(" not in line else 0.0)


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b" 0.5 1  123  Rx  d 2 01 02", CanFrame(0x123, b"\1\2")),
        (b" 0.5 1  123x  Tx  r 2", CanFrame(0x123, b"\0\0", extended=True, remote=True)),
        (
            b" 0.5 CANFD   1 Rx        123                                   1 0 2  2 01 02   0 0 1000 0 0 0 0 0",
            CanFrame(0x123, b"\1\2", fd=True, brs=True),
        ),
    ],
)
def test_lines_of_asc(line: bytes, frame: CanFrame) -> None:
    """The same for ASC files; times may be relative to the frame before."""
    head = b"date Sun Nov 22 19:46:13.545 2026\nbase hex  timestamps relative\n"
    entries = list(asc((head + line + b"\n" + line + b"\n").splitlines(keepends=True), "some.asc"))
    assert [decode_can(each.data) for each in entries] == [frame, frame]
    assert [each.at for each in entries] == [0.5, 1.0]


def test_a_capture_of_a_bus() -> None:
    """Its frames are told apart by their bytes; one that the machine itself sent was an input, and no coffee is."""
    frames = [encode_can(CanFrame(0x100, b"\n")), encode_can(CanFrame(0x101)), encode_can(CanFrame(0x200, b"\1"))]
    data = section() + interface() + packet(10**6, frames[0]) + packet(2 * 10**6, frames[1])
    data += packet(2 * 10**6 + 1000, frames[2], option(2, struct.pack("<I", 1)))
    right, wrong = (
        opinion("a.pcapng", io.BytesIO(each), BUS, CAPTURE) for each in (data, data + packet(5 * 10**6, frames[2]))
    )
    assert (right.verdict.outcome, right.steps, wrong.verdict.outcome, wrong.place) == ("pass", 2, "fail", 4)
    sent = section() + interface() + packet(1, frames[2], option(2, struct.pack("<I", 2)))
    with pytest.raises(TraceError, match="number 1: no input of the model has these bytes"):
        opinion("a.pcapng", io.BytesIO(sent), BUS, CAPTURE)


CAPTURE = How(form="pcapng")


def container(data: bytes, method: int = 2) -> bytes:
    """Return a BLF file with one container."""
    body = struct.pack("<H6xL4x", method, len(data)) + (zlib.compress(data) if method else data)
    head = b"LOGG" + struct.pack("<I", 144) + bytes(136)
    return head + struct.pack("<4sHHII", b"LOBJ", 16, 1, 16 + len(body), 10) + body


def frame(kind: int, body: bytes, size: int | None = None, head: int = 32) -> bytes:
    """Return an object of a BLF file."""
    whole = head + len(body) if size is None else size
    return struct.pack("<4sHHIIIHHQ", b"LOBJ", head, 1, whole, kind, 2, 0, 0, 10**9) + body


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (container(bytes(1 << 25)), "more than 16777216 bytes when it is unpacked"),
        (container(b"x", method=2)[:-5] + b"hello", "container 1: Error"),
        (container(frame(1, b"", size=0), method=0), "object 1: it has 0 bytes"),
        (container(frame(1, b"", size=1 << 30), method=0), "object 1: it has 1073741824 bytes"),
        (container(b"")[:144] + b"hello, world, hello", "container 1: it begins with 68656c6c"),
        (container(b"")[:144] + struct.pack("<4sHHII", b"LOBJ", 16, 1, 0, 10), "container 1"),
    ],
    ids=map(str, range(6)),
)
def test_a_blf_file_of_a_stranger(data: bytes, says: str) -> None:
    """Neither a length of nothing nor one of everything is believed, and what is unpacked has a bound."""
    with pytest.raises(TraceError, match=says):
        list(blf(io.BytesIO(data), "a.blf"))


def test_objects_of_a_blf_file() -> None:
    """Classic frames and both kinds of CAN FD frames; an object may go on in the next container; others are skipped."""
    classic = frame(1, struct.pack("<HBBI8s", 1, 1, 2, 0x123, b"ab"))
    remote = frame(86, struct.pack("<HBBI8s", 1, 0x80, 2, 0x80000123, b""))
    fd = frame(100, struct.pack("<HBBIIBBB5x64s", 1, 0, 9, 0x124, 0, 0, 3, 12, b"x" * 12))
    fd_64 = frame(101, struct.pack("<BBBBIII16xHBB4x", 1, 9, 12, 0, 0x125, 0, 0x5000, 0, 1, 0) + b"y" * 12)
    data = classic + frame(65, bytes(8)) + remote + fd + frame(1, b"") + fd_64
    whole = container(data[:150]) + b"\0" * ((len(container(data[:150])) - 144) % 4) + container(data[150:])[144:]
    found = [(each.at, each.way, each.data.hex()) for each in blf(io.BytesIO(whole), "a.blf")]
    assert found == [
        (1.0, "sent", "0000012302000000" + "6162"),
        (1.0, "unknown", "c000012302000000" + "0000"),
        (1.0, "unknown", "000001240c050000" + "78" * 12),
        (1.0, "sent", "000001250c060000" + "79" * 12),
    ]


CYCLES = 50_000


@pytest.mark.slow
def test_a_long_log_of_a_bus_in_constant_memory(tmp_path: Path) -> None:
    """A million frames, most of other nodes, wrong at the very end."""
    others = b"".join(b"(%%(at)d.7) can0 %x#6F74686572 R\n" % (0x700 + at) for at in range(17))
    cycle = b"(%(at)d.0) can0 100#0A T\n(%(at)d.5) can0 101# T\n(%(at)d.501) can0 200#01 R\n" + others
    with (tmp_path / "can.log").open("wb") as file:
        for at in range(CYCLES):
            file.write(cycle % {b"at": at})
        file.write(b"(%d.0) can0 200#01 R\n" % CYCLES)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    with (tmp_path / "can.log").open("rb") as file:
        found = opinion("can.log", file, BUS, How(form="candump"))
    assert getrusage(RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB: the log has twice as many
    assert (found.verdict.outcome, found.place) == ("fail", 20 * CYCLES + 1)
    assert (found.steps, found.strange) == (2 * CYCLES, 17 * CYCLES)
