"""Model programs, machines and suites mean in otf what they mean in PyModel, alone and as a product."""

from __future__ import annotations

import os
import py_compile
from pathlib import Path
from typing import Any

import pytest

from otf.compat.pymodel import Composition, load
from otf.compat.pymodel.product import count_states
from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.notations import Call
from otf.spec import Transition
from tests.compat.samples import ECHO, SPEED, STACK, SWITCH, write


def ways(spec: Composition, state: Any, call: Call) -> list[tuple[Any, ...]]:  # noqa: ANN401 -- any state
    """Return the outputs that a call may have."""
    return [way.outputs for way in spec.step(state, call) if isinstance(way, Transition)]


def inputs(spec: Composition) -> list[str]:
    """Return the inputs enabled in the initial state."""
    return [repr(call) for call in spec.inputs(spec.initial)]


def loaded(folder: Path, *names: str, **modules: str) -> Composition:
    """Write modules and load those that are named, or all."""
    write(folder, **modules)
    return load(*(names or modules), folder=folder).spec


PROGRAM = """
n = 0
def act(a, b=7):
    global n
    n += 1
    return (a, b)
state = ('n',)
actions = [act]
def statefilter(): return n < 3
"""


@pytest.mark.parametrize(
    ("more", "offered"),
    [
        ("domains = {act: {'a': [1, 2]}}", ["act(1)", "act(2)"]),
        ("domains = {act: {'a': [1, 2], 'b': (3, 4)}}", ["act(1, 3)", "act(1, 4)", "act(2, 3)", "act(2, 4)"]),
        ("domains = {act: {'a': [1, 2], 'b': (3, 4, 5)}}\ncombinations = {act: 'cases'}", ["act(1, 3)", "act(2, 4)"]),
        ("domains = {act: {'a': lambda: [n]}}\ncombinations = {act: 'all'}", ["act(0)"]),
        ("domains = {act: {'a': [1, 1]}}", ["act(1)"]),
        ("domains = {act: {'a': [[1], {'x': 2}]}}", ["act([1])", "act({'x': 2})"]),
    ],
)
def test_arguments_come_from_the_domains(tmp_path: Path, more: str, offered: list[str]) -> None:
    """Domains are collections or functions; they are combined as a product or side by side."""
    assert inputs(loaded(tmp_path, Program=PROGRAM + more)) == offered


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("combinations = {act: 'pairs'}\ndomains = {act: {'a': [1]}}", "write 'all' or 'cases'"),
        ("def odd(x, y, z): pass\nenablers = {act: (odd,)}", "the enabler odd takes 3 arguments, act 2"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, more: str, says: str) -> None:
    """An unknown combination, and an enabler with other arguments, are refused."""
    with pytest.raises(UsageError, match=says):
        loaded(tmp_path, Program=PROGRAM + more)


def test_an_argument_without_a_domain_is_told_when_it_is_needed(tmp_path: Path) -> None:
    """A module may be loaded for its action names; only exploring it needs its domains."""
    spec = loaded(tmp_path, Program=PROGRAM)
    with pytest.raises(ModelError, match="act has no domain for a: give it one"):
        spec.inputs(spec.initial)


def test_an_action_that_takes_any_number_has_one_domain(tmp_path: Path) -> None:
    """For `*args` the domain has one argument, or None for none."""
    many = "n = 0\ndef act(*args): return len(args)\nstate = ('n',)\nactions = (act,)\n"
    many += "domains = {act: {'args': [None, 5]}}"
    spec = loaded(tmp_path, Program=many)
    assert inputs(spec) == ["act()", "act(5)"]
    assert [ways(spec, spec.initial, call) for call in spec.inputs(spec.initial)] == [[(0,)], [(1,)]]


def test_an_enabler_without_arguments_is_asked_for_any(tmp_path: Path) -> None:
    """An enabler takes the arguments of its action, or none; it may stand alone instead of in a tuple."""
    plain = PROGRAM + "domains = {act: {'a': [1]}}\nenablers = {act: lambda: n < 1}"
    assert count_states(loaded(tmp_path, Program=plain))[:2] == (2, 1)


