"""Visits counted over all paths of a campaign, and the choosers that use them: least tried, least visited."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from otf.core import FEW, Node, Symbol, View
from otf.strategy.pool import Pool

if TYPE_CHECKING:
    from otf.strategy.answers import LearntAnswers

STAYS: Final = 0.05  # the chance, before each step, that a path stops going deeper
PATHS: Final = 10  # of a lane that look for changed transitions, and two more for each of these
STATES: Final = 50_000  # states with counts; of more, those visited once are forgotten, since they may never come again
WIDE: Final = 1_000  # states visited, of which few inputs are drawn too: most states do not come again then

Key = TypeVar("Key", bound=Hashable)

Rank: TypeAlias = Callable[[Symbol], Any]
"""How little an input is to be preferred."""


class PathCounts(Counter[Key]):
    """How often each key came on one path; of too many, those that came once are dropped: a path may last all night."""

    def note(self, key: Key) -> None:
        """Count a key."""
        self[key] += 1
        if len(self) > STATES:
            once = [key for key, times in self.items() if times == 1]
            for each in once or [*self]:
                del self[each]


def _counts() -> defaultdict[Node, defaultdict[Symbol, int]]:
    return defaultdict(lambda: defaultdict(int))


@dataclass(slots=True)
class VisitCounts:
    """The number of visits of each state, trials of each input there, and uses of each kind of input.

    >>> from otf.core import Model, Oracle
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> view = oracle.view(oracle.start())
    >>> visits = VisitCounts()
    >>> visits.note(view, view.specified[0])
    >>> visits.tried(view, view.specified)
    [1]
    """

    states: defaultdict[Node, int] = field(default_factory=lambda: defaultdict[Node, int](int))
    inputs: defaultdict[Node, defaultdict[Symbol, int]] = field(default_factory=_counts)
    actions: defaultdict[str, int] = field(default_factory=lambda: defaultdict[str, int](int))
    # inputs that only wait, of those chosen so far
    waits: dict[Symbol, None] = field(default_factory=dict[Symbol, None])
    # the choices of this path, for a journal that takes them
    log: PathCounts[tuple[Node, Symbol]] | None = None
    # what inputs led to, by the answers; None until a strategy asks
    answers: LearntAnswers | None = None
    # transitions that the path to come looks for before anything else
    changed: ChangedFirst | None = None
    # how often a state was visited for the first time
    firsts: int = 0
    # the last state whose trials were looked up, and those: a choice is noted where its trials were compared
    _node: Node | None = field(default=None, init=False, repr=False)
    _trials: dict[Symbol, int] = field(default_factory=dict[Symbol, int], init=False, repr=False)

    def note(self, view: View, chosen: Symbol) -> None:
        """Count a choice."""
        for node in view.places:
            self.states[node] = times = self.states[node] + 1
            trials = self._trials if node is self._node else self.inputs[node]
            trials[chosen] += 1
            if self.log is not None:
                self.log.note((node, chosen))
            if times == 1:
                self.firsts += 1
                if len(self.states) > STATES:
                    self._forget()

    def fresh(self, view: View) -> bool:
        """Return whether all its states are visited for the first time, of many: they may never come again.

        Then inputs are drawn even if few are enabled: of ten, nine would be asked about for nothing.
        """
        return self.firsts > WIDE and not any(map(self.states.get, view.places))

    def _forget(self) -> None:
        # by what the paths visited alone: a seed gives one path, whatever else is remembered
        kept = [node for node, times in self.states.items() if times > 1][-STATES // 2 :]
        states, inputs = self.states.copy(), self.inputs.copy()
        self._node = None
        self.states.clear()
        self.inputs.clear()
        self.states.update((node, states[node]) for node in kept)
        self.inputs.update((node, inputs[node]) for node in kept if node in inputs)

    def tried(self, view: View, enabled: Sequence[Symbol]) -> list[int]:
        """Return how often each input was tried, in the node where that is least."""
        places = view.places
        if len(places) == 1:
            # nearly always: a deterministic system, or one that has shown what it chose
            self._node = places[0]
            self._trials = trials = self.inputs[self._node]
            return list(map(trials.__getitem__, enabled))
        tables = [self.inputs[node] for node in places]
        return [min(table[inp] for table in tables) for inp in enabled]

    def reached(self, view: View, enabled: Sequence[Symbol]) -> list[int]:
        """Return the visits of the least visited state that each input may lead to."""
        times, place = self.states.get, view.model.place
        return [min(map(times, map(place, view.targets(inp)), repeat(0)), default=0) for inp in enabled]


class ChangedFirst:
    """What comes first on the paths of a lane: transitions that changed, by names of states and inputs.

    `name` names a state or input by its key; paths up to the number `paths` look for them, so that those which none
    reaches cost little.

    >>> changed = ChangedFirst([("s1", "i1"), ("s1", "i2")], str)
    >>> sorted(changed.left["s1"]), changed.paths
    (['i1', 'i2'], 14)
    """

    def __init__(self, changed: Iterable[tuple[str, str]], name: Callable[[Hashable], str], lanes: int = 1) -> None:
        self.left: dict[str, set[str]] = {}
        for state, inp in changed:
            self.left.setdefault(state, set()).add(inp)
        # by number alone: a campaign that is continued drives the same paths
        self.paths: int = lanes * (PATHS + 2 * sum(map(len, self.left.values()))) if self.left else 0
        self.name = name

    def untried(self, view: View, visits: VisitCounts, node: Node) -> list[Symbol]:
        """Return the changed inputs of a state that no path has tried there."""
        wanted = self.left.get(self.name(node.key))
        if not wanted:
            return []
        tried, model = visits.inputs[view.model.place(node)], view.model
        found = [inp for inp in model.enabled_inputs(node) if not tried[inp] and self.name(inp.key) in wanted]
        found = [inp for inp in found if model.specified(node, inp)]
        if not found:
            del self.left[self.name(node.key)]
        return found


@dataclass(frozen=True, slots=True)
class LeastInput:
    """Chooses the input that was tried least in the possible states; ties by chance.

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
        """Return the next input, None if none is enabled."""
        if view.enabled.size > FEW or (self.visits.firsts > WIDE and self.visits.fresh(view)):
            return _drawn(self.pool, self.visits, view, _tried(self.visits, view), 0)
        enabled = self.pool.of(view)
        return _chosen(self.pool, self.visits, view, enabled, self.visits.tried(view, enabled))


