"""Faults on a line: what can happen to frames in transit, how often, and which are injected in one path."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, fields
from random import Random
from typing import Final, Literal, Protocol, runtime_checkable

from otf.errors import UsageError


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """The faults of one path. `only` lists faults in their recorded form, "cpe2 out 3 drop"; None: by the seed."""

    seed: str = "0"
    only: frozenset[str] | None = None

    def random(self, port: str, way: str, number: int) -> Random:
        """Return the random numbers for one frame, which do not depend on any other frame."""
        return Random(f"{self.seed}/{port}/{way}/{number}")


_PLAN: Final = ContextVar[FaultPlan | None]("plan", default=None)


def plan() -> FaultPlan:
    """Return the plan of the path that is being opened."""
    return _PLAN.get() or FaultPlan()


@contextmanager
def planned(seed: str, only: Sequence[str] | None) -> Generator[None]:
    """Inject faults by this plan into lines opened inside; if `only` is None, an outer plan's list stays."""
    token = _PLAN.set(FaultPlan(seed, frozenset(only) if only is not None else plan().only))
    try:
        yield
    finally:
        _PLAN.reset(token)


@runtime_checkable
class Noting(Protocol):
    """A line whose own actions belong in the trace, next to the events."""

    def noted(self) -> list[str]:
        """Return the faults injected since the last call."""
        ...


IN: Final = "in"
OUT: Final = "out"
_INPUTS: Final = ("split", "merge", "disconnect")


@dataclass(frozen=True, slots=True)
class Faults:
    """The probability of each fault for a frame on a line; the probabilities add up to at most 1.

    `drop` loses a frame. `duplicate` delivers a frame twice. `reorder` delivers the next frame first, if the next frame
    arrives within `late` seconds. `delay` delivers a frame `late` seconds later, or right before the next frame.
    `corrupt` inverts a bit of a frame. `truncate` cuts off the end of a frame. Three faults apply only to inputs.
    `split` sends a frame in two parts, and `merge` sends a frame together with the next frame (both only on byte
    streams). `disconnect` resets the connection instead of sending the frame.

    `only` is "in" for faults on inputs, "out" for faults on outputs, or "" for faults on inputs and outputs.

    `late` must be well below the bench's latency L, since otf reports a failure if a message arrives later than L.

    >>> Faults(drop=0.1, only="in").drop
    0.1
    """

    _: KW_ONLY
    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0
    corrupt: float = 0.0
    truncate: float = 0.0
    split: float = 0.0
    merge: float = 0.0
    disconnect: float = 0.0
    late: float = 0.001
    only: Literal["in", "out", ""] = ""

    def __post_init__(self) -> None:
        """Raise UsageError for rates that are not probabilities."""
        rates = [getattr(self, name) for name in KINDS]
        if min(rates) < 0 or sum(rates) > 1 or self.late < 0:
            message = f"{self}: each rate is a probability from 0 to 1, all together at most 1, and late a time"
            raise UsageError(message)
        never = [kind for kind in _INPUTS if self.only == OUT and getattr(self, kind)]
        if self.only not in {"", IN, OUT} or never:
            what = f"{never[0]} happens to inputs alone" if never else 'only is "in", "out", or "" for both'
            message = f"{self}: {what}"
            raise UsageError(message)

    def fault(self, planned: FaultPlan, port: str, way: str, number: int) -> str:
        """Return the name of the fault that hits a frame, or "" if no fault hits the frame."""
        if planned.only is not None:
            return next((kind for kind in KINDS if f"{port} {way} {number} {kind}" in planned.only), "")
        if self.only not in {"", way}:
            return ""
        left = planned.random(port, way, number).random()
        for kind in KINDS:
            left -= getattr(self, kind)
            if left < 0:
                return "" if way == OUT and kind in _INPUTS else kind
        return ""


KINDS: Final = tuple(each.name for each in fields(Faults) if each.name not in {"_", "late", "only"})
