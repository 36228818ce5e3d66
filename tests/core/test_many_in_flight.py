"""Very many inputs in flight, as a capture of a busy server has them: judged, and explained, like a few."""

from __future__ import annotations

import pytest

from otf.trace.events import Closed, Event, Undecodable
from tests.core.scripts import QUIET, machine, run, seen

ECHO = machine("s0 -a/x-> s0", "s0 -b/y-> s0")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (QUIET, "missing"),
        (seen("z"), "wrong"),
        (seen(Undecodable(b"?")), "undecodable"),
        (Closed("P", "gone", 0), "ended"),
    ],
)
@pytest.mark.parametrize("inputs", [2, 900, 1_500])
def test_a_failure_is_explained_however_many_inputs_are_in_flight(inputs: int, event: Event, kind: str) -> None:
    """It names the kind, the state before and what it allowed."""
    failure = run(ECHO, "a? " * inputs, event).failure
    assert failure is not None
    assert (failure.kind, failure.step, failure.event) == (kind, inputs, inputs + 1)
    assert failure.signature.input == "str"
    assert failure.allowed[0].branches


def test_so_it_is_with_inputs_that_were_taken_and_answered() -> None:
    """A step is over when all is settled: until then its inputs are part of the explanation."""
    failure = run(ECHO, "a? a? x! " * 1_200, QUIET).failure
    assert failure is not None
    assert failure.kind == "missing"


def test_a_few_on_two_ports_are_explained_by_all_their_orders() -> None:
    """An explanation that is cut short for many inputs is whole for few."""
    failure = run(machine("s0 -a/x-> s1", "s0 -b/y-> s0", "s1 -a-> s1", "s1 -b/w-> s1"), "a? b?", QUIET).failure
    assert failure is not None
    assert set(failure.allowed[0].branches) == {(("'x'", "'w'"), "'s1'"), (("'y'", "'x'"), "'s1'")}
