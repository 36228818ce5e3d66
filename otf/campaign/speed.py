"""Probes a faster clock: drives a few paths, and their failures again with the machine's own clock."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio

from otf.adapter import Bench
from otf.adapter.child.faster import refused
from otf.campaign.confirm import FOREVER, confirm
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import Settings, header
from otf.core.pacing import Strict
from otf.core.timer_waits import Timers
from otf.strategy import Strategy

PATHS: Final = 3  # that pass, or show a known issue
TRIES: Final = 9
UNCLEAR: Final = "the machine was too busy to see whether the system follows"
STEPS: Final = 30
_SPEEDS: Final = 100.0, 50.0, 20.0, 10.0, 5.0, 2.0


async def greatest_speed(bench: Bench, settings: Settings) -> float:
    """Return the greatest clock speed that the system follows. Raises UsageError if it follows none."""
    why = ""
    for speed in _SPEEDS:
        why, clear = await _objection(bench.at_speed(speed), settings)
        if clear and not why:
            return speed
        why = why or UNCLEAR
    raise refused(_SPEEDS[-1], why)


async def check_speed(bench: Bench, settings: Settings, until: float = FOREVER) -> bool:
    """Refuse a bench whose system does not follow its faster clock. Raises UsageError, with a failure as the reason.

    Return whether it was seen to follow: the machine may be too busy to tell, and the paths end at the time `until`.
    """
    why, clear = await _objection(bench, settings, until) if bench.speed > 1 else ("", True)
    if why:
        raise refused(bench.speed, f"{why}; or try --speed auto, which looks for a speed that fits")
    return clear


async def _objection(bench: Bench, settings: Settings, until: float = FOREVER) -> tuple[str, bool]:
    """Return the failure that occurs only at this speed ("" if none), and whether enough paths were conclusive.

    Beside a stall, a late answer is inconclusive, and says nothing about the clock: such a path is driven again.
    """
    clear = 0
    with tempfile.TemporaryDirectory(prefix="otf-speed-") as folder:
        # wait for each state with a timer: whether the timers follow is the question
        timers = Timers(last=True)
        for number in range(1, TRIES + 1):
            if anyio.current_time() >= until:
                break
            found = await _path(bench, replace(settings, mode="strict"), Path(folder), number, timers, until)
            failure = found.verdict.failure
            if failure is not None and bench.known_issue(failure) is None:
                if await _only_fast(bench, settings, found, until):
                    what = f"`{failure.signature}` is seen at this speed and not at its own"
                    return f"the system does not follow: {what}", False
                continue
            clear += found.verdict.outcome != "inconclusive"
            if clear == PATHS:
                return "", True
    return "", False


async def _path(  # noqa: PLR0913, PLR0917 -- what a path needs, each once
    bench: Bench, settings: Settings, folder: Path, number: int, timers: Timers, until: float
) -> PathResult:
    head, strategy = header(bench, settings, number), Strategy(settings.strategy, bench.inputs, settings.seed)
    run = PathRun(bench, bench.oracle(), head, folder / f"{number}.jsonl", records=False)
    return await run.run(strategy.path(number), STEPS, Strict(bench.timing, timers), until=until)


async def _only_fast(bench: Bench, settings: Settings, found: PathResult, until: float) -> bool:
    """Return whether the same inputs fail again at this speed, and pass at the system's own."""
    own = bench.at_speed(1)
    for each, fails in ((bench, True), (own, False)):
        head = header(each, replace(settings, mode="strict", burst=1), found.number, strategy="script")
        seen = await confirm(each, each.oracle(), head, found, until=until)
        if seen.again or seen.result.verdict.failed != fails:
            return False
    return True
