"""The bench: a fresh engine for every path, on its pipes."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Final

from otf.adapter import Bench, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.core import Barrier
from otf.errors import UsageError
from otf.framing import prompt
from otf.models.gtp.inputs import ALSO
from otf.models.gtp.messages import PORT, Command, GtpCodec, Reply
from otf.models.gtp.requirements import GTP_REQUIREMENTS, GtpRule
from otf.models.gtp.spec import go
from otf.models.gtp.state import LARGEST, MOST
from otf.models.serving import chosen, expected, known_issue, program

KNOWN: Final = {
    "boardsize": known_issue(
        "GNU Go 3.8 calls a wrong argument of boardsize no syntax error",
        "boardsize",
        "not an integer",
        req=GtpRule.GTP2_SYNTAX,
    ),
    "komi": known_issue(
        "GNU Go 3.8 calls a wrong argument of komi no syntax error", "komi", "not a float", req=GtpRule.GTP2_SYNTAX
    ),
    "vertex": known_issue(
        "GNU Go 3.8 calls a wrong vertex no syntax error", "invalid color or coordinate", req=GtpRule.GTP2_SYNTAX
    ),
    "color": known_issue("GNU Go 3.8 calls a wrong colour no syntax error", "invalid color", req=GtpRule.GTP2_SYNTAX),
    "many": known_issue("GNU Go 3.8 takes a move with too many arguments", "'a1', 'a2'", req=GtpRule.GTP2_SYNTAX),
}
"""The known issues that each of `ALSO` shows."""
SIZES: Final = range(2, LARGEST + 1)  # with one point there is no legal move
PING: Final = Command(("known_command", "quit"), MOST)


@trace_may_set(size=SIZES, also=ALSO)
def bench(*, engine: str = "", size: int = 4, also: str = "") -> Bench:
    """Return the bench of a Go engine.

    `engine` is the command line of the Go engine (default: GNU Go at its lowest level). `size` is the number of points
    along each side of the board. `also` adds commands with wrong arguments: `boardsize`, `komi`, `vertex`, `color` or
    `many`. Raises UsageError for a size that the protocol does not have.

    >>> bench(size=3).name
    'gtp'
    """
    if size not in SIZES:
        message = f"size={size}: a board of the protocol has 2 to {LARGEST} lines"
        raise UsageError(message)
    chosen(also, ALSO)
    return Bench.on_ports(
        name="gtp",
        known_issues=expected(KNOWN, also),
        spec=go(size, also),
        codec=GtpCodec(),
        ports={PORT: lambda: _engine(engine)},
        inputs="uioco",
        # an engine may think about a move as long as it likes; a barrier shows when it is done, so this costs no time
        quiescence=0.2,
        latency=0.05,
        busy=1.0,
        barrier=Barrier({PORT: PING}, lambda _port, output: isinstance(output, Reply) and output.id == MOST),
        requirements=GTP_REQUIREMENTS,
    )


def _engine(engine: str) -> AbstractAsyncContextManager[Line]:
    # --seed: the same moves in every run, so that rerun works
    own = [program("gnugo", "gnugo"), "--mode", "gtp", "--level", "1", "--seed", "1"] if not engine else words(engine)
    return open_process(own, ready=None, framing=prompt(b"\n\n", end=b"\n", anywhere=True))
