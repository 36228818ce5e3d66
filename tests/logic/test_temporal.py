"""Temporal properties, followed step by step, mean what LTL means on all finite runs up to six steps."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf import UsageError
from otf.logic import (
    Formula,
    PropertyStep,
    all_of,
    always,
    any_of,
    for_all,
    iff,
    implies,
    never,
    not_,
    now,
    sometimes,
    then,
    until,
    within,
)
from otf.temporal import MOST, Residue, formula

LONGEST = 6
STEPS = (PropertyStep("a"), PropertyStep("b"), PropertyStep("c", ("a", "b")), PropertyStep(None, ("d",)))
A, B = now("a"), now("b")

formulas = st.recursive(
    st.sampled_from([A, B, now("d")]),
    lambda parts: st.one_of(
        st.builds(always, parts),
        st.builds(never, parts),
        st.builds(sometimes, parts),
        st.builds(then, parts),
        st.builds(Formula.__invert__, parts),
        st.builds(within, st.integers(0, 3), parts),
        st.builds(until, parts, parts),
        st.builds(Formula.__and__, parts, parts),
        st.builds(Formula.__or__, parts, parts),
    ),
    max_leaves=4,
)


Run = Sequence[PropertyStep]


def holds(what: Formula, run: Run, at: int = 0) -> bool:
    """Return whether a property holds from a step of a whole run on, by the definition of LTL on finite runs."""
    parts, later = what.parts, range(at, len(run))
    if what.atom is not None:
        return at < len(run) and what.atom.of(run[at]) is (what.kind == "now")
    here = [[holds(each, run, i) for i in later] for each in parts]
    meanings: dict[str, Callable[[], bool]] = {
        "all": lambda: all(holds(each, run, at) for each in parts),
        "any": lambda: any(holds(each, run, at) for each in parts),
        "always": lambda: all(here[0]),
        "sometimes": lambda: any(here[0]),
        "within": lambda: any(here[0][: what.steps + 1]),
        "throughout": lambda: all(here[0][: what.steps + 1]),
        "until": lambda: any(here[1][i] and all(here[0][:i]) for i in range(len(later))),
        "release": lambda: all(here[1][i] or any(here[0][:i]) for i in range(len(later))),
        "then": lambda: at + 1 < len(run) and holds(parts[0], run, at + 1),
        "last": lambda: at + 1 >= len(run) or holds(parts[0], run, at + 1),
    }
    return meanings[what.kind]()


def runs(longest: int = LONGEST, steps: Run = STEPS[:3]) -> Iterator[Run]:
    """Return all runs up to a length."""
    return (run for length in range(1, longest + 1) for run in product(steps, repeat=length))


def followed(what: object, run: Run) -> Residue:
    """Return what is left of a property after a run."""
    left = Residue.of(what)
    for step in run:
        left = left.after(step)
    return left


@settings(max_examples=120, deadline=None)
@given(formulas, st.lists(st.sampled_from(STEPS), min_size=1, max_size=LONGEST))
def test_end_of_a_run(what: Formula, run: list[PropertyStep]) -> None:
    """At the end of a run what is left ends well if the run meets the property."""
    assert followed(what, run).ends_well is holds(what, run)


@settings(max_examples=60, deadline=None)
@given(formulas, st.lists(st.sampled_from(STEPS), min_size=1, max_size=3))
def test_decided_for_good(what: Formula, run: list[PropertyStep]) -> None:
    """A property that is decided stays so whatever comes."""
    truth = followed(what, run).truth
    if truth is not None:
        assert all(holds(what, (*run, *more)) is truth for more in runs(3, STEPS))


@pytest.mark.parametrize(
    "what",
    [
        always(implies(A, within(2, B))),
        always(implies(A, then(until(A, B)))),
        never(all_of(A, then(A))),
        until(not_(B), A),
        any_of(always(A), sometimes(all_of(B, then(B)))),
        always(iff(A, then(B))),
        within(2, all_of(B, then(A))),
    ],
    ids=range(7),
)
def test_all_short_runs(what: object) -> None:
    """All runs up to six steps are judged as by definition."""
    whole = formula(what)
    for run in runs():
        left = followed(whole, run)
        assert left.ends_well is holds(whole, run), run
        if left.truth is not None:
            assert left.ends_well is left.truth


def test_first_step() -> None:
    """A violation is known at the first step that makes it certain."""
    left = Residue.of(always(implies(A, within(1, "tea"))))
    left = left.after(PropertyStep("a"))
    assert left.truth is None
    assert not left.ends_well
    assert left.after(PropertyStep("b", ("tea",))).ends_well
    assert left.after(PropertyStep("b")).truth is False


def test_unknown_step() -> None:
    """A step of which nothing is known decides nothing that depends on it."""
    unsure = Residue.of(never("smoke")).after(None)
    assert unsure.truth is None
    assert not unsure.ends_well
    assert unsure.after(PropertyStep("a", ("smoke",))).truth is False  # this step alone decides


def test_bounded() -> None:
    """What is left does not grow with the run."""
    what = always(implies(A, within(5, B))) & always(any_of(within(2, A), within(3, B))) & until(A | B, then(B))
    sizes = {len(followed(what, STEPS[:2] * count).ways) for count in range(30)}
    assert max(sizes) <= 10


def test_too_many_ways() -> None:
    """A property with too many alternatives is open and no false alarm."""
    atoms = [(now(f"x{i}"), now(f"y{i}")) for i in range(12)]
    what = all_of(*(sometimes(one) | sometimes(other) for one, other in atoms))
    left = followed(what, [PropertyStep("a")])
    assert 2 ** len(atoms) > MOST
    assert left.truth is None
    assert not left.ends_well


def test_one_step() -> None:
    """A value a class and a function are properties of one step."""
    step = PropertyStep("coin", (3, True))
    assert followed(now(3) & now("coin") & now(bool) & ~now(1), [step]).truth
    assert followed(now(lambda seen: len(seen.outputs) == 2), [step]).truth


def test_refused() -> None:
    """What is not a property of a step is refused."""
    for wrong in (True, for_all([1], lambda _: True)):
        with pytest.raises(UsageError, match="not a property of a step"):
            always(wrong)
    with pytest.raises(UsageError, match="write ~, & and"):
        assert not always(A)
    with pytest.raises(UsageError, match="from 0"):
        within(-1, A)
