"""Covers and tours take every transition, and optimal tours are optimal."""

from __future__ import annotations

from itertools import islice

import pytest

from otf.explore import explore
from otf.models.conference import Sizes, conference
from otf.suite import METHODS, NumberedMachine, machine
from otf.suite.machine import Word
from otf.suite.tour import Leg, a2, tour, transitions
from tests.suite.machines import made, models, walked


def conf(*sizes: int) -> NumberedMachine:
    """The machine of a conference protocol entity."""
    return machine(explore(conference(Sizes(*sizes))))


def paths(model: NumberedMachine, method: str) -> list[Word]:
    """The suite of a machine as it is."""
    return METHODS[method].make(model, 0)[0]


@pytest.mark.parametrize(
    ("sizes", "number"), [((1, 1, 1, 1), 1), ((2, 1, 1, 1), 118), ((2, 1, 2, 1), 27_848), ((2, 1, 1, 2), 7_827)]
)
def test_a2_has_the_paths_of_the_paper(sizes: tuple[int, int, int, int], number: int) -> None:
    """Table 8.1 of Koopman and Plasmeijer, "Testing Reactive Systems with GAST", where it gives a number."""
    assert sum(1 for _ in a2(conf(*sizes))) == number


@pytest.mark.parametrize("sizes", [(3, 1, 1, 1), (2, 2, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)])
def test_a2_has_more_than_10000_where_the_paper_says_so(sizes: tuple[int, int, int, int]) -> None:
    """For the other four rows of the table A2 gives more than 10,000 paths, as the paper says."""
    assert sum(1 for _ in islice(a2(conf(*sizes)), 10_001)) == 10_001


@pytest.mark.parametrize(("method", "paper", "ours"), [("a3", 11, 9), ("a4", 6, 5)])
def test_a3_and_a4_have_no_more_paths_than_in_the_paper(method: str, paper: int, ours: int) -> None:
    """By the best of ten orders of the inputs: the first order gives 14 and 8."""
    assert len(paths(conf(3, 1, 1, 1), method)) == ours < paper


@pytest.mark.parametrize("method", ["a3", "a4", "tour", "uio"])
def test_covers_take_every_transition_and_no_other(method: str) -> None:
    """A cover takes every specified transition, and sends no unspecified input."""
    model = conf(3, 2, 1, 1)
    assert walked(model, paths(model, method)) == set(model.transitions)


def test_a3_takes_every_transition_twice() -> None:
    """A3 takes every transition twice, or more often on the way to others."""
    model = conf(2, 2, 2, 2)
    taken: dict[tuple[int, int], int] = {}
    for path in paths(model, "a3"):
        state = 0
        for inp in path:
            taken[state, inp] = taken.get((state, inp), 0) + 1
            state = model.next[state][inp]
    assert min(taken[each] for each in model.transitions) >= 2


def test_the_large_conference_is_toured_in_one_path() -> None:
    """2,070 transitions: an optimal tour, and one with a UIO after each transition."""
    model = conf(3, 3, 3, 3)
    (once,), (checked,) = paths(model, "tour"), paths(model, "uio")
    assert len(once) <= 2_367
    assert len(checked) <= 9_473


def shortest(model: NumberedMachine) -> int:
    """The inputs of a shortest single path through all transitions: breadth first over what was taken."""
    all_ = {each: 1 << at for at, each in enumerate(model.transitions)}
    seen, level, length = {(0, 0)}, {(0, 0)}, 0
    full = (1 << len(all_)) - 1
    while not any(taken == full for _, taken in level):
        length += 1
        level = {
            (model.next[state][inp], taken | bit)
            for state, taken in level
            for (at, inp), bit in all_.items()
            if at == state
        } - seen
        seen |= level
    return length


@pytest.mark.parametrize("model", list(models(3, 10, seed=4)))
def test_a_tour_is_as_short_as_can_be(model: NumberedMachine) -> None:
    """A tour is as short as the shortest walk that an exhaustive search finds."""
    found = tour(model, transitions(model))
    if len(found.paths) == 1:
        assert (found.optimal, len(found.paths[0])) == (True, shortest(model))
    assert walked(model, found.paths) == set(model.transitions)


def test_what_cannot_be_left_takes_a_reset() -> None:
    """Two states without transitions take two paths."""
    model = made([((1, 0), (2, 0)), ((1, 0), (1, 1)), ((2, 1), (2, 0))])
    assert sorted(map(len, tour(model, transitions(model)).paths)) == [3, 3]


def test_a_tour_joins_what_is_not_connected() -> None:
    """Only the loops of two far states must be walked: the way there is part of the tour, which may not be shortest."""
    model = made([((1, 0), (0, 0)), ((2, 0), (1, 1)), ((0, 0), (2, 1))])
    found = tour(model, [Leg(1, (1,), 1), Leg(2, (1,), 2)])
    assert not found.optimal
    assert {(1, 1), (2, 1)} <= walked(model, found.paths)


def test_a_tour_may_come_back_by_a_reset() -> None:
    """A tour uses a reset if no inputs lead back."""
    model = made([((1, 0), (0, 0)), ((1, 1), (1, 0))])
    found = tour(model, [Leg(1, (1,), 1), Leg(0, (1,), 0)])
    assert {(1, 1), (0, 1)} <= walked(model, found.paths)
