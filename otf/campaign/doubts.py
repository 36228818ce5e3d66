"""Failures that do not count yet: seen behind a guess, or shown by too few runs.

A path goes on past a known failure, and guesses the system's state. If the guess is wrong, a later failure may be wrong
too. So otf drives the system to the same place by other ways, around the failing transitions. A run without any guess
then confirms the failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

import anyio

from otf.adapter import Bench
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.core import Monitor, Node, Oracle, Symbol
from otf.core.stalls import CERTAIN, is_proven
from otf.core.timer_waits import Timers
from otf.runner.lookout import patience
from otf.runner.observing import TRUSTING
from otf.shrink import AllowedInputs, Candidate, ModelStep, StepPlan
from otf.shrink.issue import ANYWHERE, completed
from otf.shrink.shortest_ways import ModelMap
from otf.strategy.renames import NamedRun
from otf.trace.events import Event, Guess, Sent
from otf.trace.record import Header
from otf.trace.title import title
from otf.trace.verdict import Failure, Verdict

TRIES: Final = 3  # strict re-runs; if none of them fails, the failure does not count
AFTER: Final = 3  # outputs after a failure that a reason tells: a heartbeat would be in each of them
ONCE: Final = "seen once: there was no time to drive the whole path again, and no delay explains it"
OVER: Final = "the time of the campaign was over before it was seen again"


def once(seen: Sequence[PathResult], others: Sequence[PathResult] = ()) -> str:
    """Return why failures seen only once each, beside a stall, do not count; `others` did not fail."""
    found = " and ".join(
        f"{title(failure)}, beside a stall of {each.verdict.stalled:.3f} s"
        for each in seen
        if (failure := each.verdict.failure) is not None
    )
    what = "a failure was seen once" if len(seen) == 1 else f"{len(seen)} failures were seen, each once"
    also, runs = mixed(others, "others"), len(seen) + len(others)
    return (
        f"{what} in {runs} strict run{'s' * (runs > 1)} of the same inputs ({found}), and while a machine stalls "
        f"neither tester nor system can run{also and f'; {also}'}"
    )


def mixed(runs: Sequence[PathResult], what: str) -> str:
    """Return how many runs, called `what`, were inconclusive, and why; "" if all passed."""
    unclear = [each for each in runs if each.verdict.outcome != "pass"]
    if not unclear:
        return ""
    why = f"the first: {unclear[0].verdict.why}"
    if len(unclear) == len(runs):
        return f"all {what} were inconclusive ({why})"
    return f"of {len(runs)} {what} {len(runs) - len(unclear)} passed, {len(unclear)} were inconclusive ({why})"


def count_unclear(runs: Iterable[PathResult]) -> int:
    """Return how many of these runs were inconclusive."""
    return sum(each.verdict.outcome == "inconclusive" for each in runs)


def why_doubted(first: str, seen: Sequence[PathResult], others: Sequence[PathResult], *, over: bool) -> str:
    """Return why a failure does not count: the runs `seen` failed beside a stall, the `others` did not.

    `first` says how it failed; `over`: there was no time for more runs.
    """
    if seen:
        return once(seen, others) + over * f"; {OVER}"
    what = "strict re-runs of the same inputs"
    found = mixed(others, what)
    if over:
        more = found or (f"{len(others)} of {TRIES} {what} passed" if others else "")
        return f"{first}, and {OVER}{more and f'; {more}'}"
    return f"{first}, and {found}" if found else f"{first} only: {len(others)} {what} passed"


def interrupted_result(failing: PathResult) -> PathResult:
    """Return the result of a path whose system ended as the tester was interrupted."""
    why = "the system ended as the tester was interrupted: the same signal may have ended both"
    return replace(failing, verdict=Verdict("inconclusive", why=why), events=())


def is_trusting(result: PathResult) -> bool:
    """Return whether the silences of a run rely on threads that have proved to wake for nothing."""
    return result.silence.startswith(TRUSTING)


def doubtful_result(failing: PathResult, why: str, *, over: bool = False, certain: bool = False) -> PathResult:
    """Return a path as inconclusive.

    `over`: there was no time for another run, so what no delay explains counts, as it does where it is `certain`. A run
    that trusted threads to wake for nothing may have sent an input before the system was ready for it.
    """
    # eager mode may be wrong about an output that should have come by now, but not about a system that has ended; and a
    # system that died, and that the bench cannot restart, cannot be driven again
    failure = failing.verdict.failure
    if failure is None or failure.kind == "ended":
        return failing
    if not is_trusting(failing) and (certain or (over and is_proven(failing.verdict, failing.events))):
        note = "\n".join(filter(None, [failure.note, ONCE]))
        return replace(failing, verdict=replace(failing.verdict, failure=replace(failure, note=note)))
    # a restarted system says so only once, and its text is the only trace of that
    after = [line for line in failure.note.splitlines() if line.startswith("afterwards")]
    more = [f"… {len(after) - AFTER} more"] if len(after) > AFTER else []
    why = "; ".join([why, f"seen: {failure.seen}", *after[:AFTER], *more])
    return replace(failing, verdict=Verdict("inconclusive", why=why), events=())


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
