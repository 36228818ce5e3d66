"""Strategies by name, strategies with arguments, and a strategy at work in a campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

from otf.core import FEW, Chooser, InputMode, Symbol, View
from otf.errors import USERS_OWN, OtfError, UsageError, choose
from otf.spec.redrawing import Redraw
from otf.spec.transition import RequirementIds, requirements
from otf.strategy.answers import LearntAnswers
from otf.strategy.least import AfterWaits, LeastAction, LeastInput, LeastNext, LeastState
from otf.strategy.memoryless import Script, Uniform, Weighted, Weights
from otf.strategy.names import SAYS
from otf.strategy.planned import Goal, Nearest, ToChanged
from otf.strategy.pool import ChangedFirst, FailingIn, PlanPatience, Pool, VisitCounts, endless
from otf.strategy.renames import FreshValues
from otf.values.arguments import checked
from otf.values.raised import blame


@dataclass(slots=True)
class Novelty:
    """Chooses by weight: prefers inputs that lead somewhere and were tried little after the same steps."""

    pool: Pool
    visits: VisitCounts
    answers: LearntAnswers = field(init=False)

    def __post_init__(self) -> None:
        """Begin a path."""
        self.visits.answers = self.answers = self.visits.answers or LearntAnswers()
        self.answers.begin()

    def choose(self, view: View) -> Symbol | None:
        """Return the next input, None if none is enabled."""
        enabled = [*self.pool.candidates(view)] if view.enabled.size > FEW else self.pool.of(view)
        if not enabled:
            return None
        self.answers.settle()
        chosen = self._drawn(enabled)
        self.visits.note(view, chosen)
        return self.pool.sent(view, chosen)

    def _drawn(self, enabled: Sequence[Symbol]) -> Symbol:
        return self.pool.random.choices(enabled, [self.answers.weight(inp.value) for inp in enabled])[0]


Answered = TypeVar("Answered")
Maker: TypeAlias = Callable[[Pool, VisitCounts], Chooser]


@dataclass(frozen=True, slots=True)
class StrategyKind:
    """A kind of strategy: its `name`, a description (`says`), and `makers`.

    Each of the `makers` returns an object that chooses the inputs of one path; the paths of a campaign use the makers
    in turn. When `done()` returns true, the strategy's goal is reached, and the campaign starts no more paths.
    `reached(state)` returns whether a path that is in `state` has reached its goal. `req` lists the requirements that a
    path demonstrates when it reaches the goal.

    >>> STRATEGIES["random"].name
    'random'
    """

    name: str
    says: str
    makers: tuple[Maker, ...]
    done: Callable[[], bool] = bool  # returns whether the goal is reached; a strategy without a goal never ends
    reached: Callable[[Any], bool] | None = None
    req: tuple[str, ...] = ()
    # whether the choices of the strategy depend on the events of the path
    listens: bool = False
    # whether the strategy prefers what is least tried; its paths then wait for timers that lead there
    covers: bool = False

    def __str__(self) -> str:
        """Return its name, as in the header of a trace."""
        return self.name


@checked
def weighted(weights: Weights) -> StrategyKind:
    """Return a strategy that draws inputs by weight: pass a number for each class or value, or a function of the input.

    If you give an input no weight, its weight is 1. otf never chooses an input of weight 0.

    >>> weighted({str: 3.0}).name
    'weighted'
    """
    return StrategyKind("weighted", "inputs by their weights", (lambda pool, _: Weighted(pool, weights),))


@checked
def goal(reached: Callable[[Any], bool], req: RequirementIds = ()) -> StrategyKind:
    """Return a strategy that goes to a state for which `reached` is true, and then sends the least tried inputs.

    A path demonstrates the requirements `req` if `reached` is true of every possible state while no input or output is
    in flight.

    >>> goal(lambda state: state == "full", req="R1").req
    ('R1',)
    """
    makers: tuple[Maker, ...] = (lambda pool, visits: Goal(pool, visits, reached),)
    return StrategyKind("goal", "to a goal, then the input tried least", makers, reached=reached, req=requirements(req))


@checked
def script(*paths: Iterable[Any], skip: bool = True) -> StrategyKind:
    """Return the strategy that sends the given inputs, one list for each path.

    If the model does not allow the next input, the strategy skips the input; if `skip` is false, the strategy raises
    ModelError. `script` raises UsageError if there are no paths.

    >>> script(["coin", "button"], ["button"]).name
    'script'
    """
    if not paths:
        raise UsageError("script(): give at least one list of inputs")
    return StrategyKind("script", "given inputs", tuple(_script_maker(path, skip=skip) for path in paths))


def _script_maker(path: Iterable[Any], *, skip: bool) -> Maker:
    inputs = list(path)
    return lambda _pool, _visits: Script(inputs, skip=skip)


def own(make: Callable[[], Chooser]) -> StrategyKind:
    """Return a strategy made from your own class; its method `choose(view)` returns one of `view.specified`, or None.

    Each path gets a new object of the class.

    >>> class First:
    ...     def choose(self, view):
    ...         return view.specified[0]
    >>> own(First).name
    'First'
    """
    return StrategyKind(getattr(make, "__name__", "own"), "a class of your own", (lambda _pool, _visits: _Own(make),))


class _Own:
    """The user's chooser. An exception in its code becomes a ModelError that says where."""

    def __init__(self, make: Callable[[], Chooser]) -> None:
        self._chooser = _asked(make)

    def choose(self, view: View) -> Symbol | None:
        return _asked(partial(self._chooser.choose, view))


