"""Another order of the same values, by a seed."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from otf.values import block_start, every
from otf.values.enumeration import BLOCK, perturbed

SEEDS = st.integers(-(2**70), 2**70)


@given(SEEDS, st.integers(0, 300))
def test_a_seed_changes_nothing_but_the_order(seed: int, number: int) -> None:
    """Each value comes once, with its old position."""
    found = list(perturbed(range(number), seed))
    assert sorted(found) == [(place, place) for place in range(number)]


@given(SEEDS)
def test_small_still_comes_before_large_by_and_large(seed: int) -> None:
    """All values of earlier blocks come before a value: so no position more than doubles."""
    places = [place for place, _ in islice(perturbed(every(int), seed), 1000)]
    assert all(place <= 2 * at and at <= 2 * place for at, place in enumerate(places))
    assert [block_start(place) for place in places] == sorted(block_start(place) for place in places)


@given(SEEDS)
def test_a_seed_gives_the_same_order_each_time(seed: int) -> None:
    """The same seed gives the same order."""
    assert list(perturbed("abcdefgh", seed)) == list(perturbed("abcdefgh", seed))


def test_seeds_give_different_orders() -> None:
    """A hundred seeds give a hundred orders of a hundred values, and all of the six of three."""
    assert len({tuple(perturbed(range(100), seed)) for seed in range(100)}) == 100
    assert len({tuple(perturbed(range(7), seed))[3:] for seed in range(400)}) == 24


def test_an_enumeration_can_be_shuffled() -> None:
    """All values of a finite type, in another order."""
    found = [value for _, value in every(tuple[bool, bool]).placed(3)]
    assert sorted(found) == list(every(tuple[bool, bool]))
    assert found == [(False, False), (True, False), (False, True), (True, True)]


def test_without_a_seed_the_order_is_kept() -> None:
    """Without a seed, positions are consecutive numbers."""
    assert list(islice(every(bool).placed(), 3)) == [(0, False), (1, True)]


def test_blocks_do_not_grow_for_ever() -> None:
    """Blocks have a largest size, since each is held in memory."""
    starts = [0, 1, 3, 7, 15]
    while len(starts) < 30:
        starts.append(starts[-1] + min(starts[-1] + 1, BLOCK))
    assert [block_start(start) for start in starts] == starts
    assert [block_start(start - 1) for start in starts[1:]] == starts[:-1]
