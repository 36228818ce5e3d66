"""What a complete suite promises: no wrong system with at most n + k states passes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import pytest

from benchmarks.machine_mutants import equal, mutated, passes, single_mutants
from otf.suite import METHODS, NumberedMachine
from otf.suite.complete import cover
from otf.suite.machine import Word
from tests.suite.machines import different, every, made, models
from tests.suite.passing import fooled

COMPLETE = [name for name, method in METHODS.items() if method.complete]


@cache
def systems() -> list[NumberedMachine]:
    """All machines of three states."""
    return list(every(3))


def paths(machine: NumberedMachine, method: str, extra: int = 0) -> list[Word]:
    """The suite of a machine."""
    return METHODS[method].make(machine, extra)[0]


def wrong(machine: NumberedMachine, words: list[Word], tried: list[NumberedMachine]) -> list[NumberedMachine]:
    """The systems that pass a suite and are not what the model says."""
    return [system for system in tried if passes(machine, system, words) and not equal(machine, system)]


def test_there_are_46656_machines_of_three_states() -> None:
    """Two inputs and two outputs: six possibilities for each of six transitions."""
    assert len(systems()) == 46_656


@pytest.mark.parametrize("method", COMPLETE)
def test_no_wrong_machine_of_three_states_passes(method: str) -> None:
    """All machines of three states against the suites of three models, drawn by lot."""
    for machine in models(3, 3):
        assert wrong(machine, paths(machine, method), systems()) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", COMPLETE)
def test_no_wrong_machine_passes_for_many_models(method: str) -> None:
    """All machines of three states against the suites of forty models of two and three states."""
    for machine in [*models(3, 30, seed=2), *models(2, 10, seed=2)]:
        extra = 3 - machine.size
        if extra == 0 or METHODS[method].extra:
            assert wrong(machine, paths(machine, method, extra), systems()) == []


@pytest.mark.parametrize("method", [name for name in COMPLETE if METHODS[name].extra])
def test_no_wrong_machine_with_an_extra_state_passes(method: str) -> None:
    """Models of two states, systems of three: with one extra state nothing passes that is wrong."""
    for machine in models(2, 3):
        assert wrong(machine, paths(machine, method, 1), systems()) == []


def test_without_the_extra_state_some_pass() -> None:
    """The number of extra states matters: a suite for two states lets wrong systems of three pass."""
    assert any(wrong(machine, paths(machine, "hsi"), systems()) for machine in models(2, 3))


@pytest.mark.parametrize("method", COMPLETE)
def test_a_suite_without_one_of_its_tests_lets_some_pass(method: str) -> None:
    """No suite is complete by being large: for each method there is a test whose loss lets a wrong machine pass."""
    machine = next(models(3, 1))
    words = paths(machine, method)
    lost = [[*words[:at], *words[at + 1 :]] for at in range(len(words))]
    assert any(wrong(machine, left, systems()) for left in lost)


@cache
def models_of(states: int) -> list[NumberedMachine]:
    """All models of so many states: other names for states, inputs and outputs make no other machine."""
    return different(states)


def _fooled(method: str, extra: int, machines: list[NumberedMachine]) -> list[NumberedMachine]:
    """The models, minimised first where they are not minimal, whose suites a wrong system passes."""
    minimal = [METHODS[method].machine(machine) for machine in machines]
    return [each for each in minimal if fooled(each, paths(each, method, extra), each.size + extra)]


def test_there_are_so_many_different_small_machines() -> None:
    """Of one, two and three states: other names for states, inputs and outputs make no other machine."""
    assert {states: len(models_of(states)) for states in (1, 2, 3)} == {1: 2, 2: 52, 3: 3_504}


@pytest.mark.parametrize("states", [1, 2, 3])
@pytest.mark.parametrize("method", COMPLETE)
def test_no_wrong_system_passes_whatever_the_model(method: str, states: int) -> None:
    """All models of one to three states, against all systems with as many states as the model, one state included."""
    assert _fooled(method, 0, models_of(states)) == []


@pytest.mark.parametrize("states", [1, 2])
@pytest.mark.parametrize("method", [name for name in COMPLETE if METHODS[name].extra])
def test_no_wrong_system_with_an_extra_state_passes_whatever_the_model(method: str, states: int) -> None:
    """All models of one and two states, against all systems with a state more; of one state with two more as well."""
    assert _fooled(method, 1, models_of(states)) == []
    assert _fooled(method, 2, models_of(1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in COMPLETE if METHODS[name].extra])
def test_no_wrong_system_of_four_states_passes_whatever_the_model(method: str) -> None:
    """No wrong system of four states passes the suite of any model of three."""
    assert _fooled(method, 1, models_of(3)) == []


def _larger_fooled(method: str, machines: list[NumberedMachine], ways: Callable[[list[Word]], list[Word]]) -> bool:
    """Whether a wrong system passes a suite for one extra state although each of its states is on one of the ways.

    They are those that the suite takes, or others, and one input more.
    """
    inputs = [(), (0,), (1,)]
    return any(
        fooled(each, paths(each, method, 1), 0, [way + more for way in ways(cover(each)) for more in inputs])
        for each in map(METHODS[method].machine, machines)
    )


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.extra and method.complete])
def test_only_wider_suites_cover_larger_systems(method: str) -> None:
    """Systems whose states the suite's ways reach, and an input more: of up to five states for models of two."""
    fooled_ = _larger_fooled(method, [*models_of(1), *models_of(2)[::10]], list)
    assert fooled_ == (method == "spy"), "the counterexample for H is larger"


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.wider])
def test_a_wider_suite_covers_larger_systems_whatever_the_model(method: str) -> None:
    """All models of two states."""
    assert not _larger_fooled(method, models_of(2), list)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.wider])
