"""Outputs for what a model only describes: found by trial among what is near, and accepted by the model's own test."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any, Literal

import pytest

from otf.mutation.examples import Examples
from otf.mutation.served import ServedModel
from otf.spec import Accept, AnyOrder, OneOf, Spec, Where, goto, on


class Colour(Enum):
    """Colours."""

    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Item:
    """A part of a reply."""

    name: str
    unique: int | None = None


@dataclass(frozen=True)
class Reply:
    """A reply of fields of many kinds."""

    word: str
    kind: Literal["new", "again"] = "new"
    colour: Colour = Colour.RED
    number: int = 0
    items: tuple[Item, ...] = ()


def is_late(client: str, said: Any) -> bool:  # noqa: ANN401 -- any output
    """Return whether a reply says `LATE` to a client."""
    return isinstance(said, Reply) and said.word == "LATE" and said.kind == client


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (Where(partial(is_late, "again")), Reply("LATE", "again")),
        (Where(lambda said: said == Reply("", "new", Colour.BLUE)), Reply("", "new", Colour.BLUE)),
        (Where(lambda said: isinstance(said, Reply) and said.number == 77), None),
        (Where(lambda said: said == "two words", says="the text two words"), "two words"),
        (Where(lambda said: said == b"data"), b"data"),
        (Where(lambda said: isinstance(said, float) and said > 1), 2.0),
        (Colour, Colour.RED),
        (Reply, Reply("")),
    ],
)
def test_values_are_made_of_what_is_near(item: object, found: object) -> None:
    """Of the constants in the code of the test, of its arguments and description, and of the types of the bench."""
    values = Examples((Reply, Colour)).of(item, 0, "data")
    assert values
    assert all(item.test(value) if isinstance(item, Where) else type(value) is item for value in values)
    assert found is None or found in values or type(found) is type(values[0])


def test_nothing_is_found_for_what_nothing_satisfies() -> None:
    """Not even a test that raises counts as passed."""
    examples = Examples((Reply,))
    for _ in range(12):
        assert examples.of(Where(lambda said: said.nothing), 0, "a") == []


def test_an_accept_gets_the_numbers_that_the_system_chooses() -> None:
    """As the reply to another input of the state, with an id in each part."""
    known = Reply("items", items=(Item("a"), Item("b")))

    def then(seen: tuple[Any, ...]) -> list[tuple[int, ...]]:
        (said,) = seen
        ids = [each.unique for each in said.items]
        plain = Reply("items", items=tuple(Item(each.name) for each in said.items))
        return [tuple(ids)] if plain == known and None not in ids and len(set(ids)) == len(ids) else []

    (row, states), *_ = Examples((Reply,)).accepted(Accept(then), (), "gets", [known])
    assert [each.name for each in row[0].items] == ["a", "b"]
    assert states == [tuple(each.unique for each in row[0].items)]


def test_an_accept_of_several_outputs() -> None:
    """As many as it wants, or until it has what it waits for."""
    two = Accept(lambda seen: [seen] if seen[0] != seen[1] else [], until=2)
    assert len(Examples((Colour,)).accepted(two, 0, "a")[0][0]) == 2
    last = Accept(lambda seen: [0] if "first" in seen else [], until=lambda seen: seen[-1] == "last")
    assert ("first", "last") in [row for row, _ in Examples((str,)).accepted(last, 0, "a")]
    assert Examples((str,)).accepted(Accept(lambda _seen: [0], port=("a", "b")), 0, "a") == []


def test_examples_of_the_model_come_before_all_others() -> None:
    """Those that its own test accepts; nothing is searched then."""
    digits = Where(lambda said: isinstance(said, str) and len(said) == 40, says="a hash", examples=("short", "f" * 40))
    assert Examples((str,)).of(digits, 0, "get") == ["f" * 40]


def test_a_test_that_comes_again_is_not_searched_again() -> None:
    """The values that it accepted in one state are tried first in the next; one that it refuses there is no example."""
    looked = list[object]()

    def item(least: int) -> Where:
        def long(said: object) -> bool:
            looked.append(said)
            return isinstance(said, str) and len(said) > least

        return Where(long)

    examples = Examples((str,), {each: each for each in ("a", "bb", "c" * 60)})
    first = examples.of(item(1), 0, "get")
    assert first
    searched = len(looked)
    assert examples.of(item(1), 1, "get")
    assert len(looked) - searched <= len(first)
    assert examples.of(item(40), 2, "get") == ["c" * 60]
    grown = Accept(lambda seen: [len(seen[0])] if len(seen[0]) > 1 else [])
    found = examples.accepted(grown, 0, "get")
    assert sorted(examples.accepted(grown, 1, "get")) == sorted(found)


def test_a_model_is_served_with_values() -> None:
    """Each item becomes values; a transition without an example is left out, and its input is not served."""

    def step(state: int, inp: str) -> Any:  # noqa: ANN401 -- transitions
        match inp:
            case "bag":
                return [goto(state, AnyOrder("x", on("p", Colour)), OneOf("a", "b"))]
            case "open":
                return [Accept(lambda seen: [seen[0]] if isinstance(seen[0], Colour) else [], "p", says="a colour")]
            case "lost":
                return [goto(state, Where(lambda _said: False, says="nothing"))]
            case "raises":
                raise RuntimeError
            case _:
                return []

    served = ServedModel(Spec(step, 0, ["bag", "open", "lost"]), Examples((Colour,)))
    (way,) = served.step(0, "bag")
    assert way.outputs[0] == AnyOrder("x", on("p", OneOf(Colour.RED, Colour.BLUE)))
    assert {way.outputs[0] for way in served.step(0, "open")} >= {on("p", Colour.RED)}
    assert (served.step(0, "lost"), served.serves(0, "lost"), list(served.unserved)) == ((), False, ["nothing"])
    assert served.serves(0, "else")
    with pytest.raises(Exception, match="the model raised RuntimeError"):
        served.step(0, "raises")
