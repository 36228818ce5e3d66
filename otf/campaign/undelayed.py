"""Failures that no delay explains, since the order and the values of the outputs are wrong at any times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from time import process_time
from typing import Final

from otf.core import Monitor, Oracle
from otf.spec import Elapse
from otf.trace.events import Closed, Event, Guess, Seen, Sent, Stalled

STALL: Final = 1e5
"""Seconds for which the machine may have stood still before each event: more than a run lasts."""
SECONDS: Final = 10.0
"""Of CPU time, after which nothing is said; 120 messages of a node beside 50 inputs take 2."""


def is_undelayed(oracle: Oracle, events: Iterable[Event]) -> bool:
    """Return whether a run fails even if the machine stood still before each event, and no silence means anything.

    So no delay explains the failure. A model that reckons with the seconds of an `Elapse`, and a run in a guessed
    state, are not judged.
    """
    monitor, until, before = Monitor(replace(oracle, properties={})), process_time() + SECONDS, 0.0
    told = takewhile(lambda each: not isinstance(each, Guess) and process_time() < until, events)
    for number, event in enumerate((each for each in told if isinstance(each, Seen | Sent | Closed)), 1):
        # longer than the time that it takes here, so that what was due before the event is not overdue after it
        monitor.tell(Stalled(2 * STALL, before + number * STALL))
        if (verdict := monitor.tell(replace(event, at=event.at + number * STALL))) is not None:
            return verdict.failed and not _reckons(oracle)
        before = event.at
    return False


def _reckons(oracle: Oracle) -> bool:
    """Return whether the seconds of an `Elapse` have an effect in some state of the model met so far."""
    waits = (
        moves
        for node in oracle.model.nodes
        for inp, moves in node.moves.items()
        if inp is not None and isinstance(inp.value, Elapse)
    )
    return any(not move.stays or move.emitted for moves in waits for move in moves)
