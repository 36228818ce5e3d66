"""The items of a transition, and the outputs that they allow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pytest

from otf.errors import UsageError
from otf.spec import AnyOrder, OneOf, Where, on
from otf.trace.events import Closed, Ended, Undecodable
from tests.core.scripts import once, outcome, seen

ANY = on("P", str)


@dataclass(frozen=True)
class Welcome:
    name: str


@dataclass(frozen=True)
class Warm(Welcome):
    pass


def short(text: str) -> bool:
    """Return whether a text is short."""
    return len(text) < 3


def kind_of(kind: type, value: object) -> bool:
    """Return whether a value is of a class."""
    return isinstance(value, kind)


def anything(_value: object) -> bool:
    """Accept whatever comes."""
    return True


class Callable:
    def __call__(self, value: object) -> bool:
        """Do nothing: an object that can be called is a value all the same."""
        return value is None


CALLED = Callable()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("a? x! z! quiet", "pass"),
        ("a? x!", "pass"),
        ("a? z! x!", "fail: wrong"),
        ("a? x! quiet", "fail: missing"),
        ("a? x! z! z!", "fail: wrong"),
    ],
)
def test_outputs_come_in_their_order(script: str, expected: str) -> None:
    """X and then z, on one port: neither the other way round, nor less, nor more."""
    assert outcome(once("x", "z"), script) == expected


@pytest.mark.parametrize("script", ["a? x! z! y! w! quiet", "a? y! x! w! z! quiet", "a? y! w! x! z! quiet"])
def test_outputs_on_different_ports_have_no_order(script: str) -> None:
    """X before z on P and y before w on Q, however the two are mingled."""
    assert outcome(once("x", "y", "z", "w"), script) == "pass"


def test_each_port_has_its_order() -> None:
    """W before y is wrong, whatever comes on the other port."""
    assert outcome(once("x", "y", "z", "w"), "a? x! w!") == "fail: wrong"


@pytest.mark.parametrize("script", ["a? x! z! x! z! quiet", "a? z! x! x! z! quiet", "a? x! x! z! z! quiet"])
def test_outputs_in_any_order_come_in_any_order(script: str) -> None:
    """X, x and z, each as often as it is named, before the last z."""
    assert outcome(once(AnyOrder("x", "x", "z"), "z"), script) == "pass"


@pytest.mark.parametrize("script", ["a? z! z!", "a? x! z! z!", "a? x! x! x!"])
def test_outputs_in_any_order_come_before_what_is_later_on_their_port(script: str) -> None:
    """The last z must wait until both x and a z have come."""
    assert outcome(once(AnyOrder("x", "x", "z"), "z"), script) == "fail: wrong"


def test_outputs_in_any_order_wait_on_their_own_port_only() -> None:
    """Y follows the group on Q, and need not wait for the x on P."""
    assert outcome(once(AnyOrder("x", "w"), "y"), "a? w! y! x! quiet") == "pass"
    assert outcome(once(AnyOrder("x", "w"), "y"), "a? y!") == "fail: wrong"


def test_an_empty_group_is_nothing() -> None:
    """AnyOrder() has no outputs."""
    assert outcome(once(AnyOrder(), "x"), "a? x! quiet") == "pass"


@pytest.mark.parametrize("script", ["a? x! z! quiet", "a? z! x! quiet", "a? x! x! quiet"])
def test_overlapping_tests_branch(script: str) -> None:
    """Any text and x: an x may be either, so the second output decides."""
    assert outcome(once(AnyOrder(ANY, "x")), script) == "pass"


def test_overlapping_tests_do_not_count_twice() -> None:
    """Of any text and x, one must be x."""
    assert outcome(once(AnyOrder(ANY, "x")), "a? z! z!") == "fail: wrong"


def test_groups_within_groups_are_one_group() -> None:
    """What is in any order may be given in parts; a port is inherited."""
    group = on("P", AnyOrder("x", AnyOrder(str, on("Q", "z"))))
    assert outcome(once(group), "a?", seen("z", "Q"), "z! x! quiet") == "pass"


def test_one_of_some_comes() -> None:
    """X or z, or x and z in any order; not both alternatives."""
    spec = once(OneOf("x", OneOf("z")), "x")
    assert outcome(spec, "a? z! x! quiet") == "pass"
    assert outcome(spec, "a? x! x! quiet") == "pass"
    assert outcome(spec, "a? x! z!") == "fail: wrong"


def test_an_alternative_may_be_a_group_or_have_a_port() -> None:
    """OneOf stands anywhere in a transition except inside a group."""
    spec = once(on("P", OneOf("y", AnyOrder("x", "z"))))
    assert outcome(spec, "a? z! x! quiet") == "pass"
    assert outcome(spec, "a?", seen("y"), "quiet") == "pass"
    assert outcome(spec, "a? y!") == "fail: unasked"


@pytest.mark.parametrize(
    "item",
    [str, Where(short), short, partial(kind_of, str), "no".__contains__, str.isalpha, Where(short, says="short")],
)
def test_an_output_may_be_given_by_a_class_or_a_test(item: object) -> None:
    """A class, a function, a method, a partial one and Where are tests; the port is named with them."""
    assert outcome(once(on("P", item)), "a?", seen("no"), "quiet") == "pass"


def test_a_test_that_is_false_refuses() -> None:
    """A long text is not short, and a number is not a text."""
    assert outcome(once(on("P", short)), "a?", seen("a long text")) == "fail: wrong"
    assert outcome(once(on("P", str)), "a?", seen(1)) == "fail: wrong"


def test_a_class_stands_for_its_subclasses_too() -> None:
    """A warm welcome is a welcome, but not the other way round."""
    assert outcome(once(on("P", Welcome)), "a?", seen(Warm("you"))) == "pass"
    assert outcome(once(on("P", Warm)), "a?", seen(Welcome("you"))) == "fail: wrong"


def test_an_object_that_can_be_called_is_a_value() -> None:
    """Only functions are tests; an object with `__call__` is what it is."""
    assert outcome(once(on("P", CALLED)), "a?", seen(CALLED)) == "pass"
    assert outcome(once(on("P", CALLED)), "a?", seen(None)) == "fail: wrong"


@pytest.mark.parametrize(
    ("wanted", "other"), [(1, True), (1, 1.0), (0, False), ((1,), (True,)), (Welcome("you"), Warm("you"))]
)
def test_equality_includes_the_type(wanted: object, other: object) -> None:
    """True is not 1, and a subclass with the same fields is another value."""
    assert outcome(once(on("P", wanted)), "a?", seen(wanted)) == "pass"
    assert outcome(once(on("P", wanted)), "a?", seen(other)) == "fail: wrong"


def test_an_output_comes_on_its_port() -> None:
    """X is expected on P, by its codec, or on the port named by `on`."""
    assert outcome(once("x"), "a?", seen("x", "Q")) == "fail: unasked"
    assert outcome(once(on("Q", "x")), "a?", seen("x", "Q"), "quiet") == "pass"


@pytest.mark.parametrize("item", [str, object, short, Undecodable, Undecodable(b"?", "no text")])
def test_nothing_allows_bytes_that_do_not_decode(item: object) -> None:
    """No class, no test, not even their own value: undecodable bytes are a failure where anything is specified."""
    assert outcome(once(on("P", item)), "a?", seen(Undecodable(b"?", "no text"))) == "fail: undecodable"


@pytest.mark.parametrize("item", [Ended, Ended("exit status 0")])
def test_the_end_of_a_port_can_be_expected(item: object) -> None:
    """A model may say that a system ends, in any way or in a certain one."""
    assert outcome(once("x", on("P", item)), "a? x!", Closed("P", "exit status 0", 0), "quiet") == "pass"


def test_an_end_that_was_not_expected_fails() -> None:
    """A port that ends where nothing, something else or another end is expected is a failure."""
    ended = Closed("P", "exit status 1", 0)
    assert outcome(once("x"), ended) == "fail: ended"
    assert outcome(once("x"), "a?", ended) == "fail: ended"
    assert outcome(once(on("P", Ended("exit status 0"))), "a?", ended) == "fail: ended"


@pytest.mark.parametrize("item", [object, anything])
def test_an_end_is_no_output_like_others(item: object) -> None:
    """Any output, or one that passes any test, must still be an output."""
    assert outcome(once(on("P", item)), "a?", Closed("P", "exit status 1", 0)) == "fail: ended"


@pytest.mark.parametrize("group", [AnyOrder, OneOf])
@pytest.mark.parametrize("items", [["x", "y"], {"x", "y"}, map(str, "xy")])
def test_a_collection_of_outputs_is_refused(group: type[AnyOrder | OneOf], items: object) -> None:
    """As one output it would never come, and a right system would fail."""
    with pytest.raises(UsageError, match=rf"^{group.__name__}\((list|set|map)\): .* {group.__name__}\(\*outputs\)$"):
        group(items)
