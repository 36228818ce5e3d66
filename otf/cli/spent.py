"""What a campaign spent its time on, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.campaign import Summary
from otf.campaign.time_shares import SpentParts
from otf.runner.time_spent import TimeSpent
from otf.trace.result import counted

SLOW: Final = 10.0  # seconds after which a user may ask where the time went
SHOWN: Final = 0.05  # seconds worth naming
LEAST: Final = 0.005  # the smallest share of the time worth showing

_SHARES: Final = {
    "silence": ("waiting for silence", "--calibrate suggests shorter times, and a barrier needs no silence; or --jobs"),
    "wire": ("waiting for outputs", "the system takes this time to answer; --jobs N runs N copies of it at once"),
    "timers": (
        "waiting for timers of the model",
        "its windows and Elapse inputs take this time; clocks run faster with --speed",
    ),
    "starts": ("starting and stopping the system", "fewer, longer paths (--traces, --steps), or a reset instead"),
    "model": ("the model's functions", "make them faster, or let states recur: each is called once for each state"),
    "otf": ("otf itself", "states that recur cost least; --processes auto uses all cores"),
}


def time_lines(summary: Summary, *, own: bool) -> Iterator[str]:
    """Yield what took the time of a slow campaign, and how to save most of it; `own`: its system is an object."""
    shown = time_spent(summary.spent, own=own)
    if summary.result.seconds >= SLOW and shown:
        yield f"time: {shown}"
        if summary.paths and not summary.failures:  # first things first: --calibrate needs a system that passes
            yield f"  to save time:    {_SHARES[next(iter(summary.spent.shares()))][1]}"


def time_spent(spent: TimeSpent, *, own: bool) -> str:
    """Return what took the time of a campaign, "" if nothing was counted; `own`: its system is an object.

    >>> time_spent(TimeSpent(silence=3.0, wire=1.0), own=False)
    '75% waiting for silence, 25% waiting for outputs'
    """
    shares, whole = spent.shares(), sum(spent.shares().values())
    if whole <= 0:
        return ""
    named = {name: _SHARES[name][0] for name in shares} | ({"otf": "otf and the system itself"} if own else {})
    return ", ".join(f"{share / whole:.0%} {named[name]}" for name, share in shares.items() if share >= LEAST * whole)


def spent_on(parts: SpentParts) -> str:
    """Return what a campaign spent its seconds on.

    >>> seconds = {"start": 0.75, "saved failures": 1.25, "paths": 40.0}
    >>> spent_on(SpentParts(seconds, changed={"s1 i1"}, paths=310, saved=3))
    '0.8 s on getting ready, 1.2 s on 3 saved failures, 40.0 s on 310 paths (0 of 1 changed transition tried)'
    """
    tried = f" ({parts.done:,} of {counted(len(parts.changed), 'changed transition')} tried)" if parts.changed else ""
    counts = {
        "start": "getting ready",
        "saved failures": counted(parts.saved, "saved failure"),
        "clock": "checking the faster clock",
        "paths": f"{counted(parts.paths, 'path')}{tried}",
        "shrinking": "shrinking",
        "end": "stopping",
    }
    shown = [name for name in counts if name == "paths" or parts.seconds.get(name, 0.0) >= SHOWN]
    return ", ".join(f"{parts.seconds.get(name, 0.0):.1f} s on {counts[name]}" for name in shown)
