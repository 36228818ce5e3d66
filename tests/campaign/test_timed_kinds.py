"""In a model with times each path ends at its failure; paths steer away from what is known to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from otf.adapter import Bench
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Campaign, Settings, Summary
from otf.codec import lines
from otf.spec import Spec, Transition, goto, start
from tests.runner.playing import virtually

LEVELS = 10
INPUTS = ("on", "up", "down", "help", "look")
BEAT = [start("beat", 4.9, 5.1)]


class Device(NamedTuple):
    """A device: whether it is on, its level, and the number of its next heartbeat."""

    on: bool = False
    level: int = 0
    beat: int = 0


def step(state: Device, inp: str) -> Iterator[Transition[Device]]:
    """Answer; nothing is specified before it is on."""
    if inp == "on" and not state.on:
        yield goto(state._replace(on=True), "on", timers=BEAT)
    elif state.on and inp in {"up", "down"}:
        level = (state.level + (1 if inp == "up" else -1)) % LEVELS
        yield goto(state._replace(level=level), f"level {level}")
    elif state.on and inp != "on":
        yield goto(state, "see manual" if inp == "help" else "all is well")


def emits(state: Device) -> Iterator[Transition[Device]]:
    """Say one more number every five seconds."""
    if state.on:
        yield goto(state._replace(beat=state.beat + 1), f"beat {state.beat}", after="beat", timers=BEAT)


def device() -> Callable[[bytes], list[Reply]]:
    """Return a device that never helps, and is not well at level 5 of 10."""
    level = 0

    def act(frame: bytes) -> list[Reply]:
        nonlocal level
        match frame:
            case b"on":
                return [b"on", *((5.0 + 5.0 * at, b"beat %d" % at) for at in range(60))]
            case b"help":
                return [b"no help"]
            case b"look":
                return [b"it burns" if level == 5 else b"all is well"]
            case _:
                level = (level + (1 if frame == b"up" else -1)) % LEVELS
                return [b"level %d" % level]

    return act


def test_a_frequent_defect_hides_no_other(tmp_path: Path) -> None:
    """A device fails at one input in every state: 25 paths send 312 inputs (134 without steering).

    So the other defect, five inputs deep, is met more often.
    """
    spec = Spec(step, Device(), INPUTS, emits)
    bench = Bench.on_ports(spec, lines({str: "{}"}), {"p": inprocess(device)}, name="device", quiescence=0.05)
    settings = Settings(out=tmp_path, traces=25, steps=40, seed=1, shrink=False)

    async def run() -> Summary:
        return await Campaign(bench, settings).run()

    summary = virtually(run)
    failures = [group.first.verdict.failure for group in summary.failures.values()]
    assert summary.steps > 250
    assert {each.seen for each in failures if each is not None} == {"'no help'", "'it burns'"}
