"""Virtual seconds until a campaign finds faults behind timers: `python -m benchmarks.timed --seeds 12 [SYSTEM …]`.

Systems made from specs, in virtual time: an answer takes some 1 ms, the tester 5 ms for each input and a tenth of a
second to start a path, as with a server on TCP. Each campaign has a minute, as `otf run --time 60s` would have it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final, NamedTuple

from benchmarks.measure import command, positive, save
from benchmarks.timed import lease, light, thermostat, washer
from otf.campaign.settings import UNLIMITED, Settings, length
from otf.core import Chooser, Model, Oracle, Routes, Session, Symbol, Timing, View
from otf.core.idling import Idling
from otf.core.pacing import Eager
from otf.core.timed_ways import TimedWays
from otf.core.timer_waits import Timers
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Idle, Spec
from otf.strategy import Strategy
from otf.trace.events import Event, Sent

SECONDS: Final = 60.0
TIMING: Final = Timing(quiescence=0.05, latency=0.02, busy=0.02)
BOUNDS: Final = TimeBounds(latency=0.0005, busy=0.0005)
THINKS: Final = 0.005  # seconds before an input, and before a look for silence
STARTS: Final = 0.1  # seconds before a path


class Subject(NamedTuple):
    """The maker of a model and of systems with faults, and those."""

    make: Callable[[str], Spec[Any, Any]]
    faults: Sequence[str]


SUBJECTS: Final[Mapping[str, Subject]] = {
    "light": Subject(light.light, light.FAULTS),
    "lease": Subject(lease.lease, lease.FAULTS),
    "thermostat": Subject(thermostat.thermostat, thermostat.FAULTS),
    "washer": Subject(washer.washer, washer.FAULTS),
}


class Found(NamedTuple):
    """How a campaign ended: whether it found the fault, after how many seconds, inputs, and seconds of waits."""

    failed: bool
    seconds: float
    inputs: int
    waited: float


class Ending(NamedTuple):
    """A chooser that ends when the time of the campaign is over."""

    chooser: Chooser
    world: World
    left: float

    def choose(self, view: View) -> Symbol | None:
        """Return the choice of the other chooser, None when the time is over."""
        return None if self.world.now >= self.left else self.chooser.choose(view)


def _port(_value: object) -> str:
    return "p"


def campaign(subject: Subject, fault: str, seed: int, name: str = "alternating") -> Found:
    """Drive paths for a minute, or until one fails."""
    oracle, random = Oracle(Model(subject.make(""), Routes(("p",), _port)), timing=TIMING), Random(seed)
    settings = Settings(out=Path(), traces=UNLIMITED, mixed=True, time=SECONDS)
    strategy = Strategy(name, "uioco", seed)
    told, proven, spent, number, sent = dict[tuple[Hashable, ...], int](), set[Hashable](), 0.0, 0, list[object]()
    timers, idling = (
        Timers(passed=told, between=False, first=True),
        Idling(told, TimedWays(strategy.visits.inputs, told)),
    )

    def note(event: Event) -> None:
        if isinstance(event, Sent):
            sent.append(event.input)

    failed = False
    while spent < SECONDS and not failed:
        number += 1
        world = World(System(subject.make(fault), _port, random), BOUNDS, random)
        steps = min(10_000, length(settings, number, late=spent > SECONDS / 2))
        chooser = Ending(strategy.path(number), world, SECONDS - spent)
        session = Session(oracle, chooser, Eager(TIMING, proven, timers, idling), steps=steps)
        verdict = conduct(session, world, _port, note, lambda: THINKS)
        failed, spent = verdict.failed, spent + STARTS + world.now
    return Found(failed, spent, len(sent), sum(each.seconds for each in sent if isinstance(each, Idle)))


def _row(runs: Sequence[Found]) -> dict[str, str]:
    found, seconds = sum(each.failed for each in runs), sum(each.seconds for each in runs)
    middle = median(each.seconds if each.failed else SECONDS for each in runs)
    return {
        "found": f"{found:2} of {len(runs):2}",
        "median seconds": f"{middle:13.1f}",
        "inputs a second": f"{sum(each.inputs for each in runs) / seconds:15.0f}",
        "waited": f"{sum(each.waited for each in runs) / seconds:6.0%}",
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print for each fault in how many campaigns it was found, and after how long; write it if asked to."""
    parser = command("timed", __doc__)
    parser.add_argument("systems", nargs="*", default=[*SUBJECTS], help=f"of {', '.join(SUBJECTS)}; all by default")
    parser.add_argument("--seeds", type=positive, default=12, help="campaigns for each fault")
    parser.add_argument("--strategy", default="alternating")
    chosen = parser.parse_args(arguments)
    data: dict[str, dict[str, Any]] = {}
    print("system  fault    found  median seconds  inputs a second  waited", flush=True)
    for name in chosen.systems:
        for fault in ("", *SUBJECTS[name].faults):
            seeds = range(1, (chosen.seeds if fault else 1) + 1)
            runs = [campaign(SUBJECTS[name], fault, seed, chosen.strategy) for seed in seeds]
            data[f"{name} {fault or 'none'}"] = row = _row(runs)
            print(f"{name:7} {fault or 'none':8} {'  '.join(map(str, row.values()))}", flush=True)
    save(data, chosen.json)


if __name__ == "__main__":
    main()
