"""Simulated worlds: FIFO ports, latencies within their bounds, one input after another; virtual time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

import pytest

from benchmarks.unreliable import Net, UnreliableWorld
from otf.simulate import System, TimeBounds, World
from otf.simulate.world import Chance
from otf.spec import Spec, Transition, goto, on

L, R = 0.25, 0.5
CHANCES: tuple[Chance, ...] = ("uniform", "extreme", "lopsided")


class Heard(NamedTuple):
    """An output, its port, and when it came."""

    output: str
    port: str
    at: float


def _echo(state: int, inp: str) -> list[Transition[int]]:
    """Answer the n-th input on its own port."""
    return [goto(state + 1, on(inp[0], f"{inp} {state}"))]


ECHO: Spec[int, str] = Spec(_echo, 0, [])


def world(seed: int, spec: Spec[Any, Any] = ECHO, chance: Chance = "uniform", *, choosy: bool = False) -> World:
    """Return a world of this spec."""
    random = Random(seed)
    return World(System(spec, lambda value: value[0], random), TimeBounds(L, R, chance=chance), random, choosy=choosy)


def heard(there: World, *inputs: str, until: float = 60.0) -> list[Heard]:
    """Send inputs at once, each on the port of its first letter, and return the outputs."""
    for inp in inputs:
        there.send(inp, inp[0])
    found = list[Heard]()
    while there.now < until:
        there.advance(until)
        found += [Heard(str(event.output), event.port, event.at) for event in there.arrived]
        there.arrived.clear()
    return found


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("seed", range(20))
def test_messages_keep_their_order_on_a_port_and_come_in_time(seed: int, chance: Chance) -> None:
    """Four inputs on two ports: each is answered, in the order of its port, within 2L + 4R."""
    seen = heard(world(seed, chance=chance, choosy=True), "A1", "B1", "A2", "B2")
    assert [event.output[:2] for event in seen if event.port == "A"] == ["A1", "A2"]
    assert [event.output[:2] for event in seen if event.port == "B"] == ["B1", "B2"]
    assert all(event.at <= 2 * L + 4 * R for event in seen)


def test_inputs_on_different_ports_overtake_each_other() -> None:
    """Which of two is taken first is a matter of chance."""
    first = {
        next(event.output for event in heard(world(seed), "A1", "B1") if " 0" in event.output) for seed in range(50)
    }
    assert first == {"A1 0", "B1 0"}


@pytest.mark.parametrize("choosy", [False, True])
def test_what_waits_longest_is_taken_next_unless_the_system_is_choosy(choosy: bool) -> None:
    """A2 and A3 wait when B1 comes, much later: it is taken after them, or whenever it pleases."""
    turns = set[str]()
    for seed in range(50):
        there = world(seed, choosy=choosy, chance="extreme")
        there.bounds = TimeBounds(0.0, R, chance="extreme")
        for inp in ("A1", "A2", "A3"):
            there.send(inp, "A")
        there.advance(0.01)
        before = [*there.arrived]
        there.arrived.clear()
        if not before:
            turns |= {event.output[-1] for event in heard(there, "B1") if event.port == "B"}
    assert turns == ({"3"} if not choosy else {"1", "2", "3"})


def test_an_input_that_changes_nothing_may_let_a_timer_run_on() -> None:
    """A timer of a second, asked every 0.6 s: set anew each time it never goes off."""
    spec = Spec[int, str](
        lambda state, _inp: [goto(state)], 0, [], lambda s: [goto(s, on("A", "tick"), within=(1.0, 1.0))]
    )
    ticks = dict[bool, int]()
    for ignoring in (True, False):
        there = world(1, spec)
        there.ignoring = ignoring
        there.bounds = TimeBounds(0.0, 0.0)
        ticks[ignoring] = 0
        for turn in range(10):
            ticks[ignoring] += len(heard(there, "A", until=0.6 * (turn + 1)))
    assert ticks == {True: 6, False: 0}


def _ticking(state: int) -> list[Transition[int]]:
    """Tick every second, and end between 2.5 and 2.75 s."""
    tick = goto(state, on("A", "tick"), within=(1.0, 1.0))
    return [tick, goto(state + 1, on("A", "end"), within=(2.5, 2.75))] if state == 0 else []


def test_a_cyclic_message_may_let_other_timers_run_on() -> None:
    """It is set anew itself; whether the others are is a matter of chance where timers waver, and else they are."""
    spec = Spec[int, str](lambda state, _inp: [goto(state)], 0, [], _ticking)
    stories = dict[bool, set[tuple[str, ...]]]()
    for wavering in (True, False):
        stories[wavering] = set()
        for seed in range(50):
            there = world(seed, spec)
            there.bounds = TimeBounds(0.0, 0.0)
            there.wavering = wavering
            seen = heard(there, until=3.5)
            assert [each.at for each in seen if each.output == "tick"] == [1.0, 2.0, 3.0][: len(seen)] or wavering
            stories[wavering].add(tuple(each.output for each in seen))
    assert stories[False] == {("tick", "tick", "tick")}
    assert ("tick", "tick", "end") in stories[True]
    assert ("tick", "tick", "tick") in stories[True]


def test_a_window_without_an_end_is_met_some_time() -> None:
    """Not before it begins, and after pauses that are drawn."""
    spec = Spec[int, str](
        lambda state, _inp: [goto(state)], 0, [], lambda s: [goto(s, on("A", "tick"), within=(1.0, float("inf")))]
    )
    for chance in CHANCES:
        times = [0.0, *(each.at for each in heard(world(1, spec, chance)))]
        pauses = [after - before for before, after in pairwise(times)]
        assert len(pauses) > 20
        assert all(pause >= 1.0 - L for pause in pauses)


def test_the_initial_state_may_have_been_entered_before() -> None:
    """If timers waver, an output due a second later comes at any time in the first second."""
    spec = Spec[int, str](
        lambda state, _inp: [goto(state)],
        0,
        [],
        lambda s: [goto(1, on("A", "up"), within=(1.0, 1.0))] if s == 0 else [],
    )
    moments = set[float]()
    for seed in range(50):
        random = Random(seed)
        system = System(spec, lambda value: value[0], random)
        there = World(system, TimeBounds(0.0, 0.0), random, wavering=seed % 2 == 0)
        (up,) = heard(there)
        assert 0.0 <= up.at <= 1.0
        assert up.at == 1.0 or seed % 2 == 0
        moments.add(up.at)
    assert len(moments) > 20


def test_only_outputs_on_one_port_have_an_order() -> None:
    """Of an answer on two ports either may be emitted first."""
    answer = goto(0, on("A", "x"), on("A", "y"), on("B", "z"))
    spec = Spec[int, str](lambda _state, _inp: [answer], 0, [])
    orders = set[str]()
    for seed in range(50):
        there = world(seed, spec)
        there.bounds = TimeBounds(0.0, R)
        orders.add("".join(each.output for each in heard(there, "A")))
    assert orders == {"xyz", "xzy", "zxy"}


def through(seed: int, net: Net, *inputs: str) -> list[str]:
    """Return what is heard through a net, by the inputs that are answered."""
    random = Random(seed)
    system = System(ECHO, lambda value: value[0], random)
    there = UnreliableWorld(system, TimeBounds(L, R), random, choosy=True, net=net)
    return [event.output[:2] for event in heard(there, *inputs)]


@pytest.mark.parametrize(
    ("net", "least", "most"),
    [(Net(), 3, 3), (Net(lose=0.5), 0, 3), (Net(copy=0.5), 3, 6), (Net(hold=0.5), 3, 3)],
)
def test_a_net_loses_doubles_and_holds_up(net: Net, least: int, most: int) -> None:
    """On the ports that are named, and on no other."""
    for there in (replace(net, inputs=frozenset("A")), replace(net, outputs=frozenset("A"))):
        lengths = {len(through(seed, there, "A1", "A2", "A3")) for seed in range(100)}
        assert (min(lengths), max(lengths)) == (least, most)
        assert {len(through(seed, there, "B1", "B2", "B3")) for seed in range(20)} == {3}


def test_what_is_held_up_is_overtaken() -> None:
    """Two on one port, in either order."""
    orders = {tuple(through(seed, Net(frozenset("A"), hold=0.5), "A1", "A2")) for seed in range(40)}
    assert orders == {("A1", "A2"), ("A2", "A1")}
