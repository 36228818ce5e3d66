"""Mutants of models with time: proved over states and timers, and hunted in virtual time."""

from __future__ import annotations

from collections.abc import Iterator

from otf.mutation import Fate, HuntBudget, Survival, bench_of, mutate
from otf.spec import Spec, Transition, goto, start, stop
from tests.mutation.lamps import FEW, reasons


def session(most: int) -> Spec[int, str]:
    """Return a session of 7 seconds with a tick every 2 or 3; so many ticks are told apart."""

    def step(ticks: int, _inp: str) -> Iterator[Transition[int]]:
        if ticks:
            yield goto(ticks, "refused")
        else:
            yield goto(1, "begun", timers=[start("tick", 2, 3), start("end", 6, 7)])

    def emits(ticks: int) -> Iterator[Transition[int]]:
        if ticks == most:
            yield goto(ticks, "many", after="tick", timers=[start("tick", 2, 3)])
        elif ticks:
            yield goto(ticks + 1, "tick", after="tick", timers=[start("tick", 2, 3)])
        if ticks:
            yield goto(0, "end", after="end", timers=[stop("tick")])

    return Spec(step, 0, ["go"], emits, name="session")


def test_a_rule_that_time_does_not_reach_is_equivalent() -> None:
    """No session lasts for eight ticks."""
    report = mutate(bench_of(session(8)), budget=FEW, operators=["drop", "lost timer"])
    unreached = [each for each in report.results if each.why is Survival.UNREACHABLE]
    assert unreached
    assert {each.mutant.when for each in unreached} == {"in 8"}
    assert not report.of(Fate.OPEN)


def test_a_timer_that_a_path_rarely_waits_for_is_missed() -> None:
    """One input is too little: the reason names the inputs after which a wait shows it."""
    report = mutate(bench_of(session(2)), budget=HuntBudget(steps=1), operators=["late"])
    assert report.counts["open"] + report.counts["killed"] == len(report.results) > 0


def test_a_window_that_is_restarted_for_ever_is_named() -> None:
    """News may come any time, back into the same state: so the end is never due."""

    def step(busy: int, inp: str) -> Iterator[Transition[int]]:
        if inp == "search":
            yield goto(1)
        else:
            yield goto(busy)

    def emits(busy: int) -> Iterator[Transition[int]]:
        if busy:
            yield goto(1, "news")
            yield goto(0, "end", within=(0.0, 5.0))

    few = HuntBudget(steps=20, seconds=60.0)  # the reason is that of a proof, and is the same after 400
    report = mutate(bench_of(Spec(step, 0, ["search", "ask"], emits)), budget=few, operators=["extra"])
    assert any("restarts the window of ('end',), which is never due" in says for _, says in reasons(report.results))
