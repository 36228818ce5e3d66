"""Products: which model an action belongs to, and that a product conforms to its definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import product as every
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from otf import AnyOrder, Bench, OneOf, Spec, Transition, Where, goto, on, run, start, stop, total
from otf.compose import Product, compose, product, scenario
from otf.compose.actions import STATES
from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.notations import Call, action, actions, observable, table


def _has_room(stack: Stack, _x: int) -> bool:
    return len(stack.items) < 2


def _has_items(stack: Stack) -> bool:
    return bool(stack.items)


class Stack:
    """PyModel's stack: pop is not possible at the start."""

    def __init__(self) -> None:
        self.items: list[int] = []

    @action(enabled=_has_room, x=[1, 2])
    def push(self, x: int) -> None:
        """Push."""
        self.items.append(x)

    @action(enabled=_has_items)
    def pop(self) -> int:
        """Pop."""
        return self.items.pop()


@dataclass(frozen=True)
class Push:
    x: int


@dataclass(frozen=True)
class Pop:
    pass


def _depth(depth: int, inp: Push | Pop) -> Iterator[Transition[int]]:
    """A model of the number of elements; pushing and popping have no outputs here."""
    if isinstance(inp, Push) or depth:
        yield goto(depth + 1 if isinstance(inp, Push) else depth - 1)


def _inputs(depth: int) -> list[Push | Pop]:
    return [Push(1)] * (depth < 2) + [Pop()] * (depth > 0)


DEPTH = Spec(_depth, 0, _inputs, name="depth")


def asked(spec: Spec[Any, Any], limit: int = 100) -> set[tuple[Any, Any, Any]]:
    """The steps of a model: state, input, next state."""
    return {
        (edge.source.value, edge.input.value, edge.target.value)
        for edge in explore(spec, limit).transitions
        if edge.input and edge.target
    }


def test_an_action_that_is_not_possible_at_the_start_is_a_models_own() -> None:
    """Pop, which an empty stack does not offer, happens in both or not at all."""
    window = table([(0, Call("push", (1,)), [], 1), (1, Call("pop"), [1], 0)], name="window")
    told = {(source[1], str(inp), target[1]) for source, inp, target in asked(product(actions(Stack), window))}
    assert told == {(0, "push(1)", 1), (1, "pop()", 0)}
    assert {str(inp) for _, inp, _ in asked(product(DEPTH, DEPTH))} == {"Push(x=1)", "Pop()"}


def test_a_correct_system_passes_under_a_product(tmp_path: Path) -> None:
    """A stack that is never popped when it is empty, since the product does not offer it."""
    window = table([(0, Call("push", (1,)), [], 1), (1, Call("pop"), [1], 0)], name="window")

    def system() -> Any:  # noqa: ANN401 -- a function
        items: list[int] = []

        def act(call: Call) -> tuple[int, ...]:
            if call.name == "push":
                items.append(*call.arguments)
                return ()
            return (items.pop(),)

        return act

    bench = Bench(product(actions(Stack), window), system=system, types=(Call, int), inputs="all")
    assert run(bench, out=tmp_path, traces=3, seed=1, steps=20).verdict == "pass"


def test_an_action_is_known_by_its_name() -> None:
    """A model that pushes ones alone takes part in every push: a push of two cannot happen."""
    ones = Spec(lambda state, _inp: [goto(state)], 0, lambda _state: [Call("push", (1,))], name="ones")
    assert {str(inp) for _, inp, _ in asked(product(actions(Stack), ones))} == {"push(1)", "pop()"}
    number = Spec(lambda state, _inp: [goto(state)], 0, [3])
    other = Spec(lambda state, _inp: [goto(state)], 0, [4])
    assert {inp for _, inp, _ in asked(product(number, other))} == {3, 4}


class Key(Enum):
    """Actions that are members of an enumeration."""

    ON = 1
    OFF = 2


