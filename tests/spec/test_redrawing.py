"""Values of a Hypothesis strategy: each path of a campaign draws its own, as Hypothesis generates them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from otf.channels import duplicating
from otf.core import Model, Oracle
from otf.spec import Spec, Transition, goto, restrict, total
from otf.spec.redrawing import extremes, for_path, redraw_of
from otf.strategy import STRATEGIES, Strategy
from otf.values.strategies import Draw, drawn_anew, sampled

NUMBERS = st.integers(0, 1000)


@dataclass(frozen=True)
class Put:
    number: int


@dataclass(frozen=True)
class Take:
    number: int


def _echo(state: int, inp: int) -> Iterator[Transition[int]]:
    yield goto(state, inp)


def bag(state: frozenset[int], inp: Put | Take) -> Iterator[Transition[frozenset[int]]]:
    """Take what was put."""
    match inp:
        case Put(number):
            yield goto(state | {number})
        case Take(number) if number in state:
            yield goto(state - {number}, number)
        case _:
            pass


def _sent(spec: Spec[Any, Any], path: int, steps: int = 300, name: str = "random") -> list[Any]:
    oracle = Oracle(Model(spec))
    strategy = Strategy(name, "uioco", 7, redraw=redraw_of(spec.inputs))
    chooser, view = strategy.path(path), oracle.view(oracle.start())
    symbols = [chooser.choose(view) for _ in range(steps)]
    return [symbol.value for symbol in symbols if symbol is not None]


def _smirnov(ours: list[int], theirs: list[int]) -> float:
    """Return the p-value of the test of Kolmogorov and Smirnov: that both follow one distribution."""
    apart = max(
        abs(sum(each <= at for each in ours) / len(ours) - sum(each <= at for each in theirs) / len(theirs))
        for at in {*ours, *theirs}
    )
    scaled: float = apart * (len(ours) * len(theirs) / (len(ours) + len(theirs))) ** 0.5
    return min(1.0, 2.0 * sum((-1.0) ** (at - 1) * exp(-2 * (at * scaled) ** 2) for at in range(1, 100)))


def _as_a_test(name: str) -> list[int]:
    """Return the numbers that a test of Hypothesis gets."""
    found = list[int]()

    @seed(name)
    @settings(max_examples=for_path("").size, database=None, phases=[Phase.generate], deadline=None)
    @given(NUMBERS)
    def test(number: int) -> None:
        found.append(number)

    test()
    return found


def test_values_that_are_not_steered_follow_hypothesis_own_distribution() -> None:
    """Of 40 paths they are as of 40 tests of Hypothesis with as many examples: p > 0.01, by Kolmogorov and Smirnov."""
    redraw = redraw_of(Spec(_echo, 0, NUMBERS).inputs)
    assert redraw is not None
    sample = list(Spec(_echo, 0, NUMBERS).inputs(0))
    ours = list[int]()
    for path in range(40):
        redrawn = redraw(f"7/{path}")
        found = [redrawn(0, each) for each in sample]
        ours += [each.value for each in found if each is not None and not each.edges]
    theirs = [each for test in range(40) for each in _as_a_test(f"other {test}")]
    assert _smirnov(ours, theirs) > 0.01
    # it can fail: what is uniform, as the sample is not, is told apart
    assert _smirnov([each * 1000 // len(ours) for each in range(len(ours))], theirs) < 0.01


@pytest.mark.parametrize("name", [*STRATEGIES])
def test_at_least_half_of_the_values_are_drawn_for_the_path(name: str) -> None:
    """By every strategy but those that go a planned way, more than half of 3,000 values come of the path's own draw."""
    spec = Spec(_echo, 0, st.integers(0, 10**9))
    sample, own = set(spec.inputs(0)), Counter[bool]()
    for path in range(1, 11):
        drawn = set(drawn_anew(st.integers(0, 10**9), for_path(f"7/{path}")))
        sent = _sent(spec, path, name=name)
        assert {*sent} <= sample | drawn
        own.update(each in drawn for each in sent)
    if name != "nearest":
        assert own[True] >= own[False]


def test_two_paths_send_different_values_and_the_edges_both() -> None:
    """Values differ between paths; the smallest and the largest are sent on each."""
    one, other = _sent(Spec(_echo, 0, NUMBERS), 1), _sent(Spec(_echo, 0, NUMBERS), 2)
    assert len({*one} - {*other}) > 20
    assert {0, 1000} <= {*one} & {*other}


def test_another_process_draws_the_same() -> None:
    """The values of a path depend on the seed and its number, and on nothing else."""
    code = "from tests.spec import test_redrawing as t; print(t._sent(t.Spec(t._echo, 0, t.NUMBERS), 3))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(_sent(Spec(_echo, 0, NUMBERS), 3))


def test_a_name_comes_again_on_its_path() -> None:
    """What was put is taken: an input of the sample stands for one value on a path, whichever field has it."""
    spec = total(Spec(bag, frozenset[int](), values={int: st.integers(0, 10**9)}))
    redraw, offered = redraw_of(spec.inputs), list(spec.inputs(spec.initial))
    assert redraw is not None
    redrawn = redraw("1/1")
    put = {getattr(redrawn(spec.initial, each), "value", each).number for each in offered if isinstance(each, Put)}
    take = {getattr(redrawn(spec.initial, each), "value", each).number for each in offered if isinstance(each, Take)}
    assert len(put & take) > 20


def test_an_input_that_the_model_refuses_is_not_sent_instead() -> None:
    """Only values that the model specifies where the chosen one is are sent, and those that `restrict` leaves."""

    def even(state: int, number: int) -> list[Transition[int]]:
        return [goto(state)] if number % 2 == 0 else []

    assert all(each % 2 == 0 for each in _sent(Spec(even, 0, NUMBERS), 1))
    few = restrict(Spec(_echo, 0, NUMBERS), lambda _, number: number < 400)
    sent = _sent(few, 1)
    assert max(sent) < 400
    assert {*sent} - {*few.inputs(0)}


def test_values_of_the_state_are_kept_and_those_of_a_strategy_drawn() -> None:
    """Where ids come from the state, and the rest from a strategy, the ids stay."""

    def step(state: str, inp: Pair) -> Iterator[Transition[str]]:
        if inp.word == state:
            yield goto(state)

    def ids(state: str) -> list[str]:
        return [state]

    spec = Spec(step, "id", values={str: ids, int: st.integers(0, 10**9)})
    sent, offered = _sent(spec, 1, 50), {*spec.inputs("id")}
    assert {each.word for each in sent} == {"id"}
    assert {*sent} - offered


@dataclass(frozen=True)
class Pair:
    word: str
    number: int


def test_a_net_before_the_system_draws_as_well() -> None:
    """The model behind a net has the values of the model alone."""
    spec = duplicating(Spec(_echo, 0, NUMBERS), inputs=[""])
    assert {*_sent(spec, 1)} - {*spec.inputs(spec.initial)}


def test_inputs_without_a_strategy_are_what_they_were() -> None:
    """A type, a list or a range is offered as it is."""
    assert redraw_of(Spec(_echo, 0, range(5)).inputs) is None
    assert redraw_of(Spec(bag, frozenset[int](), values={int: range(3)}).inputs) is None


def test_edges_are_the_least_and_the_largest() -> None:
    """Numbers by size, NaN left out; others by the length of their text."""
    assert extremes([]) == ()
    assert extremes([3.0, float("nan"), 1.0]) == (1.0, 3.0)
    assert extremes([Put(10), Put(2)]) == (Put(2), Put(10))
    assert sampled(1) == Draw(1, 200)
