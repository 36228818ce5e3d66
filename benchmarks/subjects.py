"""The subjects of the simulations: specs, and systems that conform to them, made with a given random source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any, Final, TypeAlias

from otf.channels import lossy
from otf.core import InputMode, Relation
from otf.models import altbit
from otf.models.absolute import ABSOLUTE
from otf.models.conference import Sizes, conference
from otf.models.conference.codec import ConferenceCodec
from otf.models.vending import VENDING, Text
from otf.simulate.system import PortChoice
from otf.spec import Accept, Spec, Transition, goto, total
from tests.core.random_specs import Going, Machine, Shape, random_machine

TICK: Final = 1 / 1000  # all times are whole numbers of ticks, so that bounds are met exactly, but for rounding
TIMER: Final = (0.3, 0.5)
CODEC: Final = ConferenceCodec(1, 3)


@dataclass(frozen=True)
class Subject:
    """A spec, its ports, and how it is tested.

    `made` is the spec that the system is made from, if it is another one; `invent` and `otherwise` are the system's.
    `busy`: R is no shorter.
    """

    spec: Spec[Any, Any]
    port: PortChoice
    outputs: tuple[str, ...]
    inputs: InputMode = "uioco"
    relation: Relation = "uioco"
    made: Spec[Any, Any] | None = None
    invent: Callable[[Any], Any] | None = None
    otherwise: Callable[[Any, Any], Iterable[Transition[Any]]] | None = None
    busy: float = 0.0


Maker: TypeAlias = Callable[[Random], Subject]


def _one_port(_value: object) -> str:
    return "line"


def _happens(random: Random, probability: float) -> bool:
    return random.random() < probability


def _completed(subject: Subject, random: Random) -> Subject:
    """Return the subject with its spec as it is, or completed with all inputs enabled."""
    mode: InputMode = random.choice(("uioco", "mixed", "all"))
    return subject if mode == "uioco" else replace(subject, spec=total(subject.spec), inputs=mode)


def _conference(random: Random) -> Subject:
    return _completed(Subject(conference(Sizes()), CODEC.port, CODEC.ports), random)


def _vending(_random: Random) -> Subject:
    return Subject(VENDING, _one_port, ("line",), invent=lambda _class: Text("please choose"))


def _absolute(random: Random) -> Subject:
    return _completed(Subject(ABSOLUTE, _one_port, ("line",)), random)


def _sender(spec: Spec[Any, Any]) -> Maker:
    return lambda random: _completed(Subject(spec, altbit.port, ("net",)), random)


def of_machine(machine: Machine, random: Random) -> Subject:
    """Return a random machine as a subject; its system does anything on an unspecified input."""
    routes = machine.routes()
    on_p = [output for output, port in machine.outputs.items() if port == "P"]

    def invent(item: object) -> object:
        if not isinstance(item, Accept):
            return random.choice(on_p)
        length = item.until if isinstance(item.until, int) else 1
        return random.choice([each for each in product(on_p, repeat=length) if item.then(each)])

    def otherwise(_state: object, _inp: object) -> list[Transition[str]]:
        return [goto(random.choice(states), *random.choices(list(machine.outputs), k=random.randint(0, 2)))]

    states = sorted({state for state, _ in machine.steps} | {machine.initial})
    assert routes.port is not None
    return Subject(machine.spec(), routes.port, routes.outputs, invent=invent, otherwise=otherwise)


def _machine(shape: Shape) -> Maker:
    return lambda random: of_machine(random_machine(random, shape), random)


def _restless(random: Random) -> Subject:
    """Return a subject that emits up to two spontaneous outputs, on ports that may differ."""
    machine = random_machine(random, Shape(emits=1.0, unspecified=random.choice((0.0, 0.15))))
    states = sorted({state for state, _ in machine.steps})

    def turns() -> tuple[Going, ...]:
        said = tuple(random.choices("xyz", k=random.randint(0, 2)))
        return (Going(random.choice(states), said),)

    spontaneous = {state: turns() for state in states if _happens(random, 0.6)}
    return of_machine(replace(machine, spontaneous=spontaneous), random)


def _gast(random: Random) -> Subject:
    """Return a subject for the relation `any`: the system keeps every choice open until an output shows it."""
    machine = random_machine(random, Shape(emits=0.0, unspecified=0.3, ambiguous=0.6))
    ports = replace(machine, inputs=dict.fromkeys(machine.inputs, "A"), outputs=dict.fromkeys(machine.outputs, "P"))
    subject = of_machine(ports, random)
    return replace(subject, relation="any", inputs="any", made=undecided(subject.spec), otherwise=None)


def undecided(spec: Spec[Any, Any]) -> Spec[Any, Any]:
    """Return the spec whose states are the sets of states that outputs cannot tell apart; no `emits`, one port.

    A system made from `spec` itself may have chosen a state that does not specify an input which another possible state
    specifies. Under the relation `any` its reaction is judged all the same.
    """

    def step(states: frozenset[Any], inp: object) -> list[Transition[Any]]:
        found: dict[tuple[object, ...], set[Any]] = {}
        for state in sorted(states):
            for way in spec.step(state, inp):
                assert isinstance(way, Transition)
                found.setdefault(way.outputs, set()).add(way.state)
        return [Transition(frozenset(then), outputs) for outputs, then in found.items()]

    return Spec(step, frozenset([spec.initial]), [])


def _timed(random: Random) -> Subject:
    """Return a random spec with windows on answers and timers; short timers lead on only, so that it comes to rest."""
    states = range(random.randint(2, 3))
    inputs = {"a": "A", "b": random.choice("AB")}
    outputs = {"x": "P", "y": random.choice("PQ"), "z": "P"}

    def answer() -> Transition[int]:
        said = random.choices("xyz", k=random.choice((0, 1, 1, 2)))
        window = _window(random, (0, 4)) if said and _happens(random, 0.4) else None
        return goto(random.choice(states), *said, within=window)

    def timers_of(state: int) -> list[Transition[int]]:
        # of timers in one state none is over before another can go off: that one would be dead
        short = _happens(random, 0.5) and state < max(states)
        start = random.randint(*((2, 30) if short else (200, 400)))
        return [timer(state, (start, start), short=short) for _ in range(random.choice((1, 1, 2)))]

    def timer(state: int, start: tuple[int, int], *, short: bool) -> Transition[int]:
        then = [each for each in states if each > state] if short else list(states)
        said = random.choices("xyz", k=random.choice((0, 1, 1, 2))) if then else ["x"]
        return goto(random.choice(then or list(states)), *said, within=_window(random, start))

    steps = {(state, inp): [answer() for _ in range(random.choice((1, 1, 2)))] for state in states for inp in inputs}
    timers = {state: timers_of(state) for state in states if _happens(random, 0.6)}
    spec = Spec(lambda state, inp: steps[state, inp], 0, list(inputs), lambda state: timers.get(state, []))
    # R covers the windows of answers, or is shorter than they are
    busy = random.choice((0.0, 8 * TICK))
    return Subject(spec, {**inputs, **outputs}.__getitem__, tuple(sorted(set(outputs.values()))), busy=busy)


def clocked(random: Random) -> Subject:
    """Return a deterministic spec: timers in all states but one, slow answers, and room to be wrong in time."""
    states = range(3)
    inputs = {"a": "A", "b": random.choice("AB")}
    outputs = {"x": "P", "y": random.choice("PQ"), "z": "P"}

    def answer(state: int) -> Transition[int]:
        said = random.choices("xyz", k=random.choice((0, 1, 1, 2)))
        window = (40 * TICK, 44 * TICK) if said and _happens(random, 0.4) else None
        return goto(random.choice([each for each in states if each != state or said]), *said, within=window)

    def timer() -> Transition[int]:
        lo = random.randint(800, 1200)
        return goto(random.choice(states), random.choice("xyz"), within=(lo * TICK, (lo + 10) * TICK))

    steps = {(state, inp): [answer(state)] for state in states for inp in inputs}
    timers = {state: [timer()] for state in states[1:]}
    spec = Spec(lambda state, inp: steps[state, inp], 0, list(inputs), lambda state: timers.get(state, []))
    return Subject(spec, {**inputs, **outputs}.__getitem__, tuple(sorted(set(outputs.values()))), busy=48 * TICK)


def _window(random: Random, start: tuple[int, int]) -> tuple[float, float]:
    lo = random.randint(*start)
    return lo * TICK, (lo + random.choice((0, 1, 4))) * TICK


SUBJECTS: Final[Mapping[str, Maker]] = {
    "conference": _conference,
    "vending": _vending,
    "absolute": _absolute,
    "altbit": _sender(altbit.sender()),
    "altbit, timed": _sender(altbit.sender(TIMER)),
    "altbit, lossy": _sender(lossy(altbit.sender(), inputs=["net"], outputs=["net"], port=altbit.port)),
    "random, deterministic": _machine(Shape(ambiguous=0.0, emits=0.0, unspecified=0.0)),
    "random, open": _machine(Shape(ambiguous=0.5, emits=0.0)),
    "random, restless": _restless,
    "random, rich": _machine(Shape(rich=0.5, emits=0.0)),
    "random, timed": _timed,
    "random, clocked": clocked,
    "random, any": _gast,
}
