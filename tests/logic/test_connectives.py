"""And, or, not, if, for all, there is: as in logic, with a truth for what was rejected, and doubts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import UsageError
from otf.logic import Property, all_of, any_of, check, exists, for_all, iff, implies, not_
from otf.logic.result import Truth, all_hold, equal, one_holds, opposite

NO, YES = False, True
REJECTED = implies(NO, YES)
LIKELY = for_all(int, lambda _: True)
OPEN = exists(int, lambda _: False)
WORDS = {
    "proof": "T",
    "passed": "t",
    "counterexample": "F",
    "nothing tested": "-",
}


def told(prop: Any) -> str:  # noqa: ANN401 -- any property
    """Return the truth of a property as a letter: T or t, F or f, sure or not; - if it was rejected."""
    result = check(lambda: prop)
    return "f" if result.undecided else WORDS[result.outcome]


PARTS: dict[str, Any] = {"T": True, "t": LIKELY, "F": False, "f": OPEN, "-": REJECTED}


def rows_of(table: str) -> list[tuple[str, str, str]]:
    """Read "TF=F": the left truth, the right one, and their result."""
    return [(row[0], row[1], row[3]) for row in table.split()]


@pytest.mark.parametrize(
    ("join", "table"),
    [
        (all_of, "TT=T Tt=t TF=F Tf=f T-=T tt=t tF=F tf=f t-=t FF=F Ff=F F-=F ff=f f-=f --=-"),
        (any_of, "TT=T Tt=T TF=T Tf=T T-=T tt=t tF=t tf=t t-=t FF=F Ff=f F-=- ff=f f-=- --=-"),
        (iff, "TT=T Tt=t TF=F Tf=f T-=- tt=t tF=f tf=f t-=- FF=T Ff=t F-=- ff=t f-=- --=-"),
    ],
)
def test_joined_properties_follow_this_table(join: Any, table: str) -> None:  # noqa: ANN401 -- a connective
    """In either order; small letters are truths that further values might change."""
    for one, other, expected in rows_of(table):
        assert told(join(PARTS[one], PARTS[other])) == expected, one + other
        assert told(join(PARTS[other], PARTS[one])) == expected, other + one


def test_an_implication_rejects_what_does_not_meet_its_condition() -> None:
    """The right side counts only if the left one holds; an unsure left side refutes nothing."""
    table = "TT=T Tt=t TF=F Tf=f T-=- tT=t tF=f FT=- FF=- fT=- fF=- -T=- -F=-"
    for one, other, expected in rows_of(table):
        assert told(implies(PARTS[one], PARTS[other])) == expected, one + other


def test_not_turns_everything_round_but_a_rejection() -> None:
    """The opposite of a rejection is a rejection, and an unsure truth stays unsure."""
    assert [told(not_(PARTS[part])) for part in "TtFf-"] == ["F", "f", "T", "t", "-"]


FINDINGS = st.builds(Truth, st.sampled_from([True, False, None]), st.booleans(), st.just(()))


@given(FINDINGS, FINDINGS, FINDINGS)
def test_the_order_of_parts_does_not_matter(one: Truth, other: Truth, third: Truth) -> None:
    """And, or are commutative and associative."""
    for join in (all_hold, one_holds):
        assert join(one, other) == join(other, one)
        assert join(join(one, other), third) == join(one, join(other, third))
    assert equal(one, other) == equal(other, one)


@given(st.booleans() | st.none(), st.booleans() | st.none())
def test_what_is_sure_follows_logic(one: bool | None, other: bool | None) -> None:
    """Without rejections and unsure parts, these are the truth tables of logic."""
    both = Truth(one), Truth(other)
    if None not in {one, other}:
        assert all_hold(*both).truth == (one and other)
        assert one_holds(*both).truth == (one or other)
        assert equal(*both).truth == (one == other)
        assert opposite(both[0]).truth == (not one)


def test_the_right_side_is_evaluated_only_where_it_matters() -> None:
    """As Python's own words do; a function without arguments is evaluated when it is needed."""
    assert check(lambda: all_of(NO, lambda: 1 // 0)).error is None
    assert check(lambda: any_of(YES, lambda: 1 // 0))
    assert str(check(lambda: implies(NO, lambda: 1 // 0 == 1))) == "nothing tested: 1 rejection"


def test_operators_stand_for_and_or_not() -> None:
    """They join properties with each other and with truths."""
    assert told(LIKELY & OPEN) == "f"
    assert told(LIKELY | OPEN) == "t"
    assert told(~OPEN) == "t"
    assert told(LIKELY & False) == "F"


@pytest.mark.parametrize(
    "misuse", [lambda: LIKELY and True, lambda: not LIKELY, lambda: bool(REJECTED)], ids=["and", "not", "bool"]
)
def test_pythons_own_words_are_refused(misuse: Any) -> None:  # noqa: ANN401 -- a function
    """Python's own operators would take an unevaluated property for a truth."""
    with pytest.raises(UsageError, match=r"write ~, & and \| for not, and, or"):
        misuse()


def indices(text: str, char: str) -> list[int]:
    """Find the position of a character in a text."""
    return [at for at, each in enumerate(text) if each == char]


def is_index(text: str, char: str) -> Property:
    """Say which numbers are indices, as in section 2 of "Testing with Functions as Specifications"."""
    return for_all(range(len(text)), lambda i: iff(i in indices(text, char), text[i] == char))


def test_a_quantifier_inside_may_depend_on_the_arguments_outside() -> None:
    """The empty text has no indices, of which everything is true."""
    assert str(check(is_index, tests=300)) == "passed 300 tests"
    assert str(check(is_index, ["A test", ""], ["t", "s"])) == "proof after 4 tests"


def test_the_values_of_all_quantifiers_are_told() -> None:
    """From the outside to the inside; a name that is taken gets a mark."""
    wrong = for_all(range(3), lambda i: for_all(range(i, 4), lambda j: for_all(range(4), lambda i: i + j < 5)))
    assert str(check(wrong)) == "counterexample after 1 test: i=0, j=2, i'=3"


def test_there_is_one() -> None:
    """A witness proves it, and is reported; none among all is a counterexample; none among the first is not."""
    assert str(check(exists(int, lambda n: n * n == 49))) == "proof after 1 test: n=7"
    assert str(check(exists(range(9), lambda n: n * n == 50))) == "counterexample after 1 test"
    assert str(check(exists(int, lambda n: n * n == 50), tests=10)) == "nothing tested: 1 undecided"
    assert str(check(for_all(range(9), lambda n: exists(int, lambda m: n + m == 0)))) == "proof after 9 tests"
    assert str(check(~exists(int, lambda n: n == -3))) == "counterexample after 1 test: n=-3"
    assert str(check(~for_all(int, lambda n: n != -3))) == "proof after 1 test: n=-3"


def test_quantifiers_take_types_from_the_function() -> None:
    """Or from `values`, for each type wherever it occurs."""

    def fits(number: int, on: bool) -> bool:
        return number >= on

    assert str(check(for_all(fits, values={int: range(1, 3)}))) == "proof after 4 tests"
    assert str(check(for_all(range(2), fits))) == "counterexample after 2 tests: number=0, on=True"
    assert str(check(exists(fits, values={int: [0]}))) == "proof after 1 test: number=0, on=False"


@pytest.mark.parametrize("parts", [(), (range(3),), (range(3), 5)])
def test_a_quantifier_needs_a_function(parts: tuple[Any, ...]) -> None:
    """A quantifier refuses arguments whose last one is not a function."""
    with pytest.raises(UsageError, match="the function comes last"):
        for_all(*parts)
