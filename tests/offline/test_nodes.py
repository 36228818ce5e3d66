"""Logs of several nodes: their order, what a part of an output says, steps that no log has, and slices that explain."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.core.observed import ANYTHING, ObservedRun, Some
from otf.errors import TraceError
from otf.offline.nodes import UNSENT, NodeEvent, in_order, judge_nodes, smallest_slice
from otf.spec import Spec, Transition, goto

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


def test_nothing() -> None:
    """Empty logs are inconclusive, and have no slice."""
    opinion = judge_nodes([], RING)
    assert str(opinion) == "INCONCLUSIVE: 0 events; the logs have no event: nothing was judged"
    assert smallest_slice(opinion, RING, forget) == []
