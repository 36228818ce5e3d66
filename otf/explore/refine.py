"""Smaller graphs: bisimilar states, or states that agree in some of their fields, become one.

This is partition refinement; it examines only states whose successors moved to another set. The largest part of a split
set keeps its number, so that each state moves at most log n times (Hopcroft 1971; Valmari 2009).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from otf.errors import UsageError
from otf.explore.graph import OPEN, Graph
from otf.explore.naming import observed, output_name
from otf.trace.result import counted
from otf.values import key, show

DRAWN: Final = 300  # states to draw one by one: Graphviz takes 3 s for 300, and more than 30 s for a thousand
Arcs: TypeAlias = Sequence[Sequence[tuple[Hashable, int]]]  # for each state, labels and next states
_BlockSignature: TypeAlias = frozenset[tuple[Hashable, int]]

CUT: Final = -2  # instead of the number of an input: anything beyond a bound


def refine(arcs: Arcs) -> list[int]:
    """Return for each state the number of its block of bisimilar states; blocks are in the order of their first states.

    >>> refine([[("a", 1)], [("a", 0)], [("b", 0)]])
    [0, 0, 1]
    """
    parts = _Parts(arcs)
    while parts.moved:
        parts.look_again()
    known: dict[int, int] = {}
    return [known.setdefault(block, len(known)) for block in parts.block]


class _Parts:
    """The sets, as stretches of one list of states; states to examine again come first in their set."""

    def __init__(self, arcs: Arcs) -> None:
        size = len(arcs)
        self._arcs = arcs
        self._before = defaultdict[int, set[int]](set)
        for state, row in enumerate(arcs):
            for _, target in row:
                self._before[target].add(state)
        self.block = [0] * size
        self._states, self._place = list(range(size)), list(range(size))
        self._stretch = [(0, size)]
        self.moved: set[int] = set(range(size))  # states to examine again

    def look_again(self) -> None:
        """Split the sets of all states whose successors have moved."""
        marked = self._marked()
        # examine all before moving any: the signatures of untouched states stay valid meanwhile
        groups = [self._groups(block, count) for block, count in marked.items()]
        self.moved = set()
        for block, parts in zip(marked, groups, strict=True):
            self._split(block, parts)

    def _marked(self) -> dict[int, int]:
        """Move the marked states to the front of their stretches; return how many there are in each."""
        counts = defaultdict[int, int](int)
        for state in self.moved:
            block = self.block[state]
            self._swap(self._place[state], self._stretch[block][0] + counts[block])
            counts[block] += 1
        return counts

    def _groups(self, block: int, count: int) -> list[list[int]]:
        """Return the marked states of a set by signature; those that match the unmarked ones come last."""
        begin, end = self._stretch[block]
        groups = defaultdict[_BlockSignature, list[int]](list)
        for state in self._states[begin : begin + count]:
            groups[self._signature(state)].append(state)
        alike = groups.pop(self._signature(self._states[begin + count]), []) if begin + count < end else []
        return [*groups.values(), alike]

    def _split(self, block: int, parts: list[list[int]]) -> None:
        begin, end = self._stretch[block]
        place, stretches = begin, list[tuple[int, int]]()
        for part in parts:
            stretches.append((place, place + len(part)))
            for state in part:
                self._states[place], self._place[state] = state, place
                place += 1
        stretches[-1] = (stretches[-1][0], end)
        *smaller, largest = sorted(filter(_length, stretches), key=_length)
        self._stretch[block] = largest
        for stretch in smaller:
            self._move(stretch)

    def _move(self, stretch: tuple[int, int]) -> None:
        for state in self._states[slice(*stretch)]:
            self.block[state] = len(self._stretch)
            self.moved |= self._before[state]
        self._stretch.append(stretch)

    def _swap(self, one: int, other: int) -> None:
        states, place = self._states, self._place
        states[one], states[other] = states[other], states[one]
        place[states[one]], place[states[other]] = one, other

    def _signature(self, state: int) -> _BlockSignature:
        return frozenset([(label, self.block[at] if at >= 0 else at) for label, at in self._arcs[state]])


def _length(stretch: tuple[int, int]) -> int:
    return stretch[1] - stretch[0]


def blocks(graph: Graph) -> list[int]:
    """Return the number of each state's block: the states of a block behave alike (they are bisimilar).

    A state at which a bound ended the search has a block of its own.
    """
    seen: dict[Any, int] = {}
    labels = [seen.setdefault(output_name(observed(each)), len(seen)) for each in graph.outputs]
    rows = [
        [((arc.input, labels[arc.outputs]), arc.target) for arc in graph.arcs(state)]
        for state in range(len(graph.values))
    ]
    for state in graph.edge:
        rows[state].append(((CUT, state), state))
    return refine(rows)


def quotient(graph: Graph, groups: Sequence[Hashable], texts: Sequence[str] = ()) -> Graph:
    """Return the graph of groups of states, in the order of their first states; equal transitions become one."""
    numbers: dict[Hashable, int] = {}
    of = [numbers.setdefault(group, len(numbers)) for group in groups]
    made = Graph(graph.name, inputs=graph.inputs, outputs=graph.outputs, texts=graph.texts, cuts=graph.cuts)
    made.values = [texts[group] if texts else graph.values[of.index(group)] for group in range(len(numbers))]
    arcs: list[dict[tuple[int, int, int], None]] = [{} for _ in numbers]
    for arc in graph.arcs():
        target = OPEN if arc.target == OPEN else of[arc.target]
        arcs[of[arc.source]].setdefault((arc.input, arc.outputs, target))
    for row in arcs:
        made.begin.append(len(made.target))
        for inp, outputs, target in row:
            made.input.append(inp)
            made.output.append(outputs)
            made.target.append(target)
    made.begin.append(len(made.target))
    made.edge = sorted({of[state] for state in graph.edge})
    return made


def drawable(graph: Graph, most: int = DRAWN) -> tuple[Graph, str]:
    """Return a graph that is small enough to draw, and a note on how it was reduced, "" if it was not.

    Bisimilar states become one; if that is not enough, states of the same type at the same distance do.
    """
    if len(graph.values) <= most:
        return graph, ""
    alike = blocks(graph)
    if max(alike) < most:
        return quotient(
            graph, alike
        ), f"{len(graph.values):,} states are too many to draw: states that are alike are drawn as one"
    levels = depths(graph)
    kinds = [(level, type(value).__name__) for level, value in zip(levels, graph.values, strict=True)]
    names = list(dict.fromkeys(kinds))
    texts = [f"{kinds.count(each):,} x {each[1]} after {each[0]}" for each in names]
    done = f"{len(graph.values):,} states are too many to draw: those of a type and distance are drawn as one"
    return quotient(graph, kinds, texts), done


def depths(graph: Graph) -> list[int]:
    """Return the distance of each state from the initial one, in transitions."""
    found = [0] * len(graph.values)
    for state in range(1, len(graph.values)):
        found[state] = found[graph.source(graph.parent[state])] + 1
    return found


DEEPEST: Final = 3  # levels of nested records whose fields are shown one by one
CLIPPED: Final = 200  # characters of a field


class StateParts(NamedTuple):
    """A state by its fields: the name of its type, and each field by its path, down into nested records.

    A state without fields counts as one nameless field.

    >>> state_parts(("n1", 2))
    StateParts(kind='tuple', fields={'0': 'n1', '1': 2})
    """

    kind: str
    fields: dict[str, Any]


def state_parts(value: Any) -> StateParts:  # noqa: ANN401 -- any state
    """Return the fields of a state."""
    kind = type(value).__name__
    has_fields = is_record(value) or (isinstance(value, tuple) and value != ())
    return StateParts(kind, dict(_parts(value)) if has_fields else {"": value})


def _parts(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 -- as above
    for name, part in _named(value):
        # a nested record: its type, and its fields
        split = depth < DEEPEST and is_record(part)
        yield f"{path}{name}", type(part) if split else part
        if split:
            yield from _parts(part, f"{path}{name}.", depth + 1)


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
    """Return a text of about `longest` characters at most, cut between tokens, with the number of those left out.

    >>> clipped("(first, second, third)", 12)
    '(first, … (14 more characters)'
    """
    if len(text) <= longest:
        return text
    at = max(text.rfind(mark, 0, longest) + 1 for mark in " ,(") or longest
    return f"{text[:at].rstrip()} … ({len(text) - at} more characters)"


def is_record(value: object) -> bool:
    """Return whether a value is a dataclass without a `__repr__` of its own."""
    # a class with its own `__repr__` knows better
    made = getattr(type(value).__repr__, "__wrapped__", None)
    return is_dataclass(value) and not isinstance(value, type) and made is not None


def grouped(graph: Graph, by: Sequence[str]) -> Graph:
    """Return the graph of groups of states with the same values in these fields; `type` is the state's type.

    Raises UsageError, with the existing fields, for one that no state has.

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
    return f"{', '.join(pairs) or 'the others'} ({counted(count, 'state')})"
