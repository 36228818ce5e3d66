"""Adaptive suites: which systems pass, which faults they find, and which models are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import pytest

from otf.core import Model, Oracle
from otf.core.walk import Walk
from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.notations import table
from otf.simulate.system import acting
from otf.spec import AnyOrder, Spec, on
from otf.suite import AdaptiveSuite, adaptive
from otf.suite.adaptive import Deciding, assembled
from otf.suite.observable import Ends, Observable, observable, reaching, separating

Cell = frozenset[tuple[int, int]]
Rows = Sequence[Mapping[int, Cell]]
"""A system: for each state and input what it may answer, each with the next state; it need not be observable."""
LOOSE = {0: (0,), 1: (1,), 2: (0, 1)}
"""What may be seen of an output: 2 is either of the others."""


def made(ends: list[dict[int, Ends]], outputs: int = 2) -> Observable:
    """An observable machine whose outputs all look different."""
    inputs = 1 + max(inp for row in ends for inp in row)
    same = frozenset((each, each) for each in range(outputs))
    return Observable("small", range(len(ends)), range(inputs), ends, same)


def observables(states: int) -> Iterator[Observable]:
    """All observable machines with so many states, two inputs that are always specified, and two outputs."""
    ways = [dict(zip(range(2), row, strict=True)) for row in product([None, *range(states)], repeat=2)]
    cells: list[Ends] = [{out: to for out, to in each.items() if to is not None} for each in ways]
    for rows in product(product([each for each in cells if each], repeat=2), repeat=states):
        yield made([dict(enumerate(row)) for row in rows])


def system(model: Observable) -> list[dict[int, Cell]]:
    """A system that does all that a model allows."""
    return [{inp: frozenset(cell.items()) for inp, cell in row.items()} for row in model.ends]


def passes(suite: AdaptiveSuite, rows: Rows) -> bool:
    """Whether a system passes that shows all that it can answer to each test."""
    return all(_passes(suite, rows, test) for test in suite.tests)


def _passes(suite: AdaptiveSuite, rows: Rows, test: int) -> bool:
    left = [(test, 0, 0)]
    while left:
        decision, here, there = left.pop()
        row = suite.decisions.rows[decision]
        then, allowed = dict(row.then), suite.machine.ends[here][row.input]
        for output, to in rows[there][row.input]:
            if output not in allowed:
                return False
            if allowed[output] in then:
                left.append((then[allowed[output]], allowed[output], to))
    return True


def right(model: Observable, rows: Rows) -> bool:
    """Whether a system answers to all specified inputs as the model allows, found in the product of both."""
    seen, left = {(0, 0)}, [(0, 0)]
    while left:
        here, there = left.pop()
        for inp, allowed in model.ends[here].items():
            for output, to in rows[there][inp]:
                if output not in allowed:
                    return False
                if (pair := (allowed[output], to)) not in seen:
                    seen.add(pair)
                    left.append(pair)
    return True


def drawn(states: int, random: Random, outputs: int = 2) -> Observable:
    """A model drawn by lot; some inputs are not specified."""
    ends: list[dict[int, Ends]] = []
    for _ in range(states):
        cells = [{out: random.randrange(states) for out in random.sample(range(outputs), 1)} for _ in range(2)]
        for cell in cells:
            if random.random() < 0.4:
                cell[random.randrange(outputs)] = random.randrange(states)
        ends.append({inp: cell for inp, cell in enumerate(cells) if inp or random.random() < 0.8})
    return made(ends, outputs)


def near(model: Observable, states: int, random: Random) -> Rows:
    """A system near a model: states are copied, choices left out, some transitions go elsewhere, or are added."""
    size, rows = model.size, system(model)
    rows += [rows[random.randrange(size)] for _ in range(states - size)]
    return [{inp: _near(row.get(inp), states, random) for inp in range(2)} for row in rows]


def _near(cell: Cell | None, states: int, random: Random) -> Cell:
    moves = sorted(cell or [(random.randrange(2), random.randrange(states))])
    kept = random.sample(moves, random.randint(1, len(moves)))
    kept = [(out, to if random.random() < 0.8 else random.randrange(states)) for out, to in kept]
    if random.random() < 0.15:
        kept.append((random.randrange(2), random.randrange(states)))
    return frozenset(kept)


TWO = list(observables(2))
SYSTEMS = [system(each) for each in TWO]


def _misjudged(model: Observable) -> int:
    suite = assembled(model, "state-counting")
    return sum(passes(suite, each) != right(model, each) for each in SYSTEMS)


@pytest.mark.parametrize("number", range(0, len(TWO), 131))
def test_of_all_systems_of_two_states_the_right_ones_pass(number: int) -> None:
    """A right one always passes and a wrong one never does: 4,096 observable systems, and models out of these."""
    assert not _misjudged(TWO[number])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(64))
def test_of_all_systems_of_two_states_the_right_ones_pass_for_all_models(part: int) -> None:
    """All 16,777,216 pairs of a model and a system with two states, two inputs and two outputs."""
    assert not any(map(_misjudged, TWO[part::64]))


@pytest.mark.parametrize(("size", "extra", "models"), [(1, 1, 60), (2, 0, 60), (2, 1, 60), (3, 0, 30), (3, 1, 4)])
def test_systems_that_are_not_observable_are_judged_rightly(size: int, extra: int, models: int) -> None:
    """Models that leave inputs open, and systems near them, with as many states as the suite allows for."""
    random, told = Random(size), list[bool]()
    for _ in range(models):
        model = drawn(size, random)
        suite = assembled(model, "state-counting", extra)
        for each in (near(model, size + extra, random) for _ in range(150)):
            told.append(right(model, each))
            assert passes(suite, each) == told[-1]
    assert min(told.count(True), told.count(False)) > len(told) / 10


def _fooling(extra: int, method: str) -> int:
    """How many wrong systems of one state more than the model pass."""
    random, found = Random(5), 0
    for _ in range(40):
        model = drawn(2, random)
        suite = assembled(model, method, extra)
        systems = [near(model, 3, random) for _ in range(150)]
        found += sum(passes(suite, each) and not right(model, each) for each in systems)
    return found


def test_what_is_not_promised_is_missed() -> None:
    """A suite without room for a hidden state lets some pass, and so does one that only covers."""
    assert not _fooling(1, "state-counting")
    assert 0 < _fooling(0, "state-counting") < _fooling(0, "adaptive-cover")


def test_each_test_is_needed_by_some() -> None:
    """Without one of them some wrong system passes: of most tests of a small suite."""
    model = made([{0: {0: 1, 1: 0}, 1: {0: 0}}, {0: {0: 0}, 1: {1: 1}}])
    suite = assembled(model, "state-counting")
    wrong = [each for each in SYSTEMS if not right(model, each)]
    fooled = [replace(suite, tests=[*suite.tests[:at], *suite.tests[at + 1 :]]) for at in range(len(suite.tests))]
    assert sum(any(passes(each, rows) for rows in wrong) for each in fooled) > len(fooled) / 2


def _spread(model: Observable) -> Observable:
    """The machine of what may be seen of a model whose output 2 is either of the others."""
    return replace(
        model,
        ends=[
            {inp: {seen: to for out, to in cell.items() for seen in LOOSE[out]} for inp, cell in row.items()}
            for row in model.ends
        ],
    )


def test_outputs_that_may_look_the_same_tell_nothing() -> None:
    """A class matches each of its values, so it does not tell states apart."""
    random, told = Random(2), list[bool]()
    loose = frozenset((a, b) for a in LOOSE for b in LOOSE if set(LOOSE[a]) & set(LOOSE[b]))
    while len(told) < 6_000:
        model = replace(drawn(2, random, 3), same=loose)
        cells = [cell for row in model.ends for cell in row.values()]
        if any(cell[a] != cell[b] for cell in cells for a in cell for b in cell if (a, b) in loose):
            continue
        suite, seen = assembled(model, "state-counting"), _spread(model)
        for each in (near(seen, 2, random) for _ in range(100)):
            told.append(right(seen, each))
            assert passes(replace(suite, machine=seen), each) == told[-1]
    assert {*told} == {False, True}


def test_only_what_is_sure_counts() -> None:
    """State 1 comes or not, as the system likes. State 0 may answer like 1 or like 2, for ever; 1 and 2 cannot."""
    model = made([{0: {0: 1, 1: 2}, 1: {0: 2}}, {0: {0: 0}}, {0: {1: 2}}])
    assert {goal: way.get(0) for goal, way in reaching(model).items()} == {0: None, 2: 1}
    assert separating(model) == {(1, 2): 0, (2, 1): 0}


def test_what_is_answered_alike_may_be_told_apart_after_it() -> None:
    """Two states with the same first answer are told apart by the second."""
    model = made([{0: {0: 1}}, {0: {0: 2}}, {0: {1: 2}}])
    assert set(separating(model)) == {(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)}
    assert assembled(model, "adaptive-cover").longest == 4


TEA = table(
    [
        ("Idle", "Coin", [], "Paid"),
        ("Paid", "Button", ["tea"], "Idle"),
        ("Paid", "Button", ["sorry"], "Stuck"),
        ("Stuck", "Button", ["tea"], "Idle"),
        ("Idle", "Button", [], "Idle"),
    ],
    name="moody",
)
"""A machine that gives tea at once or at the second press, as it likes."""


def judged(system_: Spec[Any, Any], seed: int, runs: int = 20) -> set[str]:
    """The verdicts of the suite of the machine, run against what does all that another model allows."""
    graph = explore(TEA)
    suite = adaptive(graph, runs=runs)
    numbers = {place: number for number, place in enumerate(graph.states)}
    oracle, make = Oracle(Model(TEA)), acting(system_, seed=seed)
    return {
        (walk.chosen(Deciding(suite, numbers, test), 100) or walk.end()).outcome
        for test in suite.tests
        for walk in (Walk(oracle, make()) for _ in range(runs))
    }


@pytest.mark.parametrize("seed", range(20))
def test_a_correct_system_that_chooses_passes_always(seed: int) -> None:
    """A correct system passes every run of every test, whatever it chooses."""
    assert judged(TEA, seed) == {"pass"}


def wrong(*lines: tuple[str, str, list[str], str]) -> Spec[Any, Any]:
    """The machine with other lines for what begins like them."""
    rest: list[tuple[str, str, list[str], str]] = [
        ("Idle", "Coin", [], "Paid"),
        ("Paid", "Button", ["tea"], "Idle"),
        ("Paid", "Button", ["sorry"], "Stuck"),
    ]
    return table([*rest, *lines], name="wrong")


def test_a_system_that_is_wrong_after_a_choice_is_found() -> None:
    """After the second press it is paid for once more: only a test that follows it there sees that."""
    never_idle = wrong(("Stuck", "Button", ["tea"], "Paid"), ("Idle", "Button", [], "Idle"))
    assert "fail" in judged(never_idle, 1)


def test_what_is_never_shown_is_never_judged() -> None:
    """The assumption is needed: one run of each test, in which it was not moody, and the wrong system passes."""
    never_idle = wrong(("Stuck", "Button", ["tea"], "Paid"), ("Idle", "Button", [], "Idle"))
    once = [judged(never_idle, seed, runs=1) for seed in range(20)]
    assert {"pass"} in once
    assert {"pass", "fail"} in once


def test_what_passing_is_worth_is_told() -> None:
    """The number of states and of runs, the assumption by its name, and what of the model is sure."""
    suite = adaptive(explore(TEA), extra=1, runs=7)
    size, sure, worth = str(suite).splitlines()
    number = len(suite.tests)
    assert size == f"moody: {number} adaptive tests by the method state-counting, each run 7 times, of 3 states"
    assert sure == "2 of 3 states can be reached whatever the system chooses, 2 of 3 pairs of states told apart"
    assert worth == (
        "passed for every implementation with at most 4 states, on the specified inputs, if it is reset before each "
        "run, and every answer to a test that it can give was seen when the test was run 7 times (the complete testing "
        "assumption: no number of runs can prove it)"
    )
    cover = adaptive(explore(TEA), "adaptive-cover", runs=1)
    assert "each run once, of 3 states" in str(cover)
    assert "each specified input correctly in 2 of 3 states, if it is reset" in cover.guarantee
    assert cover.guarantee.endswith("this does not prove it correct")
    assert (cover.name, cover.longest, cover.steps) == ("moody", 3, 5)


UNCLEAR: list[tuple[list[Any], str]] = [
    ([("A", "a", [], "A"), ("A", "a", [], "B")], "not observable: in 'A', 'a' may lead to 'A' and to 'B'"),
    ([("A", "a", ["x"], "A"), ("A", "a", [str], "B")], "outputs that look the same"),
    ([("A", "a", [AnyOrder("x", "y")], "A"), ("A", "a", ["x", "y"], "B")], "outputs that look the same"),
    (
        [("A", "a", [on("p", "x"), on("q", "y")], "A"), ("A", "a", [on("q", "y"), on("p", "x")], "B")],
        "look the same",
    ),
]


@pytest.mark.parametrize(("lines", "said"), UNCLEAR)
def test_a_model_whose_outputs_do_not_tell_the_state_is_refused(lines: list[Any], said: str) -> None:
    """A model that is not observable is refused; the error names the state, the input and both next states."""
    with pytest.raises(UsageError, match=said):
        adaptive(explore(table(lines)))


def test_ports_and_classes_tell_outputs_apart() -> None:
    """Different ports and different values make outputs observable."""
    lines: list[Any] = [
        ("A", "a", [on("p", "x")], "A"),
        ("A", "a", [on("q", AnyOrder("x", on("p", "z")))], "C"),
        ("A", "a", [on("q", "x")], "B"),
        ("A", "a", [int], "D"),
    ]
    assert observable(explore(table(lines))).size == 4


def test_a_suite_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite is refused if it is too large: ten states that cannot be told apart, or hundreds to compare."""
    monkeypatch.setattr("otf.suite.observable.MOST", 10_000)
    ring: list[Any] = [(each, "a", ["x"], (each + 1) % 10) for each in range(10)]
    with pytest.raises(UsageError, match=r"more than 10,000 things to try .* or take adaptive-cover"):
        adaptive(explore(table([*ring, *((each, "b", ["x"], 0) for each in range(10))])))
    many: list[Any] = [(each, "a", ["x"], each + 1) for each in range(200)]
    with pytest.raises(UsageError, match="or to compare"):
        adaptive(explore(table(many)), "adaptive-cover")


