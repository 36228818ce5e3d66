"""Graphs as tables, data and pictures: what a reader sees, and what a tool reads."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from otf.cli.tools.explore import picture
from otf.errors import UsageError
from otf.explore import Graph, explore
from otf.explore.exports import Marks, as_data, aut, compact, dot, graphml, listed, marks, mermaid
from otf.explore.refine import depths, drawable
from otf.models.coffees import C4
from otf.models.stack import STACK
from otf.notations import table
from otf.notations.table import TableRow
from otf.spec import Accept, AnyOrder, Spec, Where, goto, on, start
from tests.explore.machines import DOOR


def door() -> tuple[Graph, Marks]:
    """The door, of which a broken one is not safe."""
    graph = explore(DOOR)
    return graph, marks(graph, safe=lambda state: state != "broken")


def test_a_table_shows_states_with_their_marks_and_transitions() -> None:
    """The table has states and transitions by number, with marks."""
    assert listed(*door()).splitlines() == [
        "    0  closed  (initial, accepting)",
        "         'open' / nothing  ->  1",
        "         'lock' / 'clack'  ->  2",
        "    1  open",
        "         'close' / 'click'  ->  0",
        "    2  locked  (accepting)",
        "         'kick' / nothing  ->  3",
        "    3  broken  (unsafe, dead)",
        "         'kick' / nothing  ->  3",
    ]


def test_data_are_json() -> None:
    """The JSON data have states and transitions by number."""
    data = json.loads(json.dumps(as_data(*door())))
    assert data["states"][3] == {"number": 3, "state": "broken", "marks": ["unsafe", "dead"]}
    assert data["transitions"][1] == {"source": 0, "input": "'lock'", "outputs": ["'clack'"], "target": 2}
    assert (data["whole"], data["cuts"], data["inputs"]) == (True, {}, ["'open'", "'close'", "'lock'", "'kick'"])


def test_a_picture_marks_what_matters() -> None:
    """The initial state has an arrow, accepting ones two rims; unsafe ones are red, dead ones orange."""
    lines = dot(*door()).splitlines()
    assert '  __start0 -> s0 [tooltip="initial state"];' in lines
    assert '  s0 [label="closed", tooltip="closed\\ninitial, accepting", peripheries=2];' in lines
    assert '  s3 [label="broken", tooltip="broken\\nunsafe, dead", fillcolor="#f4a6a0"];' in lines
    safe = dot(explore(DOOR), marks(explore(DOOR)))
    assert 's3 [label="broken", tooltip="broken\\ndead", fillcolor="#fbd38d"]' in safe


def test_a_cut_state_is_dashed() -> None:
    """A state from which a bound cut something off has a dashed rim."""
    graph = explore(C4, depth=1)
    assert 'style="rounded,filled,dashed"' in dot(graph, marks(graph))


def test_several_transitions_are_one_arrow_and_long_labels_are_short() -> None:
    """A label has at most five lines of 56 characters; the tooltip has the whole text."""
    rows: list[TableRow] = [
        (0, f"an input with number {number}, and more than has room here", [], 1) for number in range(8)
    ]
    lines = dot(explore(table(rows))).splitlines()
    (arrow,) = [line for line in lines if line.startswith("  s0 -> s1")]
    label, _, tooltip = arrow.partition(" tooltip=")
    assert label.startswith(
        '  s0 -> s1 [label="an input with number 0, and more than has room here / n…\\lan input with number 1'
    )
    assert label.endswith('… 4 more\\l",')
    assert "an input with number 7, and more than has room here' / nothing" in tooltip


def test_signs_of_the_language_are_harmless() -> None:
    """Quotation marks and backslashes in names do not break a file."""
    odd = explore(table([('a"b\\', 'in"', ["<&>"], "x|{}")]))
    assert 'label="a\\"b\\\\"' in dot(odd)
    assert ET.fromstring(graphml(odd)).find(".//{*}edge/{*}data").text == "'in\"' / '<&>'"  # type: ignore[union-attr]  # noqa: S314 -- it was written here
    assert '"a\'b\\"' in mermaid(odd)
    assert '(0, "in\\" / <&>", 1)' in aut(odd)


def test_mermaid_draws_states_by_class() -> None:
    """Mermaid marks accepting states by an arrow to the end, others by class."""
    lines = mermaid(*door()).splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert {"  [*] --> s0", "  s0 --> [*]", "  class s3 unsafe"} <= set(lines)


def test_where_outputs_decide_the_picture_has_a_question_mark() -> None:
    """A transition whose outputs decide the state leads to a question mark; an Aldebaran file cannot hold it."""
    graph = explore(Spec(lambda _state, _inp: [Accept(lambda seen: seen)], 0, ["a"]))
    assert 'open0 [label="?"' in dot(graph)
    assert "->  ?" in listed(graph)
    assert as_data(graph)["transitions"][0]["target"] is None
    assert "<edge" not in graphml(graph)
    assert mermaid(graph).count("-->") == 1
    with pytest.raises(UsageError, match=r"cannot be written to an \.aut file"):
        aut(graph)


class Own:
    """A class with a `__repr__` of its own."""

    def __repr__(self) -> str:
        return "own"


@dataclass(frozen=True)
class Pair:
    left: object
    right: object


class Light(Enum):
    RED = 1


def test_values_are_short_in_pictures() -> None:
    """Labels have no names of fields and no quotation marks; items that are not values have a text."""
    assert compact(Pair(Light.RED, ("a", frozenset({1})))) == "Pair(RED, (a, {1}))"
    assert compact((Own(), "", "\x1b", None)) == "(own, '', '\\x1b', None)"
    outputs = (AnyOrder("a", "b"), on("p", int), Where(bool), Where(bool, "long"), Accept(lambda seen: seen))
    assert list(map(compact, outputs)) == ["{a, b}", "any int on p", "a test", "long", "accepted"]


def test_what_comes_unasked_is_written() -> None:
    """Spontaneous outputs are written without an input."""
    graph = explore(table([(0, "a", [], 1)], spontaneous=[(1, ["tick"], 0)]))
    assert '(1, "(spontaneous) / tick", 0)' in aut(graph)
    assert as_data(graph)["transitions"][1]["input"] is None


def test_a_large_graph_is_drawn_by_its_kinds_of_states() -> None:
    """States that are alike become one; if that is not enough, those of a type at one distance do."""
    ring = table([(at, "a", ["x"], (at + 1) % 400) for at in range(400)])
    drawn, said = drawable(explore(ring))
    assert (len(drawn.values), len(drawn.target)) == (1, 1)
    assert said == "400 states are too many to draw: states that are alike are drawn as one"
    stack = explore(STACK, states=lambda items: len(items) < 6)
    drawn, said = drawable(stack)
    assert [len(drawn.values), drawn.values[2]] == [6, "9 x tuple after 2"]
    assert depths(stack)[-1] == 5
    assert drawable(explore(DOOR))[1] == ""


def test_a_small_graph_becomes_a_picture() -> None:
    """Graphviz draws a small graph, in a process of its own."""
    assert b"<svg" in picture(dot(*door()), "svg")
    assert picture(dot(*door()), "png").startswith(b"\x89PNG")


def test_a_picture_that_takes_too_long_is_given_up() -> None:
    """A picture that takes too long is given up, and the error says what to do instead."""
    with pytest.raises(UsageError, match="draw fewer states"):
        picture(dot(*door()), "svg", seconds=0.001)


def test_what_cannot_be_drawn_is_told() -> None:
    """The error has the message of Graphviz."""
    with pytest.raises(UsageError, match="Graphviz could not draw it"):
        picture("this is not a graph", "svg")


def test_without_graphviz_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Graphviz the error names the extra to install."""
    monkeypatch.setattr("otf.cli.tools.explore.find_spec", dict[str, object]().get)
    with pytest.raises(UsageError, match=r"pip install 'otf\[pictures\]'"):
        picture("digraph {}", "svg")


