"""Codecs made from dataclasses: one law for all formats, and an error that names each wrong declaration."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, Flag, IntEnum
from random import Random
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.codec import PortAction
from otf.codec.checksums import (
    checksum,
    crc8,
    crc8_maxim,
    crc16_arc,
    crc16_ccitt,
    crc16_modbus,
    crc16_x25,
    crc16_xmodem,
    crc32,
    length,
    lrc8,
    sum8,
    xor8,
)
from otf.codec.composed import bits, items, sized
from otf.codec.fields import (
    Extent,
    Format,
    Number,
    i8,
    i16be,
    i16le,
    i32be,
    i32le,
    i64be,
    i64le,
    raw,
    rest,
    text,
    u8,
    u16be,
    u16le,
    u24be,
    u24le,
    u32be,
    u32le,
    u64be,
    u64le,
    until,
)
from otf.codec.records import RecordCodec, records
from otf.errors import CodecError, UsageError
from otf.testing import check_codec
from otf.testing.framing import damaged, noise
from otf.trace.tagged import Registry
from otf.trace.tagged import encode as tagged

FRAMES = 10_000


class Mode(IntEnum):
    OFF = 0
    ON = 7


class Colour(Enum):
    RED = 1
    BLUE = 2


class Marks(Flag):
    LOW = 1
    HIGH = 2


class Head(NamedTuple):
    version: int
    kind: int


@dataclass(frozen=True)
class Point:
    """Nested."""

    x: Annotated[int, i16be]
    y: Annotated[int, i16le]


@dataclass(frozen=True)
class Named:
    """Nested, of any size, told from the next by its constant."""

    tag: ClassVar[Annotated[int, u8]] = 1
    name: Annotated[str, text(until(b"\0"))]


@dataclass(frozen=True)
class Counted:
    """The other."""

    tag: ClassVar[Annotated[int, u8]] = 2
    number: Annotated[int, u24le]


@dataclass(frozen=True)
class Numbers:
    """All numbers, and the types that a number may have."""

    magic: ClassVar[Annotated[bytes, raw(2)]] = b"\x7eN"
    a: Annotated[int, i8]
    b: Annotated[int, u16le]
    c: Annotated[int, u24be]
    d: Annotated[int, u32be]
    e: Annotated[int, u64le]
    f: Annotated[int, i32le]
    on: Annotated[bool, u8]
    mode: Annotated[Mode, u8]
    colour: Annotated[Colour, u8]
    marks: Annotated[Marks, u8]
    one: Annotated[Literal[3, 5], u8]
    head: Annotated[Head, bits(4, 4)]
    low: Annotated[tuple[int, ...], bits(3, 13, order="little")]
    crc: ClassVar[Annotated[int, checksum(crc16_modbus, u16le)]]


@dataclass(frozen=True)
class Texts:
    """Bytes and texts; its checksum stands in front."""

    magic: ClassVar[Annotated[bytes, raw(2)]] = b"\x7eT"
    sum: ClassVar[Annotated[int, checksum(sum8, first="size")]]
    size: ClassVar[Annotated[int, length(u16be, first="plain", last="padded", plus=1)]]
    plain: Annotated[bytes, raw(3)]
    short: Annotated[bytes, raw(u8)]
    word: Annotated[str, text(u16be, "utf-16-le")]
    padded: Annotated[str, text(6, "latin-1", pad=b" ")]
    line: Annotated[bytes, raw(until(b"\r\n"))]
    rest: Annotated[str, text(rest)]
    gap: ClassVar[Annotated[bytes, raw(2)]] = b"\0\0"


@dataclass(frozen=True)
class Lists:
    """Lists and parts."""

    magic: ClassVar[Annotated[bytes, raw(2)]] = b"\x7eL"
    size: ClassVar[Annotated[int, length(u16le)]]
    three: Annotated[tuple[int, ...], items(3, u16be)]
    points: Annotated[tuple[Point, ...], items(u8)]
    boxed: Annotated[Point, sized(u16be)]
    words: Annotated[tuple[str, ...], sized(u16be, items(rest, text(u8)))]
    part: Named | Counted
    parts: Annotated[tuple[Named | Counted, ...], items(rest)]
    crc: ClassVar[Annotated[int, checksum(crc32, u32be, "size", "parts")]]
    end: ClassVar[Annotated[int, checksum(xor8)]]


CODEC = records(Numbers, Texts, Lists, port="line")


def numbers(number: Number) -> st.SearchStrategy[int]:
    """Return the values of a number."""
    top = 1 << 8 * number.width
    return st.integers(-top // 2, top // 2 - 1) if number.signed else st.integers(0, top - 1)


POINTS = st.builds(Point, numbers(i16be), numbers(i16le))
PARTS = st.builds(Named, st.text(max_size=4).filter(lambda name: "\0" not in name)) | st.builds(Counted, numbers(u24le))
VALUES = (
    st.builds(
        Numbers,
        *map(numbers, (i8, u16le, u24be, u32be, u64le, i32le)),
        st.booleans(),
        st.sampled_from(Mode),
        st.sampled_from(Colour),
        st.builds(Marks, st.integers(0, 3)),
        st.sampled_from([3, 5]),
        st.builds(Head, st.integers(0, 15), st.integers(0, 15)),
        st.tuples(st.integers(0, 7), st.integers(0, 8191)),
    )
    | st.builds(
        Texts,
        st.binary(min_size=3, max_size=3),
        st.binary(max_size=5),
        st.text(max_size=5),
        st.text("abc ", max_size=6).map(str.rstrip),
        st.binary(max_size=5).filter(lambda data: b"\r\n" not in data and not data.endswith(b"\r")),
        st.text(max_size=5),
    )
    | st.builds(
        Lists,
        st.tuples(*[numbers(u16be)] * 3),
        st.lists(POINTS, max_size=3).map(tuple),
        POINTS,
        st.lists(st.text(max_size=3), max_size=3).map(tuple),
        PARTS,
        st.lists(PARTS, max_size=3).map(tuple),
    )
)
SAMPLES = [
    Numbers(-1, 2, 3, 4, 5, -6, True, Mode.ON, Colour.BLUE, Marks.LOW | Marks.HIGH, 5, Head(4, 5), (1, 2)),  # noqa: FBT003 -- a field
    Texts(b"abc", b"", "hé", "ab c", b"x\r", "end"),
    Lists((1, 2, 3), (Point(1, -1), Point(0, 0)), Point(5, 6), ("", "ab"), Named("n"), (Counted(1), Named(""))),
]


def survives(value: object) -> None:
    """What was encoded is decoded as the same value."""
    data = CODEC.encode(value)
    assert isinstance(data, bytes)
    assert CODEC.decode("line", data) == value


@given(VALUES)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_values_survive_the_wire(value: object) -> None:
    """What was encoded is decoded as the same value."""
    survives(value)


@pytest.mark.slow
@given(VALUES)
@settings(max_examples=10_000, deadline=None, derandomize=True)
def test_many_values_survive_the_wire(value: object) -> None:
    """The same for 10,000 values."""
    survives(value)


def test_values_survive_a_trace() -> None:
    """The types of the codec are all that is needed to read them back."""
    types = Registry(CODEC.types)
    assert [types.decode(json.loads(json.dumps(tagged(value)))) for value in SAMPLES] == SAMPLES


def law(codec: RecordCodec, frames: list[bytes]) -> int:
    """Return how many frames decode; each of them encodes to the same bytes, and the others raise CodecError."""
    count = 0
    for data in frames:
        try:
            value = codec.decode("", data)
        except CodecError:
            continue
        assert codec.encode(value) == data
        count += 1
    return count


def test_every_frame_is_undecodable_or_survives() -> None:
    """Of 10,000 random frames and 10,000 damaged ones none raises anything but CodecError."""
    random = Random(0)
    samples = [data for data in map(CODEC.encode, SAMPLES) if isinstance(data, bytes)]
    law(CODEC, list(noise(random, FRAMES)))
    law(CODEC, list(damaged(random, samples, FRAMES)))
    check_codec(CODEC, SAMPLES, frames=[("line", data) for data in samples])


def made(hint: Any) -> RecordCodec:  # noqa: ANN401 -- any annotation
    """Return the codec of messages with one field."""
    return records(
        dataclass(frozen=True)(type("Made", (), {"__annotations__": {"field": hint}, "__module__": __name__}))
    )


FORMATS: list[Any] = [
    *[Annotated[int, each] for each in (i8, u8, u16be, u16le, i16be, i16le, u24be, u24le, u32be, u32le)],
    *[Annotated[int, each] for each in (i32be, i32le, u64be, u64le, i64be, i64le)],
    Annotated[bool, u16be],
    Annotated[Mode, u8],
    Annotated[Marks, u8],
    Annotated[Marks, i8],
    Annotated[str, text(rest, "utf-7")],
    Annotated[str, text(rest, "utf-16")],
    Annotated[str, text(2, "ascii", pad=b"\0")],
    Annotated[str, text(until(b"\0"))],
    Annotated[bytes, raw(u8)],
    Annotated[bytes, raw(until(b"aa"))],
    Annotated[tuple[int, ...], items(u8, u8)],
    Annotated[tuple[int, ...], items(rest, u16be)],
    Annotated[tuple[bytes, ...], items(rest, raw(u8))],
    Annotated[tuple[int, ...], bits(1, 15)],
    Annotated[Point, sized(4)],
    Annotated[bytes, sized(u8, raw(rest))],
    Named | Counted,
]


@pytest.mark.parametrize("hint", FORMATS, ids=map(str, range(len(FORMATS))))
def test_each_format_is_strict_by_itself(hint: Any) -> None:  # noqa: ANN401 -- the same
    """All frames of a byte, and random ones: decoded and encoded they are the same again."""
    law(made(hint), [bytes([byte]) for byte in range(256)] + list(noise(Random(1), 500)))


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Annotated[int, u8], 256),
        (Annotated[int, u8], "1"),
        (Annotated[Mode, u8], 3),
        (Annotated[Marks, u8], 3),
        (Annotated[bytes, raw(2)], b"abc"),
        (Annotated[bytes, raw(2)], "ab"),
        (Annotated[bytes, raw(u8)], bytes(256)),
        (Annotated[bytes, raw(until(b"aa"))], b"a"),
        (Annotated[str, text(u8)], b"a"),
        (Annotated[str, text(u8, "ascii")], "é"),
        (Annotated[str, text(4, "ascii", pad=b" ")], "a "),
        (Annotated[str, text(4, "ascii", pad=b" ")], "abcde"),
        (Annotated[tuple[int, ...], items(2, u8)], (1,)),
        (Annotated[tuple[int, ...], items(u8, u8)], [1]),
        (Annotated[tuple[int, ...], bits(4, 4)], (16, 0)),
        (Annotated[tuple[int, ...], bits(4, 4)], [1, 1]),
        (Annotated[tuple[int, ...], bits(4, 4)], (1,)),
        (Point, Named("a")),
        (Named | Counted, Point(1, 1)),
    ],
    ids=map(str, range(19)),
)
def test_a_value_that_does_not_fit_is_not_sent(hint: Any, value: object) -> None:  # noqa: ANN401 -- the same
    """It raises CodecError: sent in another form it would look like another input."""
    codec = made(hint)
    with pytest.raises(CodecError, match="cannot be written"):
        codec.encode(codec.types[0](value))


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (b"\x7eQ", "7e51 at byte 0 begins none of Numbers, Texts, Lists"),
        (b"", "begins none of"),
        (b"\x7eN\1", "Numbers.b: 2 bytes are needed at byte 3, and there are 0"),
        (CODEC.encode(SAMPLES[0]) + b"!", "ends at byte 34, and 1 more follow"),  # type: ignore[operator] # pyright: ignore[reportOperatorIssue] -- bytes
        (b"\x7eT\0\0\0abc", "Texts.short: 1 bytes are needed"),
    ],
    ids=map(str, range(5)),
)
def test_an_error_names_the_field(frame: bytes, says: str) -> None:
    """What is wrong, where, and with which field."""
    with pytest.raises(CodecError, match=says):
        CODEC.decode("line", frame)


def test_bytes_left_over_in_a_box_are_undecodable() -> None:
    """A length over what is behind it is not a message."""
    with pytest.raises(CodecError, match="1 of the 5 bytes at byte 1 are too many"):
        made(Annotated[Point, sized(u8)]).decode("", b"\5abcde")


def test_inputs_and_actions_are_not_decoded() -> None:
    """A request may have the bytes of an answer; an action has none."""
    codec = records(Point, inputs=[Named], actions={Head: PortAction.CLOSE})
    assert codec.encode(Named("a")) == b"\1a\0"
    assert codec.encode(Head(1, 2)) is PortAction.CLOSE
    assert codec.types == (Point, Named, Head)
    with pytest.raises(CodecError, match="no message 5; there are Point, Named, Head"):
        codec.encode(5)
    with pytest.raises(CodecError, match="inputs only"):
        records(inputs=[Point]).decode("", b"")


@dataclass(frozen=True)
class Even:
    """A class with a rule of its own."""

    value: Annotated[int, u8]

    def __post_init__(self) -> None:
        if self.value % 2:
            raise ValueError("odd")


def test_a_rule_of_the_class_is_one_of_the_codec() -> None:
    """A value that the class refuses is not a message."""
    with pytest.raises(CodecError, match="no Even has these values: odd"):
        records(Even).decode("", b"\1")


@dataclass(frozen=True)
class Recursive:
    """A part of itself."""

    inner: Annotated[tuple[Recursive, ...], items(u8)]


@dataclass(frozen=True, kw_only=True)
class Keyed:
    """An argument without a place."""

    value: Annotated[int, u8]


@dataclass(frozen=True)
class Untagged:
    """Like Point."""

    value: Annotated[int, u8]
    tag: ClassVar[Annotated[int, u8]] = 1


@dataclass(frozen=True)
class Third:
    """Told from Named by a byte that Counted has not."""

    tag: ClassVar[Annotated[int, u8]] = 1
    more: ClassVar[Annotated[int, u8]] = 1


@dataclass(frozen=True)
class Fourth:
    """Told from Third by its second byte."""

    tag: ClassVar[Annotated[int, u8]] = 1
    more: ClassVar[Annotated[int, u8]] = 2
    value: Annotated[int, u8]


@dataclass(frozen=True)
class Fifth:
    """Told from Fourth by its first byte."""

    tag: ClassVar[Annotated[int, u8]] = 2
    value: Annotated[int, u8]
    last: ClassVar[Annotated[int, u8]] = 1


@dataclass(frozen=True)
class Sixth:
    """Told from Fourth by its second byte, and from Fifth by its third."""

    value: Annotated[int, u8]
    more: ClassVar[Annotated[int, u8]] = 3
    last: ClassVar[Annotated[int, u8]] = 2


@dataclass(frozen=True)
class Valueless:
    """A constant without a value."""

    tag: ClassVar[Annotated[int, u8]]


@dataclass(frozen=True)
class Unfollowed:
    """The rest, and a field of any size."""

    first: Annotated[bytes, raw(rest)]
    second: Annotated[bytes, raw(u8)]


@dataclass(frozen=True)
class Summed:
    """A checksum as a field."""

    crc: Annotated[int, checksum(sum8)]


@dataclass(frozen=True)
class Stray:
    """A checksum over a field that there is not."""

    crc: ClassVar[Annotated[int, checksum(sum8, first="body")]]


@dataclass(frozen=True)
class Own:
    """A checksum over itself."""

    crc: ClassVar[Annotated[int, checksum(sum8, first="crc")]]


@dataclass(frozen=True)
class Unknown:
    """A name that there is not."""

    value: Annotated[int, nothing]  # pyright: ignore[reportUndefinedVariable] # noqa: F821 -- tested


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        ([int], "int.* is not a dataclass"),
        ([Recursive], "Recursive.inner: Recursive is a part of itself"),
        ([Keyed], "Keyed: each field is an argument"),
        ([Named, Untagged], "Named and Untagged cannot be told apart"),
        ([Fourth, Fifth, Sixth], "Fourth, Fifth, Sixth have no constant at one place"),
        ([Valueless], "Valueless.tag: a constant needs a value that fits"),
        ([Unfollowed], "Unfollowed.first takes the rest; what follows it needs a fixed size"),
        ([Summed], "Summed.crc is computed, so it is not part of a value"),
        ([Stray], "Stray.crc covers body; there are crc"),
        ([Own], "Own.crc covers itself"),
        ([Unknown], "Unknown.value cannot be read: name 'nothing' is not defined; define"),
    ],
    ids=map(str, range(11)),
)
def test_a_wrong_declaration_is_refused(kinds: list[type], says: str) -> None:
    """The error names the class and the field when the codec is made, not when a message comes."""
    with pytest.raises(UsageError, match=says):
        records(*kinds)


@pytest.mark.parametrize(
    "hint",
    [
        int,
        Annotated[int, "u8"],
        Annotated[str, u8],
        Annotated[Literal[300], u8],
        Annotated[str, raw(2)],
        Annotated[bytes, text(2)],
        Annotated[list[int], items(u8, u8)],
        Annotated[tuple[int, int], items(u8, u8)],
        Annotated[tuple[bytes, ...], items(u8, raw(rest))],
        Annotated[Head, bits(2, 2, 4)],
        Annotated[int, u8, u8],
    ],
    ids=map(str, range(11)),
)
def test_a_format_of_another_type_is_refused(hint: Any) -> None:  # noqa: ANN401 -- the same
    """The error names the field."""
    with pytest.raises(UsageError, match=r"Made\.field: "):
        made(hint)


@pytest.mark.parametrize(
    "make",
    [
        lambda: raw(0),
        lambda: raw(i8),
        lambda: until(b""),
        lambda: text(2, "no such encoding"),
        lambda: text(u8, pad=b" "),
        lambda: text(2, pad=b"ab"),
        lambda: items(until(b"a")),
        lambda: bits(4, 3),
        lambda: checksum(sum8).bound(str, print),  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- not called
    ],
    ids=map(str, range(9)),
)
def test_a_format_that_is_none_is_refused(make: Callable[[], Format | Extent]) -> None:
    """The error says what to give."""
    with pytest.raises(UsageError):
        make()


def test_messages_are_told_apart_by_all_their_constants() -> None:
    """Two that share their first byte differ in the second."""
    codec = records(Third, Fourth, Counted)
    assert [codec.decode("", data) for data in (b"\1\1", b"\1\2\5", b"\2abc")] == [
        Third(),
        Fourth(5),
        Counted(0x636261),
    ]
    assert law(codec, [bytes([one, two]) for one in range(3) for two in range(3)]) == 1


def test_what_is_computed_must_fit() -> None:
    """A length over its number is a CodecError, on both sides."""
    codec = records(Long)
    with pytest.raises(CodecError, match="cannot be written"):
        codec.encode(Long(bytes(256)))
    with pytest.raises(CodecError, match="no Long has these values"):
        codec.decode("", b"\0" + bytes(256))


@dataclass(frozen=True)
class Long:
    """A length of one byte."""

    size: ClassVar[Annotated[int, length(u8)]]
    body: Annotated[bytes, raw(rest)]


def test_the_sums_are_those_of_the_catalogue() -> None:
    """The check values of the catalogue of parametrised CRC algorithms, for "123456789"."""
    sums = (sum8, lrc8, xor8, crc8, crc8_maxim, crc16_modbus, crc16_arc, crc16_x25, crc16_ccitt, crc16_xmodem, crc32)
    rights = [0xDD, 0x23, 0x31, 0xF4, 0xA1, 0x4B37, 0xBB3D, 0x906E, 0x29B1, 0x31C3, 0xCBF43926]
    assert [each(b"123456789") for each in sums] == rights


def test_a_format_of_nothing_is_abstract() -> None:
    """A format of one's own has all three methods."""
    for call in (lambda: Format().bound(int, print), lambda: Format().read(b"", 0, 0), lambda: Format().write(1)):  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- not called
        with pytest.raises(NotImplementedError):
            call()


@dataclass(frozen=True)
class Sealed:
    kind: ClassVar[Annotated[int, u8]] = 3
    size: ClassVar[Annotated[int, length(u8, "data", "data")]]
    data: Annotated[bytes, raw(rest)]
    crc: ClassVar[Annotated[int, checksum(crc16_modbus, u16le)]]


@dataclass(frozen=True)
class Unsealed:
    kind: ClassVar[Annotated[int, u8]] = 4
    value: Annotated[int, u8]


def test_a_checksum_at_the_end_is_made_right() -> None:
    """Then a wrong length behind it is what a system sees; other frames stay as they are."""
    codec = records(Sealed, Unsealed)
    frame = codec.encode(Sealed(b"abc"))
    assert isinstance(frame, bytes)
    wrong = frame[:1] + b"\x09" + frame[2:]
    assert codec.seal(frame[:-2] + b"??") == frame
    assert codec.seal(wrong)[:-2] == wrong[:-2]
    with pytest.raises(CodecError, match="size"):
        codec.decode("", codec.seal(wrong))
    assert codec.seal(b"\x04\x01") == b"\x04\x01"
    assert codec.seal(b"") == b""
