"""Values that are given instead of those of a type: lists, other types, strategies, functions that make them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, NewType

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from otf.errors import UsageError
from otf.values import Among, Enumeration, Range, enumerated, every, is_type, ready, register, rows, smallest
from otf.values.all_values import REGISTERED
from otf.values.identity import fingerprint, fresh
from otf.values.strategies import drawn_anew, sampled, simplest_from

Id = NewType("Id", int)
FORGETS = settings(database=None)  # what was found for one parameter must not be taken for another's


@pytest.fixture(autouse=True)
def _nothing_stays_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (Money, Coin, Bare, Fraction, Id):
        monkeypatch.delitem(REGISTERED, kind, raising=False)


class Money:
    """A class without declared fields."""

    def __init__(self, cents: Annotated[int, Range(0, 500)]) -> None:
        self.cents = cents

    def __repr__(self) -> str:
        return f"Money({self.cents})"


class Coin(Money):
    """Inherited fields count as well."""


class Bare:
    pass


@dataclass
class Mutable:
    items: list[int]


def shown(values: Enumeration[Any], number: int = 4) -> str:
    """Show the first values."""
    return str(values.first(number))


def test_values_stand_instead_of_those_of_a_type_wherever_it_occurs() -> None:
    """In tuples, lists, unions and other names; not where another type is meant."""
    values = {int: range(3, 5), str: ["x"]}
    assert list(every(tuple[int, str, bool], values)) == [
        (3, "x", False),
        (3, "x", True),
        (4, "x", False),
        (4, "x", True),
    ]
    assert every(list[int], values).first(4) == [[], [3], [4], [3, 3]]
    assert list(every(Id | None, values)) == [3, None, 4]
    assert list(every(Id, {Id: [7]})) == [7]
    assert list(every(Annotated[int, Range(4, 9)], values)) == [4]


def test_a_type_may_stand_instead_of_itself() -> None:
    """A source may name the type that it replaces; then the bounds apply to the usual values of the type."""
    assert list(every(tuple[int, bool], {int: Annotated[int, Range(0, 1)], bool: [True]})) == [(0, True), (1, True)]


def test_given_values_come_once_and_in_their_order() -> None:
    """An iterator is read once and kept; a source with a length is known to end."""
    once = ready({int: iter([5, True, 5, 1.0, 1])})
    assert [list(every(int, once)) for _ in range(2)] == [[5, True, 1.0, 1]] * 2
    assert not every(int, once).finite
    assert every(int, {int: [1, 2]}).finite
    assert enumerated(count()).first(3) == [0, 1, 2]
    assert enumerated({"a": 1, "b": 2}).first(3) == ["a", "b"]


def test_given_lists_are_not_changed_by_a_test() -> None:
    """Lists and mutable dataclasses are copied; objects of other classes are passed on unchanged."""
    bare = Bare()
    held = [[1], Mutable([2]), (bare, [3])]
    first, second, third = enumerated(held)
    first.append(7)
    second.items.append(7)
    third[1].append(7)
    assert held == [[1], Mutable([2]), (bare, [3])]
    assert third[0] is bare


def test_what_gives_no_values_is_refused() -> None:
    """The message lists the valid sources."""
    with pytest.raises(UsageError, match=r"^int: 7 gives no values: give a type, an iterable, every"):
        every(int, {int: 7})


@pytest.mark.parametrize("kind", [int, list[int], int | None, Id, Annotated[int, Among(1)], Mutable])
def test_types_are_told_from_values(kind: object) -> None:
    """A generic alias can be iterated over, and is a type all the same."""
    assert is_type(kind)
    assert not is_type([kind])


def test_an_enumeration_is_taken_as_it_is() -> None:
    """An enumeration may be given in place of a type, too."""
    small = every(Annotated[int, Range(0, 1)])
    assert enumerated(small) is small
    assert list(every(tuple[int, int], {int: small})) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def dollars(number: Annotated[int, Range(0, 3)], cents: int = 0) -> Money:
    """Make money; an argument with a default keeps it."""
    return Money(100 * number + cents)


def absolute(number: int) -> int:
    """Give each value but 0 twice."""
    return abs(number)


def test_a_type_is_registered_with_what_makes_its_values() -> None:
    """A type is registered with its class, a function, another type or values; the last source counts."""
    with pytest.raises(UsageError, match="the type Money cannot be enumerated; make Money a dataclass with"):
        every(Money)
    register(Money)
    assert shown(every(Money)) == "[Money(0), Money(1), Money(2), Money(3)]"
    register(Money, dollars)
    assert shown(every(list[Money]), 3) == "[[], [Money(0)], [Money(100)]]"
    register(Coin)
    assert shown(every(Coin), 2) == "[Money(0), Money(1)]"
    register(Bare)
    assert [type(each) for each in every(Bare)] == [Bare]
    register(Fraction, [Fraction(1, 2)])
    assert shown(every(Fraction | None)) == "[Fraction(1, 2), None]"
    register(Id, Annotated[int, Among(7, 8)])
    assert shown(every(Id)) == "[7, 8]"
    register(Id, absolute)
    assert shown(every(Id)) == "[0, 1, 2, 3]"


def test_hypothesis_strategies_give_values() -> None:
    """Each once, the same in each run; there may always be others, so it is never complete."""
    ints = st.integers(0, 5)
    found = every(list[int], {int: ints})
    assert not found.complete
    assert {item for items in found.first(200) for item in items} <= set(range(6))
    assert enumerated(ints).first(9) == enumerated(ints).first(9)
    assert sorted(enumerated(ints)) == [0, 1, 2, 3, 4, 5]
    assert list(every(Annotated[int, st.just(3)])) == [3]
    assert len(set(enumerated(st.integers()).first(300))) == 300
    assert every(tuple[int, int]).complete


@given(every(tuple[int, bool]).strategy())
def test_an_enumeration_is_a_strategy(pair: tuple[int, bool]) -> None:
    """The strategy of an enumeration chooses from its first values."""
    assert abs(pair[0]) <= 5000


@pytest.mark.parametrize("least", [0, 7, 300])
def test_an_enumeration_shrinks_in_its_own_order(least: int) -> None:
    """Hypothesis shrinks to the first number that fails, and to a short list."""
    assert find(every(int).strategy(), lambda number: number >= least, settings=FORGETS) == least
    assert len(find(every(list[int]).strategy(), lambda items: len(items) > 2, settings=FORGETS)) == 3


def test_a_strategy_stays_itself() -> None:
    """A strategy that was given as a source is returned unchanged."""
    ints = st.integers(0, 5)
    assert enumerated(ints).strategy() is ints


def test_the_simplest_value_may_have_been_generated_before() -> None:
    """Hypothesis does not come back to what it generated before the failing value; `simplest_from` asks about it."""
    pairs, draw = st.tuples(st.sampled_from("abcdef"), st.integers()), sampled(0)
    for value in (each for each in drawn_anew(pairs, draw) if each[0] == "d"):
        assert _answered(simplest_from(pairs, value, draw), value, lambda pair: pair[0] == "d") == ("d", 0)


def _answered(asking: Generator[Any, bool, None], value: object, fails: Callable[[Any], bool]) -> object:
    """Answer each question, and return the last value that fails."""
    with suppress(StopIteration):
        asked = next(asking)
        while True:
            value = asked if fails(asked) else value
            asked = asking.send(fails(asked))
    return value


def test_a_search_for_what_is_not_there_ends() -> None:
    """Hypothesis finds nothing among as many values as were drawn."""
    assert smallest([st.integers()], lambda _row: False) is None
    assert smallest([st.integers(), st.booleans()], lambda row: row[0] > 3 and row[1]) == (4, True)


def test_hypothesis_is_not_needed() -> None:
    """Enumerating types and checking properties does not import it."""
    program = "import sys, otf; otf.check(lambda: True); from otf.values import every; every(int).first(3); "
    subprocess.run([sys.executable, "-c", f"{program} sys.exit('hypothesis' in sys.modules)"], check=True)


def halves(number: float, /, *, more: int = 0) -> Iterator[float]:
    """Have an argument that is given by position only."""
    yield number / 2 + more


class Called:
    def __call__(self, number: bool) -> bool:
        return number


def untyped(x: int, y: int = 2) -> int:
    """Have no annotations at run time."""
    return x + y


untyped.__annotations__.clear()


if TYPE_CHECKING:
    from decimal import Decimal


def unknown(x: Decimal) -> bool:
    """Name a type that does not exist at run time."""
    return x > 0


def by_name(*, x: int) -> int:
    """Have an argument that cannot be given by position."""
    return x


def test_rows_are_made_of_the_declared_types_or_of_what_is_given() -> None:
    """Functions, methods, objects that can be called, and lambdas with all that they need."""
    assert list(rows(Called()).values) == [(False,), (True,)]
    assert list(rows(Called().__call__).values) == [(False,), (True,)]
    assert rows(halves).values.first(2) == [(0.0,), (1.0,)]
    assert rows(untyped, [int, "xy"]).values.first(3) == [(0, "x"), (0, "y"), (1, "x")]
    assert rows(dollars, [[1], [2]]).values.first(2) == [(1, 2)]
    assert rows(lambda: 0).values.first(2) == [()]
    assert rows(dollars).names == ("number",)
    assert rows(dollars).named(2) == (("number", 2),)


def test_rows_say_what_is_missing() -> None:
    """The message names the function and the argument."""
    with pytest.raises(UsageError, match="untyped: declare the type of its argument x, or give its values"):
        rows(untyped)
    with pytest.raises(UsageError, match="dollars has 2 arguments, but values for 3 were given"):
        rows(dollars, [int, int, int])
    with pytest.raises(UsageError, match="len: declare the type of its argument obj"):
        rows(len)
    with pytest.raises(UsageError, match="max has no readable signature; write a function around it"):
        rows(max, [3])
    with pytest.raises(UsageError, match=r"^unknown: the annotation of unknown.x cannot be read: name 'Decimal' is"):
        rows(unknown)
    with pytest.raises(UsageError, match="by_name: its argument x is keyword-only"):
        rows(by_name)
    with pytest.raises(UsageError, match="untyped, x: 3 gives no values"):
        rows(untyped, [3])


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


def test_the_same_values_have_the_same_fingerprint() -> None:
    """Types count, and the order of sets and dicts does not; an opaque value is the same as itself only."""
    same: list[tuple[Any, Any]] = [({1: [2]}, {1: [2]}), ({1, 2}, {2, 1}), (Mutable([1]), Mutable([1]))]
    assert all(fingerprint(one) == fingerprint(other) for one, other in same)
    other: list[tuple[Any, Any]] = [
        ({1: [2]}, {True: [2]}),
        ([1], (1,)),
        (Mutable([1]), Mutable([True])),
        ({1}, {True}),
    ]
    assert all(fingerprint(one) != fingerprint(another) for one, another in other)
    one = Unhashable()
    assert fingerprint(one) == fingerprint(one) != fingerprint(Unhashable())


@dataclass
class Late:
    items: list[int]

    def __post_init__(self) -> None:
        del self.items


def test_a_copy_has_what_the_value_has() -> None:
    """A field that is not set stays unset."""
    assert vars(fresh(Late([]))) == {}
