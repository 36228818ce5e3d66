"""Shrinking where a model has timers: the last inputs alone come first, and ways through timers last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import anyio

from otf.adapter import Bench
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Shrinker, Shrunk
from otf.campaign.pace import Pace
from otf.campaign.paths import PathRun
from otf.campaign.settings import Budget, Settings, header
from otf.codec import lines
from otf.core.timer_waits import Timers
from otf.spec import Idle, Spec, Transition, goto, start
from otf.strategy import Script
from otf.trace.events import Sent
from tests.runner.playing import virtually

RING = [start("ring", 0.15, 0.25)]
INPUTS = ("call", "look", "save", "wipe", "nop")


class Phone(NamedTuple):
    """A phone: how often the call that comes in has rung (0: there is none), the calls it missed, what it has saved."""

    rings: int = 0
    missed: int = 0
    saved: int = 0


def step(state: Phone, inp: str) -> Iterator[Transition[Phone]]:
    """Answer; a call rings until it counts as missed."""
    match inp:
        case "call" if not state.rings:
            yield goto(state._replace(rings=1), "ok", timers=RING)
        case "look":
            yield goto(state, f"missed {state.missed}")
        case "save":
            yield goto(state._replace(saved=state.saved + 1), "saved")
        case "wipe":
            yield goto(state._replace(saved=0), "wiped")
        case _:
            yield goto(state, "no")


def emits(state: Phone) -> Iterator[Transition[Phone]]:
    """Ring twice; the third time the call is missed."""
    if state.rings == 3:
        yield goto(state._replace(rings=0, missed=state.missed + 1), "missed", after="ring")
    elif state.rings:
        yield goto(state._replace(rings=state.rings + 1), "ring", after="ring", timers=RING)


def phone() -> Callable[[bytes], list[Reply]]:
    """Return a phone that saves nothing more once it has saved twice since the last wipe."""
    over, missed, saved = 0.0, 0, 0

    def act(frame: bytes) -> list[Reply]:
        nonlocal over, missed, saved
        now = anyio.current_time()
        match frame:
            case b"call" if now >= over:
                over = now + 0.6
                missed += 1
                return [b"ok", (0.2, b"ring"), (0.4, b"ring"), (0.6, b"missed")]
            case b"look":
                return [b"missed %d" % (missed - (now < over))]
            case b"save":
                saved += 1
                return [b"saved" if saved < 3 else b"full"]
            case b"wipe":
                saved = 0
                return [b"wiped"]
            case _:
                return [b"no"]

    return act


BENCH = Bench.on_ports(
    Spec(step, Phone(), INPUTS, emits), lines({str: "{}"}), {"p": inprocess(phone)}, name="phone", quiescence=0.05
)
LONG = [
    "save",
    "save",
    "wipe",
    "nop",
    "call",
    "look",
    "nop",
    "call",
    "nop",
    "look",
    "save",
    "wipe",
    "nop",
    "look",
    "save",
    "call",
    "nop",
    "look",
    "save",
    "nop",
    "look",
    "save",
]


def test_the_last_inputs_need_no_way(tmp_path: Path) -> None:
    """Each state of the run has missed more calls than the start, and only time leads there: nobody waits for that.

    With the shortest ways to those states the search took 906 inputs and 41 s, and ended with 35 inputs of 24.
    """

    async def shrunk() -> Shrunk:
        oracle, head = BENCH.oracle(), header(BENCH, Settings(out=tmp_path), 1)
        pacing = Pace("strict", 1, BENCH.timing, timers=Timers(last=True)).pacing()
        run = PathRun(BENCH, oracle, replace(head, mode="strict"), tmp_path / "path-0001.jsonl")
        failing = await run.run(Script(LONG), len(LONG), pacing)
        assert failing.verdict.failed
        return await Shrinker(bench=BENCH, oracle=oracle, header=head, budget=Budget(seconds=20.0)).run(failing)

    found = virtually(shrunk)
    assert (found.steps, found.minimal) == (3, True)
    assert found.transitions < 100


def lend(where: str, inp: str) -> Iterator[Transition[str]]:
    """Lend a thing for a while."""
    if inp == "look":
        yield goto(where, where)
    elif where == "here":
        yield goto("lent", "ok", timers=[start("lease", 0.4, 0.6)])


def lent(where: str) -> Iterator[Transition[str]]:
    """Take it back without a word."""
    if where == "lent":
        yield goto("here", after="lease")


def shop(leases: Iterator[float]) -> Callable[[bytes], list[Reply]]:
    """Return a shop that loses what comes back."""
    lease, until = next(leases), 0.0

    def act(frame: bytes) -> list[Reply]:
        nonlocal until
        now = anyio.current_time()
        if frame == b"take":
            until = now + lease
            return [b"ok"]
        return [b"lent" if now < until else b"lost" if until else b"here"]

    return act


def test_a_wait_is_long_enough_to_show_the_failure_each_time(tmp_path: Path) -> None:
    """In the path, the wait may have begun long after the timer; in the shortest one, it would end before by chance."""
    leases = cycle([0.45, 0.55])
    ports = {"p": inprocess(lambda: shop(leases))}
    spec = Spec(lend, "here", ["take", "look"], lent)
    bench = Bench.on_ports(spec, lines({str: "{}"}), ports, name="shop", quiescence=0.02)

    async def shrunk() -> Shrunk:
        oracle, head = bench.oracle(), header(bench, Settings(out=tmp_path), 1)
        run = PathRun(bench, oracle, replace(head, mode="strict"), tmp_path / "path-0001.jsonl")
        pacing = Pace("strict", 1, bench.timing, timers=Timers(last=True)).pacing()
        failing = await run.run(Script(["take", Idle(0.5), "look"]), 3, pacing)
        assert failing.verdict.failed
        return await Shrinker(bench=bench, oracle=oracle, header=head, budget=Budget(seconds=60.0)).run(failing)

    found = virtually(shrunk)
    assert [event.input for event in found.events if isinstance(event, Sent)] == ["take", Idle(1.0), "look"]
    assert found.rate == 1