class Turn(NamedTuple):
    """An action with a value."""

    to: int


def test_the_types_that_step_declares_are_its_actions() -> None:
    """The states of a model that declares its inputs are not searched: it may have endlessly many."""

    def count(state: int, inp: Push) -> Iterator[Transition[int]]:
        yield goto(state + inp.x)

    def switch(state: int, _inp: Key | Turn) -> list[Transition[int]]:
        return [goto(state + 1)]

    counting = Spec(count, 0, lambda state: [Push(state + 1)], name="counting")
    ends = Spec(lambda state, inp: [goto(state + inp.x)] if state < 3 else [], 0, lambda _state: [Push(1)])
    assert asked(product(counting, ends)) == {((0, 0), Push(1), (1, 1))}
    both = product(Spec(switch, 0, lambda state: [Key.ON, Turn(state)]), counting)
    assert list(both.inputs((0, 0))) == [Key.ON, Turn(0), Push(1)]
    assert list(both.step((0, 0), Turn(9))) == [goto((1, 0))]


@dataclass(frozen=True)
class Input:
    """The base class of all inputs."""


@dataclass(frozen=True)
class Lit(Input):
    """One kind of input."""


@dataclass(frozen=True)
class Dark(Input):
    """Another kind of input."""


def test_a_type_with_others_below_it_says_nothing() -> None:
    """Two models that declare the same base class share only what both have."""

    def step(state: int, _inp: Input) -> list[Transition[int]]:
        return [goto(1 - state)]

    one, other = Spec(step, 0, lambda _: [Lit()]), Spec(step, 0, lambda _: [Dark()])
    assert asked(product(one, other)) == {
        ((0, 0), Lit(), (1, 0)),
        ((0, 0), Dark(), (0, 1)),
        ((1, 0), Lit(), (0, 0)),
        ((1, 0), Dark(), (1, 1)),
        ((0, 1), Lit(), (1, 1)),
        ((0, 1), Dark(), (0, 0)),
        ((1, 1), Lit(), (0, 1)),
        ((1, 1), Dark(), (1, 0)),
    }


def test_actions_that_cannot_be_known_are_demanded() -> None:
    """The message for a model with too many states lists the first actions, and what to write."""
    endless = Spec(
        lambda state, _inp: [goto(state + 1)], 0, lambda state: ["tick" if state else "start"], name="endless"
    )
    said = f"endless has more than {STATES:,} states, .* the first ones are 'start', 'tick': give actions="
    with pytest.raises(UsageError, match=said):
        product(endless, DEPTH)
    both = product(endless, DEPTH, actions=[["start", "tick"], None])
    assert list(both.inputs((1, 0))) == ["tick", Push(1)]
    with pytest.raises(UsageError, match="actions has 1 entries for 2 specs"):
        product(endless, DEPTH, actions=[["start"]])
    with pytest.raises(UsageError, match="at least one spec"):
        product()


def test_a_product_of_products_and_of_scenarios() -> None:
    """The actions of a product are those of its parts, also if a scenario never allows them."""
    whole = asked(product(DEPTH, product(DEPTH, DEPTH)))
    assert {(source[0], source[1][0], str(inp)) for source, inp, _ in whole} == {
        (depth, depth, str(inp)) for depth in range(3) for inp in _inputs(depth)
    }
    pushing = compose(DEPTH, scenario("Push"))
    assert {str(inp) for _, inp, _ in asked(product(pushing, DEPTH))} == {"Push(x=1)", "Pop()"}
    nothing_popped = compose(DEPTH, scenario("Push (Pop Pop)?"))
    assert {inp for _, inp, _ in asked(product(nothing_popped, DEPTH))} == {Push(1), Pop()}
    assert {inp for _, inp, _ in asked(product(total(DEPTH), DEPTH))} == {Push(1), Pop()}


def _idle(sender: Sender) -> bool:
    return not sender.sent


