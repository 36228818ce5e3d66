"""An error of the model names the function, the state and the input, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from inspect import isfunction
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from otf.codec import lines
from otf.core import Model, Routes
from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, Where, drifting, goto, on, total
from otf.trace.events import Event
from tests.core.scripts import oracle, outcome, run, seen, spec_of


@dataclass(frozen=True)
class Mute:
    """A state that cannot be shown."""

    number: int

    def __repr__(self) -> str:
        """Fail."""
        raise RuntimeError


@dataclass
class Mutable:
    number: int = 0


def answering(answer: Any) -> Spec[int, str]:  # noqa: ANN401 -- the point is that it is not a list of transitions
    """Return a spec whose step function returns this."""

    def step(_state: int, _inp: str) -> Iterable[Transition[int]]:
        found: Iterable[Transition[int]] = answer() if isfunction(answer) else answer
        return found

    return Spec(step, 0, ["a"])


def message(spec: Spec[Any, Any], *script: str | Event) -> str:
    """Return the message for the author of the model."""
    with pytest.raises(ModelError) as raised:
        run(spec, *(script or ("a? quiet",)))
    return str(raised.value)


def raising() -> Iterable[Transition[int]]:
    """Yield something and raise."""
    yield goto(0)
    message = "no such key"
    raise LookupError(message)


def dividing() -> Iterable[Transition[int]]:
    """Raise before there is anything to yield from."""
    return [goto(1 // 0)]


def both() -> Generator[Transition[int], None, Transition[int]]:
    """Return a transition after one was yielded."""
    yield goto(1)
    return goto(2)


WRONG: list[tuple[object, str]] = [
    (raising, "the model raised LookupError: no such key"),
    (dividing, "the model raised ZeroDivisionError: "),
    (None, "it returned None; yield transitions (goto(state, output, …)), or return a list of them"),
    (goto(1), "it returned Transition(state=1); yield"),
    ([1], "it gave 1, which is not a transition; write goto(state, output, …)"),
    (len, "it returned len; yield transitions"),
    ([goto], "it gave goto, which is not a transition; write goto(state, output, …)"),
    (both, "it returned Transition(state=2), which nothing sees, since it also has `yield`: yield it"),
    ("tea", "it gave 't', which is not a transition"),
    ([goto([])], "the state [] cannot be compared: a list can change and has no hash"),
    ([Transition(0, cast("tuple[object]", "tea"))], "it gave a Transition with the outputs 'tea', no tuple"),
    ([goto(0, "no port")], "the model raised KeyError: 'no port'"),
    ([goto(0, str)], "any str names no port; write on(port, …) with one of P, Q"),
    ([goto(0, Where(callable))], "a Where names no port"),
    ([goto(0, callable)], "a function names no port"),
    ([Accept(list)], "an Accept names no port; write Accept(…, port=…) with one of P, Q"),
    ([on("P", Accept(list))], "it gave an Accept inside on(…); write Accept(…, port='P')"),
    ([goto(0, on("R", "x"))], "'x' is expected on the port 'R'; the ports with outputs are P, Q"),
    ([Accept(list, "R")], "an Accept is expected on the port 'R'"),
    ([Accept(list, "P", until=0)], "it gave an Accept of 0 outputs; a transition without outputs is goto(state)"),
    ([goto(0, OneOf())], "OneOf() has no alternatives"),
    ([goto(0, AnyOrder(OneOf("x")))], "OneOf(items=('x',)) cannot stand inside a transition"),
    ([goto(0, on("P", Accept(list)))], "cannot stand inside a transition; yield one transition for each"),
]


@pytest.mark.parametrize(("answer", "expected"), WRONG, ids=[expected[:30] for _, expected in WRONG])
def test_what_a_step_does_wrong_is_said_with_its_state_and_input(answer: object, expected: str) -> None:
    """The first line names the call, what it returned or raised, and what would be right."""
    assert message(answering(answer)).startswith("step(0, 'a'): ")
    assert expected in message(answering(answer))


def looked_up(_state: int, inp: str) -> Iterable[Transition[int]]:
    """Raise in a function that it calls."""
    yield goto(price(inp))


def price(inp: str) -> int:
    """Return nothing: the table is empty."""
    return dict[str, int]()[inp]


def located(error: str) -> list[tuple[str, str]]:
    """Return the files and functions that a message names."""
    return [(Path(file).name, name) for file, name in re.findall(r'File "(.+)", line \d+, in (\S+)', error)]


HERE = Path(__file__).name


def test_the_error_shows_the_lines_of_the_model_and_none_of_otf() -> None:
    """As Python's own traceback does, outermost call first; also under `total` and in an exploration."""
    spec = Spec(looked_up, 0, ["a"])
    expected = [(HERE, "looked_up"), (HERE, "price")]
    assert located(message(spec)) == located(message(total(spec))) == expected
    assert message(spec).endswith("    return dict[str, int]()[inp]")
    with pytest.raises(ModelError) as raised:
        explore(spec)
    assert located(str(raised.value)) == expected


