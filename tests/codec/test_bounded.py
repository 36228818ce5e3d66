"""Decoders of others are bounded in time and memory, whatever the system sends."""
# construct and Kaitai have no types
# ruff: noqa: ANN401
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false

from __future__ import annotations

import bz2
import gc
import os
import resource
import signal
import sys
import time
import zlib
from dataclasses import dataclass
from importlib import import_module
from threading import Thread
from typing import Any

import pytest

from otf import Bench, NonconformanceError, Spec, goto, run
from otf.adapters import inprocess
from otf.codec.libraries import from_construct, from_protobuf
from otf.codec.library import LibraryCodec
from otf.codec.objects import from_kaitai, from_scapy
from otf.codec.trial import TRIALS, DecodeTrial
from otf.errors import CodecError
from tests.codec.declared import construct as c

pytestmark = [pytest.mark.real, pytest.mark.skipif(sys.platform != "linux", reason="a copy of a process with limits")]
KAITAI: Any = import_module("kaitaistruct")
TIME = r"decoding these \d+ bytes takes more than 1 s of CPU time"
AT_ONCE: Any = {"quiescence": 0.0, "latency": 0.0, "busy": 0.0}
SPACE = r"decoding these \d+ bytes takes more than 256 MiB of memory"


@dataclass(frozen=True)
class Rows:
    """A message with a list."""

    rows: tuple[int, ...]


@dataclass(frozen=True)
class Text:
    """A message with bytes."""

    text: bytes


def rows(declaration: Any) -> LibraryCodec:
    """Return the codec of a list."""
    return from_construct({Rows: c.Struct("rows" / declaration)})


def text(declaration: Any) -> LibraryCodec:
    """Return the codec of a text."""
    return from_construct({Text: c.Struct("text" / declaration)})


@dataclass(frozen=True)
class Lasts:
    """A message with a number."""

    seconds: int


class Counted(KAITAI.KaitaiStruct):  # type: ignore[misc] # as compiled from `repeat: expr` of a type without fields
    """Four bytes ask for as many rows as they like."""

    def __init__(self, io: object, parent: object = None, root: object = None) -> None:
        super().__init__(io)
        self._parent, self._root = parent, root or self
        self.rows = [self._io.read_bytes(0) for _ in range(self._io.read_u4be())]


class Packed(KAITAI.KaitaiStruct):  # type: ignore[misc] # as compiled from `process: zlib`
    """Bytes that become a thousand times as many."""

    def __init__(self, io: object, parent: object = None, root: object = None) -> None:
        super().__init__(io)
        self._parent, self._root = parent, root or self
        self.text = zlib.decompress(self._io.read_bytes_full())


class Layer:
    """Stands in for a layer of scapy that loops."""

    fields_desc = ()

    def __init__(self, data: bytes = b"") -> None:
        while data:
            pass