def _busy(sender: Sender) -> bool:
    return sender.sent


class Sender:
    """A message, and its acknowledgement."""

    def __init__(self) -> None:
        self.sent = False

    @action(enabled=_idle)
    def send(self) -> None:
        """Send."""
        self.sent = True

    @observable(enabled=_busy)
    def ack(self) -> None:
        """Emit the acknowledgement spontaneously."""
        self.sent = False


def _waits(state: int, inp: Call) -> list[Transition[int]]:
    return [goto(1)] if inp.name == "send" and not state else []


def test_unasked_outputs_that_models_share_come_once() -> None:
    """Two models that expect one acknowledgement: two states, and not four."""
    waits = Spec(_waits, 0, [Call("send")], lambda state: [goto(0, Call("ack"))] if state else [], name="waits")
    for both in (product(actions(Sender), waits), product(waits, actions(Sender)), product(waits, waits)):
        graph = explore(both)
        assert (len(graph.values), len(graph.target)) == (2, 2)


def test_what_comes_unasked_from_one_model_alone_is_its_own() -> None:
    """The others stay where they are; a net without end declares its inputs."""
    graph = explore(product(actions(Sender), DEPTH))
    assert len(graph.values) == 6
    waits = Spec(_waits, 0, [Call("send")], lambda state: [goto(0, Call("ack"))] if state else [], name="waits")
    assert len(explore(product(DEPTH, waits)).values) == 6


def _nothing(_state: int, _inp: str) -> list[Transition[int]]:
    return []


def _once(way: Transition[int]) -> Spec[int, str]:
    """A model with one spontaneous transition."""
    return Spec(_nothing, 0, [], lambda state: [way] if not state else [])


def test_unasked_outputs_are_shared_in_whatever_they_are_written() -> None:
    """On a port, in any order, one of several, a test; a silent step is shared with none."""
    ticking = Where(lambda tick: tick == "tick")
    for item in (on("a", "tick"), AnyOrder("tick", "tock"), OneOf("tick", "tock"), ticking, Push):
        one = _once(goto(1, item))
        assert len(explore(product(one, one)).values) == 2
    silent = _once(goto(1))
    assert len(explore(product(silent, silent)).values) == 4


def test_models_that_disagree_about_outputs_are_told() -> None:
    """The error names the outputs of each; with `disabled` the action is impossible. Disjoint windows disagree, too."""
    one = Spec(lambda state, _inp: [goto(state, "x"), goto(state)], 0, ["a"], name="one")
    two = Spec(lambda state, _inp: [goto(state, "y", within=(1, 2))], 0, ["a"], name="two")
    both = product(one, two)
    with pytest.raises(ModelError, match=r"share 'a' .*: one: 'x' or no output; two: 'y' within 1 to 2 s\. Give"):
        list(both.step((0, 0), "a"))
    assert list(product(one, two, disabled=True).step((0, 0), "a")) == []
    late = Spec(lambda state, _inp: [goto(state, "y", within=(3, 4))], 0, ["a"], name="late")
    with pytest.raises(ModelError, match="within 3 to 4 s"):
        list(product(two, late).step((0, 0), "a"))


def _alone(both: Product) -> list[Any]:
    assert both.emits is not None
    return list(both.emits(both.initial))


def _session(name: str, timer: str, *, output: str = "bye", opening: str = "a") -> Spec[str, str]:
    """Return a session that an input opens, and a timer ends."""

    def step(state: str, inp: str) -> list[Transition[str]]:
        return [goto("open", timers=[start(timer, 3, 5)])] if inp == opening else [goto(state, timers=[stop(timer)])]

    def emits(state: str) -> list[Transition[str]]:
        return [goto("closed", output, after=timer)] if state == "open" else []

    return Spec(step, "closed", [opening, "z"], emits, name=name)


def _spontaneous(spec: Spec[Any, Any], state: object) -> list[Any]:
    assert spec.emits is not None
    return list(spec.emits(state))


