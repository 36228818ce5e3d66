"""Marks and labels for pictures and tables: which states stand out, and values short enough to read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final

from otf.explore.analysis import dead, unsafe
from otf.explore.fields import is_record
from otf.explore.finding import taken
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.spec import Accept, AnyOrder, On, Where
from otf.values import show

LONGEST: Final = 56  # characters of a label
LINES: Final = 5  # of the labels of one arrow


@dataclass(frozen=True, slots=True)
class Marks:
    """The numbers of the states to mark: accepting, unsafe, dead (see `dead`), or cut by a bound."""

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
    """Return the marks of a graph. Without `accepting` a run may end in any state, and none is marked."""
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
    value = graph.values[state]
    return value if isinstance(value, str) else show(value)


def arc_text(graph: Graph, arc: Arc) -> str:
    """Return a transition as text: input / outputs, and its times in brackets."""
    return f"{taken(graph, arc.input, arc.outputs)}{times_text(graph, arc)}"


def times_text(graph: Graph, arc: Arc) -> str:
    """Return the times of a transition in brackets; "" if it has none."""
    words = graph.times.get(arc)
    return f"  [{words}]" if words else ""


def lines(texts: list[str], most: int = LINES) -> list[str]:
    """Return the first `most` texts, shortened; the last line counts those left out."""
    shown = [short(text) for text in texts[:most]]
    return shown if len(texts) <= most else [*shown[:-1], f"… {len(texts) - most + 1} more"]


def compact(value: Any) -> str:  # noqa: ANN401 -- any value
    """Return a value as short as it can be read: no field names, no quotation marks.

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
    """Return the text of an item of outputs that is not a value; "" for a value."""
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
    """Return the transitions between each two states, which one arrow shows together."""
    found: dict[tuple[int, int], list[Arc]] = {}
    for arc in graph.arcs():
        if arc.target != OPEN:
            found.setdefault((arc.source, arc.target), []).append(arc)
    return found
