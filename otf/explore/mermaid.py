"""Graphs in the language of Mermaid, which many sites and editors draw."""

from __future__ import annotations

from collections.abc import Iterator

from otf.explore.compact import arc_label, arrows, state_label
from otf.explore.graph import Graph
from otf.explore.marks import Marks, lines, short

# what Mermaid takes for signs of its own, as what looks like it
_HARMLESS = str.maketrans(
    {'"': "'", "<": "(", ">": ")", "&": "+", "#": "*", ":": ",", ";": ",", "{": "(", "}": ")", "`": "'"}
)


def mermaid(graph: Graph, marks: Marks | None = None) -> str:
    """Return a graph as a Mermaid state diagram; an arrow from a state to the end marks it as accepting."""
    return "\n".join(_lines(graph, marks or Marks())) + "\n"


def _lines(graph: Graph, marks: Marks) -> Iterator[str]:
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
