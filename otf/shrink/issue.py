"""Issues and candidates: a failing run as a search sees it, what a search asks its caller, and traits of transitions.

Traits are what transitions have in common, from the same input and outputs down to the same kind of input.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import Final, NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar

from otf.core import Chooser, Model, Monitor, Node, Oracle, Symbol
from otf.core.failure import expected
from otf.core.macro_step import MacroSteps
from otf.core.nodes import Move
from otf.spec import Elapse
from otf.strategy import Script
from otf.trace.events import Event, Quiet, Sent
from otf.trace.verdict import Signature

NodeSet: TypeAlias = frozenset[Node]
"""The states that the model may be in, without their counters: several if the system need not show its choice."""

ANYWHERE: Final[NodeSet] = frozenset()
"""The nodes after a step whose next state only the system decides, and after the end of a run."""

UNHEARD: Final = 3600.0  # seconds before a run in which its first outputs may have come: a hook may have run


class ModelStep(NamedTuple):
    """One step of a path on the model: its `input`, with the possible states before and after that input.

    The possible states before the input are `nodes`, and those after the input are `target`. otf sends neighbouring
    steps at once if they have an equal `burst` above 0.

    >>> from otf.core import Symbol
    >>> ModelStep(frozenset(), Symbol("press", "press")).target
    frozenset()
    """

    nodes: NodeSet
    input: Symbol
    target: NodeSet = ANYWHERE
    burst: int = 0


def meets(steps: Iterable[ModelStep]) -> bool:
    """Return whether some inputs are sent at once."""
    return any(one.burst and one.burst == other.burst for one, other in pairwise(steps))


@dataclass(frozen=True, slots=True)
class Issue:
    """A failing path, as the shrinker sees it.

    The `steps` of an issue lead up to the failure, and the `signature` is that of the failure. The time from the first
    input of the path to its last input is `seconds`. The time from the last input to the failure is `tail`, also in
    seconds.

    >>> from otf.core import Symbol
    >>> from otf.shrink import ModelStep
    >>> step = ModelStep(frozenset(), Symbol("press", "press"))
    >>> issue = Issue((step, step))
    >>> len(issue), [symbol.value for symbol in issue.inputs]
    (2, ['press', 'press'])
    """

    steps: tuple[ModelStep, ...]
    signature: Signature | None = None
    seconds: float = field(default=0.0, compare=False)
    tail: float = field(default=0.0, compare=False)

    def __len__(self) -> int:
        """Return the number of inputs."""
        return len(self.steps)

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """Return the inputs of the path in order."""
        return tuple(step.input for step in self.steps)


class Candidate(Protocol):
    """A path that the shrinker tries because it may still fail; equal candidates have equal hashes."""

    @property
    def limit(self) -> int:
        """Return the largest number of inputs that the candidate sends."""
        ...

    @property
    def least(self) -> int:
        """Return the number of inputs that a candidate must send before a pass proves anything."""
        ...

    def chooser(self) -> Chooser:
        """Return a new chooser, which chooses the inputs while the candidate runs."""
        ...

    def __hash__(self) -> int: ...


Shrinking: TypeAlias = Generator[Candidate | None, Issue | None, Issue]
"""A search for a shorter path: a generator that yields candidates and returns the issue of the best one.

