"""The lines of a trace file as data: header, events, end; and digests, which tell whether bytes are those written.

One file for each run, JSON Lines in the shape of structlog's events (`event`, `level`, `timestamp`, then fields), so
that tools for structlog's output read traces too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, Literal

from otf.trace.events import Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken, Undecodable
from otf.trace.tagged import encode
from otf.trace.verdict import Verdict

DIGITS: Final = 6  # of the times in a trace, in seconds

FORMAT: Final = 1
DROPPED: Final = "dropped"
LARGEST: Final = 1 << 30
"""Bytes of a trace; of a longer one the middle is dropped."""
TraceLine = dict[str, Any]
Mode = Literal["strict", "eager"]
_NAMES: Final[Mapping[type, str]] = {
    kind: kind.__name__.lower() for kind in (Sent, Seen, Quiet, Taken, Closed, Stalled, Guess)
}


@dataclass(frozen=True, slots=True)
class Header:
    """The conditions of a run: enough to judge its trace again and to repeat it. Times are seconds."""

    run: str
    bench: str
    parameters: Mapping[str, Any]
    fingerprint: str
    seed: int
    strategy: str
    mode: Mode
    inputs: Literal["uioco", "any", "all", "mixed"]
    quiescence: float
    latency: float
    busy: float
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    path: int = 1
    burst: int = 1
    # of the clocks of the system; the quiescence time is in seconds of these clocks
    speed: float = 1.0
    # the only faults that were injected, named as in events; None: faults by the seed
    faults: tuple[str, ...] | None = None
    shrunk: bool = False
    # of a shrunk trace: the search for a smaller one is complete, so that this run only confirms its result
    minimal: bool = False
    # the share of inputs in whose place bytes were sent that are no message
    malformed: float = 0.0
    # "observed", or "timed" with the reason: how the silences of this run are known, its barriers aside
    silence: str = "timed"
    # of a shrunk trace: why the search ended early
    ended: str = ""
    # of a shrunk trace: the share of so many runs of its inputs that failed; less than 1, it depends on chance
    rate: float = 0.0
    runs: int = 0
    format: int = FORMAT


def header_line(header: Header, timestamp: str) -> TraceLine:
    """Return the first line of a trace."""
    data = asdict(header)
    # L and R are the names that the documentation and the literature use for the two bounds
    data["L"], data["R"] = data.pop("latency"), data.pop("busy")
    for name in ("ended", "malformed", "rate", "runs"):
        if not data[name]:
            del data[name]
    return {"event": "start", "level": "info", "timestamp": timestamp, **data}


def dropped_line(events: int, inputs: int, timestamp: str) -> TraceLine:
    """Return the line in the place of so many events, with so many inputs, in the middle of a long trace."""
    return {"event": DROPPED, "level": "warning", "timestamp": timestamp, "events": events, "inputs": inputs}


def as_recorded(event: Event) -> Event:
    """Return an event with its times as a trace has them, in microseconds: what is judged so, a replay judges alike.

    >>> as_recorded(Stalled(0.12345678, 1.00000049))
    Stalled(seconds=0.123457, at=1.0)
    """
    times = {name: round(getattr(event, name), DIGITS) for name in ("at", "took", "seconds") if hasattr(event, name)}
    return replace(event, **times)


def event_line(number: int, event: Event, timestamp: str, raw: bytes | None = None, **more: Any) -> TraceLine:  # noqa: ANN401 -- JSON data
    """Return the line of an event; `raw` are the bytes on the wire."""
    line: TraceLine = {
        "event": _NAMES[event.__class__],
        "level": "info",
        "timestamp": timestamp,
        "n": number,
        "at": round(event.at, DIGITS),
    }
    if isinstance(event, Sent):
        line["port"], line["value"] = event.port, encode(event.input)
        line |= {"took": round(event.took, DIGITS)} if event.took else {}
    elif isinstance(event, Seen):
        line["port"], line["value"] = event.port, encode(event.output)
        if isinstance(event.output, Undecodable):
            line["level"] = "warning"
    elif isinstance(event, Closed):
        line["port"], line["reason"] = event.port, event.reason
    elif isinstance(event, Stalled):
        line["seconds"] = round(event.seconds, DIGITS)
    elif isinstance(event, Taken):
        line["upto"] = event.upto
    elif isinstance(event, Quiet):
        line |= {"restless": True} if event.restless else {}
        line |= {"by": event.by} if event.by else {}
    if raw is not None:
        line["raw"] = raw.hex()
    line.update(more)
    return line


def end_line(verdict: Verdict, timestamp: str, steps: int) -> TraceLine:
    """Return the last line of a trace."""
    level = {"pass": "info", "inconclusive": "warning", "fail": "error"}[verdict.outcome]
    reason = asdict(verdict.failure) if verdict.failure else None
    return {
        "event": "end",
        "level": level,
        "timestamp": timestamp,
        "verdict": verdict.outcome,
        "steps": steps,
        "truncated": verdict.truncated,
        "why": verdict.why,
        "late": list(verdict.late),
        "reason": reason,
        **({"doubtful": verdict.judged.doubtful} if verdict.judged.doubtful else {}),
        **({"stalled": round(verdict.stalled, DIGITS)} if verdict.stalled else {}),
        **({"behind": [asdict(each) for each in verdict.behind]} if verdict.behind else {}),
    }


SIZE: Final = 16
"""Bytes of a digest: no two of all traces that were ever written have the same by chance."""
_AFTER: Final = re.compile(rb',"after":"([0-9a-f]{%d})"\}\n?\Z' % (2 * SIZE))
_LONGEST: Final = len(b',"after":""}\n') + 2 * SIZE


def hasher() -> blake2b:
    """Return what makes the digest of a trace, or of a line."""
    return blake2b(digest_size=SIZE, usedforsecurity=False)


class LineChain:
    r"""Lines that each end with the digest of the line before: one that was changed, added or lost shows in the next.

    A line may be torn, by a kill or a full disk: what was written of it counts, and the next begins after a line break.

    >>> chain = LineChain()
    >>> first = chain.link(b'{"event":"started"}\n')
    >>> chain.take(first), chain.take(chain.link(b'{"event":"ended"}\n')), chain.take(b'{"event":"added"}\n')
    (True, True, None)
    """

    def __init__(self) -> None:
        self.torn: bool = False
        self._line = hasher()
        self._before = self._line.hexdigest()

    def take(self, data: bytes) -> bool | None:
        """Take a line, or a part of one; return whether it follows the lines before, None if it does not say so."""
        if not data:
            return None
        found = _AFTER.search(data, max(0, len(data) - _LONGEST))
        follows = None if found is None else found[1] == self._before.encode()
        self._line.update(data.removesuffix(b"\n"))
        self.torn = not data.endswith(b"\n")
        if not self.torn:
            self._before, self._line = self._line.hexdigest(), hasher()
        return follows

    def link(self, line: bytes) -> bytes:
        """Return an object of JSON, with its line break, as it is to be written after the lines that were taken."""
        before = self._line.hexdigest() if self.torn else self._before
        return b'%b%b,"after":"%b"}\n' % (b"\n" * self.torn, line[:-2], before.encode())
