"""The memory of a driving lane: counts and silences, by value; those of other paths are looked up by digest.

It looks up what others learned when a path first reaches a state. Copying all of it to each of a thousand lanes would
take a thousand times the memory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain
from typing import Any, Final, TypeVar

from otf.campaign.journal_lines import Knowledge, named
from otf.core import Node, Symbol, View
from otf.spec import Elapse
from otf.strategy import VisitCounts
from otf.strategy.answers import Answered, LearntAnswers
from otf.strategy.pool import STATES, WIDE, FailingIn, PathCounts
from otf.trace.verdict import Failure, FailureKind
from otf.values import key

Key = TypeVar("Key", bound=Hashable)
PAST: Final = 20  # failures that one path may pass: behind many guesses, nothing is worth much
GUESSABLE: Final[frozenset[FailureKind]] = frozenset(("wrong", "unasked", "missing", "undecodable"))
"""Kinds of failure after which the system is still there, and comes to rest."""


class Layer:
    """What some paths learned, ready for look-ups: it keeps visits by state.

    Above 50,000 states it forgets those visited once, as the memory of one lane does.

    >>> layer = Layer(Knowledge({"a b": 1, "a c": 2}))
    >>> layer.states["a"], layer.inputs["a"], layer.knowledge().visits
    (3, {'b': 1, 'c': 2}, {'a b': 1, 'a c': 2})
    """

    def __init__(self, learned: Knowledge | None = None) -> None:
        self.states: dict[str, int] = {}
        self.inputs: dict[str, dict[str, int]] = {}
        self.actions: Counter[str] = Counter()
        self.timers: Counter[str] = Counter()
        self.quiet: dict[str, None] = {}
        self.waits: dict[float, None] = {}
        self.answered = Answered()
        self.failing: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.failures: dict[str, None] = {}
        if learned is not None:
            self.add(learned)

    def add(self, learned: Knowledge) -> None:
        """Add what later paths learned."""
        for name, times in learned.visits.items():
            state, _, inp = name.partition(" ")
            self.states[state] = self.states.get(state, 0) + times
            table = self.inputs.setdefault(state, {})
            table[inp] = table.get(inp, 0) + times
        self.actions.update(learned.actions)
        self.timers.update(learned.timers)
        self.quiet.update(dict.fromkeys(learned.quiet))
        self.waits.update(dict.fromkeys(learned.waits))
        for path in learned.answers:
            self.answered.add(path)
        for name, times in learned.failing.items():
            state, _, inp = name.partition(" ")
            self.failing[state][inp] += times
        self.failures.update(dict.fromkeys(learned.failures))
        if len(self.states) > STATES:
            kept = [state for state, times in self.states.items() if times > 1][-STATES // 2 :]
            self.states = {state: self.states[state] for state in kept}
            self.inputs = {state: self.inputs[state] for state in kept}

    def tried(self, state: str, inp: str) -> int:
        """Return how often an input was chosen in a state."""
        table = self.inputs.get(state)
        return 0 if table is None else table.get(inp, 0)

    def knowledge(self) -> Knowledge:
        """Return the layer as data."""
        visits = {f"{state} {inp}": times for state, table in self.inputs.items() for inp, times in table.items()}
        return Knowledge(
            visits,
            dict(self.actions),
            [*self.quiet],
            dict(self.timers),
            [*self.waits],
            self.answered.paths,
            {f"{state} {inp}": times for state, inputs in self.failing.items() for inp, times in inputs.items()},
            [*self.failures],
        )


class _Recalled(defaultdict[Key, int]):
    """Counts by key; it looks up those of other paths by digest when their key occurs."""

    def __init__(self, recall: Callable[[str], int]) -> None:
        super().__init__(int)
        self._recall = recall

    def __missing__(self, key: Key) -> int:
        times = self._recall(named(key))
        super().__setitem__(key, times)
        return times

    def get(self, key: Key, default: Any = None) -> Any:  # noqa: ANN401 -- as a dict has it
        times = super().get(key)
        return (self.__missing__(key) if times is None else times) or default

    def copy(self) -> Any:  # noqa: ANN401 -- what is copied needs no digests
        return dict(self)


class _RecalledTables(defaultdict[Node, defaultdict[Symbol, int]]):
    """The same for the tables of states."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        super().__init__()
        self._layers = layers

    def __missing__(self, key: Node) -> defaultdict[Symbol, int]:
        name, layers = named(key), self._layers
        if any(name in layer.inputs for layer in layers):
            self[key] = table = _Recalled[Symbol](lambda inp: sum(layer.tried(name, inp) for layer in layers))
            return table
        self[key] = fresh = defaultdict[Symbol, int](int)
        return fresh

    def copy(self) -> Any:  # noqa: ANN401 -- as above
        return dict(self)


class _Waited(_Recalled[tuple[Hashable, ...]]):
    """Visits to states with timers; `log` has those of this path alone."""

    log: PathCounts[tuple[Hashable, ...]]

    def __setitem__(self, key: tuple[Hashable, ...], times: int) -> None:
        super().__setitem__(key, times)
        self.log.note(key)


class _Quiet(set[Hashable]):
    """The silences that this path and others have seen."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        super().__init__()
        self._layers = layers

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        name = named(key)  # it has been looked up, so it is hashable
        if not self.recalls(name):
            return False
        self.add(key)
        return True

    def recalls(self, name: str) -> bool:
        """Return whether other paths saw the silence of that digest."""
        return any(name in layer.quiet for layer in self._layers)


class _Others(Iterable[Answered]):
    """What inputs led to on other paths."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        self._layers = layers

    def __iter__(self) -> Iterator[Answered]:
        return (layer.answered for layer in self._layers if layer.answered.paths)


