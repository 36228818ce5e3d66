"""Protected CAN frames: checksums are computed and checked by a library, counters are the model's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from otf.codec import PortAction, lines
from otf.codec.can import CanCodec, CanFrame, DbcCodec, dbc, decode_can, encode_can
from otf.codec.e2e import ProtectedCodec, Protection, WrongChecksum, protect
from otf.errors import CodecError, UsageError
from otf.testing import check_codec

DBC = """VERSION ""
BU_: ECU
BO_ 256 Speed: 8 ECU
 SG_ Crc : 0|8@1+ (1,0) [0|0] "" ECU
 SG_ Number : 8|4@1+ (1,0) [0|0] "" ECU
 SG_ Id : 12|4@1+ (1,0) [0|0] "" ECU
 SG_ Speed : 16|16@1+ (1,0) [0|0] "" ECU
 SG_ Rest : 32|32@1+ (1,0) [0|0] "" ECU
BO_ 257 Long: 8 ECU
 SG_ Crc : 0|16@1+ (1,0) [0|0] "" ECU
 SG_ Number : 16|8@1+ (1,0) [0|0] "" ECU
 SG_ Rest : 24|40@1+ (1,0) [0|0] "" ECU
BO_ 258 Free: 1 ECU
 SG_ Rest : 0|8@1+ (1,0) [0|0] "" ECU
"""
PROTECTIONS = {
    1: Protection(1, 0x123, crc="Crc"),
    2: Protection(2, bytes(range(16)), crc="Crc"),
    11: Protection(11, 0x123, crc="Crc"),
}


@pytest.fixture
def bus(tmp_path: Path) -> DbcCodec:
    """The messages of a bus."""
    pytest.importorskip("e2e")
    path = tmp_path / "bus.dbc"
    path.write_text(DBC, "utf-8")
    return dbc(path)


def spoilt(frame: bytes, at: int) -> bytes:
    """Return a frame with one wrong byte."""
    found = decode_can(frame)
    data = bytearray(found.data)
    data[at] ^= 0xFF
    return encode_can(replace(found, data=bytes(data)))


@pytest.mark.parametrize("profile", PROTECTIONS)
def test_a_checksum_is_computed_and_checked(profile: int, bus: DbcCodec) -> None:
    """In the values it is 0; each damaged byte shows as a wrong checksum, which can be sent as one."""
    speed = bus.messages["Speed"]
    codec = protect(bus, {bus.types[0]: PROTECTIONS[profile]})
    first, second = (speed(Crc=0, Number=number, Id=0, Speed=80, Rest=7) for number in (3, 4))
    sent = codec.encode(first)
    assert isinstance(sent, bytes)
    assert codec.decode("", sent) == first
    assert codec.encode(second) != sent
    for at in (0, 2, 7):
        wrong = codec.decode("", spoilt(sent, at))
        assert isinstance(wrong, WrongChecksum)
        assert codec.encode(wrong) == spoilt(sent, at)
    check_codec(codec, [first, second])


def test_profile_5_has_sixteen_bits(bus: DbcCodec) -> None:
    """Of a checksum, and eight of a number."""
    codec = protect(bus, {bus.types[1]: Protection(5, 0x1234, crc="Crc")})
    value = bus.messages["Long"](Crc=0, Number=200, Rest=5)
    sent = codec.encode(value)
    assert isinstance(sent, bytes)
    assert codec.decode("", sent) == value
    assert isinstance(codec.decode("", spoilt(sent, 1)), WrongChecksum)


def test_other_messages_pass(bus: DbcCodec) -> None:
    """They have no checksum, and none that could be wrong."""
    codec = protect(bus, {bus.types[0]: PROTECTIONS[1]})
    free = bus.messages["Free"](Rest=3)
    sent = codec.encode(free)
    assert isinstance(sent, bytes)
    assert codec.decode("", sent) == free
    assert codec.types == (*bus.types, WrongChecksum)
    assert codec.port(WrongChecksum(free)) == codec.port(free) == ""
    with pytest.raises(CodecError, match="no checksum that could be wrong"):
        codec.encode(WrongChecksum(free))


def test_a_checksum_in_a_model_is_refused(bus: DbcCodec) -> None:
    """It is computed; and what is sent as wrong has to be wrong."""
    codec = protect(bus, {bus.types[0]: PROTECTIONS[1]})
    value = bus.messages["Speed"](Crc=0, Number=1, Id=0, Speed=1, Rest=1)
    sent = codec.encode(value)
    assert isinstance(sent, bytes)
    right = decode_can(sent).data[0]
    with pytest.raises(CodecError, match=r"its field Crc is computed, and has to be 0"):
        codec.encode(replace(value, Crc=right))
    with pytest.raises(CodecError, match=r"the checksum of .* is right: give its field Crc another number"):
        codec.encode(WrongChecksum(replace(value, Crc=right)))


def test_what_does_not_fit_is_refused(bus: DbcCodec) -> None:
    """A profile, a field, a size of the frame; an action on the port passes."""
    with pytest.raises(UsageError, match="there are the profiles 1, 2, 5, 11"):
        Protection(3, 0, crc="Crc")
    with pytest.raises(UsageError, match="Free has no field 'Crc'; it has Rest"):
        protect(bus, {bus.types[2]: PROTECTIONS[1]})
    short = ProtectedCodec(CanCodec(), {CanFrame: Protection(2, b"", crc="id")})
    with pytest.raises(CodecError, match="cannot be protected by profile 2"):
        short.decode("", encode_can(CanFrame(1, b"\0\0\0")))

    @dataclass(frozen=True)
    class Hangup:
        pass

    assert protect(lines({Hangup: PortAction.CLOSE}), {}).encode(Hangup()) is PortAction.CLOSE


def test_without_the_library_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that has it."""

    def missing(name: str) -> Callable[..., Any]:
        raise ImportError(name)

    monkeypatch.setattr("otf.codec.library.import_module", missing)
    with pytest.raises(UsageError, match=r"e2e is not installed: pip install 'otf\[can\]'"):
        protect(CanCodec(), {})
