"""A model's states as data for the pages where a reader clicks through them, and such a page.

The browser draws the pictures (`states.js`), each of a readable part: around a state, the visited part, or groups of
states that agree in fields chosen by the reader.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otf.explore.exports import Marks, times_text
from otf.explore.finding import taken
from otf.explore.graph import Graph
from otf.explore.refine import ordered, state_parts
from otf.explore.space import Space, VisitedSpace
from otf.report.markup import Markup, NumberedEntries, framed, joined, own, packed_data, tag
from otf.trace.result import counted
from otf.values import key, show

SCRIPTS: Final = ("widgets.js", "page.js", "drawing.js", "states.js")
STATES: Final = 20_000  # in a page: a browser handles that many in a blink, and the nearest come first
ARCS: Final = 200_000
OPEN: Final = -1  # instead of a state's number: the outputs decide the state
BEYOND: Final = -2  # it is beyond a bound
MARK: Final = "otf report of a model"
BROKEN: Final = re.compile(r"([^:\n]+): (no|refuted)\b")
"""The first line of a law that does not hold, as `otf check` tells it."""


@dataclass(slots=True)
class _Columns:
    """States and transitions as columns of numbers, which the script reads."""

    name: str
    rows: list[list[int]] = field(default_factory=list[list[int]])
    kinds: NumberedEntries = field(default_factory=NumberedEntries)
    arcs: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    times: dict[int, str] = field(default_factory=dict[int, str])
    fields: NumberedEntries = field(default_factory=NumberedEntries)
    texts: NumberedEntries = field(default_factory=NumberedEntries)
    inputs: NumberedEntries = field(default_factory=NumberedEntries)
    outputs: NumberedEntries = field(default_factory=NumberedEntries)

    def state(self, value: object) -> None:
        """Add the next state."""
        parts = state_parts(value)
        names = [self.fields.number(name, name) for name in parts.fields]
        kind = self.kinds.number({"name": parts.kind, "fields": names}, (parts.kind, *names))
        # by text alone, 1 and '1' would be one value
        self.rows.append([kind, *(self.texts.number(ordered(each), key(each)) for each in parts.fields.values())])

    def data(self, by: Sequence[str] = (), **more: object) -> dict[str, Any]:
        """Return everything as JSON data; `by` lists fields to group the states by."""
        names = self.fields.entries
        source, inp, output, target = zip(*self.arcs, strict=True) if self.arcs else ((),) * 4
        known = [names.index(each) if each in names else -1 for each in by]
        return {
            "name": self.name,
            "kinds": self.kinds.entries,
            "fields": names,
            "texts": self.texts.entries,
            "states": self.rows,
            "inputs": self.inputs.entries,
            "outputs": self.outputs.entries,
            "source": source,
            "input": inp,
            "output": output,
            "target": target,
            "times": self.times,
            "marks": {},
            "by": known or None,
            **more,
        }


def graph_data(graph: Graph, marks: Marks, by: Sequence[str] = ()) -> dict[str, Any]:
    """Return the nearest states of a graph, with their transitions, as JSON data."""
    made = _Columns(graph.name)
    for value in graph.values[:STATES]:
        made.state(value)
    for inp in graph.inputs:
        made.inputs.number(show(inp), len(made.inputs.entries))
    for state in range(len(made.rows)):
        for arc in graph.arcs(state):
            if len(made.arcs) >= ARCS:
                break
            texts = ", ".join(filter(None, taken(graph, arc.input, arc.outputs).outputs)) or "no output"
            if times := times_text(graph, arc):
                made.times[len(made.arcs)] = times
            target = arc.target if arc.target < len(made.rows) else BEYOND
            made.arcs.append((state, arc.input, made.outputs.number(texts, texts), target))
    words = {"accepting": marks.accepting, "unsafe": marks.unsafe, "dead end": marks.dead, "cut by a bound": marks.cut}
    found = {word: sorted(states) for word, states in words.items() if states}
    return made.data(by, marks=found, whole=len(graph.target) <= ARCS)


def space_data(
    space: Space, visits: VisitedSpace, failed: Collection[tuple[str, str]], name: str = ""
) -> dict[str, Any]:
    """Return a model's states, and what a campaign visited, as JSON data. `failed` has states and inputs as texts."""
    made, went = _Columns(name), list[int]()
    numbers = {each: number for number, each in enumerate(space.states)}
    for each, text in space.states.items():
        made.state(space.values.get(each, text))
    ways = [(*pair, way) for pair, found in space.pairs.items() for way in found]
    ways += [(source, None, way) for (source, _), way in space.spontaneous.items()]
    for source, inp, way in ways[:ARCS]:
        number = -1 if inp is None else made.inputs.number(way.input, inp)
        target = numbers.get(way.to, BEYOND) if way.target else OPEN
        if (source, inp, way.to) in visits.edges:
            went.append(len(made.arcs))
        made.arcs.append((numbers[source], number, made.outputs.number(way.outputs, way.outputs), target))
    # the model need not specify the input on which a run failed: then only the state is known
    states = {text: numbers[each] for each, text in space.states.items()}
    inputs = {text: number for number, text in enumerate(made.inputs.entries)}
    wrong = sorted({(states[state], inputs.get(inp, -1)) for state, inp in failed if state in states})
    # a shrunk run counts for no coverage, nor does a state left before it was settled: either may be where a run failed
    visited = {numbers[each] for each in visits.states if each in numbers} | {state for state, _ in wrong}
    return made.data(visited=sorted(visited), went=went, failed=wrong)


