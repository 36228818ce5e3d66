"""A model that answers differently the second time is found, before it blames the system."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pytest

from otf.core import Monitor
from otf.core.repeatable import ask_again
from otf.errors import ModelError
from otf.explore import explore
from otf.explore.analysis import ask_twice
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, Where, goto, on
from tests.core.scripts import events, machine, oracle

Step = Callable[[int, str], Iterable[Transition[int] | Accept]]


def counting(*answers: Iterable[Transition[int] | Accept]) -> Step:
    """Return a step function that gives these answers in turn, whatever its arguments."""
    calls = count()
    return lambda _state, _inp: answers[min(next(calls), len(answers) - 1)]


def asked(step: Step, *script: str, emits: Callable[[int], Iterable[Transition[int]]] | None = None) -> str:
    """Return the error of a model that judges its run again; empty if it answers the same."""
    spec = Spec(step, 0, ["a"], emits)
    known = oracle(spec)
    run = [*events(*script)]
    judge = Monitor(known)
    for event in run:
        judge.tell(event)
    return said(lambda: ask_again(known.model, oracle(spec), run))


def said(call: Callable[[], None]) -> str:
    """Return the message of a ModelError, empty without one."""
    try:
        call()
    except ModelError as error:
        return str(error)
    return ""


def test_the_same_answer_is_none_otherwise() -> None:
    """A correct model passes, though each call makes new functions and orders its answers differently."""
    assert asked(lambda state, _inp: [goto(1 - state, "x")], "a? x! quiet a? x! quiet") == ""
    assert asked(lambda _s, _i: [goto(0, "x"), goto(1, "z")], "a? x! quiet") == ""
    assert asked(lambda _s, _i: [goto(0, on("P", Where(lambda _seen: True)))], "a? x! quiet") == ""
    assert asked(lambda _s, _i: [Accept(lambda _seen: [0], "P")], "a? x! quiet") == ""
    assert asked(counting([goto(0), goto(1)], [goto(1), goto(0)]), "a? quiet") == ""
    assert asked(counting([goto(0, AnyOrder("x", "z"))], [goto(0, AnyOrder("z", "x"))]), "a? x! z! quiet") == ""
    assert asked(lambda state, _inp: [goto(state)], "quiet", emits=lambda state: [goto(state, "x")]) == ""


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ([goto(0)], [goto(1)], "first nothing -> 0; then nothing -> 1"),
        ([goto(0, "x")], [], "first 'x' -> 0; then no transition"),
        ([goto(0, "x")], [goto(0, "z")], "first 'x' -> 0; then 'z' -> 0"),
        ([goto(0, "x")], [goto(0, "x", within=(0, 1))], "first 'x' -> 0; then 'x' -> 0"),
        ([goto(0, "x", "z")], [goto(0, "z", "x")], "first 'x', 'z' -> 0; then 'z', 'x' -> 0"),
        ([goto(0, on("P", str))], [goto(0, on("P", int))], "first any str on P -> 0; then any int on P -> 0"),
        ([Accept(list, "P", says="any")], [goto(0)], "first any -> a state that they decide; then nothing -> 0"),
        ([goto(each) for each in range(5)], [], "first nothing -> 0; nothing -> 1; nothing -> 2, and 2 more; then no"),
    ],
)
def test_a_step_that_answers_otherwise(first: Any, then: Any, message: str) -> None:  # noqa: ANN401 -- transitions
    """The error has the call, both answers, and the rule that was broken."""
    found = asked(counting(first, then), "a?", "quiet")
    assert found.startswith("step(0, 'a') answered differently when it was asked again: ")
    assert message in found
    assert "where the system may choose, it yields a transition for each choice\n  File " in found


def test_emits_that_answers_otherwise() -> None:
    """Spontaneous transitions are compared as well."""
    answers = iter([[goto(0, "x")], []])
    found = asked(lambda state, _inp: [goto(state)], "quiet", emits=lambda _state: next(answers))
    assert found.startswith("emits(0) answered differently when it was asked again: first 'x' -> 0; then no transition")


def test_an_initial_state_that_has_changed() -> None:
    """A state that was changed in place is found."""
    spec = machine("s0 -a-> s0")
    found = said(lambda: ask_again(oracle(machine("s1 -a-> s0")).model, oracle(spec), ()))
    assert found == "the initial state was 's1', and is 's0' now: a model must not change what it is given"


def test_all_of_a_graph_is_asked_twice() -> None:
    """All calls of a graph are made twice; ports of outputs do not matter."""
    spec = Spec[int, str](
        lambda state, inp: (
            [goto(len(inp), "x", str, on("P", str), state)] if inp != "c" else [Accept(lambda _s: [], "Q")]
        ),
        0,
        ["a", "bb", "c"],
        emits=lambda _state: [goto(0, on("Q", "x"))],
    )
    ask_twice(spec, explore(spec))
    drawn = count()
    chance = Spec[int, str](lambda _state, _inp: [goto(next(drawn) % 7)], 0, ["a"])
    with pytest.raises(
        ModelError, match=r"^step\(\d, 'a'\) answered differently when it was asked again: first nothing"
    ):
        ask_twice(chance, explore(chance))


def test_a_choice_of_the_system_is_compared_by_what_it_may_choose() -> None:
    """The same outputs in another order are the same choice; another output is not."""
    assert asked(counting([goto(0, OneOf("x", "z"))], [goto(0, OneOf("z", "x"))]), "a? x! quiet") == ""
    assert "answered differently" in asked(
        counting([goto(0, OneOf("x", "z"))], [goto(0, OneOf("x", "y"))]), "a? x! quiet"
    )
