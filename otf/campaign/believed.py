"""What otf believes of a campaign's folder: the journal says how a path counts, and its trace must say the same.

A journal and its traces are files, and anyone may have changed them. So no line of a journal makes a path pass: its
trace holds the verdict, and the journal the digest of that trace. If the two differ, and the trace does not fail, otf
drives the path again. otf does not notice if someone changes both consistently; whoever can do that can change otf too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from otf.adapter import Bench
from otf.campaign.journal_lines import CountedLine
from otf.campaign.results import PathResult
from otf.campaign.saved import TIMES
from otf.errors import TraceError, UsageError
from otf.offline import judge
from otf.trace.drawn_names import without_drawn_names
from otf.trace.reading import BAD_JSON, LONGEST, TraceReader, bounded
from otf.trace.record import hasher
from otf.trace.verdict import Failure, Outcome, Verdict

OF_PATHS: Final = re.compile(r"path-(\d{4,10})(?:\.strict)?\.jsonl")
"""Names of the traces that decide how a path counts."""
_MALFORMED: Final = b'"type":"Malformed"'
_SENT: Final = b'{"event":"sent"'
_DROPPED: Final = b'{"event":"dropped"'


class TraceFile(NamedTuple):
    """The content of a trace before any judging: its digest, header and last line, and its inputs, malformed ones too.

    `header` and `end` are empty if missing. A trace without an end was cut, by a kill or a full disk. A long trace may
    have `dropped` events in the middle; `sent` counts the inputs among them.

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
        """Return the content of the trace in a file. Raises FileNotFoundError, OSError."""
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
        """Return whether it has an end, which counts the inputs that it has."""
        return self.end.get("steps") == self.sent

    def of(self, number: int, campaign: Mapping[str, Any]) -> bool:
        """Return whether it belongs to a path of this campaign, identified by the headers of its traces."""
        return self.header.get("path") == number and same_campaign(self.header, campaign)


