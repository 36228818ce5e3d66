"""Composition: products, scenarios in their three forms, and what they restrict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf import Accept, Bench, NonconformanceError, Spec, Transition, goto, run, total
from otf.compose import Machine, any_action, compose, does, guide, out, product, scenario
from otf.compose.actions import Action
from otf.compose.regex import expression
from otf.errors import UsageError
from otf.explore import explore
from otf.explore.analysis import allows, dead, forbids, liveness
from otf.explore.finding import LawVerdict
from otf.trace.events import Sent
from otf.trace.reading import TraceReader
from otf.trace.tagged import Registry


@dataclass(frozen=True)
class Push:
    x: int


@dataclass(frozen=True)
class Pop:
    pass


Stack = tuple[int, ...]


def step(stack: Stack, inp: Push | Pop) -> Iterator[Transition[Stack]]:
    """PyModel's stack."""
    if isinstance(inp, Push):
        yield goto((inp.x, *stack))
    elif stack:
        yield goto(stack[1:], stack[0])


START: Stack = ()
STACK: Spec[Stack, Push | Pop] = Spec(step, START, [Push(0), Push(1), Pop()], name="stack")


@pytest.mark.parametrize(
    "told",
    [
        "Push(1) Pop/1",
        [Push(1), does(Pop(), 1)],
        Machine([("a", Push(1), "b"), ("b", does(Pop, 1), "c")], accepting=["c"]),
    ],
)
def test_a_scenario_that_a_model_allows(told: Any) -> None:  # noqa: ANN401 -- in three forms
    """Push 1, then pop gives 1: as an expression, as a list, and as a machine."""
    found = allows(STACK, told)
    assert found.verdict is LawVerdict.PROVEN
    assert [str(each) for each in found.way] == ["Push(x=1) / nothing", "Pop() / 1"]
    assert forbids(STACK, told).verdict is LawVerdict.REFUTED


@pytest.mark.parametrize("told", ["Push(1) Pop/0", [Push(1), does(Pop(), 0)], "(Push Pop)* Pop"])
def test_a_scenario_that_a_model_forbids(told: Any) -> None:  # noqa: ANN401 -- in two forms
    """Pop gives what was pushed last, and an empty stack gives nothing: the example of the paper on PyModel."""
    assert allows(STACK, told).verdict is LawVerdict.REFUTED
    assert forbids(STACK, told).verdict is LawVerdict.PROVEN


def test_within_bounds_nothing_is_proven() -> None:
    """Any number of pushes, then too many pops: a hundred states do not decide it."""
    assert allows(STACK, "Push* Pop/7", 100).verdict is LawVerdict.UNDECIDED
    assert not allows(STACK, "Push* Pop/7", 100)
    assert forbids(STACK, "Push* Pop/7", 100).verdict is LawVerdict.PASSED


def test_a_product_with_a_forbidden_scenario_ends_in_a_dead_state() -> None:
    """As figure 7 of the paper on PyModel shows it: only the push is left."""
    graph = explore(compose(STACK, scenario("Push(1) Pop/0")))
    assert [edge.input.value for edge in graph.transitions if edge.input] == [Push(1)]
    assert dead(graph) == {0, 1}
    assert not liveness(graph)


def test_actions_that_a_scenario_does_not_name_are_free() -> None:
    """Start and stop come in this order; work may come at any time in between."""

    def job(state: str, inp: str) -> Iterator[Transition[str]]:
        table = {("off", "start"): "on", ("on", "stop"): "off", ("on", "work"): "on"}
        if (state, inp) in table:
            yield goto(table[state, inp])

    graph = explore(compose(Spec(job, "off", ["start", "stop", "work"]), scenario("start stop")))
    assert [edge.input.value for edge in graph.transitions if edge.input] == ["start", "stop", "work"]


def matched(text: str, actions: str) -> bool:
    """Return whether a scenario accepts a list of actions."""
    told = scenario(text)
    state: Any = told.start
    for action in actions:
        state = None if state is None else told.after(state, Action(action))
    return state is not None and told.ends(state)


@given(st.text("ab", max_size=6))
def test_expressions_mean_what_they_mean_elsewhere(actions: str) -> None:
    """Against Python's own regular expressions."""
    for text, regex in [
        ("a b", "ab"),
        ("a* b", "a*b"),
        ("(a | b)*", "[ab]*"),
        ("a+ (b a)?", "a+(ba)?"),
        (". b", ".b"),
        ("a ; (b* | a a)+", "a(b*|aa)+"),
    ]:
        assert matched(text, actions) == bool(re.fullmatch(regex, actions)), text


