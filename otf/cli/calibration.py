"""`otf run --calibrate`: which times fit a system."""

from __future__ import annotations

from otf.adapter import Bench
from otf.campaign import Settings
from otf.campaign.calibrate import Calibration, calibrate
from otf.cli.ending import document, say, warn
from otf.cli.interrupt import interruptible
from otf.errors import INCONCLUSIVE


def measured(bench: Bench, settings: Settings, *, as_json: bool) -> int:
    """Measure how fast a system answers, and tell it; return the exit status."""
    done = interruptible(lambda: calibrate(bench, settings))
    if done.value is None:
        if as_json:
            document({"verdict": "inconclusive", "interrupted": True})
        return done.status(INCONCLUSIVE)
    found = done.value
    if found.summary.trouble:
        warn(f"stopped: {found.summary.trouble}")
    if as_json:
        document(_json(found))
    else:
        _tell(found)
    return found.summary.exit_status


def _json(found: Calibration) -> dict[str, float | str]:
    return {
        "verdict": found.summary.verdict,
        "trouble": found.summary.trouble,
        "replies": len(found.replies),
        "median": found.quantile(0.5),
        "q99": found.quantile(0.99),
        "longest": found.quantile(1.0),
        "L": found.bound,
        "R": found.bound,
        "quiescence": found.quiescence,
    }


def _tell(found: Calibration) -> None:
    if found.summary.failures:
        say("the system failed meanwhile, and its path was measured up to there: run it without --calibrate first")
    if not found.replies:
        say("nothing was answered, so nothing could be measured")
        return
    say(f"{len(found.replies)} inputs were answered; the last output came after")
    for name, share in (("median", 0.5), ("99 %", 0.99), ("longest", 1.0)):
        say(f"  {name:8} {1000 * found.quantile(share):9.3f} ms")
    bound = f"{found.bound:.2g}"
    say("times with three times that room, on a machine as busy as this one is now:")
    say(f"  --quiescence {found.quiescence:.2g} --set L={bound} --set R={bound}")
