"""A run with cached runs is, by definition, the same as one whose session is told everything, event by event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.core import Model
from otf.core.memory import Memory
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, Where, goto, on
from otf.strategy import Script
from tests.core.cached_running import Output, Run, Side, World, called_off, conduct, same
from tests.core.random_specs import Machine, Shape, System, random_machine
from tests.core.scripts import PORTS, ROUTES

Sides = Callable[[Random, Model, str, str], list[Side]]

# Random specs


def faulty(random: Random, table: Machine, often: float) -> Callable[[str], list[Output]]:
    """Return a system that answers as a machine, and now and then wrongly."""
    system, sent = System(table, random), 0

    def answer(inp: str) -> list[Output]:
        nonlocal sent
        sent += 1
        system.send(sent, inp)
        system.take(table.inputs[inp])
        if random.random() < 0.1:
            system.emit()
        found = list[Output]()
        while ports := system.unseen:
            port = random.choice(ports)
            found.append((port, system.see(port)))
        if random.random() < often:
            wrong = random.choice("xyz")
            more: Output = table.outputs[wrong], wrong
            found = random.choice([found[1:], found[:-1], [*found, more], [more, *found], [more, *found[1:]]])
        return found

    return answer


def eager(random: Random, model: Model, mode: str, relation: str) -> list[Side]:
    """Return the side without cached runs, and the one with them."""
    strategy = random.choice(["alternating", "random", "least-state", "nearest"])
    return [Side(model, quick, mode, relation, strategy) for quick in (False, True)]


def compared(seed: int, paths: int = 5, steps: int = 25, both: Sides = eager) -> Side:
    """Run the same paths both ways; return the side that took cached runs."""
    random = Random(seed)
    shape = Shape(
        unspecified=random.choice([0.0, 0.15]),
        emits=random.choice([0.0, 0.0, 0.4]),
        ambiguous=random.choice([0.0, 0.3]),
        rich=random.choice([0.0, 0.4]),
    )
    table = random_machine(random, shape)
    model = Model(table.spec(), table.routes())
    mode, relation = random.choice([("uioco", "uioco"), ("any", "any"), ("all", "uioco"), ("mixed", "any")])
    sides = both(random, model, mode, relation)
    often, broken = random.choice([0.0, 0.0, 0.02]), random.choice([0.0, 0.03])
    calling = Random(seed)
    for number in range(1, paths + 1):
        runs = list[Run]()
        for side in sides:
            chance = Random(f"{seed}/{number}")
            world = World(faulty(chance, table, often), Random(f"{seed}/{number}/times"))
            run = Run(side.session(side.choosing.path(number), steps), world, table.inputs.__getitem__)
            runs.append(conduct(side, run, lambda: calling.random() < broken))
        same(*runs)
        assert (sides[0].proven, sides[0].timing) == (sides[1].proven, sides[1].timing)
        assert sides[0].choosing.visits == sides[1].choosing.visits
    return sides[1]


@pytest.mark.parametrize("seed", range(24))
def test_runs_with_trips_are_runs_without(seed: int) -> None:
    """On random specs and systems, right and wrong: the same choices, events and verdicts, and the same session."""
    compared(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_runs_with_trips_are_runs_without(part: int) -> None:
    """The same, for a long list."""
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        compared(seed, paths=8)


def test_trips_are_taken() -> None:
    """Of what was compared, much went the quick way: else it would prove nothing."""
    sides = [compared(seed) for seed in range(60, 75)]
    assert sum(side.steps for side in sides) > 400
    assert sum(side.steps > side.cached_runs for side in sides) > 6


# What a model may say, each word of it


def words(state: int, inp: str) -> Iterable[Transition[int] | Accept]:
    """Answer on two ports, by choice, in any order, in silence, with a guard, or not at all."""
    if inp == "a":
        yield goto(state, "x", "y")
    elif inp == "b":
        yield goto(1 - state, OneOf("x", "z"))
    elif inp == "c" and state:
        yield Accept(lambda seen: [0] if seen == ("x",) else [1], "P")
        yield goto(state, "y")
    elif inp == "c":
        yield goto(state)
    elif state:
        yield goto(state, AnyOrder("x", "y", "z"))


def guards(state: int, inp: str) -> Iterable[Transition[int]]:
    """Answer with what fits, or differently in one of two states that look the same at first."""
    if inp == "a":
        yield goto(state, on("P", Where(lambda text: text in "xz")))
    elif inp == "b":
        yield goto(0, "x")
        yield goto(1, "x")
    elif inp == "c":
        yield goto(0, "x", "z" if state else "x")


def beats(_state: int, inp: str) -> Iterable[Transition[int]]:
    """Count to two, with a beat of its own in between."""
    yield goto(1, "x") if inp == "a" else goto(0, "z", "z")


def answers(name: str, inp: str, state: list[int]) -> list[Output]:
    """Return what conforming systems may answer: the one that `state` remembers is drawn from its numbers."""
    chosen, now = state[1], state[0]
    state[1] = chosen * 7 % 31
    if name == "words":
        return _words(inp, now, chosen, state)
    if name == "guards":
        state[0] = {"a": now, "b": chosen % 2, "c": 0}[inp]
        return {"a": [("P", "xz"[chosen % 2])], "b": [("P", "x")], "c": [("P", "x"), ("P", "z" if now else "x")]}[inp]
    return [("P", "x")] if inp == "a" else [("P", "z"), ("P", "z")]


def _words(inp: str, now: int, chosen: int, state: list[int]) -> list[Output]:
    if inp == "a":
        both = [("P", "x"), ("Q", "y")]
        return both[:: 1 if chosen % 2 else -1]
    if inp == "b":
        state[0] = 1 - now
        return [("P", "xz"[chosen % 2])]
    if not now:
        return []
    if inp == "d":
        several = [("P", "x"), ("Q", "y"), ("P", "z")]
        return [several[(at + chosen) % 3] for at in range(3)]
    if chosen % 3 == 0:
        return [("Q", "y")]
    state[0] = chosen % 3 - 1
    return [("P", "zxx"[2 - chosen % 3])] if chosen % 3 == 2 else [("P", "x")]


SPECS: Final = {
    "words": Spec(words, 0, ["a", "b", "c", "d"]),
    "guards": Spec(guards, 0, ["a", "b", "c"]),
    "beats": Spec(beats, 0, ["a", "b"], lambda state: [goto(0, "x")] if state else []),
}
WRONG: Final = [[], [("P", "x")], [("Q", "w")], [("P", "x"), ("P", "x")], [("Q", "y"), ("P", "z")]]


@settings(max_examples=40)
@given(
    st.sampled_from(sorted(SPECS)),
    st.text("abcd", max_size=12),
    st.integers(1, 30),
    st.integers(0, 60),
    st.sampled_from(WRONG),
    st.lists(st.integers(0, 40), max_size=3),
)
def test_each_word_of_a_model_is_judged_the_same_on_trips(
    name: str, script: str, luck: int, at: int, wrong: list[Output], breaks: list[int]
) -> None:
    """Choices, bags, guards, Accept, silence: whatever is wrong, and wherever a cached run is called off."""
    spec = SPECS[name]
    sides = [Side(Model(spec, ROUTES), each) for each in (False, True)]
    sides[1].model = sides[1].oracle.model = sides[0].model
    sent = [0]

    def world() -> World:
        state = [0, luck]

        def answer(inp: str) -> list[Output]:
            sent[0] += 1
            right = answers(name, inp, state)
            return wrong if sent[0] == at else right

        return World(answer, Random(luck))

    inputs = [inp for inp in script * 2 if inp in "".join(spec.inputs(0))]
    counts = [0, 0]
    for _ in range(3):
        runs = list[Run]()
        for number, side in enumerate(sides):
            sent[0] = counts[number]
            run = Run(side.session(Script(inputs), 100), world(), PORTS.__getitem__)
            runs.append(conduct(side, run, called_off(breaks)))
            counts[number] = sent[0]
        same(*runs)


@pytest.mark.parametrize("room", [3, 10, 30])
def test_forgetting_does_not_change_a_run(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """However little is remembered, in the midst of a cached run as well."""
    monkeypatch.setattr(Memory.__init__, "__defaults__", (room,))
    for seed in range(100, 103):
        side = compared(seed)
        assert len(side.oracle.beliefs) <= room + 1
