"""The prompt of a micro:bit: what Python prints, which errors it raises, and how answers are cut at prompts."""

import pytest

from otf.errors import CodecError, ContactError
from otf.framing import prompt
from otf.models.microbit import Answer, Key, MicrobitCodec, Type, bench
from otf.models.microbit_board import MORE, PROMPT, board
from tests.models.scripts import judged

CODEC = MicrobitCodec()


def typed(line: str, *lines: str) -> tuple[Type, Answer]:
    """Return a line and what it prints."""
    return Type(line), Answer(line, lines)


def raised(line: str, error: str) -> tuple[Type, Answer]:
    """Return a line and the error that it raises."""
    return typed(line, "Traceback (most recent call last):", '  File "<stdin>", line 1, in <module>', f"{error}: text")


SET = [typed("a = -7"), typed("b = 3")]
BLOCK = (Type("for i in range(3): print(i)"), Answer("for i in range(3): print(i)", (), more=True))
START = Answer("", ("soft reboot", "MicroPython", "help"))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([*SET, typed("a // b", "-3")], "pass"),
        ([*SET, typed("a // b", "-2")], "fail"),
        ([*SET, typed("a % b", "2"), typed("a - b", "-10"), typed("a < b", "True")], "pass"),
        ([*SET, typed("a *= b"), typed("a += 1"), typed("a", "-20")], "pass"),
        ([raised("a", "NameError"), raised("b += 1", "NameError")], "pass"),
        ([raised("a", "KeyError")], "fail"),
        ([typed("a", "0")], "fail"),
        ([typed("a")], "fail"),
        ([*SET, typed("del a"), raised("a", "NameError")], "pass"),
        ([*SET, typed("b = 0"), raised("a % b", "ZeroDivisionError")], "pass"),
        ([BLOCK, (Type(""), Answer("", ("0", "1", "2")))], "pass"),
        ([BLOCK, (Key("c"), Answer(""), Answer("")), typed("")], "pass"),
        ([*SET, (Key("d"), START, Answer("")), raised("a", "NameError")], "pass"),
        ([*SET, (Key("d"), START), raised("a", "NameError")], "pass"),
        ([*SET, (Key("d"), START), typed("a", "-7")], "fail"),
    ],
)
def test_what_the_prompt_prints(script: list[tuple[object, ...]], outcome: str) -> None:
    """From a fresh start, with no names."""
    assert judged(bench(also="del"), *script) == outcome


def test_answers_are_cut_at_prompts() -> None:
    """A frame is an echo, the lines after it, and the prompt, of which there are two."""
    stream = b"a\r\n5\r\n>>> for x in y: z\r\n... \r\n>>> "
    framer = prompt(PROMPT, MORE, end=b"\r", keep=True)()
    assert [CODEC.decode("serial", frame.data) for frame in framer.feed(stream)] == [
        Answer("a", ("5",)),
        Answer("for x in y: z", (), more=True),
        Answer(""),
    ]
    assert (CODEC.encode(Type("a")), CODEC.encode(Key("c")), CODEC.encode(Key("d"))) == (b"a", b"\x03", b"\x04")
    with pytest.raises(CodecError, match="cannot be typed"):
        CODEC.encode(Answer("a"))


def test_no_firmware() -> None:
    """The error names the package that has it."""
    with pytest.raises(ContactError, match="apt-get install firmware-microbit-micropython"):
        board("gone.hex", 1)
