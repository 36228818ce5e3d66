"""Verdicts on a run, with the reason of each as data."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NamedTuple, TypeAlias

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive"]
FailureKind: TypeAlias = Literal[
    "wrong", "unasked", "missing", "undecodable", "ended", "flood", "late", "early", "property"
]
"""The kind of a failure; `WORDS` has a sentence for each kind.

>>> from typing import get_args
>>> get_args(FailureKind)[:3]
('wrong', 'unasked', 'missing')
"""

ABSENT: Final = "it had not come"
"""The last line in the times of a failure, if another output was due before the output that was seen."""

WORDS: dict[FailureKind, str] = {
    "wrong": "an output came that the model does not allow there",
    "unasked": "an output came where the model allows none",
    "missing": "an output that the model requires did not come",
    "undecodable": "bytes came that do not decode",
    "ended": "the system under test ended or closed a port",
    "flood": "outputs came without end",
    "late": "an output came too late",
    "early": "an output came too early",
    "property": "a property that has to hold for the whole run is violated",
}

ANSWERS: Final[frozenset[FailureKind]] = frozenset({"wrong", "unasked", "missing"})
"""The kinds of failure that depend on an answer, not on a time."""

POSSIBLE: Final = "states were possible"
"""The end of the note of a failure that shows only some of the possible states, after their number."""

MEETS: Final = " & "
"""The separator in a signature between the effects of several inputs that were in flight together."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the model allows in one possible `state`: `branches` lists pairs of outputs and next state, as text.

    `changes` contains one text for each branch: how the next state differs from `state`, or "" if they are equal. If
    several inputs were in flight, `orders` lists their step numbers in the order in which the system took them.
    `timers` lists the timers of the model that ran in `state`, or had just expired. `after` contains, for each branch,
    the timer that causes the branch.

    >>> Allowed("0", ((('"tea"',), "1"),)).state
    '0'
    """

    state: str
    branches: tuple[tuple[tuple[str, ...], str], ...]
    changes: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    timers: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signature:
    """A coarse description of a failure: its `kind`, such as "wrong" or "missing", and the types of its values.

    `state`, `input`, `expected` and `seen` are the types of the model's state, the input, the expected output and the
    output that came. If only one input was in flight, `exact` is a signature that contains the values as text instead
    of their types. If several inputs were in flight, `meets` lists the type or the first word of each input. With
    `exact` and `meets`, otf distinguishes failures that have equal signatures.

    >>> print(Signature("wrong", "int", "Button", "Coffee", "Tea"))
    wrong: int --Button--> expected Coffee, seen Tea
    """

    kind: FailureKind
    state: str
    input: str
    expected: str
    seen: str
    exact: Signature | None = field(default=None, compare=False, repr=False)
    meets: str = field(default="", compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return a hash of the failure with its values, which is equal in each process and in each version of otf."""
        exact = self.exact or self
        parts = (self.kind, self.state, self.input, self.expected, self.seen)
        values = (exact.state, exact.input, exact.expected, exact.seen, *([self.meets] * bool(self.meets)))
        return hashlib.blake2b(repr((parts, values)).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()

    def __str__(self) -> str:
        """Return the signature on one line."""
        if self.kind == "property":
            return f"property: {self.expected}"
        return f"{self.kind}: {self.state} --{self.input}--> expected {self.expected}, seen {self.seen}"


class Citation(NamedTuple):
    """A requirement that a failure violates, or may violate; `text` is its level and sentence, if there is a table.

    >>> str(Citation("RFC1350-5-2", "MUST: A duplicate ACK is not answered."))
    'RFC1350-5-2, MUST: A duplicate ACK is not answered.'
    """

    id: str
    text: str = ""

    def __str__(self) -> str:
        """Return the requirement on one line."""
        return f"{self.id}, {self.text}" if self.text else self.id


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a path failed: the last `input`, what the possible states `allowed`, and what was `seen` on `port`.

    `event` is the number of the event that no possible state allows. `step` is the number of the input before that
    event. To compare failures in a program, use `signature`; all other texts are for people. `before` holds the outputs
    that otf saw earlier in the failing step. If the model has time windows, `times` lists when each output was due, and
    `off` is how many seconds the event was outside all windows. `violates` lists the requirements that the system
    violates by not sending the outputs that were due. `unclear` is true if `violates` lists several requirements, and
    the path does not show which of them the system violates. `together` is how many inputs were in flight; `step` is
    the number of the last one. `note` explains the failure further.

    >>> signature = Signature("wrong", "int", "Button", "Coffee", "Tea")
    >>> Failure(signature, event=3, step=1, input="Button()", seen="Tea()", port="line").kind
    'wrong'
    """

    signature: Signature
    event: int
    step: int
    input: str
    seen: str
    port: str
    before: tuple[str, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    note: str = ""
    times: tuple[str, ...] = ()
    off: float = 0.0
    violates: tuple[Citation, ...] = ()
    unclear: bool = False
    together: int = 1

    @property
    def kind(self) -> FailureKind:
        """Return the kind of the failure, such as "wrong" or "missing"."""
        return self.signature.kind


@dataclass(frozen=True, slots=True)
class Judged:
    """How many events of a run were judged, and how many seconds it lasted.

    `doubtful` events were judged while only a stall of the machine kept an output from being overdue, or allowed more
    states or sets of timers. That state lasted `doubted` seconds. All other events are sharp. `unheard` counts, per
    timer, how often an input stopped it when it was due but its output had not come.

    >>> Judged(events=200, seconds=10.0) + Judged(100, 5.0, 3, 0.15, (("lease", 2),))
    Judged(events=300, seconds=15.0, doubtful=3, doubted=0.15, unheard=(('lease', 2),))
    """

    events: int = 0
    seconds: float = 0.0
    doubtful: int = 0
    doubted: float = 0.0
    unheard: tuple[tuple[str, int], ...] = ()

    @property
    def undecided(self) -> list[str]:
        """Return what to say about the timers that were due but not heard.

        >>> Judged(unheard=(("lease", 1),)).undecided
        ["the timer 'lease' was due 1 time, and an input ended it before its output came; each may be a stall"]
        """
        says = "and an input ended it before its output came; each may be a stall"
        return [
            f"the timer {timer!r} was due {times} time{'s' * (times != 1)}, {says}" for timer, times in self.unheard
        ]

    def __add__(self, other: Judged) -> Judged:
        """Return the sums for two runs."""
        return Judged(
            self.events + other.events,
            self.seconds + other.seconds,
            self.doubtful + other.doubtful,
            self.doubted + other.doubted,
            tuple((Counter(dict(self.unheard)) + Counter(dict(other.unheard))).items()),
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a path: its `outcome`, and a `failure`, or the reason (`why`) for an inconclusive path.

    `truncated` is true if the path passed, but ended at an input that the model does not specify. `late` lists the
    numbers of the outputs that came after the quiescence time. If the path failed, `stalled` is the longest time in
    seconds for which the machine kept otf or the system from running. `judged` is the number of events that otf judged
    against the model's times, and how many are doubtful because of a stall. `behind` lists the failures after the
    path's first failure; each may be due to a wrong guess of the state. `proven` is true if the path itself proves that
    no stall of the machine caused the failure.

    >>> Verdict("pass", truncated=True).failed
    False
    """

    outcome: Outcome
    failure: Failure | None = None
    why: str = ""
    truncated: bool = False
    late: tuple[int, ...] = field(default=())
    stalled: float = field(default=0.0, compare=False)
    judged: Judged = field(default_factory=Judged, compare=False)
    behind: tuple[Failure, ...] = ()
    proven: bool = field(default=False, compare=False)

    def after(self, past: tuple[Failure, ...]) -> Verdict:
        """Return this verdict with the failures in `past` before its own; the first failure decides the verdict."""
        if not past:
            return self
        last = () if self.failure is None else (self.failure,)
        return replace(self, outcome="fail", failure=past[0], why="", truncated=False, behind=(*past[1:], *last))

    @property
    def raced(self) -> bool:
        """Return whether several inputs were in flight at the failure; a later pass then proves no repair."""
        return self.failure is not None and self.failure.together > 1

    @property
    def failed(self) -> bool:
        """Return whether the path shows that the system does not conform."""
        return self.outcome == "fail"
