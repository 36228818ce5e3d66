"""Choosers by earlier trials: the least tried input, the least visited state; and changes that only time makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import repeat
from math import inf
from typing import Any, Final, TypeAlias

from otf.core import FEW, Chooser, Node, Symbol, View
from otf.spec import Elapse
from otf.strategy.pool import WIDE, Pool, VisitCounts
from otf.values import message_of

STAYS: Final = 0.05  # the chance, before each step, that a path stops going deeper


Rank: TypeAlias = Callable[[Symbol], Any]
"""The rank of an input: the lower, the better."""


@dataclass(frozen=True, slots=True)
class LeastInput:
    """A chooser that takes from the `pool` the input tried least in the possible states; of several, it draws one.

    `visits` has the number of trials of each input.

    >>> from random import Random
    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> LeastInput(Pool("uioco", Random(1)), VisitCounts()).choose(view).value
    'press'
    """

    pool: Pool
    visits: VisitCounts

    def choose(self, view: View) -> Symbol | None:
        """Return the next input of the path, None if no input is enabled."""
        if view.enabled.size > FEW or (self.visits.firsts > WIDE and self.visits.fresh(view)):
            return _draw(self.pool, self.visits, view, _trials_of(self.visits, view), 0)
        enabled = self.pool.of(view)
        return _choose(self.pool, self.visits, view, enabled, self.visits.tried(view, enabled))


@dataclass(slots=True)
class LeastNext:
    """A chooser that goes to the least visited state, and from a random moment on chooses the least tried inputs.

    `pool` has the inputs to choose from. `visits` has the numbers of visits and trials. `stays` is true once the random
    moment has come. If several inputs lead to equally visited states, the chooser takes the least tried of them.

    Without the random moment, the chooser would never leave deep states, since the states beyond were always visited
    less. In a simulation with ten mutants of a machine that counts money without bound, and ten seeds for each, it then
    missed five of these hundred in 10,000 steps; with the moment, it missed none.

    >>> from random import Random
    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> LeastNext(Pool("uioco", Random(1)), VisitCounts()).choose(view).value
    'press'
    """

    pool: Pool
    visits: VisitCounts
    stays: bool = False

    def choose(self, view: View) -> Symbol | None:
        """Return the next input of the path, None if no input is enabled."""
        if view.enabled.size > FEW or (self.visits.firsts > WIDE and self.visits.fresh(view)):
            return self._draw(view)
        enabled = self.pool.of(view)
        self.stays = self.stays or self.pool.random.random() < STAYS
        counts: list[Any] = self.visits.tried(view, enabled)
        if not self.stays:
            counts = list(zip(self.visits.reached(view, enabled), counts, strict=True))
        return _choose(self.pool, self.visits, view, enabled, counts)

    def _draw(self, view: View) -> Symbol | None:
        self.stays = self.stays or self.pool.random.random() < STAYS
        tried, reached = _trials_of(self.visits, view), _visits_of(self.visits, view)
        if self.stays:
            return _draw(self.pool, self.visits, view, tried, 0)
        return _draw(self.pool, self.visits, view, lambda inp: (reached(inp), tried(inp)), (0, 0))


@dataclass(frozen=True, slots=True)
class LeastState:
    """Chooses the input that leads to the least visited state; breaks ties at random."""

    pool: Pool
    visits: VisitCounts

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        if view.enabled.size > FEW or (self.visits.firsts > WIDE and self.visits.fresh(view)):
            return _draw(self.pool, self.visits, view, _visits_of(self.visits, view), 0)
        enabled = self.pool.of(view)
        return _choose(self.pool, self.visits, view, enabled, self.visits.reached(view, enabled))


def _choose(
    pool: Pool, visits: VisitCounts, view: View, enabled: Sequence[Symbol], counts: Sequence[Any]
) -> Symbol | None:
    if not enabled:
        return None
    least = min(counts)
    if counts.count(least) < len(counts):
        enabled = [inp for inp, count in zip(enabled, counts, strict=True) if count == least]
    chosen = pool.random.choice(enabled)
    visits.note(view, chosen)
    return chosen if pool.fresh is None else pool.sent(view, chosen)


@dataclass(frozen=True, slots=True)
class LeastAction:
    """Chooses among the inputs of the least used type, whatever the state; breaks ties at random.

    This is `ActionNameCoverage` of Jacky's PyModel, but where n types are enabled, it chooses among all inputs with a
    chance of 1/n. Without that it could hardly send one type several times in a row.
    """

    pool: Pool
    visits: VisitCounts

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        enabled = [*self.pool.candidates(view)] if view.enabled.size > FEW else self.pool.of(view)
        if not enabled:
            return None
        used, random = self.visits.actions, self.pool.random
        types = {action(inp) for inp in enabled}
        least = inf if random.random() * len(types) < 1 else min(used[each] for each in types)
        chosen = random.choice([inp for inp in enabled if used[action(inp)] <= least])
        used[action(chosen)] += 1
        self.visits.note(view, chosen)
        return self.pool.sent(view, chosen)


def _draw(pool: Pool, visits: VisitCounts, view: View, rank: Rank, lowest: object) -> Symbol | None:
    """Return the candidate with the least rank, the first of several; the `lowest` possible rank ends the search.

    Candidates are drawn independently, so each of the least ranked is equally likely to come first. With 31 draws for
    each choice, 300 choices try all of 250 inputs.
    """
    best, least = None, None
    for inp in pool.candidates(view):
        value = rank(inp)
        if least is None or value < least:
            best, least = inp, value
        if value == lowest:
            break
    if best is not None:
        visits.note(view, best)
    return best if pool.fresh is None else pool.sent(view, best)


def _trials_of(visits: VisitCounts, view: View) -> Rank:
    places = view.places
    if len(places) == 1:
        return visits.inputs[places[0]].__getitem__
    return lambda inp: visits.tried(view, (inp,))[0]


def _visits_of(visits: VisitCounts, view: View) -> Rank:
    times, targets, place = visits.states.get, view.targets, view.model.place

    def rank(inp: Symbol) -> int:
        nodes = targets(inp)
        if len(nodes) == 1:
            return times(place(nodes[0]), 0)
        return min(map(times, map(place, nodes), repeat(0)), default=0)

    return rank


def action(inp: Symbol) -> str:
    """Return the type of an input: its class, the name of an enumeration member, or a string itself."""
    value = message_of(inp.value)
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return value if isinstance(value, str) else getattr(value, "name", None) or type(value).__name__


SHOWN: Final = 0.5  # the chance to look at what a wait changed: the look may repair what is wrong unseen
PASSES: Final = 1 / 16  # the chance of a wait before a step, in a state that time would change
LISTED: Final = 1_000  # up to this many inputs, look at all of them for a wait, or for one that shows its effect


@dataclass(slots=True)
class AfterWaits:
    """Chooses like another chooser, but also looks for changes that only time makes, such as an expired item.

    Coverage alone hardly would, since it already knows the state without the item, and all its inputs. After a wait
    that changes the state, this often chooses an input whose outputs differ from those before. Now and then it also
    chooses a known wait that would change the state and was not tried there: of the waits that a chooser draws among a
    hundred inputs, five of six change nothing.
    """

    chooser: Chooser
    pool: Pool
    visits: VisitCounts
    before: tuple[Node, ...] = ()
    waits: dict[Symbol, None] = field(init=False)

    def __post_init__(self) -> None:
        """Share the known waits with the other paths."""
        self.waits = self.visits.waits

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        chosen = (self._planned(view) if self.waits else None) or self.chooser.choose(view)
        if chosen is not None and chosen.value.__class__ is Elapse:
            self.before = view.nodes
            self.waits[chosen] = None
        return chosen

    def _planned(self, view: View) -> Symbol | None:
        planned = self._showing_input(view) or self._waiting(view)
        self.before = ()
        if planned is not None:
            self.visits.note(view, planned)
        return planned

    def _showing_input(self, view: View) -> Symbol | None:
        """Return an input that shows what the last wait changed; None if no input would show it, and by chance."""
        if not self.before or set(self.before) == set(view.nodes) or self.pool.random.random() >= SHOWN:
            return None
        return next((inp for inp in self._draw(view) if _shown(view, self.before, inp)), None)

    def _draw(self, view: View) -> Iterable[Symbol]:
        if view.enabled.size > LISTED:
            return self.pool.candidates(view)
        # all of them: asking about each takes less time than the wait did
        enabled = self.pool.of(view)
        return self.pool.random.sample(enabled, len(enabled))

    def _waiting(self, view: View) -> Symbol | None:
        if self.pool.random.random() >= PASSES or view.enabled.size > LISTED:
            return None
        changing = [inp for inp in self.waits if set(view.targets(inp)) - set(view.nodes)]
        fresh = [inp for inp in changing if not self.visits.tried(view, (inp,))[0] and inp in view.enabled.all]
        return self.pool.random.choice(fresh) if fresh else None


def _shown(view: View, before: tuple[Node, ...], inp: Symbol) -> bool:
    """Return whether the model's outputs to an input differ from those in the earlier nodes."""
    then, now = (
        {(move.emitted, move.opening and move.opening.ports) for node in nodes for move in view.model.moves(node, inp)}
        for nodes in (before, view.nodes)
    )
    return then != now
