"""Outputs that come by the system's own clock, some time after connecting, whatever is sent.

If the model lacks a keep-alive message, the run fails after whichever input happens to come before that message. A run
that sends nothing reveals it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from otf.spec import Idle
from otf.trace.events import Event, Seen, Sent
from otf.trace.near import branches
from otf.trace.verdict import ABSENT, Failure
from otf.values import show

APART: Final = 0.15  # how much two moments of one timer may differ, as a share of the time; plus SLACK
SLACK: Final = 0.1  # seconds: connecting and sending take time
NAMED: Final = re.compile(r" after the timer '([^'\\]*?)(?:/\d+)?' was started$")
TAKEN: Final = "its input was taken"  # what starts the window of an answer
LATE: Final = 10.0  # seconds after which a missing output may be missing because the system has been on for so long
EARLY: Final = 0.2  # seconds: whatever comes earlier says nothing about a clock
MARGIN: Final = 0.1  # of the time, on each side of the suggested window


class TimedOutput(NamedTuple):
    """A failing output as text, and how many seconds after the beginning of its path it came."""

    seen: str
    at: float

    def matches(self, other: TimedOutput) -> bool:
        """Return whether it is the same output at the same time; the time of a missing output is when a wait ended.

        >>> TimedOutput("Ping()", 2.0).matches(TimedOutput("Ping()", 2.1))
        True
        """
        same = abs(self.at - other.at) <= APART * max(self.at, other.at) + SLACK
        return self.seen == other.seen and (same or not self.seen)


def pauses(events: Sequence[Event]) -> list[float]:
    """Return the seconds from each input to the next.

    >>> pauses([Sent("on", "p", 0.5), Seen("ok", "p", 0.6), Sent("off", "p", 2.0)])
    [1.5]
    """
    sent = [event.at for event in events if isinstance(event, Sent)]
    return [then - now for now, then in pairwise(sent)]


def timed_output(failure: Failure | None, events: Sequence[Event]) -> TimedOutput | None:
    """Return the output at which a run failed, with its time; None without one, or if it came too early to tell."""
    if failure is None or not 0 < failure.event <= len(events):
        return None
    event = events[failure.event - 1]
    return TimedOutput(failure.seen, event.at) if isinstance(event, Seen) and event.at >= EARLY else None


def unasked_output(failure: Failure | None, events: Sequence[Event]) -> TimedOutput | None:
    """Return the output at which a run failed, if no input asked for it: all answers to the last input came as well."""
    found = timed_output(failure, events)
    if failure is None or found is None:
        return None
    after = takewhile(lambda event: not isinstance(event, Sent), events[failure.event :])
    others = Counter([*failure.before, *(show(event.output) for event in after if isinstance(event, Seen))])
    # it may come again
    del others[found.seen]
    return found if any(Counter(each.text for each in way) == others for way in branches(failure)) else None


def awaited_output(failure: Failure | None, events: Sequence[Event]) -> TimedOutput | None:
    """Return the output that failed or did not come, if the last input has nothing to do with it."""
    if overdue_timer(failure):
        return moment(failure, events)
    if failure is None or failure.kind != "missing":
        return unasked_output(failure, events)
    seen = Counter(failure.before)
    answered = any(Counter(each.text for each in way) <= seen for way in branches(failure))
    return moment(failure, events) if answered or failure.signature.input == "no input" else None


def overdue_timer(failure: Failure | None) -> str:
    """Return what started the timer whose output is missing, as the failure says it; "" if no such output is missing.

    The last input does not matter: two failures of one timer are the same, whatever was sent before them.
    """
    came = failure is not None and failure.kind == "late" and not (failure.times and failure.times[-1].endswith(ABSENT))
    return "" if came else _since(failure)


def late_timer(failure: Failure | None) -> str:
    """Return the name of the timer whose output came late or not at all; for an unnamed timer what started it."""
    since = _since(failure)
    found = NAMED.search(since)
    return found[1] if found else since


def _since(failure: Failure | None) -> str:
    if failure is None or not failure.times or failure.kind not in {"late", "missing"}:
        return ""
    since = failure.times[0].partition(": ")[0]
    return "" if since.endswith(TAKEN) else since


def message(timer: object) -> str:
    """Return the name of the cyclic message that a timer belongs to; there may be a timer for the mean of its periods.

    >>> message("status"), message("status/10")
    ('status', 'status')
    """
    return re.sub(r"/\d+$", "", str(timer))


def moment(failure: Failure | None, events: Sequence[Event]) -> TimedOutput | None:
    """Return the failing output with its time; an empty one if nothing came for `LATE` seconds; in other cases None."""
    missing = failure is not None and (failure.kind == "missing" or overdue_timer(failure))
    if failure is None or not missing or not 0 < failure.event <= len(events):
        return timed_output(failure, events)
    at = events[failure.event - 1].at
    return TimedOutput("", at) if at >= LATE else None


def by_clock(failure: Failure | None, events: Sequence[Event]) -> TimedOutput | None:
    """Return the output at which a run failed, if no input was sent before it."""
    sent = [event.input for event in events if isinstance(event, Sent)]
    return timed_output(failure, events) if sent and all(isinstance(each, Idle) for each in sent) else None


def told(output: TimedOutput) -> Iterator[str]:
    r"""Yield lines that describe an output by the system's clock, then lines that a model needs to allow it.

    >>> print(*told(TimedOutput("Ping()", 2.0)), sep="\n")
      comes 2.0 s after connecting, whatever is sent; if that is right, the model allows it so:
        Spec(…, timers=[start('ping', 1.8, 2.2)], emits=emits), where emits(state) has
        yield goto(state, Ping(), after='ping')
    """
    name = "_".join(re.findall(r"[a-z0-9]+", output.seen.partition("(")[0].lower())) or "tick"
    low, high = output.at * (1 - MARGIN), output.at * (1 + MARGIN)
    yield f"  comes {output.at:.1f} s after connecting, whatever is sent; if that is right, the model allows it so:"
    yield f"    Spec(…, timers=[start({name!r}, {low:.2g}, {high:.2g})], emits=emits), where emits(state) has"
    yield f"    yield goto(state, {output.seen}, after={name!r})"
