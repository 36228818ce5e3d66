"""The lines of a trace file as data (header, events, end), and the digests that show whether a file was changed.

otf writes one trace file for each path, in the format JSON Lines. The lines have the fields of structlog's events
(`event`, `level`, `timestamp`, and others), so tools for structlog's output read traces too.
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

DIGITS: Final = 6  # decimals of the times in a trace, in seconds

FORMAT: Final = 1  # of traces; it changes if an older otf could misread them
DROPPED: Final = "dropped"  # the line that stands for the middle of a long trace
LARGEST: Final = 1 << 30
"""The most bytes of a trace; otf drops the middle of a longer trace."""
TraceLine = dict[str, Any]  # a line of a trace, as JSON
Mode = Literal["strict", "eager"]  # whether a run waited for silence after each answer
_NAMES: Final[Mapping[type, str]] = {
    kind: kind.__name__.lower() for kind in (Sent, Seen, Quiet, Taken, Closed, Stalled, Guess)
}


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a trace, with all that otf needs to judge the trace again and to repeat the path.

    `run` is a unique id of the trace. `path` is the number of the path in its campaign. `bench` and its `parameters`
    name the tested system. `fingerprint` is a hash of the source text of the model. `versions` contains the versions of
    otf, of Python and of other programs involved. `seed`, `strategy`, `mode` and `inputs` are the options by which otf
    chose inputs; `burst` is how many inputs otf sent at once. `quiescence`, `latency` and `busy` are the times of the
    bench, in seconds. `shrunk` is true if the trace is the result of shrinking. `runs` is how many times otf drove the
    inputs of a shrunk trace. `format` is the version of the trace format.

    >>> header = Header("run-1", "coffee", {}, "", 7, "random", "strict", "uioco", 0.1, 0.02, 0.02)
    >>> header.seed, header.shrunk
    (7, False)
    """

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
    # how many seconds pass on the system's clocks in a real second; the quiescence time is in the system's seconds
    speed: float = 1.0
    # the only faults that otf injects, named as in events; None if the seed decides
    faults: tuple[str, ...] | None = None
    shrunk: bool = False
    # whether the search for a smaller trace is complete, so that this shrunk trace only confirms its result
    minimal: bool = False
    # the share of inputs that otf replaced by malformed bytes
    malformed: float = 0.0
    # how otf detected silence on this path, apart from barriers: "observed", or "timed" with the reason
    silence: str = "timed"
    # why the search for a smaller trace ended early, if this trace is shrunk
    ended: str = ""
    # the share of the `runs` of a shrunk trace that failed; a share below 1 means that the failure depends on chance
    rate: float = 0.0
    runs: int = 0
    format: int = FORMAT


def header_line(header: Header, timestamp: str) -> TraceLine:
    """Return the header of a trace as the first line of its file."""
    data = asdict(header)
    # L and R are the names of the two bounds in the documentation and the literature
    data["L"], data["R"] = data.pop("latency"), data.pop("busy")
    for name in ("ended", "malformed", "rate", "runs"):
        if not data[name]:
            del data[name]
    return {"event": "start", "level": "info", "timestamp": timestamp, **data}


def dropped_line(events: int, inputs: int, timestamp: str) -> TraceLine:
    """Return the line that stands for the events dropped from the middle of a long trace, with their number.

    `inputs` is how many of the dropped events are inputs.
    """
    return {"event": DROPPED, "level": "warning", "timestamp": timestamp, "events": events, "inputs": inputs}


def as_recorded(event: Event) -> Event:
    """Return an event with its times rounded to microseconds as in a trace, so that the trace gets the live verdict.

    >>> as_recorded(Stalled(0.12345678, 1.00000049))
    Stalled(seconds=0.123457, at=1.0)
    """
    times = {name: round(getattr(event, name), DIGITS) for name in ("at", "took", "seconds") if hasattr(event, name)}
    return replace(event, **times)


def event_line(number: int, event: Event, timestamp: str, raw: bytes | None = None, **more: Any) -> TraceLine:  # noqa: ANN401 -- JSON data
    """Return the line of an event in a trace; `raw` are the bytes of the event on the wire."""
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
    """Return the last line of a trace, which contains the path's verdict."""
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
"""The number of bytes of a digest, enough that no two traces share a digest by chance."""
_AFTER: Final = re.compile(rb',"after":"([0-9a-f]{%d})"\}\n?\Z' % (2 * SIZE))
_LONGEST: Final = len(b',"after":""}\n') + 2 * SIZE


def hasher() -> blake2b:
    """Return a new hash object for the digest of a trace, or of one line of a trace."""
    return blake2b(digest_size=SIZE, usedforsecurity=False)


class LineChain:
    r"""A chain of lines; each contains the digest of the line before, so a reader notices a changed or lost line.

    `torn` is true if a kill or a full disk has cut a line short. The line after a cut line begins with a line break,
    and its digest covers the part of the cut line that was written.

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
        """Take a line, or part of a line; return whether it follows the lines before, or None if it has no digest."""
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
        """Return a JSON object as the next line of the chain, with the digest of the line before and a line break."""
        before = self._line.hexdigest() if self.torn else self._before
        return b'%b%b,"after":"%b"}\n' % (b"\n" * self.torn, line[:-2], before.encode())
