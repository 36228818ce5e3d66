"""Scripts of a conversation, judged by the model of a bench: no system, no socket, no time."""

from __future__ import annotations

from otf.adapter import Bench
from otf.core import Monitor
from otf.trace.events import Quiet, Seen, Sent

QUICK = 0.000_001
"""Seconds between two events of a script: too short for any timer of a model."""


def judged(bench: Bench, *script: tuple[object, ...]) -> str:
    """Return the outcome of a script: each step is an input, the outputs that follow it, and then silence."""
    monitor, at = Monitor(bench.oracle()), 0.0
    for inp, *outputs in script:
        at += QUICK
        monitor.tell(Sent(inp, bench.port(inp), at))
        for output in outputs:
            at += QUICK
            monitor.tell(Seen(output, bench.port(output), at))
        at += QUICK
        monitor.tell(Quiet(at))
    return monitor.end().outcome
