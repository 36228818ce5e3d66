"""A hole put into a bench on purpose is named as the reason why mutants survive."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from otf.mutation import Fate, HuntBudget, Survival, bench_of, mutate
from otf.spec import Spec, Transition, goto
from tests.mutation import lamps


def test_a_bench_without_a_hole_kills_each_mutant() -> None:
    """Wrong answers, levels and guards; nothing is open, and nothing is excused."""
    report = lamps.hunted(bench_of(lamps.lamp()))
    assert (report.counts["open"], report.counts["broken"]) == (0, 0)
    # the levels 1 and 2 answer the same to each key: to go to 2 instead of 1 is not a mistake
    assert [each.mutant.when for each in report.of(Fate.EQUIVALENT)] == ["Press(key='up') in 0"]
    operators = {each.mutant.operator.name for each in report.results}
    assert operators == {"drop", "double", "field", "target", "guard", "extra"}


def test_an_expectation_that_is_too_wide_is_named() -> None:
    """A `Where` that accepts each answer: a wrong level conforms, with the description of the `Where`."""
    report = lamps.hunted(lamps.wide(), "field")
    assert report.counts["equivalent"] == len(report.results) > 0
    assert lamps.reasons(report.results) == {
        ("allowed by the model", "the model accepts any such output: any brightness")
    }


def test_an_accept_that_is_too_wide_is_named() -> None:
    """An `Accept` that takes any output."""
    report = lamps.hunted(lamps.accepting(), "field")
    found = lamps.reasons(report.of(Fate.EQUIVALENT))
    assert found == {("allowed by the model", "the model accepts it: whatever it says")}


def test_a_lost_timer_is_named() -> None:
    """Without a window an output may come or not; with one, a timer that never expires is found."""
    lost = lamps.hunted(lamps.blinking(None), "lost timer")
    assert [each.fate for each in lost.results] == [Fate.EQUIVALENT]
    assert "the model never requires this output" in lost.results[0].says
    kept = lamps.hunted(lamps.blinking((0.2, 0.3)), "lost timer", "late", "early")
    assert {(each.mutant.operator.name, each.fate.value) for each in kept.results} == {
        ("lost timer", "killed"),
        ("late", "killed"),
        ("early", "killed"),
    }


def test_a_codec_that_drops_a_field_is_named() -> None:
    """The wrong volts have the bytes of the right ones; the wrong level is found."""
    report = lamps.hunted(lamps.losing(), "field")
    fates = {(each.mutant.operator.says, each.fate.value) for each in report.results}
    assert fates == {("Lit.level has another value", "killed"), ("Lit.volts has another value", "open")}
    assert {each.why for each in report.of(Fate.OPEN)} == {Survival.CODEC}
    assert report.through_codec


def test_a_known_issue_that_is_too_wide_is_named() -> None:
    """A missing answer counts as known, so no mutant that drops one is found."""
    report = lamps.hunted(lamps.excused(), "drop")
    assert lamps.reasons(report.results) == {("masked by a known issue", "its failures count as known: it is tired")}


def test_what_a_budget_does_not_reach_is_named_with_a_path() -> None:
    """A counter that is wrong at 30 only: ten inputs do not come there, and the inputs that do are listed."""

    def count(state: int, _inp: str) -> Iterator[Transition[int]]:
        if state < 30:
            yield goto(state + 1, "ok")
        else:
            yield goto(state, "full")

    report = mutate(bench_of(Spec(count, 0, ["go"])), budget=HuntBudget(steps=10))
    missed = [each for each in report.of(Fate.OPEN) if each.why is Survival.NOT_REACHED]
    assert missed
    assert {len(each.path) for each in missed} == {31}


def test_a_difference_that_comes_too_late_is_missed_with_its_inputs() -> None:
    """Reached, but the path ended before it showed: the shortest inputs that show it are listed."""

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(min(9, state + 1) if inp == "go" else state, "many" if state > 4 else "few")

    report = mutate(bench_of(Spec(step, 0, ["go", "ask"])), budget=HuntBudget(steps=3))
    missed = [each for each in report.results if each.why is Survival.MISSED]
    assert missed
    assert all(each.path for each in missed)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_gives_the_same_result(seed: int) -> None:
    """The same mutants, steps and reasons."""
    one, two = (mutate(lamps.wide(), seed=seed, most=8, budget=lamps.FEW) for _ in range(2))
    assert [(each.mutant.when, each.fate, each.steps, each.says) for each in one.results] == [
        (each.mutant.when, each.fate, each.steps, each.says) for each in two.results
    ]
