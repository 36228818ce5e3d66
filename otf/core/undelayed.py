"""Failures that no delay explains: they show in what came and in rests that were observed, whatever the times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Final

from otf.core.model import Model
from otf.core.monitor import Monitor
from otf.core.oracle import Oracle
from otf.core.timing import Timing
from otf.spec import Elapse, with_times
from otf.trace.events import Event, Guess, Quiet, Stalled

MOST: Final = 20_000  # events, each of 0.1 to 0.2 ms: this is asked while a campaign waits
CROWDED: Final = 200  # hypotheses: where nothing is known of times, inputs in flight have many orders
AGES: Final = 1e9  # seconds: longer than any delay


def is_undelayed(oracle: Oracle, events: Sequence[Event]) -> bool:
    """Return whether a failing run would fail, too, if each message and timer had been late by any time.

    It is judged again without times: windows and timers of the model are open, L and R have no end, and silence that
    was only timed does not count. A busy machine delays; it does not change what is sent, and a system that was
    observed to rest sends nothing more. It judges neither a run in a guessed state nor a model that computes with the
    seconds of an `Elapse`, since a stall lengthens these.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> from otf.trace import Quiet, Seen, Sent
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on", within=(0, 1))], False, ["press"])))
    >>> is_undelayed(oracle, [Sent("press", "sut", 0.0), Seen("off", "sut", 0.2)])
    True
    >>> is_undelayed(oracle, [Sent("press", "sut", 0.0), Seen("on", "sut", 1.5)])
    False
    >>> is_undelayed(oracle, [Sent("press", "sut", 0.0), Quiet(2.0, by="observed")])
    False
    """
    if not events or len(events) > MOST or any(isinstance(each, Guess) for each in events):
        return False
    model = Model(with_times(oracle.model.spec, lambda _lo, _hi: (0.0, inf)), oracle.model.routes)
    timing, limits = Timing(AGES, AGES, AGES), replace(oracle.limits, hypotheses=CROWDED)
    monitor = Monitor(replace(oracle, model=model, timing=timing, limits=limits, properties={}))
    for event in events[:-1]:
        if not _is_timed(event):
            monitor.tell(event)
        if monitor.verdict is not None or len(monitor.belief.hypotheses) > CROWDED:
            return False
    verdict = None if _is_timed(events[-1]) else monitor.tell(events[-1])
    return verdict is not None and verdict.failed and not _reckons(model)


def _is_timed(event: Event) -> bool:
    return isinstance(event, Stalled) or (isinstance(event, Quiet) and event.by == "timed")


def _reckons(model: Model) -> bool:
    """Return whether the seconds of an `Elapse` have an effect in some state of the model met so far."""
    asked = ((inp, moves) for node in model.nodes for inp, moves in node.moves.items())
    waits = (moves for inp, moves in asked if inp is not None and isinstance(inp.value, Elapse))
    return any(not move.stays or move.emitted for moves in waits for move in moves)
