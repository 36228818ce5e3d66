"""The traces of a folder as they lie on the disk: whole or cut, of which campaign, and whether they were changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from otf.adapter import Bench
from otf.campaign.results import PathResult
from otf.campaign.saved import TIMES
from otf.offline import judge
from otf.trace.drawn_names import without_drawn_names
from otf.trace.reading import BAD_JSON, LONGEST, TraceReader, bounded
from otf.trace.record import hasher
from otf.trace.verdict import Failure, Verdict

OF_PATHS: Final = re.compile(r"path-(\d{4,10})(?:\.strict)?\.jsonl")
"""Names of the traces that decide how a path counts."""
_MALFORMED: Final = b'"type":"Malformed"'
_SENT: Final = b'{"event":"sent"'
_DROPPED: Final = b'{"event":"dropped"'


class TraceFile(NamedTuple):
    """What a trace says without being judged: its digest, header and last line, and its inputs, also the malformed.

    `header` and `end` are empty if they are not there. A trace without an end was cut, by a kill or a full disk. Of a
    long one events in the middle are `dropped`; the inputs among these are counted in `sent`.

    >>> from tempfile import TemporaryDirectory
    >>> from otf.campaign import run
    >>> from otf.models.coffee import bench
    >>> with TemporaryDirectory() as folder:
    ...     _ = run(bench(), traces=1, steps=5, out=Path(folder, "out"))
    ...     found = TraceFile.read(Path(folder, "out", "path-0001.jsonl"))
    >>> found.header["path"], found.end["verdict"]
    (1, 'pass')
    """

    digest: str
    header: Mapping[str, Any]
    end: Mapping[str, Any]
    sent: int
    malformed: int
    dropped: bool = False

    @classmethod
    def read(cls, path: Path) -> TraceFile:
        """Return what the trace in a file says. Raises FileNotFoundError, OSError."""
        digest, first, last, sent, malformed, dropped = hasher(), b"", b"", 0, 0, False
        if path.exists() and not path.is_file():  # opening a pipe would block for ever
            raise IsADirectoryError
        with path.open("rb") as file:
            for line in bounded(file):
                digest.update(line)
                first, last = first or line, line
                if line.startswith(_SENT):
                    sent += 1
                    malformed += _MALFORMED in line
                elif line.startswith(_DROPPED):
                    inputs: Any = _object(line).get("inputs")
                    sent, dropped = sent + (inputs if isinstance(inputs, int) else 0), True
        end = _object(last) if last.endswith(b"\n") else {}
        return cls(
            digest.hexdigest(), _object(first), end if end.get("event") == "end" else {}, sent, malformed, dropped
        )

    @property
    def whole(self) -> bool:
        """Return whether it came to an end, which counts the inputs that it has."""
        return self.end.get("steps") == self.sent

    def of(self, number: int, campaign: Mapping[str, Any]) -> bool:
        """Return whether it is of a path of this campaign, which is named by what its traces have in their headers."""
        return self.header.get("path") == number and same_campaign(self.header, campaign)


def same_campaign(header: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two headers are of one campaign.

    >>> same_campaign({"bench": "coffee", "seed": 1}, {"bench": "coffee", "seed": 2})
    False
    """
    return _campaign(header) == _campaign(other)


def _campaign(header: Mapping[str, Any]) -> dict[str, object]:
    versions, parameters = header.get("versions"), header.get("parameters")
    same: dict[str, object] = {name: header.get(name) for name in ("bench", "fingerprint", "seed")}
    same["otf"] = versions.get("otf") if isinstance(versions, dict) else None  # pyright: ignore[reportUnknownMemberType] -- JSON
    if isinstance(parameters, dict):
        # others may have several forms as text
        plain: dict[str, Any] = {str(key): value for key, value in parameters.items() if isinstance(value, _PLAIN)}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- JSON
        same |= {f"parameter {key}": value for key, value in plain.items() if key not in TIMES}
    return same


_PLAIN: Final = (bool, int, str)


def judged(trace: Path, number: int, bench: Bench) -> PathResult:
    """Return a path as its trace shows it. Raises OSError, TraceError."""
    with trace.open("rb") as file:
        found = judge(TraceReader(bounded(file), str(trace)), bench, keep=True)
    return PathResult(number, without_drawn_names(found.verdict, found.events), found.steps, trace, found.events)


def past_gap(found: PathResult) -> PathResult:
    """Return a path whose trace lacks events with the failure behind these, which no judge sees, from its last line.

    The digest in the journal has to vouch for that line. Raises OSError.
    """
    trace = TraceFile.read(found.trace)
    if found.verdict.failed or not trace.dropped:
        return found
    with suppress(msgspec.ValidationError):
        failure = msgspec.convert(trace.end.get("reason"), Failure)
        return replace(found, verdict=Verdict("fail", failure), steps=trace.sent, events=())
    return found


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > LONGEST:
        return {}
    try:
        found: Any = msgspec.json.decode(line)
    except BAD_JSON:
        return {}
    return found if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- JSON