def deflated() -> bytes:
    """Return 400 MiB of zeros as zlib packs them, but for the end, which nobody reaches: one piece, time and again."""
    packer = zlib.compressobj()
    first, again = (packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * 399


# where a bomb takes both, the speed of the machine decides which bound comes first
BOMBS: list[tuple[LibraryCodec, bytes, str]] = [
    (rows(c.PrefixedArray(c.Int32ub, c.Pass)), b"\xff" * 4, TIME),
    (rows(c.GreedyRange(c.Pass)), b"x", f"{TIME}|{SPACE}"),
    (rows(c.RepeatUntil(lambda *_: False, c.Pass)), b"", f"{TIME}|{SPACE}"),
    (from_construct({Rows: c.Struct("rows" / c.PrefixedArray(c.Int32ub, c.Pass)).compile()}), b"\xff" * 4, TIME),
    (text(c.Compressed(c.GreedyBytes, "zlib")), deflated(), f"{TIME}|{SPACE}"),
    (text(c.Compressed(c.GreedyBytes, "bzip2")), bz2.compress(bytes(1 << 20)) * 400, f"{TIME}|{SPACE}"),
    (text(c.Optional(c.Computed(lambda _: b"x" * (1 << 32)))), b"x", SPACE),
    (from_kaitai({Rows: Counted}), b"\xff" * 4, f"{TIME}|{SPACE}"),
    (from_kaitai({Text: Packed}), deflated(), f"{TIME}|{SPACE}"),
    (from_scapy({Rows: Layer}), b"x", TIME),
]


@pytest.mark.parametrize(("codec", "data", "reason"), BOMBS, ids=range(len(BOMBS)))
def test_a_bomb_is_undecodable(codec: LibraryCodec, data: bytes, reason: str) -> None:
    """What takes without end is not a message; the tester itself takes neither the time nor the memory."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(CodecError, match=reason):
        codec.decode("", data)
    assert time.process_time() - began < 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_protobuf_is_bounded_by_its_bytes() -> None:
    """Its messages hold what they were sent: 64 KiB of empty parts, or of numbers, take no time and no memory."""
    struct: Any = import_module("google.protobuf.struct_pb2")

    @dataclass(frozen=True)
    class Names:
        values: tuple[Text, ...]

    codec = from_protobuf({Names: struct.ListValue})
    began = time.process_time()
    for data in (b"\x0a\x00" * (1 << 15), b"\x0a\x02\x08\x00" * (1 << 14), b"\x0a\xff\xff\xff\xff\x07", b"\x0b" * 1000):
        with pytest.raises(CodecError):
            codec.decode("", data)
    assert time.process_time() - began < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1 << 20


def test_what_is_tried_is_decoded_as_usual() -> None:
    """A message, and bytes that are none, have the value and the reason that they have without a trial."""
    codec = from_construct({Rows: c.Struct("rows" / c.RepeatUntil(lambda each, *_: each == 0, c.Byte))})
    assert codec.decode("", b"\1\0") == Rows((1, 0))
    with pytest.raises(CodecError, match=r"(?s)no Rows: .*stream read less"):
        codec.decode("", b"\1")


def test_a_codec_that_needs_no_trial_starts_no_process() -> None:
    """Protobuf is read in this process."""
    before = {*TRIALS}
    codec = from_protobuf({Lasts: import_module("google.protobuf.duration_pb2").Duration})
    assert codec.decode("", b"\x08\x02") == Lasts(2)
    assert before >= TRIALS


def test_a_process_ends_with_its_codec() -> None:
    """Nothing is left of it, and it holds no descriptor of the tester but its own."""
    before, (reading, writing) = {*TRIALS}, os.pipe()
    trial = DecodeTrial(len)
    trial.check(b"x")
    (pid,) = TRIALS - before
    os.close(writing)
    assert os.read(reading, 1) == b""  # nobody else has it
    os.close(reading)
    del trial
    gc.collect()
    assert pid not in TRIALS
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_end_by_itself_proves_nothing() -> None:
    """A decoder that ends its process says nothing about the bytes; one that raises SystemExit is asked here again."""
    with pytest.raises(RuntimeError, match="the process that decodes 1 bytes ended with 0"):
        DecodeTrial(lambda _: os._exit(0)).check(b"x")
    DecodeTrial(lambda _: sys.exit(0)).check(b"x")


def test_a_copy_that_was_killed_is_started_again() -> None:
    """What somebody else did to it is not a word about the bytes; several threads ask in turn."""
    before, trial = {*TRIALS}, DecodeTrial(len)
    trial.check(b"x")
    (pid,) = TRIALS - before
    os.kill(pid, signal.SIGKILL)
    trial.check(b"x")
    threads = [Thread(target=trial.check, args=(bytes(100_000),)) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_a_bomb_is_a_failure_of_the_system() -> None:
    """A campaign against a system that sends one: the output is none that the model allows, and says why."""
    codec = from_construct(
        {Rows: c.Struct("rows" / c.PrefixedArray(c.Int32ub, c.Pass))}, inputs={Text: c.Struct("text" / c.GreedyBytes)}
    )
    spec = Spec(lambda state, _: [goto(state, Rows(()))], initial=0, inputs=[Text(b"x")])

    def sending(data: bytes) -> Bench:
        return Bench.on_ports(spec, codec, {"": inprocess(lambda: lambda _: data)}, **AT_ONCE)

    good, bad = sending(bytes(4)), sending(b"\xff" * 4)
    assert run(good, traces=1, steps=3).verdict == "pass"
    with pytest.raises(NonconformanceError, match=TIME):
        run(bad, traces=1, steps=3)