def test_named_timers_are_kept_in_a_product() -> None:
    """Each model keeps its timers: a shared action starts and stops those of all models."""
    both = product(_session("one", "t"), _session("two", "u", output="gone", opening="b"), actions=[["a"], ["b"]])
    assert list(both.step(("closed", "closed"), "a")) == [goto(("open", "closed"), timers=[start("t", 3, 5)])]
    assert _spontaneous(both, ("open", "open")) == [
        goto(("closed", "open"), "bye", after="t"),
        goto(("open", "closed"), "gone", after="u"),
    ]
    shared = product(_session("one", "t"), _session("two", "u", output="gone"), actions=[["a", "z"], ["a", "z"]])
    assert list(shared.step(("open", "open"), "z")) == [goto(("open", "open"), timers=[stop("t"), stop("u")])]


def test_a_timer_of_two_models_is_an_error() -> None:
    """Two models with one timer name would start and stop each other's timer."""
    both = product(_session("one", "t"), _session("two", "t", output="gone", opening="b"), actions=[["a"], ["b"]])
    assert list(both.step(("closed", "closed"), "a"))
    with pytest.raises(ModelError, match=r"two models of a product have a timer 't': one and two; give each"):
        list(both.step(("open", "closed"), "b"))


def test_what_comes_after_a_timer_is_shared_with_what_has_none() -> None:
    """One timer brings a shared output; two timers are an error."""
    session = _session("one", "t")
    other: Spec[int, str] = Spec(lambda state, _inp: [goto(state)], 0, [], lambda _s: [goto(1, "bye", within=(1, 9))])
    both = product(session, other, actions=[["a", "z", "bye"], ["bye"]])
    assert _spontaneous(both, ("open", 0)) == [goto(("closed", 1), "bye", after="t")]
    both = product(session, _session("two", "u"), actions=[["a", "z", "bye"], ["a", "z", "bye"]])
    with pytest.raises(ModelError, match="share 'bye', each after a timer of its own: t and u"):
        _spontaneous(both, ("open", "open"))


def test_a_timer_in_a_product_keeps_its_end_only() -> None:
    """Another model may have moved in between, so no output is too early; a single model keeps both ends."""
    timer = _once(goto(1, "tick", within=(3, 5)))
    lamp = Spec(lambda state, _inp: [goto(1 - state)], 0, ["press"])
    assert _alone(product(timer, lamp)) == [goto((1, 0), "tick", within=(0, 5))]
    assert _alone(product(timer)) == [goto((1,), "tick", within=(3, 5))]


# a model as a table: by state the inputs with their transitions, and the unasked transitions; a transition is outputs
# and next state
Step = tuple[tuple[str, ...], int]
Rows = list[tuple[dict[str, list[Step]], list[Step]]]
Edge = tuple[tuple[int, int], str | None, tuple[str, ...], tuple[int, int]]


def drawn(random: Random) -> Rows:
    """A random model: its inputs depend on the state, and some states have spontaneous outputs."""
    size = random.randint(1, 3)

    def step(outputs: list[tuple[str, ...]]) -> Step:
        return random.choice(outputs), random.randrange(size)

    def ways() -> list[Step]:
        return [step([(), ("x",)] if random.random() < 0.1 else [()]) for _ in range(random.choice((1, 1, 2)))]

    return [
        (
            {inp: ways() for inp in random.sample("abcd", random.randint(0, 3))},
            [step([("p",), ("q",), ("p", "q"), ()]) for _ in range(random.choice((0, 0, 1, 2)))],
        )
        for _ in range(size)
    ]


def spec_of(rows: Rows) -> Spec[int, str]:
    """The model as a spec."""
    return Spec(
        lambda state, inp: [goto(to, *outputs) for outputs, to in rows[state][0].get(inp, [])],
        0,
        lambda state: list(rows[state][0]),
        lambda state: [goto(to, *outputs) for outputs, to in rows[state][1]],
    )


