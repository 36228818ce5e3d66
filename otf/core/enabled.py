"""What may be sent: which inputs may be offered, given every place in which the system may take them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from otf.core.belief import Belief
from otf.core.hypothesis import Hypothesis
from otf.core.model import Model
from otf.core.moves import INTERNAL, Limits, Moves, Next, Relation, endless
from otf.core.nodes import UNKNOWN, Node
from otf.core.view import Reach, View


def view(model: Model, relation: Relation, limits: Limits, belief: Belief) -> View:
    """Return what may be offered in a belief.

    Where an `Accept` is open, or may be when the input is taken, the state is not known yet: by uioco nothing may be
    offered then.
    """
    ends = list(reachable(Moves(model, limits=limits), belief.hypotheses))
    if relation == "uioco" and any(each.position is UNKNOWN for each in ends):
        ends = []
    return View.of(model, relation, tuple(dict.fromkeys(_reaches(ends))))


def _reaches(ends: Iterable[Hypothesis]) -> Iterator[Reach]:
    for end in ends:
        if isinstance(end.position, Node):
            yield Reach(end.position, tuple(port for port, _ in end.flight))


def reachable(moves: Moves, starts: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
    """Yield where the system may be when it takes the next input: its moves until then, what they owe left aside."""
    seen = set[Hypothesis]()
    # those with fewer unasked outputs on the way come first, so that none is missed for having been found by a detour
    todo = deque((_bare(start), 0, 0) for start in starts)
    while todo:
        now, spontaneous, internal = todo.popleft()
        if now in seen:
            continue
        seen.add(now)
        yield now
        for step in moves.of(now):
            then = _bare(step.then)
            if step.in_flight is not None:
                todo.appendleft((then, spontaneous, 0))
            elif step.move is None or step.move.silent:
                todo.appendleft((then, spontaneous, _deeper(internal, then)))
            elif _followed(now, step) and spontaneous < moves.limits.spontaneous:
                todo.append((then, spontaneous + isinstance(now.position, Node), 0))


def _followed(now: Hypothesis, step: Next) -> bool:
    # an Accept that may come unasked at any time would leave nothing that may be offered, ever
    return step.then.position is not UNKNOWN or not isinstance(now.position, Node)


def _bare(start: Hypothesis) -> Hypothesis:
    return Hypothesis(start.position, (), start.flight)


def _deeper(internal: int, then: Hypothesis) -> int:
    if internal < INTERNAL:
        return internal + 1
    raise endless(then)
