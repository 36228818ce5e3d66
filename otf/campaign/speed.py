"""The probe of a faster clock: a few paths, whose failures are driven again with the clock of the machine."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

from otf.adapter import Bench
from otf.adapter.child.faster import refused
from otf.campaign.confirm import confirm
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import Settings, header
from otf.core.pacing import Timers
from otf.core.waits import Strict
from otf.strategy import Strategy

PATHS: Final = 3
STEPS: Final = 30
_SPEEDS: Final = 100.0, 50.0, 20.0, 10.0, 5.0, 2.0


async def greatest_speed(bench: Bench, settings: Settings) -> float:
    """Return the greatest speed of the clock that the system follows. Raises UsageError where it follows none."""
    why = ""
    for speed in _SPEEDS:
        why = await _objection(bench.at_speed(speed), settings)
        if not why:
            return speed
    raise refused(_SPEEDS[-1], why)


async def check_speed(bench: Bench, settings: Settings) -> None:
    """Refuse a bench whose system does not follow its faster clock. Raises UsageError with a failure as the reason."""
    if bench.speed > 1 and (why := await _objection(bench, settings)):
        raise refused(bench.speed, f"{why}; or try --speed auto, which looks for a speed that fits")


async def _objection(bench: Bench, settings: Settings) -> str:
    """Return the failure that the system shows at this speed only, "" if there is none."""
    with tempfile.TemporaryDirectory(prefix="otf-speed-") as folder:
        # each state with a timer is waited for: that the timers follow is the question
        timers = Timers(last=True)
        for number in range(1, PATHS + 1):
            found = await _path(bench, replace(settings, mode="strict"), Path(folder), number, timers)
            if found.verdict.failure is None or any(issue.shows(found.verdict.failure) for issue in bench.known_issues):
                continue
            if await _only_fast(bench, settings, found):
                signature = found.verdict.failure.signature
                return f"the system does not follow: `{signature}` is seen at this speed and not at its own"
    return ""


async def _path(bench: Bench, settings: Settings, folder: Path, number: int, timers: Timers) -> PathResult:
    head, strategy = header(bench, settings, number), Strategy(settings.strategy, bench.inputs, settings.seed)
    run = PathRun(bench, bench.oracle(), head, folder / f"{number}.jsonl")
    return await run.run(strategy.path(number), STEPS, Strict(bench.timing, timers))


async def _only_fast(bench: Bench, settings: Settings, found: PathResult) -> bool:
    """Return whether the same inputs fail again at this speed, and pass at the system's own."""
    own = bench.at_speed(1)
    for each, fails in ((bench, True), (own, False)):
        head = header(each, replace(settings, mode="strict"), found.number, strategy="script")
        again, _ = await confirm(each, each.oracle(), head, found)
        if again.verdict.failed != fails:
            return False
    return True