def test_the_filter_keeps_states_out(tmp_path: Path) -> None:
    """The state filter, under each of its names, removes transitions into states that it refuses."""
    for name in ("statefilter", "state_filter", "StateFilter"):
        text = PROGRAM.replace("statefilter", name) + "domains = {act: {'a': [1]}}"
        assert count_states(loaded(tmp_path, Program=text))[:2] == (3, 2)


def test_a_state_invariant_finds_unsafe_states(tmp_path: Path) -> None:
    """A state in which the invariant does not hold is unsafe; the others of a product have none."""
    for name in ("stateinvariant", "state_invariant", "StateInvariant"):
        text = PROGRAM + f"domains = {{act: {{'a': [1]}}}}\ndef {name}(): return n < 2"
        assert count_states(loaded(tmp_path, Program=text)).unsafe == 1
    assert count_states(loaded(tmp_path, "Program", "Speed", Speed=SPEED, Program=text)).unsafe == 3


def test_states_hold_any_values(tmp_path: Path) -> None:
    """Sets, dicts, deques and objects are saved, restored and compared by what is in them."""
    text = """
from collections import deque
class Box:
    def __init__(self): self.items = []
seen, table, line, box = set(), {}, deque(), Box()
def put(x):
    seen.add(x); table[x] = [x]; line.append(x); box.items.append(x)
def full(): return len(line) < 3
state = ('seen', 'table', 'line', 'box')
actions = (put,)
enablers = {put: (full,)}
domains = {put: {'x': [1]}}
"""
    assert count_states(loaded(tmp_path, Program=text))[:2] == (4, 3)


def test_unshared_actions_interleave(tmp_path: Path) -> None:
    """Models without a common action are interleaved, and their product may end where all may."""
    assert count_states(loaded(tmp_path, Switch=SWITCH, Speed=SPEED)) == (6, 12, 1, 0, 0, 0, True)


def machine(*rows: str, more: str = "") -> str:
    """Write a finite machine over the stack's actions."""
    return f"from Stack import push, pop\ninitial = 0\ngraph = ({''.join(f'{row},' for row in rows)})\n{more}"


def test_shared_actions_need_equal_arguments_and_results(tmp_path: Path) -> None:
    """A scenario with arguments and results restricts the model to these."""
    one = machine("(0, (push, (1,), None), 0)", "(0, (pop, (), 1), 0)")
    assert count_states(loaded(tmp_path, Stack=STACK, One=one))[:3] == (3, 4, 1)
    other = machine("(0, (push, (1,), None), 0)", "(0, (pop, (), 2), 0)")
    assert count_states(loaded(tmp_path, "Stack", "Two", Stack=STACK, Two=other))[:2] == (3, 2)


def test_an_action_without_arguments_and_result_goes_with_any(tmp_path: Path) -> None:
    """A scenario that names an action only restricts its order, whatever its arguments and result."""
    alternate = machine("(0, (push, (), None), 1)", "(1, (pop, (), None), 0)", more="accepting = (0,)")
    assert count_states(loaded(tmp_path, Stack=STACK, Alternate=alternate))[:3] == (3, 4, 1)


def test_a_program_whose_action_takes_nothing_goes_with_any_arguments(tmp_path: Path) -> None:
    """An action without arguments in one program matches any arguments in the other."""
    count = "n = 0\ndef push():\n    global n\n    n += 1\ndef few(): return n < 2\nstate = ('n',)\n"
    count += "actions = (push,)\nenablers = {push: (few,)}"
    spec = loaded(tmp_path, Stack=STACK, Count=count)
    assert inputs(spec) == ["push(1)", "push(2)"]
    assert count_states(spec)[0] == 11
    assert ways(spec, spec.initial, Call("push", (1, 2))) == []
    assert count_states(loaded(tmp_path, Stack=STACK, Count=count.replace("n += 1", "n += 1\n    return n")))[:2] == (
        1,
        0,
    )


