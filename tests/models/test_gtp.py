"""The Go Text Protocol: the rules of the game, the words of the protocol, and their bytes."""

import pytest

from otf.errors import CodecError, UsageError
from otf.models.gtp import bench
from otf.models.gtp.messages import Command, GtpCodec, Noise, Reply
from otf.models.gtp.rules import Position, empty
from tests.models.scripts import judged

OK = Reply(ok=True)
START = ((Command(("boardsize", "4")), OK), (Command(("clear_board",)), OK))


def play(*moves: str, size: int = 4) -> Position | None:
    """Return the board after moves such as "b A1"; None after an illegal one."""
    position: Position | None = empty(size)
    for color, vertex in (move.split() for move in moves):
        assert position is not None
        point = position.point(vertex)
        assert point is not None
        position = position.played(color, point)
    return position


def test_stones_without_liberties_are_taken() -> None:
    """Two white stones in the corner, with black ones all around, are gone."""
    position = play("w A1", "w B1", "b A2", "b B2", "b C1")
    assert position is not None
    assert position.stones("w") == frozenset()
    assert position.stones("b") == {"A2", "B2", "C1"}


def test_a_suicide_is_illegal() -> None:
    """A stone that would have no liberty, and takes none, cannot be played."""
    assert play("b A2", "b B1", "w A1") is None


def test_the_ko_may_not_be_retaken_at_once() -> None:
    """White takes one stone with one; black may take it back only after another move."""
    ko = ("b B1", "b A2", "b B3", "w C1", "w D2", "w C3", "b C2", "w B2")
    assert play(*ko, "b C2") is None
    assert play(*ko, "b D4", "b C2") is not None


def test_there_is_no_column_i() -> None:
    """The ninth column is J; a point outside the board is none, and case does not matter."""
    assert empty(9).vertex(8) == "J1"
    assert [empty(4).point(text) for text in ("a1", "D4", "E1", "A5", "i1", "", "1a")] == [
        0,
        15,
        None,
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Command(("play", "b", "a1"), 7), Reply(ok=True, id=7))], "pass"),
        ([(Command(("play", "b", "a1"), 7), OK)], "fail"),
        ([(Command(("play", "b", "a1")), OK), (Command(("list_stones", "b")), Reply(ok=True, text="A1"))], "pass"),
        ([(Command(("play", "b", "a1")), OK), (Command(("list_stones", "b")), OK)], "fail"),
        (
            [(Command(("play", "b", "a1")), OK), (Command(("play", "w", "A1")), Reply(ok=False, text="illegal move"))],
            "pass",
        ),
        (
            [
                (Command(("genmove", "b")), Reply(ok=True, text="B2")),
                (Command(("list_stones", "b")), Reply(ok=True, text="B2")),
            ],
            "pass",
        ),
        ([(Command(("genmove", "b")), Reply(ok=True, text="E5"))], "fail"),
        ([(Command(("play", "b", "pass")), OK), (Command(("undo",)), OK)], "pass"),
        ([(Command(("undo",)), OK)], "fail"),
        ([(Noise("# nothing"),), (Noise(""),)], "pass"),
        ([(Noise("# nothing"), OK)], "fail"),
        ([(Command(("frobnicate",)), Reply(ok=False, text="unknown command"))], "pass"),
        ([(Command(("boardsize", "26")), OK)], "fail"),
    ],
)
def test_what_an_engine_may_answer(script: list[tuple[object, ...]], outcome: str) -> None:
    """On an empty board of four lines."""
    assert judged(bench(), *START, *script) == outcome


def test_bytes() -> None:
    """A command is a line, with its number in front; an answer has a sign, perhaps a number, and text after a blank."""
    codec = GtpCodec()
    assert codec.encode(Command(("play", "b", "a1"), 7)) == b"7 play b a1"
    assert codec.decode("gtp", b"=7 ") == Reply(ok=True, id=7)
    assert codec.decode("gtp", b"? illegal move") == Reply(ok=False, text="illegal move")
    assert codec.decode("gtp", b"= a\nb") == Reply(ok=True, text="a\nb")
    with pytest.raises(CodecError, match="does not begin with = or"):
        codec.decode("gtp", b"hello")


def test_parameters_are_checked() -> None:
    """A board has a size, and only known groups of inputs can be added."""
    with pytest.raises(UsageError, match="size=1: a board of the protocol has 2 to 25 lines"):
        bench(size=1)
    with pytest.raises(UsageError, match="there are boardsize, komi"):
        bench(also="nonsense")
