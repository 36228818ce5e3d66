"""`otf step`: walk through a model by hand, alone or together with the live system."""

from __future__ import annotations

import sys
from typing import Annotated, TextIO

from otf.cli.options import BenchName, Out, SystemOptions, flag, guarded
from otf.cli.output import fresh, say
from otf.errors import PASS

EXAMPLES = """\b
Examples:
  otf step coffee  choose inputs, see what the model allows
"""


@guarded
def step(
    bench: BenchName,
    on_system: Annotated[bool, flag("--live", "Send the inputs to the system, and judge what comes back.")] = False,
    out: Out = None,
    *,
    system: SystemOptions,
) -> int:
    """Walk through a model by hand: see what a state allows, choose what happens, go back.

    Each way on is an input with the outputs that the model expects. Commands are read line by line, also from a
    pipe: `echo 1 | otf step coffee`. Without --live no system is started.
    """
    from otf.adapter.third_party import watched
    from otf.cli.model_walk import WALK_HELP, StepWalk, live
    from otf.core import Model

    loaded = system.load(bench)
    if on_system:
        return live(loaded, bench, out or fresh("step"), _asked)
    with watched():
        walk = StepWalk(Model(loaded.spec, loaded.oracle().model.routes))
        say(WALK_HELP)
        walk.print_state()
        while (line := _asked()) is not None and line not in {"q", "quit", "exit"}:
            walk.take(line)
    return PASS


def _asked() -> str | None:
    stdin: TextIO | None = sys.stdin  # None where it was closed
    if stdin is None:
        return None
    if stdin.isatty():
        print("> ", end="", flush=True)
    line = stdin.readline()
    return line.strip() if line else None
