"""Names that the system chooses, such as ids: translates the inputs of an earlier run to a run with other names.

If the system draws ids, each run has others: a run with the same inputs would ask for ids that do not exist, and pass.
Load testers call the remedy correlation, QuickCheck's state machines call it symbolic variables. Here it needs no
declaration. A word of an input is such a name if an earlier output contains it and none of the model's initial inputs
does. Its new name is the word in the same place of the same output of the new run. An input is replaced only if the
model does not offer it, and only by one that it offers.

A path also sends values of its own in place of a sample's: a strategy chooses an input, and this module its value.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar, runtime_checkable

from otf.core import Chooser, Oracle, Symbol, View
from otf.spec.offering import Always
from otf.spec.redrawing import Redraw, Redrawn
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.values.identity import key
from otf.values.text import TextWords, words

MOST: Final = 10_000
"""Offered inputs in one state; if there are more, the search for the one with the new name is skipped."""

Asked = TypeVar("Asked")


class Attribution(Generic[Asked]):
    """Which input an output answers: the first open one on its port, else the last one there or anywhere.

    >>> asked = Attribution[str]()
    >>> asked.sent("a", "get"); asked.sent("a", "put")
    >>> asked.by("a"), asked.by("a"), asked.by("b")
    ('get', 'put', 'put')
    """

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Asked]] = defaultdict(deque)
        self._last: dict[str, Asked] = {}
        self._latest: Asked | None = None

    def sent(self, port: str, asked: Asked) -> None:
        """Note an input to a port, in the form that `by` returns."""
        self._waiting[port].append(asked)
        self._latest = asked

    def quiet(self) -> None:
        """Note that all inputs are answered."""
        self._waiting.clear()

    def by(self, port: str) -> Asked | None:
        """Return the input that the next output of a port answers; None without inputs."""
        waiting = self._waiting[port]
        if waiting:
            self._last[port] = waiting.popleft()
        return self._last.get(port, self._latest)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """An earlier run: the names that the system chose, and the outputs after each input sent."""

    chosen: frozenset[str]
    answers: dict[TextWords, list[list[TextWords]]]

    @staticmethod
    def of(oracle: Oracle, events: Iterable[Event]) -> NamedRun | None:
        """Return the run with its names; None if no input has one."""
        offered = oracle.view(oracle.start()).enabled
        if isinstance(oracle.model.spec.inputs, Always) or offered.size > MOST:
            return None
        seen, chosen, known = set[str](), set[str](), {word for inp in offered.all for word in words(inp.key)}
        answers: defaultdict[TextWords, list[list[TextWords]]] = defaultdict(list)
        asked = Attribution[list[TextWords]]()
        for event in events:
            match event:
                case Sent(inp, port):
                    given, outputs = words(key(inp)), list[TextWords]()
                    chosen.update(seen.intersection(given))
                    answers[given].append(outputs)
                    asked.sent(port, outputs)
                case Seen(output, port):
                    seen.update(word for word in words(key(output)) if word not in known and word[:1] != "<")
                    if (answered := asked.by(port)) is not None:
                        answered.append(words(key(output)))
                case Quiet():
                    asked.quiet()
                case _:
                    pass
        return NamedRun(frozenset(chosen), dict(answers)) if chosen else None


@dataclass(slots=True)
class _Request:
    """An input of the new run: the outputs after its counterparts in earlier runs, and how many came since."""

    answers: list[list[TextWords]]
    seen: int = 0


@dataclass(slots=True)
class Renames:
    """Translates names of earlier runs to a new run: `observe` gets its events, `now` translates an input.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> def step(job, inp):
    ...     yield goto(9) if inp == "open" else goto(job)
    >>> oracle = Oracle(Model(Spec(step, 0, lambda job: ["open", f"read {job}"] if job else ["open"])))
    >>> before = [Sent("open", "", 0.0), Seen("job 7", "", 0.1), Sent("read 7", "", 0.2)]
    >>> names = Renames((NamedRun.of(oracle, before),))
    >>> for event in (Sent("open", "", 0.0), Seen("job 9", "", 0.1)): names.observe(event)
    >>> symbol = oracle.model.symbol
    >>> names.renamed(symbol("read 7"), [symbol("open"), symbol("read 9")]).value
    'read 9'
    """

    runs: tuple[NamedRun, ...]
    _now: dict[str, str] = field(default_factory=dict[str, str])
    _meant: dict[TextWords, TextWords] = field(default_factory=dict[TextWords, TextWords])
    _sent: Counter[TextWords] = field(default_factory=Counter[TextWords])
    _asked: Attribution[_Request] = field(default_factory=Attribution[_Request])

    def observe(self, event: Event) -> None:
        """Note an event of the new run."""
        match event:
            case Sent(inp, port):
                self._asked.sent(port, _Request([*self._stands_for(words(key(inp)))]))
            case Seen(output, port):
                request = self._asked.by(port)
                if request is not None:
                    self._note(request, words(key(output)))
            case Quiet():
                self._asked.quiet()
            case _:
                pass

    def _stands_for(self, given: TextWords) -> Iterator[list[TextWords]]:
        """Yield the outputs after the inputs that one may stand for: this run may lack some of several equal ones."""
        meant = self._meant.get(given, given)
        number = self._sent[meant]
        self._sent[meant] += 1
        for run in self.runs:
            answers = run.answers.get(meant, [])
            yield from answers[min(number, len(answers) - 1) :]

    def _note(self, request: _Request, now: TextWords) -> None:
        """Note the new words in the places of chosen names."""
        for answers in request.answers:
            then = answers[request.seen] if request.seen < len(answers) else ()
            if len(then) == len(now):
                self._now.update(pair for pair in zip(then, now, strict=True) if self._is_name(pair[0]))
        request.seen += 1

    def _is_name(self, word: str) -> bool:
        return any(word in run.chosen for run in self.runs)

    def now(self, inp: Symbol, view: View) -> Symbol:
        """Return what an input is now: itself, unless the model offers it only under its new names."""
        if not any(map(self._is_name, words(inp.key))) or view.enabled.size > MOST or inp in view.enabled.all:
            return inp
        return self.renamed(inp, view.enabled.all)

    def renamed(self, inp: Symbol, offered: Iterable[Symbol]) -> Symbol:
        """Return the input among these that differs in the fewest words, all of them names; else the input itself."""
        old = words(inp.key)
        found = {each: sum(map(str.__ne__, old, words(each.key))) for each in offered if self._is(old, words(each.key))}
        if not found:
            return inp
        best = min(found, key=found.__getitem__)
        self._meant[words(best.key)] = old
        return best

    def _is(self, old: TextWords, new: TextWords) -> bool:
        pairs = zip(old, new, strict=False)
        return len(old) == len(new) and all(one == other or self._now.get(one) == other for one, other in pairs)


@runtime_checkable
class Repeating(Protocol):
    """A chooser that sends the inputs of an earlier run under their new `names`."""

    names: Renames | None


def renaming(chooser: Chooser, earlier: Iterable[NamedRun | None]) -> Callable[[Event], None] | None:
    """Give a chooser the names of earlier runs; return the observer for the new run's events, None if not needed.

    >>> from otf.strategy import Script
    >>> renaming(Script(["press"]), [None])
    """
    runs = tuple(filter(None, earlier))
    if not runs or not isinstance(chooser, Repeating):
        return None
    names = Renames(runs)
    chooser.names = names
    return names.observe


class FreshValues:
    """The values that a Hypothesis strategy generates for one path, with the path's seed.

    On each path, five of eight inputs of the sample stand for other values. The other inputs keep their values, the
    smallest and the largest among them; strategies count these inputs.
    """

    def __init__(self, redraw: Redraw, seed: str) -> None:
        # now, not at the first choice: it takes some 20 ms, which would keep a running system waiting
        self._redrawn: Redrawn = redraw(seed)
        self._edges = set[object]()

    def instead(self, view: View, chosen: Symbol) -> Symbol:
        """Return what to send for a chosen input: the input itself, unless the model also allows its replacement."""
        found = next(filter(None, (self._redrawn(node.value, chosen.value) for node in view.nodes)), None)
        if found is None:
            return chosen
        edge = next((inp for inp in map(view.model.symbol, found.edges) if self._may_begin(view, inp, chosen)), None)
        other = edge or view.model.symbol(found.value)
        return other if _as_well(view, other, chosen) else chosen

    def _may_begin(self, view: View, edge: Symbol, chosen: Symbol) -> bool:
        if edge.key in self._edges or not _as_well(view, edge, chosen):
            return False
        self._edges.add(edge.key)
        return True


def _as_well(view: View, inp: Symbol, chosen: Symbol) -> bool:
    return view.allows(inp) and view.specifies(inp) == view.specifies(chosen)
