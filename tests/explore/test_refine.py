"""Which states are alike."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from otf.explore.refine import refine

ARCS = st.integers(1, 9).flatmap(
    lambda size: st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(-1, size - 1)), max_size=3), min_size=size, max_size=size
    )
)


def slowly(arcs: list[list[tuple[str, int]]]) -> list[int]:
    """Return the same by a naive search over all states, until nothing changes."""
    found = [0] * len(arcs)
    while True:
        keys = [
            (found[at], frozenset((label, found[to] if to >= 0 else to) for label, to in row))
            for at, row in enumerate(arcs)
        ]
        known: dict[object, int] = {}
        then = [known.setdefault(key, len(known)) for key in keys]
        if then == found:
            return found
        found = then


@given(ARCS)
def test_it_finds_what_looking_at_all_states_finds(arcs: list[list[tuple[str, int]]]) -> None:
    """Refinement finds the same sets as a naive search, numbered in the order of their first states."""
    assert refine(arcs) == slowly(arcs)


def test_a_long_chain_takes_no_square() -> None:
    """Every state is unlike every other one: ten times as many do not take a hundred times as long."""
    taken: list[float] = []
    for size in (5_000, 50_000):
        chain = [[("a", at + 1)] for at in range(size - 1)] + [list[tuple[str, int]]()]
        before = time.process_time()
        assert len(set(refine(chain))) == size
        taken.append(time.process_time() - before)
    assert taken[1] < 40 * taken[0]
