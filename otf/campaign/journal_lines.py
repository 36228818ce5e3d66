"""The lines of a journal: what determines the paths of a campaign, how each counted, and what others learn from it.

What paths learn (visits, silences seen, timers waited for) is written with each path, so that a killed campaign
continues as if nothing had happened. Digests of keys, the same in each process, name states and inputs; the values
themselves are never written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Final, Self, TypeVar, cast

import msgspec

from otf.adapter import Bench
from otf.campaign.pace import clients
from otf.campaign.results import Shrunk
from otf.campaign.saved import TIMES
from otf.campaign.settings import UNLIMITED, Settings, header
from otf.core import Symbol
from otf.runner.time_spent import TimeSpent
from otf.trace.reading import BAD_JSON
from otf.trace.result import GuessedResult
from otf.trace.verdict import Judged, Outcome
from otf.values import as_text

DIGITS: Final = 12
"""Hexadecimal digits of a digest. Two of 50,000 states have the same digest with a probability below 10⁻⁵; they then
share their counts, which no verdict depends on."""
NAMED: Final = 100_000  # digests to remember


class Knowledge(msgspec.Struct, omit_defaults=True):
    """What one path, or all paths of a lane, learned; states, inputs and silences are digests.

    `visits` counts choices by `STATE INPUT`, `actions` by the kind of input. `quiet` holds the transitions followed by
    silence, `timers` counts the visits to states with timers, and `waits` holds the inputs that only wait, in seconds.
    `answers` are paths as `otf.strategy.answers.Answered` takes them. `failing` counts the failures of transitions, as
    `visits` does, and `failures` holds their signatures.

    >>> first, second = Knowledge({"a b": 1}, quiet=["c"]), Knowledge({"a b": 2, "a d": 1})
    >>> first.add(second)
    >>> first.visits, first.quiet
    ({'a b': 3, 'a d': 1}, ['c'])
    """

    visits: dict[str, int] = {}
    actions: dict[str, int] = {}
    quiet: list[str] = []
    timers: dict[str, int] = {}
    waits: list[float] = []
    answers: list[str] = []
    failing: dict[str, int] = {}
    failures: list[str] = []

    def add(self, later: Knowledge) -> None:
        """Add what a later path learned."""
        for ours, theirs in (
            (self.visits, later.visits),
            (self.actions, later.actions),
            (self.timers, later.timers),
            (self.failing, later.failing),
        ):
            for name, times in theirs.items():
                ours[name] = ours.get(name, 0) + times
        self.quiet += later.quiet
        self.waits += later.waits
        self.answers += later.answers
        self.failures += later.failures


def digest(name: Hashable) -> str:
    """Return the digest of a key of `otf.values.key`, or of a state or input: the same in each process.

    >>> digest(("a", 1)) == digest(("a", 1)), digest(frozenset("ab")) == digest(frozenset("ba"))
    (True, True)
    """
    return hashlib.blake2b(_text(name).encode("utf-8", "surrogatepass"), digest_size=DIGITS // 2).hexdigest()


def _text(key: Any) -> str:  # noqa: ANN401 -- anything with a hash
    if isinstance(key, Symbol):
        return _text(key.key)
    if isinstance(key, type):
        return f"{key.__module__}.{key.__qualname__}"
    if isinstance(key, tuple):
        # a state may be a log of thousands of texts
        return f"({','.join([repr(part) if part.__class__ is str else _text(part) for part in key])})"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportUnknownMemberType]
    if isinstance(key, frozenset):
        return f"{{{','.join(sorted(map(_text, key)))}}}"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return as_text(key, repr)


_DIGESTS: Final[dict[Hashable, str]] = {}


def named(key: Hashable) -> str:
    """Return the digest of a state, an input or a tuple of them, or of a key; most recur."""
    if isinstance(key, Symbol):
        # the state holds it, since a cache would keep alive the keys of states that the core forgets
        key.digest = key.digest or digest(key.key)
        return key.digest
    if isinstance(key, tuple):
        parts = cast("tuple[Hashable, ...]", key)
        key = tuple(named(part) if isinstance(part, Symbol) else part for part in parts)
    known = _DIGESTS.get(key)
    if known is None:
        if len(_DIGESTS) >= NAMED:
            _DIGESTS.clear()
        known = _DIGESTS[key] = digest(key)
    return known


JOURNAL: Final = "campaign.jsonl"
STARTED: Final = "campaign started"
COUNTED: Final = "path counted"
COMPLETED: Final = "campaign completed"
KINDS: Final = "kinds of failure"
SHRUNK: Final = "failure shrunk"
FAILED_START: Final = "start failed"
SPENT: Final = "time spent"

Line = TypeVar("Line")
OF_A_PATH: Final = ("run", "path", "faults", "shrunk", "minimal", "silence", "ended", "rate", "runs", "format")
"""Parts of a trace's header that do not belong to the campaign."""


