"""Which states a picture marks, and texts of a length that can be read in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from otf.explore.analysis import dead, unsafe
from otf.explore.finding import taken
from otf.explore.graph import Arc, Graph
from otf.values import show

LONGEST: Final = 56  # characters of a label
LINES: Final = 5  # of the labels of one arrow


@dataclass(frozen=True, slots=True)
class Marks:
    """The numbers of accepting, unsafe, dead and cut states."""

    accepting: frozenset[int] = frozenset()
    unsafe: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()
    cut: frozenset[int] = frozenset()

    def of(self, state: int) -> list[str]:
        """Return the words for a state."""
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
    """Return the marks of a graph; without a test all states are accepting, and none is marked so."""
    test = accepting or graph.accepting
    ends = frozenset(number for number, value in enumerate(graph.values) if test is not None and test(value))
    bad = frozenset(unsafe(graph, safe)) if safe is not None else frozenset[int]()
    return Marks(ends, bad, frozenset(dead(graph, accepting)), frozenset(graph.edge))


def short(text: str, longest: int = LONGEST) -> str:
    """Return a text that is no longer than it may be.

    >>> short("a rather long label", 10)
    'a rather …'
    """
    return text if len(text) <= longest else text[: longest - 1] + "…"


def state_text(graph: Graph, state: int) -> str:
    """Return a state as text."""
    value = graph.values[state]
    return value if isinstance(value, str) else show(value)


def arc_text(graph: Graph, arc: Arc) -> str:
    """Return a transition as text: input / outputs."""
    return str(taken(graph, arc.input, arc.outputs))


def lines(texts: list[str], most: int = LINES) -> list[str]:
    """Return the first texts, shortened, and how many more there are."""
    shown = [short(text) for text in texts[:most]]
    return shown if len(texts) <= most else [*shown[:-1], f"… {len(texts) - most + 1} more"]
