"""What a chooser sees of a run: the nodes in which the next input may be taken, and the enabled inputs there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from otf.core.hypothesis import Hypothesis
from otf.core.memory import Symbol
from otf.core.model import Model
from otf.core.moves import INTERNAL, Limits, Moves, Relation, endless
from otf.core.nodes import NO_INPUTS, UNKNOWN, EnabledInputs, Midway, Node

NOTED: Final = 2_048
"""Up to this many enabled inputs each view notes what it asked, one byte each; with more, only recent views do."""

UNKNOWN_YET, LEFT_OPEN, SPECIFIED = range(3)
"""The notes of a view about an input: nothing yet, or whether the model specifies the input."""

InputMode = Literal["uioco", "any", "all", "mixed"]
"""The inputs that otf sends: those specified in all possible states, in any of them, all, or a random mix.

>>> from otf.core import InputMode
>>> from otf.strategy import Strategy
>>> mode: InputMode = "uioco"
>>> Strategy("random", mode, seed=1).mode
'uioco'
"""


class Reach(NamedTuple):
    """A node that the system may be in, and the ports with inputs in flight still to be taken there."""

    node: Node
    busy: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What a chooser knows of a path: the states that the system may be in when the next input arrives, and the inputs.

    `model` and `relation` are those of the oracle. `nodes` contains the states in which the next input may arrive.
    `reached` contains each possible state, with the ports whose inputs are still in flight. `enabled` contains all
    inputs that the chooser may choose from.

    `specifies` calls the model for one input, `specified` and `others` call the model for every input. `specified`
    lists the inputs that the model specifies in every state of `nodes`. `others` lists the remaining enabled inputs,
    which otf sends with `inputs="all"` or `inputs="mixed"`. `allows` returns whether otf may send an input, even an
    input that `enabled` does not contain.

    >>> from otf.spec import Spec, goto
    >>> from otf.core import Model, Oracle
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit, "on" if not lit else "off")], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> [symbol.value for symbol in view.specified], view.allows(oracle.model.symbol("press"))
    (['press'], True)
    """

    model: Model
    relation: Relation
    reached: tuple[Reach, ...]
    nodes: tuple[Node, ...]
    # called with a view whose list of inputs is too long to keep with each; must not hold the view's belief: a cycle
    # between the two would keep all states of a walk that never recur until the collector runs
    _long: Callable[[View], None]
    # the only node, if no input in flight can hold up another: nearly always
    _alone: Node | None
    _targets: dict[Symbol, tuple[Node, ...]] = field(default_factory=dict[Symbol, tuple[Node, ...]], compare=False)
    _sorted: list[tuple[Symbol, ...]] = field(default_factory=list[tuple[Symbol, ...]], compare=False)
    enabled: EnabledInputs = field(init=False, compare=False, repr=False)
    # for each enabled input, by index, `UNKNOWN_YET`, `LEFT_OPEN` or `SPECIFIED`: strategies note their questions here,
    # since most draws recur; None if the list is not kept
    known: bytearray | None = field(init=False, compare=False, repr=False)
    # the nodes without their counters, for strategies to count
    places: tuple[Node, ...] = field(init=False, compare=False, repr=False)

    @staticmethod
    def of(
        model: Model, relation: Relation, reached: tuple[Reach, ...], long: Callable[[View], None] = lambda _: None
    ) -> View:
        """Return the view of a system that takes the next input in one of these nodes."""
        nodes = tuple(each.node for each in reached if not each.busy)
        alone = nodes[0] if len(nodes) == len(reached) == 1 else None
        return View(model, relation, reached, nodes, long, alone)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- a slot that is not set yet
            """Fill a slot when it is first read, which costs nothing afterwards."""
            make = {"enabled": self._listed, "known": self._unasked, "places": self._places}.get(name)
            if make is None:
                raise AttributeError(name)
            found = make()
            object.__setattr__(self, name, found)
            return found

    def _listed(self) -> EnabledInputs:
        enabled = _union([self.model.offered(node) for node in self.nodes])
        if not enabled.kept:
            self._long(self)
        return enabled

    def _unasked(self) -> bytearray | None:
        enabled = self.enabled
        if not (enabled.kept and enabled.size):
            return None
        if enabled.size > NOTED:
            self._long(self)
        return bytearray(enabled.size)

    def _places(self) -> tuple[Node, ...]:
        return tuple(dict.fromkeys(map(self.model.place, self.nodes)))

    def on(self, ports: Container[str]) -> View:
        """Return the view in which only inputs to these ports are enabled."""
        return self.only([inp for inp in self.enabled.listed() if self.model.port(inp) in ports])

    def only(self, inputs: Sequence[Symbol]) -> View:
        """Return the view in which only these inputs are enabled."""
        found = View(self.model, self.relation, self.reached, self.nodes, lambda _: None, self._alone)
        object.__setattr__(found, "enabled", EnabledInputs.fixed(inputs))
        return found

    def taken(self) -> View:
        """Return the view after the system has taken all inputs in flight."""
        return View.of(self.model, self.relation, tuple(each for each in self.reached if not each.busy), self._long)

    def forget(self) -> None:
        """Drop the view's list of inputs and its notes; the view creates them again when it needs them."""
        self._sorted.clear()
        for name in ("enabled", "known"):
            with suppress(AttributeError):
                object.__delattr__(self, name)

    @property
    def specified(self) -> tuple[Symbol, ...]:
        """Return the inputs that the model itself specifies, each once and in its order; asks the model about all."""
        # read at every step: one call less saves a fiftieth of a step
        return self._sorted[0] if self._sorted else self._all()[0]

    @property
    def others(self) -> tuple[Symbol, ...]:
        """Return the enabled inputs that the model does not specify; asks the model about all."""
        return self._all()[1]

    def _all(self) -> list[tuple[Symbol, ...]]:
        if not self._sorted:
            inputs = self.enabled.all
            specified = [inp for inp in inputs if self.specifies(inp)]
            others = set(inputs).difference(specified)
            # extended in one go: an error of the model must not leave half of it
            self._sorted.extend((tuple(specified), tuple(inp for inp in inputs if inp in others)))
        return self._sorted

    def targets(self, inp: Symbol) -> tuple[Node, ...]:
        """Return the nodes that an input may lead to."""
        targets = self._targets.get(inp)
        if targets is None:
            found = (move.target for node in self.nodes for move in self.model.moves(node, inp))
            targets = self._targets[inp] = tuple(dict.fromkeys(each for each in found if each is not None))
        return targets

    def specifies(self, inp: Symbol) -> bool:
        """Return whether the model itself specifies `inp` in every state in which the system may take it."""
        if self._alone is not None:
            # one look-up per draw, where `specified` would end up after two calls
            node = self._alone
            answers = node.moves if self.model.spec.partial is None else node.specified
            known = None if answers is None else answers.get(inp)
            return self.model.specified(node, inp) if known is None else bool(known)
        return _enough(self.model, self.relation, self.reached, inp, self.model.specified)

    def allows(self, inp: Symbol) -> bool:
        """Return whether the spec by which otf judges specifies `inp` in every state where the system may take it."""
        return _enough(self.model, self.relation, self.reached, inp, self.model.moves)


