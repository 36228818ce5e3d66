"""What reports show of one path of a campaign, and of one kind of failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from otf.trace.events import Event
from otf.trace.result import counted
from otf.trace.verdict import Failure, Outcome


@dataclass(frozen=True, slots=True)
class PathSummary:
    """One path of a campaign, as its trace shows it.

    The `number` of a path is its position in the campaign, and `file` is the name of its trace. The path sent `steps`
    inputs and took `seconds` seconds. `why` gives the reason for the path's `verdict`. The `signature` and the `title`
    are those of the path's failure, or "" if the path did not fail. The path is `truncated` if it ended at an input
    that the model does not specify. The path is `short` if it ended early because the campaign's time was over.

    If the path showed a known issue, `known_issue` is the description of that issue, and the path passed. The number of
    inputs that showed a known issue, or came after one, is `excused`. `silence` says how otf detected silence on the
    path. The number of outputs that came after the quiescence time is `late`. If otf drove the path again to decide its
    verdict, `decided` is the trace of that repetition. The number of malformed inputs is `malformed`; the model says
    nothing about the answers to them.

    >>> PathSummary(1, "path-0001.jsonl", "pass", steps=20, seconds=0.4).signature
    ''
    """

    number: int
    file: str
    verdict: Outcome
    steps: int
    seconds: float
    why: str = ""
    truncated: bool = False
    signature: str = ""
    title: str = ""
    known_issue: str = ""
    silence: str = ""
    late: int = 0
    short: bool = False
    decided: str = ""
    malformed: int = 0
    excused: int = 0

    @property
    def undecided(self) -> str:
        """Return why the path is inconclusive, or "" if the path has another verdict."""
        return (self.why or "the trace does not say why") if self.verdict == "inconclusive" else ""


@dataclass(slots=True)
class ReportedFailure:
    """All failures of a campaign with one signature; reports show one of them, the `failure`.

    The failure occurred on `count` paths. The `file` is the shortest trace of the failure; the trace has `steps` inputs
    and these `events`. The trace is `shrunk` if it is the result of shrinking. `ended` says why the search for a
    shorter trace ended early. `chance` says how often the inputs of the trace lead to the failure. otf needed `tries`
    strict repetitions to see the failure again (0: none was needed). `bytes` has the bytes of the wrong output, as
    text. If the campaign divides the failures with one signature into several kinds, `kind` is the name of this kind.

    >>> from otf.trace import Failure, Signature
    >>> signature = Signature("wrong", "int", "Button", "Coffee", "Tea")
    >>> failure = Failure(signature, event=3, step=1, input="Button()", seen="Tea()", port="line")
    >>> ReportedFailure(failure, "path-0001.jsonl", steps=2, events=[]).count
    1
    """

    failure: Failure
    file: str
    steps: int
    events: Sequence[Event]
    count: int = 1
    shrunk: bool = False
    ended: str = ""
    chance: str = ""
    tries: int = 0
    kind: str = ""
    bytes: str = ""

    @property
    def signature(self) -> str:
        """Return the `kind` of the failure, or the failure's signature if `kind` is ""."""
        return self.kind or str(self.failure.signature)

    @property
    def shown_by(self) -> str:
        """Return how many paths showed it: none if otf saved it earlier, or saw it only behind another failure."""
        return counted(self.count, "path") if self.count else "a run of its own"

    def shorter(self, other: ReportedFailure) -> bool:
        """Return whether reports should show this trace instead of the `other` trace.

        Reports show the shorter of two traces. If both are equally long, reports show a shrunk trace, or else the trace
        of the earlier path.
        """
        return (self.steps, not self.shrunk, self._path) < (other.steps, not other.shrunk, other._path)

    @property
    def _path(self) -> tuple[int, str]:
        # path-0005 of path-0005.behind-1.jsonl; path-10000 comes after path-9999
        path = Path(self.file).name.partition(".")[0]
        return len(path), path
