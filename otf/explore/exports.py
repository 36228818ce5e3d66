"""Graphs as files: GraphML, Aldebaran for model checkers, tables, JSON; and as pictures for Graphviz and Mermaid.

Marks show special states; labels are short enough to read.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final

from otf.errors import UsageError
from otf.explore.analysis import dead, unsafe
from otf.explore.finding import taken
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.explore.refine import is_record
from otf.spec import Accept, AnyOrder, On, Where
from otf.values import show
from otf.values.arguments import checked

LONGEST: Final = 56  # characters of a label
LINES: Final = 5  # lines in the label of one arrow


@dataclass(frozen=True, slots=True)
class Marks:
    """The numbers of the states to mark in a picture: accepting, unsafe, dead (see `dead`), or cut by a bound."""

    accepting: frozenset[int] = frozenset()
    unsafe: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()
    cut: frozenset[int] = frozenset()

    def of(self, state: int) -> list[str]:
        """Return the marks of a state as words."""
        words = {
            "initial": frozenset([0]),
            "accepting": self.accepting,
            "unsafe": self.unsafe,
            "dead": self.dead,
            "cut": self.cut,
        }
        return [word for word, states in words.items() if state in states]


def marks(
    graph: Graph, accepting: Callable[[Any], object] | None = None, safe: Callable[[Any], object] | None = None
) -> Marks:
    """Return the marks of a graph. Without `accepting` a run may end in any state, and no state has that mark."""
    test = accepting or graph.accepting
    ends = frozenset(number for number, value in enumerate(graph.values) if test is not None and test(value))
    bad = frozenset(unsafe(graph, safe)) if safe is not None else frozenset[int]()
    return Marks(ends, bad, frozenset(dead(graph, accepting)), frozenset(graph.edge))


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text, cut at `longest` characters.

    >>> short("a rather long label", 10)
    'a rather …'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def state_text(graph: Graph, state: int) -> str:
    """Return a state as text."""
    return _bare(graph.values[state])


def arc_text(graph: Graph, arc: Arc) -> str:
    """Return a transition as text: input / outputs, and its times in brackets."""
    return f"{taken(graph, arc.input, arc.outputs)}{times_text(graph, arc)}"


def times_text(graph: Graph, arc: Arc) -> str:
    """Return the times of a transition in brackets; "" if it has none."""
    words = graph.times.get(arc)
    return f"  [{words}]" if words else ""


def lines(texts: list[str], most: int = LINES) -> list[str]:
    """Return the first `most` of some texts, shortened, as lines; the last line counts the texts that are left out."""
    shown = [short(text) for text in texts[:most]]
    return shown if len(texts) <= most else [*shown[:-1], f"… {len(texts) - most + 1} more"]


def compact(value: Any) -> str:  # noqa: ANN401 -- any value
    """Return a value as briefly as possible: no field names, no quotation marks.

    >>> compact(("n1", 2, frozenset())), compact(AnyOrder("b", "a"))
    ('(n1, 2, {})', '{b, a}')
    """
    if isinstance(value, str):
        return value if value.isprintable() and value else show(value)
    if isinstance(value, Enum):
        return value.name if type(value).__repr__ is Enum.__repr__ else show(value)
    if value.__class__ is frozenset:
        return f"{{{', '.join(sorted(map(compact, value)))}}}"
    if value.__class__ is tuple:
        return f"({', '.join(map(compact, value))})"
    return _item(value) or (_record(value) if is_record(value) else show(value))


def _record(value: Any) -> str:  # noqa: ANN401 -- a dataclass
    parts = [compact(getattr(value, field.name)) for field in fields(value)]
    return type(value).__name__ + (f"({', '.join(parts)})" if parts else "")


def _item(value: object) -> str:
    """Return the text of an output item that is not a value; "" for a value."""
    match value:
        case AnyOrder(items):
            return f"{{{', '.join(map(compact, items))}}}"
        case On(port, item):
            return f"{compact(item)} on {port}"
        case Where(_, says):
            return says or "a test"
        case Accept():
            return "accepted"
        case type():
            return f"any {value.__name__}"
        case _:
            return ""


def state_label(graph: Graph, state: int) -> str:
    """Return the label of a state in a picture."""
    return compact(graph.values[state])


def arc_label(graph: Graph, arc: Arc) -> str:
    """Return the label of a transition in a picture: input / outputs, and its times in brackets."""
    inp = "(spontaneous)" if arc.input == SPONTANEOUS else compact(graph.inputs[arc.input])
    outputs = [text for each in graph.outputs[arc.outputs] if (text := compact(each)) != "{}"]
    return f"{inp} / {', '.join(outputs) or 'nothing'}{times_text(graph, arc)}"


def arrows(graph: Graph) -> dict[tuple[int, int], list[Arc]]:
    """Return the arrows of a picture: for each two states, all transitions from one to the other."""
    found: dict[tuple[int, int], list[Arc]] = {}
    for arc in graph.arcs():
        if arc.target != OPEN:
            found.setdefault((arc.source, arc.target), []).append(arc)
    return found


_KEYS = (("text", "node"), ("marks", "node"), ("label", "edge"))


@checked
def graphml(graph: Graph, marks: Marks | None = None) -> str:
    """Return a graph as GraphML: states with text and marks, transitions with labels, without open transitions."""
    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, kind in _KEYS:
        ET.SubElement(root, "key", {"id": name, "for": kind, "attr.name": name, "attr.type": "string"})
    drawn = ET.SubElement(root, "graph", id=_clean(graph.name or "model"), edgedefault="directed")
    for state in range(len(graph.values)):
        node = ET.SubElement(drawn, "node", id=f"s{state}")
        _data(node, "text", state_text(graph, state))
        _data(node, "marks", " ".join((marks or Marks()).of(state)))
    for arc in graph.arcs():
        if arc.target != OPEN:
            edge = ET.SubElement(drawn, "edge", source=f"s{arc.source}", target=f"s{arc.target}")
            _data(edge, "label", arc_text(graph, arc))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _data(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, "data", key=name).text = _clean(text)


def _clean(text: str) -> str:
    # XML cannot express most control characters
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)


def listed(graph: Graph, marks: Marks | None = None) -> str:
    """Return a graph as a table: each state with its marks, followed by its transitions.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> print(listed(explore(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))), end="")
        0  False  (initial)
             'press' / nothing  ->  1
        1  True
             'press' / nothing  ->  0
    """
    return "\n".join(_lines(graph, marks or Marks())) + "\n"


def _lines(graph: Graph, marks: Marks) -> Iterator[str]:
    for state in range(len(graph.values)):
        words = marks.of(state)
        yield f"{state:5}  {state_text(graph, state)}" + (f"  ({', '.join(words)})" if words else "")
        for arc in graph.arcs(state):
            yield f"         {arc_text(graph, arc)}  ->  {'?' if arc.target == OPEN else arc.target}"


def as_data(graph: Graph, marks: Marks | None = None) -> dict[str, Any]:
    """Return a graph as JSON data: states and transitions by number, values as texts."""
    return {
        "name": graph.name,
        "whole": graph.whole,
        "cuts": graph.cuts,
        "states": [
            {"number": state, "state": state_text(graph, state), "marks": (marks or Marks()).of(state)}
            for state in range(len(graph.values))
        ],
        "inputs": [show(inp) for inp in graph.inputs],
        "transitions": [
            {
                "source": arc.source,
                "input": None if arc.input < 0 else show(graph.inputs[arc.input]),
                "outputs": list(filter(None, taken(graph, arc.input, arc.outputs).outputs)),
                "target": None if arc.target == OPEN else arc.target,
                **({"times": graph.times[arc]} if arc in graph.times else {}),
            }
            for arc in graph.arcs()
        ],
    }


@checked
def aut(graph: Graph) -> str:
    """Return a graph as an Aldebaran file, with labels `input / outputs`; `otf.notations.read_aut` reads it back.

    Raises UsageError for a graph with transitions whose outputs decide the next state.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> print(aut(explore(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))), end="")
    des (0, 2, 2)
    (0, "press / nothing", 1)
    (1, "press / nothing", 0)
    """
    if OPEN in graph.target:
        message = f"{graph.name}: transitions whose outputs decide the next state cannot be written to an .aut file"
        raise UsageError(message)
    rows = [f'({arc.source}, "{_escaped(_label(graph, arc))}", {arc.target})' for arc in graph.arcs()]
    return "\n".join([f"des (0, {len(rows)}, {len(graph.values)})", *rows]) + "\n"


def _label(graph: Graph, arc: Arc) -> str:
    # texts stay as they are, so that a file which was read is written back unchanged
    inp = "(spontaneous)" if arc.input == SPONTANEOUS else _bare(graph.inputs[arc.input])
    plain = all(isinstance(each, str) for each in graph.outputs[arc.outputs])
    outputs = map(_bare, graph.outputs[arc.outputs]) if plain else taken(graph, arc.input, arc.outputs).outputs
    return f"{inp} / {', '.join(filter(None, outputs)) or 'nothing'}"


def _bare(value: object) -> str:
    return value if isinstance(value, str) else show(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@checked
def dot(graph: Graph, marks: Marks | None = None) -> str:
    r"""Return a graph in the DOT language: an arrow leads to the initial state, accepting states have two rims.

    Unsafe states are red, dead ones orange; states where a bound cut something off have a dashed rim. Long labels are
    cut; the tooltip has the whole text.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> print(dot(explore(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))).splitlines()[6])
      s0 [label="False", tooltip="False\ninitial"];
    """
    return "\n".join(_dot_lines(graph, marks or Marks())) + "\n"


def _dot_lines(graph: Graph, marks: Marks) -> Iterator[str]:
    yield f"digraph {_quoted(graph.name or 'model')} {{"
    yield '  rankdir=LR; bgcolor="white"; nodesep=0.35; ranksep=0.6;'
    yield '  node [shape=box, style="rounded,filled", fillcolor="#f5f7fa", color="#5b6b7b"];'
    yield '  node [fontname="Helvetica", fontsize=11];'
    yield '  edge [color="#5b6b7b", fontname="Helvetica", fontsize=10];'
    yield '  __start0 [label="", shape=none, width=0, height=0];'
    for state in range(len(graph.values)):
        yield f"  s{state} [{_node(graph, marks, state)}];"
    yield '  __start0 -> s0 [tooltip="initial state"];'
    for (source, target), arcs in arrows(graph).items():
        label = "".join(f"{_dot_escaped(line)}\\l" for line in lines([arc_label(graph, arc) for arc in arcs]))
        texts = "\n".join(arc_text(graph, arc) for arc in arcs)
        yield f'  s{source} -> s{target} [label="{label}", tooltip={_quoted(texts)}];'
    for at, arc in enumerate(arc for arc in graph.arcs() if arc.target == OPEN):
        yield f'  open{at} [label="?", shape=circle, tooltip="the outputs decide the next state"];'
        yield f"  s{arc.source} -> open{at} [label={_quoted(short(arc_label(graph, arc)))}];"
    yield "}"


def _node(graph: Graph, marks: Marks, state: int) -> str:
    text, words = state_text(graph, state), marks.of(state)
    tooltip = text + (f"\n{', '.join(words)}" if words else "")
    looks = [f"label={_quoted(short(state_label(graph, state)))}", f"tooltip={_quoted(tooltip)}"]
    if state in marks.accepting:
        looks.append("peripheries=2")
    if state in marks.unsafe:
        looks.append('fillcolor="#f4a6a0"')
    elif state in marks.dead:
        looks.append('fillcolor="#fbd38d"')
    if state in marks.cut:
        looks.append('style="rounded,filled,dashed"')
    return ", ".join(looks)


def _quoted(text: str) -> str:
    return f'"{_dot_escaped(text)}"'


def _dot_escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# these characters mean something in Mermaid, so each becomes a similar one
_HARMLESS = str.maketrans(
    {'"': "'", "<": "(", ">": ")", "&": "+", "#": "*", ":": ",", ";": ",", "{": "(", "}": ")", "`": "'"}
)


@checked
def mermaid(graph: Graph, marks: Marks | None = None) -> str:
    """Return a graph as a Mermaid state diagram; an arrow from a state to the end marks it as accepting.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> print(mermaid(explore(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))).splitlines()[-1])
      s1 --> s0 : press / nothing
    """
    return "\n".join(_mermaid_lines(graph, marks or Marks())) + "\n"


def _mermaid_lines(graph: Graph, marks: Marks) -> Iterator[str]:
    yield "stateDiagram-v2"
    yield "  direction LR"
    yield "  classDef unsafe fill:#f4a6a0"
    yield "  classDef dead fill:#fbd38d"
    yield "  classDef cut stroke-dasharray:5"
    for state in range(len(graph.values)):
        yield f'  state "{short(state_label(graph, state)).translate(_HARMLESS)}" as s{state}'
    yield "  [*] --> s0"
    for (source, target), arcs in arrows(graph).items():
        texts = [arc_label(graph, arc) for arc in arcs]
        yield f"  s{source} --> s{target} : {'<br/>'.join(line.translate(_HARMLESS) for line in lines(texts))}"
    for state in sorted(marks.accepting):
        yield f"  s{state} --> [*]"
    for word, states in (("unsafe", marks.unsafe), ("dead", marks.dead - marks.unsafe), ("cut", marks.cut)):
        if states:
            yield f"  class {','.join(f's{state}' for state in sorted(states))} {word}"
