"""A failure gives its reason as data: the possible states, the outputs they allowed, and the one seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from otf.core import Model, Monitor, Oracle
from otf.spec import AnyOrder, OneOf, Spec, Transition, Where, goto, on, start, stop
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Undecodable
from otf.trace.explain import explanation
from otf.trace.verdict import Failure, Verdict
from otf.values.text import showing
from tests.core.scripts import machine, once, run, seen, spec_of, told

CHAIN = machine("s0 -a/x-> s1", "s1 -c/x-> s1")


def failure(spec: Spec[Any, Any], *script: str | Event) -> Failure:
    """Return the failure that a script ends in."""
    found = run(spec, *script).failure
    assert found is not None
    return found


def test_it_names_the_states_what_they_allow_and_what_came() -> None:
    """After a and silence the system was in s1 or s2; z is allowed in neither."""
    spec = machine("s0 -a-> s1", "s0 -a-> s2", "s1 -c/x-> s1", "s2 -c-> s1", "s2 -/w-> s2")
    found = failure(spec, "a? quiet c? z!")
    assert [(each.state, each.branches) for each in found.allowed] == [
        ("'s1'", ((("'x'",), "'s1'"),)),
        ("'s2'", (((), "'s1'"), (("'w'",), "'s2'"))),
    ]
    assert (found.input, found.seen, found.port) == ("'c'", "'z'", "P")


def test_it_names_the_event_and_the_step() -> None:
    """The sixth event left no state, after two inputs; one output of the step had been seen."""
    found = failure(CHAIN, "a? x! quiet c? x! z!")
    assert (found.event, found.step, found.before) == (6, 2, ("'x'",))


@pytest.mark.parametrize(
    ("event", "kind", "seen"),
    [
        (Seen("w", "P", 0), "wrong", "'w'"),
        (Seen("w", "Q", 0), "unasked", "'w'"),
        (Quiet(0), "missing", "nothing more"),
        (Seen(Undecodable(b"?"), "P", 0), "undecodable", "Undecodable(raw=b'?')"),
        (Closed("P", "exit status 1", 0), "ended", "the port ended: exit status 1"),
    ],
)
def test_it_has_a_kind(event: Event, kind: str, seen: str) -> None:
    """Another output than expected, one where none is, none where one is, bytes without meaning, the end of a port."""
    found = failure(once("x"), "a?", event)
    assert (found.kind, found.seen) == (kind, seen)


def test_its_signature_is_that_of_the_step() -> None:
    """Types only, and those of the whole step: the same fault has the same signature whichever port came first."""
    spec = spec_of(goto(1, on("P", "x"), on("P", 5), on("Q", "y")), goto((2,), on("P", bool)))
    first = failure(spec, "a? y! x! quiet").signature
    second = failure(spec, "a? x! y! quiet").signature
    assert first == second
    assert str(first) == "missing: str --str--> expected bool|int|str, seen silence"


def test_the_end_and_garbled_bytes_are_told_apart_by_the_signature() -> None:
    """What was seen is named by its type."""
    assert failure(once("x"), "a?", Closed("P", "gone", 0)).signature.seen == "Ended"
    assert failure(once("x"), "a?", seen(Undecodable(b"?"))).signature.seen == "Undecodable"


def test_what_only_comes_by_itself_is_one_kind_whatever_was_sent() -> None:
    """A number that is due by itself, and is wrong, has nothing to do with the input that was just answered.

    An answer of the same type may be wrong for its input: then the input is part of the kind.
    """

    def emits(_: int) -> list[Transition[int]]:
        return [goto(0, on("P", 7))]

    for inp in ("a", 5.0, b"b"):
        spec: Spec[Any, Any] = Spec(lambda _, __: [goto(0, on("P", "x"))], 0, [inp], emits)
        for events in ([seen(8)], [seen("x"), seen(7), seen(8)]):
            found = failure(spec, Sent(inp, "", 0), *events).signature
            assert str(found) == "wrong: int --no input--> expected int, seen int"
            assert found.exact is None
    spec = Spec(lambda _, __: [goto(0, on("P", 1))], 0, ["a"], emits)
    assert str(failure(spec, "a?", seen(8)).signature) == "wrong: int --str--> expected int, seen int"


def test_what_timers_may_say_meanwhile_makes_no_kind_of_its_own() -> None:
    """A wrong answer is one kind whatever else might have come; so is an overdue output, and one with a wrong value."""
    alarm = start("alarm", 0.2, 0.3)

    def step(_: int, inp: str) -> list[Transition[int]]:
        return [goto(0, on("P", b"armed"), timers=[alarm])] if inp == "arm" else [goto(0, on("P", 1.5))]

    def emits(_: int) -> list[Transition[int]]:
        return [goto(0, on("P", 7), after="tick"), goto(0, on("P", "alarm"), after="alarm")]

    spec = Spec(step, 0, ["arm", "ask"], emits, timers=[start("tick", 0, 0.1)])
    armed: list[Event] = [Sent("arm", "", 0.01), Seen(b"armed", "P", 0.01)]
    for before in (armed[:0], armed):
        wrong = failure(spec, *before, Sent("ask", "", 0.02), Seen(2.5, "P", 0.02)).signature
        assert str(wrong) == "wrong: int --str--> expected float, seen float"
        assert wrong.exact is not None
        assert wrong.exact.expected == "1.5 on P"
        other = failure(spec, *before, Seen(8, "P", 0.05)).signature
        assert str(other) == "wrong: int --no input--> expected int, seen int"
        overdue = failure(spec, *before, Sent("ask", "", 0.12), Seen(1.5, "P", 0.13)).signature
        assert str(overdue) == "missing: int --no input--> expected int, seen silence"


def test_the_output_of_a_timer_that_was_stopped_is_unasked() -> None:
    """It was said to be allowed by that timer, and to be expected where it came."""

    def step(_: int, inp: str) -> list[Transition[int]]:
        return [goto(0, timers=[start("alarm", 0.2, 0.3) if inp == "arm" else stop("alarm")])]

    spec = Spec(step, 0, ["arm", "clear"], lambda _: [goto(0, on("P", "alarm"), after="alarm")])
    cleared: list[Event] = [Sent("arm", "", 0.0), Quiet(0.1), Sent("clear", "", 0.1), Quiet(0.15)]
    found = failure(spec, *cleared, Seen("alarm", "P", 0.25))
    assert str(found.signature) == "unasked: int --no input--> expected silence, seen str"
    assert [branch for state in found.allowed for branch in state.branches] == []
    assert failure(spec, *cleared[:2], Seen("bell", "P", 0.25)).kind == "wrong"


def test_before_any_input_there_is_none() -> None:
    """An output at the start is unexpected where silence is."""
    found = failure(machine("s0 -a-> s0"), "x!")
    assert str(found.signature) == "unasked: str --no input--> expected silence, seen str"
    assert found.input == ""


def test_each_item_of_a_transition_has_a_text() -> None:
    """A failure describes the expected output in the terms of the model."""
    spec = spec_of(
        goto(0, on("P", AnyOrder("x", int)), on("P", Where(callable, says="a call")), on("P", str.isdigit)),
        goto(1, OneOf(on("P", Where(callable)), on("P", bytes))),
    )
    texts = [outputs for outputs, _ in failure(spec, "a? quiet").allowed[0].branches]
    assert texts == [
        ("in any order: 'x', any int on P", "a call on P", "isdigit on P"),
        ("callable on P or any bytes on P",),
    ]


def test_only_some_of_very_many_states_are_shown() -> None:
    """Hundreds of states are not an explanation; twenty are kept, eight shown, and it is said how many there were."""
    found = failure(spec_of(*[goto(number) for number in range(300)]), "a? quiet x!")
    assert len(found.allowed) == 20
    assert found.note == "300 states were possible; the trace has 20 of them"
    told = explanation(Verdict("fail", found))
    assert told.count("allows:") == 8
    assert "\n  … and 12 more possible states; `otf show` with --whole lists them\n" in told
    with showing(whole=True):
        assert explanation(Verdict("fail", found)).count("allows:") == 20


def test_what_many_states_allow_is_told_for_each() -> None:
    """Forty states with thirty outcomes each: none of them seems to allow anything, or nothing at all."""

    def step(state: int, _: str) -> list[Transition[int]]:
        return [goto((state + 1 + number) % 40, on("P", "ok")) for number in range(30)]

    found = failure(Spec(step, 0, ["a"]), "a? ok! quiet a? ok! quiet a? bad!")
    assert found.kind == "wrong"
    assert {branch[0] for state in found.allowed for branch in state.branches} == {("'ok' on P",)}


def test_several_inputs_in_flight_are_told_together() -> None:
    """A and b were sent at once: each order in which they may have been taken is one thing that was allowed."""
    failure = told(machine("s0 -a/x-> s1", "s1 -b/y-> s1", "s0 -b/y-> s0", "s1 -a-> s1"), "a? b? quiet").end().failure
    assert failure is not None
    assert (failure.input, failure.signature.input) == ("'a'; 'b'", "str")
    (allowed,) = failure.allowed
    assert sorted(outputs for outputs, _ in allowed.branches) == [("'x'", "'y'"), ("'y'", "'x'")]


def test_its_values() -> None:
    """The signature of one wrong answer has its values, so that it is told from others; two inputs have none."""
    exact = failure(CHAIN, "a? x! quiet c? z!").signature.exact
    assert exact is not None
    assert (exact.state, exact.input, exact.expected, exact.seen) == ("'s1'", "'c'", "'x'", "'z'")
    assert failure(CHAIN, "a? c? z!").signature.exact is None


@pytest.mark.parametrize(("within", "expected"), [(None, [(), ("'x'",)]), ((0.0, 0.5), [("'x'",)])])
def test_what_the_next_state_emits_at_once(within: tuple[float, float] | None, expected: list[tuple[str, ...]]) -> None:
    """After a silent input its output is allowed; no output is only where it may come at any time, or never."""

    def step(state: int, _inp: object) -> list[Transition[int]]:
        return [goto(state + 1)]

    def emits(state: int) -> list[Transition[int]]:
        return [goto(7, "x", within=within)] if state == 1 else []

    monitor = Monitor(Oracle(Model(Spec(step, 0, ["go"], emits))))
    monitor.tell(Sent("go", "", 0.0))
    verdict = monitor.tell(Seen("y", "sut", 0.01))
    assert verdict is not None
    assert verdict.failure is not None
    assert [texts for texts, _ in verdict.failure.allowed[0].branches] == expected
    assert (verdict.failure.kind, verdict.failure.signature.expected) == ("wrong", "str")


@dataclass(frozen=True)
class Put:
    """An input whose first field is long."""

    head: str
    body: int


def test_a_long_input_is_told_with_each_of_its_fields() -> None:
    """What stands after a long field is not cut off, since it may be what matters."""
    put = Put("h" * 400, 7)
    found = told(Spec(lambda state, _: [goto(state)], 0, [put]), Sent(put, "p", 0.1), Seen("x", "p", 0.2)).end().failure
    assert found is not None
    assert found.input == f"Put(head='{'h' * 20}…{'h' * 12}', body=7)"
