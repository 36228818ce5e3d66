"""Systems made from specs: where the spec leaves a choice, chance decides."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from otf.errors import ModelError
from otf.simulate import Emission, System
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, goto, on


def system(*ways: Transition[Any] | Accept, thought: object = None) -> System:
    """Return a system that may do these things on an a, and nothing on others; `thought` is what it thinks of."""
    spec = Spec[Any, str](lambda state, inp: ways if inp == "a" and state == "new" else [], "new", ["a"])
    invent: Callable[[Any], Any] | None = None if thought is None else lambda _item: thought
    return System(spec, lambda _value: "line", Random(1), invent)


def oops(_state: object, _inp: object) -> list[Transition[int]]:
    """Return what a system does that minds no spec."""
    return [goto(1, "oops")]


def seen(*ways: Transition[Any] | Accept, times: int = 50) -> set[tuple[object, ...]]:
    """Return the sequences of outputs that fifty such systems give."""
    found = set[tuple[object, ...]]()
    for number in range(times):
        one = system(*ways)
        one.random = Random(number)
        found.add(tuple(each.output for each in one.take("a").outputs))
    return found


def test_every_choice_is_taken_now_and_then() -> None:
    """Of transitions, of alternatives, of orders."""
    assert seen(goto(1, "x"), goto(1, "y")) == {("x",), ("y",)}
    assert seen(goto(1, OneOf("x", "y"), "z")) == {("x", "z"), ("y", "z")}
    assert seen(goto(1, AnyOrder("x", "y"))) == {("x", "y"), ("y", "x")}


def test_outputs_come_on_their_ports() -> None:
    """That which is named, else that of the value."""
    assert system(goto(1, on("other", "x"), "y")).take("a").outputs == (Emission("x", "other"), Emission("y", "line"))


def test_an_accept_gives_what_was_thought_of_and_leads_where_that_leads() -> None:
    """The system chooses an id, and remembers it."""
    one = system(Accept(lambda seen: [("job", *seen)]), thought=(7,))
    assert one.take("a").outputs == (Emission(7, "line"),)
    assert one.state == ("job", 7)


def test_what_only_has_to_be_like_something_has_to_be_thought_of() -> None:
    """Somebody has to say what a string may be."""
    assert system(goto(1, str), thought="hello").take("a").outputs == (Emission("hello", "line"),)
    with pytest.raises(ModelError, match="has no value for <class 'str'>: pass `invent`"):
        system(goto(1, str)).take("a")


def test_an_input_that_the_spec_leaves_open_is_ignored_or_brings_something_else() -> None:
    """As it is told."""
    assert system(goto(1, "x")).take("b").outputs == ()
    careless = system(goto(1, "x"))
    careless.otherwise = oops
    assert careless.take("b").outputs == (Emission("oops", "line"),)


def test_what_comes_unasked_is_done_when_it_is_told() -> None:
    """The spec decides which moves there are; the world decides when."""
    spec = Spec[int, str](lambda _state, _inp: [], 0, [], lambda state: [goto(state + 1, "tick")])
    clock = System(spec, lambda _value: "line", Random(1))
    (way,) = clock.spontaneous()
    assert clock.do(way).outputs == (Emission("tick", "line"),)
    assert clock.state == 1
    assert system(goto(1, "x")).spontaneous() == []


def test_outputs_accepted_on_several_ports_are_emitted_on_theirs() -> None:
    """An `Accept` of two ports gets what was invented for each, and its function decides on the state."""
    way = Accept(lambda seen: [len(seen["P"]) + len(seen["Q"])], ("P", "Q"))
    made = system(way)
    made.invent = lambda _accept: {"P": ("x",), "Q": ("y", "z")}
    assert made.take("a").outputs == (Emission("x", "P"), Emission("y", "Q"), Emission("z", "Q"))
    assert made.state == 3