def walk(data: dict[str, Any]) -> Markup:
    """Return the part of a page where a reader clicks through the states; it needs `states.js`."""
    return joined(tag("div", id="states-walk"), packed_data("states-data", data))


def model_page(
    graph: Graph, marks: Marks, laws: Mapping[str, int | None], by: Sequence[str] = (), command: str = ""
) -> str:
    """Return a page about a model alone: its laws, and its states to click through.

    Each law, as text, has the number of the state that breaks it, if any. `command` is the command that walks through
    the model in a terminal; "" if there is none.

    >>> from otf.explore import explore
    >>> from otf.explore.exports import Marks
    >>> from otf.models.coffee import coffee
    >>> model_page(explore(coffee), Marks(), {"no dead end: proven": None})[:15]
    '<!DOCTYPE html>'
    """
    some = [
        f"{most:,} {what}"
        for whole, most, what in ((len(graph.values), STATES, "states"), (len(graph.target), ARCS, "transitions"))
        if whole > most
    ]
    note = f" The nearest {' and '.join(some)} are in this page." if some else ""
    bound = (
        ""
        if graph.whole
        else f"; {graph.beyond if graph.edge else 'it is not whole: some outputs decide the next state'}"
    )
    top = tag(
        "header",
        tag("a", "to the content", href="#content", class_="skip"),
        tag("h1", f"otf explore: {graph.name}"),
        tag("p", f"{graph.size}{bound}.{note}", class_="soft"),
        _laws(laws),
        tag("nav", tag("button", "light or dark", id="theme", type="button")),
    )
    main = tag("main", tag("h2", "States"), walk({**graph_data(graph, marks, by), "command": command}), id="content")
    title = f"otf explore: {graph.name}"
    styles = own("page.css") + own("states.css")
    return framed(title, styles, "".join(map(own, SCRIPTS)), top, main, mark=MARK)


def _laws(laws: Mapping[str, int | None]) -> Markup:
    """Return the laws of a model; the head names those that do not hold, each has a link to a state that breaks it."""
    broken = [found[1] for found in map(BROKEN.match, laws) if found]
    says = f"{counted(len(laws), 'law')}{'; these do not hold: ' if broken else ''}{', '.join(broken)}"
    shown = (joined(tag("pre", text, class_="text"), _breaking(state)) for text, state in laws.items())
    return tag("details", tag("summary", says), *shown)


def _breaking(state: int | None) -> Markup:
    if state is None or state >= STATES:
        return Markup()
    return tag("p", tag("a", f"go to state {state}, which breaks it", href=f"#state-{state}"))


def legend() -> Markup:
    """Return the legend of a picture of states: what its colours and lines mean."""
    kinds = {
        "visited": "visited",
        "partly": "some of several visited",
        "unvisited": "not visited",
        "failed": "failed",
        "spontaneous": "spontaneous (not counted)",
    }
    return joined(*(tag("span", text, class_=f"key {kind}") for kind, text in kinds.items()))
