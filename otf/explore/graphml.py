"""Graphs as GraphML, which graph tools read."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from otf.explore.graph import OPEN, Graph
from otf.explore.marks import Marks, arc_text, state_text

_KEYS = (("text", "node"), ("marks", "node"), ("label", "edge"))


def graphml(graph: Graph, marks: Marks | None = None) -> str:
    """Return a graph as GraphML: states with their text and marks, transitions with their label."""
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
    # XML has no way to write most control characters
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)