The caller sends back the issue that a candidate showed, or None if the candidate passed. If the search yields None,
the caller may do other work, and then sends None or closes the search.
"""

Found = TypeVar("Found")
Thinking: TypeAlias = Generator[None, Issue | None, Found]
"""Work on the model without the system, as a generator that yields None after each small piece."""


def completed(thinking: Thinking[Found]) -> Found:
    """Return the result of work on the model, without pauses."""
    try:
        while True:
            next(thinking)
    except StopIteration as done:
        result: Found = done.value
        return result


def issue_of(oracle: Oracle, events: Iterable[Event], *, bursts: bool = False) -> Issue:
    """Return the issue of a path from its `events` up to the failure.

    With `bursts`, the steps of the issue record which inputs otf sent at once.

    >>> from otf.core import Model
    >>> from otf.spec import Spec, goto
    >>> from otf.trace.events import Seen
    >>> oracle = Oracle(Model(Spec(lambda state, inp: [goto(state, "pong")], 0, ["ping"])))
    >>> issue = issue_of(oracle, [Sent("ping", "", 0.0), Seen("pang", "", 0.1)])
    >>> len(issue), issue.signature is not None
    (1, True)
    """
    events = [*events]
    issue = _judged_again(oracle, events, bursts=bursts)
    if oracle.model.timed and len(issue) < sum(isinstance(event, Sent) for event in events):
        # everything up to the last input was allowed: events do not say how late the tester saw them
        return max(issue, _judged_again(oracle, events, bursts=bursts, late=True), key=len)
    return issue


def _judged_again(oracle: Oracle, events: Iterable[Event], *, bursts: bool, late: bool = False) -> Issue:
    """Return the issue of events; if `late`, any output may have come since the input or silence before it."""
    monitor, since = Monitor(oracle), -late * UNHEARD
    given: list[tuple[NodeSet, Symbol, int]] = []
    times: list[float] = []
    end, burst = 0.0, 1
    for event in events:
        end = event.at
        burst += isinstance(event, Quiet)
        if isinstance(event, Sent):
            times.append(event.at)
            given.append((_node(monitor), oracle.model.symbol(event.input), bursts * burst))
        monitor.slack = late * (event.at - since)
        if monitor.tell(event) is not None:
            break
        since = event.at if isinstance(event, (Sent, Quiet)) else since
    targets = [*(nodes for nodes, *_ in given[1:]), *([ANYWHERE] if given else [])]
    steps = [ModelStep(nodes, inp, target, at) for (nodes, inp, at), target in zip(given, targets, strict=True)]
    failure = monitor.verdict.failure if monitor.verdict else None
    first, last = (times[0], times[-1]) if times else (0.0, 0.0)
    return Issue(tuple(steps), failure.signature if failure else None, last - first, end - last)


def _node(monitor: Monitor) -> NodeSet:
    # the nodes after all inputs in flight, not only those proven by events so far; `MacroSteps` keeps them
    return frozenset(MacroSteps.of(monitor.oracle, monitor.belief).view.places)


@dataclass(frozen=True, slots=True)
class AllowedInputs:
    """A candidate that sends given inputs (`symbols`) in order, and skips those that are not enabled at their turn.

    >>> from otf.core import Symbol
    >>> AllowedInputs((Symbol("press", "press"), Symbol("look", "look"))).limit
    2
    """

    symbols: tuple[Symbol, ...]

    @property
    def limit(self) -> int:
        """Return the largest number of inputs that the candidate sends."""
        return len(self.symbols)

    @property
    def least(self) -> int:
        """Return `limit`: a candidate that passes after fewer inputs proves nothing."""
        return self.limit

    def chooser(self) -> Chooser:
        """Return a new chooser, which chooses the inputs while the candidate runs."""
        return Script(symbol.value for symbol in self.symbols)


ANY: Final = "any input"
"""The trait of all inputs but waits."""

Trait: TypeAlias = Hashable
"""A property of a transition: its label, the kind of its input, its input, or its outputs."""


class Traits:
    """The traits of a model's transitions, each computed once."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[tuple[NodeSet, Symbol], tuple[Trait, ...]] = {}

    def of(self, step: ModelStep) -> tuple[Trait, ...]:
        """Return the traits of a transition or, if its state is unknown, of its input alone."""
        known = self._known.get(step[:2])
        if known is None:
            known = self._known[step[:2]] = tuple(self._find(step.nodes, step.input))
        return known

    def label(self, step: ModelStep) -> Trait:
        """Return the types of state, input and expected output, which make up a failure signature."""
        moves = self._moves(step.nodes, step.input)
        states = frozenset(type(node.value) for node in step.nodes)
        return "label", states, type(step.input.value), frozenset(kind for move in moves for kind in _expected(move))

    def coarse(self, step: ModelStep) -> frozenset[Trait]:
        """Return the traits shared by transitions that do the same kind of thing: label and kind of input."""
        return frozenset(self.of(step)[: 2 if step.nodes else 1])

    def fine(self, step: ModelStep) -> frozenset[Trait]:
        """Return the traits shared by transitions that do the same thing, in whatever state."""
        return frozenset(self.of(step))

    def _find(self, nodes: NodeSet, inp: Symbol) -> Iterator[Trait]:
        if nodes:
            yield self.label(ModelStep(nodes, inp))
        yield kind(inp)
        yield "input", inp
        outputs = frozenset(text for move in self._moves(nodes, inp) for text in move.texts)
        if outputs:
            yield "outputs", outputs
        if not isinstance(inp.value, Elapse):
            yield ANY

    def _moves(self, nodes: NodeSet, inp: Symbol) -> list[Move]:
        return [move for node in nodes for move in self._model.moves(node, inp)]


def kind(inp: Symbol) -> Trait:
    """Return the kind of an input: inputs of one kind do the same thing with other values.

    Inputs are of one kind if they are dataclasses of one type, tuples with the same first element, or numbers.
    Members of an enum and texts name different things, so each is its own kind.
    """
    value = inp.value
    if isinstance(value, (Enum, str)):
        return "kind", inp
    if is_tuple(value):
        return "kind", (tuple, *value[:1])
    return "kind", type(value)


def parts(inp: Symbol) -> tuple[Hashable, ...]:
    """Return the parts of an input, such as its fields; nothing for a value without parts."""
    # the key of a value with parts: its type, then the key of each part
    return inp.key[1:] if is_tuple(inp.key) else ()


def is_tuple(value: object) -> TypeGuard[tuple[Hashable, ...]]:
    """Return whether a value is a plain tuple, not a named one or of another subclass."""
    return type(value) is tuple


def _expected(move: Move) -> Iterator[str]:
    if move.opening is not None:
        yield "accepted outputs"
    for _, chain in move.emitted:
        yield from expected(chain)


def counterpart(inp: Symbol, then: Sequence[Symbol], now: Sequence[Symbol]) -> Symbol:
    """Return the current counterpart of an earlier input: among the most similar inputs, the one in its place.

    It is the input itself if no other one is like it: of one kind, with half of the parts in common.

    >>> then = [Symbol(("read", number), (tuple, "read", number)) for number in (7, 8)]
    >>> now = [Symbol(("read", number), (tuple, "read", number)) for number in (3, 4)]
    >>> counterpart(then[1], then, now).value
    ('read', 4)
    """
    like = [each for each in now if _like(inp, each)]
    same = max((_agreeing(inp, each) for each in like), key=len, default=None)
    if same is None:
        return inp
    places = [each for each in then if _like(inp, each) and _agreeing(inp, each) >= same]
    found = [each for each in like if _agreeing(inp, each) >= same]
    return found[min(places.index(inp), len(found) - 1)] if inp in places else inp


def _like(inp: Symbol, other: Symbol) -> bool:
    length = len(parts(inp))
    alike = kind(inp) == kind(other) and length == len(parts(other))
    return alike and 2 * (length - len(_agreeing(inp, other))) <= length + 1


def _agreeing(inp: Symbol, other: Symbol) -> frozenset[int]:
    pairs = zip(parts(inp), parts(other), strict=False)
    return frozenset(at for at, (mine, others) in enumerate(pairs) if mine == others)
