"""Scripts with times: `"a?0 x!0.4 quiet2"` is what happened, and when; ports and words are those of `scripts`.

The world of these scripts: L is 0.1 s, R 0.2 s, quiescence 0.5 s. In virtual time `driven` lets a session test a world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, Final

from otf.core import Model, Monitor, Oracle, Pacing, Send, Session, Stop, Timing, Wait
from otf.core.burst import Burst
from otf.core.pacing import Eager, Strict
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Verdict
from tests.core.scripts import PORTS, ROUTES

TIMING: Final = Timing(quiescence=0.5, latency=0.1, busy=0.2)
TRUE: Final = TimeBounds(latency=0.1, busy=0.2, spontaneous=0.3)
PACINGS: Final[dict[str, Callable[[Timing], Pacing]]] = {
    "strict": Strict,
    "eager": Eager,
    "burst 2": lambda timing: Burst(timing, 2),
    "burst 4": lambda timing: Burst(timing, 4),
}


def timed(spec: Spec[Any, Any], timing: Timing = TIMING) -> Oracle:
    """Return an oracle for a spec on the ports of the convention, with the times of these scripts."""
    return Oracle(Model(spec, ROUTES), timing=timing)


def event(word: str) -> Event:
    """Return the event of `a?0`, `x!0.4`, `quiet2` or `taken3` (the first input was taken, at 3 s)."""
    for mark, kind, port in (("?", Sent, "A"), ("!", Seen, "P")):
        value, found, at = word.partition(mark)
        if found:
            return kind(value, PORTS.get(value, port), float(at))
    return Quiet(float(word[5:])) if word.startswith("quiet") else Taken(1, float(word[5:]))


def told(judge: Oracle | Spec[Any, Any], script: str) -> Monitor:
    """Return a monitor that was told a script."""
    monitor = Monitor(judge if isinstance(judge, Oracle) else timed(judge))
    for word in script.split():
        monitor.tell(event(word))
    return monitor


def judged(judge: Oracle | Spec[Any, Any], script: str) -> str:
    """Return the verdict on a script in a word or two: pass, truncated, inconclusive, fail: late …."""
    verdict = told(judge, script).end()
    if verdict.failure is not None:
        return f"fail: {verdict.failure.kind}"
    return "truncated" if verdict.truncated else verdict.outcome


def session(spec: Spec[Any, Any], inputs: Iterable[str], pacing: Pacing, timing: Timing = TIMING) -> Session:
    """Return a session that sends these inputs."""
    return Session(timed(spec, timing), Script(inputs), pacing, steps=10_000)


def driven(
    spec: Spec[Any, Any],
    inputs: Iterable[str],
    mode: str = "strict",
    *,
    system: Spec[Any, Any] | None = None,
    number: int = 1,
    timing: Timing = TIMING,
    bounds: TimeBounds = TRUE,
    accepted: tuple[str, ...] = ("x",),
) -> tuple[Verdict, list[Event]]:
    """Return the verdict on a simulated system of the spec (or of `system`), and the events of the run.

    `accepted` are the outputs that it thinks of for an `Accept`.
    """
    random, record = Random(number), list[Event]()
    world = World(System(system or spec, PORTS.__getitem__, random, lambda _item: accepted), bounds, random)
    run = session(spec, inputs, PACINGS[mode](timing), timing)
    return conduct(run, world, PORTS.__getitem__, record.append), record


class Device:
    """A system written by hand: what it will say, and when; an input may add to that and take from it."""

    def __init__(self) -> None:
        self.due: list[Seen] = []

    def take(self, inp: object, at: float) -> None:
        """Take an input."""

    def said(self, output: object, at: float) -> None:
        """Go on after an output was said."""

    def say(self, output: str, at: float) -> None:
        """Plan an output."""
        self.due = sorted([*self.due, Seen(output, PORTS[output], at)], key=lambda each: each.at)

    def next(self) -> Seen:
        """Say what is due next."""
        now, *self.due = self.due
        self.said(now.output, now.at)
        return now


def played(run: Session, device: Device, *, most: int = 2_000) -> tuple[Verdict, list[Event]]:
    """Return the verdict of a session on a device that answers at once, and the events; at most so many of them."""
    events, now = list[Event](), 0.0
    while len(events) < most:
        match run.command():
            case Stop(verdict):
                return verdict, events
            case Send(inp):
                events.append(Sent(inp.value, PORTS[str(inp.value)], now))
                device.take(inp.value, now)
            case Wait(until) if device.due and device.due[0].at <= until:
                events.append(device.next())
                now = events[-1].at
            case Wait(until):
                assert until < float("inf"), "the session waits for ever"
                now = until
                believed = run.silence(now)
                events += [believed] if believed else []
                continue
            case _:
                raise AssertionError
        run.tell(events[-1])
    return run.monitor.end(), events


def inputs(events: Iterable[Event]) -> list[object]:
    """Return the inputs that were sent."""
    return [each.input for each in events if isinstance(each, Sent)]
