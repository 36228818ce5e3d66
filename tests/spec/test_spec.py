"""A spec: functions of the state and the input, and what is worth trying."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from otf.core import Model
from otf.errors import ModelError, UsageError
from otf.spec import Accept, Elapse, Spec, Transition, goto, on, restrict, total

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass(frozen=True)
class Press:
    long: bool


def pressed(state: int, inp: Press) -> Iterable[Transition[int]]:
    """Return the transition for a pressed button."""
    return [goto(state + inp.long)]


def unknown(state: int, inp: Decimal) -> Iterable[Transition[int]]:
    """Name a type that does not exist at run time."""
    del inp
    return [goto(state)]


def test_a_step_may_yield_or_return_and_its_outputs_are_a_tuple() -> None:
    """`goto` collects outputs in their order."""
    assert list(pressed(1, Press(long=True))) == [Transition(2)]
    assert goto(3, "x", on("P", "y"), within=(1, 2)) == Transition(3, ("x", on("P", "y")), (1, 2))


NO_WINDOW = [
    (5, 1),
    (-1, 1),
    (float("nan"), 1),
    (0, float("nan")),
    (float("inf"), float("inf")),
    (1,),
    (0, 1, 2),
    [0, 1],
    3,
    ("0", 1),
]


@pytest.mark.parametrize("window", NO_WINDOW, ids=str)
def test_a_window_in_which_nothing_can_be_seen_is_an_error_of_the_model(window: Any) -> None:  # noqa: ANN401 -- wrong
    """It is refused where it is written, or when the model is asked: otherwise every system would be too late."""
    wrong = r"the time window within=.* is invalid; write \(lo, hi\), seconds"
    for make in (partial(goto, 0, "x"), partial(Accept, list)):
        with pytest.raises(ModelError, match=f"^{wrong}"):
            make(within=window)
    model = Model(Spec(lambda _state, _inp: [Transition(0, ("x",), window)], 0, ["a"]))
    with pytest.raises(ModelError, match=rf"^step\(0, 'a'\): {wrong}"):
        model.moves(model.initial, model.symbol("a"))


@pytest.mark.parametrize("window", [(0, 0), (0.5, 0.5), (1, 2.5), None])
def test_a_window_is_two_times_in_their_order(window: tuple[float, float] | None) -> None:
    """Both ends may be the same time, and a transition may have no window."""
    assert goto(0, "x", within=window).within == Accept(list, within=window).within == window


def both(_state: int) -> Iterable[str]:
    """Offer two inputs in every state."""
    return iter("ab")


@pytest.mark.parametrize("inputs", [["a", "b"], iter("ab"), both])
def test_inputs_are_a_list_or_a_function_of_the_state(inputs: Any) -> None:  # noqa: ANN401 -- either
    """The inputs of a list are the same in each state and at each call."""
    spec = Spec[int, str](lambda state, _inp: [goto(state)], 0, inputs)
    assert [list(spec.inputs(state)) for state in (0, 1)] == [["a", "b"]] * 2


def test_inputs_come_from_the_annotation_of_the_second_argument() -> None:
    """All values of the type that the step function declares."""
    assert list(Spec(pressed, 0).inputs(0)) == [Press(long=False), Press(long=True)]


class Untyped:
    """A step function without annotations; a look-up would find those of its class."""

    def __call__(self, state: int, inp: str) -> Iterable[Transition[int]]:
        """Go nowhere."""
        return [goto(state, inp)]


def untyped(*state: int) -> Iterable[Transition[int]]:
    """Have no second argument at all."""
    return [goto(*state)]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Untyped(), "<"),
        (untyped, "untyped: give inputs=[...], or declare the type of its second argument"),
        (unknown, "unknown: give inputs=[...], or declare the type of its second argument (name 'Decimal' is not def"),
        (partial(pressed), "functools.partial(<function pressed"),
        (print, "print: give inputs=[...]"),
    ],
)
def test_where_nothing_says_what_the_inputs_are_that_is_asked_for(step: Any, message: str) -> None:  # noqa: ANN401 -- anything
    """The message names the function, and what to write."""
    with pytest.raises(UsageError) as raised:
        Spec(step, 0)
    assert str(raised.value).startswith(message)


def test_a_spec_has_the_name_of_its_function() -> None:
    """The name is that of the function, a given one, or "spec"."""
    assert Spec(pressed, 0).name == "pressed"
    assert Spec(pressed, 0, name="button").name == "button"
    assert Spec(partial(pressed), 0, [Press(long=True)]).name == "spec"


def test_a_spec_tells_what_it_specifies() -> None:
    """An input for which nothing is yielded is unspecified."""
    spec = Spec[int, int](lambda state, inp: [goto(state - inp)] if inp <= state else [], 2, range(5))
    assert [spec.specifies(2, inp) for inp in spec.inputs(2)] == [True, True, True, False, False]


def ended(seen: tuple[object, ...]) -> bool:
    """Return whether a b was seen."""
    return "b" in seen


@pytest.mark.parametrize(
    ("until", "complete"), [(1, [False, True, True]), (2, [False, False, True]), (ended, [False, False, True])]
)
def test_an_accept_knows_when_it_is_complete(until: Any, complete: list[bool]) -> None:  # noqa: ANN401 -- a number or a test
    """An Accept is complete after a number of outputs, or when a predicate on them is true."""
    accept = Accept(list, until=until)
    assert [accept.complete(("a", "b")[:count]) for count in range(3)] == complete


def counts(state: int, inp: int) -> Iterable[Transition[int]]:
    """Count down; only inputs up to the state can be borne."""
    assert inp <= state
    return [goto(state - inp)]


def test_the_inputs_of_a_state_are_its_guard() -> None:
    """With `guarded` an input outside `inputs(state)` is unspecified, and the step function is not called for it."""
    spec = Spec(counts, 3, lambda state: range(state + 1), guarded=True)
    assert [spec.specifies(2, inp) for inp in range(5)] == [True, True, True, False, False]
    assert spec.specifies(4, 4)
    assert [list(total(spec).step(1, inp)) for inp in (1, 2)] == [[goto(0)], [goto(1)]]
    assert not restrict(spec, lambda _, inp: inp > 1).specifies(2, 3)
    assert spec.name == "counts"


def test_other_values_of_the_inputs_are_another_guard() -> None:
    """The guard of a spec that is bounded are its new inputs; 1, 1.0 and True are three inputs."""
    spec = Spec(counts, 9, guarded=True, values={int: range(3)}).bounded({int: [1, 7]})
    inputs: tuple[Any, ...] = (1, 2, 7, 1.0, True)
    assert [spec.specifies(9, inp) for inp in inputs] == [True, False, True, False, False]


@pytest.mark.parametrize("seconds", [0, -1.0, 3600.1, float("nan"), float("inf")])
def test_a_wait_has_an_end(seconds: float) -> None:
    """An Elapse of no time, or of more than an hour, is refused."""
    with pytest.raises(ModelError, match="more than 0 and at most 3600"):
        Elapse(seconds)


def test_a_wait_is_specified_in_every_state() -> None:
    """An Elapse is allowed where the step function yields nothing for it."""
    assert Spec[int, Any](lambda _state, _inp: (), 0, [Elapse(1)]).specifies(0, Elapse(1))


def test_a_guard_remembers_the_inputs_of_few_states() -> None:
    """Each state is asked for its inputs once while it is among the latest; after many others it is asked again."""
    asked = list[int]()

    def inputs(state: int) -> list[str]:
        asked.append(state)
        return ["up"] if state < 100 else []

    spec = Spec(lambda state, _inp: [goto(state + 1)], 0, inputs, guarded=True)
    states = [*range(1_000, 1_040), 1]  # objects of their own, not the small numbers that Python shares
    for state in states:
        assert list(spec.step(state, "up")) == ([goto(2)] if state == 1 else [])
        assert list(spec.step(state, "down")) == []
    assert asked == states
    spec.step(states[0], "up")
    assert asked == [*states, 1_000]