def test_a_wrong_answer_names_where_its_function_is_defined() -> None:
    """No frame of the model is left then; a function with arguments filled in is looked into."""
    assert located(message(answering(None))) == [(HERE, "step")]
    assert located(message(Spec(partial(returned, 5), 0, ["a"]))) == [(HERE, "returned")]


def returned(answer: Any, _state: int, _inp: str) -> Any:  # noqa: ANN401 -- it is wrong
    """Return this."""
    return answer


class Answering:
    def __call__(self, _state: int, _inp: str) -> Any:  # noqa: ANN401 -- it is wrong
        return None


def test_where_no_line_is_known_none_is_shown() -> None:
    """An object that can be called has no code of its own, and neither has a builtin."""
    assert located(message(Spec[int, str](Answering(), 0, ["a"]))) == []


def test_of_an_endless_recursion_the_innermost_lines_are_shown() -> None:
    """A thousand lines would hide the message."""

    def again(state: int, inp: str) -> Any:  # noqa: ANN401 -- it never returns
        return again(state, inp)

    assert located(message(Spec[int, str](again, 0, ["a"]))) == [(HERE, "again")] * 3


def test_the_completed_spec_says_the_same() -> None:
    """`total` hides nothing of what is wrong with the spec that it completes."""
    assert message(total(answering(None))) == message(answering(None))
    assert message(total(answering(raising))) == message(answering(raising))


def inner(state: int) -> Iterator[Any]:
    """Yield something wrong, on the third line of this function."""
    yield goto(state)
    yield "tea"


def outer(state: int, _inp: str) -> Iterator[Any]:
    """Yield it, too."""
    yield from inner(state)


def slower(spec: Spec[int, str]) -> Spec[int, str]:
    """Return the model of a system whose clock is wrong."""
    return drifting(spec, 0.1)


@pytest.mark.parametrize("change", [None, total, slower], ids=["plain", "total", "drifting"])
def test_the_line_of_a_wrong_yield_is_named(change: Callable[[Spec[int, str]], Spec[int, str]] | None) -> None:
    """It is where the generator waits, even if the model is changed on the way."""
    at = [f'  File "{__file__}", line {each.__code__.co_firstlineno + line}' for each, line in ((outer, 2), (inner, 3))]
    expected = f"""step(0, 'a'): it gave 'tea', which is not a transition; write goto(state, output, …)
{at[0]}, in outer
    yield from inner(state)
{at[1]}, in inner
    yield "tea\""""
    spec = Spec(outer, 0, ["a"])
    assert message(change(spec) if change else spec) == expected


