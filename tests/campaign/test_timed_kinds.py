"""In a model with times each path ends at its failure; paths steer away from what is known to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import anyio

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


class Door(NamedTuple):
    """A door with a code: how often the code was wrong, and whether it is blocked."""

    wrong: int = 0
    blocked: bool = False


def enter(door: Door, inp: str) -> Iterator[Transition[Door]]:
    """After three wrong codes it is blocked for a second; the right one forgets those before."""
    if door.blocked or inp in {"lamp", "left"}:
        says = f"left {3 - door.wrong}" if inp == "left" else "yellow" if door.wrong else "green"
        yield goto(door, "blocked" if door.blocked else says)
    elif inp == "right":
        yield goto(Door(), "open")
    elif door.wrong == 2:
        yield goto(Door(blocked=True), "alarm", timers=[start("block", 0.9, 1.1)])
    else:
        yield goto(Door(door.wrong + 1), f"left {2 - door.wrong}")


def door() -> Callable[[bytes], list[Reply]]:
    """Return a door that forgets no wrong code if the right one comes."""
    state, until = Door(), 0.0

    def act(frame: bytes) -> list[Reply]:
        nonlocal state, until
        now = anyio.current_time()
        [transition] = enter(state._replace(blocked=now < until), frame.decode())
        until = now + 1 if transition.timers else until
        state = state if frame == b"right" else transition.state._replace(blocked=False)
        return [str(each).encode() for each in transition.outputs]

    return act


def test_a_wrong_state_of_a_model_with_times_is_one_kind(tmp_path: Path) -> None:
    """Whatever shows it: the lamp, the number left, the next wrong code, an alarm too early (four kinds before)."""
    inputs = ("right", "wrong", "lamp", "left")
    spec = Spec(enter, Door(), inputs, lambda each: [goto(Door(), after="block")] if each.blocked else [])
    bench = Bench.on_ports(spec, lines({str: "{}"}), {"p": inprocess(door)}, name="door", quiescence=0.02)

    async def run() -> Summary:
        return await Campaign(bench, Settings(out=tmp_path, traces=30, steps=40, seed=1)).run()

    [group] = virtually(run).failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps == 3
