"""Confirms failures: otf drives a failure again in strict mode before it blames the system.

It does so for a failure in eager mode, and for one in strict mode if the machine stalled in that run. Strict mode
trusts the clock, and a clock goes on while nothing can run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

import anyio

from otf.adapter import Bench
from otf.adapter.log import note
from otf.campaign.doubts import (
    TRIES,
    count_unclear,
    doubtful_result,
    interrupted_result,
    is_trusting,
    why_doubted,
    without_guess,
)
from otf.campaign.one_by_one import one_by_one
from otf.campaign.pace import Pace, as_before
from otf.campaign.paths import PathRun
from otf.campaign.results import STRICT, KnownIssueCount, PathResult
from otf.campaign.summary import Summary
from otf.core import Oracle
from otf.core.missed_times import LONG
from otf.core.repeatable import ask_again
from otf.core.stalls import CERTAIN
from otf.core.timer_waits import Timers
from otf.core.undelayed import is_undelayed
from otf.errors import ContactError, WriteError
from otf.strategy import Script
from otf.strategy.renames import NamedRun
from otf.trace.clock import pauses
from otf.trace.events import Sent
from otf.trace.record import Header
from otf.trace.verdict import Failure, FailureKind, Signature

EVERY: Final = 2  # before their end, the first and third strict re-runs wait only where the original did
STALLED: Final = 5
"""Strict runs if one failed beside a stall; if no other fails in the same way, the stall may be the reason."""
PUT_ASIDE: Final = 1.0  # seconds of a stall: a system with its own time-outs may have given up in each run
LAST: Final = 8  # inputs; then eight times as many
_CAME: Final[set[FailureKind]] = {"wrong", "unasked", "undecodable", "ended"}
EAGER: Final = "a failure was seen in eager mode"
FOREVER: Final = float("inf")
DROPPED: Final = "its trace lacks what was dropped in the middle (--largest)"
TOGETHER: Final = 0.02
"""Seconds between the end of a system and an interruption of the tester in which one signal may have caused both."""


class ConfirmedPath(NamedTuple):
    """A path as it counts, after `tries` strict re-runs that passed or failed.

    `known` is the signature of an earlier strict failure. `trouble` is the error that ended contact with the system.
    `again`: the path is undecided, and a campaign that continues drives it again.
    """

    result: PathResult
    tries: int = 0
    known: Signature | None = None
    trouble: ContactError | None = None
    again: bool = False


Counts = Callable[[ConfirmedPath], None]
"""Receives a path, as it counts, if an interruption comes before it is decided."""


class DriveAgain(Protocol):
    """Drives a failing path again, as `confirm` does."""

    def __call__(self, failing: PathResult, first: str, *, strict: bool) -> Awaitable[ConfirmedPath]:
        """Return the path as it counts."""
        ...


class Confirmer:
    """Decides how the failing paths of one campaign count; `summary` has the findings so far."""

    def __init__(self, bench: Bench, summary: Summary) -> None:
        self._bench = bench
        self._summary = summary
        # kinds of failures in eager mode, with the signatures of the same failures in strict mode
        self._known: dict[Signature, Signature] = {}
        self._races = set[Signature]()
        self._met = Counter[Signature]()
        self._confirming: defaultdict[Signature, anyio.Lock] = defaultdict(anyio.Lock)

    def known_issue(self, result: PathResult) -> KnownIssueCount | None:
        """Return the known issue that a failing path shows, if any."""
        issue = self._bench.known_issue(result.verdict.failure)
        return None if issue is None else self._summary.known_issues[self._bench.known_issues.index(issue)]

    async def confirmed(
        self, result: PathResult, oracle: Oracle, drive_again: DriveAgain, counts: Counts, *, doubtful: bool
    ) -> ConfirmedPath:
        """Return a path as it counts, after driving a `doubtful` failure again in strict mode. Raises WriteError.

        `counts` gets the path if an interruption comes first.
        """
        result = _in_flight(result) if doubtful else result
        failure = result.verdict.failure
        kind = None if failure is None else self._summary.kinds.as_added(failure.signature)
        if kind is not None and kind not in {*self._summary.failures, *self._known}:
            ask_again(oracle.model, self._bench.oracle(), result.events)
        # a known issue is not a new failure, and one that depends on chance might not show again
        if failure is None or kind is None or self.known_issue(result) is not None or result.verdict.proven:
            return ConfirmedPath(result)
        if failure.kind == "ended":
            await _uninterrupted(result, counts)
        # a run that is already strict, from a reset, is what a re-run would do
        doubtful = (doubtful and not result.trace.name.endswith(STRICT)) or is_trusting(result)
        burst = not doubtful and failure.together > 1 and bool(result.events)
        if not doubtful and not burst and not is_stalled(result):
            return ConfirmedPath(result)
        if not result.events:
            return ConfirmedPath(doubtful_result(result, f"a failure was seen that cannot be driven again: {DROPPED}"))
        # if paths fail alike at the same time, only one is driven again; the others wait for its result
        async with self._confirming[kind]:
            self._met[kind] += 1
            known, turn = self._known.get(kind), self._met[kind]
            # another defect may look the same in eager mode, with more inputs in flight: what strict runs show
            # otherwise is driven again the second, fourth, eighth … time
            same = known is not None and replace(known, input=failure.signature.input) == failure.signature
            # a race may look like a burst with an input that fails alone: each burst is driven until the race is known
            if burst and kind in self._races:
                return ConfirmedPath(result)
            if not burst and known is not None and (same or turn & (turn - 1)):
                return ConfirmedPath(result, known=failure.signature if known == failure.signature else known)
            seen = await self._driven(result, drive_again, counts, doubtful=doubtful)
            shown = seen.result.verdict.failure
            # what a strict run shows to be a known issue may be something else the next time
            if burst and seen.result.trace == result.trace:
                self._races.add(kind)
            elif seen.trouble is None and shown is not None and self._bench.known_issue(shown) is None:
                self._known[kind] = shown.signature
            return seen

    async def _driven(
        self, result: PathResult, drive_again: DriveAgain, counts: Counts, *, doubtful: bool
    ) -> ConfirmedPath:
        sure = not doubtful and not is_stalled(result)
        first = EAGER if doubtful else "a failure was seen " + ("in a burst" if sure else "while the machine stalled")
        if is_trusting(result):
            first = "a failure was seen in a run that trusts threads to wake for nothing"
        if self._bench.speed > 1:
            first = f"a failure was seen with clocks {self._bench.speed:g} times as fast"
        elif self._bench.by_reset() is not self._bench:
            first = "a failure was seen from a snapshot"
        note("failure is driven again", why=first)
        try:
            return await drive_again(result, first, strict=not doubtful)
        except ContactError as error:
            lost = result if sure else doubtful_result(result, f"{first}, and there was no contact to see it again")
            return ConfirmedPath(lost, trouble=error, again=True)
        except (anyio.get_cancelled_exc_class(), WriteError) as error:
            what = "a trace could not be written" if isinstance(error, WriteError) else "an interruption came"
            why = f"{first}, and {what} before it could be seen again"
            doubted = result if sure else doubtful_result(result, why, over=True)
            counts(ConfirmedPath(doubted, again=not doubted.verdict.failed))
            raise


def _in_flight(result: PathResult) -> PathResult:
    """Return a failing path of eager mode: any of the inputs in flight may be to blame, but they are no race."""
    failure = result.verdict.failure
    if failure is None:
        return result
    signature = replace(failure.signature, meets="")
    return replace(result, verdict=replace(result.verdict, failure=replace(failure, signature=signature)))


async def _uninterrupted(result: PathResult, counts: Counts) -> None:
    """Wait a moment for an interruption: Ctrl-C in a terminal ends all programs started there."""
    try:
        await anyio.sleep(TOGETHER)
    except anyio.get_cancelled_exc_class():
        counts(ConfirmedPath(interrupted_result(result), again=True))
        raise


def is_stalled(result: PathResult) -> bool:
    """Return whether the machine may be to blame for a failing run: it stalled, and that may explain the failure."""
    verdict = result.verdict
    possible = verdict.failure is not None and verdict.failure.kind not in CERTAIN
    return bool(verdict.stalled) and possible and not verdict.proven


async def confirm(  # noqa: PLR0913 -- what a run needs, each once
    bench: Bench,
    oracle: Oracle,
    header: Header,
    failing: PathResult,
    *,
    strict: bool = False,
    first: str = EAGER,
    until: float = FOREVER,
    aftermath: float = 0.0,
    speed: float = 1.0,
) -> ConfirmedPath:
    """Return a strict run that fails too, or the original as inconclusive, with the number of tries.

    `strict`: the original was itself a strict run, during which the machine stalled. A run that fails beside a stall
    counts once another fails in the same way. `first` says how the original failed. The runs end by the time `until`,
    perhaps undecided. `aftermath`: seconds to listen after a failure. `speed`: how much faster the original's clocks
    were. A failure behind a guess is sought without the guess. The trace of the strict run lies beside the original as
    `….strict.jsonl`. Raises ContactError as a path does.
    """
    failing = failing.upto(failing.verdict.failure)
    if failing.guesses:
        return ConfirmedPath(await without_guess(bench, oracle, header, failing, until))
    if strict and header.burst > 1 and (counted := await alone(bench, oracle, header, failing, until)) is not None:
        return counted
    inputs, joins = [event.input for event in failing.events if isinstance(event, Sent)], as_before(failing.events)
    trace, lasts, names = failing.trace.with_suffix(STRICT), _lasted(failing, bench, speed), _names(oracle, failing)
    if (shown := await _by_its_end(bench, oracle, header, failing, names, until, aftermath)) is not None:
        return ConfirmedPath(failing if strict else shown, 1)
    seen, others, tries = [failing] if strict else [], list[PathResult](), 0
    while tries + strict < (STALLED if seen else TRIES) and anyio.current_time() < until:
        tries += 1
        # late in a campaign few timers are awaited. A session that ends meanwhile would hide what was seen in it, as
        # would one that goes on where the original waited for its end; and waiting for every timer takes most of a run
        every = tries % EVERY == 0
        timers = Timers(last=True, between=every)
        gaps = [] if every else [pause * speed for pause in pauses(failing.events)]
        pace = Pace("strict", header.burst, bench.timing, timers=timers, joins=joins, lasts=lasts, gaps=gaps)
        run = PathRun(bench, oracle, header, trace, aftermath=lambda _: aftermath, least=len(inputs))
        again = await run.run(Script(inputs), len(inputs), pace.pacing(), until=until, earlier=names)
        if again.verdict.failed:
            if counts(again, seen):
                # the original is as good as the run that confirms it, and has the usual name
                same = strict and _signature(again) == _signature(failing)
                # a run that failed in the same way beside a stall is no sign of chance
                alike = sum(each is not failing and _is_alike(each, again) for each in seen)
                return ConfirmedPath(failing if same else again, tries - count_unclear(others) - alike)
            seen.append(again)
        elif again.steps == len(inputs) or anyio.current_time() < until:
            others.append(again)
    over = len(seen) + len(others) < (STALLED if seen else TRIES)
    doubted = doubtful_result(
        failing,
        why_doubted(first, seen, others, over=over),
        over=over and not others,
        certain=over and is_undelayed(oracle, failing.events),
    )
    return ConfirmedPath(doubted, tries - count_unclear(others), again=over and not doubted.verdict.failed)


async def alone(
    bench: Bench, oracle: Oracle, header: Header, failing: PathResult, until: float
) -> ConfirmedPath | None:
    """Return how a failure in a burst counts: as one of single inputs, or as a race; None if it stalled."""
    found = await one_by_one(bench, oracle, header, failing, until)
    if found is not None and is_stalled(found):
        found = (await confirm(bench, oracle, replace(header, burst=1), found, strict=True, until=until)).result
    if found is not None and found.verdict.failed:
        return ConfirmedPath(found, 1)
    return None if is_stalled(failing) else ConfirmedPath(failing)


async def _by_its_end(  # noqa: PLR0913, PLR0917 -- as above
    bench: Bench,
    oracle: Oracle,
    header: Header,
    failing: PathResult,
    names: list[NamedRun | None],
    until: float,
    aftermath: float,
) -> PathResult | None:
    """Return a strict run of a long path's last inputs that fails in the same way; None if there is none.

    Driving an hour again takes another hour, and most failures depend on recent inputs.
    """
    inputs = [event.input for event in failing.events if isinstance(event, Sent)]
    last = LAST if header.burst == 1 and failing.events[-1].at >= LONG else len(inputs)
    while 2 * last < len(inputs) and anyio.current_time() < until:
        run = PathRun(bench, oracle, header, failing.trace.with_suffix(STRICT), aftermath=lambda _: aftermath)
        timers = Timers(last=True, between=False)
        pacing = Pace("strict", 1, bench.timing, timers=timers).pacing()
        again = await run.run(Script(inputs[-last:]), last, pacing, until=until, earlier=names)
        if again.verdict.failed and not is_stalled(again) and _signature(again) == _signature(failing):
            return again
        last *= LAST
    return None


def _names(oracle: Oracle, failing: PathResult) -> list[NamedRun | None]:
    return [NamedRun.of(oracle, failing.events)]


def _lasted(failing: PathResult, bench: Bench, speed: float) -> float:
    """Return the minimum length of a re-run in seconds, so that spontaneous outputs have time to come again."""
    failure = failing.verdict.failure
    if failure is None or failure.kind not in _CAME or not failing.events:
        return 0.0
    return failing.events[-1].at * speed + max(bench.timing.latency, bench.timing.quiescence)


def _signature(failing: PathResult) -> Signature | None:
    return None if failing.verdict.failure is None else failing.verdict.failure.signature


def counts(failing: PathResult, seen: Iterable[PathResult]) -> bool:
    """Return whether a failing run counts: it did not stall, or one `seen` before failed in the same way."""
    return not is_stalled(failing) or any(_is_alike(failing, each) for each in seen)


def _is_alike(one: PathResult, other: PathResult) -> bool:
    """Return whether two runs of the same inputs fail alike: at the same input, by a timer, or with the same values.

    A machine that is busy for an hour makes an answer late in every run, each time at another input. Windows allow for
    stalls; and no stall makes the same wrong output come in the same state twice.
    """
    mine, others = one.verdict.failure, other.verdict.failure
    if mine is None or others is None:
        return False
    # whatever input came last, a timer's output was due by the timer
    by_timer = _timer(mine) == _timer(others) != ""
    if mine.signature != (replace(others.signature, input=mine.signature.input) if by_timer else others.signature):
        return False
    if mine.kind not in _CAME and min(one.verdict.stalled, other.verdict.stalled) > PUT_ASIDE:
        return False
    exact = mine.signature.exact
    same_values = mine.kind in _CAME and exact is not None and exact == others.signature.exact
    return by_timer or same_values or abs(mine.step - others.step) < max(1, mine.together, others.together)


def _timer(failure: Failure) -> str:
    """Return what was due after what, if a time decided; "" if not."""
    return failure.times[0].partition(": ")[0] if failure.times else ""
