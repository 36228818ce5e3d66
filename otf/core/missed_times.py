"""Times missed in a long run on a busy machine: it goes on, and shows whether a stall or the system is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final, NamedTuple

from otf.trace.events import Stalled
from otf.trace.verdict import Failure, Verdict

LONG: Final = 30.0
"""Seconds after which a run has confirmed the stated times of a bench, and takes too long to repeat."""

NEAR: Final = 30.0  # seconds: older misses and stalls tell nothing
AGAIN: Final = 3  # misses of one timer that count, as many as the strict re-runs of a failure
APART: Final = 1.0  # seconds: misses closer than this may have one cause
CLEAR: Final = 0.06  # seconds of misses that count: L and R of most benches, and as much again
FAR: Final = 10  # times the longest stall: a single miss of that length counts, if it is long itself
STAYS: Final = 0.5  # seconds
TRIED: Final = (2, 8, 32)  # times what was missed: the lengths of hidden stalls, since another timer may miss more


class Miss(NamedTuple):
    """An output that was due by a time: what it was due after, by how much it missed, and the number of its miss."""

    at: float
    what: str
    off: float
    number: int


@dataclass(slots=True)
class MissedTimes:
    """The times that a run missed by more than all measured stalls explain.

    A hidden stall may explain each of them. So a run of 30 s or more, which would take too long to drive again, goes on
    as if there had been one. It fails at the third miss of one timer in 30 s, if together they are longer than twice
    the longest stall; or once an output has been missing for ten times the longest stall. If the run ends without such
    a failure, `verdict` is its first miss, or None.
    """

    verdict: Verdict | None = None
    _misses: list[Miss] = field(default_factory=list[Miss])
    _assumed: set[Stalled] = field(default_factory=set[Stalled])

    def weigh(
        self, failed: Verdict, at: float, stalls: Iterable[Stalled], explains: Callable[[Stalled], bool]
    ) -> Verdict | None:
        """Return the verdict of a run that fails at that time; None if a hidden stall explains this and it goes on.

        `stalls`: those of the run, the latest first. `explains`: whether one would explain the event that fails.
        """
        failure, latest = failed.failure, takewhile(lambda each: each.at >= at - NEAR, stalls)
        if failure is None or at < LONG or failure.kind not in {"late", "missing"} or failure.off <= 0:
            return failed
        near = [each.seconds for each in latest if each not in self._assumed]
        if not near:
            return failed
        found, longest = self._with(failure, at), max(near)
        last = sum(each.off for each in found if each.number == found[-1].number)
        often = len({each.number for each in found}) >= AGAIN
        if last > max(FAR * longest, STAYS) or (often and _total(found) > max(2 * longest, CLEAR)):
            return _proven(failed, failure, found)
        hidden = [Stalled(times * failure.off, at) for times in TRIED]
        self._assumed.update(hidden)
        if not any(map(explains, hidden)):
            return failed
        self.verdict = self.verdict or failed
        return None

    def _with(self, failure: Failure, at: float) -> list[Miss]:
        """Note a miss; return those of its timer in the last 30 s."""
        what = failure.times[0].partition(": ")[0] if failure.times else ""
        self._misses = [each for each in self._misses if each.at >= at - NEAR]
        alike = [each for each in self._misses if each.what == what]
        number = 1 + (alike[-1].number - (at - alike[-1].at < APART) if alike else 0)
        miss = Miss(at, what, failure.off, number)
        self._misses.append(miss)
        return [*alike, miss]


def _total(misses: Iterable[Miss]) -> float:
    return sum(each.off for each in misses)


def _proven(failed: Verdict, failure: Failure, misses: list[Miss]) -> Verdict:
    total, since = _total(misses), misses[-1].at - misses[0].at
    note = (
        f"with this, times were missed by {total:.3f} s in all within {since:.1f} s: no stall near them explains that"
    )
    return replace(failed, failure=replace(failure, note="\n".join(filter(None, [failure.note, note]))), proven=True)
