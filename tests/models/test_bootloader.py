"""A boot loader: what a session may read and write, byte by byte, and the board that it runs on."""

import pytest

from otf.errors import CodecError, ContactError
from otf.models.bootloader import IN_SYNC, NO_SYNC, OK, SIGNATURE, Byte, Command, Stk500Codec, bench, commanded
from otf.models.bootloader_board import image
from tests.models.scripts import judged

CODEC = Stk500Codec()


def said(*values: int) -> tuple[Byte, ...]:
    """The bytes of an answer, with its two marks."""
    return tuple(map(Byte, (IN_SYNC, *values, OK)))


LOAD = (Command("load", 1), *said())
WRITE = (Command("program", 0xA5), *said())


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Command("sync"), *said()), (Command("enter"), *said())], "pass"),
        ([(Command("signature"), *said(*SIGNATURE))], "pass"),
        ([(Command("signature"), *said(*SIGNATURE[::-1]))], "fail"),
        ([(Command("universal"), *said(0))], "pass"),
        ([(Command("sync"), Byte(IN_SYNC))], "fail"),
        ([LOAD, (Command("read"), *said(255, 255, 255, 255))], "pass"),
        ([LOAD, WRITE, LOAD, (Command("read"), *said(*[0xA5] * 4))], "pass"),
        ([LOAD, WRITE, LOAD, (Command("read"), *said(*[255] * 4))], "fail"),
        ([LOAD, WRITE, (Command("load", 2), *said()), (Command("read"), *said(*[255] * 4))], "pass"),
        ([(Command("unended"), Byte(NO_SYNC))], "pass"),
        ([(Command("unended"),)], "fail"),
    ],
)
def test_what_a_boot_loader_may_answer(script: list[tuple[object, ...]], outcome: str) -> None:
    """What was written is read, page by page, and a command without its end is refused."""
    assert judged(bench(also="sync"), *script) == outcome


def test_commands_have_an_end() -> None:
    """An address counts words, sizes have their high byte first, and a byte of an answer is a value."""
    assert CODEC.encode(Command("load", 1)).hex(" ") == "55 40 08 20"
    assert CODEC.encode(Command("program", 7)).hex(" ") == "64 00 04 46 07 07 07 07 20"
    assert CODEC.encode(Command("read")).hex(" ") == "74 00 04 46 20"
    assert [CODEC.encode(Command(name)) for name in ("sync", "enter", "signature")] == [b"0 ", b"P ", b"u "]
    assert (CODEC.encode(Command("universal")), CODEC.encode(Command("unended"))) == (b"V\0\0\0\0 ", b"0!")
    assert CODEC.decode("serial", b"\x14") == Byte(IN_SYNC)
    with pytest.raises(CodecError, match="not a command of a boot loader"):
        CODEC.encode(Byte(1))


def test_a_program_in_intel_hex() -> None:
    """Records of data are put together; a gap is erased flash, and the version in the last word is not code."""
    lines = [":020000000102FB", ":0100040003F8", ":027FFE0004047D", ":00000001FF"]
    assert image(lines) == (0, b"\x01\x02\xff\xff\x03")


def test_no_program() -> None:
    """The error names the package that has it."""
    with pytest.raises(ContactError, match="simavr"):
        commanded("gone.hex")