def test_another_shortest_way_is_not_the_suites(method: str) -> None:
    """Both inputs lead to the second state, the suite takes the first: a system reached by the other may be wrong."""
    machine = made([((1, 0), (1, 0)), ((0, 0), (0, 1))])
    assert cover(machine) == [(), (0,)]
    assert not _larger_fooled(method, [machine], list)
    assert _larger_fooled(method, [machine], lambda _: [(), (1,)])


def test_a_wrong_system_is_found_where_there_is_one() -> None:
    """The search for one agrees with trying all machines of three states, on whole suites and on cut ones."""
    told = set[bool]()
    for machine in models(3, 2, seed=9):
        words = paths(machine, "hsi")
        for left in [words, *([*words[:at], *words[at + 1 :]] for at in range(len(words)))]:
            found = fooled(machine, left, 3) is not None
            assert found == bool(wrong(machine, left, systems()))
            told.add(found)
    assert told == {False, True}


def _larger(states: int, number: int) -> list[NumberedMachine]:
    return list(models(states, number, seed=5, inputs=3, outputs=2))


@pytest.mark.parametrize("method", COMPLETE)
@pytest.mark.parametrize("machine", _larger(7, 2))
def test_all_single_faults_of_larger_machines_are_found(method: str, machine: NumberedMachine) -> None:
    """Seven states, three inputs: each output, each next state, and each ignored input."""
    words = paths(machine, method)
    mutants = [mutated(machine, each) for each in single_mutants(machine)]
    assert wrong(machine, words, mutants) == []


def test_many_faults_at_once_are_found() -> None:
    """A complete suite finds three faults at once, though they may hide each other."""
    random = Random(3)
    for machine in _larger(6, 2):
        faults = list(single_mutants(machine))
        mutants: list[NumberedMachine] = []
        for _ in range(500):
            mutant = machine
            for fault in random.sample(faults, 3):
                mutant = mutated(mutant, fault)
            mutants.append(mutant)
        for method in COMPLETE:
            assert wrong(machine, paths(machine, method), mutants) == []


def _grown(machine: NumberedMachine, random: Random) -> NumberedMachine:
    """A system with a state more: a copy of one, to which some transitions lead instead; then one or two are wrong."""
    size, twin = machine.size, random.randrange(machine.size)
    next_ = [list(row) for row in (*machine.next, machine.next[twin])]
    out = [list(row) for row in (*machine.out, machine.out[twin])]
    for row in next_:
        row[:] = [size if target == twin and random.random() < 0.5 else target for target in row]
    for _ in range(random.choice((1, 2))):
        state, inp = random.randrange(size + 1), random.randrange(len(machine.inputs))
        if random.random() < 0.5:
            out[state][inp] = 1 - out[state][inp]
        else:
            next_[state][inp] = random.randrange(size + 1)
    return made([tuple(zip(*rows, strict=True)) for rows in zip(next_, out, strict=True)])


@pytest.mark.parametrize("method", [name for name in COMPLETE if METHODS[name].extra])
def test_systems_with_a_hidden_state_are_found(method: str) -> None:
    """Two thousand systems that have one state more than the model, and behave as it does for a while."""
    random = Random(7)
    for machine in models(4, 2, seed=11):
        grown = [_grown(machine, random) for _ in range(1_000)]
        assert wrong(machine, paths(machine, method, 1), grown) == []


def test_some_hidden_states_are_missed_without_room_for_them() -> None:
    """Suites without room for an extra state let some hidden states pass."""
    random = Random(7)
    for machine in models(4, 2, seed=11):
        grown = [_grown(machine, random) for _ in range(1_000)]
        assert wrong(machine, paths(machine, "chain"), grown)
