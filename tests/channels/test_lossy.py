"""Nets that lose messages."""

from __future__ import annotations

from typing import Any, cast

import pytest

from otf.channels import lossy
from otf.core import Routes
from otf.errors import ModelError, UsageError
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, Where, goto, on, total
from tests.channels.nets import giving, listed, losing, port
from tests.core.scripts import machine, oracle, outcome, run, spec_of, states

PASS, WRONG, MISSING = "pass", "fail: wrong", "fail: missing"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a? x! quiet", PASS),
        ("a? quiet", PASS),
        ("a? quiet a? x! quiet", PASS),
        ("a? x! x!", WRONG),
        ("b? y! quiet", PASS),
        ("b? quiet", MISSING),
    ],
)
def test_an_input_may_be_lost_on_the_named_ports(script: str, verdict: str) -> None:
    """The a on A is taken or nothing happens; b comes on another port."""
    assert outcome(losing("s0 -a/x-> s0", "s0 -b/y-> s0", inputs="A"), script) == verdict


def test_a_lost_input_leaves_the_state_as_it_was() -> None:
    """The model cannot know which; the later outputs show it."""
    spec = losing("s0 -a-> s1", "s0 -b/y-> s0", "s1 -b/w-> s1", inputs="A")
    assert states(spec, "a? quiet") == {"s0", "s1"}
    assert states(spec, "a? quiet b? w! quiet") == {"s1"}


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [("", PASS), ("x!", PASS), ("z!", PASS), ("x! z!", PASS), ("z! x!", WRONG), ("x! x!", WRONG), ("w!", WRONG)],
)
def test_each_output_is_lost_on_its_own_and_the_order_stays(seen: str, verdict: str) -> None:
    """The y comes on a port that loses nothing."""
    assert outcome(losing("s0 -a/x y z-> s0", outputs="P"), f"a? y! {seen} quiet") == verdict


def test_an_output_on_another_port_is_not_lost() -> None:
    """Without the y it fails."""
    assert outcome(losing("s0 -a/x y z-> s0", outputs="P"), "a? x! z! quiet") == MISSING


def test_an_unasked_output_may_be_lost() -> None:
    """The state behind it is possible without it."""
    assert states(losing("s0 -/z-> s1", "s1 -a/x-> s1", outputs="P"), "quiet") == {"s0", "s1"}


@pytest.mark.parametrize(
    ("item", "seen"),
    [
        (AnyOrder("x", "y", "z"), "z! y!"),
        (AnyOrder("x", "y"), "y!"),
        (AnyOrder(on("P", "w"), on("Q", "y")), "y!"),
        (on("P", AnyOrder("x", "z")), "z!"),
        (on("P", str), ""),
        (on("P", Where(str.islower)), "x!"),
        (OneOf("x", "y"), "y!"),
        (on("P", OneOf("x", "z")), ""),
    ],
)
def test_all_that_a_transition_may_say_of_its_outputs_is_understood(item: object, seen: str) -> None:
    """Predicates, alternatives, bags and named ports."""
    assert outcome(lossy(giving(item), outputs=["P"], port=port), f"a? {seen} quiet") == PASS


def test_what_happens_without_the_net_is_said_first() -> None:
    """The ways with lost outputs come after it; a bag whose outputs are all lost is gone."""
    ways = listed(lossy(giving(AnyOrder("x", "z")), outputs=["P"], port=port).step("new", "a"))
    assert [way.outputs for way in ways] == [(AnyOrder("x", "z"),), (AnyOrder("x"),), (AnyOrder("z"),), ()]


def nowhere(_value: object) -> str:
    """Return no port."""
    return ""


def test_a_single_port_needs_no_port_function() -> None:
    """Without `port`, and with one that knows no names."""
    for tell in (None, nowhere):
        spec = lossy(giving("x", str), inputs=["line"], outputs=["line"], port=tell)
        assert [way.outputs for way in listed(spec.step("new", "a"))] == [("x", str), ("x",), (str,), (), ()]
        judge = oracle(spec, routes=Routes(("line",)))
        assert outcome(judge, "a? quiet") == PASS


def test_states_inputs_and_name_stay_those_of_the_spec() -> None:
    """If messages are only lost, no message stays in the net."""
    base = machine("s0 -a/x-> s1", "s1 -b-> s0")
    spec = lossy(base, inputs=["A"], port=port)
    assert (spec.initial, spec.name, spec.emits) == ("s0", "machine", None)
    assert list(spec.inputs("s0")) == ["a", "b"]
    assert [way.state for way in listed(spec.step("s0", "a"))] == ["s1", "s0"]