def test_states_of_an_expression_do_not_grow() -> None:
    """A long walk through a loop stays among few states, so that exploration ends."""
    told = scenario("((a | b)* a b?)*")
    states, state = set[Any](), told.start
    for action in "abaab" * 20:
        state = told.after(state, Action(action))
        assert state is not None
        states.add(state)
    assert len(states) < 10


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a (b", "character 3: a closing \\) is missing"),
        ("* a", "character 1: '\\*' has nothing before it"),
        ("a ) b", "character 3: '\\)' is unexpected here"),
        ("a & b", "character 3: '& b' is neither an action nor a sign"),
        ("a(b)", "values are numbers, strings in quotation marks"),
        ("a" * 10_001, "a scenario of 10,001 characters"),
    ],
)
def test_a_wrong_expression_says_where(text: str, said: str) -> None:
    """The message names the character, and what can be written."""
    with pytest.raises(UsageError, match=said):
        scenario(text)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], "a scenario needs actions"),
        (
            "Push Poop",
            "the scenario names Poop, which is not an action of the model; did you mean Pop[?] its actions are Push",
        ),
    ],
)
def test_a_scenario_of_unknown_actions_is_refused(told: Any, said: str) -> None:  # noqa: ANN401 -- in two forms
    """The message lists the known actions."""
    with pytest.raises(UsageError, match=said):
        allows(STACK, told)


@pytest.mark.parametrize("under", [guide, compose])
def test_a_model_has_the_actions_that_its_scenario_names(under: Callable[..., object]) -> None:
    """A misspelt action would forbid all inputs behind it, and the test would pass without them; outputs are free."""
    with pytest.raises(UsageError, match="names Pusch, which is not an action of the model; did you mean Push"):
        under(STACK, scenario("Pusch Pop"))
    under(STACK, scenario([out("beep"), "Push"]))


def test_a_wrong_machine_is_refused() -> None:
    """The row is named."""
    with pytest.raises(UsageError, match="row 2 of a scenario machine"):
        Machine([(0, "a", 1), (1, "a")])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="at least one row"):
        Machine([])


def test_a_machine_without_accepting_states_may_end_anywhere() -> None:
    """As PyModel has it."""
    assert allows(STACK, Machine([(0, "Push", 1)]))


def ticking(state: int, inp: str) -> Iterator[Transition[int]]:
    """A clock: after it is wound up, it ticks spontaneously."""
    if inp == "wind":
        yield goto(state + 2 if state < 2 else state)


def ticks(state: int) -> Iterator[Transition[int]]:
    """Tick spontaneously."""
    if state:
        yield goto(state - 1, "tick")


CLOCK = Spec(ticking, 0, ["wind"], ticks, name="clock")


def test_outputs_that_come_unasked_are_actions_too() -> None:
    """Wound up once it ticks twice."""
    assert allows(CLOCK, "wind !tick !tick")
    assert allows(CLOCK, ["wind", out("tick")])
    assert forbids(CLOCK, "wind !tick !tick !tick").verdict is LawVerdict.PROVEN
    assert not allows(CLOCK, [out("tick"), "wind"])


class Box:
    """A stack as a system; a `wrong` one returns the oldest element."""

    def __init__(self, *, wrong: bool = False) -> None:
        self.items: list[int] = []
        self.wrong = wrong

    def act(self, inp: Push | Pop) -> tuple[int, ...]:
        """Take an input."""
        if isinstance(inp, Push):
            self.items.append(inp.x)
            return ()
        return (self.items.pop(0 if self.wrong else -1),) if self.items else ()


def sent(folder: Path, bench: Bench) -> list[Any]:
    """The inputs in the traces of a folder."""
    found: list[Any] = []
    for trace in sorted(folder.glob("path-*.jsonl")):
        with trace.open("rb") as file:
            reader = TraceReader(file, trace.name)
            found += [
                told.event.input for told in reader.events(Registry(bench.known_types)) if isinstance(told.event, Sent)
            ]
    return found


def test_a_campaign_follows_a_scenario(tmp_path: Path) -> None:
    """On the fly, only inputs that follow the scenario are sent, and every path ends with the scenario."""
    spec = guide(STACK, scenario("Push(0) Push(1) Pop Pop"))
    bench = Bench(spec, system=lambda: Box().act, types=(int, Push, Pop), inputs="uioco")
    run(bench, out=tmp_path, traces=3, seed=1)
    assert sent(tmp_path, bench) == [Push(0), Push(1), Pop(), Pop()] * 3


def test_a_system_that_leaves_the_scenario_rightly_is_not_wrong(tmp_path: Path) -> None:
    """If the scenario has another answer than the model, it is left, and nothing fails."""
    spec = guide(STACK, scenario("Push(0) Pop/1 Push"))
    bench = Bench(spec, system=lambda: Box().act, types=(int, Push, Pop))
    assert run(bench, out=tmp_path, traces=1, seed=1).verdict == "pass"
    assert sent(tmp_path, bench) == [Push(0), Pop()]


