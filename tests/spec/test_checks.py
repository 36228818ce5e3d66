"""What `Spec` and the functions on specs refuse: each message says what was given, what was possible and what to do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from otf import spec as spec_module
from otf.errors import ModelError, UsageError
from otf.spec import Accept, Spec, Transition, goto


@dataclass(frozen=True)
class Node:
    """A state with a counter."""

    lit: bool = False
    alive: int = 0


class Lamp(Enum):
    """Values that have names."""

    LIT = 1


def step(state: Any, inp: object) -> Iterable[Transition[Any]]:  # noqa: ANN401 -- any state
    """Stay."""
    yield goto(state, inp)


def ticking(node: Node, _inp: object) -> Iterable[Transition[Node]]:
    """Count, to more states than anybody looks at."""
    yield goto(Node(alive=node.alive + 1))


def late(state: object, _inp: object) -> Iterable[Transition[object] | Accept]:
    """Reach a state that has a counter, or that only the system knows."""
    yield goto(Node())
    yield Accept(lambda seen: [state, *seen])


def short(state: object) -> Iterable[Transition[Any]]:
    """Take too little for a step function."""
    yield goto(state)


async def waiting(state: object, inp: object) -> list[Transition[Any]]:
    """Be asynchronous."""
    return [goto(state, inp)]


def raising(_state: object, _inp: object) -> Iterable[Transition[Any]]:
    """Be wrong in another way, which a run reports."""
    raise ValueError


api: Any = spec_module  # called with wrong types, on purpose


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: api.Spec("step", 0, ["a"]), "step='step': a function of (state, input) is needed"),
        (
            lambda: api.Spec(step(0, 1), 0, ["a"]),
            "a function of (state, input) is needed; write its name without calling",
        ),
        (
            lambda: api.Spec(short, 0, ["a"]),
            "step=short: it takes (state), not (state, input)\n  File ",
        ),
        (
            lambda: api.Spec(waiting, 0, ["a"]),
            "step=waiting: a model does not wait: write def instead of async def\n  File",
        ),
        (lambda: api.Spec(step, [], ["a"]), "the state [] cannot be compared: a list can change and has no hash"),
        (lambda: api.Spec(step, 0, [["a"]]), "the value ['a'] cannot be compared: a list can change and has no hash"),
        (lambda: api.Spec(step, 0, Node()), "inputs=Node(): a list of inputs is needed, or a function from a state"),
        (lambda: api.Spec(step, 0, Node), "inputs=Node: it is a class: list its values, [Node(…)], or declare"),
        (lambda: api.Spec(step, 0, [Node]), "inputs=[Node, …]: Node is a class: write Node(…)"),
        (lambda: api.Spec(step, 0, [Lamp]), "inputs=[Lamp, …]: Lamp is a class: write *Lamp"),
        (lambda: api.Spec(step, 0, "coin"), "inputs='coin': its letters would be the inputs: write inputs=['coin']"),
        (lambda: api.Spec(step, 0, lambda: ["a"]), "inputs=<lambda>: it takes (), not (state)"),
        (lambda: api.Spec(step, 0, ["a"], step), "emits=step: it takes (state, inp), not (state)"),
        (lambda: api.Spec(step, 0, ["a"], malformed="no"), "malformed='no': a function of (state, input) is needed"),
        (
            lambda: api.Spec(step, 0, ["a"], name=5, guarded="no"),
            "2 mistakes\n  name=5: a text is needed\n  guarded='no'",
        ),
        (lambda: api.Spec(step, 0, ["a"], partial=5), "partial=5: a Spec is needed"),
        (lambda: api.Spec(step, 0, values=5), "values=5: a dict from types to their values is needed"),
        (lambda: api.Spec(step, 0, values={"int": [5]}), "values={'int': …}: the keys are types, such as int, not"),
        (lambda: api.Spec(step, 0, ["a"]).bounded(5), "bounded: values=5: a dict from types to their values is needed"),
        (lambda: api.Spec(step, 0, ["a"], counters="x"), "counters='x': a list of field names is needed, such as"),
        (
            lambda: api.Spec(step, 0, ["a"], counters=["x"]),
            "no state has a field 'x'; its numbers are '' (the state itself)",
        ),
        (lambda: api.Spec(step, "s", ["a"], short, counters=["x"]), "'x'; it has no numbers: leave counters out"),
        (
            lambda: api.Spec(ticking, Node(), ["a"], counters=["alvie"]),
            "no state has a field 'alvie'; did you mean alive?",
        ),
        (
            lambda: api.restrict(api.Spec(step, 0, ["a"]), short),
            "restrict: allow=short: it takes (state), not (State, Input)\n  File ",
        ),
        (lambda: api.total(step), "total: spec=step: a Spec is needed"),
        (lambda: api.Accept(5), "Accept(then=5): a function is needed"),
        (lambda: api.Accept(list, until="x"), "Accept(until='x'): give the number of outputs, or a function of them"),
        (lambda: api.drifting(step, 0.1), "drifting: spec=step: a Spec is needed"),
        (lambda: api.drifting(api.Spec(step, 0, ["a"]), "1"), "drifting: drift='1': a number is needed"),
        (lambda: api.Requirement(5, "MUST", "x"), "Requirement: id=5: a text is needed"),
        (lambda: api.Requirements(["R1"]), "Requirements: requirements=['R1']: a list of Requirements is needed"),
        (lambda: api.Where("x"), "Where('x'): a function is needed, such as lambda output: output > 0"),
    ],
)
def test_a_wrong_argument_is_refused_where_it_is_given(make: Callable[[], object], message: str) -> None:
    """A path would show it much later, without the line; or nothing would."""
    with pytest.raises(UsageError) as raised:
        make()
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: api.goto(0, timers=api.start("t", 1, 2)),
            "timers=TimerStart(name='t', lo=1, hi=2): give a list: timers=[start(",
        ),
        (lambda: api.goto(0, timers="t"), "timers='t': give a list: timers=[start(name, lo, hi), stop(name)]"),
        (lambda: api.goto(0, after=3), "after=3: the name of a timer is needed, as in start(name, lo, hi)"),
        (lambda: api.goto(0, req=3), "req=3: give the id of a requirement"),
        (lambda: api.Elapse("1s"), "Elapse('1s'): give the seconds to wait, more than 0 and at most 3600"),
        (lambda: api.start(3, 1, 2), "start(3, …): a timer needs a name"),
        (
            lambda: api.Spec(step, 0, ["a"], timers=[api.TimerStop("t")]),
            "TimerStop(name='t') starts none: write start(",
        ),
    ],
)
def test_so_is_a_wrong_time(make: Callable[[], object], message: str) -> None:
    """A timer has a name and a window, and a transition has a list of them."""
    with pytest.raises(ModelError) as raised:
        make()
    assert message in str(raised.value)


@pytest.mark.parametrize(
    "spec",
    [
        api.Spec(late, "off", ["a"], counters=["alive"]),
        api.Spec(late, "off", ["a"], counters=["anything"]),
        api.Spec(ticking, Node(), ["a"], counters=["anything"]),
        api.Spec(raising, Node(), ["a"], counters=["alvie"]),
        api.Spec(getattr, 0, ["a"]),
    ],
    ids=["another", "unknown", "endless", "raises", "built in"],
)
def test_what_may_be_right_is_accepted(spec: Spec[Any, Any]) -> None:
    """Another type of state may have the counter, and some functions do not say what they take."""
    assert spec.name