def test_emits_is_named_with_its_state() -> None:
    """A function that is asked without an input is shown so."""
    spec = Spec[int, str](lambda state, _inp: [goto(state)], 0, ["a"], emits=lambda state: [goto(1 // state)])
    assert message(spec, "quiet").startswith("emits(0): the model raised ZeroDivisionError")


def mutable_inputs(_state: int) -> Iterable[object]:
    """Return an input that can change."""
    return [Mutable()]


def str_of(state: int) -> str:
    """Return a text, whose letters would be the inputs."""
    return str(state)


def dividing_inputs(state: int) -> Iterable[object]:
    """Raise in the state 0."""
    return [1 // state]


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (dividing_inputs, "inputs(0): the model raised ZeroDivisionError"),
        (mutable_inputs, "inputs(0): the value Mutable() cannot be compared"),
        (str_of, "inputs(0): it gave '0', and no inputs: return a list of them, or yield each"),
        (abs, "inputs(0): it gave 0, and no inputs: return a list of them, or yield each"),
    ],
)
def test_so_are_the_inputs(inputs: Callable[[int], Iterable[object]], expected: str) -> None:
    """What is worth trying is a function of the state, too."""
    judge = oracle(Spec[int, object](lambda state, _inp: [goto(state)], 0, inputs))
    with pytest.raises(ModelError) as raised:
        assert judge.view(judge.start()).specified
    assert str(raised.value).startswith(expected)


def test_an_initial_state_that_can_change_is_refused_at_once() -> None:
    """Before anything is sent."""
    with pytest.raises(UsageError, match=r"the state Mutable\(\) cannot be compared: Mutable can change"):
        Spec[object, str](lambda _state, _inp: [], Mutable(), [])


def test_an_output_that_has_no_hash_is_compared() -> None:
    """A list is an output like any other; one that holds itself is refused."""
    spec = spec_of(goto(0, on("P", ["x"])))
    assert outcome(spec, "a?", seen(["x"]), "quiet") == "pass"
    assert outcome(spec, "a?", seen([["x"]])) == "fail: wrong"
    assert outcome(spec_of(goto(0, on("P", Mutable(1)))), "a?", seen(Mutable(1)), "quiet") == "pass"
    endless: list[object] = []
    endless.append(endless)
    assert message(spec, "a?", seen(endless)).startswith("the value [[...]] cannot be compared: ")


def test_a_test_that_raises_is_named() -> None:
    """What the model calls it, and the output that it raised on."""

    def loud(text: str) -> bool:
        return text.isupper()

    spec = spec_of(goto(0, on("P", Where(loud, says="a shout"))))
    said = message(spec, "a?", seen(5))
    assert said.startswith("the test a shout of an expected output raised on 5: AttributeError")


def divided(seen: tuple[str, ...]) -> Any:  # noqa: ANN401 -- nothing ever comes of it
    """Raise where there is one output."""
    return 1 // (len(seen) - 1)


@pytest.mark.parametrize(
    "accept", [Accept(divided, "P"), Accept(cast("Any", len), "P"), Accept(list, "P", until=divided)]
)
def test_an_accept_that_raises_is_named_with_the_outputs(accept: Accept) -> None:
    """Its function, what that returns, or its own test of completeness."""
    assert message(spec_of(accept), "a? x!").startswith("an Accept in the state 'new' raised on the outputs ('x',): ")


@pytest.mark.parametrize("states", [0, None, "paid"])
def test_what_an_accept_returns_is_a_list_of_states(states: object) -> None:
    """A state alone is a mistake of the model, at its line; the system did not fail."""

    def then(_seen: tuple[str, ...]) -> Any:  # noqa: ANN401 -- not a list of states
        return states

    said = message(spec_of(Accept(then, "P")), "a? x!")
    assert f"TypeError: `then` returned {states!r}; return a list of the next states: [{states!r}]\n  File " in said
    assert said.endswith(", in then")


def test_a_state_that_cannot_be_shown_does_not_hide_the_failure() -> None:
    """The verdict stands; the state is shown by its type."""
    spec = Spec[object, str](lambda state, _inp: [goto(state)], Mute(1), ["a"])
    failure = run(spec, "a? x!").failure
    assert failure is not None
    assert failure.allowed[0].state == "<Mute whose repr raised RuntimeError>"


@pytest.mark.parametrize(
    "answer",
    [
        lambda: (goto(each) for each in count()),
        [goto(each) for each in range(10_001)],
        [goto(0, OneOf(*("xy" * 100)))] * 51,
    ],
    ids=["endless", "many", "some of many"],
)
def test_transitions_that_never_end_are_told(answer: object) -> None:
    """Each alternative counts."""
    what = "more than 10,000 transitions, with the alternatives of each: it seems never to end"
    assert message(answering(answer)).splitlines()[0] == f"step(0, 'a'): {what}"


@pytest.mark.parametrize("outputs", [[OneOf(*("xy" * 100_000))], [OneOf("x", "y")] * 40])
def test_alternatives_without_end_are_told(outputs: list[object]) -> None:
    """Where each has to be thought of, before that is tried: 40 times one of two would be a million millions."""
    assert message(answering([goto(0, *outputs, within=(0, 1))])).splitlines()[0] == (
        "step(0, 'a'): a transition has more than 10,000 alternatives; say what an output is like: Where(test)"
    )


def test_inputs_that_never_end_are_told() -> None:
    """As a function of the state, as a list that is given, and in an exploration."""
    spec = Spec[int, int](lambda state, _inp: [goto(state)], 0, lambda _state: count())
    model = Model(spec)
    with pytest.raises(ModelError, match=r"^inputs\(0\): more than 100,000 inputs: it seems never to end\n"):
        model.enabled_inputs(model.initial)
    with pytest.raises(ModelError, match=r"^inputs or emits\(0\): more than 100,000 inputs: it seems never to end$"):
        explore(spec)
    with pytest.raises(ModelError, match=r"^more than 100,000 inputs"):
        Spec[int, int](lambda state, _inp: [goto(state)], 0, count())


def test_next_states_that_never_end_are_told() -> None:
    """An Accept may give as many as a step."""
    assert "more than 10,000 next states: it seems never to end" in message(
        spec_of(Accept(lambda _seen: count(), "P")), "a?", seen("x")
    )


def test_as_many_transitions_as_are_taken() -> None:
    """The bound itself is none too many."""
    model = Model(answering([goto(each) for each in range(10_000)]))
    assert len(model.moves(model.initial, model.symbol("a"))) == 10_000


def test_trouble_of_the_bench_keeps_its_words() -> None:
    """A codec that does not know the port of an output raises its own error; the call is added."""

    def port(value: object) -> str:
        message = f"{value}: no port"
        raise UsageError(message)

    judge = oracle(spec_of(goto(0, "x")), routes=Routes(("P",), port))
    with pytest.raises(ModelError, match=r"^step\('new', 'a'\): x: no port\n"):
        run(judge, "a? quiet")


def test_with_one_port_nothing_needs_a_port() -> None:
    """Values, classes, tests and Accept all belong to the only one."""
    one = oracle(spec_of(goto(0, "any", str, callable, Where(callable)), Accept(list)), routes=Routes(("P",)))
    assert outcome(one, "a?", seen("any"), seen("text"), seen(print), seen(print), "quiet") == "pass"


def test_a_bench_that_names_no_output_ports_may_use_any() -> None:
    """What is not declared cannot be checked; the codec's word is taken."""
    codec = lines({Mute: "mute {number}"}, port="line")
    judge = oracle(spec_of(goto(0, Mute(1))), routes=Routes((), codec.port))
    assert outcome(judge, "a?", seen(Mute(1), "line"), "quiet") == "pass"


def test_an_error_of_a_model_that_has_no_text() -> None:
    """It is told by its name."""

    class Wordless(Exception):  # noqa: N818 -- its name is told
        def __str__(self) -> str:
            raise ValueError

    def wordless() -> Iterable[Transition[int]]:
        raise Wordless

    with pytest.raises(ModelError, match="the model raised Wordless: "):
        run(answering(wordless), "a? quiet")


def test_ctrl_c_within_a_model_is_no_defect_of_it() -> None:
    """KeyboardInterrupt goes through as it is: the user meant the tester."""

    def interrupted() -> Iterable[Transition[int]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(answering(interrupted), "a? quiet")