def test_a_wrong_system_is_found_under_a_scenario(tmp_path: Path) -> None:
    """The oracle is that of the model."""
    spec = guide(STACK, scenario([Push(0), Push(1), Pop, any_action]))
    with pytest.raises(NonconformanceError, match="Pop"):
        run(Bench(spec, system=lambda: Box(wrong=True).act, types=(int, Push, Pop)), out=tmp_path, traces=1, seed=1)


def test_a_completed_model_stays_completed_under_a_scenario() -> None:
    """`specifies` is still false for inputs that the model does not specify."""
    spec = guide(total(STACK), scenario("Pop"))
    assert not spec.specifies(spec.initial, Pop())
    assert list(spec.step(spec.initial, Pop()))


def test_where_outputs_decide_a_scenario_decides_with_them() -> None:
    """The system chooses a ticket number; the scenario continues only with a seven."""

    def office(_state: int, inp: str) -> Iterator[Transition[int] | Accept]:
        if inp == "draw":
            yield Accept(lambda seen: [seen[0]])

    told = scenario([does("draw", 7)])
    spec = compose(Spec(office, 0, ["draw"]), told)
    (way,) = spec.step(spec.initial, "draw")
    assert isinstance(way, Accept)
    assert [state.state for state in way.then((7,))] == [7]
    assert list(way.then((8,))) == []


def test_a_product_shares_what_both_have() -> None:
    """Both must specify a shared action, with the same outputs; other actions happen in one model alone."""

    def left(state: int, inp: str) -> Iterator[Transition[int]]:
        if inp == "both" and state == 1:
            yield goto(2, "x")
        elif inp == "left" and state == 0:
            yield goto(1)

    def right(state: int, inp: str) -> Iterator[Transition[int]]:
        if inp == "both":
            yield goto(state + 1, "x" if state else "y")
        elif inp == "right" and state == 0:
            yield goto(1)

    both = product(Spec(left, 0, ["left", "both"]), Spec(right, 0, ["right", "both"]), disabled=True)
    graph = explore(both, limit=50)
    assert [
        (edge.source.value, edge.input.value, edge.target.value)
        for edge in graph.transitions
        if edge.input and edge.target
    ] == [
        ((0, 0), "left", (1, 0)),
        ((0, 0), "right", (0, 1)),
        ((1, 0), "right", (1, 1)),
        ((0, 1), "left", (1, 1)),
        ((1, 1), "both", (2, 2)),
    ]


def test_a_product_interleaves_what_comes_unasked_if_that_is_said() -> None:
    """Two clocks share only the winding: each ticks on its own."""
    graph = explore(product(CLOCK, CLOCK, actions=[["wind"], ["wind"]]))
    assert len(graph.states) == 16
    assert [edge.outputs for edge in graph.transitions if edge.input is None][:1] == [("'tick'",)]


def test_a_product_may_be_told_whose_actions_are_whose() -> None:
    """Actions given by name need not be possible in the initial state."""
    both = product(STACK, STACK, actions=[["Push"], ["Pop"]])
    assert list(both.step(((), (1,)), Pop())) == [goto(((), ()), 1)]
    assert list(both.step(((), ()), Push(1))) == [goto(((1,), ()))]


def test_a_product_ends_where_all_end() -> None:
    """A state is accepting if it is accepting in all models."""
    one, other = (compose(STACK, scenario(text)) for text in ("Push", "Pop"))
    both = product(one, other, actions=[["Push"], ["Pop"]])
    assert both.accepting is not None
    assert not both.accepting(both.initial)
    assert product(STACK, STACK).accepting is None


def test_windows_of_shared_actions_are_met_by_both() -> None:
    """The common window has the later beginning and the earlier end."""

    def late(low: float, high: float) -> Spec[int, str]:
        return Spec(lambda state, _inp: [goto(state, "x", within=(low, high))], 0, ["a"])

    one, other = late(0, 5), late(2, 9)
    (way,) = product(one, other).step((0, 0), "a")
    assert way.within == (2, 5)


def test_what_a_product_cannot_hold_is_said() -> None:
    """A product of no specs is refused, and a product with an Accept."""
    with pytest.raises(UsageError, match="at least one spec"):
        product()
    odd = product(Spec(lambda _state, _inp: [Accept(lambda seen: seen)], 0, ["a"]))
    with pytest.raises(UsageError, match="outputs decide its next state"):
        list(odd.step((0,), "a"))


class Key(Enum):
    """Inputs that are members of an enumeration."""

    ON = 1
    OFF = 2


def test_members_of_an_enumeration_have_names() -> None:
    """With and without that of their class."""
    spec = Spec(lambda state, inp: [goto(inp)] if inp != state else [], Key.OFF, list(Key))
    assert allows(spec, "ON OFF Key.ON")
    assert forbids(spec, "Key.OFF ON")


def test_a_choice_is_written_as_one() -> None:
    """An expression can be read again."""
    assert str(expression("a | b c")) == "a | b c"
