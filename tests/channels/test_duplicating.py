"""Nets that duplicate messages."""

from __future__ import annotations

from functools import partial
from operator import eq
from typing import Any, cast

import pytest

from otf.channels import InNet, channel, duplicating, lossy, reordering
from otf.core import Oracle, Routes
from otf.errors import ModelError, UsageError
from otf.spec import Accept, Spec, Where, goto, on, total
from tests.channels.nets import doubling, giving, port
from tests.core.scripts import machine, oracle, outcome, run, spec_of, states

PASS, WRONG, SPONTANEOUS = "pass", "fail: wrong", "fail: unasked"


def systems(judge: Oracle | Spec[Any, Any], script: str) -> set[object]:
    """Return the states in which the system behind the net may be after a script."""
    nets = [cast("InNet[object]", state) for state in states(judge, script)]
    return {net.state for net in nets}


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a? x! quiet", PASS),
        ("a? x! x! quiet", PASS),
        ("a? x! quiet x! quiet", PASS),
        ("a? quiet", "fail: missing"),
        ("a? x! z!", WRONG),
        ("a? x! quiet b? y! x! quiet", PASS),
        ("a? x! quiet b? y! quiet b? y! quiet x!", SPONTANEOUS),
        ("b? y! y!", WRONG),
    ],
)
def test_an_output_may_come_again_for_a_while(script: str, verdict: str) -> None:
    """X may arrive twice: at once, after silence, after one more input; not after two. There is no copy of y."""
    assert outcome(doubling("s0 -a/x-> s0", "s0 -b/y-> s0", outputs="P"), script) == verdict


def test_a_copy_does_not_come_after_the_next_message_on_its_port() -> None:
    """After z there is no copy of x, unless the port reorders as well."""
    spec = doubling("s0 -a/x z-> s0", outputs="P")
    assert outcome(spec, "a? x! x! z! z! quiet") == PASS
    assert outcome(spec, "a? x! z! x!") == WRONG
    mixed = reordering(spec, outputs=["P"], port=port)
    assert outcome(mixed, "a? x! z! x! quiet") == PASS


@pytest.mark.parametrize(("copies", "most"), [(1, 2), (2, 3)])
def test_an_input_is_taken_so_many_times_more(copies: int, most: int) -> None:
    """A counts up; reading the sum shows how often it was taken."""
    counting: Spec[int, str] = Spec(
        lambda total, inp: [goto(total + 1)] if inp == "a" else [goto(total, on("Q", total))], 0, ["a", "b"]
    )
    spec = duplicating(counting, inputs=["A"], port=lambda value: port(str(value)), copies=copies)
    judge = oracle(spec, routes=Routes(("P", "Q"), lambda value: "B" if value == "b" else "A"))
    assert systems(judge, "a? quiet") == set(range(1, most + 1))


def test_an_input_again_changes_nothing_where_its_answer_is_the_same() -> None:
    """On `a` the lamp is on, for any number of copies; the state does not count copies that nothing shows."""
    spec = doubling("s0 -a/x-> s1", "s1 -a/x-> s1", "s1 -b/y-> s0", inputs="A")
    assert outcome(spec, "a? x! x! quiet b? y! quiet") == PASS
    assert outcome(spec, "a? x! quiet x! quiet b? y! quiet") == PASS


def test_a_late_copy_reaches_the_next_state() -> None:
    """The second a arrives after b was taken: it restarts the machine."""
    spec = doubling("s0 -a-> s1", "s1 -b-> s0", "s0 -d/y-> s0", "s1 -d/w-> s1", inputs="A")
    assert outcome(spec, "a? quiet b? quiet d? w! quiet") == PASS
    assert outcome(spec, "a? quiet b? quiet d? y! quiet") == PASS


def test_a_retransmission_into_the_net_is_always_there() -> None:
    """An output that the system repeats forever may be in the net any number of times."""
    spec = doubling("s0 -a/x-> s1", "s1 -/x-> s1", "s1 -b/y-> s0", outputs="P")
    assert outcome(spec, "a? x! x! x! x! quiet x! b? y! quiet") == PASS


