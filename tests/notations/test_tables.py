"""Models as tables, and as files of other tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.explore.conform import equivalent
from otf.explore.exports import aut, dot
from otf.explore.finding import LawVerdict
from otf.models.coffees import C1, C3
from otf.notations import read_aut, read_dot, table
from otf.notations.files import label
from otf.spec import fingerprint, goto
from otf.suite import suite


def test_a_table_is_a_spec() -> None:
    """Rows of a state, an input, outputs and the next state; the first state is the initial one."""
    spec = table([("idle", "coin", [], "paid"), ("paid", "button", "tea", "idle"), ("paid", "button", (), "paid")])
    assert (spec.initial, list(spec.inputs("idle"))) == ("idle", ["coin", "button"])
    assert list(spec.step("paid", "button")) == [goto("idle", "tea"), goto("paid")]
    assert list(spec.step("idle", "button")) == []


def test_values_of_another_type_are_others() -> None:
    """One is not True."""
    spec = table([(0, 1, [], 1)])
    inputs = list[object]([True, 1.0])
    assert [list(spec.step(0, inp)) for inp in inputs] == [[], []]


def test_a_table_of_what_comes_unasked() -> None:
    """A table without rows of inputs needs an initial state."""
    spec = table([], initial=0, spontaneous=[(0, ["tick"], 1)])
    assert spec.emits is not None
    assert (list(spec.emits(0)), list(spec.emits(1))) == ([goto(1, "tick")], [])


WRONG: list[tuple[Any, type[Exception], str]] = [
    ([], UsageError, "needs initial"),
    (
        [(0, "a", 1)],
        UsageError,
        r"row 1 of the table is \(0, 'a', 1\); write \(state, input, outputs, next_state\)",
    ),
    ([(0, "a", [], 1), "row"], UsageError, "row 2 of the table is 'row'"),
    ([([], "a", [], 1)], ModelError, "row 1 of the table.*has no hash"),
]


@pytest.mark.parametrize(("rows", "error", "said"), WRONG)
def test_a_wrong_table_names_the_row(rows: Any, error: type[Exception], said: str) -> None:  # noqa: ANN401 -- wrong ones
    """The message also shows the form of a row."""
    with pytest.raises(error, match=said):
        table(rows)


ROWS = st.lists(
    st.tuples(
        st.integers(0, 4), st.sampled_from("abc"), st.lists(st.sampled_from("xy"), max_size=2), st.integers(0, 4)
    ),
    min_size=1,
    max_size=12,
)


@given(ROWS)
def test_what_is_written_is_read_again(rows: Any) -> None:  # noqa: ANN401 -- a table
    """In Aldebaran and in DOT, the model that is read is equivalent, and is written again unchanged."""
    graph = explore(table(rows))
    text = aut(graph)
    again = read_aut(text)
    assert equivalent(graph, again).verdict is LawVerdict.PROVEN
    assert aut(explore(read_aut(aut(explore(again))))) == aut(explore(again))
    assert len(explore(again).values) == len(graph.values)


@pytest.mark.parametrize("spec", [C1, C3])
def test_dot_files_are_read_too(spec: Any) -> None:  # noqa: ANN401 -- a spec
    """Drawings of otf can be read; then inputs and outputs are strings."""
    drawn = explore(read_dot(dot(explore(spec))))
    assert (len(drawn.values), len(drawn.target)) == (len(explore(spec).values), len(explore(spec).target))


LEARNT = """digraph g {
  __start0 [label="" shape="none"];
  s0 [shape="circle" label="s0"];
  s1 [shape="circle" label="s1"];
  s0 -> s1 [label="coin/-"];
  s1 -> s0 [label="button/coffee"]; // back
  s1 -> s1 [label="coin/-"]
  /* the arrow
     without a tail */
  __start0 -> s0;
}
"""


def test_the_dialect_of_learning_tools() -> None:
    """Mealy machines: input and output at the edge, an arrow from `__start0` to the initial state."""
    spec = read_dot(LEARNT)
    assert spec.initial == "s0"
    assert list(spec.step("s1", "button")) == [goto("s0", "coffee")]
    assert list(spec.step("s0", "coin")) == [goto("s1")]
    assert suite(spec, "tour").steps == 3


def test_moore_machines() -> None:
    """The output is that of the state after the edge."""
    spec = read_dot('digraph { q0 [label="q0|off"]; q1 [label="{q1|on}"]; q0 -> q1 [label=push]; start -> q0 }')
    assert list(spec.step("q0", "push")) == [goto("q1", "on")]


@pytest.mark.parametrize(
    "label", ["<a / x<br />b / y<br />>", '"a / x<br/>b / y"', "<<i>a</i> / x<BR>b / y>", r'"a / x\nb / y\l"']
)
def test_the_lines_of_a_label_are_transitions(label: str) -> None:
    """Also in HTML, as in models of JSSE: `<br />` breaks a line, and other tags say nothing."""
    spec = read_dot(f"digraph {{ s0 -> s1 [label={label}]; }}")
    assert [list(spec.step("s0", inp)) for inp in spec.inputs("s0")] == [[goto("s1", "x")], [goto("s1", "y")]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("graph", "line 1: a DOT file is"),
        ("digraph {}", "line 1: it has no states"),
        ("digraph {\n s0 -> s1;\n}", "line 2: the edge s0 -> s1 has no label"),
        ('digraph {\n s0 [label="a"];\n ?? \n}', r"line 3: '\?\?' is neither a node nor an edge"),
    ],
)
def test_a_wrong_dot_file_names_the_line(text: str, said: str) -> None:
    """And what should stand there."""
    with pytest.raises(UsageError, match=said):
        read_dot(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: the first line of an .aut file is"),
        ('des (0,1,2)\n(0, "a", 2)', "line 2: there is no state 2"),
        ("des (0,1,2)\n(0; a; 1)", "line 2: '\\(0; a; 1\\)' is not a transition"),
        ('des (0,2,2)\n\n(0, "a", 1)', "line 1: it announces 2 transitions, but 1 follow"),
    ],
)
def test_a_wrong_aut_file_names_the_line(text: str, said: str) -> None:
    """And what should stand there."""
    with pytest.raises(UsageError, match=said):
        read_aut(text)


def test_labels_of_other_tools() -> None:
    """`?` marks inputs, `!` outputs, `i` an inner step; without a mark it is an input."""
    spec = read_aut('des (1, 4, 3)\n(1, "?coin", 2)\n(2, "!tea", 1)\n(2, i, 0)\n(0, push, 1)')
    assert spec.emits is not None
    assert list(spec.step(1, "coin")) == [goto(2)]
    assert list(spec.emits(2)) == [goto(1, "tea"), goto(0)]
    assert list(spec.step(0, "push")) == [goto(1)]


@pytest.mark.parametrize(
    ("text", "inp", "out"),
    [
        ("ACK+PSH(V,V,1) / RST(ZERO,ZERO,0)", "ACK+PSH(V,V,1)", ("RST(ZERO,ZERO,0)",)),
        ("get[a/b]/200(text/html), done{a,b}", "get[a/b]", ("200(text/html)", "done{a,b}")),
        ("a/b/c", "a/b", ("c",)),
        ("smile :) / a,b", "smile :)", ("a", "b")),
        ("open ( / a,b", "open (", ("a", "b")),
    ],
)
def test_separators_in_parentheses_separate_nothing(text: str, inp: str, out: tuple[str, ...]) -> None:
    """Labels of published models have arguments; parentheses without a partner are ordinary characters."""
    assert label(text) == (inp, out)


@pytest.mark.parametrize(
    "labels",
    [
        ("a:0.33", "a:0.33", "a:0.33"),
        ("a/x:0.3", "a/y:0.7", "b/x:1.0"),
        ("a:1.0", "b:.5", "b:0.50"),
        ("a:0.3", "a:0.7", "b:1"),
        ("0.8", "0.2"),
    ],
)
def test_a_probabilistic_machine_is_refused(labels: tuple[str, ...]) -> None:
    """Its chances are not a part of the inputs' names."""
    edges = "".join(f's0 -> s1 [label="{each}"];' for each in labels)
    with pytest.raises(UsageError, match=r"mdp\.dot: its edges have probabilities, as in input:0.3"):
        read_dot(f"digraph {{ {edges} }}", "mdp.dot")


@pytest.mark.parametrize(
    "labels", [("a:0.3", "b:0.7"), ("set:0.5/ok", "get/ok"), ("bit:0", "bit:1"), ("door:1", "0:1")]
)
def test_numbers_in_labels_are_no_probabilities_by_themselves(labels: tuple[str, ...]) -> None:
    """Only if each edge has one, and those of an input in a state have the sum 1."""
    edges = "".join(f's0 -> s1 [label="{each}"];' for each in labels)
    assert list(read_dot(f"digraph {{ {edges} }}").inputs("s0")) == [each.partition("/")[0] for each in labels]


def test_the_fingerprint_of_a_file_is_that_of_its_text() -> None:
    """Also if two texts differ in a state alone: a trace tells whether its model has changed."""
    one, other = (read_dot(f'digraph {{ {name} -> s [label="a/x"]; }}') for name in ("s", "t"))
    assert fingerprint(one) != fingerprint(other)


def test_a_file_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of any size from anywhere must not fill the memory."""
    monkeypatch.setattr("otf.notations.files.LONGEST", 10)
    with pytest.raises(UsageError, match="at most 10"):
        read_aut("des (0, 1, 2)")
