"""`Accept` over several ports: a fan-out with ids that the broker chose, one for each subscriber."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from otf.errors import ModelError
from otf.spec import Accept, Spec, Transition, goto, start
from otf.trace.events import Closed, Ended, Sent
from tests.core import timed
from tests.core.scripts import outcome, run, seen, spec_of, states

Ids = Mapping[str, tuple[str, ...]]


def differing(got: Ids) -> Iterable[object]:
    """Return the state after a fan-out: the ids of the subscribers P and Q, which must not be the same."""
    ids = got["P"] + got["Q"]
    return [ids] if len(set(ids)) == len(ids) else []


FAN = Accept(differing, ("P", "Q"), says="a message for each subscriber, with an id of its own")


def broker() -> Spec[tuple[str, ...], str]:
    """Return a broker with the subscribers P and Q; an id that it chose comes back as an input, and z confirms it."""

    def step(state: tuple[str, ...], inp: str) -> Iterable[Transition[tuple[str, ...]] | Accept]:
        if inp == "a" and not state:
            yield FAN
        elif inp in state:
            yield goto(tuple(each for each in state if each != inp), "z")
        else:
            yield goto(state)

    return Spec(step, (), ["a", "1", "2", "3"])


@pytest.mark.parametrize("first", ["P", "Q"])
def test_the_outputs_of_all_ports_tell_the_next_state(first: str) -> None:
    """Whichever comes first: between ports there is no order."""
    other = "Q" if first == "P" else "P"
    ids = {first: "1", other: "2"}
    assert states(spec_of(FAN), "a?", seen("1", first), seen("2", other)) == {(ids["P"], ids["Q"])}
    assert outcome(spec_of(FAN), "a?", seen("1", first), seen("2", other), "quiet") == "pass"


@pytest.mark.parametrize("first", ["P", "Q"])
def test_what_they_tell_together_may_be_wrong(first: str) -> None:
    """Each id alone is right; the same one twice is not."""
    other = "Q" if first == "P" else "P"
    assert outcome(spec_of(FAN), "a?", seen("1", first), seen("1", other)) == "fail: wrong"


def test_each_port_must_bring_its_part() -> None:
    """One subscriber got nothing; and none may get two."""
    assert outcome(spec_of(FAN), "a?", seen("1", "P"), "quiet") == "fail: missing"
    assert outcome(spec_of(FAN), "a?", seen("1", "P"), seen("2", "P"), "quiet").startswith("fail")
    assert outcome(spec_of(FAN), "a?", seen("1", "P"), seen("2", "Q"), "quiet", seen("3", "Q")) == "fail: unasked"


def test_an_id_that_the_broker_chose_comes_back() -> None:
    """The answer to that is judged with the ids of this run."""
    fan = "a?", seen("3", "Q"), seen("1", "P"), "quiet"
    one, two = Sent("1", "A", 0), Sent("2", "A", 0)
    assert states(broker(), *fan) == {("1", "3")}
    assert outcome(broker(), *fan, one, "z! quiet") == "pass"
    assert outcome(broker(), *fan, two, "quiet") == "pass"
    assert outcome(broker(), *fan, two, "z!") == "fail: unasked"
    assert outcome(broker(), *fan, one, "quiet") == "fail: missing"
    assert outcome(broker(), *fan, one, "z! quiet", one, "z!") == "fail: unasked"


def test_a_number_is_meant_for_each_port() -> None:
    """Two outputs on each of two ports."""
    twice = spec_of(Accept(lambda got: [tuple(sorted(got.items()))], ("P", "Q"), until=2))
    assert states(twice, "a? x! y! z! w!") == {(("P", ("x", "z")), ("Q", ("y", "w")))}
    assert outcome(twice, "a? x! y! z! quiet") == "fail: missing"
    assert outcome(twice, "a? x! x! x! quiet").startswith("fail")


def test_a_function_says_when_all_is_there() -> None:
    """The first output on one port gives the number of outputs on the other."""

    def complete(got: Ids) -> bool:
        return bool(got["Q"]) and len(got["P"]) >= len(got["Q"][0])

    counted = spec_of(Accept(lambda got: [got["P"]], ("P", "Q"), until=complete))
    assert states(counted, "a?", seen("yy", "Q"), "x! z!") == {("x", "z")}
    assert states(counted, "a? x!", seen("yy", "Q"), "z!") == {("x", "z")}
    assert outcome(counted, "a? x!", seen("yy", "Q"), "quiet") == "fail: missing"


def test_a_tuple_of_one_port_is_several_ports() -> None:
    """Its function gets a dictionary."""
    assert states(spec_of(Accept(lambda got: [got["P"][0]], ("P",))), "a? x!") == {"x"}


def test_a_failure_names_it_by_what_it_says() -> None:
    """In the words of the model."""
    failure = run(spec_of(FAN), "a?", seen("1", "P"), "quiet").failure
    assert failure is not None
    assert "a message for each subscriber, with an id of its own" in str(failure)


def test_without_words_a_failure_names_the_ports() -> None:
    """All of them."""
    failure = run(spec_of(Accept(differing, ("P", "Q"))), "a?", seen("1", "P"), "quiet").failure
    assert failure is not None
    assert "outputs accepted on P, Q" in str(failure)


def test_ports_must_be_known_and_some() -> None:
    """What is accepted nowhere would be missed for ever."""
    with pytest.raises(ModelError, match="'R'"):
        outcome(spec_of(Accept(differing, ("P", "R"))), "a? x!")
    with pytest.raises(ModelError, match="no port"):
        outcome(spec_of(Accept(differing, ())), "a? x!")


def test_its_window_is_that_of_all_its_outputs() -> None:
    """On each port they come in time, or are early or late."""
    fan = spec_of(Accept(differing, ("P", "Q"), within=(1, 2)))
    assert timed.judged(fan, "a?0 x!1.5 y!2") == "pass"
    assert timed.judged(fan, "a?0 y!1 x!2.2") == "pass"
    assert timed.judged(fan, "a?0 x!0.9") == "fail: early"
    assert timed.judged(fan, "a?0 x!1.5 y!2.6") == "fail: late"
    assert timed.judged(fan, "a?0 x!1.5 quiet2.6") == "fail: missing"


def test_its_timers_start_with_it() -> None:
    """A second message comes 1 to 2 s after the fan-out."""
    fan = Accept(differing, ("P", "Q"), timers=(start("retry", 1, 2),))

    def emits(state: object) -> Iterable[Transition[object]]:
        return [goto((), "z", after="retry")] if state else []

    spec: Spec[object, str] = Spec(lambda state, _inp: [fan] if state == () else [goto(state)], (), ["a"], emits)
    assert timed.judged(spec, "a?0 y!0.1 x!0.2 z!1.2") == "pass"
    assert timed.judged(spec, "a?0 x!0.1 y!0.2 z!0.8") == "fail: early"
    assert timed.judged(spec, "a?0 x!0.1 y!0.2 quiet2.6") == "fail: missing"


def test_the_end_of_a_port_is_one_of_its_outputs_if_the_model_says_so() -> None:
    """One client gets an id, and the connection of the other ends; without `closing` no end is accepted."""

    def counted(got: Mapping[str, tuple[object, ...]]) -> bool:
        return bool(got["P"] and got["Q"])

    def after(got: Mapping[str, tuple[object, ...]]) -> Iterable[object]:
        return [(*got["P"], *got["Q"])]

    ends = Accept(after, ("P", "Q"), counted, closing=True)
    gone = Closed("Q", "end of stream", 0)
    assert states(spec_of(ends), "a?", seen("1", "P"), gone) == {("1", Ended("end of stream"))}
    assert states(spec_of(ends), "a?", gone, seen("1", "P")) == {("1", Ended("end of stream"))}
    assert outcome(spec_of(ends), "a?", seen("1", "P"), "quiet") == "fail: missing"
    assert outcome(spec_of(Accept(after, ("P", "Q"), counted)), "a?", seen("1", "P"), gone) == "fail: ended"
