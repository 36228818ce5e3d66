"""The nearest allowed output: what a person would compare by eye."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.core import Model, Oracle
from otf.core.walk import Walk
from otf.spec import Spec, goto
from otf.strategy import Script
from otf.trace.differing import Difference, differences, few
from otf.trace.explain import explanation
from otf.trace.near import alternatives, near, nearest
from otf.trace.texts import Output
from otf.trace.verdict import Allowed, Failure, FailureKind, Signature, Verdict


def failure(kind: FailureKind, seen: str, *ways: tuple[str, ...], before: tuple[str, ...] = ()) -> Failure:
    """A failure in a state that allows these ways on."""
    allowed = Allowed("0", tuple((way, "1") for way in ways))
    return Failure(Signature(kind, "int", "Go", "Out", "Out"), 1, 1, "Go()", seen, "p", before, (allowed,))


ANSWER = "Answer(cpe=2, nick='n1', conf='c1')"
TOLD: list[tuple[Failure, list[str]]] = [
    (
        failure("wrong", "Answer(cpe=2, nick='n1', conf='c2')", ("Join(cpe=2)",), (ANSWER,)),
        [f"  nearest allowed: {ANSWER}", "                   conf is 'c2', not 'c1'"],
    ),
    (
        failure("wrong", "Data(to=((2, 'n1'), (3, 'n9')))", ("Data(to=((2, 'n1'), (3, 'n2')))",)),
        ["  nearest allowed: Data(to=((2, 'n1'), (3, 'n2')))", "                   to[1][1] is 'n9', not 'n2'"],
    ),
    (
        failure("wrong", "Out(n=1)", ("in any order: Out(n=2), Other(), Out(n=True)",)),
        ["  nearest allowed: Out(n=2)", "                   n is 1, not 2"],
    ),
    (
        failure("wrong", "Out(n=1)", ("Out(n=2) on tray", "")),
        ["  nearest allowed: Out(n=2)", "                   n is 1, not 2"],
    ),
    (failure("wrong", "Tea()", ("Coffee()",)), []),
    (failure("wrong", "Out(a=1, b=1, c=1, d=1)", ("Out(a=2, b=2, c=2, d=2)",)), []),
    (
        failure("wrong", "Out(1)", ("Out(n=1)",), ("Out(2)",)),
        ["  nearest allowed: Out(2)", "                   [0] is 1, not 2"],
    ),
    (
        failure("wrong", "Out(1)", ("Out(n=1)",)),
        ["  nearest allowed: Out(n=1)", "                   it is Out(1), not Out(n=1)"],
    ),
    (
        failure("wrong", "Out(1, a=1)", ("Out(1, b=1)",)),
        ["  nearest allowed: Out(1, b=1)", "                   it is Out(1, a=1), not Out(1, b=1)"],
    ),
    (
        failure("wrong", "Out(n=2)", ("Out(n=2, of='me')",)),
        ["  nearest allowed: Out(n=2, of='me')", "                   of is its default, not 'me'"],
    ),
    (
        failure("wrong", "Out(n=2)", ("Out(n=2) on tray",), ("Out(n=2) on slot",)),
        ["  remark:          the model allows it on tray or slot, and it came on p"],
    ),
    (
        failure("wrong", "Out(n=2)", ("Out(n=1)", "Out(n=2)")),
        ["  remark:          the model allows it in this step: did it come before another output of its port?"],
    ),
    (
        replace(
            failure("wrong", "Out(n=2)", before=("Out(n=2)",)),
            allowed=(Allowed("0", ((("Out(n=1)", "Out(n=2)"), "1"),), orders=("1, 2 or 2, 1",)),),
        ),
        ["  remark:          in no order of these inputs does the model allow all outputs that were seen"],
    ),
    (
        failure("wrong", "Out(n=1)", ("Out(n='1')",)),
        [
            "  nearest allowed: Out(n='1')",
            "                   n is 1, not '1'",
            "  remark:          n is of type int, and the model expects str: the model or the codec may be wrong, too",
        ],
    ),
    (
        failure("undecodable", "Undecodable(raw=b'x', why='ValueError: no number (mine.py, line 7, in decode)')"),
        ["  remark:          `decode` raised this: if the codec is wrong, and not the system, mend that line"],
    ),
    (failure("undecodable", "Undecodable(raw=b'x', why='no line ends here')"), []),
    (failure("late", "Out(n=2)", ("Out(n=2)",)), []),
    (
        failure("unasked", "Out(n=2)", ("Out(n=2)",), before=("Out(n=2)",)),
        ["  remark:          the same output came before in this step: was it sent twice?"],
    ),
    (
        failure("missing", "nothing more", ("in any order: A(n=1), A(n=2), A(n=2)",), before=("A(n=2)",)),
        ["  did not come:    A(n=1), A(n=2)"],
    ),
    (
        failure("missing", "nothing more", ("A()", "B()"), ("A()", "C()"), before=("A()",)),
        ["  did not come:    B() or C()"],
    ),
    (failure("missing", "nothing more", ("A()", "B()"), ("C()",), before=("A()",)), []),
    (failure("missing", "nothing more", ("C()",), before=("Tick()",)), []),
    (
        failure("missing", "nothing more", ("A()", "B()"), before=("A()", "B()", "Tick()")),
        ["  did not come:    an output that the model emits by itself, by a timer or `emits`, after these"],
    ),
    (failure("missing", "nothing more", ("A()",)), []),
    (failure("wrong", "<no value>", ("any Data", "in any order: any Data, (")), []),
]


@pytest.mark.parametrize(("failed", "lines"), TOLD, ids=[str(at) for at in range(len(TOLD))])
def test_what_is_most_likely_wrong(failed: Failure, lines: list[str]) -> None:
    """A remark names one differing field, one missing output of several, or one that came twice; else there is none."""
    assert list(near(failed)) == lines
    told = explanation(Verdict("fail", failed)).splitlines()
    assert told[len(told) - len(lines) :] == lines


def got(body: object) -> str:
    """The text of an answer with a body of JSON."""
    return f"Got(status=200, body={json.dumps(body).encode()!r})"


CART = {"items": [{"price": 3}, {"price": 3}], "total": 6, "open": True}
FEW: list[tuple[str, str, list[str]]] = [
    (got(CART | {"items": [{"price": 3}, {"price": 4}]}), got(CART), ["body.items[1].price is 4, not 3"]),
    (got({"a b": 1}), got({"a b": None}), ["body['a b'] is 1, not None"]),
    (
        got(CART | {"items": [{"price": 3}, {"cost": 3}]}),
        got(CART),
        ["body.items[1].cost is 3, not absent", "body.items[1].price is absent, not 3"],
    ),
    (got({"a": [1, 2, 3]}), got({"a": [1, 3]}), ["body.a[1] is 2, not absent"]),
    (got({"a": [1, 2]}), got({"a": [3]}), ["body.a is [1, 2], not [3]"]),
    (got({"a": {"b": [1, 2, 3, 4]}}), got({"a": {"b": [5, 6, 7, 8]}}), ["body.a.b is [1, 2, 3, 4], not [5, 6, 7, 8]"]),
    ("Got(body=b'{ }')", "Got(body=b'{}')", ["body is b'{ }', not b'{}'"]),
    ("Got(body=b'{}')", "Got(body=b'{')", ["body is b'{}', not b'{'"]),
    ("Got(body=b'[]')", "Got(body=b'1')", ["body is b'[]', not b'1'"]),
    ("{'a': 1, **{}}", "{'a': 2, **{}}", ["a is 1, not 2"]),
    ("(1, 2)", "(1, 3)", ["[1] is 2, not 3"]),
    (
        f"Got(text='{'a' * 80}, 21.5 C, {'b' * 80}')",
        f"Got(text='{'a' * 80}, 21.6 C, {'b' * 80}')",
        ["text[75:96] is 'aaaaa, 21.5 C, bbbbbb', not 'aaaaa, 21.6 C, bbbbbb'"],
    ),
    (f"Got({bytes(20)!r})", f"Got({bytes(7) + b'4' + bytes(12)!r})", ["[0][7:8] is 00, not 34"]),
    (f"Got({bytes(20)!r})", f"Got({bytes(21)!r})", ["[0][20:20] is nothing, not 00"]),
    (f"Got('{'a' * 80}')", f"Got('{'b' * 80}')", [f"[0] is '{'a' * 80}', not '{'b' * 80}'"]),
    (f"Got('{'a' * 80}')", f"Got(b'{'a' * 80}')", [f"[0] is '{'a' * 80}', not b'{'a' * 80}'"]),
]


@pytest.mark.parametrize(("seen", "allowed", "lines"), FEW, ids=[str(at) for at in range(len(FEW))])
def test_the_part_that_differs_is_named(seen: str, allowed: str, lines: list[str]) -> None:
    """Inside a body of JSON, too; of a longer text it is a range, and of many parts the one that holds them."""
    assert list(map(str, few(seen, allowed))) == lines


@dataclass(frozen=True)
class Value:
    """A value with all that a value may have in it."""

    number: object
    inner: object


PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.binary(max_size=5)
VALUES = st.builds(Value, PLAIN, st.recursive(PLAIN, lambda inner: st.tuples(inner) | st.lists(inner), max_leaves=4))


@given(VALUES, VALUES)
def test_differences_are_those_of_the_values(one: Value, other: Value) -> None:
    """There is none exactly where their texts are the same, and each is at a part of which that is true."""
    found = differences(repr(one), repr(other))
    assert found is not None
    assert (not found) == (repr(one) == repr(other))
    for difference in found:
        assert difference.seen != difference.allowed
        assert difference.path.startswith(("number", "inner"))


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_taken(seen: str, allowed: str) -> None:
    """A value may show itself as it likes; nothing is run."""
    list(near(failure("wrong", seen, (allowed,))))
    list(near(failure("missing", seen, (f"in any order: {allowed}",), before=(seen,))))


def test_deep_nests_are_no_trouble() -> None:
    """Nor is a text that no parser takes."""
    assert differences("(" * 300, "[" * 300) is None
    assert differences("Out(\0)", "Out()") is None


def test_what_could_have_come_instead() -> None:
    """Each output that a branch still allows, once and with its port; the branches that were left count no more."""
    given = failure("wrong", "Out(n=1)", ("Out(n=2) on tray", "Other()"), ("Other()", "Third()"), before=("Other()",))
    assert alternatives(given) == [Output("Out(n=2)", "tray"), Output("Third()")]
    assert nearest(given, alternatives(given)) == (Output("Out(n=2)", "tray"), [Difference("n", "1", "2")])
    assert alternatives(failure("unasked", "Out(n=1)", ())) == []
    assert nearest(given, [Output("Third()")]) is None


def test_an_output_that_came_on_another_port_leaves_a_branch_out() -> None:
    """Of two orders of a burst, only the one whose port has answered still allows an output: on the port that waits."""
    orders = [("Ok() on ann", "No() on bob"), ("Ok() on bob", "No() on ann")]
    given = failure("wrong", "Ok() on ann", *orders, before=("Ok() on bob",))
    assert alternatives(given) == [Output("No()", "ann")]
    unknown = failure("wrong", "Ok()", *orders, before=("Ok()",))
    assert alternatives(unknown) == [Output("No()", "bob"), Output("No()", "ann")]


@dataclass(frozen=True)
class Registers:
    """A long message."""

    data: tuple[int, ...]


def test_long_values_are_compared_beyond_what_is_shown() -> None:
    """Two that differ only there are not the same output, out of order."""
    data = tuple(range(99))
    oracle = Oracle(Model(Spec(lambda state, _inp: [goto(state, Registers(data))], 0, ["read"])))
    walk = Walk(oracle, lambda _inp: (Registers((*data[:77], -1, *data[78:])),))
    verdict = walk.chosen(Script(["read"]), 1) or walk.end()
    assert verdict.failure is not None
    assert [*near(verdict.failure)][1:] == ["                   data[77] is -1, not 77"]
    assert max(map(len, explanation(verdict).splitlines())) < 400


def test_values_too_long_to_compare_are_not_called_equal() -> None:
    """What is cut off may be the difference."""
    seen = f"b'{'x' * 20}… (9,000 characters)"
    assert ["too long to be compared" in line for line in near(failure("wrong", seen, (seen,)))] == [True]
