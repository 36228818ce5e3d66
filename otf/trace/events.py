"""The events of a run, in the terms of the oracle; times are seconds since the start of the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from otf.values.identity import light


@light
class Sent:
    """otf sent `input` to `port` at the time `at`, and sending it lasted `took` seconds.

    >>> Sent("coin", "line", 0.0).input
    'coin'
    """

    input: object
    port: str
    at: float
    took: float = 0.0


@light
class Seen:
    """The system's `output` arrived on `port` at the time `at`, in seconds since the start of the path.

    >>> Seen("tea", "line", 0.1).output
    'tea'
    """

    output: object
    port: str
    at: float


KnownBy: TypeAlias = Literal["", "timed", "barrier", "observed"]
"""How otf knows of quiescence: nothing came for a time, pings were answered, or the system's processes rested."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """The system is quiescent at the time `at`: it took every input in flight, and otf saw every output it emitted.

    If `restless` is true, the system never stops sending spontaneous outputs, and may have sent some since the time
    `at`. `by` names the method by which otf detected quiescence, such as "barrier" (after a barrier of pings, the
    system may still be busy with the last ping). `by` is "" in older traces, and for a Python object that answers
    before its call returns.

    >>> Quiet(0.2).restless
    False
    """

    at: float
    restless: bool = False
    by: KnownBy = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """The system took all inputs up to number `upto` (counted from 1), and otf saw every output that came earlier."""

    upto: int
    at: float


@dataclass(frozen=True, slots=True)
class Closed:
    """`port` closed at the time `at`, because of `reason`; otf judges this event as the output `Ended(reason)`.

    >>> Closed("tcp", "end of stream", 1.5).reason
    'end of stream'
    """

    port: str
    reason: str
    at: float

    @property
    def output(self) -> Ended:
        """Return the output `Ended` that stands for the closing of the port."""
        return Ended(self.reason)


@dataclass(frozen=True, slots=True)
class Stalled:
    """For `seconds` before the time `at`, the machine kept otf or the system from running; events may be late.

    >>> Stalled(0.25, at=10.0).seconds
    0.25
    """

    seconds: float
    at: float

    @property
    def begun(self) -> float:
        """Return the time at which the stall began."""
        return self.at - self.seconds


GUESSED: Final = "on past the failure: as if the expected had come, or nothing had happened"


@dataclass(frozen=True, slots=True)
class Guess:
    """The path continues after its failure at the time `at`, from a guess of the state that the system is in.

    otf follows two guesses: the state changed as if the expected output had come, or did not change. Later observations
    show which guess is right. The verdict on the path is still its first failure.

    >>> Guess(at=10.0).at
    10.0
    """

    at: float


Event: TypeAlias = Sent | Seen | Quiet | Taken | Closed | Stalled | Guess
"""An event of a path; a path is a sequence of events.

>>> path: list[Event] = [Sent("press", "line", 0.0), Seen("click", "line", 0.1), Quiet(0.3)]
>>> [event.at for event in path]
[0.0, 0.1, 0.3]
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """The output that means that a port closed, because of `reason`; a spec that expects it yields `on(port, Ended)`.

    >>> Ended("end of stream") == Ended("end of stream")
    True
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The output that stands for bytes (`raw`) that the codec cannot decode, because of `why`; no spec can allow it.

    >>> Undecodable(b"1;2;", "no line ends here").raw
    b'1;2;'
    """

    raw: bytes
    why: str = ""