Amount = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
"""A count: a line with a larger one is not ours."""
Positive = Annotated[int, msgspec.Meta(ge=1, le=UNLIMITED)]

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class About(msgspec.Struct, frozen=True):
    """What determines the paths of a campaign: the header of its traces, the inputs of a path, and the lanes.

    `traces` is the planned number of paths, `options` are those of the command line.
    """

    header: dict[str, Any]
    steps: Amount
    lanes: Positive
    traces: Positive
    options: dict[str, Any] = {}

    @classmethod
    def of(cls, bench: Bench, settings: Settings) -> Self:
        """Return what determines the paths of this campaign."""
        head = {name: value for name, value in asdict(header(bench, settings, 0)).items() if name not in OF_A_PATH}
        if settings.burst is None and clients(bench):
            head["burst"] = 0  # it differs from path to path
        return cls(_plain(head), settings.steps, settings.lanes, settings.traces, _plain(settings.options))

    def parts(self) -> dict[str, object]:
        """Return what must be the same for the same paths, by name."""
        head = dict(self.header)
        # compare times as they were, wherever they were set; a path is the same under each version of Python
        own = {name: value for name, value in dict(head.pop("parameters", {})).items() if name not in TIMES}
        version = dict(head.pop("versions", {})).get("otf")
        # with another bench, everything else differs as well
        first = {
            "bench": head.pop("bench", None),
            "otf": version,
            "fingerprint": head.pop("fingerprint", None),
            "parameters": own,
        }
        return {**first, **head, "steps": self.steps, "jobs": self.lanes}


EMPTY: Final = msgspec.Raw(b"{}")


class JournalLine(msgspec.Struct, frozen=True, tag_field="event"):
    """A line of the journal that otf reads again; its event is its kind."""


class CountedLine(JournalLine, frozen=True, gc=False, tag=COUNTED):  # none refers to its kind, and there are many
    """How a path was counted, as recorded in the journal.

    `exact` is the fingerprint of its failure. `visits` alternates numbers and times, and `new` names the numbers that
    first occurred in this path. `digests` are those of its traces. `behind` counts the failures after the first.
    `reached`, `decided` and `violated` hold the requirements that it was the first to show as such.
    """

    path: Positive
    verdict: Outcome
    steps: Amount
    why: str = ""
    signature: str = ""
    exact: str = ""
    known_issue: str = ""
    trace: str = ""
    digests: dict[str, str] = {}
    tries: Amount = 0
    truncated: bool = False
    short: bool = False
    malformed: Amount = 0
    excused: Amount = 0
    together: Amount = 0
    heard: bool = True
    judged: Judged = Judged()
    late: Amount = 0
    behind: Amount = 0
    silence: str = ""
    unwritten: str = ""
    again: bool = False
    reached: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    violated: tuple[str, ...] = ()
    new: msgspec.Raw = EMPTY
    visits: msgspec.Raw = msgspec.Raw(b"[]")
    learned: msgspec.Raw = EMPTY


class SpentLine(JournalLine, frozen=True, tag=SPENT):
    """What a campaign spent its seconds on until it ended or was interrupted."""

    parts: dict[str, Annotated[float, msgspec.Meta(ge=0, le=1e10)]] = {}


OF_SHRUNK: Final = ("steps", "transitions", "resets", "rate", "runs", "before", "tried", "minimal", "ended")
"""The fields that a shrunk failure and its line share."""


class ShrunkLine(JournalLine, frozen=True, tag=SHRUNK):
    """A shrunk failure, as recorded in the journal."""

    signature: str
    trace: str
    steps: Amount
    transitions: Amount
    resets: Amount = 0
    rate: Share = 1.0
    runs: Amount = 1
    before: Share = 1.0
    tried: Amount = 1
    minimal: bool = False
    ended: str = ""
    others: list[str] = []
    program: str | None = None

    @classmethod
    def of(cls, signature: str, shrunk: Shrunk) -> Self:
        """Return the line of a shrunk failure."""
        same: dict[str, Any] = {name: getattr(shrunk, name) for name in OF_SHRUNK}
        others = [each.trace.name for each in shrunk.others]
        program = None if shrunk.program is None else str(shrunk.program)
        return cls(signature, str(shrunk.trace), others=others, program=program, **same)


class StartedLine(JournalLine, frozen=True, tag=STARTED):
    """The start of a campaign, or of a run of one of its traces, which has no `about`."""

    about: About | None = None


class CompletedLine(JournalLine, frozen=True, tag=COMPLETED):
    """The end of an uninterrupted campaign; `trouble` is the error that ended contact with the system."""

    trouble: str = ""
    time: TimeSpent = msgspec.field(default_factory=TimeSpent)


class FailedStartLine(JournalLine, frozen=True, tag=FAILED_START):
    """A failed start of the system, which was tried again."""


class KindsLine(JournalLine, frozen=True, tag=KINDS):
    """The kinds of failures by fingerprint, as far as otf distinguishes them, and those seen only behind others."""

    kinds: dict[str, str] = {}
    full: bool = False
    guessed: list[GuessedResult] = []


LINES: Final = msgspec.json.Decoder(
    CountedLine | ShrunkLine | StartedLine | CompletedLine | SpentLine | FailedStartLine | KindsLine
)
UNREAD: Final = (b'"event":"path started"', b'"event":"path ended"')
"""The marks of two lines in three, which say nothing that otf reads again."""
LEARNED: Final = msgspec.json.Decoder(Knowledge)
NEW: Final = msgspec.json.Decoder(dict[int, str])
VISITS: Final = msgspec.json.Decoder(list[int])


def decoded(line: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[Line]) -> Line | None:
    """Return a line, or a part of one; None if it is torn, or something else."""
    try:
        return decoder.decode(line)
    except BAD_JSON:
        return None


def _plain(data: Mapping[str, object]) -> dict[str, Any]:
    """Return data as JSON has it; in an argument that is not valid text, question marks replace the bad characters."""
    found: dict[str, Any] = json.loads(json.dumps(data, default=as_text, ensure_ascii=False).encode("utf-8", "replace"))
    return found
