"""Which faults a layer over a line injects in a path: by the path's own seed, or only those that are listed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """What is injected in one path. `only` lists faults as they are recorded: "cpe2 out 3 drop"; None: by the seed."""

    seed: str = "0"
    only: frozenset[str] | None = None

    def random(self, port: str, way: str, number: int) -> Random:
        """Return the source of chance for one frame: what was decided for others before it does not matter."""
        return Random(f"{self.seed}/{port}/{way}/{number}")


_PLAN: Final = ContextVar[FaultPlan | None]("plan", default=None)


def plan() -> FaultPlan:
    """Return the plan of the path that is being opened."""
    return _PLAN.get() or FaultPlan()


@contextmanager
def planned(seed: str, only: Sequence[str] | None) -> Generator[None]:
    """Let lines that are opened inside inject by this plan; `only` None leaves one that was given from outside."""
    token = _PLAN.set(FaultPlan(seed, frozenset(only) if only is not None else plan().only))
    try:
        yield
    finally:
        _PLAN.reset(token)


@runtime_checkable
class Noting(Protocol):
    """A line that does what the trace has to tell beside its events."""

    def noted(self) -> list[str]:
        """Return the faults that were injected since it was asked last."""
        ...
