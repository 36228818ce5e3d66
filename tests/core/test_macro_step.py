"""A whole step at once is, by definition, the same as its events one after another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, IntEnum
from random import Random

import pytest

from otf.core import Limits, Model, Monitor, Oracle, Routes
from otf.core.macro_step import MacroSteps, events, follow
from otf.errors import UsageError
from otf.spec import Spec, Transition, goto, on
from otf.trace.events import Closed, Ended
from tests.core.random_specs import Machine, System, random_machine
from tests.core.scripts import machine, oracle


class Plain(Enum):
    YES = 1


class Level(IntEnum):
    YES = 1


@dataclass(frozen=True)
class Box:
    content: object


@dataclass(frozen=True)
class Same(Box):
    """Has the equality of its base, and may have subclasses with the same."""


class Kin(Box):
    """Is equal to its like as a box is."""


def step(oracle: Oracle, ways: MacroSteps, inp: str, outputs: tuple[object, ...]) -> MacroSteps | None:
    """Take one step."""
    symbol = oracle.model.symbol(inp)
    return follow(oracle, ways, inp, ways.tables[symbol], outputs)


def answers(random: Random, machine: Machine, system: System, inp: str) -> tuple[str, ...]:
    """Return what a system answers; now and then it is wrong."""
    system.send(1, inp)
    system.take(machine.inputs[inp])
    found = tuple(system.see(port) for port in list(system.unseen) for _ in range(len(system.going[port])))
    return random.choice([found, found, found, found[1:], (*found, "x")])


@pytest.mark.parametrize("seed", [*range(18), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(18, 100))])
def test_steps_at_once_are_steps_one_by_one(seed: int) -> None:
    """On random specs and answers: the same sets of states, and None exactly where an event fails."""
    random = Random(seed)
    table = random_machine(random)
    judge = Oracle(Model(table.spec(), table.routes()), limits=Limits(spontaneous=6))
    for _ in range(10):
        ways, monitor, system = MacroSteps.start(judge), Monitor(judge), System(table, random)
        for _ in range(5):
            inp = random.choice("ab")
            outputs = answers(random, table, system, inp)
            for event in events(judge, inp, outputs):
                monitor.tell(event)
            following = step(judge, ways, inp, outputs)
            assert (following is None) == (monitor.verdict is not None)
            if following is None:
                break
            ways = following
            assert set(ways.belief.hypotheses) == set(monitor.belief.hypotheses)
            assert ways.verdict == monitor.end()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (1, True),
        (1, 1.0),
        (Box(1), Box(1.0)),
        (Box((1,)), Box((True,))),
        (Level.YES, 1),
        (Kin(1), Kin(1.0)),
        (frozenset({1}), frozenset({1.0})),
    ],
)
def test_outputs_that_are_equal_but_of_other_types_are_told_apart(right: object, wrong: object) -> None:
    """Whichever came first, and however often: a remembered step is not taken for another."""
    spec = Spec[int, str](lambda state, _inp: [goto(state, on("P", right))], 0, ["a"])
    judge = oracle(spec, routes=Routes(("P",), lambda _value: "P"))
    start = MacroSteps.start(judge)
    for _ in range(2):
        assert step(judge, start, "a", (wrong,)) is None
        assert step(judge, start, "a", (right,)) is start


def test_each_of_two_equal_outputs_leads_where_the_model_says() -> None:
    """A system may answer 1 or True, and each leads to a state of its own, whichever came first."""
    yes = True
    spec = Spec(lambda state, _: [goto("one", 1), goto("true", yes)] if state == "idle" else [], "idle", ["go"])
    judge = Oracle(Model(spec))
    ways = MacroSteps.start(judge)
    ends = [step(judge, ways, "go", (each,)) for each in (1, True, 1, True)]
    assert [end and [node.value for node in end.view.nodes] for end in ends] == [["one"], ["true"], ["one"], ["true"]]


@pytest.mark.parametrize("output", [None, Plain.YES, Box(None), Box(Plain.YES), Box(1), "text"])
def test_a_step_that_was_seen_before_is_remembered(output: object) -> None:
    """The spec is asked once; after that the same outputs are looked up."""
    asked: list[str] = []

    def counted(state: int, inp: str) -> Iterable[Transition[int]]:
        asked.append(inp)
        return [goto(state, on("P", output))]

    judge = Oracle(Model(Spec[int, str](counted, 0, ["a"]), Routes(("P",), lambda _value: "P")))
    ways = MacroSteps.start(judge)
    for _ in range(3):
        assert step(judge, ways, "a", (output,)) is ways
    assert asked == ["a"]
    assert MacroSteps.of(judge, ways.belief) is ways


def test_the_inputs_are_those_that_may_be_offered() -> None:
    """What the model specifies, with a table of steps for each."""
    ways = MacroSteps.start(oracle(machine("s0 -a-> s1", "s1 -b-> s0")))
    assert ways.specified() == 1
    assert ([inp for inp, _ in ways.inputs], ways.size) == (["a"], 1)


def test_a_run_that_the_model_says_nothing_of_any_more_is_cut_short() -> None:
    """B is unspecified in s0."""
    judge = oracle(machine("s0 -a-> s1"))
    start = MacroSteps.start(judge)
    following = step(judge, start, "b", ())
    assert following is not None
    assert (start.verdict.truncated, following.verdict.truncated) == (False, True)


def test_an_end_is_told_as_the_end_of_a_port() -> None:
    """A system that has ended answers with `Ended`; a model that does not expect it is not met."""
    judge = oracle(machine("s0 -a-> s1"))
    assert step(judge, MacroSteps.start(judge), "a", (Ended("raised ValueError"),)) is None
    assert isinstance(events(judge, "a", (Ended("gone"),))[1], Closed)


def test_a_model_with_time_windows_is_refused() -> None:
    """A step takes no time: any time window of the model could only be violated."""
    judge = Oracle(Model(Spec[int, str](lambda state, _inp: [goto(state, "x", within=(1, 2))], 0, ["a"])))
    with pytest.raises(UsageError, match=r"time windows.*otf\.adapters\.inprocess"):
        step(judge, MacroSteps.start(judge), "a", ("x",))


def test_what_is_specified_is_asked_once() -> None:
    """The inputs of a state are found when they are first wanted, and are the same objects afterwards."""
    ways = MacroSteps.start(oracle(machine("s0 -a-> s0", "s0 -b-> s0")))
    assert ways.specified() == 2
    known = ways.inputs
    assert ways.specified() == 2
    assert ways.inputs is known