class _Failing:
    """The failures on the paths so far; told of each failure, it says whether the path goes on past it."""

    def __init__(self, layers: Iterable[Layer], visits: VisitCounts, known_issue: Callable[[Failure], object]) -> None:
        self._layers, self._visits, self._known_issue = layers, visits, known_issue
        self._own, self._new, self._past = Layer(), Knowledge(), 0

    def path(self) -> Knowledge:
        """Return what the path added; the next one begins."""
        new, self._new, self._past = self._new, Knowledge(), 0
        return new

    def goes_past(self, nodes: tuple[Node, ...], inp: Symbol, failure: Failure) -> bool:
        """Note a failure at an input; return whether these paths have seen its signature before."""
        signature, layers = str(failure.signature), (self._own, *self._layers)
        seen = any(signature in layer.failures for layer in layers)
        new = Knowledge(failures=[] if seen else [signature])
        # a heartbeat in flight counts on: many states, but one place
        places = {node.place or node for node in nodes}
        if len(places) == 1:
            new.failing[f"{named(places.pop())} {named(inp)}"] = 1
        self._own.add(new)
        self._new.add(new)
        self._past += 1
        return self._past <= PAST and failure.kind in GUESSABLE and (seen or self._known_issue(failure) is not None)

    def steering(self) -> FailingIn | None:
        """Return what a strategy steers by; None if nothing has failed so far."""
        return self._failing_in if any(layer.failing for layer in (self._own, *self._layers)) else None

    def _failing_in(self, view: View) -> Callable[[Symbol], bool] | None:
        found, layers = list[tuple[Node, Counter[str]]](), (self._own, *self._layers)
        for place in view.places:
            known = (layer.failing.get(named(place)) for layer in layers)
            if times := sum(filter(None, known), Counter[str]()):
                found.append((place, times))

        def fails(inp: Symbol) -> bool:
            # an input that fails now and then usually leads somewhere else
            return any(2 * times[named(inp)] > self._visits.inputs[place][inp] for place, times in found)

        return fails if found else None


class Learning:
    """The memory of one lane: it begins with what other paths knew, in layers, and returns what each path adds.

    >>> learning = Learning()
    >>> learning.proven.add("a")
    >>> learning.path().quiet == [named("a")], learning.path()
    (True, Knowledge(visits={}, actions={}, quiet=[], timers={}, waits=[], answers=[], failing={}, failures=[]))
    """

    def __init__(self, layers: Iterable[Layer] = (), known_issue: Callable[[Failure], object] = lambda _: None) -> None:
        # a single lane that begins with nothing looks nothing up: it uses Python's own tables
        begins = any(layer.states or layer.quiet or layer.timers for layer in layers)
        self.visits: VisitCounts = _visits(layers) if begins else VisitCounts()
        self.proven: set[Hashable] = _Quiet(layers) if begins else set()
        self.waited: dict[tuple[Hashable, ...], int] = _Waited(lambda name: sum(each.timers[name] for each in layers))
        self.answers = self.visits.answers = LearntAnswers(_Others(layers))
        self.failing = _Failing(layers, self.visits, known_issue)
        self._log = PathCounts[tuple[Node, Symbol]]()
        self._waits = PathCounts[tuple[Hashable, ...]]()
        # an input that only waits is its own name
        waits = (Elapse(seconds) for layer in layers for seconds in layer.waits)
        self.visits.waits.update((Symbol(wait, key(wait)), None) for wait in waits)
        for layer in layers:
            for what, times in layer.actions.items():
                self.visits.actions[what] += times
        self.visits.log, self.waited.log = self._log, self._waits
        self._visited, self._timed = Counter[str](), Counter[str]()
        self.visits.shorten = self._shorten
        self._actions = dict(self.visits.actions)
        self._said = set[Hashable]()
        self._waits_said = len(self.visits.waits)

    def path(self) -> Knowledge:
        """Return what was learned since the last call."""
        self._shorten()
        visits, timers, self._visited, self._timed = self._visited, self._timed, Counter[str](), Counter[str]()
        used, self._actions = self._actions, dict(self.visits.actions)
        learned = Knowledge(
            dict(visits),
            {what: times - used.get(what, 0) for what, times in self._actions.items() if times > used.get(what, 0)},
            [*self._quiet()],
            dict(timers),
            self._new_waits(),
            [path] if (path := self.answers.told()) else [],
        )
        learned.add(self.failing.path())
        return learned

    def _shorten(self) -> None:
        """Replace the states of the path's log by their digests."""
        for (node, inp), times in self._log.items():
            self._visited[f"{named(node)} {named(inp)}"] += times
        for nodes, times in self._waits.items():
            self._timed[named(nodes)] += times
        self._log.clear()
        self._waits.clear()

    def _new_waits(self) -> list[float]:
        said, self._waits_said = self._waits_said, len(self.visits.waits)
        return [wait.value.seconds for wait in [*self.visits.waits][said:] if isinstance(wait.value, Elapse)]

    def _quiet(self) -> Iterator[str]:
        if len(self.proven) == len(self._said):
            return
        new, known = self.proven - self._said, self.proven
        self._said = {*known}  # without what the pacing forgot
        for name in map(named, new):
            if not (isinstance(known, _Quiet) and known.recalls(name)):
                yield name


def _visits(layers: Iterable[Layer]) -> VisitCounts:
    visited = _Recalled[Node](lambda name: sum(layer.states.get(name, 0) for layer in layers))
    return VisitCounts(visited, _RecalledTables(layers), firsts=_distinct(layer.states for layer in layers))


def _distinct(states: Iterable[dict[str, int]]) -> int:
    """Return how many states were visited, counted up to one more than matters."""
    found: set[str] = set()
    for name in chain.from_iterable(states):
        found.add(name)
        if len(found) > WIDE:
            break
    return len(found)