def same_campaign(header: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two headers belong to one campaign.

    >>> same_campaign({"bench": "coffee", "seed": 1}, {"bench": "coffee", "seed": 2})
    False
    """
    return _campaign(header) == _campaign(other)


def _campaign(header: Mapping[str, Any]) -> dict[str, object]:
    versions, parameters = header.get("versions"), header.get("parameters")
    same: dict[str, object] = {name: header.get(name) for name in ("bench", "fingerprint", "seed")}
    same["otf"] = versions.get("otf") if isinstance(versions, dict) else None  # pyright: ignore[reportUnknownMemberType] -- JSON
    if isinstance(parameters, dict):
        # other values may have several forms as text
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
    """Return a path; if its trace dropped events, with the failure after the gap, taken from the last line.

    So the journal's digest has to match that line. Raises OSError.
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


class Believed:
    """Checks the counted lines of a folder against its traces, for a campaign that continues.

    `campaign` is the header of its traces. `again`: judge every trace again, not only those without a matching digest
    in the journal. `partial`: traces of passing paths were not kept. `altered` lists what was changed since it was
    written; `unshown` counts the passing paths without a trace.
    """

    def __init__(
        self, folder: Path, campaign: Mapping[str, Any], bench: Bench, *, again: bool = False, partial: bool = False
    ) -> None:
        self.altered: list[str] = []
        self.unshown: int = 0
        self._folder, self._campaign, self._bench = folder, campaign, bench
        self._judges_again, self._partial = again, partial

    def line(self, counted: CountedLine, *, linked: bool) -> CountedLine | None:
        """Return a line as the traces of its path confirm it; None if the path has to be driven again.

        `linked`: the next line has its digest. Raises UsageError for a trace of another campaign.
        """
        name, own = Path(counted.trace).name, f"path-{counted.path:04}.jsonl"
        found = OF_PATHS.fullmatch(name)
        if found is None or int(found[1]) != counted.path:
            return self._refuse(f"the line of path {counted.path} names the trace of another path")
        try:
            decides = TraceFile.read(self._folder / name)
            driven = decides if name == own else TraceFile.read(self._folder / own)
        except OSError:
            if self._partial and linked and counted.verdict == "pass" and not counted.known_issue:
                self.unshown += 1
                return counted
            return self._refuse(f"{name} cannot be read")
        self._refuse_others(name, decides, counted.path)
        return self._weigh(self._recount(counted, driven), name, decides)

    def refuse_others(self) -> None:
        """Raise UsageError if this campaign would overwrite a trace of another one."""
        for file in sorted(self._folder.glob("path-*.jsonl")):
            if found := OF_PATHS.fullmatch(file.name):
                self._refuse_others(file.name, TraceFile.read(file), int(found[1]))

    def _refuse_others(self, name: str, found: TraceFile, number: int) -> None:
        if found.header and not found.of(number, self._campaign):
            of = (
                f"of path {found.header.get('path')}"
                if same_campaign(found.header, self._campaign)
                else "not of this campaign"
            )
            message = f"{self._folder / name}: by its header it is {of}, and it would be written over"
            raise UsageError(f"{message}; move it elsewhere, or choose another folder with --out")

    def _recount(self, counted: CountedLine, driven: TraceFile) -> CountedLine:
        counts = self._bench.malformed and self._bench.spec.malformed is None
        # dropped inputs may have been malformed
        malformed = counted.malformed if driven.dropped else driven.malformed
        same: dict[str, Any] = {"steps": driven.sent, "malformed": malformed if counts else 0}
        if driven.whole:
            late: Any = driven.end.get("late") or ()
            same |= {"truncated": driven.end.get("truncated") is True, "late": len(late)}
        return msgspec.structs.replace(counted, **same)

    def _weigh(self, counted: CountedLine, name: str, found: TraceFile) -> CountedLine | None:
        written = counted.digests.get(name)
        changed = written not in {None, found.digest}
        said, result = found.end.get("verdict") if found.whole else None, None
        if found.dropped and said == counted.verdict and written == found.digest:
            # no judge sees dropped events
            return counted
        if self._judges_again or written is None or changed or counted.known_issue or said != counted.verdict:
            try:
                result = judged(self._folder / name, counted.path, self._bench)
            except (OSError, TraceError) as error:
                return self._refuse(_change(name) if changed else f"{name} cannot be judged ({error})")
        shown = _verdict_of(said, result)
        if shown == "fail" and not (changed and said is None):
            return self._failing(counted, name, result)
        if changed:
            return self._refuse(_change(name))
        # no trace shows that a failure did not recur, or that a detected silence was wrong
        if counted.verdict == "inconclusive" or (shown == counted.verdict and not counted.known_issue):
            return counted
        return self._refuse(f"the journal says {counted.verdict} of {name}, which does not show it")

    def _failing(self, counted: CountedLine, name: str, result: PathResult | None) -> CountedLine:
        failure = None if result is None else result.verdict.failure
        if counted.verdict != "pass" or failure is None:
            return counted
        known = self._bench.known_issue(failure)
        issue = "" if known is None else known.says
        if issue and issue == counted.known_issue:
            return counted
        self.altered.append(f"the journal says that path {counted.path} passed, and {name} fails")
        exact, signature = failure.signature.fingerprint, str(failure.signature)
        verdict: Outcome = "pass" if issue else "fail"
        return msgspec.structs.replace(
            counted, verdict=verdict, signature=signature, exact=exact, known_issue=issue, why=""
        )

    def _refuse(self, why: str) -> CountedLine | None:
        self.altered.append(f"{why}: the path is driven again")
        return None


def _change(name: str) -> str:
    return f"{name} was changed since its path was counted (the journal has another digest)"


def _verdict_of(said: object, result: PathResult | None) -> object:
    """Return the verdict of a trace if its last line and today's model agree on it, else None.

    What was left undecided stays undecided. A failure counts even if a full disk has cut its trace.
    """
    if result is None:
        return said
    now = result.verdict.outcome
    if now == "fail" and said in {"fail", None}:
        return now
    return said if said == now or (said == "inconclusive" and now == "pass") else None
