"""What two models answer differently: each kind once, by a shortest way, and nothing where they agree."""

from __future__ import annotations

import pytest

from otf.errors import UsageError
from otf.explore import explore
from otf.explore.differences import Differences, differences
from otf.explore.graph import Graph
from otf.models.tea import COFFEE_ONLY, TEA
from otf.notations import table
from otf.spec import Accept, Spec


def compared(one: list[tuple[str, str, str, str]], other: list[tuple[str, str, str, str]]) -> Differences:
    """Compare two tables."""
    return differences(*(explore(table(rows)) for rows in (one, other)))


LOGIN = [
    ("out", "login", "ok", "in"),
    ("out", "read", "denied", "out"),
    ("in", "login", "already", "in"),
    ("in", "read", "data", "in"),
]


def test_equal_models_do_not_differ() -> None:
    """Names of states count for nothing."""
    renamed = [(f"{here}!", inp, out, f"{there}!") for here, inp, out, there in LOGIN]
    found = compared(LOGIN, renamed)
    assert (found.any, found.whole) == (False, True)


def test_every_kind_is_found_and_not_only_the_first() -> None:
    """After a difference both are followed on: one is in the first state, the other behind the login."""
    other = [("out", "login", "ok", "in"), ("out", "read", "no", "out"), *LOGIN[2:3], ("in", "read", "ok", "in")]
    found = compared(LOGIN, other).found
    assert [(each.inputs, each.one, each.other) for each in found] == [
        (("read",), ("denied",), ("no",)),
        (("login", "read"), ("data",), ("ok",)),
    ]
    assert found[1].way == (("login", "ok"),)


def test_the_order_is_the_same_in_every_process() -> None:
    """Behind each of six answers to one input lies a difference; they came in the order of the strings' hashes."""
    one, other = (
        [("on", "go", at, at) for at in "abcdef"] + [(at, "read", out + at, at) for at in "abcdef"] for out in "xy"
    )
    assert [each.one for each in compared(one, other).found] == [(f"x{at}",) for at in "abcdef"]


def test_what_may_be_a_consequence_comes_last() -> None:
    """A new lock opens without its key: first that, and what needs no push to show; then what comes of the push."""
    lock = [
        *[("shut", "push", "stuck", "shut"), ("shut", "bell", "ring", "rung"), ("rung", "knock", "hello", "shut")],
        *[("open", "push", "moves", "shut"), ("open", "bell", "no", "open"), ("shut", "key", "turns", "open")],
    ]
    new = [("shut", "push", "moves", "open"), lock[1], ("rung", "knock", "hi", "shut"), *lock[3:]]
    found = compared(lock, new)
    assert [each.inputs for each in found.found[: found.roots]] == [("push",), ("bell", "knock")]
    assert [each.inputs for each in found.found[found.roots :]] == [("push", "bell")]


def test_a_difference_hides_none_behind_it() -> None:
    """Two versions greet otherwise, and read otherwise: both are told; what is left open behind is no difference."""
    other = [("out", "login", "welcome", "in"), LOGIN[1], ("in", "read", "DATA", "in")]
    found = compared(LOGIN, other)
    assert [(each.inputs, each.one, each.other) for each in found.found] == [
        (("login",), ("ok",), ("welcome",)),
        (("login", "read"), ("data",), ("DATA",)),
    ]
    assert found.found[1].way == (("login", "ok, and B: welcome"),)
    assert found.whole


def test_the_same_difference_in_many_places_is_one() -> None:
    """It is counted, and shown at the nearest place."""
    chain = [(str(at), "on", "ok", str(at + 1)) for at in range(4)] + [
        (str(at), "ask", "a", str(at)) for at in range(5)
    ]
    other = [(here, inp, "b" if inp == "ask" else out, there) for here, inp, out, there in chain]
    (one,) = compared(chain, other).found
    assert (one.inputs, one.places) == (("ask",), 5)


def test_a_choice_that_one_does_not_have() -> None:
    """Of a machine that makes tea or coffee, the answers that are possible are compared."""
    (one,) = differences(explore(TEA), explore(COFFEE_ONLY)).found
    assert (one.inputs, one.one, one.other) == (("Button", "Coin"), ("coffee", "tea"), ("coffee",))


def test_inputs_that_only_one_has_are_named() -> None:
    """They are not differences in answers, and are not followed."""
    found = compared(LOGIN, [row for row in LOGIN if row[1] == "login"])
    assert (found.only_one, found.only_other, found.found, found.any) == (["read"], [], [], True)


def test_where_outputs_decide_the_state_nothing_is_compared() -> None:
    """The error says what is in the way."""
    open_ = explore(Spec(lambda _state, _inp: [Accept(lambda seen: [seen])], 0, ["go"], name="ids"))
    with pytest.raises(UsageError, match="ids: outputs decide the next state"):
        differences(open_, Graph())


def test_an_input_of_several_lines_is_told_on_one() -> None:
    """A message with its body is told as it is written in a program, as `otf learn` writes it into a file."""
    (found,) = compared([("s", "put 2\r\nhi", "ok", "s")], [("s", "put 2\r\nhi", "no", "s")]).found
    assert found.inputs == (r"'put 2\r\nhi'",)