def _asked(call: Callable[[], Answered]) -> Answered:
    try:
        return call()
    except (OtfError, *USERS_OWN):
        raise
    except BaseException as error:
        raise blame("the strategy raised", error) from error


def _covering(name: str, *makers: Maker) -> StrategyKind:
    """Return a strategy that covers what it counts, changed transitions first, and what only time changes."""
    return StrategyKind(name, SAYS[name], tuple(map(_changed_first, makers)), covers=True)


def _changed_first(maker: Maker) -> Maker:
    def make(pool: Pool, visits: VisitCounts) -> Chooser:
        chooser, changed = AfterWaits(maker(pool, visits), pool, visits), visits.changed
        return chooser if changed is None else ToChanged(chooser, pool, visits, changed)

    return make


def _alternating() -> StrategyKind:
    """Return the default: two ways to cover the model, and chance on each fifth path.

    The two find different mutants: the least tried input covers transitions, the least visited state goes deep. But a
    system may have states that the model has not, and no count tells what leads there: chance finds it in the end, in
    at most five times as many inputs as alone. Of 12 machines with a counter that the model has not, four seeds each,
    the slowest took 2,261 inputs in place of 8,171 (means of the seeds). A fifth shares no divisor with the paths that
    have bursts, one of four. Values that a Hypothesis strategy draws are left to chance on every path, and chance would
    only repeat them.
    """
    covering = _covering("alternating", LeastInput, LeastNext)
    first, *_ = covering.makers

    def chance(pool: Pool, visits: VisitCounts) -> Chooser:
        return Uniform(pool, visits) if pool.fresh is None else first(pool, visits)

    return replace(covering, makers=(*covering.makers * 2, chance))


_KINDS: Final = (
    _alternating(),
    _covering("least-input", LeastInput),
    _covering("least-next", LeastNext),
    _covering("least-state", LeastState),
    _covering("least-action", LeastAction),
    _covering("nearest", Nearest),
    replace(_covering("novelty", Novelty), listens=True),
    StrategyKind("random", SAYS["random"], (lambda pool, _visits: Uniform(pool),)),
)
STRATEGIES: Final[Mapping[str, StrategyKind]] = {kind.name: kind for kind in _KINDS}
"""The strategies that have no arguments, by the names that `otf run --strategy` takes.

>>> STRATEGIES["random"].says
'any input with the same probability'
"""


@dataclass(slots=True)
class Strategy:
    """A strategy in one campaign, given by its `name` or as a `StrategyKind`.

    `kind` is the `StrategyKind` with this name. `mode` decides which inputs the strategy may send. `seed` determines
    its choices. `visits` counts how often all paths have sent each input in each state.

    >>> strategy = Strategy("random", "uioco", seed=1)
    >>> hasattr(strategy.path(1), "choose")
    True
    """

    name: str | StrategyKind
    mode: InputMode
    seed: int
    visits: VisitCounts = field(default_factory=VisitCounts)
    # how long a system may wait while we plan a path
    patience: PlanPatience = endless
    # what the first paths look for, if the strategy covers what it counts
    changed: ChangedFirst | None = None
    # how paths draw new values: `redraw_of` the inputs; None: they send the sample
    redraw: Redraw | None = None
    # the failures so far, for a new path
    steering: Callable[[], FailingIn | None] = lambda: None
    kind: StrategyKind = field(init=False)

    def __post_init__(self) -> None:
        """Look up the kind. Raises UsageError for an unknown name, with the nearest known one."""
        self.kind = known(self.name)

    def path(self, number: int) -> Chooser:
        """Return the chooser of a path, given its number (from 1); equal seeds and numbers give equal choices."""
        makers = self.kind.makers
        seed = f"{self.seed}/{number}"
        fresh = None if self.redraw is None else FreshValues(self.redraw, seed)
        pool = Pool(self.mode, Random(seed), self.patience, self.steering(), fresh)
        self.visits.changed = self.changed if self.changed is not None and number <= self.changed.paths else None
        return makers[(number - 1) % len(makers)](pool, self.visits)


def known(name: str | StrategyKind) -> StrategyKind:
    """Return the strategy of that name. Raises UsageError for an unknown one, with the nearest known."""
    if isinstance(name, StrategyKind):
        return name
    if name in STRATEGIES:
        return STRATEGIES[name]
    raise UsageError(f"there is no strategy {name!r}; {choose(name, STRATEGIES, 'there are')}")