def test_depth_bounds_and_inputs_bound() -> None:
    """`depth` bounds the steps; `inputs` replaces the inputs of the spec."""
    graph = explore(C4, depth=2, inputs=[5])
    assert graph.cuts == {"depth": 1} or graph.values == [0]
    spec = Spec(lambda state, inp: [goto(state + inp)], 0, [1])
    assert explore(spec, depth=2, inputs=[10]).values == [0, 10, 20]
    assert [node.value for node in explore(spec, depth=2).frontier] == [2]


def test_windows_and_timers_are_shown() -> None:
    """A transition has its times in brackets, in tables, pictures and data; two with the same outputs have both."""

    def step(_state: str, _inp: str) -> list[Any]:
        opened = goto("open", "hi", within=(0, 0.1), timers=[start("session", 0.4, 0.7)])
        return [opened, goto("open", "hi", within=(1, float("inf"))), Accept(list, within=(2, 3))]

    graph = explore(Spec(step, "shut", ["open"], emits=lambda _: [goto("shut", "bye", after="session")]))
    text = "within 0 to 0.1 s, starts session (0.4 to 0.7 s); or within 1 s or more"
    assert f"'open' / 'hi'  [{text}]  ->  1" in listed(graph)
    assert "(spontaneous) / 'bye'  [when session expires]  ->  0" in listed(graph)
    assert "[within 2 to 3 s]  ->  ?" in listed(graph)
    assert "[when session expires]" in mermaid(graph)
    assert as_data(graph)["transitions"][0]["times"] == text
    assert "times" not in as_data(explore(DOOR))["transitions"][0]
