"""`Accept`: the next state is a function of the outputs seen."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from otf.spec import Accept, Spec, Transition, goto
from otf.trace.events import Closed, Undecodable
from tests.core.scripts import outcome, run, seen, spec_of, states


def known(seen: tuple[str, ...]) -> Iterable[object]:
    """Return the state after these outputs; w alone is wrong."""
    return [] if "w" in seen else [seen]


def test_the_next_state_comes_from_the_output() -> None:
    """The state is what was seen; an output that leads to no state is wrong."""
    spec = spec_of(Accept(known, "P"))
    assert states(spec, "a?", seen("any"), "quiet") == {("any",)}
    assert outcome(spec, "a?", seen("w")) == "fail: wrong"
    assert outcome(spec, "a? quiet") == "fail: missing"


def test_it_may_lead_to_several_states() -> None:
    """All that it returns are possible from then on."""
    assert states(spec_of(Accept(lambda seen: [*seen, "other"], "P")), "a? x!") == {"x", "other"}


def test_it_takes_as_many_outputs_as_it_says() -> None:
    """Two of two: fewer are missing, more are unexpected."""
    spec = spec_of(Accept(known, "P", until=2))
    assert states(spec, "a? x! z! quiet") == {("x", "z")}
    assert outcome(spec, "a? x! quiet") == "fail: missing"
    assert outcome(spec, "a? x! z! x!") == "fail: wrong"


def test_it_may_say_when_it_is_complete() -> None:
    """All outputs up to the first z, however many."""
    spec = spec_of(Accept(known, "P", until=lambda seen: seen[-1] == "z"))
    assert states(spec, "a? x! x! z! quiet") == {("x", "x", "z")}
    assert outcome(spec, "a? x! x! quiet") == "fail: missing"


def test_what_no_completion_contains_is_wrong_at_once() -> None:
    """Without `possible` it is judged with the last output: the wrong one came before."""

    def digits(seen: tuple[str, ...]) -> bool:
        return "w" not in seen

    spec = spec_of(Accept(known, "P", until=2, possible=digits))
    assert outcome(spec, "a? x! z!") == "pass"
    assert outcome(spec, "a?", seen("w")) == "fail: wrong"
    assert outcome(spec_of(Accept(known, "P", until=2)), "a?", seen("w")) == "pass"
    assert outcome(spec_of(Accept(known, "P", until=2)), "a?", seen("w"), "z!") == "fail: wrong"


def chosen() -> Spec[object, str]:
    """Return the spec of a system that chooses an id on P; the input c then gives y on Q if that was x."""

    def step(state: object, inp: str) -> Iterable[Transition[object] | Accept]:
        if inp == "a" and state == "new":
            yield Accept(lambda seen: [("id", seen[0]), ("id", seen[0] + seen[0])], "P")
        elif inp == "c":
            yield goto(state, "y") if state == ("id", "x") else goto(state)

    return Spec(step, "new", ["a", "c"])


def test_outputs_of_other_ports_are_held_back_until_it_closes() -> None:
    """Y came first, but only the x tells whether it was right: it is judged with the state that x leads to."""
    assert outcome(chosen(), "a? c? y! x! quiet") == "pass"
    assert outcome(chosen(), "a? c? y!") == "pass"
    assert run(chosen(), "a? c? y! z!").failed
    assert outcome(chosen(), "a? c? y! quiet") == "fail: missing"


def test_what_was_held_back_decides_among_the_next_states() -> None:
    """Both ids are possible after x; after the y only one is."""
    assert states(chosen(), "a? c? x!") == {("id", "x"), ("id", "xx")}
    assert states(chosen(), "a? c? x! quiet") == {("id", "xx")}
    assert states(chosen(), "a? c? y! x! quiet") == {("id", "x")}


def test_what_was_held_back_comes_after_what_was_owed() -> None:
    """W was outstanding on Q before the id was chosen, so it comes first there."""

    def step(state: object, inp: str) -> Iterable[Transition[object] | Accept]:
        match state, inp:
            case "new", "a":
                yield goto("named", "w")
            case "named", "a":
                yield Accept(list, "P")
            case _:
                yield goto("end", "y")

    spec = Spec[object, str](step, "new", ["a", "b"])
    assert outcome(spec, "a? a? a? w! y! x! quiet") == "pass"
    assert run(spec, "a? a? a? y!").failed


@pytest.mark.parametrize("later", ["c? x! quiet", "c? c? x! quiet", "x! c? quiet"])
def test_what_was_held_back_was_emitted_before_it_was_seen(later: str) -> None:
    """Y is the answer to c, and c was sent after y had come: nothing explains that, whatever x leads to."""
    assert run(chosen(), "a? y!", later).failed


def test_what_was_held_back_is_not_excused_by_an_unspecified_input_that_was_sent_later() -> None:
    """B is unspecified where x leads to, but the y came before it was sent."""
    assert run(chosen(), "a? y! b? x! quiet").failed


def test_what_was_held_back_may_be_the_answer_to_an_input_that_was_sent_before() -> None:
    """Not to one that is sent later, of which the answer is missing then."""
    assert outcome(chosen(), "a? c? y! c? x! quiet") == "fail: missing"
    assert outcome(chosen(), "a? c? y! c? x! y! quiet") == "pass"


def test_one_accept_may_follow_another() -> None:
    """While the first is open the second's output is held back; its own port is what it names."""

    def step(state: object, inp: str) -> Iterable[Transition[object] | Accept]:
        yield Accept(lambda seen: [(state, *seen)], "P" if inp == "a" else "Q")

    spec = Spec[object, str](step, "", ["a", "b"])
    assert states(spec, "a? b? y! x! quiet") == {(("", "x"), "y"), (("", "y"), "x")}


def test_it_may_come_unasked() -> None:
    """An Accept may be spontaneous too."""
    spec = Spec[object, str](
        lambda _state, _inp: [],
        "new",
        [],
        emits=lambda state: [Accept(lambda seen: [*seen], "P")] if state == "new" else [],
    )
    assert states(spec, "x! quiet") == {"x"}
    assert outcome(spec, "quiet") == "pass"
    assert outcome(spec, "x! x!") == "fail: wrong"


@pytest.mark.parametrize(
    ("event", "kind"), [(Closed("P", "exit status 1", 0), "ended"), (seen(Undecodable(b"?")), "undecodable")]
)
def test_it_accepts_outputs_only(event: Closed, kind: str) -> None:
    """The end of a port and bytes that do not decode are never handed to the model's function."""
    verdict = run(spec_of(Accept(lambda seen: [seen[0].upper()], "P")), "a?", event)
    assert verdict.failure is not None
    assert verdict.failure.kind == kind
    assert verdict.failure.allowed[0].branches == ((("outputs accepted on P",), "a state that depends on them"),)
    assert verdict.failure.signature.expected == "accepted outputs"


def test_a_failure_while_it_is_open_names_the_step_that_opened_it() -> None:
    """Silence in the middle is explained by the state before, not by the middle."""
    verdict = run(spec_of(Accept(known, "P", until=2)), "a? x! quiet")
    assert verdict.failure is not None
    assert verdict.failure.before == ("'x'",)
    assert verdict.failure.allowed[0].state == "'new'"
