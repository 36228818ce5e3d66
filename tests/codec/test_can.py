"""CAN frames and messages of a DBC file as values: one form in bytes for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.codec.can import (
    CLASSES,
    SIZES,
    CanCodec,
    CanError,
    CanFrame,
    DbcCodec,
    dbc,
    decode_can,
    encode_can,
    encode_can_error,
)
from otf.errors import CodecError, UsageError
from otf.testing import check_codec

DBC = """VERSION ""
BO_ 256 Engine: 3 ECU
 SG_ Speed : 0|16@1+ (0.25,0) [0|16000] "rpm" T
 SG_ Temp : 16|7@1- (1,-40) [-40|23] "C" T
BO_ 2147484160 Page: 3 ECU
 SG_ from M : 0|8@1+ (1,0) [0|1] "" T
 SG_ A m0 : 8|16@1+ (1,0) [0|65535] "" T
 SG_ B m1 : 8|8@1+ (1,0) [0|255] "" T
BO_ 512 Ratio: 4 ECU
 SG_ Value : 0|32@1- (1,0) [0|0] "" T
SIG_VALTYPE_ 512 Value : 1;
"""


@pytest.fixture
def car(tmp_path: Path) -> DbcCodec:
    """The codec of a small DBC file."""
    (tmp_path / "car.dbc").write_text(DBC)
    return dbc(tmp_path / "car.dbc", name="bus")


def can_frames() -> st.SearchStrategy[CanFrame]:
    """Frames of each kind."""
    ids, data = st.integers(0, 2**11 - 1), st.sampled_from(SIZES).flatmap(lambda n: st.binary(min_size=n, max_size=n))
    short, flag = st.binary(max_size=8), st.booleans()
    return st.one_of(
        st.builds(CanFrame, ids, short),
        st.builds(CanFrame, st.integers(0, 2**29 - 1), short, extended=st.just(value=True)),
        st.builds(CanFrame, ids, st.integers(0, 8).map(bytes), remote=st.just(value=True)),
        st.builds(CanFrame, ids, data, fd=st.just(value=True), brs=flag, esi=flag),
    )


@given(can_frames())
def test_a_frame_has_one_form(frame: CanFrame) -> None:
    """What is encoded decodes to the same frame."""
    assert decode_can(encode_can(frame)) == frame


@given(st.one_of(st.binary(max_size=80), can_frames().map(encode_can).map(lambda raw: raw[:7] + raw[8:])))
def test_any_bytes_are_a_frame_or_undecodable(raw: bytes) -> None:
    """What decodes encodes to the same bytes, and nothing else is raised."""
    try:
        frame = decode_can(raw)
    except CodecError:
        return
    assert encode_can(frame) == raw


@given(st.integers(1, (1 << 9) - 1), st.binary(max_size=8))
def test_error_frames_have_their_classes(number: int, data: bytes) -> None:
    """Whatever data they have; both codecs take them for what they are, and neither sends one."""
    found = CanCodec(errors=True).decode("", encode_can_error(number, data))
    assert found == CanError(tuple(each for at, each in enumerate(CLASSES) if number & 1 << at))
    with pytest.raises(CodecError, match="is not a CanFrame"):
        CanCodec().encode(found)
    with pytest.raises(CodecError, match="is not a CAN frame"):
        CanCodec().decode("", encode_can_error(number, data))


def test_a_codec_of_messages_knows_error_frames_where_they_are_asked_for(car: DbcCodec, tmp_path: Path) -> None:
    """Else an error frame is a frame of no message."""
    raw = encode_can_error(2, b"")
    assert dbc(tmp_path / "car.dbc", errors=True).decode("", raw) == CanError(("arbitration lost",))
    with pytest.raises(CodecError, match="is not a CAN frame"):
        car.decode("", raw)


def test_the_codecs_keep_the_contract(car: DbcCodec) -> None:
    """Both give their types, their port and one form to each value."""
    engine, page = car.messages["Engine"], car.messages["Page"]
    check_codec(CanCodec("bus"), [CanFrame(1, b"x"), CanFrame(2)])
    check_codec(car, [engine(100, -5), page(0, 7, None), page(1, None, 9), car.messages["Ratio"](0.5)])
    assert (CanCodec("bus").port(CanFrame(1)), car.port(engine(0, 0))) == ("bus", "bus")


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (CanFrame(0x800), "not below 0x800"),
        (CanFrame(-1), "not below"),
        (CanFrame(1, bytes(9)), "classic CAN frame cannot have 9 bytes"),
        (CanFrame(1, bytes(9), fd=True), "CAN FD frame cannot have 9 bytes"),
        (CanFrame(1, b"x", remote=True), "no data"),
        (CanFrame(1, brs=True), "only CAN FD"),
        ("x", "is not a CanFrame"),
    ],
)
def test_what_is_no_frame_is_not_sent(frame: object, why: str) -> None:
    """The error says why there is no such frame."""
    with pytest.raises(CodecError, match=why):
        CanCodec().encode(frame)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (bytes(7), "8 bytes at least"),
        (bytes(4) + b"\1" + bytes(3), "its length is 1, and 0 bytes follow"),
        (bytes(7) + b"\1", "flags or padding"),
        (b"\0\0\x08\0" + bytes(4), "not below"),
    ],
)
def test_what_is_no_frame_is_undecodable(data: bytes, why: str) -> None:
    """The error says what is wrong with the bytes."""
    with pytest.raises(CodecError, match=why):
        decode_can(data)


def test_signals_are_the_numbers_on_the_bus(car: DbcCodec) -> None:
    """Without factor and offset, in and out of the physical range; a keyword gets an underscore."""
    engine, page = car.messages["Engine"], car.messages["Page"]
    frame = CanFrame(0x100, bytes([0x64, 0, 0x7B]))
    assert (decode_can(car.encode(engine(100, -5))), car.decode("bus", encode_can(frame))) == (frame, engine(100, -5))
    assert car.decode("bus", car.encode(page(from_=1, A=None, B=9))) == page(1, None, 9)


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (CanFrame(0x101), "no message with the id 0x101"),
        (CanFrame(0x100, bytes(2)), "Engine: 00 00: "),
        (CanFrame(0x100, b"\0\0\x80"), "bits that belong to no signal"),
        (CanFrame(0x100, bytes(4)), "bits that belong to no signal"),
        (CanFrame(0x200, bytes(3), extended=True), "Page: 00 00 00"),
        (CanFrame(0x200, b"\7\0\0", extended=True), "Page"),
    ],
)
def test_other_frames_are_undecodable(car: DbcCodec, frame: CanFrame, why: str) -> None:
    """A frame without a message, of another size, or with bits that no signal has."""
    if why == "Page: 00 00 00":
        assert car.decode("", encode_can(frame)) == car.messages["Page"](0, 0, None)
        return
    with pytest.raises(CodecError, match=why):
        car.decode("", encode_can(frame))


def test_what_cannot_be_encoded_is_named(car: DbcCodec) -> None:
    """A number that does not fit, and what is not a message of the file."""
    with pytest.raises(CodecError, match=r"Engine\(Speed=65536, Temp=0\) cannot be encoded"):
        car.encode(car.messages["Engine"](65536, 0))
    with pytest.raises(CodecError, match="is not a message of the DBC file; it has Engine, Page, Ratio"):
        car.encode("Engine")


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    """The error has the path, and what is wrong with its content."""
    (tmp_path / "bad.dbc").write_text("BO_ nonsense")
    with pytest.raises(UsageError, match=r"bad\.dbc: "):
        dbc(tmp_path / "bad.dbc")


@pytest.mark.parametrize("length", ["77777776", "9" * 5000])
def test_a_signal_longer_than_any_message_is_refused(tmp_path: Path, length: str) -> None:
    """The library would make a list of its bits, a gigabyte from one line."""
    (tmp_path / "long.dbc").write_text(f'BO_ 256 Motor: 8 E\n SG_ Speed : 0|{length}@1+ (1,0) [0|1] "V" E\n')
    with pytest.raises(UsageError, match=r"long\.dbc: ValueError: a signal of .* bits; the longest message has 14,280"):
        dbc(tmp_path / "long.dbc")
