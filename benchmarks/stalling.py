"""Simulated runs beside a machine that stalls: `python -m benchmarks.stalling --runs N --seed S`.

Systems made from random specs, as in `benchmarks.simulating`. Now and then everything stands still, for a random time:
what was to happen meanwhile happens at its end, and the tester learns of it then. No conforming run may fail. With
`--mutants` the systems are wrong: a fault counts that no delay of a message, an input or a timer explains, however long
all stalls of its run together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from benchmarks.blueprints import Blueprint, Branch
from benchmarks.campaigns import PATHS, TESTERS
from benchmarks.measure import command, positive, save
from benchmarks.simulating import FLOOD, Playing, Rehearsal, RunName, StuckError
from benchmarks.solver import decided
from otf.core import Send, Session, Stop, Wait
from otf.simulate import World
from otf.spec import Idle
from otf.trace.events import Sent, Stalled
from otf.trace.verdict import Verdict

PAUSES: Final = (0.02, 0.1, 0.5)  # mean seconds between two stalls
LONGEST: Final = (0.005, 0.03, 0.1)  # seconds: L and R are up to 16 ms
SHORT: Final = 40  # events of a run that is judged exactly


@dataclass
class StallingRun:
    """One run of a session on a world that stands still now and then."""

    session: Session
    world: World
    rehearsal: Rehearsal
    playing: Playing
    random: Random
    lost: defaultdict[float, float] = field(default_factory=lambda: defaultdict(float))

    def __post_init__(self) -> None:
        """Draw how often and how long it stands still."""
        self.pause, self.longest = self.random.choice(PAUSES), self.random.choice(LONGEST)
        self.next = self.random.expovariate(1 / self.pause)

    def verdict(self) -> Verdict:
        """Return the verdict of the run."""
        try:
            while True:
                self._hear()
                command = self.session.command()
                if isinstance(command, Stop):
                    return command.verdict
                if isinstance(command, Send):
                    self._send(command.input.value)
                elif isinstance(command, Wait):
                    self._wait(command.until)
        except StuckError:
            return self.session.monitor.end()

    def _hear(self) -> None:
        for seen in self.world.arrived:
            event = replace(seen, at=max(seen.at, self.world.now))
            self.session.tell(event)
            self.playing.note(event)
        self.world.arrived.clear()

    def _send(self, inp: object) -> None:
        port = "" if isinstance(inp, Idle) else self.rehearsal.blueprint.inputs[str(inp)]
        event = Sent(inp, port, self.world.now)
        self.world.send(inp, event.port)
        self.session.tell(event)
        self.playing.note(event)

    def _wait(self, asked: float) -> None:
        # as in the runner: time that was lost in a wait is not a silence
        until = asked + self.lost[asked]
        self.world.advance(min(until, self.next))
        if self.world.arrived:
            return
        if self.world.now >= self.next:
            self._stall(asked)
        elif (believed := self.session.silence(self.world.now)) is not None:
            self.playing.note(believed)

    def _stall(self, asked: float) -> None:
        world, seconds = self.world, self.longest * self.random.random() ** 2 + 1e-4
        end = world.now + seconds
        world.stand_still(end)
        self.lost[asked] += seconds
        self.next = end + self.random.expovariate(1 / self.pause)
        stall = Stalled(seconds, end)
        self.session.tell(stall)
        self.playing.note(stall)


def stalling(name: RunName) -> Iterator[tuple[RunName, Verdict, Playing]]:
    """Yield the runs of a campaign, each with its name, its verdict and its events."""
    rehearsal, random = Rehearsal(name), Random(f"stalls {name}")
    for path in range(1, 1 + PATHS):
        pacing = TESTERS[name.mode].pacing(rehearsal.timing, rehearsal.notes)
        session = Session(rehearsal.oracle, rehearsal.strategy.path(path), pacing, steps=rehearsal.steps, flood=FLOOD)
        playing, world = rehearsal.started(replace(name, path=path))
        yield playing.name, StallingRun(session, world, rehearsal, playing, random).verdict(), playing


def _is_certain(name: RunName, playing: Playing) -> bool:
    """Return whether a run is impossible, even if each delay and each timer may be longer by all stalls together."""
    rehearsal, events = Rehearsal(name), playing.events
    lost = sum(each.seconds for each in events if isinstance(each, Stalled))
    plain, bounds = [each for each in events if not isinstance(each, Stalled)], rehearsal.bounds
    # of a longer run the solver would try too many sequences
    return len(plain) <= SHORT and all(
        decided(blueprint, plain, bounds.latency + lost, bounds.busy + lost) == "impossible"
        for blueprint in (rehearsal.blueprint, _later(rehearsal.blueprint, lost))
    )


def _later(blueprint: Blueprint, seconds: float) -> Blueprint:
    """Return the spec of a system whose timers may also go off so much later: in a stall they stand still, too."""

    def changed(branch: Branch) -> Branch:
        within = branch.within and (branch.within[0], branch.within[1] + seconds)
        starts = tuple((name, (lo, hi + seconds)) for name, (lo, hi) in branch.starts)
        return replace(branch, within=within, starts=starts)

    steps = {place: tuple(map(changed, branches)) for place, branches in blueprint.steps.items()}
    spontaneous = {state: tuple(map(changed, branches)) for state, branches in blueprint.spontaneous.items()}
    return replace(blueprint, steps=steps, spontaneous=spontaneous, _known={}, _said={})


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, run, and print what came of it."""
    parser = command("stalling", __doc__)
    parser.add_argument("--runs", type=positive, default=2_000, help="runs in all")
    parser.add_argument("--seed", type=int, default=1, help="of the first campaign")
    parser.add_argument("--mutants", action="store_true", help="of systems with a fault, which are to fail")
    chosen = parser.parse_args(arguments)
    found, alarms, doubtful, events, faults, missed = Counter[str](), list[str](), 0, 0, 0, 0
    for campaign in range(-(-chosen.runs // (len(TESTERS) * PATHS))):
        for mode in TESTERS:
            for name, verdict, playing in stalling(RunName(mode, chosen.seed, campaign, mutant=chosen.mutants)):
                found[verdict.outcome] += 1
                if chosen.mutants:
                    certain = _is_certain(name, playing)
                    faults, missed = faults + certain, missed + (certain and not verdict.failed)
                else:
                    alarms += [str(name)] * verdict.failed
                doubtful, events = doubtful + verdict.judged.doubtful, events + len(playing.events)
    print(f"{dict(found)}; {doubtful / events:.1%} of {events:,} events judged while stalls left times open")
    if chosen.mutants:
        print(f"{missed} of {faults} faults that no delay explains did not fail: {missed / max(1, faults):.1%}")
    else:
        print(f"{len(alarms)} false alarms: {alarms[:20]}")
    save({**found, "alarms": len(alarms), "doubtful": doubtful / events}, chosen.json)


if __name__ == "__main__":
    main()
