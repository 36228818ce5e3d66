"""What judging costs, in calls of functions and in hypotheses: figures that no other process on the machine changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from itertools import combinations
from random import Random
from types import FrameType
from typing import Any, ClassVar
from weakref import WeakSet

import pytest

from otf.core import Limits, Model, Monitor, Oracle, Routes
from otf.core.memory import Memory, Symbol
from otf.core.timing import Span
from otf.core.walk import Walk
from otf.spec import AnyOrder, OneOf, Spec, Transition, Where, goto
from otf.strategy.pool import VisitCounts
from otf.trace.events import Event, Quiet, Seen, Sent, Taken

PORTS = "pqrs"
ROUTES = Routes(tuple(PORTS), lambda value: value[0])
LINEAR = 2.5
"""How many times as much twice as many may cost."""


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called in some work."""
    count = 0

    def note(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def once(*outputs: object) -> Spec[str, str]:
    """Return a system that gives these outputs to its first input."""
    return Spec(lambda state, _inp: [goto("done", *outputs)] if state == "new" else [goto(state)], "new", ["pa"])


def monitor(spec: Spec[Any, Any]) -> Monitor:
    """Return the judge of a run."""
    return Monitor(Oracle(Model(spec, ROUTES)))


def passed(judge: Monitor, events: Iterable[Event]) -> int:
    """Tell events that conform; return how many hypotheses there were at most."""
    most = 0
    for event in events:
        assert judge.tell(event) is None
        most = max(most, len(judge.belief.hypotheses))
    return most


def answered(spec: Spec[Any, Any], outputs: Iterable[str]) -> int:
    """Return the most hypotheses in a run of one input and these outputs."""
    return passed(monitor(spec), [Sent("pa", "p", 0), *(Seen(output, output[0], 0) for output in outputs), Quiet(0)])


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times as much twice as many cost."""
    return calls(lambda: work(2 * size)) / calls(lambda: work(size))


def test_a_long_answer_costs_as_much_for_each_output_as_a_short_one() -> None:
    """200 outputs of one answer, and 400."""

    def long(size: int) -> None:
        outputs = [f"p{number}" for number in range(size)]
        answered(once(*outputs), outputs)

    assert growth(long, 200) <= LINEAR


@pytest.mark.parametrize("ports", ["p", "pq", "pqrs"])
def test_choices_in_a_row_do_not_multiply(ports: str) -> None:
    """Ten `OneOf`, on one port or on several in turn, lead to one state: what is not seen yet is one explanation."""
    names = [f"{ports[number % len(ports)]}{number}" for number in range(10)]
    spec = once(*(OneOf(f"{name}l", f"{name}r") for name in names))
    assert answered(spec, [f"{name}r" for name in names]) == 1


def test_each_alternative_is_looked_at_once() -> None:
    """Of a row of choices among tests, only those of the output that is due are asked."""
    asked = 0

    def sort(letter: str) -> Where:
        def test(output: str) -> bool:
            nonlocal asked
            asked += 1
            return output[1] == letter

        return Where(test, letter)

    spec = Spec[str, str](lambda _s, _i: [goto("done", *[OneOf(sort("l"), sort("r"))] * 8)], "new", ["pa"])
    judge = Monitor(Oracle(Model(spec, Routes(("p",)))))
    passed(judge, [Sent("pa", "p", 0), *(Seen(f"p{letter}", "p", 0) for letter in "lrrlrllr"), Quiet(0)])
    assert asked <= 16


@pytest.mark.parametrize("wrong", ["p3x", "p4l", "q3l"])
def test_choices_in_a_row_are_judged_one_by_one(wrong: str) -> None:
    """No value that is none of the alternatives, none out of turn, none on another port."""
    spec = once(*(OneOf(f"p{number}l", f"p{number}r") for number in range(6)))
    judge = monitor(spec)
    passed(judge, [Sent("pa", "p", 0), *(Seen(f"p{number}r", "p", 0) for number in range(3))])
    verdict = judge.tell(Seen(wrong, wrong[0], 0))
    assert verdict is not None
    assert verdict.failure is not None
    assert verdict.failure.kind in {"wrong", "unasked"}


def test_a_choice_may_be_among_ports() -> None:
    """Two choices among the same two ports: an output on one decides which is outstanding on the other."""
    spec = once(OneOf("pl", "ql"), OneOf("pr", "qr"))
    for outputs in (["pl", "pr"], ["pl", "qr"], ["qr", "pl"], ["ql", "pr"], ["pr", "ql"], ["ql", "qr"]):
        answered(spec, outputs)
    for outputs in (["pr", "pl"], ["pl", "ql"], ["qr", "pr"]):
        judge = monitor(spec)
        judge.tell(Sent("pa", "p", 0))
        for output in outputs:
            judge.tell(Seen(output, output[0], 0))
        assert judge.end().failed, outputs


def test_outputs_in_any_order_cost_as_much_each_however_many_there_are() -> None:
    """60 in one bag, and 120, that come in another order."""

    def shuffled(size: int) -> None:
        outputs = [f"p{number}" for number in range(size)]
        spec = once(AnyOrder(*outputs))
        Random(1).shuffle(outputs)
        answered(spec, outputs)

    assert growth(shuffled, 60) <= LINEAR


class State:
    """A state that tells whether it is still remembered."""

    alive: ClassVar[WeakSet[State]] = WeakSet()

    def __init__(self, number: int) -> None:
        self.number = number
        State.alive.add(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)


def _counted(state: State, _inp: str) -> list[Transition[State]]:
    return [goto(State(state.number + 1), "px")]


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> int:
    """Make the memory of models and beliefs small, and return how much it holds."""
    monkeypatch.setattr(Memory.__init__, "__defaults__", (1_000,))
    gc.collect()  # what other tests have left would go in the midst of these
    State.alive.clear()
    return 1_000


def test_states_that_never_come_again_do_not_flush_those_that_do() -> None:
    """Of 5,000 states in a memory of 2,000 answers, the one that the system always returns to is asked about once."""
    asked = list[int]()

    def step(state: int, _inp: str) -> list[Transition[int]]:
        asked.append(state)
        return [goto(0 if state else len(asked), "px")]

    judge = Oracle(Model(Spec(step, 0, ["pa"], name="fresh"), ROUTES, Memory(2_000)))
    node, symbol = judge.model.initial, judge.model.symbol("pa")
    for number in range(1, 5_001):
        judge.model.moves(node, symbol)
        judge.model.moves(judge.model.node(number), symbol)
        assert judge.model.node(0) is node
    assert asked.count(0) == 1
    assert len(judge.model.memory) == 2_000


def test_of_large_states_fewer_are_remembered() -> None:
    """Of 1,000 states of 10 MB, at most 100 MB are kept; without cycles among them, they go before a collection."""
    text = "x" * 1_000_000

    def step(state: tuple[State | str, ...], _inp: str) -> Iterable[Transition[tuple[State | str, ...]]]:
        counted = state[0]
        assert isinstance(counted, State)
        yield goto((State(counted.number + 1), *[text] * 10))

    judge = Oracle(Model(Spec(step, (State(0),), ["pa"], name="logs"), ROUTES))
    node, symbol, visits = judge.model.initial, judge.model.symbol("pa"), VisitCounts()
    State.alive.clear()
    gc.disable()
    for _ in range(1_000):
        visits.note(judge.view(judge.anywhere([node], Span(0, 0))), symbol)
        [move] = judge.model.moves(node, symbol)
        assert move.target is not None
        node = move.target
    gc.enable()
    assert max(len(judge.model.nodes), len(visits.states), len(State.alive) // 2) <= 30


def test_what_came_again_once_may_be_forgotten_all_the_same() -> None:
    """The answers about recurring states are bounded too, and one that is full of them forgets the oldest."""
    memory, table, owners = Memory(100), dict[int, int](), [Symbol(number, number) for number in range(200)]
    for number, owner in enumerate(owners):
        owner.recurs = True
        memory.put(table, number, number, owner)
    assert len(memory) == len(table) == 100
    memory.put(table, 200, 200)
    assert 200 in table
    assert 0 not in table
    tiny, kept = Memory(1), dict[int, int]()
    for number, owner in enumerate(owners[:3]):
        tiny.put(kept, number, number, owner)
    assert len(tiny) == len(kept) == 1


def test_where_all_come_again_the_oldest_is_forgotten() -> None:
    """A hundred answers are looked at, and no more: if all are about what recurs, the first of them goes."""
    memory, table = Memory(1_000), dict[int, int]()
    for number in range(1_001):
        owner = Symbol(number, number)
        owner.recurs = True
        memory.put(table, number, number, owner)
    assert len(memory) == len(table) == 1_000
    assert 0 not in table


def test_a_long_walk_keeps_no_more_states_than_are_remembered(forgetful: int) -> None:
    """8,000 states that never come again, in one call; none of them waits for the collector of cycles."""
    most = 0
    gc.disable()

    def act(_inp: str) -> tuple[str]:
        nonlocal most
        most = max(most, len(State.alive))
        return ("px",)

    walk = Walk(Oracle(Model(Spec(_counted, State(0), ["pa"]), ROUTES)), act)
    try:
        assert walk.uniform(Random(1), 8_000).outcome == "pass"
    finally:
        gc.enable()
    assert most <= 3 * forgetful


def test_the_memory_forgets_little_by_little(forgetful: int) -> None:
    """From one step to the next no more than a tenth of what is remembered goes: all at once would be a pause."""
    judge, most, before = monitor(Spec(_counted, State(0), ["pa"])), 0, 0
    for _ in range(3_000):
        passed(judge, [Sent("pa", "p", 0), Seen("px", "p", 0), Quiet(0)])
        most, before = max(most, before - len(State.alive)), len(State.alive)
    assert most <= forgetful / 10


def _mixed(state: int, inp: str) -> int:
    """Return a state that tells in which order inputs on different ports were taken."""
    return (3 * state + ord(inp[0])) % 101


def test_one_explanation_costs_40_000_calls_at_most() -> None:
    """Twelve possible states, and six inputs in flight on four ports, of which a wrong output comes.

    With as many calls for each event as there were once, 431, this was a hundred events.
    """

    def step(state: Any, inp: str) -> list[Transition[Any]]:  # noqa: ANN401 -- a name, or a pair
        if state == "new":
            return [goto((number, 0)) for number in range(12)]
        return [goto((state[0], _mixed(state[1], inp)), inp)]

    judge = monitor(Spec(step, "new", ["pa"]))
    passed(judge, [Sent("pa", "p", 0), Quiet(0)])
    sent = [Sent(f"{PORTS[number % 4]}{number}", PORTS[number % 4], 0) for number in range(6)]
    assert calls(lambda: passed(judge, sent)) <= 300 * len(sent)
    wrong = Seen("pw", "p", 0)
    assert not judge.would(wrong)  # what is left is the explanation
    assert calls(lambda: judge.tell(wrong)) <= 40_000
    assert judge.end().failed


def test_taken_costs_no_more_than_quiet() -> None:
    """Inputs on two ports, one of which echoes them: all are proven taken, or all is quiet."""
    spec = Spec(lambda state, inp: [goto(_mixed(state, inp), *([inp] if inp[0] == "q" else []))], 0, ["pa"])
    costs = list[int]()
    for event in (Taken(16, 0), Quiet(0)):
        judge = monitor(spec)
        passed(judge, [Sent(f"{port}{number}", port, 0) for number in range(8) for port in "pq"])
        passed(judge, [Seen(f"q{number}", "q", 0) for number in range(8)])
        costs.append(calls(lambda: passed(judge, [event])))  # noqa: B023 -- it is called here
    assert costs[0] <= 1.25 * costs[1]


def test_all_explanations_at_quiescence_cost_no_second_search() -> None:
    """Seven silent inputs on four ports whose order matters: with more orders than are kept as much as with all kept.

    That all were taken is seen from one order.
    """
    spec, costs = Spec(lambda state, inp: [goto(_mixed(state, inp))], 0, ["pa"]), list[int]()
    for event, kept in ((Taken(7, 0), 110), (Quiet(0), 110), (Quiet(0), 2_000)):
        judge = Monitor(Oracle(Model(spec, ROUTES), limits=Limits(hypotheses=kept)))
        passed(judge, [Sent(f"{PORTS[number % 4]}{number}", PORTS[number % 4], 0) for number in range(7)])
        costs.append(calls(lambda: passed(judge, [event])))  # noqa: B023 -- it is called here
        assert judge.crowded == isinstance(event, Taken)
    assert costs[0] <= costs[2] / 2
    assert costs[1] <= 1.25 * costs[2]


def test_a_hundred_possible_states_cost_little_more_than_a_third_each_of_what_one_costs() -> None:
    """Each gets values that never come again."""

    def cost(states: int) -> int:
        def step(state: Any, inp: str) -> list[Transition[Any]]:  # noqa: ANN401 -- a name, or a number
            return [goto((number,)) for number in range(states)] if state == "new" else [goto(state, inp)]

        judge = monitor(Spec(step, "new", ["pa"]))
        passed(judge, [Sent("pa", "p", 0), Quiet(0)])
        values = [f"p{number}" for number in range(20)]
        events = [event for value in values for event in (Sent(value, "p", 0), Seen(value, "p", 0), Quiet(0))]
        found = calls(lambda: passed(judge, events))
        assert len(judge.states) == states
        return found

    assert cost(100) <= 36 * cost(1)


def _counting(state: tuple[int, ...], inp: str) -> list[Transition[tuple[int, ...]]]:
    return [goto(tuple(count + (port == inp[0]) for count, port in zip(state, PORTS, strict=True)), inp)]


def test_orders_that_nothing_tells_apart_are_not_multiplied() -> None:
    """Twelve inputs in flight on four ports, whose answers and whose end are the same in any order."""
    inputs = [f"{PORTS[number % 4]}{number}" for number in range(12)]
    judge = monitor(Spec(_counting, (0,) * 4, ["pa"]))
    most = passed(
        judge, [*(Sent(inp, inp[0], 0) for inp in inputs), *(Seen(inp, inp[0], 0) for inp in inputs), Quiet(0)]
    )
    assert most < 300
    assert [node.value for node in judge.states] == [(3, 3, 3, 3)]


@pytest.mark.parametrize("counts", [(1, 1), (2, 2), (3, 2), (4, 4)])
def test_orders_that_the_state_tells_apart_are_all_kept(counts: tuple[int, int]) -> None:
    """After quiescence each state is possible that some order of the inputs leads to, and no other."""
    spec = Spec(lambda state, inp: [goto(_mixed(state, inp), inp)], 0, ["pa"])
    judge, inputs = (
        monitor(spec),
        [f"{port}{number}" for port, count in zip("pq", counts, strict=True) for number in range(count)],
    )
    passed(judge, [*(Sent(inp, inp[0], 0) for inp in inputs), *(Seen(inp, inp[0], 0) for inp in inputs), Quiet(0)])
    expected = set[int]()
    for firsts in combinations(range(sum(counts)), counts[0]):
        state = 0
        for at in range(sum(counts)):
            state = _mixed(state, "p" if at in firsts else "q")
        expected.add(state)
    assert {node.value for node in judge.states} == expected


def test_an_order_that_an_answer_tells_is_the_only_one() -> None:
    """The answer to q names what came before it: if that is p2, the end after p3 follows, and nothing else is kept."""
    spec = Spec(lambda state, inp: [goto(inp, f"{inp}/{state}" if inp[0] == "q" else inp)], "new", ["pa"])
    judge = monitor(spec)
    passed(judge, [*(Sent(inp, inp[0], 0) for inp in ("p1", "q1", "p2", "p3")), Seen("q1/p2", "q", 0)])
    passed(judge, [*(Seen(inp, "p", 0) for inp in ("p1", "p2", "p3")), Quiet(0)])
    assert {node.value for node in judge.states} == {"p3"}
    assert len(judge.belief.hypotheses) == 1


def test_the_limits_hold_all_the_same() -> None:
    """More explanations than are thought of are inconclusive, never a failure."""
    spec = Spec(lambda state, inp: [goto(_mixed(state, inp) + 1000 * number, inp) for number in range(3)], 0, ["pa"])
    judge = Monitor(Oracle(Model(spec, ROUTES), limits=Limits(hypotheses=10)))
    for number in range(12):
        judge.tell(Sent(f"{PORTS[number % 2]}{number}", PORTS[number % 2], 0))
    judge.tell(Seen("q11", "q", 0))
    judge.tell(Quiet(0))
    assert judge.end().outcome == "inconclusive" or not judge.end().failed
