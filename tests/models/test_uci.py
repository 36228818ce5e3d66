"""The Universal Chess Interface: when a search ends, with which moves, and the lines of it all."""

import pytest

from otf.errors import CodecError
from otf.models.uci import bench
from otf.models.uci.messages import About, BestMove, Go, Info, Other, Position, Say, UciCodec, Word
from otf.models.uci.spec import POSITIONS
from tests.models.scripts import judged

CODEC = UciCodec(POSITIONS)
DEPTH = Info("depth", 1)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Go(("depth 1",)), DEPTH, BestMove("e2e4", "e7e5"))], "pass"),
        ([(Go(("depth 1",)), DEPTH), (Say("stop"), BestMove("e2e4"))], "pass"),
        ([(Go(("depth 1",)), BestMove("e2e5"))], "fail"),
        ([(Go(("depth 1",)), BestMove("e2e4"), BestMove("e2e4"))], "fail"),
        ([(Go(("depth 1",)), Info("depth", 2))], "fail"),
        ([(Go(("infinite",)), DEPTH, BestMove("e2e4"))], "fail"),
        ([(Go(("infinite",)), DEPTH), (Say("stop"), DEPTH, BestMove("e2e4"))], "pass"),
        ([(Go(("infinite",)),), (Say("ponderhit"), BestMove("e2e4"))], "fail"),
        ([(Go(("ponder",)),), (Say("ponderhit"), BestMove("e2e4"))], "pass"),
        ([(Go(("searchmoves a2a3", "depth 1")), BestMove("e2e4"))], "fail"),
        ([(Position("corner"),), (Go(("depth 1",)), BestMove("h8g8"))], "pass"),
        ([(Position("mate"),), (Go(("depth 1",)), BestMove("(none)"))], "fail"),
        ([(Say("stop"),), (Say("frobnicate"),)], "pass"),
        ([(Say("frobnicate"), Other("what?"))], "fail"),
        ([(Say("uci"), About("id name"), About("id author"), Word("uciok"))], "pass"),
        ([(Say("uci"), About("id name"), Word("uciok"))], "fail"),
    ],
)
def test_what_an_engine_may_say(script: list[tuple[object, ...]], outcome: str) -> None:
    """From the start of a game."""
    assert judged(bench(), *script) == outcome


def test_lines() -> None:
    """What is said is a line, and so is what is answered; what the interface does not have stays as it is."""
    assert CODEC.encode(Go(("searchmoves e2e4", "depth 1"))) == b"go searchmoves e2e4 depth 1"
    assert CODEC.encode(Position("e4")) == b"position startpos moves e2e4"
    assert CODEC.decode("uci", b"info depth 3 seldepth 4 score cp 18") == Info("depth", 3)
    assert CODEC.decode("uci", b"info string depth 3 is deep") == Info("string")
    assert CODEC.decode("uci", b"bestmove e7e8q") == BestMove("e7e8q")
    assert CODEC.decode("uci", b"Unknown command: 'x'.") == Other("Unknown command: 'x'.")
    with pytest.raises(CodecError, match="no position"):
        CODEC.encode(Position("nowhere"))
