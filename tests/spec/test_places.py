"""States without their counters: which numbers count messages and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import pytest

from otf.compose.cyclic import Cycling, cyclic
from otf.spec import Spec, Transition, goto
from otf.spec.places import Uncounted, places


@dataclass(frozen=True)
class Node:
    """A node that numbers its messages."""

    lit: bool = False
    alive: int = 0


class Pair(NamedTuple):
    """The same, as a named tuple."""

    lit: bool
    alive: int


def pressed(node: Node, _inp: str) -> Iterable[Transition[Node]]:
    """Toggle the light."""
    yield goto(replace(node, lit=not node.lit), "ok")


def numbered(bits: int) -> Callable[[Node], Iterable[Transition[Node]]]:
    """Return the messages with a counter of so many bits."""
    return lambda node: [goto(replace(node, alive=(node.alive + 1) % (1 << bits)), ("alive", node.alive))]


def test_a_counter_of_messages_is_seen() -> None:
    """Four bits, eight, or without an end; in a dataclass."""
    for bits in (4, 8, 64):
        found = places(Spec(pressed, Node(), ["press"], numbered(bits)))
        assert found.of(Node(lit=True, alive=7)) == Node(lit=True)


def test_a_counter_is_seen_wherever_it_is() -> None:
    """In a named tuple, in a tuple in a tuple, and as the state itself; it keeps where it begins."""

    def named(state: Pair) -> Iterable[Any]:
        yield goto(state._replace(alive=state.alive + 1), state.alive)

    assert places(Spec(lambda state, _inp: [goto(state)], Pair(lit=False, alive=1), ["a"], named)).of(
        Pair(lit=True, alive=9)
    ) == Pair(lit=True, alive=1)
    nested = Spec(lambda state, _: [goto(state)], ("x", ("y", 0)), ["a"], lambda s: [goto((s[0], ("y", s[1][1] + 1)))])
    assert places(nested).of(("z", ("y", 5))) == ("z", ("y", 0))
    assert places(Spec(lambda state, _: [goto(state)], 3, ["a"], lambda s: [goto(s + 1, s)])).of(8) == 3
    deep = Spec(lambda state, _: [goto(state)], (((((0,),),),),), ["a"], lambda _: [goto((((((1,),),),),))])
    assert places(deep) == Uncounted()


def numbers(_lit: int, number: int) -> int:
    """Return the message of a number."""
    return number


def test_the_number_of_a_cyclic_message_is_seen() -> None:
    """The states are those of the model without it."""
    lamp = Spec(lambda lit, _inp: [goto(1 - lit)], 0, ["press"], name="lamp")
    found = places(cyclic(lamp, "beat", numbers, every=0.02, wraps=16))
    assert found.of(Cycling(1, 9, 4)) == found.of(Cycling(1, 3, 4)) != found.of(Cycling(0, 3, 4))


def test_the_numbers_of_several_cyclic_messages_are_seen() -> None:
    """A server that tells each of its clients: each number counts, not only that of the message declared first."""
    spec: Spec[Any, Any] = Spec(pressed, Node(), ["press"])

    def message(_state: object, number: int, to: str) -> tuple[str, int]:
        return to, number

    for client in ("ann", "bob", "eve"):
        spec = cyclic(spec, client, partial(message, to=client), every=0.1, wraps=256)
    told = Cycling(Cycling(Cycling(Node(lit=True), 3, 3), 2, 2), 1, 1)
    assert places(spec).of(told) == Cycling(Cycling(Cycling(Node(lit=True))))


def test_a_counter_that_begins_only_after_an_input_is_seen() -> None:
    """The outputs after a few first inputs are followed as well."""

    def beats(node: Node) -> Iterable[Transition[Node]]:
        return numbered(4)(node) if node.lit else []

    assert places(Spec(pressed, Node(), ["press"], beats)).counters == {("alive",): 0}


@pytest.mark.parametrize(
    "spec",
    [
        Spec(pressed, Node(), ["press"]),
        Spec(pressed, Node(), ["press"], numbered(2)),  # four states: as likely phases
        Spec(lambda node, _: [goto(replace(node, alive=5))], Node(), ["set"], numbered(4)),
        Spec(lambda node, _: [goto(replace(node, lit=node.alive == 3))], Node(), ["try"], numbered(4)),
        Spec(pressed, Node(), ["press"], lambda node: [goto(replace(node, alive=(node.alive + 3) % 16))]),
        Spec(pressed, Node(), ["press"], lambda node: [goto(replace(node, alive=1 // 0))]),
        Spec(pressed, Node(), ["press"], lambda node: [goto(replace(node, lit=not node.lit))]),
        Spec(pressed, Node(), ["press"], numbered(4), counters=()),
    ],
    ids=["silent", "few", "set", "asked", "jumps", "raises", "blinks", "none"],
)
def test_what_is_no_counter(spec: Spec[Any, Any]) -> None:
    """A number that inputs set or ask for, or that jumps; and where the spec says that there is none."""
    assert places(spec) == Uncounted()


def test_counters_are_named() -> None:
    """By fields and items; a state of another type stays as it is, and a completed spec has the same."""
    spec = Spec(pressed, Node(), ["press"], counters=["alive", ""])
    assert list(places(spec.completed()).counters) == [("alive",), ()]
    found = Uncounted({("alive",): 0, ("0", "alive"): 0})
    assert found.of(Node(lit=True, alive=4)) == Node(lit=True)
    assert found.of((Node(lit=True, alive=4), 1)) == (Node(lit=True), 1)
    assert found.of("another") == "another"
