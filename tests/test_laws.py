"""Laws of specs: the coffee machines and the priority queue of the paper.

Koopman and Plasmeijer, "Testing with Functions as Specifications", sections 3 and 4.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal

import pytest

from otf.laws import after, deterministic, invariant, total, transitions
from otf.logic import Property, check, implies
from otf.spec import Accept, Spec, Transition, goto
from otf.spec import total as completed
from otf.values import Range, every


class Input(Enum):
    """Coins, and the button for coffee."""

    NICKEL = 5
    DIME = 10
    BUTTON = 0


State = Literal[0, 5, 10]
Step = Callable[[int, Input], Iterator[Transition[int]]]


def c1(paid: int, inp: Input) -> Iterator[Transition[int]]:
    """Keep a third coin, or give it back, and say nothing of the button where too little is paid."""
    if inp is Input.BUTTON and paid == 10:
        yield goto(0, "coffee")
        yield goto(10 - 10, "coffee")
    elif inp is not Input.BUTTON and paid + inp.value <= 10:
        yield goto(paid + inp.value)


def c2(paid: int, inp: Input) -> Iterator[Transition[int]]:
    """Swallow what is too much."""
    if inp is Input.BUTTON:
        yield goto(0, "coffee") if paid == 10 else goto(paid)
    else:
        yield goto(min(10, paid + inp.value))


def c3(paid: int, inp: Input) -> Iterator[Transition[int]]:
    """Give back what is too much."""
    if inp is Input.BUTTON:
        yield goto(0, "coffee") if paid == 10 else goto(paid)
    elif paid + inp.value <= 10:
        yield goto(paid + inp.value)
    else:
        yield goto(paid, inp)


def c4(paid: int, inp: Input) -> Iterator[Transition[int]]:
    """Take any amount of money."""
    if inp is Input.BUTTON:
        yield goto(paid - 10, "coffee") if paid >= 10 else goto(paid)
    else:
        yield goto(paid + inp.value)


def worth(thing: object) -> int:
    """Say what money a coin, a cup or an amount stands for."""
    return thing.value if isinstance(thing, Input) else 10 if thing == "coffee" else int(str(thing))


def fair(state: int, inp: Input, target: int, outputs: tuple[object, ...]) -> bool:
    """Say that no money is lost."""
    return state + worth(inp) == target + sum(map(worth, outputs))


def never_negative(state: int, _inp: Input, target: int, _outputs: object) -> Property:
    """Say that nobody gets credit."""
    return implies(state >= 0, target >= 0)


def verdict(law: Callable[..., Any], step: Step, *more: Any) -> str:  # noqa: ANN401 -- what a law needs besides
    """Check a law of a coffee machine."""
    return str(check(law(Spec(step, 0, list(Input)), *more), tests=100))


@pytest.mark.parametrize(
    ("step", "is_deterministic", "is_total", "is_fair", "is_never_negative"),
    [
        (c1, "counterexample", "counterexample", "proof", "proof"),
        (c2, "proof", "proof", "counterexample", "proof"),
        (c3, "proof", "proof", "proof", "proof"),
        (c4, "passed", "passed", "passed", "passed"),
    ],
)
def test_the_verdicts_on_coffee_machines_are_those_of_the_paper(
    step: Step, is_deterministic: str, is_total: str, is_fair: str, is_never_negative: str
) -> None:
    """Proofs for the finite ones; the fourth has no end of states."""
    told = [
        verdict(deterministic, step),
        verdict(total, step),
        verdict(transitions, step, fair),
        verdict(transitions, step, never_negative),
    ]
    assert [each.split()[0] for each in told] == [is_deterministic, is_total, is_fair, is_never_negative]


def test_counterexamples_name_the_state_and_the_input() -> None:
    """The first in the order in which states are reached."""
    assert verdict(deterministic, c1).endswith("state=10, inp=Input.BUTTON")
    assert verdict(total, c1).endswith("state=0, inp=Input.BUTTON")
    assert verdict(transitions, c2, fair).endswith("state=5, inp=Input.DIME")


def test_states_and_inputs_may_be_given() -> None:
    """Multiples of five up to a hundred: then the fourth machine is proven, too; a type does as well."""
    spec = Spec(c4, 0, list(Input))
    assert str(check(transitions(spec, fair), range(0, 101, 5), Input)) == "proof after 63 tests"
    assert str(check(transitions(spec, never_negative), every(int), Input, tests=99)).startswith("passed 99 tests")
    assert str(check(deterministic(Spec(c1, 0, list(Input))), State, Input)).startswith("counterexample after 9 tests")


def test_completing_a_machine_is_not_harmless() -> None:
    """The ignored coin is lost: "no money is lost" does not hold of the completed first machine, which is total."""
    whole = completed(Spec(c1, 0, list(Input)))
    assert str(check(total(whole))) == "proof after 9 tests"
    assert check(transitions(whole, fair)).values == {"state": 5, "inp": Input.DIME}


def test_an_invariant_holds_of_every_state_that_can_be_reached() -> None:
    """Or there is one of which it does not."""
    spec = Spec(c3, 0, list(Input))
    assert str(check(invariant(spec, lambda paid: 0 <= paid <= 10))) == "proof after 3 tests"
    assert str(check(invariant(spec, lambda paid: paid < 10))) == "counterexample after 3 tests: state=10"
    assert str(check(invariant(Spec(c4, 0, list(Input)), lambda paid: paid >= 0), tests=50)) == "passed 50 tests"


@dataclass(frozen=True)
class In:
    item: Annotated[int, Range(0, 4)]


class Call(Enum):
    """What is asked of a queue."""

    INIT = "init"
    OUT = "out"
    SIZE = "size"
    SUM = "sum"
    RESET = "reset"


Queue = tuple[int, ...] | None


def queue(state: Queue, inp: In | Call) -> Iterator[Transition[Queue]]:
    """Take items out in the order of their size; None is the queue that was not initialised."""
    match state, inp:
        case None, Call.INIT:
            yield goto(())
        case _, Call.SIZE:
            yield goto(state, len(state or ()))
        case _, Call.SUM:
            yield goto(state, sum(state or ()))
        case _, Call.RESET:
            yield goto(None)
        case None, _:
            yield goto(None)
        case tuple(), In(item):
            items = list(state)
            insort(items, item)
            yield goto(tuple(items))
        case (first, *rest), Call.OUT:
            yield goto(tuple(rest), first)
        case _, Call.OUT:
            yield goto(state)
        case _:
            pass  # initialised twice: the specification says nothing


PRIORITY = Spec(queue, None)
Items = Annotated[tuple[Annotated[int, Range(0, 4)], ...], "a queue"]


def answered(state: Queue, call: Call) -> int:
    """Say what the queue answers."""
    ((number,),) = [transition.outputs for transition in queue(state, call)]
    return int(str(number))


def grows(state: Items | None, item: Annotated[int, Range(0, 4)]) -> bool:
    """Say that adding an item makes a queue larger by one."""
    return all(
        answered(next_, Call.SIZE) == answered(state, Call.SIZE) + 1 for next_ in after(PRIORITY, [state], [In(item)])
    )


def heavier(state: Items | None, item: Annotated[int, Range(0, 4)]) -> Property:
    """Say that adding something makes the sum larger, in a queue that was initialised."""
    sums = [answered(next_, Call.SUM) for next_ in after(PRIORITY, [state], [In(item)])]
    return implies(state is not None and item > 0, lambda: all(each > answered(state, Call.SUM) for each in sums))


def ordered(inputs: list[In | Call]) -> bool:
    """Say that the head is the smallest, whatever was done before."""
    return all(state[0] <= item for state in after(PRIORITY, [None], inputs) if state for item in state)


def test_the_verdicts_on_the_priority_queue_are_those_of_the_paper() -> None:
    """Adding to a queue that was not initialised does not enlarge it; sums grow, since no integer overflows here."""
    assert str(check(deterministic(PRIORITY))) == "passed 1,000 tests"
    assert check(total(PRIORITY)).values == {"state": (), "inp": Call.INIT}
    assert check(grows).values == {"state": None, "item": 0}
    assert str(check(heavier)).startswith("passed 1,000 tests")
    assert str(check(ordered, tests=10_000)) == "passed 10,000 tests"


def test_states_that_are_reached_unasked_count_as_well() -> None:
    """The law is about them, too."""
    spec = Spec(c3, 0, list(Input), lambda paid: [goto(15)] if paid == 10 else [])
    assert check(invariant(spec, lambda paid: paid < 15)).values == {"state": 15}


def open_ended(state: int, inp: Literal["a"]) -> Iterator[Transition[int] | Accept]:
    """Let the system choose what comes next."""
    del inp
    yield Accept(lambda seen: [len(seen) + state])


def test_where_outputs_decide_the_next_state_nothing_is_proven() -> None:
    """The states after it are not known."""
    spec = Spec(open_ended, 0)
    assert str(check(deterministic(spec))) == "passed 1 test"
    assert str(check(transitions(spec, fair))) == "nothing tested: 1 rejection"
    assert after(spec, [0], ["a"]) == []


def test_a_counterexample_cites_the_requirement_of_the_law() -> None:
    """And a law with other states keeps it."""
    spec = Spec(lambda state, _inp: [goto(state), goto(state)], 0, [1])
    assert str(check(deterministic(spec, req="R1"))).endswith("(violates R1)")
    assert check(total(spec, req="R2"), [0], [1]).req == ("R2",)
    assert check(transitions(spec, lambda *_: True, req="R3")).req == ("R3",)