def test_whatever_an_output_has_to_be_like_may_come_again() -> None:
    """A class, a test, a function, one on a named port."""
    for item in (on("P", str), on("P", Where(str.islower)), on("P", str.islower), on("P", "x")):
        spec = duplicating(giving(item), outputs=["P"], port=port)
        assert outcome(spec, "a? x! quiet x! quiet") == PASS
        assert outcome(spec, "a? x! quiet y! quiet").startswith("fail")


def test_what_may_come_late_has_to_be_specified() -> None:
    """The message says what to write."""
    spec = duplicating(machine("s0 -a-> s1", "s1 -b-> s1"), inputs=["A"], port=port)
    with pytest.raises(ModelError, match=r"'a' may arrive late or again, and the spec does not specify it in"):
        run(spec, "a? quiet")


def test_an_input_that_the_spec_leaves_open_is_left_open() -> None:
    """While the net is empty, it is like any other unspecified input."""
    assert outcome(duplicating(machine("s0 -a-> s0"), inputs=["A"], port=port), "b? w!") == "truncated"
    assert doubling("s0 -a-> s0", inputs="A").partial is not None


def test_completion_goes_behind_the_net() -> None:
    """`total` of the net is the net of `total`, and `specifies` answers for the spec itself."""
    base = machine("s0 -a/x-> s1")
    for spec in (total(duplicating(base, inputs=["A"], port=port)), duplicating(total(base), inputs=["A"], port=port)):
        assert outcome(spec, "a? x! quiet a? quiet") == PASS
        assert [inp for inp in "ab" if spec.specifies(spec.initial, inp)] == ["a"]


def test_an_accept_behind_a_net_of_inputs_keeps_what_is_in_the_net() -> None:
    """The state depends on the outputs; the second a may still arrive, and is ignored then."""
    spec = duplicating(spec_of(Accept(lambda seen: [seen[0]], "P")), inputs=["A"], port=port)
    assert outcome(spec, "a? x! quiet") == PASS
    assert systems(spec, "a? x! quiet") == {"x"}


def test_troubles_add_up_in_any_order() -> None:
    """The net loses and duplicates messages in either order of the combinators."""
    base = total(machine("s0 -a/x-> s0"))
    one = lossy(duplicating(base, outputs=["P"], port=port), outputs=["P"], port=port)
    other = duplicating(lossy(base, outputs=["P"], port=port), outputs=["P"], port=port)
    for script in ("a? quiet", "a? x! quiet", "a? x! x! quiet", "a? quiet x! quiet"):
        assert outcome(one, script) == outcome(other, script) == PASS
    assert outcome(one, "a? z!") == outcome(other, "a? z!") != PASS


def test_a_spec_is_asked_once() -> None:
    """A new function each time would be a new output in the net each time, and there would be no end of states."""
    asked: list[str] = []

    def step(state: str, inp: str) -> list[Any]:
        asked.append(inp)
        return [goto(state, on("P", partial(eq, "x")))]

    spec = duplicating(Spec(step, "s", ["a"]), outputs=["P"], port=port)
    assert outcome(spec, "a? x! quiet a? x! x! quiet a? x! quiet") == PASS
    assert asked == ["a"]


def alone(number: int) -> list[int]:
    """Return a list of one."""
    return [number]


def test_what_a_spec_answered_is_forgotten_when_there_is_too_much_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spec is called again after the answers are cleared."""
    monkeypatch.setattr(channel, "REMEMBERED", 2)
    answers = channel.SpecAnswers()
    found = [answers.answer(alone, number) for number in (1, 2, 2, 3)]
    assert (found, len(answers)) == ([[1], [2], [2], [3]], 1)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"copies": 0}, "copies=0: it must be at least 1"), ({"late": -1}, "late=-1: it must be at least 0")],
)
def test_numbers_that_are_too_small_are_refused(given: Any, says: str) -> None:  # noqa: ANN401 -- arguments
    """The message says which."""
    with pytest.raises(UsageError, match=says):
        duplicating(giving("x"), outputs=["P"], **given)
