"""Exploration: breadth first, in the spec's own order, at a cost proportional to the number of transitions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from otf.core.compile import spread
from otf.core.expectations import texts_of
from otf.core.model_calls import CURRENT
from otf.errors import ModelError, OtfError, UsageError
from otf.explore.graph import OPEN, SPONTANEOUS, Arc, Graph
from otf.explore.naming import Alike, is_flat, name, output_name
from otf.spec import Accept, Spec, Transition
from otf.spec.offering import INPUTS, TRANSITIONS, Always, limited
from otf.spec.transition import in_words, is_transition
from otf.trace.result import counted
from otf.values import Values, show
from otf.values.all_values import name_of
from otf.values.arguments import brief, checked
from otf.values.raised import blame, own_frames

Progress = Callable[[int, int], None]
END: Final = object()
REMEMBERED: Final = 100  # tuples of inputs: a spec with constant inputs returns the same tuple in every state
TURN: Final = 5_000  # states between two reports of progress


@checked
def explore(  # noqa: PLR0913 -- each is a bound; past the second they are given by name
    spec: Spec[Any, Any],
    limit: int = 100_000,
    *,
    inputs: Iterable[Any] | None = None,
    values: Values | None = None,
    states: Callable[[Any], bool] | None = None,
    depth: int | None = None,
    is_late: Callable[[], bool] | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Return the graph of a spec: its states and transitions, within the bounds that you pass.

    `limit` bounds the number of states, and `depth` bounds the number of steps from the initial state. The search ends
    when the function `is_late()` returns true. `explore` skips each state for which the function `states(state)`
    returns false. If you pass `inputs`, `explore` tries these inputs instead of the inputs that the spec enables.
    `values` maps a type to the values that `explore` tries for it, for instance `{int: range(3)}`. `explore` calls
    `progress(done, found)` repeatedly, so that you can show how far the search is. If a bound ends the search at some
    state, that state is in the graph's `frontier`. `explore` raises ModelError if a function of the model fails, and
    UsageError if a bound is below its minimum.

    >>> from otf.spec import goto
    >>> def step(paid, inp): return [goto(min(paid + 1, 2))] if inp == "coin" else [goto(0, "coffee")]
    >>> graph = explore(Spec(step, initial=0, inputs=["coin", "button"]))
    >>> len(graph.states), len(graph.transitions), graph.whole
    (3, 6, True)
    """
    _check(limit, depth)
    if values is not None:
        spec = spec.bounded(values)
    explorer = _Explorer(spec, limit, states, None if inputs is None else tuple(inputs))
    explorer.graph.bounds = dict(_bounds(spec, depth, inputs, values, states))
    explorer.run(depth, progress, is_late)
    return explorer.graph


def _bounds(
    spec: Spec[Any, Any],
    depth: int | None,
    inputs: Iterable[Any] | None,
    values: Values | None,
    states: Callable[[Any], bool] | None,
) -> Iterator[tuple[str, str]]:
    if inputs is not None:
        yield "values", "the inputs given"
    elif values is not None:
        yield "values", f"the values given for {', '.join(map(name_of, values))}"
    elif isinstance(spec.inputs, Always) and spec.inputs.sample:
        yield "values", spec.inputs.sample
    if depth is not None:
        yield "depth", counted(depth, "step")
    if states is not None:
        called = getattr(states, "__name__", "<")
        yield "states", "the states given" if called.startswith("<") else f"the states for which {called} is true"


def _check(limit: int, depth: int | None) -> None:
    if limit < 1 or (depth is not None and depth < 0):
        raise UsageError(
            f"limit={limit}, depth={depth}: at least one state and no negative depth; leave the bound out for none"
        )


def _reached(level: int, depth: int | None, is_late: Callable[[], bool] | None) -> str:
    """Return the bound that ends the search before a state of this level, "" if none does."""
    if depth is not None and level >= depth:
        return "depth"
    return "time" if is_late is not None and is_late() else ""


