"""Logs of several nodes: their order, what a part of an output says, steps that no log has, and slices that explain."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.core.observed import ANYTHING, ObservedRun, Some
from otf.errors import ModelError, TraceError
from otf.offline.nodes import UNSENT, NodeEvent, in_order, judge_nodes, smallest_slice
from otf.spec import Accept, OneOf, Spec, Transition, Where, goto

Tokens = dict[str, object]


def ring(state: tuple[tuple[str, object], ...], event: NodeEvent) -> Iterator[Transition[object]]:
    """A token: each node counts what it has; it sends one to another, which has it after it received it."""
    held = dict(state)
    number = held.get(event.node, 2)
    change = {"send": -1, "receive": 1, "look": 0}[event.action]
    if number is ANYTHING:
        known = event.shows.fields["held"] if event.shows else ANYTHING
        yield goto(with_node(held, event.node, known), {"held": ANYTHING})
    elif isinstance(number, int) and number + change >= 0:
        yield goto(with_node(held, event.node, number + change), {"held": number + change, "extra": 1})


def with_node(held: Tokens, node: str, number: object) -> tuple[tuple[str, object], ...]:
    """Return the state in which a node has so many."""
    return tuple(sorted((held | {node: number}).items()))


def forget(state: tuple[tuple[str, object], ...], node: str) -> tuple[tuple[str, object], ...]:
    """Return the state in which nothing is known of a node."""
    return with_node(dict(state), node, ANYTHING)


RING: Spec[Any, Any] = Spec(ring, (), [], name="ring")


def history(seed: int, steps: int) -> list[NodeEvent]:
    """Return what three nodes did, as it happened."""
    random, held, sent, events = Random(seed), dict.fromkeys("abc", 2), list[int](), list[NodeEvent]()
    for number in range(steps):
        node, action = random.choice("abc"), random.choice(["send", "receive", "look"])
        if action == "send" and held[node]:
            held[node] -= 1
            sent.append(number)
            events.append(NodeEvent(node, action, Some(held=held[node]), sends=number, place=number))
        elif action == "receive" and sent:
            held[node] += 1
            took = sent.pop(random.randrange(len(sent)))
            events.append(NodeEvent(node, action, Some(held=held[node]), receives=took, place=number))
        elif action == "look":
            events.append(NodeEvent(node, action, Some(held=held[node]), place=number))
    return events


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 60))
def test_one_order_of_several_logs(seed: int, steps: int) -> None:
    """Logs that are read one after the other are put into an order that respects nodes and messages, and pass."""
    as_read = sorted(history(seed, steps), key=lambda each: each.node)
    order = in_order(as_read)
    assert sorted(order, key=lambda each: each.node) == as_read
    places = {each.sends: at for at, each in enumerate(order) if each.sends is not None}
    assert all(places[each.receives] < at for at, each in enumerate(order) if each.receives is not None)
    assert judge_nodes(as_read, RING).verdict.outcome == ("pass" if as_read else "inconclusive")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 200))
def test_an_edit_and_its_slice(seed: int, at: int) -> None:
    """A wrong number is found, and its slice is the event before it on that node, and itself."""
    events = history(seed, 60)
    at %= len(events)
    events[at] = replace(events[at], shows=Some(held=9))
    opinion = judge_nodes(events, RING)
    assert opinion.verdict.failed
    assert opinion.order[opinion.at].place == events[at].place
    part = smallest_slice(opinion, RING, forget)
    earlier = [each for each in opinion.order[: opinion.at] if each.node == events[at].node]
    assert part == ([earlier[-1], events[at]] if earlier else list(opinion.order[: opinion.at + 1]))


def test_unsent() -> None:
    """A message that was received and never sent is a failure, of one event; copies and lossy logs are allowed."""
    send, receive = NodeEvent("a", "send", sends="m"), NodeEvent("b", "receive", receives="m")
    assert judge_nodes([send, receive], RING).verdict.outcome == "pass"
    alone = judge_nodes([receive], RING)
    assert (alone.verdict.failed, alone.why) == (True, UNSENT)
    assert smallest_slice(alone, RING, forget) == [receive]
    assert judge_nodes([receive], RING, unsent=True).verdict.outcome == "pass"
    twice = judge_nodes([send, receive, receive], RING)
    assert smallest_slice(twice, RING, forget) == [send, receive, receive]
    assert judge_nodes([send, receive, receive], RING, copies=True).verdict.outcome == "pass"


def test_contradiction() -> None:
    """Logs in which each of two nodes received before the other sent have no order."""
    events = [
        NodeEvent("a", "receive", receives="n", place=1),
        NodeEvent("a", "send", sends="m", place=2),
        NodeEvent("b", "receive", receives="m", place=1),
        NodeEvent("b", "send", sends="n", place=2),
    ]
    with pytest.raises(TraceError, match="line 1 of node a"):
        in_order(events)


def test_a_message_that_is_passed_on_under_its_name() -> None:
    """It was sent twice, and the sending by who received it is not the one that it received."""
    passed_on = NodeEvent("b", "on", sends="m", receives="m")
    events = [passed_on, NodeEvent("a", "send", sends="m"), NodeEvent("c", "receive", receives="m")]
    assert [each.node for each in in_order(events)] == ["a", "b", "c"]


def test_a_copy_does_not_wait_for_what_it_causes() -> None:
    """A message that the network copies arrives twice, and so is sent again: any earlier sending will do."""
    events = [
        NodeEvent("client", "send", sends="m"),
        NodeEvent("client", "receive", receives="again"),
        NodeEvent("client", "send", sends="m"),
        NodeEvent("server", "receive", receives="m"),
        NodeEvent("server", "receive", receives="m"),
        NodeEvent("server", "send", sends="again"),
    ]
    assert [each.node for each in in_order(events, copies=True)] == ["client", *["server"] * 3, *["client"] * 2]
    with pytest.raises(TraceError, match="of node client: the logs contradict each other"):
        in_order(events)


def test_a_name_of_a_message_is_hashable() -> None:
    """A list, as JSON has it, is refused where the event is made, so that its line can be told."""
    with pytest.raises(TypeError, match="list"):
        NodeEvent("a", "send", sends=cast("Any", ["m"]))


BROKEN: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda _state, _event: 1 / 0, "step.*raised ZeroDivisionError"),
    (lambda _state, _event: None, "step.*raised TypeError"),
    (lambda _state, _event: count(), "more than 10,000 transitions"),
    (lambda _state, _event: [5], "the model gave 5"),
    (lambda state, _event: [goto(state, Where(bool))], "a log shows parts of values"),
    (lambda state, _event: [Accept(lambda _seen: [state])], "the model gave Accept"),
]


@pytest.mark.parametrize(("step", "says"), BROKEN)
def test_a_model_that_is_broken_is_not_a_defect_of_otf(step: Callable[..., Any], says: str) -> None:
    """The error says what was asked, and what came."""
    with pytest.raises(ModelError, match=says):
        ObservedRun(Spec(step, 0, [])).take("look", Some(number=1))


def test_a_broken_forget_is_not_a_defect_of_otf() -> None:
    """The error names it."""
    opinion = judge_nodes([NodeEvent("a", "send", Some(held=9))] * 2, RING)
    with pytest.raises(ModelError, match=r"forget\(.*raised ZeroDivisionError"):
        smallest_slice(opinion, RING, lambda _state, _node: 1 / 0)


def test_a_choice_of_outputs() -> None:
    """The log decides it."""
    run = ObservedRun(Spec(lambda _state, inp: [goto(inp, OneOf({"number": 1}, {"number": 3}))], 0, []))
    assert not run.take("look", Some(number=3))
    assert "{'number': 1} or {'number': 3}" in run.take("look", Some(number=2))


def counter(state: int, _action: object) -> Iterator[Transition[int]]:
    """Show the number."""
    yield goto(state, {"number": state, "odd": state % 2})


def ticks(state: int) -> Iterator[Transition[int]]:
    """Count up to 3, which no log has."""
    if state < 3:
        yield goto(state + 1)


def test_parts_of_outputs_and_steps_without_a_log() -> None:
    """A part of an output decides between states, and transitions that are not logged may come before each step."""
    run = ObservedRun(Spec(counter, 0, [], emits=ticks))
    assert not run.take("look", Some(odd=1))
    assert run.states == [1, 3]
    assert not run.take("look", Some(odd=0))
    assert run.states == [2]
    assert "Some(number=1)" in run.take("look", Some(number=1))
    hidden = ObservedRun(Spec(counter, 0, []))
    assert "allows {'odd': 0}" in hidden.take("look", Some(odd=1))


def test_too_many_states() -> None:
    """Where steps without a log lead to more states than are followed, nothing is decided."""
    endless: Spec[Any, Any] = Spec(counter, 0, [], emits=lambda state: [goto(state + 1)])
    opinion = judge_nodes([NodeEvent("a", "look", Some(number=-1))], endless)
    assert opinion.verdict.outcome == "inconclusive"


def test_a_long_event() -> None:
    """The verdict is one line of bounded length, with the event as in the slice."""
    opinion = judge_nodes([NodeEvent("a", "x\n" * 10**6)], Spec(lambda _state, _event: [], 0, []))
    assert len(str(opinion)) < 1000
    assert "\n" not in str(opinion)


def test_nothing() -> None:
    """Empty logs are inconclusive, and have no slice."""
    opinion = judge_nodes([], RING)
    assert str(opinion) == "INCONCLUSIVE: 0 events; the logs have no event: nothing was judged"
    assert smallest_slice(opinion, RING, forget) == []
