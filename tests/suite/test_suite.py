"""Suites by method: their texts before anything runs, and the models that are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from benchmarks.machine_mutants import equal
from otf.errors import UsageError
from otf.explore import explore
from otf.models.coffee import coffee
from otf.models.conference import Sizes, conference
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, Where, goto, on
from otf.suite import METHODS, NumberedMachine, adaptive, complete_machine, machine, minimise, suite
from otf.suite.identify import Choice, Splitting, distinguishing, experiment, uio
from tests.suite.machines import made, models

Answers = dict[tuple[int, str], Any]


def table(answers: Answers, emits: Callable[[int], Any] | None = None) -> Spec[int, str]:
    """A spec from a table."""

    def step(state: int, inp: str) -> Iterator[Transition[int] | Accept]:
        yield from answers.get((state, inp), [])

    return Spec(step, 0, sorted({inp for _, inp in answers}), emits, name="table")


SWITCH = table({(0, "a"): [goto(1, "on")], (1, "a"): [goto(0, "off")], (1, "b"): [goto(2, "on")], (2, "a"): [goto(0)]})


def test_size_steps_and_guarantee_are_told_first() -> None:
    """A suite states its size, how the machine differs from the model, and its guarantee."""
    made_ = suite(conference(Sizes(2, 2, 2, 2)), "chain")
    size = f"{len(made_.words)} paths, {made_.steps:,} steps by the method chain"
    assert str(made_).splitlines() == [
        f"conference: {size}, of 13 states and 377 transitions",
        "completed: 297 unspecified inputs are expected to be ignored",
        "passed for every implementation with at most 13 states, if it is deterministic, and reset before each path",
    ]
    assert (made_.steps, made_.longest) == (sum(map(len, made_.paths)), max(map(len, made_.paths)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("reset_cost", [0.0, 1.0, 50.0])
def test_auto_is_the_shortest(seed: int, reset_cost: float) -> None:
    """Of chain, SPY, HSI and H; what a reset costs may decide between them."""
    graph = explore(table(_random(seed)))
    found = suite(graph, "auto", reset_cost=reset_cost)
    costs = {method: suite(graph, method).cost(reset_cost) for method in ("chain", "spy", "hsi", "h")}
    assert found.cost(reset_cost) == min(costs.values()) == costs[found.method]


def test_auto_takes_more_states_too() -> None:
    """Of the methods that do: chain takes none."""
    assert suite(coffee, "auto", 1).method in {"spy", "hsi", "h"}


def test_a_reset_costs_no_less_than_nothing() -> None:
    """Nor endlessly much."""
    for cost in (-1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError, match="reset cost"):
            suite(coffee, "auto", reset_cost=cost)


def _random(seed: int) -> Answers:
    chance = Random(seed)
    return {
        (state, inp): [goto(chance.randrange(6), chance.choice("xy"))] for state in range(6) for inp in ("a", "b", "c")
    }


@pytest.mark.parametrize(("method", "wider"), [("w", True), ("wp", True), ("hsi", True), ("h", False), ("spy", False)])
def test_a_suite_says_for_which_larger_systems_it_is_complete(method: str, wider: bool) -> None:
    """W, Wp and HSI are k-A-complete; H and SPY are not."""
    said = suite(coffee, method, 1).guarantee
    assert ("and at most 1 input more" in said, "not for larger ones" in said) == (wider, not wider)
    assert "larger" not in suite(coffee, method).guarantee, "for k = 0 there is none"


def test_extra_states_are_part_of_the_guarantee() -> None:
    """The guarantee names the number of states with the extra ones."""
    assert "at most 5 states" in suite(coffee, "hsi", 2).guarantee


def test_a_cover_promises_no_more_than_it_does() -> None:
    """The guarantee of a cover makes no claim about a number of states."""
    assert suite(coffee, "tour").guarantee.startswith("a system that passes has taken every specified transition")
    assert "2 of 3 states have no UIO: they are reached but not checked" in suite(coffee, "uio").notes


def test_paths_are_inputs() -> None:
    """Paths hold the input values of the spec."""
    assert {inp for path in suite(coffee, "tour").paths for inp in path} == set(coffee.inputs(0))


def test_states_that_nothing_tells_apart_become_one() -> None:
    """States that no inputs tell apart become one, and a note says so."""
    twice = table({(0, "a"): [goto(1, "x")], (1, "a"): [goto(2, "x")], (2, "a"): [goto(0, "x")]})
    assert suite(twice, "hsi").notes == ("minimised: 3 states became 1, since nothing can tell the others apart",)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_every_small_machine(method: str) -> None:
    """Every method makes a suite for every small machine."""
    small = Spec(
        conference(Sizes(2, 1, 1, 1)).step, conference(Sizes(2, 1, 1, 1)).initial, conference(Sizes(2, 1, 1, 1)).inputs
    )
    assert suite(small, method).steps >= 9


def test_an_unknown_method_gets_the_nearest() -> None:
    """The error for an unknown method names the nearest one; extra states are refused where they make no sense."""
    for method, extra, said in [
        ("hsu", 0, "did you mean hsi"),
        ("???", 0, "there are a2"),
        ("tour", 1, "these do: w, wp"),
    ]:
        with pytest.raises(UsageError, match=said):
            suite(coffee, method, extra)
    with pytest.raises(UsageError, match="extra=-1"):
        suite(coffee, "w", -1)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (table({(0, "a"): [goto(1), goto(2)]}), "nondeterministic: in 0 there are several transitions on 'a'"),
        (table({(0, "a"): [goto(0, OneOf("x", "y"))]}), "nondeterministic"),
        (table({(0, "a"): [Accept(lambda seen: seen)]}), "depend on the outputs seen"),
        (table({(0, "a"): [goto(0)]}, lambda _state: [goto(0, "tick")]), "has spontaneous outputs"),
        (
            Spec(lambda state, _inp: [goto(state + 1)], 0, ["a"], name="endless"),
            "endless has more states than were explored",
        ),
    ],
)
def test_what_has_no_suite_is_told_why(spec: Spec[Any, Any], said: str) -> None:
    """A model without a suite is refused, with the reason and what to do instead."""
    with pytest.raises(UsageError, match=said):
        suite(explore(spec, 100), "tour")


def test_a_machine_that_is_not_minimal_cannot_be_split() -> None:
    """The error for a machine that is not minimal names the two states."""
    with pytest.raises(UsageError, match="no inputs can tell 0 and 1 apart"):
        Splitting(made([((1, 0),), ((0, 0),)]))


def labels(*said: Any) -> list[int]:  # noqa: ANN401 -- outputs, or one item of them
    """The numbers of what a machine says, one after the other in a ring."""
    outputs: list[tuple[Any, ...]] = [each if isinstance(each, tuple) else (each,) for each in said]
    ring = table({(at, "a"): [goto((at + 1) % len(said), *each)] for at, each in enumerate(outputs)})
    explored = machine(explore(ring))
    return [explored.out[state][0] for state in range(len(said))]


def test_outputs_that_cannot_be_told_apart_tell_no_states_apart() -> None:
    """Any text may look like "xy", a number may not; a test may match anything."""
    text, xy, number = labels(str, "xy", 7)
    assert text == xy != number
    text, test, number = labels(str, Where(lambda text: text > "x"), 7)
    assert text == test == number
    assert len(set(labels(on("p", str), "xy", AnyOrder("a", "b")))) == 2


def test_that_is_said() -> None:
    """A note of the suite says that vague outputs are not used to tell states apart."""
    vague = table({(0, "a"): [goto(1, str)], (1, "a"): [goto(0, "x")], (0, "b"): [goto(0, "y")], (1, "b"): [goto(1)]})
    assert any("not used to tell states apart" in note for note in suite(vague, "hsi").notes)


def test_an_order_that_nothing_shows_tells_no_states_apart() -> None:
    """That of a bag, that of several ports, and that of values whose ports the bench alone knows."""
    assert len(set(labels(AnyOrder("x", "y"), ("x", "y"), ("y", "x"), AnyOrder("x", on("p", "y"))))) == 1
    p, q = on("p", "x"), on("q", "x")
    assert len(set(labels((p, q), (q, p), p, q, (p, p)))) == 4


@pytest.mark.parametrize(
    "unclear",
    [
        table({(0, "a"): [goto(1, str)], (1, "a"): [goto(0, "xy")]}),
        table({(0, "a"): [goto(1, AnyOrder("x", "y"))], (1, "a"): [goto(0, "x", "y")]}),
        table({(0, "a"): [goto(1, "x", "y"), goto(1, "y", "x")], (1, "a"): [goto(0, "y", "x")]}),
    ],
)
def test_states_that_are_not_the_same_never_become_one(unclear: Spec[Any, Any]) -> None:
    """A system that always answers as the wider one allows would pass in the place of the other."""
    with pytest.raises(UsageError, match="0 and 1 allow outputs that differ and may look the same; no list of inputs"):
        suite(unclear, "hsi")
    assert suite(unclear, "tour").steps == 2
    assert "at most 2 states" in adaptive(explore(unclear)).guarantee


def test_a_check_looks_where_states_surely_differ() -> None:
    """Not at what may look the same: `b` tells the two apart, and follows each transition."""
    order = table(
        {
            (0, "a"): [goto(1, AnyOrder("x", "y"))],
            (1, "a"): [goto(0, "x", "y")],
            (0, "b"): [goto(0, "0")],
            (1, "b"): [goto(1, "1")],
        }
    )
    assert {path[-1] for path in suite(order, "hsi").paths} == {"b"}


def test_bags_are_the_same_in_any_order() -> None:
    """One output in any order is that output, and none is no output."""
    bags = table(
        {
            (0, "a"): [goto(1, AnyOrder("x", "y"))],
            (1, "a"): [goto(2, AnyOrder("y", "x"))],
            (2, "a"): [goto(3, AnyOrder("x"))],
            (3, "a"): [goto(4, "x")],
            (4, "a"): [goto(5, AnyOrder())],
            (5, "a"): [goto(6, AnyOrder(str, "x"))],
            (6, "a"): [goto(0, on("p", str))],
        }
    )
    explored = machine(explore(bags))
    one, same, x, also, silent, *_ = (explored.out[state][0] for state in range(7))
    assert (one, x, silent) == (same, also, explored.silent)


def test_completed_machines_are_left_alone() -> None:
    """Completing a complete machine changes nothing."""
    whole = complete_machine(machine(explore(SWITCH)))
    assert complete_machine(whole) is whole
    assert minimise(whole) is whole


def outputs(model: NumberedMachine, word: tuple[int, ...]) -> list[tuple[int, ...]]:
    """What each state answers to a word."""
    return [tuple(model.run(word, state)[0]) for state in range(model.size)]


@pytest.mark.parametrize("model", list(models(4, 8, seed=9, outputs=3)))
def test_words_that_identify_do(model: NumberedMachine) -> None:
    """A UIO is answered by its state alone; a distinguishing sequence by each state in its own way, adaptive or not."""
    for state in range(4):
        word = uio(model, state, [each for each in range(4) if each != state])
        if word is not None:
            assert outputs(model, word).count(outputs(model, word)[state]) == 1
    fixed = distinguishing(model)
    if fixed is not None:
        assert len(set(outputs(model, fixed))) == 4
        assert experiment(model) is not None


def test_some_machines_have_no_such_words() -> None:
    """Each of two inputs takes two states to the same place with the same output: no word may begin with either."""
    merging = made([((1, 0), (2, 0)), ((0, 1), (2, 0)), ((1, 0), (0, 1))])
    assert distinguishing(merging) is None
    assert experiment(merging) is None
    for method in ("ds", "ads"):
        with pytest.raises(UsageError, match="was found; try"):
            METHODS[method].make(merging, 0)
    assert METHODS["chain"].make(merging, 0)[0]


def test_a2_refuses_what_has_no_end() -> None:
    """A2 is refused if it gives more than 100,000 paths."""
    with pytest.raises(UsageError, match="tour covers every transition with one"):
        suite(conference(Sizes(2, 2, 2, 2)), "a2")


def test_an_experiment_may_begin_with_an_input_that_tells_nothing() -> None:
    """A ring with one odd state: far ones have to be turned nearer first, until one of them is seen."""
    ring = made([((1, 0), (0, 1)), ((2, 0), (1, 0)), ((3, 0), (2, 0)), ((0, 0), (3, 0))])
    root = experiment(ring)
    assert root is not None
    assert {len(word) for word in _words(root)} != {1}
    fixed = distinguishing(ring)
    assert fixed is not None
    assert len(set(outputs(ring, fixed))) == 4


def _words(node: Choice) -> list[tuple[int, ...]]:
    return [node.word, *(word for below in node.then.values() for word in _words(below))]


def test_a_state_that_nothing_leads_to_has_no_suite() -> None:
    """A machine with a state that cannot be reached has no suite; the error names the state."""
    lonely = made([((0, 0), (0, 1)), ((0, 1), (1, 1))])
    with pytest.raises(UsageError, match="no inputs lead to 1; leave that state out"):
        METHODS["hsi"].make(lonely, 0)


def test_faults_that_show_late_are_no_equals() -> None:
    """Two machines are different if they differ in their third output only."""
    right = made([((1, 0),), ((2, 0),), ((2, 1),)])
    assert not equal(right, made([((1, 0),), ((2, 0),), ((0, 0),)]))
    assert equal(right, right)
