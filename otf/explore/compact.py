"""Values as short as they can be read: for pictures, where `Join(nick='n1', conf='c1')` is too long."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.spec import Accept, AnyOrder, On, Where
from otf.values import show


def compact(value: Any) -> str:  # noqa: ANN401 -- any value
    """Return a value without the names of its fields, texts without quotation marks.

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
    return _item(value) or (_record(value) if _is_record(value) else show(value))


def _is_record(value: object) -> bool:
    # a class that says itself how it is shown knows better
    made = getattr(type(value).__repr__, "__wrapped__", None)
    return is_dataclass(value) and not isinstance(value, type) and made is not None


def _record(value: Any) -> str:  # noqa: ANN401 -- a dataclass
    parts = [compact(getattr(value, field.name)) for field in fields(value)]
    return type(value).__name__ + (f"({', '.join(parts)})" if parts else "")


def _item(value: object) -> str:
    """Return an item of outputs that is no value; "" for a value."""
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
    """Return a state for a picture."""
    return compact(graph.values[state])


def arc_label(graph: Graph, arc: Arc) -> str:
    """Return a transition for a picture: input / outputs."""
    asked = "(unasked)" if arc.input == SPONTANEOUS else compact(graph.inputs[arc.input])
    said = [text for each in graph.outputs[arc.outputs] if (text := compact(each)) != "{}"]
    return f"{asked} / {', '.join(said) or 'nothing'}"


def arrows(graph: Graph) -> dict[tuple[int, int], list[Arc]]:
    """Return the transitions between each two states: one arrow for all."""
    found: dict[tuple[int, int], list[Arc]] = {}
    for arc in graph.arcs():
        if arc.target != OPEN:
            found.setdefault((arc.source, arc.target), []).append(arc)
    return found