def test_a_module_is_loaded_as_it_is_written(tmp_path: Path) -> None:
    """An edit within the same second that keeps the file's size is not missed for bytecode of the version before."""
    for call in ("push(1)", "push(2)"):
        text = f"def push(x): pass\nstate = ()\nactions = (push,)\ndomains = {{push: {{'x': [{call[5]}]}}}}\n"
        write(tmp_path, Pushing=text)
        os.utime(file := tmp_path / "Pushing.py", (1, 1))
        assert inputs(load("Pushing", folder=tmp_path).spec) == [call]
        py_compile.compile(str(file))


def test_a_vocabulary_holds_actions_back(tmp_path: Path) -> None:
    """An action that a machine lists and never takes does not happen in the product."""
    only = machine("(0, (push, (), None), 0)", more="actions = (push, pop)")
    assert count_states(loaded(tmp_path, Stack=STACK, Only=only))[:2] == (7, 6)


def test_a_machine_may_choose(tmp_path: Path) -> None:
    """A machine with several transitions for one action keeps all of them; PyModel takes the first."""
    choosing = machine("(0, (pop, (), 1), 1)", "(0, (pop, (), 2), 2)", "(0, (pop, (), 2), 1)")
    spec = loaded(tmp_path, "Choosing", Stack=STACK, Choosing=choosing)
    assert ways(spec, 0, Call("pop")) == [(1,), (2,), (2,)]
    assert ways(spec, 0, Call("other")) == []
    assert count_states(spec)[:3] == (3, 3, 3)


def test_the_runs_of_a_suite_are_explored_one_by_one(tmp_path: Path) -> None:
    """`explored` sums over all runs; as one spec the runs are a tree that shares common beginnings."""
    suite = "from Switch import On, Off\ntestSuite = [[(On, ()), (Off, (), None)], [(On, ()), (On, ())]]"
    write(tmp_path, Switch=SWITCH, Suite=suite)
    alone, checked = load("Suite", folder=tmp_path).spec, load("Suite", "Switch", folder=tmp_path).spec
    assert count_states(alone) == (6, 4, 2, 0, 2, 0, True)
    assert count_states(checked) == (5, 3, 1, 0, 1, 1, True)
    assert len(explore(alone).values) == 4
    assert [count_states(run)[1] for run in checked.runs] == [2, 1]


def test_a_suite_under_each_of_its_names(tmp_path: Path) -> None:
    """`testSuite`, `testsuite` and `test_suite` are the same, and a model without suites has one run: itself."""
    for name in ("testSuite", "testsuite", "test_suite"):
        assert count_states(loaded(tmp_path, Suite=f"def a(): pass\n{name} = [[(a, (), 1)]]"))[:2] == (2, 1)
    spec = loaded(tmp_path, Switch=SWITCH)
    assert spec.runs == (spec,)


def test_observable_actions_come_unasked(tmp_path: Path) -> None:
    """An observable action is not an input; it is explored only with arguments from scenarios."""
    alone = loaded(tmp_path, "Echo", Echo=ECHO)
    assert count_states(alone)[:2] == (3, 2)
    assert list(alone.step(alone.initial, Call("hear", ("a",)))) == []
    scenario = "from Echo import say, hear\ninitial = 0\n"
    scenario += "graph = ((0, (say, ('a',), None), 1), (1, (hear, ('a',), None), 0), (1, (hear, ('b',), None), 0))"
    both = loaded(tmp_path, "Echo", "Once", Echo=ECHO, Once=scenario)
    assert count_states(both)[:2] == (2, 2)
    assert both.emits is not None
    (after,) = both.step(both.initial, Call("say", ("a",)))
    assert isinstance(after, Transition)
    (heard,) = both.emits(after.state)
    assert heard.outputs == (Call("hear", ("a",)),)  # type: ignore[union-attr] # no Accept here


def test_an_observable_action_without_arguments_needs_no_scenario(tmp_path: Path) -> None:
    """An observable action without parameters is explored without scenarios; PyModel never takes it."""
    tick = "n = 0\ndef tick():\n    global n\n    n = 1 - n\nstate = ('n',)\nactions = (tick,)\nobservables = (tick,)"
    assert count_states(loaded(tmp_path, Tick=tick))[:2] == (2, 2)
