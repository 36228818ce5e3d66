"""What options of `otf run` do: --scenario, --silence, --pid, --strategy, --until, --speed and --calibrate."""

from __future__ import annotations

import re
from dataclasses import replace
from time import monotonic
from typing import Final

from otf.adapter import Bench
from otf.campaign import Settings
from otf.campaign.run import Calibration, calibrate
from otf.campaign.settings import UNLIMITED
from otf.campaign.speed import greatest_speed
from otf.cli.benches import placed
from otf.cli.output import document, say, warn
from otf.cli.signals import interruptible
from otf.errors import INCONCLUSIVE, UsageError, near
from otf.explore import explore
from otf.spec.places import places
from otf.strategy import Coverage, StrategyKind, Until, covering, own
from otf.strategy.coverage import KINDS, NOTHING_NEW, UPTIME, lasting
from otf.strategy.kinds import known
from otf.trace.result import counted

REQUIREMENTS: Final = "requirements"
LOOKED: Final = 20_000  # states of a model to explore for coverage
LOOKING: Final = 5.0  # seconds for these: with hundreds of inputs in each state it would take minutes
UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_DURATION: Final = re.compile(r"(\d{1,12}(?:\.\d{1,12})?|\.\d{1,12})([smh]?)")


def under(bench: Bench, scenario: str | None) -> Bench:
    """Return the bench restricted to a scenario, if there is one."""
    if scenario is None:
        return bench
    if not scenario.strip():
        raise UsageError("--scenario: it is empty; name inputs in their order, such as 'Coin+ Button', or leave it out")
    from otf.compose import guide
    from otf.explore.analysis import known as checked

    return replace(bench, spec=guide(bench.spec, checked(bench.spec, scenario)))


def chosen(strategy: str) -> str | StrategyKind:
    """Return the strategy of that name. `file.py:Name` is the user's own: a class with `choose`, or a `StrategyKind`.

    `file.py:SelectAction` is a PyModel strategy.
    """
    if ":" not in strategy:
        return strategy
    where, _, name = strategy.rpartition(":")
    if name.replace("_", "").lower() == "selectaction":
        from otf.compat.pymodel.strategy import selecting

        return selecting(where)
    found = placed("--strategy", strategy)
    if isinstance(found, StrategyKind):
        return found
    if isinstance(found, type) and hasattr(found, "choose"):
        return own(found)
    raise UsageError(f"--strategy {strategy}: neither a class with choose(view) nor an otf.strategy.StrategyKind")


def duration(option: str, text: str) -> float:
    """Return the seconds of a text such as `90`, `60s`, `10m` or `8h`. Raises UsageError.

    >>> duration("--spend", "1.5m")
    90.0
    """
    found = _DURATION.fullmatch(text)
    if found is None or not float(found[1]):
        given = f"{option} {text}".rstrip()
        raise UsageError(f"{given}: a time above 0 is needed, in seconds, minutes or hours: 60s, 10m, 8h")
    return float(found[1]) * UNITS[found[2] or "s"]


def bounded(time: str | None, spend: str | None) -> float | None:
    """Return the seconds of --time or --spend, None without either. Raises UsageError."""
    if time is not None and spend is not None:
        raise UsageError("--time and --spend are both the time of the campaign: give one of them")
    if spend is not None:
        return duration("--spend", spend)
    return None if time is None else duration("--time", time)


def counting(bench: Bench, settings: Settings, until: str | None) -> tuple[Settings, Coverage | None]:
    """Return the settings with a strategy that ends the campaign at the goal, and the coverage counted, if any."""
    if until is None:
        return settings, None
    if until == REQUIREMENTS:
        if not bench.requirements:
            raise UsageError(f"--until {until}: the bench has no table of requirements; give it requirements=…")
        return replace(settings, decides=True), None
    if until.startswith(UPTIME):
        return _lasting(settings, until), None
    late = monotonic() + LOOKING
    coverage = Coverage(explore(bench.spec, LOOKED, is_late=lambda: monotonic() >= late), places(bench.spec))
    strategy = covering(known(settings.strategy), coverage, parsed(until), monotonic)
    # the strategies of workers do not count here: the traces of their paths show what they cover
    covers = None if settings.workers is None else coverage
    return replace(settings, strategy=strategy, covers=covers), coverage


def _lasting(settings: Settings, until: str) -> Settings:
    seconds = duration(f"--until {UPTIME}", until.partition("=")[2])
    if settings.workers is not None:
        raise UsageError(f"--until {until}: one path lasts so long, and it runs in one process: leave --processes out")
    settings = replace(settings, strategy=lasting(known(settings.strategy), seconds, monotonic))
    # without --steps, only time ends a path
    return replace(settings, steps=UNLIMITED, mixed=False) if settings.mixed else settings


def parsed(until: str) -> Until:
    """Return the goal: `transitions`, `states=0.9`, `pairs=100`, `nothing-new=10m`. Raises UsageError."""
    what, equals, amount = until.partition("=")
    if what == NOTHING_NEW:
        return Until(what, number=duration(f"--until {NOTHING_NEW}", amount))
    number = int(amount) if amount.isdecimal() and int(amount) > 1 else None
    try:
        share = float(amount) if equals and number is None else 1.0
    except ValueError:
        share = 0.0
    if what in KINDS and 0 < share <= 1:
        return Until(what, share, number)
    hint = "" if what in KINDS else near(what, (*KINDS, REQUIREMENTS, NOTHING_NEW, UPTIME))
    kinds = f"{', '.join(KINDS)}, optionally with a share (up to 1) or a number: states=0.9"
    others = f"{REQUIREMENTS}; or {NOTHING_NEW} or {UPTIME} with a time: {NOTHING_NEW}=10m, {UPTIME}=1h"
    raise UsageError(" ".join(f"--until {until}: {hint} write one of {kinds}; {others}".split()))


def faster(bench: Bench, settings: Settings, speed: str, *, elsewhere: bool) -> Bench:
    """Return the bench with the clocks of its system at this speed; `elsewhere`: the system runs on another machine.

    Raises UsageError for an invalid or impossible speed.
    """
    if speed == "auto" and elsewhere:
        raise UsageError("--speed auto: it measures a system of this machine; with --cluster, write a number")
    if speed != "auto":
        try:
            return bench.at_speed(float(speed))
        except ValueError:
            raise UsageError(f"--speed {speed}: write a number, such as 20, or auto") from None
    found = interruptible(lambda: greatest_speed(bench, settings))
    if found.value is None:
        raise UsageError("--speed auto: interrupted before a speed was found")
    warn(f"note: the clocks of the system run {found.value:g} times as fast")
    return bench.at_speed(found.value)


def measure_times(bench: Bench, settings: Settings, *, as_json: bool) -> int:
    """Measure how fast a system answers, and print suitable times; return the exit status."""
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
        _print_times(found)
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


def _print_times(found: Calibration) -> None:
    if found.summary.failures:
        say("the system failed, and its path was measured only up to the failure: run it without --calibrate first")
    if not found.replies:
        say("there was no output, so nothing could be measured")
        return
    say(f"answers to {counted(len(found.replies), 'input')}; time until the last output:")
    for name, share in (("median", 0.5), ("99 %", 0.99), ("longest", 1.0)):
        say(f"  {name:8} {1000 * found.quantile(share):9.3f} ms")
    bound = f"{found.bound:.2g}"
    say("three times as long, for a machine as busy as this one is now:")
    say(f"  --quiescence {found.quiescence:.2g} --set L={bound} --set R={bound}")
