"""Ways by waits: what only a chain of timers reaches is come to, and tried there."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from random import Random
from typing import Final

import pytest

from otf.core import Model, Node, Oracle, Routes, Session, Symbol, Timing
from otf.core.idling import Idling
from otf.core.pacing import Eager
from otf.core.timed_ways import TimedWays, WayStep
from otf.core.timer_waits import Timers
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Accept, Idle, Spec, Transition, goto, start, stop
from otf.strategy import Strategy
from otf.trace.events import Event, Seen, Sent

TIMING: Final = Timing(quiescence=0.006, latency=0.002, busy=0.002)
PHASES: Final = {"fill": "wash", "wash": "rinse", "rinse": "spin", "spin": "off"}
State = tuple[str, int]


def _washer(*, forgets: bool = False, phases: Mapping[str, str] = PHASES) -> Spec[State, str]:
    """Return a machine with four phases; one with the fault takes another heat while it rinses."""

    def step(state: State, inp: str) -> Iterator[Transition[State]]:
        phase, heat = state
        match inp:
            case "start" if phase == "off":
                yield goto(("fill", heat), "fill", timers=[start("phase", 0.3, 0.31)])
            case "stop" if phase != "off":
                yield goto(("off", heat), "stopped", timers=[stop("phase")])
            case "hotter" | "colder" if phase in {"off", "fill"} or (forgets and phase == "rinse"):
                heat = (heat + (1 if inp == "hotter" else 4)) % 5
                yield goto((phase, heat), f"heat {heat}")
            case _:
                yield goto(state, "refused")

    def emits(state: State) -> Iterator[Transition[State]]:
        if state[0] in phases:
            then = phases[state[0]]
            timers = [] if then == "off" else [start("phase", 0.3, 0.31)]
            yield goto((then, state[1]), then, after="phase", timers=timers)

    return Spec(step, ("off", 0), ["start", "stop", "hotter", "colder"], emits)


def _port(_value: object) -> str:
    return "p"


def _campaign(seconds: float, *, forgets: bool = False, seed: int = 1) -> tuple[bool, list[Event]]:
    """Drive paths of 50 inputs for so many seconds; return whether one failed, and all events."""
    oracle, random, events = Oracle(Model(_washer(), Routes(("p",), _port)), timing=TIMING), Random(seed), list[Event]()
    strategy, told = Strategy("alternating", "uioco", seed), dict[tuple[Hashable, ...], int]()
    idling = Idling(told, TimedWays(strategy.visits.inputs, told))
    proven, spent, number = set[Hashable](), 0.0, 0
    while spent < seconds:
        number += 1
        world = World(System(_washer(forgets=forgets), _port, random), TimeBounds(latency=0.002, busy=0.002), random)
        pacing = Eager(TIMING, proven, Timers(passed=told, between=False), idling)
        session = Session(oracle, strategy.path(number), pacing, steps=50)
        if conduct(session, world, _port, events.append).failed:
            return True, events
        spent += world.now
    return False, events


@pytest.mark.parametrize("seed", range(1, 6))
def test_what_only_a_chain_of_timers_reaches_is_tried(seed: int) -> None:
    """Any of four inputs ends or is refused in the third phase; a wrong answer there is found in eight seconds."""
    assert _campaign(8.0, forgets=True, seed=seed)[0]


def test_waits_on_ways_take_a_part_of_the_time() -> None:
    """All waits together take half of it, beyond the first ten seconds; paths left to chance seldom come there."""
    failed, events = _campaign(40.0)
    waited = sum(each.input.seconds for each in events if isinstance(each, Sent) and isinstance(each.input, Idle))
    assert not failed
    assert 15 < waited < 31
    assert sum(isinstance(each, Seen) and each.output == "spin" for each in events) > 4


def _ways(told: dict[tuple[Hashable, ...], int], tried: dict[str, int] | None = None) -> tuple[Model, TimedWays]:
    model = Model(_washer())

    class _Tried(dict[Node, dict[Symbol, int]]):
        def __missing__(self, node: Node) -> dict[Symbol, int]:
            return {model.symbol(inp): times for inp, times in (tried or {}).items()}

    return model, TimedWays(_Tried(), told)


def _legs(model: Model, ways: TimedWays, state: State) -> list[WayStep]:
    """Return the whole way from a state in which no timer runs."""
    found, node = list[WayStep](), model.node(state)
    while (leg := ways.next(model, node, {}, plans=not found)) is not None:
        ways.gone()
        found.append(leg)
        moves = model.moves(node, leg.inp) if leg.inp is not None else model.spontaneous(node)
        target = moves[0].target
        assert isinstance(target, Node)
        node = target
    return found


def test_a_way_has_inputs_and_waits() -> None:
    """To the next phase: the machine is started, its timer ends, and an input is sent."""
    model, ways = _ways({})
    assert [leg.inp and leg.inp.value for leg in _legs(model, ways, ("off", 0))][:2] == ["start", None]


def test_what_inputs_reach_needs_no_way() -> None:
    """Where each state was reached by inputs alone, there is none."""
    near: dict[tuple[Hashable, ...], int] = {
        ("near", Model(_washer()).node((phase, heat))): 1 for phase in ("off", *PHASES) for heat in range(5)
    }
    model, ways = _ways(near)
    assert _legs(model, ways, ("off", 0)) == []


def test_an_input_sent_after_the_same_end_of_a_timer_comes_later() -> None:
    """Another phase comes first, whatever the heat is."""
    told: dict[tuple[Hashable, ...], int] = {}
    model, ways = _ways(told, dict.fromkeys(["start", "stop", "hotter", "colder"], 1))
    told.update({("ended", "'wash'", model.symbol(inp)): 1 for inp in ("start", "stop", "hotter", "colder")})
    way = _legs(model, ways, ("off", 0))
    assert [leg.node.value for leg in way if leg.inp is None] == [("fill", 0), ("wash", 0)]
    assert way[-1].node.value == ("rinse", 0)


def test_of_many_inputs_none_is_planned() -> None:
    """Where more than 32 are enabled, a state is not looked at."""
    spec = _washer()
    model = Model(Spec(spec.step, spec.initial, [f"key {number}" for number in range(40)], spec.emits))
    assert TimedWays({}, {}).next(model, model.initial, {}, plans=True) is None


def test_the_timer_of_a_state_leads_on_too() -> None:
    """A window of `emits` is a timer from the entry into the state; an input back into it lets it run."""

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(1 if inp == "go" and not state else state, "ok")

    def emits(state: int) -> Iterator[Transition[int]]:
        if state == 1:
            yield goto(2, within=(0.1, 0.2))

    model = Model(Spec(step, 0, ["go"], emits))
    tried = {model.node(number): dict[Symbol, int]() for number in range(3)}
    ways = TimedWays(tried, {})
    ways.note(model, [model.node(1)], [model.node(0)], model.symbol("go"))
    leg = ways.next(model, model.node(1), {0: 0.2}, plans=True)
    assert leg == WayStep(model.node(1), None, 0, 0.2)
    assert ways.waits == 0.2
    ways.gone()
    ways.note(model, [model.node(2)], [model.node(1)], model.symbol(Idle(0.2)))
    assert ways.next(model, model.node(2), {}, plans=False) == WayStep(model.node(2), model.symbol("go"))
    ways.begin()
    assert ways.next(model, model.node(2), {}, plans=False) is None


def test_a_way_leaves_out_what_leads_to_no_known_state() -> None:
    """Inputs that are not specified, outputs that decide the next state, and a state with very many inputs."""
    late = Accept(lambda _outputs: [1], after="late")

    def step(state: int, inp: str) -> Iterator[Transition[int] | Accept]:
        if inp == "go" and not state:
            yield goto(1, timers=[start("late", 0.1, 0.2)])
        elif inp == "any":
            yield Accept(lambda _outputs: [1])

    def emits(state: int) -> Iterator[Transition[int] | Accept]:
        if state == 1:
            yield late
            yield goto(2, "late", after="late")

    def offered(state: int) -> list[str]:
        return ["no", "any", "go"] if state < 2 else [f"key {number}" for number in range(40)]

    model = Model(Spec(step, 0, offered, emits))
    tried = {model.node(number): dict[Symbol, int]() for number in range(3)}
    assert TimedWays(tried, {}).next(model, model.initial, {}, plans=True) is None
