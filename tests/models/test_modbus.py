"""Modbus RTU: memory, exceptions, silence, and the frames."""

import pytest

from otf.errors import CodecError
from otf.models.modbus import bench
from otf.models.modbus.messages import ON, Bits, Foreign, ModbusCodec, Refused, Request, Words, Written, answers
from tests.models.scripts import judged

CODEC = ModbusCodec()


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Request(6, 0, 7), Written(6, 0, 7)), (Request(3, 0, 2), Words(3, (7, 0)))], "pass"),
        ([(Request(6, 0, 7), Written(6, 0, 7)), (Request(3, 0, 2), Words(3, (0, 7)))], "fail"),
        ([(Request(5, 2, ON), Written(5, 2, ON)), (Request(1, 0, 3), Bits(1, (0, 0, 1, 0, 0, 0, 0, 0)))], "pass"),
        ([(Request(5, 2, 1), Written(5, 2, ON))], "fail"),
        ([(Request(5, 2, 1), Refused(5, 3))], "pass"),
        ([(Request(3, 16, 1), Refused(3, 2))], "pass"),
        ([(Request(3, 0, 126), Refused(3, 3))], "pass"),
        ([(Request(9, 0, 1), Refused(9, 1))], "pass"),
        ([(Request(6, 0, 7, crc=False),), (Request(3, 0, 1), Words(3, (0,)))], "pass"),
        ([(Request(6, 0, 7, unit=0),), (Request(3, 0, 1), Words(3, (7,)))], "pass"),
        ([(Request(6, 0, 7, unit=2),), (Request(3, 0, 1), Words(3, (0,)))], "pass"),
        ([(Request(6, 0, 7, unit=2), Foreign(2, 0x86))], "fail"),
    ],
)
def test_what_a_server_may_answer(script: list[tuple[object, ...]], outcome: str) -> None:
    """With 16 coils and 16 registers, all 0 at first."""
    assert judged(bench(), *script) == outcome


def test_frames() -> None:
    """The example of the guide has the checksum that it should; answers are cut by what their function tells."""
    assert CODEC.encode(Request(3, 0, 2)).hex() == "010300000002c40b"
    assert CODEC.encode(Request(3, 0, 2, crc=False)).hex() == "010300000002c50b"
    assert CODEC.encode(Request(15, 4, 9, (1, 1, 0, 0, 1, 0, 1, 1, 1))).hex()[:-4] == "010f0004000902d301"
    stream = bytes.fromhex("018302c0f1") + CODEC.encode(Request(6, 0, 0x1234))
    assert [CODEC.decode("line", frame.data) for frame in answers()().feed(stream)] == [
        Refused(3, 2),
        Written(6, 0, 0x1234),
    ]
    with pytest.raises(CodecError, match="the checksum of"):
        CODEC.decode("line", bytes.fromhex("018302c0f2"))
