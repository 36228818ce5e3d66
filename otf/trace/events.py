"""The events of a run, in the terms of the oracle; times are seconds since the start of the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from otf.values.identity import light


@light
class Sent:
    """otf sent `input` to `port` at the time `at`, which took `took` seconds: to switch the power may take one second.

    >>> Sent("coin", "line", 0.0).input
    'coin'
    """

    input: object
    port: str
    at: float
    took: float = 0.0


@light
class Seen:
    """`output` arrived on `port` at the time `at`.

    >>> Seen("tea", "line", 0.1).output
    'tea'
    """

    output: object
    port: str
    at: float


KnownBy: TypeAlias = Literal["", "timed", "barrier", "observed"]
"""How quiescence is known: nothing came for a time, pings were answered, or all processes of the system rested."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """Quiescence at the time `at`: the system took every input in flight, and otf saw every output that it emitted.

    `restless`: a system that never rests may have emitted spontaneous outputs since then. `by` says how otf knows of
    the quiescence; after a "barrier" the system may still be busy with its last ping. `by` is "" if the system answers
    before a call of it returns, and in older traces.

    >>> Quiet(0.2).restless
    False
    """

    at: float
    restless: bool = False
    by: KnownBy = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """The system took the inputs up to number `upto` (from 1), and otf saw every output that it emitted before that."""

    upto: int
    at: float


@dataclass(frozen=True, slots=True)
class Closed:
    """`port` ended at the time `at`, for `reason`; otf judges that as the output `Ended(reason)` of the port.

    >>> Closed("tcp", "end of stream", 1.5).reason
    'end of stream'
    """

    port: str
    reason: str
    at: float

    @property
    def output(self) -> Ended:
        """Return the output for which the model judges it."""
        return Ended(self.reason)


@dataclass(frozen=True, slots=True)
class Stalled:
    """The machine stopped the tester or the system for `seconds`, up to the time `at`; events may be late by that much.

    >>> Stalled(0.25, at=10.0).seconds
    0.25
    """

    seconds: float
    at: float

    @property
    def begun(self) -> float:
        """Return when it began."""
        return self.at - self.seconds


GUESSED: Final = "on past the failure: as if the expected had come, or nothing had happened"


@dataclass(frozen=True, slots=True)
class Guess:
    """The run goes on after its failure, as if the expected output had come, or as if nothing had happened.

    The next observations decide which of the two is right. The failure before it remains the failure of the run.

    >>> Guess(at=10.0).at
    10.0
    """

    at: float


Event: TypeAlias = Sent | Seen | Quiet | Taken | Closed | Stalled | Guess
"""What a run consists of, in order."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The output for the end of a port, for `reason`; a spec that expects one yields `on(port, Ended)`.

    >>> Ended("end of stream") == Ended("end of stream")
    True
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Undecodable:
    """The output for bytes (`raw`) that the codec cannot decode, and `why` not; no spec can allow it.

    >>> Undecodable(b"1;2;", "no line ends here").raw
    b'1;2;'
    """

    raw: bytes
    why: str = ""
