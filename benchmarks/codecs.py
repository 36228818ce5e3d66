"""What codecs of libraries cost beyond the libraries themselves, a message, in one run with both in turn.

The library's own work is what the codec asks of it, in the same order: to read for `decode`, and with `exact` to write
again; to write and read back for `encode`. It is measured as a whole, since a program that only reads is faster at it
than one that reads and writes in turn. Messages have four fields.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from io import BytesIO
from typing import Any

import msgspec

from benchmarks.measure import command, positive, save
from otf.codec.libraries import from_construct, from_json, from_msgpack, from_protobuf
from otf.codec.library import LibraryCodec
from otf.codec.objects import from_scapy
from tests.codec import test_objects as structures

ROUNDS = 21
CALLS = 2_000


@dataclass(frozen=True)
class Reading:
    """A message with four fields."""

    unit: int
    is_on: bool
    name: str
    values: tuple[int, ...]


@dataclass(frozen=True)
class Echo:
    """A ping, a layer of scapy."""

    type: int
    id: int
    seq: int
    payload: bytes


READING = Reading(7, bool(1), "t1", (20, 21, 22))


@dataclass(frozen=True)
class Case:
    """A codec, a value, and how the library alone writes and reads it."""

    name: str
    codec: LibraryCodec
    value: object
    write: Callable[[], bytes]
    read: Callable[[bytes], object]


def of_construct() -> Iterator[Case]:
    """Yield declarations as they are, and compiled."""
    lib: Any = import_module("construct")
    declared = lib.Struct(
        "unit" / lib.Int8ub,
        "is_on" / lib.Flag,
        "name" / lib.PascalString(lib.Int8ub, "utf-8"),
        "values" / lib.PrefixedArray(lib.Int8ub, lib.Int16ub),
    )
    fields = {"unit": 7, "is_on": True, "name": "t1", "values": [20, 21, 22]}
    for name, each in (("construct", declared), ("construct, compiled", declared.compile())):
        codec = from_construct({Reading: each})
        yield Case(name, codec, READING, partial(each.build, fields), each.parse)


def of_protobuf() -> Iterator[Case]:
    """Yield a message of protobuf."""
    pb2: Any = import_module("google.protobuf.descriptor_pb2")
    file = pb2.FileDescriptorProto(name="reading.proto", syntax="proto3")
    message = file.message_type.add(name="Reading")
    for number, (name, kind, label) in enumerate(
        [("unit", 5, 1), ("is_on", 8, 1), ("name", 9, 1), ("values", 13, 3)], 1
    ):
        message.field.add(name=name, number=number, type=kind, label=label)
    pool: Any = import_module("google.protobuf.descriptor_pool").DescriptorPool()
    pool.Add(file)
    factory: Any = import_module("google.protobuf.message_factory")
    own = factory.GetMessageClass(pool.FindMessageTypeByName("Reading"))

    def write() -> bytes:
        data: bytes = own(unit=7, is_on=True, name="t1", values=[20, 21, 22]).SerializeToString(deterministic=True)
        return data

    yield Case("protobuf", from_protobuf({Reading: own}), READING, write, own.FromString)


def of_msgspec() -> Iterator[Case]:
    """Yield JSON and MessagePack."""
    for name, make, library in (("JSON", from_json, msgspec.json), ("MessagePack", from_msgpack, msgspec.msgpack)):
        decoder: Any = library.Decoder(Reading)
        yield Case(name, make(Reading), READING, partial(library.encode, READING), decoder.decode)


def of_kaitai() -> Iterator[Case]:
    """Yield a structure that Kaitai has compiled."""
    lib: Any = import_module("kaitaistruct")
    meter = structures.compiled("meter.writes")

    def read(data: bytes) -> object:
        found = meter(lib.KaitaiStream(BytesIO(data)))
        found._read()  # noqa: SLF001 -- the public way to read in classes that also write
        return found

    def write() -> bytes:
        found = meter()
        found.magic, found.kind = b"\x7e", 1
        found.body = body = meter.Reading(None, found, found)
        body.num_values, body.values, body.len_name, body.name = 2, [1, 2], 3, "hé"
        body.place = place = meter.Point(None, body, found)
        place.x, place.y = 3, -4
        for each in (place, body, found):
            each._check()  # noqa: SLF001 -- the public way to write
        stream = lib.KaitaiStream(BytesIO(bytearray(256)))
        found._write(stream)  # noqa: SLF001 -- the same
        return bytes(stream.to_byte_array()[: stream.pos()])

    yield Case("Kaitai Struct", structures.kaitais(), structures.METER, write, read)


def of_scapy() -> Iterator[Case]:
    """Yield a layer of scapy, where it is installed."""
    try:
        icmp: Any = import_module("scapy.layers.inet").ICMP
    except ImportError:
        return

    def write() -> bytes:
        return bytes(icmp(type=8, id=1, seq=2) / b"abc")

    yield Case("scapy", from_scapy({Echo: icmp}), Echo(8, 1, 2, b"abc"), write, icmp)


def microseconds(case: Case, calls: int) -> dict[str, float]:
    """Return the medians of a message: of the library, and beyond it, for decoding and encoding."""
    codec, value, data = case.codec, case.value, case.write()
    assert codec.decode("", data) == value

    def write_and_read() -> None:
        case.write()
        case.read(data)

    def read_and_write() -> None:
        case.read(data)
        case.write()

    jobs: dict[str, Callable[[], object]] = {
        "read": lambda: case.read(data),
        "write": case.write,
        "read and write": read_and_write,
        "write and read": write_and_read,
        "decode": lambda: codec.decode("", data),
        "encode": lambda: codec.encode(value),
    }
    rounds = [{name: spent(job, calls) for name, job in jobs.items()} for _ in range(ROUNDS)]
    for each in rounds:
        each["decode over library"] = each["decode"] - each["read and write" if codec.exact else "read"]
        each["encode over library"] = each["encode"] - each["write and read"]
    return {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}


def spent(job: Callable[[], object], calls: int) -> float:
    """Return the CPU time of a call in microseconds."""
    gc.collect()
    before = time.process_time()
    for _ in range(calls):
        job()
    return (time.process_time() - before) / calls * 1e6


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each library."""
    parser = command("codecs", __doc__)
    parser.add_argument("--calls", type=positive, default=CALLS)
    options = parser.parse_args(arguments)
    found = dict[str, dict[str, float]]()
    for source in (of_construct, of_protobuf, of_msgspec, of_kaitai, of_scapy):
        for case in source():
            found[case.name] = microseconds(case, options.calls)
            print(f"{case.name:20} " + ", ".join(f"{name} {each:.2f} µs" for name, each in found[case.name].items()))
    save(found, options.json)


if __name__ == "__main__":
    main()
