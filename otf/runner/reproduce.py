"""Shows a failure again with only a bench and a few steps: no campaign, no choices, no files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import anyio

from otf.adapter import Bench
from otf.adapter.third_party import watched
from otf.adapter.threads import ThreadWatch
from otf.core import Chooser, Oracle, Pacing, Session
from otf.core.burst import Burst, Joins
from otf.core.pacing import Strict
from otf.core.repeatable import ask_again
from otf.core.timer_waits import Timers
from otf.core.walk import Walk, bounded, excused
from otf.errors import ContactError
from otf.runner.driving import drive, with_all_sent
from otf.runner.lookout import patience
from otf.shrink import AllowedInputs, Candidate, again, issue_of
from otf.strategy.renames import NamedRun, renaming
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.trace.explain import explanation
from otf.trace.verdict import Verdict

InputWithOutputs: TypeAlias = tuple[object, Sequence[object]]
"""An input, and its outputs when the failure was seen."""


def reproduce(  # noqa: PLR0913 -- what shows a failure, each once
    bench: Bench,
    steps: Iterable[InputWithOutputs],
    *,
    burst: int = 1,
    together: Collection[int] = (),
    tries: int = 1,
    pauses: Sequence[float] = (),
) -> None:
    """Send the inputs of these steps to a fresh copy of the system, up to `tries` times: one run may pass by chance.

    At most `burst` inputs are sent at once. An input whose number (from 1) is in `together` joins the one before; if
    `together` is empty, each input may join those before it. `pauses` are the least seconds from each input to the
    next. With `pauses`, no timer of the model is awaited between inputs.

    If the model leaves choices to the system, the outputs in `steps` are the choices to reach; after a different
    choice, other inputs lead back to them. Raises AssertionError with the explanation as soon as a run fails,
    ModelError if the model is broken. Raises ContactError if the system cannot be reached or no run decides. Do not
    call it from within an event loop.
    """
    __tracebackhide__ = True  # pytest shows the user's program, not this function
    oracle = bench.oracle()
    earlier = [*steps]
    candidate = _candidate(bench, oracle, earlier)
    joins: Joins | None = (lambda number, _given, _another: number in together) if together else None

    def pacing() -> Pacing:
        timers = Timers(last=True, between=not pauses)
        return Burst(bench.timing, burst, joins=joins) if burst > 1 else Strict(bench.timing, timers, gaps=pauses)

    passed, verdict = False, Verdict("pass")
    for _ in range(tries):
        with watched():
            verdict, events = _run(bench, oracle, candidate, pacing, [*_events(oracle, earlier)])
        if verdict.failed:
            ask_again(oracle.model, bench.oracle(), events)
            raise AssertionError(explanation(verdict, events))
        verdict = with_all_sent(verdict, sum(isinstance(event, Sent) for event in events), candidate.least)
        passed = passed or verdict.outcome == "pass"
    if not passed:
        raise ContactError(f"no run decides whether the failure is there; the last was inconclusive: {verdict.why}")


def _candidate(bench: Bench, oracle: Oracle, steps: list[InputWithOutputs]) -> Candidate:
    issue = issue_of(oracle, _events(oracle, steps))
    if len(issue) == len(steps):
        return again(issue, oracle, patience(bench))
    # the outputs alone do not determine the path, for example if time matters
    return AllowedInputs(tuple(oracle.model.symbol(inp) for inp, _ in steps))


def _events(oracle: Oracle, steps: list[InputWithOutputs]) -> Iterator[Event]:
    routes = oracle.model.routes
    for inp, outputs in steps:
        yield Sent(inp, routes.into(inp), 0.0)
        yield from (Seen(output, routes.of(output), 0.0) for output in outputs)
        yield Quiet(0.0)


def _run(
    bench: Bench, oracle: Oracle, candidate: Candidate, pacing: Callable[[], Pacing], earlier: list[Event]
) -> tuple[Verdict, list[Event]]:
    chooser = candidate.chooser()
    renames = renaming(chooser, [NamedRun.of(oracle, earlier)])
    if bench.system is not None:
        died = list[BaseException]()
        with ThreadWatch(died.append) as watch:
            walk = Walk(oracle, bounded(watch.call(bench.system), died), keep=None)
            verdict = watch.call(_walked, walk, chooser, candidate.limit, renames)
        last = [walk.ended(died[0])] if died and verdict is None else []
        return excused(verdict or walk.end(), walk), [*walk.events(), *last]
    events = list[Event]()
    session = Session(oracle, chooser, pacing(), steps=candidate.limit, barrier=bench.barrier)

    async def driven() -> Verdict:
        return await drive(bench, session, record)

    def record(event: Event, _raw: bytes | None = None, /, **_more: Any) -> None:  # noqa: ANN401 -- JSON data
        events.append(event)
        if renames is not None:
            renames(event)

    return anyio.run(driven), events


def _walked(walk: Walk, chooser: Chooser, limit: int, renames: Callable[[Event], None] | None) -> Verdict | None:
    verdict = None
    while verdict is None and walk.steps < limit:
        told = walk.steps
        verdict = walk.chosen(chooser, limit if renames is None else 1)
        if renames is not None:
            for event in walk.events(told):
                renames(event)
    return verdict