def actions_of(rows: Rows) -> tuple[set[str], set[str]]:
    """Return the inputs and the spontaneous outputs of a model, from all reachable states."""
    reached = {0}
    for _ in rows:
        reached |= {to for state in reached for ways in rows[state][0].values() for _, to in ways}
        reached |= {to for state in reached for _, to in rows[state][1]}
    return (
        {inp for state in reached for inp in rows[state][0]},
        {output for state in reached for outputs, _ in rows[state][1] for output in outputs},
    )


@dataclass(frozen=True)
class Pair:
    """Two models and their actions."""

    models: tuple[Rows, Rows]

    @cached_property
    def own(self) -> list[tuple[set[str], set[str]]]:
        """The actions of each."""
        return [actions_of(rows) for rows in self.models]

    def edges(self, source: tuple[int, int]) -> set[Edge]:
        """Return the edges from a pair of states, chosen from all conceivable ones by the definition."""
        targets = list(every(range(len(self.models[0])), range(len(self.models[1]))))
        asked = every("abcd", ((), ("x",)), targets)
        alone = every((None,), ((), ("p",), ("q",), ("p", "q")), targets)
        every_: list[tuple[str | None, tuple[str, ...], tuple[int, int]]] = [*asked, *alone]
        return {(source, *each) for each in every_ if self.happens(source, *each)}

    def happens(
        self, source: tuple[int, int], inp: str | None, outputs: tuple[str, ...], target: tuple[int, int]
    ) -> bool:
        """Whether this is an edge: owned by both it is one of both, else one of one model, and the other stays."""
        owns, moves, stays = list[bool](), list[bool](), list[bool]()
        for at, (inputs, spontaneous) in enumerate(self.own):
            asked, alone = self.models[at][source[at]]
            owns.append(bool(spontaneous & {*outputs}) if inp is None else inp in inputs)
            moves.append((outputs, target[at]) in (alone if inp is None else asked.get(inp, [])))
            stays.append(source[at] == target[at])
        if all(owns):
            return all(moves)
        return (moves[0] and stays[1]) or (moves[1] and stays[0])

    def stuck(self, source: tuple[int, int], edges: set[Edge]) -> bool:
        """Return whether both take an input here and do not agree on its outputs."""
        here, there = (rows[state][0] for rows, state in zip(self.models, source, strict=True))
        return any(all(edge[1] != inp for edge in edges) for inp in here.keys() & there.keys())

    def by_definition(self) -> set[Edge] | None:
        """Return all edges that can be reached, None where the models disagree."""
        edges, left = set[Edge](), [(0, 0)]
        for source in left:
            found = self.edges(source)
            if self.stuck(source, found):
                return None
            edges |= found
            left += sorted({edge[3] for edge in found} - {*left})
        return edges


def explored(one: Rows, two: Rows) -> set[Edge] | None:
    """Return the same edges, computed by `product`."""
    try:
        graph = explore(product(spec_of(one), spec_of(two)))
    except ModelError:
        return None
    return {
        (
            graph.values[arc.source],
            None if arc.input < 0 else graph.inputs[arc.input],
            graph.outputs[arc.outputs],
            graph.values[arc.target],
        )
        for arc in graph.arcs()
    }


@pytest.mark.parametrize("pairs", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_product_is_what_it_is_by_definition(pairs: int) -> None:
    """Random pairs of models agree with the definition; they share inputs and spontaneous outputs."""
    random, disagreed, steps = Random(1), 0, 0
    for _ in range(pairs):
        one, two = drawn(random), drawn(random)
        expected = Pair((one, two)).by_definition()
        assert explored(one, two) == expected, (one, two)
        disagreed += expected is None
        steps += len(expected or ())
    assert disagreed > pairs // 100
    assert steps > 3 * pairs
