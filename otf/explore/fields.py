"""States by their fields: which there are, their values as texts, and the graph of states that agree in some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple

from otf.errors import UsageError
from otf.explore.graph import Graph
from otf.explore.refine import quotient
from otf.values import key, show

DEEPEST: Final = 3  # records inside records whose fields are shown one by one
CLIPPED: Final = 200  # characters of a field


class StateParts(NamedTuple):
    """A state by its fields: the name of its type, and each field by its path; a field that is a record has its own.

    A state without fields is one field without a name.

    >>> state_parts(("n1", 2))
    StateParts(kind='tuple', fields={'0': 'n1', '1': 2})
    """

    kind: str
    fields: dict[str, Any]


def state_parts(value: Any) -> StateParts:  # noqa: ANN401 -- any state
    """Return the fields of a state."""
    kind = type(value).__name__
    return StateParts(kind, dict(_parts(value))) if _is_split(value) else StateParts(kind, {"": value})


def _parts(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 -- as above
    for name, part in _named(value):
        # a record in a record: its type, and its own fields
        split = depth < DEEPEST and is_record(part)
        yield f"{path}{name}", type(part) if split else part
        if split:
            yield from _parts(part, f"{path}{name}.", depth + 1)


def _is_split(value: Any) -> bool:  # noqa: ANN401 -- as above
    return is_record(value) or (isinstance(value, tuple) and value != ())


def _named(value: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 -- as above
    if is_record(value):
        return ((field.name, getattr(value, field.name)) for field in fields(value))
    return zip(getattr(value, "_fields", map(str, range(len(value)))), value, strict=True)


def ordered(value: Any) -> str:  # noqa: ANN401 -- any value
    """Return a value as text, with the members of sets in a fixed order; a long one is cut between tokens.

    >>> ordered((frozenset({"b", "a"}), 1))
    "({'a', 'b'}, 1)"
    """
    return clipped(_ordered(value))


def _ordered(value: Any) -> str:  # noqa: ANN401 -- as above
    if isinstance(value, type):
        return value.__name__
    if value.__class__ is frozenset:
        return f"{{{', '.join(sorted(map(_ordered, value)))}}}"
    if value.__class__ is tuple:
        return f"({', '.join(map(_ordered, value))}{',' if len(value) == 1 else ''})"
    return show(value)


def clipped(text: str, longest: int = CLIPPED) -> str:
    """Return a text of at most about `longest` characters, cut between tokens, with the number of those left out.

    >>> clipped("(first, second, third)", 12)
    '(first, … (14 more characters)'
    """
    if len(text) <= longest:
        return text
    at = max(text.rfind(mark, 0, longest) + 1 for mark in " ,(") or longest
    return f"{text[:at].rstrip()} … ({len(text) - at} more characters)"


def is_record(value: object) -> bool:
    """Return whether a value is a dataclass that says no more of itself than its fields."""
    # a class with a `__repr__` of its own knows better
    made = getattr(type(value).__repr__, "__wrapped__", None)
    return is_dataclass(value) and not isinstance(value, type) and made is not None


def grouped(graph: Graph, by: Sequence[str]) -> Graph:
    """Return the graph of the groups of states that have the same values in these fields; `type` is that of the state.

    Raises UsageError, with the fields that there are, for one that no state has.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> graph = explore(Spec(lambda at, inp: [goto((at[0], not at[1]))], (7, False), ["press"]))
    >>> grouped(graph, ["0"]).values
    ['0=7 (2 states)']
    """
    parts = [state_parts(value) for value in graph.values]
    known = dict.fromkeys(["type", *(name for each in parts for name in each.fields if name)])
    if not by or not set(by) <= known.keys():
        message = f"the states have no field {', '.join(set(by) - known.keys()) or 'without a name'}"
        raise UsageError(f"{message}; group them by one or more of {', '.join(known)}")
    keys: list[Hashable] = [tuple(_field_key(each, name) for name in by) for each in parts]
    counts = Counter(keys)
    first = dict(zip(reversed(keys), reversed(parts), strict=True))
    texts = [_group_text(first[each], by, counts[each]) for each in dict.fromkeys(keys)]
    return quotient(graph, keys, texts)


def _field_key(parts: StateParts, name: str) -> Hashable:
    if name in parts.fields:
        return key(parts.fields[name])
    return parts.kind if name == "type" else None


def _group_text(parts: StateParts, by: Sequence[str], count: int) -> str:
    pairs = [
        parts.kind if name == "type" and name not in parts.fields else f"{name}={ordered(parts.fields[name])}"
        for name in by
        if name == "type" or name in parts.fields
    ]
    return f"{', '.join(pairs) or 'the others'} ({count:,} state{'' if count == 1 else 's'})"
