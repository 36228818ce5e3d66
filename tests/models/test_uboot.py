"""U-Boot: what commands print, what the return key repeats, and what a reset forgets."""

import pytest

from otf.models.uboot import bench
from otf.models.uboot.messages import COUNTDOWN, Answer, Countdown, Type, UbootCodec, prompts
from tests.models.scripts import judged

CODEC = UbootCodec()


def typed(line: str, *lines: str) -> tuple[Type, Answer]:
    """Return a command and what it prints."""
    return Type(line), Answer(line, lines)


FILL = typed("mw.l 40200000 deadbeef 2")
SHOW = typed("md.l 40200000 2", "40200000: deadbeef deadbeef                    ........")
MORE = (Type(""), Answer("", ("40200008: 00000000 00000000                    ........",)))
UNKNOWN = typed("printenv a", '## Error: "a" not defined')


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([typed("setenv a 1"), typed("printenv a", "a=1")], "pass"),
        ([typed("setenv a 1"), typed("printenv a", "a=2")], "fail"),
        ([UNKNOWN], "pass"),
        ([typed("setexpr a 10 + 20"), typed("printenv a", "a=30")], "pass"),
        ([typed("setexpr a 1 - 2"), typed("printenv a", "a=ffffffff")], "pass"),
        ([FILL, SHOW, MORE], "pass"),
        ([FILL, SHOW, (Type(""), Answer("", SHOW[1].lines))], "fail"),
        ([typed("setenv a 1"), (Type(""), Answer(""))], "pass"),
        ([typed("echo hi you", "hi you"), (Type(""), Answer("", ("hi you",)))], "pass"),
        ([FILL, (Type("reset"), Countdown()), (Type(""), Answer("")), SHOW], "pass"),
        ([typed("setenv a 1"), (Type("reset"), Countdown()), (Type(""), Answer("")), UNKNOWN], "pass"),
        ([SHOW, (Type("\x03"), Answer("<INTERRUPT>"), Answer("")), (Type(""), Answer(""))], "fail"),
        ([FILL, SHOW, (Type("\x03"), Answer("<INTERRUPT>"), Answer("")), (Type(""), Answer(""))], "pass"),
    ],
)
def test_what_the_board_may_print(script: list[tuple[object, ...]], outcome: str) -> None:
    """From a fresh start, with memory that is 0."""
    assert judged(bench(), *script) == outcome


def test_frames() -> None:
    """What comes is cut at prompts, and at the countdown after a reset."""
    stream = b"printenv a\r\na=1\r\n=> reset\r\nresetting ...\r\n\r\n" + COUNTDOWN + b"\b\b\b 0 \r\n=> "
    assert [CODEC.decode("serial", frame.data) for frame in prompts()().feed(stream)] == [
        Answer("printenv a", ("a=1",)),
        Countdown(),
        Answer(""),
    ]
