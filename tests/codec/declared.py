"""Messages that each library declares in its own way, and the law of all codecs of libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from random import Random
from typing import Any, ClassVar, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from otf.codec.libraries import from_construct, from_json, from_msgpack, from_protobuf
from otf.codec.library import LibraryCodec
from otf.errors import CodecError
from otf.testing.framing import damaged, noise

construct: Any = import_module("construct")  # has no types
FRAMES = 10_000
Make = Callable[..., LibraryCodec]


class Mode(IntEnum):
    """Of an enumeration."""

    OFF = 0
    ON = 7


@dataclass(frozen=True)
class Point:
    """Nested."""

    x: int
    y: int


@dataclass(frozen=True)
class Reading:
    """A message with a field of each kind."""

    tag: ClassVar[int] = 1
    mode: Mode
    is_on: bool
    name: str
    raw: bytes
    values: tuple[int, ...]
    place: Point

    @property
    def len_name(self) -> int:
        """Return the number of bytes, which Kaitai does not compute."""
        return len(self.name.encode())


@dataclass(frozen=True)
class Refused:
    """Another, told apart by its tag."""

    tag: ClassVar[int] = 2
    code: Literal[0, 3, 5]
    share: float
    at: Point | None


def constructs(*, exact: bool) -> LibraryCodec:
    """Return the codec of declarations of construct."""
    point = construct.Struct("x" / construct.Int16sb, "y" / construct.Int16sl)
    reading = construct.Struct(
        "tag" / construct.Int8ub,
        "mode" / construct.Enum(construct.Int8ub, OFF=0, ON=7),
        "is_on" / construct.Flag,
        "name" / construct.PascalString(construct.Int8ub, "utf-8"),
        "raw" / construct.Prefixed(construct.Int8ub, construct.GreedyBytes),
        "values" / construct.PrefixedArray(construct.VarInt, construct.Int16ub),
        "place" / construct.Padded(6, point),
    )
    refused = construct.Struct(
        "tag" / construct.Int8ub,
        "code" / construct.Int8ub,
        "share" / construct.Float64b,
        "at" / construct.Optional(point),
    )
    return from_construct({Reading: reading, Refused: refused}, exact=exact, port="line")


def protobufs(*, exact: bool) -> LibraryCodec:
    """Return the codec of messages of protobuf, whose classes are made here instead of by protoc."""
    pb2: Any = import_module("google.protobuf.descriptor_pb2")
    pools: Any = import_module("google.protobuf.descriptor_pool")
    factory: Any = import_module("google.protobuf.message_factory")
    kinds = pb2.FieldDescriptorProto
    file = pb2.FileDescriptorProto(name="meter.proto", package="meter", syntax="proto3")
    rows: dict[str, list[tuple[str, int, bool]]] = {
        "Point": [("x", kinds.TYPE_SINT32, False), ("y", kinds.TYPE_INT32, False)],
        "Reading": [
            ("tag", kinds.TYPE_INT32, False),
            ("mode", kinds.TYPE_INT32, False),
            ("is_on", kinds.TYPE_BOOL, False),
            ("name", kinds.TYPE_STRING, False),
            ("raw", kinds.TYPE_BYTES, False),
            ("values", kinds.TYPE_UINT32, True),
            ("place", kinds.TYPE_MESSAGE, False),
        ],
        "Refused": [
            ("tag", kinds.TYPE_INT32, False),
            ("code", kinds.TYPE_INT32, False),
            ("share", kinds.TYPE_DOUBLE, False),
            ("at", kinds.TYPE_MESSAGE, False),
        ],
    }
    for name, fields in rows.items():
        message = file.message_type.add(name=name)
        for number, (field, kind, many) in enumerate(fields, 1):
            own = message.field.add(name=field, number=number, type=kind, label=3 if many else 1)
            if kind == kinds.TYPE_MESSAGE:
                own.type_name = ".meter.Point"
    pool = pools.DescriptorPool()
    pool.Add(file)
    made = {name: factory.GetMessageClass(pool.FindMessageTypeByName(f"meter.{name}")) for name in rows}
    return from_protobuf({Reading: made["Reading"], Refused: made["Refused"]}, exact=exact, port="line")


def jsons(*, exact: bool) -> LibraryCodec:
    """Return the codec of JSON objects."""
    return from_json(Reading, Refused, exact=exact, port="line")


def msgpacks(*, exact: bool) -> LibraryCodec:
    """Return the codec of maps in MessagePack."""
    return from_msgpack(Reading, Refused, exact=exact, port="line")


POINTS = st.builds(Point, *[st.integers(-(1 << 15), (1 << 15) - 1)] * 2)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES: st.SearchStrategy[object] = st.builds(
    Reading,
    st.sampled_from(Mode),
    st.booleans(),
    TEXTS,
    st.binary(max_size=5),
    st.lists(st.integers(0, (1 << 16) - 1), max_size=5).map(tuple),
    POINTS,
) | st.builds(
    Refused, st.sampled_from([0, 3, 5]), st.floats(allow_nan=False, allow_infinity=False, width=64), POINTS | st.none()
)
SAMPLES: list[object] = [
    Reading(Mode.ON, True, "hé", b"\0a", (1, 65_535), Point(-1, 300)),  # noqa: FBT003 -- a field
    Refused(3, 0.5, None),
    Refused(0, -2.0, Point(1, 2)),
]


def law(make: Make, values: st.SearchStrategy[object], examples: int, modes: tuple[bool, ...] = (True, False)) -> None:
    """What is encoded is decoded as the same value, in either mode."""
    codecs = [make(exact=each) for each in modes]

    @given(values)
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    def survives(value: object) -> None:
        for codec in codecs:
            data = codec.encode(value)
            assert isinstance(data, bytes)
            assert codec.decode("line", data) == value

    survives()


def frames_of(codec: LibraryCodec, samples: list[object], many: int, seed: int) -> list[bytes]:
    """Return random frames, and as many damaged ones."""
    own = [data for data in map(codec.encode, samples) if isinstance(data, bytes)]
    return [*own, *noise(Random(seed), many), *damaged(Random(seed), own, many)]


def bytes_law(make: Make, samples: list[object], many: int, seed: int = 0) -> None:
    """Bytes are undecodable, or exactly those of their value; without `exact` the value at least is the same again."""
    exact, free = make(exact=True), make(exact=False)
    count = 0
    for data in frames_of(exact, samples, many, seed):
        value = decoded(exact, data)
        count += value is not None
        assert value is None or exact.encode(value) == data
        again = decoded(free, data)
        # an earlier type may fit now
        assert value is None or type(again) is not type(value) or repr(again) == repr(value)
        assert again is None or repr(decoded(free, written(free, again))) == repr(again)  # nan is not equal to itself
    assert count > len(samples)


def decoded(codec: LibraryCodec, data: bytes) -> object | None:
    """Return the value of some bytes, None if there is none; nothing but CodecError is raised."""
    try:
        return codec.decode("line", data)
    except CodecError:
        return None


def written(codec: LibraryCodec, value: object) -> bytes:
    """Return the bytes of a value."""
    data = codec.encode(value)
    assert isinstance(data, bytes)
    return data