class _Explorer:
    """One exploration at work."""

    def __init__(
        self, spec: Spec[Any, Any], limit: int, states: Callable[[Any], bool] | None, inputs: tuple[Any, ...] | None
    ) -> None:
        self.graph = Graph(spec.name, accepting=getattr(spec, "accepting", None))
        self._spec = spec
        self._limit = limit
        self._states = states
        self._alike = Alike()
        self._found: dict[Hashable, int] = {}
        self._inputs: dict[Hashable, int] = {}
        self._outputs: dict[Hashable, tuple[int, ...]] = {}  # the alternatives of the outputs of a transition
        self._numbers: dict[Hashable, int] = {}
        self._rows: dict[int, tuple[object, int, list[tuple[int, Any]]]] = {}
        self._lists: dict[tuple[int, ...], int] = {}
        # the inputs to try in every state; None: those that the spec enables there
        self._fixed = inputs
        self._cut = False

    def run(self, depth: int | None, progress: Progress | None, is_late: Callable[[], bool] | None) -> None:
        """Explore until it is late: the loop walks the list of states while it grows."""
        graph, level, end = self.graph, 0, 1
        self._add(self._spec.initial, name(self._spec.initial), 0)
        for number, state in enumerate(graph.values):
            if number == end:
                level, end = level + 1, len(graph.values)
            graph.begin.append(len(graph.target))
            if bound := _reached(level, depth, is_late):
                self._leave(bound)
                graph.offer.append(-1)
            else:
                self._expand(state)
            if self._cut:
                graph.edge.append(number)
                self._cut = False
            if progress is not None and not number % TURN:
                progress(number, len(graph.values))
        graph.begin.append(len(graph.target))

    def _expand(self, state: Any) -> None:  # noqa: ANN401 -- any state
        asked: tuple[Any, ...] = ()
        CURRENT.now = "inputs", (state,)
        try:
            step, emits = self._spec.step, self._spec.emits
            for number, inp in self._enabled(state):
                CURRENT.now = "step", (state, inp)
                asked = (inp,)
                self._take_all(number, step(state, inp))
            asked = ()
            CURRENT.now = "emits", (state,)
            self._take_all(SPONTANEOUS, () if emits is None else emits(state))
        except OtfError as error:
            raise ModelError(
                f"{_asking(state, asked)}: {error}{own_frames(error, self._spec.step if asked else self._spec.emits)}"
            ) from error
        except Exception as error:
            raise blame(f"{_asking(state, asked)}: the model raised", error, self._spec.inputs) from error
        finally:
            CURRENT.now = None

    def _enabled(self, state: Any) -> list[tuple[int, Any]]:  # noqa: ANN401 -- any state
        inputs = self._spec.inputs(state) if self._fixed is None else self._fixed
        known = self._rows.get(id(inputs))
        if known is not None and known[0] is inputs:
            self.graph.offer.append(known[1])
            return known[2]
        row = list({self._input(inp): inp for inp in limited(inputs, INPUTS, "inputs")}.items())
        number = self._listed(tuple(inp for inp, _ in row))
        if isinstance(inputs, tuple) and len(self._rows) < REMEMBERED:
            self._rows[id(inputs)] = (inputs, number, row)
        self.graph.offer.append(number)
        return row

    def _listed(self, row: tuple[int, ...]) -> int:
        known = self._lists.setdefault(row, len(self._lists))
        if known == len(self.graph.lists):
            self.graph.lists.append(row)
        return known

    def _input(self, inp: object) -> int:
        known = self._inputs.setdefault(name(inp), len(self._inputs))
        if known == len(self.graph.inputs):
            self.graph.inputs.append(inp)
        return known

    def _take_all(self, inp: int, yields: object) -> None:
        ways = iter(_ways(yields))
        for way in islice(ways, TRANSITIONS):
            self._take(inp, way)
        if next(ways, END) is not END:
            raise ModelError(f"more than {TRANSITIONS:,} transitions: it seems never to end")

    def _take(self, inp: int, way: Any) -> None:  # noqa: ANN401 -- anything: the model may be wrong
        if way.__class__ is not Transition:
            self._odd(inp, way)
            return
        graph, state, outputs, number = self.graph, way.state, way.outputs, len(self.graph.target)
        target = self._found.get(named := name(state))
        if target is None:
            target = self._new(state, named)
            if target is None:
                return
        for each in self._outputs.get(outputs and output_name(outputs)) or self._written(outputs):
            graph.input.append(inp)
            graph.output.append(each)
            graph.target.append(target)
        if way.within or way.timers or way.after:
            self._timed(number, in_words(way.within, way.timers, way.after))

    def _timed(self, first: int, words: str) -> None:
        """Note the times of the transitions from the entry `first` of the table on."""
        graph, source = self.graph, len(self.graph.begin) - 1
        for at in range(first, len(graph.target)):
            arc = Arc(source, graph.input[at], graph.output[at], graph.target[at])
            known = graph.times.get(arc, words)
            graph.times[arc] = words if known == words else f"{known}; or {words}"

    def _odd(self, inp: int, way: Any) -> None:  # noqa: ANN401 -- as above
        if is_transition(way):  # a subclass
            self._take(inp, Transition(way.state, way.outputs, way.within, way.timers, way.after))
            return
        if not isinstance(way, Accept):
            raise ModelError(f"it gave {brief(way)}, which is not a transition; write goto(state, output, …)")
        graph = self.graph
        graph.input.append(inp)
        graph.output.append(self._output((way,), (f"outputs accepted on {way.port or 'the port'}",)))
        graph.target.append(OPEN)
        if words := in_words(way.within, way.timers, way.after):
            self._timed(len(graph.target) - 1, words)

    def _new(self, state: object, named: Hashable) -> int | None:
        if self._states is not None and not self._states(state):
            self._leave("states")
        elif len(self.graph.values) >= self._limit:
            self._leave("limit")
        else:
            return self._add(state, named, len(self.graph.target))
        return None

    def _add(self, state: object, named: Hashable, parent: int) -> int:
        if not is_flat(named):
            self._alike.check(state)
        number = self._found[named] = len(self.graph.values)
        self.graph.values.append(state)
        self.graph.parent.append(parent)
        return number

    def _leave(self, bound: str) -> None:
        self._cut = True
        self.graph.cuts[bound] = self.graph.cuts.get(bound, 0) + 1

    def _written(self, outputs: object) -> tuple[int, ...]:
        if not isinstance(outputs, tuple):
            message = f"it gave a Transition with the outputs {show(outputs)}, no tuple; write goto(state, output, …)"
            raise ModelError(message)
        numbers = tuple(dict.fromkeys(map(self._alternative, spread(outputs))))  # pyright: ignore[reportUnknownArgumentType]
        self._outputs[outputs and output_name(outputs)] = numbers
        return numbers

    def _alternative(self, outputs: tuple[Any, ...]) -> int:
        known = self._numbers.get(named := output_name(outputs))
        if known is None:
            known = self._numbers[named] = self._output(outputs, tuple(texts_of(outputs)))
        return known

    def _output(self, outputs: tuple[Any, ...], texts: tuple[str, ...]) -> int:
        self.graph.outputs.append(outputs)
        self.graph.texts.append(texts)
        return len(self.graph.outputs) - 1


def _ways(yields: object) -> Iterable[object]:
    if not isinstance(yields, Iterable):
        message = f"it returned {brief(yields)}; yield transitions (goto(state, output, …)), or return a list of them"
        raise ModelError(message)
    return yields  # pyright: ignore[reportUnknownVariableType] -- each is checked when it comes


def _asking(state: object, asked: tuple[Any, ...]) -> str:
    return f"step({show(state)}, {show(asked[0])})" if asked else f"inputs or emits({show(state)})"
