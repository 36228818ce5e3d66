"""Malformed inputs for prompts and a boot loader: a prompt takes most bytes, so little is malformed there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otf.cli.benches import load
from otf.codec.malformed import Malformed, MalformedCodec
from otf.models.bootloader import Command
from otf.models.elm327 import ElmCommand
from otf.models.microbit import Names
from otf.models.microbit import Type as Line
from otf.models.uboot.messages import Type
from otf.spec import Transition


def codec_of(name: str) -> MalformedCodec:
    """Return the codec of a bench, with malformed inputs."""
    codec = load(name, {}).codec
    assert codec is not None
    return MalformedCodec(codec)


@pytest.mark.parametrize(
    ("name", "raw", "frames"),
    [
        ("bootloader", b"n ", 1),
        ("bootloader", b"U\0\x08 ", 1),
        ("bootloader", b"n\0 ", 0),  # where it ends depends on a letter that is not known
        ("bootloader", b"0#", 0),
        ("elm327", b"AT\xff I", 1),
        ("elm327", b"AT\rI", 0),
        ("elm327", b"ATI\x7f", 0),
        ("microbit", b"a\xff", 1),
        ("microbit", b"\3", 1),
        ("microbit", b"a\x7f", 0),  # it edits the line
        ("uboot", b"echo\xff", 1),
        ("uboot", b"echo\x1b[A", 0),
    ],
)
def test_what_is_one_line(name: str, raw: bytes, frames: int) -> None:
    """Not what ends a line or edits it."""
    assert len(codec_of(name).frames("", raw)) == frames


@pytest.mark.parametrize(
    ("name", "raw", "message"),
    [
        ("bootloader", b"n ", None),
        ("bootloader", b"Q ", Command("Q")),  # a command that is not tried
        ("elm327", b"AT\xff I", None),
        ("elm327", b"AT MA", ElmCommand("AT MA")),
        ("microbit", b"a\xff", None),
        ("microbit", b"import os", Line("import os")),
        ("uboot", b"echo\xff", None),
        ("uboot", b"setenv a 2", Type("setenv a 2")),
    ],
)
def test_what_is_a_message(name: str, raw: bytes, message: object) -> None:
    """Any line that can be printed, whether the model has it or not."""
    assert codec_of(name).message("", raw) == message


@pytest.mark.parametrize(
    ("name", "raw", "of", "number"),
    [
        ("bootloader", b"n ", b"0 ", 1),  # an unknown letter changes nothing
        ("bootloader", b"0!", b"0 ", 0),  # what follows a command without its end is a known issue
        ("elm327", b"ATH1\xff", b"ATH1", 2),  # it is not understood, or taken without the byte
        ("elm327", b"\xff\xff", b"ATH1", 0),  # it might be an empty line, which repeats a command
        ("microbit", b"a = 3\xff", b"a = 3", 2),
        ("microbit", b"b = -\xff", b"b = -7", 0),  # taken without the byte, it is another line
        ("uboot", b"\xffsetenv a 1", b"setenv a 1", 2),
        ("uboot", b"\xf3etenv a 1", b"setenv a 1", 2),
        ("uboot", b"setenv a 1\xff", b"setenv a 1", 0),  # a part of the value
        ("uboot", b"re\xffset", b"reset", 0),  # the board may start anew
    ],
)
def test_a_line_with_odd_bytes_is_sent_if_its_effects_are_known(name: str, raw: bytes, of: bytes, number: int) -> None:
    """The states that it may lead to; none: it is not sent."""
    spec = load(name, {}).spec
    assert spec.malformed is not None
    ways = spec.malformed(spec.initial, Malformed(raw, "", of)) or ()
    assert len({way.state for way in ways if isinstance(way, Transition)}) == number


def test_whether_an_empty_line_repeats_malformed_bytes_is_left_open() -> None:
    """U-Boot and the ELM327 may do so: no empty line is sent before the next command."""
    for name, raw, empty in (("uboot", b"echo\xa0hi you", Type("")), ("elm327", b"ATI\xff", ElmCommand(""))):
        spec = load(name, {}).spec
        assert spec.malformed is not None
        first = next(iter(spec.malformed(spec.initial, Malformed(raw, "", raw[:4])) or ()))
        assert isinstance(first, Transition)
        assert list(spec.step(first.state.state, empty)) == []


def test_nothing_malformed_is_typed_into_a_block() -> None:
    """Its end would be unknown."""
    spec = load("microbit", {}).spec
    assert spec.malformed is not None
    assert list(spec.malformed(replace(Names(), block=1), Malformed(b"\xffa", "", b"a")) or ()) == []
