"""The graph of a spec: numbers in arrays, so that a million states fit in memory, and objects only on demand."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

from otf.core import Node, Routes, Symbol
from otf.trace.result import counted
from otf.values import key

T = TypeVar("T", bound=Hashable)
SPONTANEOUS: Final = -1  # instead of the number of an input
OPEN: Final = -1  # instead of the number of a state, where the outputs decide it


class Edge(NamedTuple):
    """A transition of a `Graph`, with its states and its input as values.

    `source` is the state in which the transition begins. `input` is None if the transition needs no input. `outputs`
    lists the outputs as texts. `target` is the next state, or None if the outputs decide the next state.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> edge = explore(Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])).transitions[0]
    >>> edge.source.value, edge.input.value, edge.outputs, edge.target.value
    (False, 'press', ("'click'",), True)
    """

    source: Node
    input: Symbol | None
    outputs: tuple[str, ...]
    target: Node | None


class Arc(NamedTuple):
    """A transition of a `Graph` as numbers: indices into the graph's `values`, `inputs` and `outputs`.

    `source` is the index of the state in which the transition begins. `input` is -1 if the transition needs no input.
    `target` is -1 if the outputs decide the next state.

    >>> Arc(source=0, input=0, outputs=0, target=1).target
    1
    """

    source: int
    input: int
    outputs: int
    target: int


def _numbers() -> array[int]:
    return array("l")


@dataclass
class Graph:
    """The states of a model in the order of a breadth-first search, with their transitions.

    `values` lists the states. `inputs` and `outputs` list the inputs and outputs of all transitions. `states` and
    `transitions` contain objects, and `arcs` yields the transitions as indices. `frontier` lists the states at which a
    bound ended the search. `cuts` maps each bound to the number of states at which the bound ended the search. `whole`
    is true if the graph contains every reachable state. `bounds` describes the bounds. `name` is the name of the spec.
    `accepting` is the function that says whether a path may end in a state.

    The graph keeps its transitions in a table, one row for each transition. `begin[state]` is the index of the state's
    first row in the table. `input`, `output` and `target` are the columns of the table (indices into `inputs`,
    `outputs` and `values`). `texts` contains `outputs` as texts. `parent[state]` is the index of the row that first led
    to the state. `edge` lists the numbers of the states in `frontier`. `lists` contains each distinct list of enabled
    inputs once, and `offer[state]` is the index of the state's list.

    >>> from otf.explore import explore
    >>> from otf.spec import Spec, goto
    >>> graph = explore(Spec(lambda lit, inp: [goto(not lit)], False, ["press"], name="lamp"))
    >>> graph.values, list(graph.arcs())
    ([False, True], [Arc(source=0, input=0, outputs=0, target=1), Arc(source=1, input=0, outputs=0, target=0)])
    >>> graph.offered(0), graph.way(1)
    ((0,), [Arc(source=0, input=0, outputs=0, target=1)])
    """

    name: str = ""
    values: list[Any] = field(default_factory=list[Any])
    inputs: list[Any] = field(default_factory=list[Any])
    outputs: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    texts: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    # where the transitions of a state begin, and the columns of the table of transitions
    begin: array[int] = field(default_factory=_numbers)
    input: array[int] = field(default_factory=_numbers)
    output: array[int] = field(default_factory=_numbers)
    target: array[int] = field(default_factory=_numbers)
    parent: array[int] = field(default_factory=_numbers)
    # the different lists of enabled inputs, and the number of each state's list
    lists: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    offer: array[int] = field(default_factory=_numbers)
    cuts: dict[str, int] = field(default_factory=dict[str, int])
    bounds: dict[str, str] = field(default_factory=dict[str, str])
    edge: list[int] = field(default_factory=list[int])
    accepting: Any = None
    # the descriptions of time windows and timers, for transitions that have some
    times: dict[Arc, str] = field(default_factory=dict[Arc, str])

    @property
    def whole(self) -> bool:
        """Return whether the graph contains every reachable state, so that otf can prove laws on the graph."""
        return not self.edge and OPEN not in self.target

    @property
    def size(self) -> str:
        """Return the numbers of states and transitions of the graph as text."""
        return f"{counted(len(self.values), 'state')}, {counted(len(self.target), 'transition')}"

    @property
    def beyond(self) -> str:
        """Return as text that a bound ended the search, and at how many states."""
        cuts = ", ".join(self.cuts)
        return f"the model has more: from {len(self.edge):,} of these states, the search did not go on ({cuts})"

    def within(self) -> list[str]:
        """Return texts that describe the bounds on values, and the bounds on steps or states that ended the search."""
        return [says for bound, says in self.bounds.items() if bound == "values" or bound in self.cuts]

    def arcs(self, state: int | None = None) -> Iterator[Arc]:
        """Yield each transition of the graph, or of one state, as an `Arc`."""
        for source in range(len(self.begin) - 1) if state is None else (state,):
            for at in range(*self.span(source)):
                yield Arc(source, self.input[at], self.output[at], self.target[at])

    def offered(self, state: int) -> tuple[int, ...]:
        """Return the indices of the inputs that the search tried in a state."""
        return self.lists[self.offer[state]] if self.offer[state] >= 0 else ()

    def span(self, state: int) -> tuple[int, int]:
        """Return the index of a state's first row in the table of transitions, and the index after its last row."""
        return (self.begin[state], self.begin[state + 1]) if state + 1 < len(self.begin) else (0, 0)

    @cached_property
    def states(self) -> tuple[Node, ...]:
        """Return the states, in the order of discovery."""
        return tuple(Node(value, key(value)) for value in self.values)

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """Return the inputs."""
        return tuple(Symbol(value, key(value)) for value in self.inputs)

    @cached_property
    def transitions(self) -> tuple[Edge, ...]:
        """Return the transitions, in the order of the states, then of the spec's inputs."""
        states, symbols = self.states, self.symbols
        return tuple(
            Edge(
                states[arc.source],
                None if arc.input == SPONTANEOUS else symbols[arc.input],
                self.texts[arc.outputs],
                None if arc.target == OPEN else states[arc.target],
            )
            for arc in self.arcs()
        )

    @property
    def frontier(self) -> tuple[Node, ...]:
        """Return the states at which a bound ended the search."""
        return tuple(self.states[number] for number in self.edge)

    def way(self, state: int) -> list[Arc]:
        """Return the steps of a shortest path from the initial state to the given state."""
        back: list[Arc] = []
        while state:
            at = self.parent[state]
            source = self.source(at)
            back.append(Arc(source, self.input[at], self.output[at], state))
            state = source
        return back[::-1]

    def source(self, at: int) -> int:
        """Given a row of the table of transitions, return the index of the state in which the transition begins."""
        low, high = 0, len(self.begin) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.begin[middle] <= at else (low, middle)
        return low


def reaching(arrows: Iterable[tuple[T, T]], goals: Iterable[T]) -> set[T]:
    """Return the goals, and all nodes from which arrows lead to a goal; an arrow is a pair of a source and a target.

    >>> sorted(reaching([("a", "b"), ("b", "c"), ("d", "d")], ["c"]))
    ['a', 'b', 'c']
    """
    before = defaultdict[T, list[T]](list)
    for source, target in arrows:
        before[target].append(source)
    found = set(goals)
    left = list(found)
    while left:
        new = [source for source in before[left.pop()] if source not in found]
        found.update(new)
        left += new
    return found


class Portless(Routes):
    """An empty table of ports, for exploring a model without a bench."""

    def of(self, value: object) -> str:
        """Return "", since there is no port."""
        del value
        return ""

    def only(self, what: str, written: str = "") -> str:
        """Return "", since there is no port."""
        del what, written
        return ""

    def known(self, port: str, what: str) -> str:
        """Return the port unchanged: a model without a bench may use any name."""
        del what
        return port
