"""Checking a property: the verdict, what it rests on, and what is said where it makes no sense."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import strategies as st

import otf
from otf.errors import UsageError
from otf.logic import Property, PropertyOutcome, PropertyResult, check, for_all, implies
from otf.values import every

NO, YES = False, True


def small(number: int) -> bool:
    """Say that a number is less than two."""
    return number < 2


def never(number: int) -> Property:
    """Say nothing of any number."""
    return implies(number == number + 1, NO)


def even(number: int) -> Property:
    """Say something of even numbers."""
    return implies(number % 2 == 0, lambda: (number // 2) * 2 == number)


def pairs(number: int, on: bool) -> bool:
    """Say what is true of every pair."""
    return number + on >= number


def raises(number: int) -> bool:
    """Raise for one number."""
    return 1 / (number - 1) < 2


SAID: list[tuple[Callable[[], PropertyResult], str]] = [
    (lambda: check(pairs, range(3)), "proof after 6 tests"),
    (lambda: check(pairs, [7], [True]), "proof after 1 test"),
    (lambda: check(pairs), "passed 1,000 tests"),
    (lambda: check(pairs, tests=6), "passed 6 tests"),
    (lambda: check(pairs, range(3), tests=6), "proof after 6 tests"),
    (lambda: check(pairs, values={int: range(2), bool: [True]}), "proof after 2 tests"),
    (lambda: check(small), "counterexample after 4 tests: number=2"),
    (lambda: check(raises), "counterexample after 2 tests: number=1 raised ZeroDivisionError: division by zero"),
    (lambda: check(even, tests=10), "passed 10 tests, 10 rejections"),
    (lambda: check(even, range(3)), "proof after 2 tests, 1 rejection"),
    (lambda: check(even, [1, 3]), "nothing tested: 2 rejections"),
    (lambda: check(never, tests=10), "nothing tested: 100 rejections"),
    (lambda: check(pairs, []), "nothing tested"),
    (lambda: check(for_all(small)), "counterexample after 4 tests: number=2"),
    (lambda: check(for_all(range(9), small), range(2)), "proof after 2 tests"),
    (lambda: check(lambda n: n > 0, range(1, 4)), "proof after 3 tests"),
    (lambda: check(lambda: True), "proof after 1 test"),
    (lambda: check(implies(YES, YES)), "proof after 1 test"),
    (lambda: check(YES), "proof after 1 test"),
    (lambda: check(partial(pairs, 5)), "proof after 2 tests"),
]


@pytest.mark.parametrize(("checked", "text"), SAID, ids=[str(at) for at in range(len(SAID))])
def test_the_verdict_says_what_it_rests_on(checked: Callable[[], PropertyResult], text: str) -> None:
    """It is a proof if all values were tried, passed if some are left, and no stronger than the tests."""
    result = checked()
    assert str(result) == text
    assert repr(result) == f"<{text}>"
    assert bool(result) == text.startswith(("proof", "passed"))


def test_a_failing_assertion_tells_the_counterexample() -> None:
    """Pytest shows the result, so that a check is a test in one line."""
    with pytest.raises(AssertionError, match="<counterexample after 4 tests: number=2>"):
        assert otf.check(small)


def test_the_result_is_data() -> None:
    """The outcome, the counts, the values and the exception are fields of the result."""
    result = check(raises)
    assert (result.outcome, result.tests, result.values, result.found) == (
        "counterexample",
        2,
        {"number": 1},
        {"number": 1},
    )
    assert isinstance(result.error, ZeroDivisionError)
    assert result.outcome is PropertyOutcome.COUNTEREXAMPLE


def spoils(xs: list[int]) -> bool:
    """Change the argument, and fail then."""
    xs.append(7)
    return len(xs) < 3


def test_a_property_may_change_what_it_was_given() -> None:
    """A counterexample has the values that the property was called with."""
    assert check(spoils).values == {"xs": [0, 0]}
    assert check(spoils, seed=5).values == {"xs": [0, 0]}
    assert check(spoils, st.lists(st.integers())).values == {"xs": [0, 0]}
    assert check(lambda: for_all(list[int], spoils)).values == {"xs": [0, 0]}


def test_drawn_values_prove_nothing() -> None:
    """A strategy never leads to a proof, even if all its values seem to have been tried."""
    assert str(check(pairs, st.integers(0, 3))) == "passed 8 tests"
    assert str(check(pairs, values={int: st.just(1)})) == "passed 2 tests"
    assert str(check(lambda xs: set(xs) <= {1}, every(list[int], {int: st.just(1)}), tests=5)) == "passed 5 tests"


def test_strategies_and_enumerations_shrink_together() -> None:
    """Each counterexample is smallest by the measure of its source."""
    result = check(lambda x, y: x + y < 9, st.integers(0, 20), every(int), tests=500)
    assert result.outcome is PropertyOutcome.COUNTEREXAMPLE
    assert result.values["x"] + result.values["y"] == 9  # type: ignore[operator]


def test_an_error_inside_a_quantifier_tells_all_values() -> None:
    """The values of the outer arguments are reported, too."""
    wrong = for_all(range(1, 4), lambda n: for_all(range(3), lambda m: n // m > -1))
    assert str(check(wrong)).startswith("counterexample after 1 test: n=1, m=0 raised ZeroDivisionError")


@dataclass(frozen=True)
class Truth:
    """A bool of numpy."""

    value: bool
    dtype: str = "bool"

    def __bool__(self) -> bool:
        return self.value


def test_numpys_truths_are_truths() -> None:
    """Numpy is not imported for that."""
    assert check(lambda n: Truth(n < 5), range(5))
    assert not check(lambda n: Truth(n < 4), range(5))


def test_a_function_may_return_a_function() -> None:
    """It is a quantifier inside."""

    def outer(number: int) -> Callable[[bool], bool]:
        def inner(on: bool) -> bool:
            return number + on != 4

        return inner

    assert str(check(outer)) == "counterexample after 6 tests: number=3, on=True"


def forgets(number: int) -> None:
    """Return nothing."""
    assert number < 5


def untyped(xs: list[int], n: int) -> bool:
    """Say nothing of one type, when the program runs."""
    return n > len(xs)


del untyped.__annotations__["xs"]


def unknown(xs: list[object]) -> bool:
    """Take what cannot be enumerated."""
    return bool(xs)


class Later:
    """What can be awaited, and is not a coroutine."""

    def __await__(self) -> Generator[None, None, bool]:
        yield
        return True


async def later(number: int) -> bool:
    """Return the truth asynchronously."""
    return number < 2


REFUSED: list[tuple[Any, str]] = [
    (forgets, "a property returns True, False or another property; this one returned None"),
    (lambda: 1, "this one returned 1"),
    (untyped, "untyped: declare the type of its argument xs, or give its values"),
    (unknown, "unknown, xs[…]: the values of the type object cannot be enumerated"),
    (later, "the property is asynchronous: write `await check_async(prop)`"),
    (lambda: later(3), "the property is asynchronous"),
    (Later, "the property is asynchronous"),
    (lambda: for_all(7, small), "small, number: 7 gives no values"),
]


@pytest.mark.parametrize(
    ("prop", "message"), REFUSED, ids=["None", "1", "untyped", "unknown", "later", "coroutine", "awaitable", "source"]
)
def test_what_is_no_property_is_refused(prop: Any, message: str) -> None:  # noqa: ANN401 -- anything
    """It is a mistake in the property, and no counterexample."""
    with pytest.raises(UsageError) as raised:
        check(prop)
    assert message in str(raised.value)


def test_what_makes_no_sense_is_refused() -> None:
    """No tests at all, or values for a property without arguments."""
    with pytest.raises(UsageError, match="tests=0: give a number of tests from 1"):
        check(small, tests=0)
    with pytest.raises(UsageError, match="has no arguments, or already has values for them"):
        check(implies(YES, YES), [1])
