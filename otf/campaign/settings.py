"""What a campaign is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from otf.campaign.budget import Budget
from otf.errors import UsageError
from otf.shrink import ALGORITHMS, BEST
from otf.strategy import StrategyKind

LARGEST: Final = 1 << 30  # bytes

Keep = Literal["all", "failures"]
Mode = Literal["strict", "eager"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a campaign; `reference` is the bench as the user named it, so that a trace can name it again.

    `mode` and `burst` say when inputs are sent: `strict` after quiescence, `eager` at once where nothing can come,
    bursts of several without waiting. `traces` paths of at most `steps` inputs; `time` bounds all of them together
    (seconds, None: no bound); a path ends when its trace has `largest` bytes, and the next one begins; `jobs` paths run
    at once, each against a copy of its own. `keep` says whether traces that pass are kept as well. Failures are shrunk
    by `algorithm`, each within `budget`; shrunk ones are kept in the folder `saved`, and those that lie there are tried
    first (None: neither), if the system was at the same addresses `where`.
    """

    out: Path
    reference: str = ""
    traces: int = 10
    steps: int = 50
    time: float | None = None
    seed: int = 0
    strategy: str | StrategyKind = "alternating"
    mode: Mode = "eager"
    burst: int = 1
    largest: int = LARGEST
    jobs: int = 1
    keep: Keep = "all"
    stop_first: bool = False
    shrink: bool = True
    algorithm: str = BEST
    budget: Budget = field(default_factory=Budget)
    saved: Path | None = None
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name in ("traces", "steps", "largest", "jobs", "burst"):
            if getattr(self, name) < 1:
                message = f"{name}={getattr(self, name)}: at least 1 is needed"
                raise UsageError(message)
        if self.algorithm not in ALGORITHMS:
            message = f"there is no algorithm {self.algorithm!r}; there are {', '.join(ALGORITHMS)}"
            raise UsageError(message)
        if self.time is not None and not self.time > 0:
            message = f"time={self.time}: a positive number of seconds is needed"
            raise UsageError(message)
