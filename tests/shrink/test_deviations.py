"""A wrong state after one step shows in several failures, which are then one defect."""

from __future__ import annotations

from collections.abc import Iterable

from otf.core import Model, Oracle
from otf.core.macro_step import events as step_events
from otf.shrink.deviations import ShrunkFailure, one_defect, shrunk_failure
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Seen
from otf.trace.kinds import PassedStep

ALL = ("on", "off", "look", "count", "ring")


def step(on: bool, inp: str) -> Iterable[Transition[bool]]:
    """Answer in a lamp: it is switched on and off in silence, and everything else shows whether it is on."""
    if inp in {"on", "off"}:
        return [goto(inp == "on")]
    return [goto(on, f"{inp} {on}")]


def lamp() -> Oracle:
    """Return the oracle of a lamp that is off."""
    return Oracle(Model(Spec(step, initial=False, inputs=ALL)))


def events(oracle: Oracle, *steps: str) -> list[Event]:
    """Return the events of steps `input` or `input/output`."""
    parts = [each.partition("/") for each in steps]
    made = [step_events(oracle, inp, (output,) if output else ()) for inp, _, output in parts]
    return [event for each in made for event in each]


def shrunk(*steps: str, passed: Iterable[PassedStep] = ()) -> ShrunkFailure:
    """Return a shrunk failure of the lamp."""
    oracle = lamp()
    return shrunk_failure(oracle, events(oracle, *steps), passed)


LOOKS = shrunk("on", "look/look False")
COUNTS = shrunk("on", "count/count False")


def test_a_state_that_is_not_entered() -> None:
    """A lamp that does not go on fails at whatever is asked then: the two are one defect, that of going on."""
    assert {each.does for each in LOOKS.deviations} == {"'on"}
    assert {*one_defect([LOOKS, COUNTS])} == {1}


def test_too_few_that_fail() -> None:
    """If only one of three inputs fails that would show it, that input is wrong, and not the state before."""
    assert one_defect([LOOKS, LOOKS._replace(deviations=frozenset())]) == {}


def test_evidence_against_it() -> None:
    """If one of these inputs was answered rightly after the same step, the state was right."""
    right = PassedStep("True", "'ring'", "'ring True'", after=("False", "'on'"))
    assert not shrunk("on", "look/look False", passed=[right]).deviations


def test_outputs_that_no_state_explains() -> None:
    """An output that is right in no state is a defect of its own."""
    assert not shrunk("on", "look/no lamp").deviations
    assert one_defect([shrunk("on", "look/no lamp"), COUNTS]) == {}


def test_a_model_with_times() -> None:
    """Of a model with time windows nothing is said: a wrong state may be the right one at another time."""

    def timed(on: bool, inp: str) -> Iterable[Transition[bool]]:
        return [goto(each.state, *each.outputs, within=(0.0, 1.0)) for each in step(on, inp)]

    oracle = Oracle(Model(Spec(timed, initial=False, inputs=ALL)))
    assert not shrunk_failure(oracle, events(oracle, "on", "look/look False"), ()).deviations


def test_a_state_that_is_not_certain() -> None:
    """Where the model allows several states after a step, nothing is said of the steps from there on."""

    def either(_: int, inp: str) -> Iterable[Transition[int]]:
        return [goto(1), goto(0)] if inp == "on" else [goto(0, "x")]

    oracle = Oracle(Model(Spec(either, initial=0, inputs=ALL)))
    assert not shrunk_failure(oracle, events(oracle, "on", "look/y"), ()).deviations


def test_nothing_was_sent() -> None:
    """A failure before any input has no such step."""
    assert shrunk_failure(lamp(), [Seen("x", "", 0.0)], ()) == ShrunkFailure("", frozenset())
