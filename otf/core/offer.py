"""Which inputs may be offered now: in which states would the system take them, and what does the model say there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from otf.core.belief import Belief
from otf.core.hypothesis import Hypothesis, moved, taken
from otf.core.model import Model
from otf.core.places import Open, Place
from otf.core.queues import queue
from otf.core.search import INTERNAL, Limits, Relation, endless
from otf.core.symbols import Symbol

InputMode = Literal["uioco", "any", "all", "mixed"]


class Reach(NamedTuple):
    """A place that the system may be in, and the ports that have inputs in flight still to be taken there."""

    place: Place
    busy: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class View:
    """What a chooser sees: the places that all inputs in flight may lead to, and the inputs by what the model says.

    `specified`: the model itself says what happens on them wherever they may be taken. `others`: it does not (offered
    in the modes `all` and `mixed`, judged against the completed spec). `allows` asks for any input, listed or not.
    """

    model: Model
    relation: Relation
    reached: tuple[Reach, ...]
    places: tuple[Place, ...]
    specified: tuple[Symbol, ...]
    others: tuple[Symbol, ...]
    _targets: dict[Symbol, tuple[Place, ...]] = field(default_factory=dict[Symbol, tuple[Place, ...]], compare=False)

    def targets(self, inp: Symbol) -> tuple[Place, ...]:
        """Return the states that an input may lead to."""
        targets = self._targets.get(inp)
        if targets is None:
            found = (move.target for place in self.places for move in self.model.moves(place, inp))
            targets = self._targets[inp] = tuple(dict.fromkeys(each for each in found if isinstance(each, Place)))
        return targets

    def allows(self, inp: Symbol) -> bool:
        """Tell whether the spec that judges says what happens on `inp`, wherever it may be taken."""
        return _enough(self.model, self.relation, self.reached, inp, self.model.moves)


def view(model: Model, relation: Relation, limits: Limits, belief: Belief) -> View:
    """Return what may be offered in a belief.

    Where an `Accept` is open, or may be when the input is taken, the state is not known yet: by uioco nothing may be
    offered then.
    """
    ends = list(reachable(model, limits, belief.hypotheses))
    if relation == "uioco" and any(isinstance(each.spot, Open) for each in ends):
        ends = []
    reached = tuple(dict.fromkeys(_reach(each, each.spot) for each in ends if isinstance(each.spot, Place)))
    places = tuple(each.place for each in reached if not each.busy)
    inputs = dict.fromkeys(inp for place in places for inp in model.offers(place))
    specified = {inp: _enough(model, relation, reached, inp, model.specified) for inp in inputs}
    said, unsaid = (tuple(inp for inp in inputs if specified[inp] is wanted) for wanted in (True, False))
    return View(model, relation, reached, places, said, unsaid)


def _reach(end: Hypothesis, place: Place) -> Reach:
    return Reach(place, tuple(port for port, _ in end.flight))


def _enough(
    model: Model, relation: Relation, reached: tuple[Reach, ...], inp: Symbol, says: Callable[[Place, Symbol], object]
) -> bool:
    # inputs on other ports may be taken before those in flight or after them, on the same port only after them
    port = model.routes.into(inp.value)
    answers = [bool(says(place, inp)) for place, busy in reached if port not in busy]
    return bool(answers) and (all(answers) if relation == "uioco" else any(answers))


def reachable(model: Model, limits: Limits, starts: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
    """Yield what the system may be in when it takes the next input: its moves until then, what they owe left aside."""
    seen = set[Hypothesis]()
    # those with fewer unasked outputs on the way come first, so that none is missed for having been found by a detour
    todo = deque((start, 0, 0) for start in dict.fromkeys(map(_bare, starts)))
    while todo:
        now, unasked, internal = todo.popleft()
        if now in seen:
            continue
        seen.add(now)
        yield now
        todo.extendleft((then, unasked, 0) for then in _taking(model, now))
        for then, silent in _unasked(model, now):
            if silent:
                todo.appendleft((then, unasked, _deeper(internal, then)))
            elif unasked < limits.unasked:
                todo.append((then, unasked + 1, 0))


def _bare(start: Hypothesis) -> Hypothesis:
    return start._replace(owed=(), held=(), beyond=())


def _taking(model: Model, now: Hypothesis) -> Iterator[Hypothesis]:
    if isinstance(now.spot, Place):
        for port, _ in now.flight:
            for move in model.moves(now.spot, queue(now.flight, port)[0].symbol):
                yield moved(taken(now, port), move)._replace(owed=())


def _unasked(model: Model, now: Hypothesis) -> Iterator[tuple[Hypothesis, bool]]:
    if isinstance(now.spot, Place):
        for move in model.unasked(now.spot):
            # an Accept that may come unasked at any time would leave nothing that may be offered, ever
            if not isinstance(move.target, Open):
                yield moved(now, move)._replace(owed=()), move.silent


def _deeper(internal: int, then: Hypothesis) -> int:
    if internal < INTERNAL:
        return internal + 1
    raise endless(then)
