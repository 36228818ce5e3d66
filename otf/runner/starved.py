"""Lack of memory: what the kernel killed for it, and may have killed the system for, is no failure of the system."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from otf.trace.verdict import FailureKind, Verdict

_COUNTS: Final = Path("/proc/vmstat")
_OF_A_DEATH: Final[set[FailureKind]] = {"ended", "missing", "late"}


def killed_for_memory() -> int:
    """Return how many processes this machine has killed for lack of memory so far (Linux; elsewhere 0)."""
    try:
        lines = _COUNTS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def excused(verdict: Verdict, killed: int) -> Verdict:
    """Return the verdict of a run in which so many processes were killed for lack of memory.

    Which these were, the kernel tells the administrator alone; a helper of the system may have been among them.
    """
    if not killed or verdict.failure is None or verdict.failure.kind not in _OF_A_DEATH:
        return verdict
    why = f"{verdict.failure.seen}, but the machine ran out of memory meanwhile and killed processes ({killed})"
    return Verdict("inconclusive", why=f"{why}: give it more memory, and see `journalctl -k` for which they were")