def test_what_the_spec_leaves_open_stays_open() -> None:
    """An unspecified input may be lost, or have any effect."""
    spec = losing("s0 -a/x-> s1", inputs="A", outputs="P")
    assert not spec.specifies("s1", "a")
    assert outcome(spec, "b? w! quiet") == "truncated"


def test_completion_goes_before_the_net_and_after_it() -> None:
    """The completed spec ignores unspecified inputs, and `specifies` answers for the spec itself."""
    base = machine("s0 -a/x-> s1")
    for spec in (lossy(total(base), inputs=["A"], port=port), total(lossy(base, inputs=["A"], port=port))):
        assert outcome(spec, "a? x! quiet a? quiet b? quiet") == PASS
        assert outcome(spec, "b? w!") == "fail: unasked"
        assert [spec.specifies(state, "a") for state in ("s0", "s1")] == [True, False]


def test_windows_of_outputs_stay() -> None:
    """Lost outputs have no time window."""
    answer, timer = goto(1, "x", within=(1.0, 2.0)), goto(0, "z", within=(3.0, 4.0))
    base = Spec(lambda _state, _inp: [answer], 0, ["a"], lambda _state: [timer])
    spec = lossy(base, inputs=["A"], outputs=["P"], port=port)
    ways = [(way.outputs, way.within) for way in listed(spec.step(0, "a"))]
    assert ways == [(("x",), (1.0, 2.0)), ((), None), ((), None)]
    assert spec.emits is not None
    assert [way.within for way in listed(spec.emits(0))] == [(3.0, 4.0), (3.0, 4.0)]


def test_a_silent_move_that_changes_nothing_is_left_out() -> None:
    """After a lost retransmission the system is in its old state."""
    spec = losing("s0 -a/x-> s1", "s1 -/x-> s1", outputs="P")
    assert spec.emits is not None
    assert list(spec.emits("s1")) == [Transition("s1", ("x",))]


ACCEPT = spec_of(Accept(lambda seen: [seen[0]], "P"))


def test_an_accept_on_another_port_is_as_before() -> None:
    """The state that it leads to depends on the output."""
    assert states(lossy(ACCEPT, inputs=["A"], outputs=["Q"], port=port), "a? x! quiet") == {"x"}


@pytest.mark.parametrize(
    ("accept", "where"),
    [
        (Accept(lambda _seen: [], "P"), "an Accept on the port 'P'"),
        (Accept(lambda _seen: []), "an Accept on the only port"),
    ],
)
def test_an_accept_whose_outputs_may_be_lost_is_refused(accept: Accept, where: str) -> None:
    """The oracle could not know when it is complete."""
    with pytest.raises(ModelError, match=f"{where}, where outputs may be lost, duplicated or delayed"):
        run(lossy(spec_of(accept), outputs=["P"], port=port), "a? x!")


@pytest.mark.parametrize(
    ("yields", "says"),
    [
        (None, "it returned None; yield transitions"),
        ([Transition(1, cast("Any", "x"))], "a Transition with the outputs 'x'"),
        (["s1"], "it gave 's1', which is not a transition"),
        ([goto(1, OneOf())], "has no alternatives"),
        ([goto(1, AnyOrder("x", OneOf("x", "z")))], "cannot stand inside a transition"),
        ([goto(1, AnyOrder("x", Accept(lambda _seen: [], "P")))], "cannot stand inside a transition"),
    ],
)
def test_mistakes_in_the_spec_are_named_as_without_the_net(yields: Any, says: str) -> None:  # noqa: ANN401 -- mistakes
    """The oracle reports what is wrong with it."""
    spec = lossy(Spec(lambda _state, _inp: yields, 0, ["a"]), inputs=["A"], outputs=["P"], port=port)
    with pytest.raises(ModelError, match=says):
        run(spec, "a? x!")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "name the ports of the net"),
        ({"inputs": "A"}, r"inputs='A': give a list of ports, inputs=\['A'\]"),
        ({"outputs": ["P"], "port": "P"}, "port='P': give a function from a value to its port"),
    ],
)
def test_wrong_ports_are_refused(given: Any, says: str) -> None:  # noqa: ANN401 -- arguments of any kind
    """The message says what to write."""
    with pytest.raises(UsageError, match=says):
        lossy(giving("x"), **given)