@dataclass(slots=True)
class LeastNext:
    """Goes to the least visited state, and from a random moment on tries the least tried inputs there.

    Without that moment it would never leave deep states: those beyond them were always visited less. In simulation, of
    ten mutants of a machine that counts money without bound, with ten seeds each, five of the hundred were missed in
    10,000 steps by the default strategy; with it none, and the conference's 27 mutants took 1,343 steps instead of
    1,569 (means of 30 seeds, summed). Ties go to the input that was tried least.

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
        """Return the next input, None if none is enabled."""
        if view.enabled.size > FEW or (self.visits.firsts > WIDE and self.visits.fresh(view)):
            return self._drawn(view)
        enabled = self.pool.of(view)
        self.stays = self.stays or self.pool.random.random() < STAYS
        counts: list[Any] = self.visits.tried(view, enabled)
        if not self.stays:
            counts = list(zip(self.visits.reached(view, enabled), counts, strict=True))
        return _chosen(self.pool, self.visits, view, enabled, counts)

    def _drawn(self, view: View) -> Symbol | None:
        self.stays = self.stays or self.pool.random.random() < STAYS
        tried, reached = _tried(self.visits, view), _reached(self.visits, view)
        if self.stays:
            return _drawn(self.pool, self.visits, view, tried, 0)
        return _drawn(self.pool, self.visits, view, lambda inp: (reached(inp), tried(inp)), (0, 0))


@dataclass(frozen=True, slots=True)
class LeastState:
    """Chooses the input that leads to the least visited state; ties by chance."""

    pool: Pool
    visits: VisitCounts

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        if view.enabled.size > FEW or (self.visits.firsts > WIDE and self.visits.fresh(view)):
            return _drawn(self.pool, self.visits, view, _reached(self.visits, view), 0)
        enabled = self.pool.of(view)
        return _chosen(self.pool, self.visits, view, enabled, self.visits.reached(view, enabled))


def _chosen(
    pool: Pool, visits: VisitCounts, view: View, enabled: Sequence[Symbol], counts: Sequence[Any]
) -> Symbol | None:
    if not enabled:
        return None
    least = min(counts)
    if counts.count(least) < len(counts):
        enabled = [inp for inp, count in zip(enabled, counts, strict=True) if count == least]
    # as `choice` draws, without its two calls
    size, bits = len(enabled), pool.random.getrandbits
    length = size.bit_length()
    at = bits(length)
    while at >= size:
        at = bits(length)
    chosen = enabled[at]
    visits.note(view, chosen)
    return chosen if pool.fresh is None else pool.sent(view, chosen)


@dataclass(frozen=True, slots=True)
class LeastAction:
    """Chooses among the inputs of the kind used least, whatever the state; ties by chance.

    As `ActionNameCoverage` of Jacky's PyModel.
    """

    pool: Pool
    visits: VisitCounts

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        used = self.visits.actions
        if view.enabled.size > FEW:
            chosen = _drawn(self.pool, self.visits, view, lambda inp: used[action(inp)], 0)
            if chosen is not None:
                used[action(chosen)] += 1
            return chosen
        enabled = self.pool.of(view)
        if not enabled:
            return None
        least = min(used[action(inp)] for inp in enabled)
        chosen = self.pool.random.choice([inp for inp in enabled if used[action(inp)] == least])
        used[action(chosen)] += 1
        self.visits.note(view, chosen)
        return self.pool.sent(view, chosen)


def _drawn(pool: Pool, visits: VisitCounts, view: View, rank: Rank, lowest: object) -> Symbol | None:
    """Return the candidate of the least rank, the first of several; the `lowest` rank there is ends the search.

    Candidates are drawn independently, so the first is any of the least with the same probability. With 31 drawn for
    each one chosen, all of 250 inputs are tried within 300 choices.
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


def _tried(visits: VisitCounts, view: View) -> Rank:
    places = view.places
    if len(places) == 1:
        return visits.inputs[places[0]].__getitem__
    return lambda inp: visits.tried(view, (inp,))[0]


def _reached(visits: VisitCounts, view: View) -> Rank:
    times, targets, place = visits.states.get, view.targets, view.model.place

    def rank(inp: Symbol) -> int:
        nodes = targets(inp)
        if len(nodes) == 1:
            return times(place(nodes[0]), 0)
        return min(map(times, map(place, nodes), repeat(0)), default=0)

    return rank


def action(inp: Symbol) -> str:
    """Return the kind of an input: its class, its name if it is a member of an enumeration, or the word itself."""
    value = inp.value
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return value if isinstance(value, str) else getattr(value, "name", None) or type(value).__name__