def _union(offers: list[EnabledInputs]) -> EnabledInputs:
    if not offers:
        return NO_INPUTS
    first = offers[0]
    if all(each is first for each in offers):
        return first
    return EnabledInputs.fixed(dict.fromkeys(chain.from_iterable([each.listed() for each in offers])))


def _enough(
    model: Model,
    relation: Relation,
    reached: tuple[Reach, ...],
    inp: Symbol,
    specifies: Callable[[Node, Symbol], object],
) -> bool:
    # an input may be taken before or after those in flight on other ports, but only after those on its own
    port = model.port(inp)
    answers = [bool(specifies(node, inp)) for node, busy in reached if port not in busy]
    return bool(answers) and (all(answers) if relation == "uioco" else any(answers))


def view(
    model: Model,
    relation: Relation,
    limits: Limits,
    hypotheses: Iterable[Hypothesis],
    long: Callable[[View], None] = lambda _: None,
) -> View:
    """Return the view of a set of explanations; `long` is called if its list of inputs turns out to be long.

    While an `Accept` is open, or may be when the input is taken, the state is unknown: then uioco enables no input.
    """
    ends = list(reachable(Moves(model, limits=limits), hypotheses))
    if relation == "uioco" and any(each.position is UNKNOWN for each in ends):
        ends = []
    return View.of(model, relation, tuple(dict.fromkeys(_reaches(ends))), long)


def _reaches(ends: Iterable[Hypothesis]) -> Iterator[Reach]:
    for end in ends:
        if isinstance(end.position, Node):
            yield Reach(end.position, tuple(port for port, _ in end.flight))


def reachable(moves: Moves, starts: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
    """Yield where the system may be when it takes the next input, by its moves until then; outputs are left out.

    If very many spontaneous moves lead to ever new states, it follows only the first: as much work as for one event.
    """
    seen, work = set[Hypothesis](), 0
    # hypotheses with fewer spontaneous outputs come first, so that no detour makes one be missed
    todo = deque((_bare(start), 0, 0) for start in starts)
    while todo and work <= moves.limits.work:
        now, spontaneous, internal = todo.popleft()
        if now in seen:
            continue
        seen.add(now)
        yield now
        for port, in_flight in now.flight:
            steps = moves.taking(now, port, in_flight[0])
            todo.extendleft((_bare(step.then), spontaneous, 0) for step in steps)
            work += len(steps)
        position, midway = now.position, not isinstance(now.position, Node)
        onward = moves.model.spontaneous(position) if isinstance(position, Node) else ()
        onward = position.moves if isinstance(position, Midway) else onward
        work += len(onward)
        for move in onward:
            then = Hypothesis(move.position, (), now.flight)
            if move.silent:
                todo.appendleft((then, spontaneous, _deeper(internal, then)))
            # a spontaneous Accept may begin at any time: following it would leave no input enabled
            elif (move.position is not UNKNOWN or midway) and spontaneous < moves.limits.spontaneous:
                todo.append((then, spontaneous + (not midway), 0))


def _bare(start: Hypothesis) -> Hypothesis:
    return Hypothesis(start.position, (), start.flight)


def _deeper(internal: int, then: Hypothesis) -> int:
    if internal < INTERNAL:
        return internal + 1
    raise endless(then)
