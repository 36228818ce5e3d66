"""Nets that delay messages, so that others overtake them."""

from __future__ import annotations

from typing import Any

import pytest

from otf.channels import lossy, reordering
from otf.core import Model, Monitor, Oracle, Routes, Timing
from otf.errors import ModelError, UsageError
from otf.spec import Accept, AnyOrder, Spec, Transition, goto, on, total
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.channels.nets import giving, mixing, port
from tests.core.scripts import outcome, run, spec_of

PASS, WRONG, MISSING = "pass", "fail: wrong", "fail: missing"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a? x! z! quiet", PASS),
        ("a? z! x! quiet", PASS),
        ("a? z! quiet x! quiet", PASS),
        ("a? quiet z! x! quiet", PASS),
        ("a? z! quiet b? x! y! quiet", PASS),
        ("a? z! quiet b? y! quiet", PASS),
        ("a? z! quiet b? y! quiet b? y! quiet", MISSING),
        ("a? x! x!", WRONG),
        ("b? quiet", MISSING),
    ],
)
def test_an_output_comes_later_but_not_too_late(script: str, verdict: str) -> None:
    """X and z arrive in any order, each once, before the second input after theirs; y is never delayed."""
    assert outcome(mixing("s0 -a/x z-> s0", "s0 -b/y-> s0", outputs="P"), script) == verdict


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("a? quiet b? y! quiet", PASS),
        ("a? quiet b? w! quiet", PASS),
        ("a? quiet b? y! quiet b? w! quiet", PASS),
        ("a? quiet b? w! quiet b? y! quiet", WRONG),
        ("a? quiet b? y! quiet b? y! quiet", WRONG),
    ],
)
def test_an_input_is_taken_later_but_not_too_late(script: str, verdict: str) -> None:
    """The answer to b shows whether the a before it has been taken; an earlier a surely has been."""
    assert outcome(mixing("s0 -a-> s1", "s1 -a-> s1", "s0 -b/y-> s0", "s1 -b/w-> s1", inputs="A"), script) == verdict


def test_an_answer_that_is_due_comes_before_that_to_the_next_input() -> None:
    """At the end of its delay, the a is answered first."""
    spec = mixing("s0 -a/x-> s0", "s0 -b/z-> s0", inputs="A", late=0)
    assert outcome(spec, "a? quiet b? x! z! quiet") == PASS
    assert outcome(spec, "a? quiet b? z! x!") == WRONG
    assert outcome(spec, "a? quiet b? z! quiet") in {WRONG, MISSING}


def test_what_may_be_lost_need_not_come() -> None:
    """A message that does not arrive may be delayed or lost."""
    spec = lossy(mixing("s0 -a/x-> s0", "s0 -b/y-> s0", outputs="P"), outputs=["P"], port=port)
    assert outcome(spec, "a? quiet b? y! quiet b? y! quiet") == PASS
    assert outcome(spec, "a? quiet b? y! x! quiet") == PASS


def test_a_bag_is_held_up_as_a_whole_or_in_parts() -> None:
    """Outputs in any order come in any order, before and after silence."""
    spec = reordering(total(giving(AnyOrder("x", "z"))), outputs=["P"], port=port)
    for script in ("a? x! z! quiet", "a? z! x! quiet", "a? x! quiet z! quiet", "a? quiet z! quiet x! quiet"):
        assert outcome(spec, script) == PASS


def timed(spec: Spec[Any, Any], *events: Event) -> str:
    """Return the outcome of events in time, with the kind of failure; L and R are a tenth of a second."""
    monitor = Monitor(Oracle(Model(spec, Routes(("P", "Q"), port)), timing=Timing(0.1, 0.1, 0.1)))
    for event in events:
        monitor.tell(event)
    verdict = monitor.end()
    return verdict.outcome if verdict.failure is None else f"fail: {verdict.failure.kind}"


def test_with_a_delay_it_comes_in_time() -> None:
    """Delayed by a second at most, it is seen after half a second, or after one and the latency; it must be seen."""
    spec = mixing("s0 -a/x-> s0", outputs="P", delay=1.0)
    asked = Sent("a", "A", 0.0)
    assert timed(spec, asked, Quiet(0.4), Seen("x", "P", 0.5), Quiet(0.8)) == PASS
    assert timed(spec, asked, Quiet(0.4), Seen("x", "P", 1.2), Quiet(2.0)) == PASS
    assert timed(spec, asked, Quiet(0.4), Seen("x", "P", 2.5)) == "fail: late"
    assert timed(spec, asked, Quiet(0.4), Quiet(3.0)) == MISSING


def test_a_timer_behind_a_net_may_go_off_sooner() -> None:
    """A move in the net changes the state; the time at which the system entered its own state is no longer known."""
    beating = Spec[str, str](
        lambda state, _inp: [goto(state, on("Q", "y"))],
        "s",
        ["b"],
        lambda _s: [goto("s", on("P", "z"), within=(2.0, 3.0))],
    )
    spec = reordering(beating, outputs=["Q"], port=port)
    assert spec.emits is not None
    windows = [way.within for way in spec.emits(spec.initial)]
    assert windows == [(0.0, 3.0)]


ACCEPT = spec_of(Accept(lambda seen: [seen[0]], "P"))


def test_an_input_that_is_answered_by_an_accept_must_not_be_sure_to_come() -> None:
    """At the end of its delay, its answer and that of the next input could not be distinguished."""
    held = reordering(total(ACCEPT), inputs=["A"], port=port, late=0)
    with pytest.raises(ModelError, match="'a' may be delayed, and an Accept answers it: use lossy"):
        run(held, "a? quiet b? quiet")
    assert outcome(lossy(held, inputs=["A"], port=port), "a? quiet b? quiet") == PASS


def test_an_accept_comes_after_nothing_that_is_due() -> None:
    """A delayed answer would be taken for a part of it."""

    def step(state: object, inp: str) -> list[Transition[Any] | Accept]:
        return [Accept(lambda seen: [seen[0]], "Q")] if inp == "b" else [goto(state, "x")]

    spec = reordering(Spec[Any, str](step, "s", ["a", "b"]), outputs=["P"], port=port, late=0)
    assert outcome(spec, "a? x! quiet b? y! quiet") == PASS
    with pytest.raises(ModelError, match="an Accept while 'x', delayed so far, is due as well"):
        run(spec, "a? quiet b? quiet")


def test_a_single_port_needs_no_port_function() -> None:
    """Outputs that are given by a class or a test are delayed, too."""
    spec = reordering(giving("x", str), outputs=["line"])
    judge = Oracle(Model(spec, Routes(("line",))))
    for outputs in (("x", "z"), ("z", "x")):
        seen = [Seen(output, "line", 0.0) for output in outputs]
        assert run(judge, Sent("a", "line", 0.0), *seen, Quiet(0.0)).outcome == PASS


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"late": -1}, "late=-1: it must be at least 0"),
        ({"delay": -0.5}, "delay=-0.5: it must be at least 0"),
        ({"delay": float("nan")}, "delay=nan: it must be at least 0"),
    ],
)
def test_numbers_that_are_too_small_are_refused(given: Any, says: str) -> None:  # noqa: ANN401 -- arguments
    """The message says which."""
    with pytest.raises(UsageError, match=says):
        reordering(giving("x"), outputs=["P"], **given)
