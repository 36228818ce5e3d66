"""`Accept` in time: its window, and the timers of the state that it leads to, are those of a plain transition.

An `Accept` that leads to one state on one sequence of outputs, and to none on others, is that transition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Final

import pytest

from otf.spec import Accept, Spec, Transition, goto
from tests.core.timed import PACINGS, driven, judged

Window = tuple[float, float] | None
Item = Transition[str] | Accept
Table = dict[tuple[str, ...], str]
Build = Callable[[Sequence[Item]], Spec[str, str]]
CASES: Final = 400
WORDS: Final = ("x!{}", "x!{}", "z!{}", "quiet{}", "a?{}", "y!{}")


def accepting(table: Table, within: Window = None) -> Accept:
    """Return an `Accept` of these sequences on P, of which none begins with another."""
    return Accept(lambda seen: [table[seen]] if seen in table else [], "P", lambda seen: _ended(table, seen), within)


def _ended(table: Table, seen: tuple[str, ...]) -> bool:
    return not any(len(each) > len(seen) and each[: len(seen)] == seen for each in table)


def plain(table: Table, within: Window = None) -> list[Transition[str]]:
    """Return the same as transitions."""
    return [goto(state, *outputs, within=within) for outputs, state in table.items()]


def _timer(state: str) -> Iterator[Item]:
    """Return what is due 1 to 2 s after the device became hot."""
    if state == "hot":
        yield goto("cold", "y", within=(1, 2))


def answering(answers: Sequence[Item]) -> Spec[str, str]:
    """Return a device that answers the first a, may become hot by that, and ignores all other inputs."""

    def step(state: str, inp: str) -> Iterable[Item]:
        return answers if (state, inp) == ("new", "a") else [goto(state)]

    return Spec(step, "new", ["a"], _timer)


def starting(answers: Sequence[Item]) -> Spec[str, str]:
    """Return a device that does so spontaneously after it was switched on."""

    def emits(state: str) -> Iterable[Item]:
        return answers if state == "on" else _timer(state)

    return Spec(lambda state, inp: [goto("on" if (state, inp) == ("new", "a") else state)], "new", ["a"], emits)


ONE: Table = {("x",): "hot"}
TWO: Table = {("x", "z"): "hot"}
EITHER: Table = {("x",): "hot", ("z", "x"): "hot", ("z", "z"): "cold"}
HOT = answering([accepting(ONE)])
SLOW = answering([accepting(ONE, (2, 5))])
PAIR = answering([accepting(TWO, (2, 5))])


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?0 x!0.15 y!2.3", "pass"),
        ("a?0 x!0.15 y!2.35", "pass"),
        ("a?0 x!0.15 y!0.5", "fail: early"),
        ("a?5 x!5.15 y!5.9", "fail: early"),
        ("a?0 x!0.15 y!1.2", "pass"),
        ("a?0 x!0.15 y!2.5", "fail: late"),
        ("a?0 x!0.15 quiet2.5", "fail: missing"),
        ("a?0 x!0.15 quiet2.3 y!2.4", "pass"),
    ],
)
def test_the_timer_of_a_state_begins_while_the_system_is_busy_with_the_input(script: str, verdict: str) -> None:
    """Also where an `Accept` leads there: R after the output at the latest, and no earlier than the input was sent."""
    assert judged(HOT, script) == verdict
    assert judged(answering(plain(ONE)), script) == verdict


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?0 x!4", "pass"),
        ("a?0 quiet1 x!4", "pass"),
        ("a?0 quiet5", "pass"),
        ("a?0 x!1", "fail: early"),
        ("a?0 quiet1 x!1.9", "fail: early"),
        ("a?0 x!5.5", "fail: late"),
        ("a?0 quiet5.5", "fail: missing"),
        ("a?0 quiet1 x!6", "fail: late"),
        ("a?0 z!3", "fail: wrong"),
        ("a?0 quiet1 z!3", "fail: wrong"),
    ],
)
def test_an_answer_that_is_accepted_is_due_in_its_window(script: str, verdict: str) -> None:
    """From 2 s after the input was sent to 5 s after it was taken; before that, silence is not a failure."""
    assert judged(SLOW, script) == verdict
    assert judged(answering(plain(ONE, (2, 5))), script) == verdict


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?0 x!2.5 z!4", "pass"),
        ("a?0 quiet1 x!2.5 quiet3.5 z!4", "pass"),
        ("a?0 x!1 z!3", "fail: early"),
        ("a?0 x!2.5 z!5.5", "fail: late"),
        ("a?0 x!2.5 quiet5.5", "fail: missing"),
        ("a?0 x!2.5 x!4", "fail: wrong"),
    ],
)
def test_every_output_of_an_accept_is_due_in_its_window(script: str, verdict: str) -> None:
    """The first as well as the last."""
    assert judged(PAIR, script) == verdict
    assert judged(answering(plain(TWO, (2, 5))), script) == verdict


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a?1 quiet2 x!3.3", "pass"),
        ("a?1 quiet2 x!2.5", "fail: early"),
        ("a?1 quiet2 x!6.65", "fail: late"),
        ("a?1 quiet2 quiet6.65", "fail: missing"),
        ("a?1 quiet2 x!6.35", "pass"),
    ],
)
def test_what_is_accepted_unasked_is_due_after_its_state_was_entered(script: str, verdict: str) -> None:
    """In `emits` the window counts from there, as that of any transition: on since 1 s, and due 2 to 5 s later."""
    verdicts = [judged(starting(answers), script) for answers in ([accepting(ONE, (2, 5))], plain(ONE, (2, 5)))]
    assert verdicts == [verdict, verdict]


@pytest.mark.parametrize(
    "script",
    [
        "a?0 y!0.5 x!2.5",
        "a?0 y!0.5 quiet1 x!2.5",
        "a?0 y!0.1 x!4 y!5.5",
    ],
)
def test_what_was_held_back_is_judged_by_its_own_time(script: str) -> None:
    """Y is due 1 to 2 s after x: where it comes before, the x that comes at last does not make it right."""
    assert judged(answering(plain(ONE, (2, 5))), script).startswith("fail")
    assert judged(SLOW, script).startswith("fail")


def _script(random: Random, table: Table, within: Window) -> str:
    """Return words with rising times, which are odd so that none is at a bound.

    What has no window comes within R; `y` comes when the next state is known, since no `Accept` can judge it before.
    """
    at, words, seen = 0.0, ["a?0"], tuple[str, ...]()
    for _ in range(random.randint(1, 5)):
        at += random.choice((0.07, 0.31, 0.53, 1.13, 2.17)) if within or seen in table else 0.07
        known = seen in table or len(seen) > 1
        words.append(random.choice(WORDS if known else WORDS[:-1]).format(f"{at:.2f}"))
        seen += (words[-1][0],) if words[-1][0] in "xz" else ()
    return " ".join(words)


def _disagreements(build: Build, table: Table, within: Window) -> list[str]:
    accept, transitions = build([accepting(table, within)]), build(plain(table, within))
    scripts = sorted({_script(Random(number), table, within) for number in range(CASES)})
    found = ((script, judged(accept, script), judged(transitions, script)) for script in scripts)
    return [f"{script}: {one}, not {other}" for script, one, other in found if not _alike(one, other)]


def _alike(one: str, other: str) -> bool:
    # what overtakes an overdue output is late by the timers of an open Accept, which do not show what was due
    return _told(one) == _told(other) or (one, other) == ("fail: late", "fail: missing")


def _told(verdict: str) -> str:
    # what an output is called that comes at no time is no matter of time, and as long as an Accept is open the timers
    # of the state to which it leads do not show that it is overdue
    return "fail" if verdict in {"fail: wrong", "fail: unasked", "fail: missing"} else verdict


@pytest.mark.parametrize("within", [None, (2, 5), (0, 1), (0.5, 0.5)])
@pytest.mark.parametrize("build", [answering, starting])
def test_an_accept_is_the_transitions_that_say_the_same(build: Build, within: Window) -> None:
    """Whatever is seen, and when."""
    assert [each for table in (ONE, TWO, EITHER) for each in _disagreements(build, table, within)] == []


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("within", [None, (2, 5)])
def test_conforming_systems_pass_live(within: Window, mode: str) -> None:
    """A device that answers in its window, and whose timer begins when it may."""
    for table in (ONE, TWO):
        spec, system = answering([accepting(table, within)]), answering(plain(table, within))
        runs = [driven(spec, ["a"] * 3, mode, number=number, system=system) for number in range(40)]
        assert {verdict.outcome for verdict, _ in runs} == {"pass"}


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize(("within", "kinds"), [((0.5, 1), {"early"}), ((7, 8), {"late", "missing"})])
def test_answers_out_of_their_window_fail_live(within: Window, kinds: set[str], mode: str) -> None:
    """Whatever the mode: too early, and too late."""
    spec, system = answering([accepting(ONE, (2, 5))]), answering(plain(ONE, within))
    runs = [driven(spec, ["a"] * 3, mode, number=number, system=system) for number in range(10)]
    assert {verdict.failure.kind for verdict, _ in runs if verdict.failure is not None} <= kinds
    assert all(verdict.failed for verdict, _ in runs)


@pytest.mark.parametrize("mode", PACINGS)
@pytest.mark.parametrize("within", [(2, 5), (0.5, 1), (7, 8)])
def test_so_it_is_with_plain_transitions(within: Window, mode: str) -> None:
    """The same devices against the same model without an `Accept`: by this it is judged."""
    spec, system = answering(plain(ONE, (2, 5))), answering(plain(ONE, within))
    outcomes = {driven(spec, ["a"] * 3, mode, number=number, system=system)[0].outcome for number in range(10)}
    assert outcomes == {"pass" if within == (2, 5) else "fail"}
