"""Pictures of graphs: in the language of Graphviz, and in that of Mermaid, which many sites and editors draw."""

from __future__ import annotations

from collections.abc import Iterator

from otf.explore.graph import OPEN, Graph
from otf.explore.marks import Marks, arc_label, arc_text, arrows, lines, short, state_label, state_text


def dot(graph: Graph, marks: Marks | None = None) -> str:
    r"""Return a graph in the DOT language: an arrow leads to the initial state, accepting states have two rims.

    Unsafe states are red, dead ones orange, those from which a bound cut something off have a dashed rim. Long labels
    are cut; the tooltip has the whole text.

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
        label = "".join(f"{_escaped(line)}\\l" for line in lines([arc_label(graph, arc) for arc in arcs]))
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
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


# Mermaid gives these characters a meaning of its own: each becomes one that looks similar
_HARMLESS = str.maketrans(
    {'"': "'", "<": "(", ">": ")", "&": "+", "#": "*", ":": ",", ";": ",", "{": "(", "}": ")", "`": "'"}
)


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