@pytest.mark.parametrize(
    ("method", "extra", "runs", "said"),
    [
        ("state-count", 0, 1, "did you mean state-counting"),
        ("???", 0, 1, "there are state-counting, adaptive-cover"),
        ("adaptive-cover", 1, 1, "state-counting is the only adaptive method that takes more"),
        ("state-counting", -1, 1, "0 or more is needed"),
        ("state-counting", 0, 0, "at least 1 is needed"),
    ],
)
def test_what_cannot_be_asked_for_is_told(method: str, extra: int, runs: int, said: str) -> None:
    """The error for wrong arguments says what is possible."""
    with pytest.raises(UsageError, match=said):
        adaptive(explore(TEA), method, extra, runs)


def test_a_test_ends_where_it_knows_no_further() -> None:
    """A state that it has no decision for, or an input that is left open; a state that is not known is an error."""
    graph = explore(TEA)
    suite = adaptive(graph)
    numbers = {place: number for number, place in enumerate(graph.states)}
    walk = Walk(Oracle(Model(TEA)), acting(TEA)())
    assert walk.chosen(Deciding(suite, dict.fromkeys(numbers, 2), suite.tests[0]), 9) == walk.end()
    open_ = suite.decisions.add(0, [(1, suite.decisions.add(0, []))])
    assert walk.chosen(Deciding(suite, numbers, open_), 9) == walk.end()
    assert len(walk.history) == 1
    with pytest.raises(ModelError, match=r"do not determine its state \('Paid'\)"):
        walk.chosen(Deciding(suite, {}, open_), 9)
