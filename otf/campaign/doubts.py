"""What to say of a failure that does not count, since too few runs showed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from otf.campaign.results import PathResult
from otf.core.stalls import is_proven
from otf.trace.title import title
from otf.trace.verdict import Verdict

TRIES: Final = 3  # strict re-runs; if none of them fails, the failure does not count
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


def doubtful_result(failing: PathResult, why: str, *, over: bool = False) -> PathResult:
    """Return a path as inconclusive; `over`: there was no time for another run, so what no delay explains counts."""
    # eager mode may be wrong about an output that should have come by now, but not about a system that has ended; and a
    # system that died, and that the bench cannot restart, cannot be driven again
    failure = failing.verdict.failure
    if failure is None or failure.kind == "ended":
        return failing
    if over and is_proven(failing.verdict, failing.events):
        note = "\n".join(filter(None, [failure.note, ONCE]))
        return replace(failing, verdict=replace(failing.verdict, failure=replace(failure, note=note)))
    # a restarted system says so only once, and its text is the only trace of that
    after = [line for line in failure.note.splitlines() if line.startswith("afterwards")]
    why = "; ".join([why, f"seen: {failure.seen}", *after])
    return replace(failing, verdict=Verdict("inconclusive", why=why), events=())
