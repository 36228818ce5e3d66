"""Failures behind a guess: a run that gets there without any guess confirms them.

A path goes on past a known failure, and guesses the system's state. What fails then may be due to the guess. So otf
drives the system to the same place by other ways, around the failing transitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import anyio

from otf.adapter import Bench
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.core import Monitor, Node, Oracle, Symbol
from otf.core.stalls import CERTAIN
from otf.core.timer_waits import Timers
from otf.runner.lookout import patience
from otf.shrink import AllowedInputs, Candidate, ModelStep, StepPlan
from otf.shrink.issue import ANYWHERE, completed
from otf.shrink.shortest_ways import ModelMap
from otf.strategy.renames import NamedRun
from otf.trace.events import Event, Guess, Sent
from otf.trace.record import Header
from otf.trace.verdict import Failure, Verdict

GUESSED: Final = "the state was guessed, and no run without the guess has shown it"
STATES: Final = 4  # of a guess, from which to try the inputs after it
TRACE: Final = ".behind-{}.jsonl"
"""The ending of the trace of a run without the guess, in place of the path's own."""


@dataclass(frozen=True, slots=True)
class _Guessed:
    """The last guess of a path: the states it assumed possible, the inputs after it, and those that failed before."""

    states: tuple[Node, ...]
    inputs: tuple[Symbol, ...]
    before: tuple[Symbol, ...]
    failing: frozenset[tuple[Node, Symbol]]


async def without_guess(bench: Bench, oracle: Oracle, header: Header, failing: PathResult, until: float) -> PathResult:
    """Return a strict run that shows a path's failure without a guess, or else the path as inconclusive.

    No run begins after the time `until`. Raises ContactError as a path does.
    """
    wanted, numbers = failing.verdict.failure, count(1)
    for candidate in dict.fromkeys(_candidates(oracle, failing.events, bench)):
        if anyio.current_time() >= until:
            break
        trace = failing.trace.with_suffix(TRACE.format(next(numbers)))
        run = PathRun(bench, oracle, header, trace)
        pace = Pace("strict", 1, bench.timing, timers=Timers(last=True))
        chooser, steps = candidate.chooser(), candidate.limit
        found = await run.run(chooser, steps, pace.pacing(), until=until, earlier=[NamedRun.of(oracle, failing.events)])
        if _same(found.verdict.failure, wanted, bench) and _certain(found.verdict):
            return found
        trace.unlink(missing_ok=True)
    return PathResult(failing.number, Verdict("inconclusive", why=GUESSED), failing.steps, failing.trace)


def _same(failure: Failure | None, wanted: Failure | None, bench: Bench) -> bool:
    """Return whether a run shows what was seen behind the guess; a known issue after the same input does not."""
    if failure is None or wanted is None or bench.known_issue(failure):
        return False
    return (failure.kind, failure.input) == (wanted.kind, wanted.input)


def _certain(verdict: Verdict) -> bool:
    """Return whether no stall of the machine can explain a failure."""
    return not verdict.stalled or (verdict.failure is not None and verdict.failure.kind in CERTAIN)


def _candidates(oracle: Oracle, events: Sequence[Event], bench: Bench) -> Iterator[Candidate]:
    """Yield runs that may reach the failure: the nearest ways to where the guess began, then the whole path."""
    guess = _last_guess(oracle, events)
    ways = ModelMap(oracle, patience(bench), avoided=frozenset((frozenset([node]), inp) for node, inp in guess.failing))
    for node in guess.states[:STATES]:
        target = frozenset([node])
        way = () if target == ways.start else completed(ways.path(ways.start, target))
        if way is not None:
            inputs = (*(step.input for step in way), *guess.inputs)
            steps = ways.along(ModelStep(ANYWHERE, inp) for inp in inputs)
            if not any(ways.avoids(step) for step in steps):
                yield StepPlan(steps, ways) if any(map(ways.open, steps)) else AllowedInputs(inputs)
    yield AllowedInputs((*guess.before, *guess.inputs))


def _last_guess(oracle: Oracle, events: Sequence[Event]) -> _Guessed:
    monitor, failing = Monitor(oracle), set[tuple[Node, Symbol]]()
    states, inputs, before = tuple[Node, ...](), list[Symbol](), list[Symbol]()
    nodes: tuple[Node, ...] = ()
    for event in events:
        if isinstance(event, Sent):
            nodes = monitor.oracle.view(monitor.belief).nodes
            inputs.append(oracle.model.symbol(event.input))
        monitor.tell(event)
        if isinstance(event, Guess):
            if inputs and len(nodes) == 1:
                failing.add((nodes[0], inputs[-1]))
            before += inputs[:-1]
            states, inputs = monitor.states, []
    return _Guessed(states, tuple(inputs), tuple(before), frozenset(failing))
