"""A wrong state after one step shows in several failures, which are then one defect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from otf.core import Model, Oracle
from otf.core.macro_step import events as step_events
from otf.shrink.defects import Answer, ShrunkFailure, one_defect, shrunk_failure
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event, Seen
from otf.trace.verdict import Signature

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


def shrunk(*steps: str) -> ShrunkFailure:
    """Return a shrunk failure of the lamp."""
    oracle = lamp()
    return shrunk_failure(oracle, events(oracle, *steps))


def asked(failures: Sequence[ShrunkFailure], *wrong: str, otherwise: str = "") -> dict[int, int]:
    """Return what is one defect, of a system that fails at an input, or at `input after input` if somebody has left.

    At the first input of a run it fails in another way if that is the one given.
    """
    asking, other = one_defect(failures), Signature("ended", "", "", "", "")
    try:
        run = next(asking)
        while True:
            last, *before = reversed([str(each.value) for each in run])
            fails = last in wrong or ("leave" in before and f"{last} after {before[0]}" in wrong)
            as_known: Answer = failures[0].signature if fails else False
            run = asking.send(other if last == otherwise and len(before) < 2 else as_known)
    except StopIteration as done:
        found: dict[int, int] = done.value
        return found


LOOKS = shrunk("on", "look/look False")
COUNTS = shrunk("on", "count/count False")


def test_a_state_that_is_not_entered() -> None:
    """A lamp that does not go on fails at whatever is asked then: the two are one defect, that of going on."""
    assert {each.defect for each in LOOKS.deviations} == {("'on", ())}
    assert asked([LOOKS, COUNTS], "look", "count", "ring") == {1: 0}


def test_too_few_that_fail() -> None:
    """If only one of three inputs fails that would show it, that input is wrong, and not the state before."""
    assert asked([LOOKS, COUNTS], "look") == {}


def test_a_state_that_fails_by_another_way() -> None:
    """If the same inputs fail where another way leads to the state, their outputs are wrong, and the step is not."""
    dim = [shrunk("off", "on", each) for each in ("look/look False", "count/count False")]
    assert asked(dim, "look", "count", "ring") == {}


def test_outputs_that_no_state_explains() -> None:
    """An output that is right in no state is a defect of its own."""
    assert not shrunk("on", "look/no lamp").deviations
    assert asked([shrunk("on", "look/no lamp"), COUNTS]) == {}


@dataclass(frozen=True)
class Seat:
    """A guest of a bar, and what the guest drank."""

    guest: str = ""
    cups: int = 0


def bar(seat: Seat, inp: str) -> Iterable[Transition[Seat]]:
    """Take a step of a bar: somebody sits down, drinks, is greeted or asked for money, and leaves."""
    if inp == "leave":
        return [goto(Seat())]
    if not seat.guest:
        return [goto(Seat(inp), f"welcome {inp}")] if inp in {"ann", "bob"} else []
    seat = replace(seat, cups=seat.cups + 1) if inp == "drink" else seat
    if inp == "shout":
        return [goto(seat, *(["ANN!"] if seat.guest == "ann" else []))]
    told = {"name": seat.guest, "greet": f"hi {seat.guest}", "count": f"{seat.cups} cups", "pay": f"{seat.cups} euros"}
    return [goto(seat, *([told[inp]] if inp in told else []))]


BAR = ("ann", "bob", "leave", "drink", "name", "greet", "count", "pay", "shout")
ANN = "ann/welcome ann"


def at_bar(*steps: str) -> ShrunkFailure:
    """Return a shrunk failure of the bar."""
    oracle = Oracle(Model(Spec(bar, initial=Seat(), inputs=BAR)))
    return shrunk_failure(oracle, events(oracle, *steps))


@cache
def names() -> list[ShrunkFailure]:
    """Two failures of a bar that keeps the name of a guest who has left."""
    return [at_bar(ANN, "leave", "bob/welcome bob", ask) for ask in ("name/ann", "greet/hi ann")]


@cache
def cups() -> list[ShrunkFailure]:
    """Two failures of a bar that keeps the cups of a guest who has left."""
    return [at_bar(ANN, "drink", "leave", ANN, ask) for ask in ("count/1 cups", "pay/1 euros")]


WRONG = ("name after bob", "greet after bob", "shout after bob", "count after ann", "pay after ann")


def test_what_a_system_remembers() -> None:
    """A bar that keeps names and cups after a guest has left: two defects of one step, each seen in two failures."""
    assert asked([*names(), *cups()], *WRONG) == {1: 0, 3: 2}


def test_a_state_where_another_defect_shows() -> None:
    """A guest who comes first and fails in another way hides what the next one is called: that says nothing."""
    assert asked(names(), *WRONG, otherwise="name") == {1: 0}


def test_a_run_that_shows_two_defects() -> None:
    """A guest under an old name who does not shout: what two known defects explain is not a third one."""
    mute = at_bar(ANN, "shout")
    both = at_bar(ANN, "leave", "bob/welcome bob", "shout", "name/ann")
    assert asked([*names(), mute, both], *WRONG) == {1: 0, 3: 0}
    assert asked([*names(), both], *WRONG) == {1: 0}


def test_a_model_with_times() -> None:
    """Its states are told apart as others are."""

    def timed(on: bool, inp: str) -> Iterable[Transition[bool]]:
        return [goto(each.state, *each.outputs, within=(0.0, 1.0)) for each in step(on, inp)]

    oracle = Oracle(Model(Spec(timed, initial=False, inputs=ALL)))
    failures = [shrunk_failure(oracle, events(oracle, "on", each)) for each in ("look/look False", "count/count False")]
    assert asked(failures, "look", "count", "ring") == {1: 0}
    assert asked(failures, "look") == {}


def test_a_state_that_is_not_certain() -> None:
    """Where the model allows several states after a step, nothing is said of the steps from there on."""

    def either(_: int, inp: str) -> Iterable[Transition[int]]:
        return [goto(1), goto(0)] if inp == "on" else [goto(0, "x")]

    oracle = Oracle(Model(Spec(either, initial=0, inputs=ALL)))
    assert not shrunk_failure(oracle, events(oracle, "on", "look/y")).deviations


def test_nothing_was_sent() -> None:
    """A failure before any input has no such step."""
    assert shrunk_failure(lamp(), [Seen("x", "", 0.0)]).deviations == ()
