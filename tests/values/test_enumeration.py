"""The values of types: which come first, each once, small before large, and an end where there is one."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from itertools import islice, takewhile
from typing import Any, Literal, Optional, Union

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otf.values import PRINTABLE, Char, every
from otf.values.identity import fingerprint
from tests.values.kinds import (
    BASIC,
    COMPOSED,
    FINITE,
    Box,
    Chain,
    Colour,
    Keyword,
    Leaf,
    Mode,
    Node,
    Nothing,
    Pair,
    Point,
    Press,
    Small,
    Tree,
    Word,
    has_float,
    size,
)

SIZED = [kind for kind in (*BASIC, *FINITE, *COMPOSED) if not has_float(kind)]
R, G = Colour.RED, Colour.GREEN
NO, YES = False, True


FIRST: list[tuple[Any, list[Any]]] = [
    (int, [0, 1, -1, 2, -2, 3, -3]),
    (str, ["", "a", "A", "aa", "0", "aA", "Aa", "aaa"]),
    (Word, ["", "a", "b", "aa", "ab", "ba", "aaa", "bb", "aab"]),
    (bytes, [b"", b"\0", b"\1", b"\0\0", b"\2", b"\0\1", b"\1\0", b"\0\0\0"]),
    (bool | int, [False, 0, True, 1, -1, 2]),
    (int | None, [0, None, 1, -1]),
    (tuple[int, ...], [(), (0,), (1,), (0, 0), (-1,), (0, 1), (1, 0), (0, 0, 0)]),
    (list[int], [[], [0], [1], [0, 0], [-1], [0, 1], [1, 0], [0, 0, 0]]),
    (set[int], [set(), {0}, {1}, {-1}, {0, 1}, {2}, {0, -1}, {-2}, {0, 2}, {1, -1}]),
    (dict[bool, int], [{}, {False: 0}, {False: 1}, {True: 0}, {False: -1}, {True: 1}, {False: 0, True: 0}]),
    (Leaf | Nothing | int, [Nothing(), 0, Leaf(0), 1, Leaf(1), -1]),
    (Tree, [Leaf(0), Leaf(1), Leaf(-1), Node(Leaf(0), Leaf(0)), Leaf(2), Node(Leaf(0), Leaf(1))]),
    (Point, [Point(0, 0), Point(0, 1), Point(1, 0), Point(0, -1)]),
    (Chain[bool], [Chain(NO, None), Chain(NO, Chain(NO, None)), Chain(YES, None)]),
    (Pair[bool], [Pair(NO, NO), Pair(NO, YES), Pair(YES, NO), Pair(YES, YES)]),
    (Box, [Box([]), Box([0]), Box([1])]),
    (Keyword, [Keyword(on=False, level=0), Keyword(on=False, level=1), Keyword(on=True, level=0)]),
]


@pytest.mark.parametrize(("kind", "values"), FIRST)
def test_these_come_first(kind: object, values: list[object]) -> None:
    """Small before large; among those of one size, a small left part and few elements first."""
    assert every(kind).first(len(values)) == values


ALL: list[tuple[Any, list[Any]]] = [
    (bool, [False, True]),
    (None, [None]),
    (type(None), [None]),
    (Colour, [R, G]),
    (Mode, [Mode(0), Mode(1), Mode(2), Mode(4), Mode(3), Mode(5), Mode(6), Mode(7)]),
    (Literal["a", 1, True, 1.0], ["a", 1, True, 1.0]),
    (bool | None, [False, None, True]),
    (Optional[Colour], [R, None, G]),  # noqa: UP045 -- people write it
    (Union[Nothing, bool], [Nothing(), False, True]),  # noqa: UP007 -- the same
    (tuple[bool, None], [(False, None), (True, None)]),
    (tuple[()], [()]),
    (Nothing, [Nothing()]),
    (Press, [Press(R, NO), Press(R, YES), Press(G, NO), Press(G, YES)]),
    (Char, list(PRINTABLE)),
    (set[bool], [set(), {False}, {True}, {False, True}]),
    (frozenset[Literal[1, True, 2]], [frozenset(each) for each in [(), [1], [True], [2], [1, 2], [True, 2]]]),
    (
        dict[bool, bool],
        [
            {},
            {False: False},
            {False: True},
            {True: False},
            {True: True},
            {False: False, True: False},
            {False: False, True: True},
            {False: True, True: False},
            {False: True, True: True},
        ],
    ),
    (Small, [0, 1, 2, 3]),
]


@pytest.mark.parametrize(("kind", "values"), ALL)
def test_a_finite_type_ends(kind: object, values: list[Any]) -> None:
    """A type has these values and no others, with these types: True is not 1."""
    found = list(every(kind))
    assert [(type(each), each) for each in found] == [(type(each), each) for each in values]
    assert every(kind).finite


def test_the_order_for_two_arguments_is_fair() -> None:
    """Neither argument waits until the other has had all its values: a u, a v, b u, a w, b v, c u, …."""
    pairs = every(tuple[Literal["a", "b", "c", "d"], Literal["u", "v", "w", "x"]]).first(10)
    assert " ".join(map("".join, pairs)) == "au av bu aw bv cu ax bw cv du"


def test_the_order_for_three_arguments_is_fair() -> None:
    """All arguments advance together: when the first has reached its n-th value, the others have, too."""
    rows = every(tuple[int, int, int]).first(56)
    assert [{row[at] for row in rows} for at in range(3)] == [{0, 1, -1, 2, -2, 3}] * 3


def once(kind: object, number: int) -> int:
    """Count the first values of a type, and fail if one of them repeats."""
    seen = set[Hashable]()
    for count, value in enumerate(islice(every(kind), number), 1):
        seen.add(fingerprint(value))
        assert len(seen) == count, value
    return len(seen)


@pytest.mark.parametrize("kind", [*BASIC, *FINITE, *COMPOSED], ids=str)
def test_no_value_comes_twice(kind: object) -> None:
    """True, 1 and 1.0 are three values; a list is the same as another one with the same elements."""
    assert once(kind, 500) == 500 or every(kind).finite


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*BASIC, *FINITE, *COMPOSED], ids=str)
def test_no_value_comes_twice_among_100_000(kind: object) -> None:
    """The same for 100,000 values of each type, of which more than fifty are put together from others."""
    assert once(kind, 100_000) == 100_000 or every(kind).finite


@pytest.mark.parametrize("kind", SIZED, ids=str)
def test_every_value_of_a_size_comes_before_the_next_size(kind: object) -> None:
    """Sizes that the test computes never decrease, and equal those of the enumeration."""
    pairs = list(islice(every(kind).sized(), 500))
    assert [size(kind, value) for _, value in pairs] == [told for told, _ in pairs]
    assert [told for told, _ in pairs] == sorted(told for told, _ in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SIZED, ids=str)
def test_every_value_of_a_size_comes_before_the_next_size_among_10_000(kind: object) -> None:
    """The same for 10,000 values."""
    last = 0
    for told, value in islice(every(kind).sized(), 10_000):
        assert last <= told == size(kind, value)
        last = told


NUMBERS = st.integers(-3, 3)
DRAWN: dict[Any, st.SearchStrategy[Any]] = {
    int: NUMBERS,
    list[int]: st.lists(NUMBERS, max_size=5),
    set[int]: st.sets(NUMBERS, max_size=4),
    dict[int, bool]: st.dictionaries(NUMBERS, st.booleans(), max_size=3),
    tuple[int, bool, str]: st.tuples(NUMBERS, st.booleans(), st.text("aA0", max_size=3)),
    list[bool | int]: st.lists(st.booleans() | NUMBERS, max_size=4),
    Chain[bool]: st.recursive(
        st.builds(Chain, st.booleans(), st.none()), lambda rest: st.builds(Chain, st.booleans(), rest)
    ),
    Tree: st.recursive(NUMBERS.map(Leaf), lambda inner: st.builds(Node, inner, inner), max_leaves=3),
}


@cache
def up_to_ten(at: int) -> frozenset[Hashable]:
    """Name the values of one of those types that are no larger than 10."""
    sized = every(list(DRAWN)[at]).sized()
    return frozenset(fingerprint(value) for _, value in takewhile(lambda pair: pair[0] <= 10, sized))


@pytest.mark.parametrize("at", range(len(DRAWN)), ids=map(str, DRAWN))
@settings(max_examples=30)
@given(data=st.data())
def test_every_value_comes(at: int, data: st.DataObject) -> None:
    """The values of a size contain every value of that size that is drawn at random."""
    kind, strategy = list(DRAWN.items())[at]
    value = data.draw(strategy)
    assume(size(kind, value) <= 10)
    assert fingerprint(value) in up_to_ten(at)


def test_values_that_can_change_are_made_anew() -> None:
    """Changing a list does not change the values that come later."""
    lists = every(tuple[list[int], set[int], dict[int, list[int]], Box, Point | list[int]])
    before = lists.first(500)
    for row in lists.first(500):
        row[0].append(7)
        row[1].add(7)
        row[2][7] = []
        row[3].items.append(7)
    assert lists.first(500) == before


def test_each_iteration_begins_again() -> None:
    """An enumeration can be read again."""
    ints = every(int)
    assert ints.first(5) == ints.first(5)
    assert ints.at(3) == 2
    assert not ints.finite


def test_it_is_lazy() -> None:
    """The first value of a large type is there at once, and the ten thousandth of an endless one."""
    assert every(tuple[int, ...]).at(0) == ()
    assert every(tuple[(bool,) * 40]).at(0) == (False,) * 40  # type: ignore[misc]
    assert len(every(list[list[int]]).first(10_000)) == 10_000
