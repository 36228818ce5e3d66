"""The model of an ELM327: settings, echoes, repeated commands, and answers of a vehicle."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from otf import run
from otf.errors import CodecError, ContactError
from otf.models.elm327 import ElmAnswer, ElmCodec, ElmCommand, bench, vehicle
from otf.testing import check_codec
from tests.models.scripts import judged

OK = ElmAnswer(("OK",))
BANNER = ElmAnswer(("ELM327 v1.5",))


def typed(text: str, *lines: str, end: str = "\r") -> tuple[object, ...]:
    """Return a step: a command, its echo, and the lines of its answer."""
    return ElmCommand(text), ElmAnswer((text, *lines), end)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([typed("ATI", "ELM327 v1.5")], "pass"),
        ([typed("ATI", "ELM 327")], "fail"),
        ([(ElmCommand("ATI"), BANNER)], "fail"),  # an echo is missing
        ([typed("ATE0", "OK"), (ElmCommand("at i"), BANNER)], "pass"),
        ([typed("ATE0", "OK"), typed("ATI", "ELM327 v1.5")], "fail"),
        ([typed("ATE0", "OK"), (ElmCommand("ATZ"), BANNER), typed("ATI", "ELM327 v1.5")], "pass"),
        ([typed("AT L1", "OK"), typed("ATSP0", "OK", end="\r\n")], "pass"),
        ([typed("AT L1", "OK"), typed("ATSP0", "OK")], "fail"),
        ([typed("0100", "SEARCHING...", "41 00 BE 3F A8 13 ")], "pass"),
        ([typed("0100", "41 00 BE 3F A8 13 ", "41 00 80 00 00 01 ")], "pass"),
        ([typed("0100", "41 0C BE 3F ")], "fail"),
        ([typed("AT H1", "OK"), typed("0100", "41 00 BE 3F A8 13")], "fail"),
        ([typed("AT H1", "OK"), typed("0100", "7E8 06 41 00 BE 3F A8 13")], "pass"),
        ([typed("ATS0", "OK"), typed("0100", "41 00 BE 3F A8 13")], "fail"),
        ([typed("ATS0", "OK"), typed("0100", "4100BE3FA813"), (ElmCommand(""), ElmAnswer(("4100BE3FA813",)))], "pass"),
        ([typed("ATQQ", "?"), typed("XYZ", "?")], "pass"),
        ([typed("ATQQ", "OK")], "fail"),
    ],
)
def test_the_model_follows_the_data_sheet(script: list[tuple[object, ...]], outcome: str) -> None:
    """From a reset: echo and spaces on, headers off."""
    assert judged(bench(), *script) == outcome


def test_headers_of_several_protocols() -> None:
    """Three digits and a length, eight of them, or three bytes with a checksum at the end."""
    lines = ["7E8 06 41 00 BE", "18 DA F1 10 06 41 00 BE", "48 6B 10 41 00 BE 3E B8 11 FA"]
    assert [re.fullmatch(vehicle("0100", headers=True, spaces=True), line) is not None for line in lines] == [True] * 3


def test_lines_to_and_from_the_chip() -> None:
    """An answer is what comes before the prompt; zeros are not a part of it."""
    codec = ElmCodec()
    check_codec(codec, inputs=[ElmCommand("AT Z"), ElmCommand("")], ports=["serial"])
    assert codec.decode("serial", b"ATZ\r\r\rELM327 v1.5\r\0\r") == ElmAnswer(("ATZ", "ELM327 v1.5"))
    assert codec.decode("serial", b"ATI\rELM327 v1.5\r\n\r\n").end == "\r\n"
    with pytest.raises(CodecError, match="not a command of an ELM327"):
        codec.encode("ATZ")


@pytest.mark.skipif(find_spec("elm") is not None, reason="the emulator is installed")
def test_an_emulator_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """With its licence, since the user decides, and with the other ways."""
    with pytest.raises(ContactError, match=r"ELM327-emulator is not installed.*CC BY-NC-SA.*--set emulator="):
        run(bench(), traces=1, steps=1, out=tmp_path)
