"""The first guess: how little of the issue is enough? The cheapest guesses come first.

*Jumps* keep the last inputs and reach their first state by the shortest way; they find faults that depend on recent
steps. *Pumps* repeat one kind of transition as often as the issue has it; they find faults that count what the model
does not. *Pairs* make a transition of one kind and then the failing kind. Pumps and pairs are tried only if no run is
evidence against them: otherwise dozens of them, all passing, cost more than everything else.

A *race* shows by chance, so each candidate needs many runs, and a pass is little evidence. Most races need only the
last bursts, either from the start or from the state where they began, reached by the shortest way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from math import ceil
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from otf.core import Oracle
from otf.shrink.issue import ANY, Candidate, Issue, ModelStep, NodeSet, Thinking, Trait
from otf.shrink.plan import StepPlan, again
from otf.shrink.search import AttemptResult, Attempts, ShrinkSearch
from otf.shrink.shortest_ways import ModelMap, ModelSteps
from otf.spec import Idle
from otf.spec.offering import LONGEST

LATER: Final = 14  # inputs by which other guesses are delayed: jumps that pass are evidence against many of them
PAIR: Final = LATER + 3
FEW: Final = 4  # inputs: shorter jumps are tried before the wait
WAYS: Final = 3  # a jump through timers, where time passes on the way, counts as this many times its inputs
MANY: Final = 10  # inputs: of fewer, each can be left out
LONG: Final = 1.0  # seconds after which a wait may be the cause of a failure
SIGNS: Final = frozenset({AttemptResult.FAILED, AttemptResult.OTHERWISE})  # another failure may be the same, overshot
SPARED: Final = frozenset({AttemptResult.SPARED})  # the whole issue needs no run before trying less of it


Jump: TypeAlias = Callable[[ShrinkSearch, ModelSteps, int], Thinking[ModelSteps]]
"""Returns a walk that ends with the last inputs of a run, given the search, the run, and how many to keep."""


def _never() -> bool:
    return False


class Rung(NamedTuple):
    """A guess: about how many inputs it takes, how to make it, and how to reduce it once it has failed.

    `hopeless` returns whether a passed run is evidence against it.
    """

    price: int
    walk: Callable[[], Thinking[ModelSteps]]
    less: Callable[[], Attempts]
    signs: frozenset[AttemptResult] = frozenset({AttemptResult.FAILED})
    hopeless: Callable[[], bool] = _never


def climb(search: ShrinkSearch, *, waited: bool = False) -> Attempts:
    """Try one guess of a shorter path after another until a guess fails, and then shorten that guess.

    `waited` is true if a path without inputs, as long as the failing path, did not fail.
    """
    search.begin("ladder")
    guesses = [*_jumps(search), *_wait(search, waited=waited), *_pairs_and_pumps(search)]
    rungs = iter(sorted(guesses, key=lambda rung: rung.price))
    found = False
    while not found:
        rung = next(rungs)  # the whole issue is one of them, and fails if no other does
        found = not rung.hopeless() and (yield from _step_on(search, rung))
    return found


def _step_on(search: ShrinkSearch, rung: Rung) -> Attempts:
    result = yield from search.attempt((yield from rung.walk()))
    return result in rung.signs and ((yield from rung.less()) or result is AttemptResult.FAILED)


def _jumps(search: ShrinkSearch) -> Iterator[Rung]:
    steps, too_few = search.ways.clean(search.best.steps), 0
    # 1, 2, 3, 4, 6, 9, ...: a factor of two overshoots, and every input of a long suffix costs
    kept = 1
    while kept < len(steps):
        for jump, price in _jumps_to(search, kept):
            yield Rung(price, partial(jump, search, steps, kept), partial(_shorter, search, jump, steps, too_few, kept))
        too_few, kept = kept, max(kept + 1, kept * 3 // 2)
    yield Rung(len(steps), _no_walk, partial(_shorter, search, _jump, steps, too_few, len(steps)), SPARED)


def _jumps_to(search: ShrinkSearch, kept: int) -> Iterator[tuple[Jump, int]]:
    if search.ways.model.timed:
        yield _tail, kept
    yield _jump, LATER + WAYS * kept if search.ways.model.timed else kept


def _wait(search: ShrinkSearch, *, waited: bool) -> Iterator[Rung]:
    seconds, steps = search.best.seconds, search.best.steps
    if not waited and search.ways.model.timed and seconds >= LONG and len(steps) > FEW:
        # it takes as long as the issue itself, and rules out whatever time alone may cause
        yield Rung(max(FEW, len(steps) // FEW), partial(_waiting, search, seconds), _nothing)


def _waiting(search: ShrinkSearch, seconds: float) -> Thinking[ModelSteps]:
    last = search.best.steps[-1]
    way = (yield from search.ways.path(search.ways.start, last.nodes)) or ()
    idle = search.ways.model.symbol(Idle(min(LONGEST, ceil(seconds))))
    return (*way, ModelStep(last.nodes, idle, last.nodes), last)


def _no_walk() -> Thinking[ModelSteps]:
    yield from ()
    return ()


def _jump(search: ShrinkSearch, steps: ModelSteps, kept: int) -> Thinking[ModelSteps]:
    before, after = steps[:-kept], steps[-kept:]
    way = yield from search.ways.path(search.ways.start, after[0].nodes)
    if way is None:
        way = yield from search.ways.shortened(before)
    return (*way, *after)


def _tail(search: ShrinkSearch, steps: ModelSteps, kept: int) -> Thinking[ModelSteps]:
    """Return only the last inputs, if the final one can still fail: a way through timers takes long."""
    yield from ()
    walk = search.ways.along(steps[-kept:])
    return walk if len(walk) == kept and search.bears(walk[-1]) else ()


def _shorter(search: ShrinkSearch, jump: Jump, steps: ModelSteps, low: int, high: int) -> Attempts:
    while high - low > 1:
        middle = (low + high) // 2
        walk = yield from jump(search, steps, middle)
        if (yield from search.fails(walk)):
            high = middle
        else:
            low = middle
    return True


def _pairs_and_pumps(search: ShrinkSearch) -> Iterator[Rung]:
    steps, timed, price, harmless = search.best.steps, search.ways.model.timed, 0, search.harmless
    for trait, times in _counts(search).items():
        if trait == ANY:
            continue
        yield Rung(PAIR, partial(_pair, search, trait), _nothing, hopeless=partial(harmless.known, trait, 1))
        if times > 1:
            less = partial(_fewer, search, trait, times, steps[-1])
            walk, hopeless = partial(_pump, search, trait, times, steps[-1]), partial(harmless.known, trait, times)
            # where each takes real time, many of them wait until the run is cut
            price = price + WAYS * times if timed else times
            yield Rung(LATER + price, walk, less, SIGNS, hopeless)


def _counts(search: ShrinkSearch) -> Counter[Trait]:
    return Counter(trait for step in search.best.steps[:-1] for trait in search.traits.of(step))


def counted(search: ShrinkSearch) -> Attempts:
    """Try whether only the number of inputs matters, or the number of inputs of one kind.

    For example, a system may fail after the hundredth command, whatever the commands are.
    """
    search.begin("count")
    steps, counts = search.best.steps, _counts(search)
    for trait, times in sorted(counts.items(), key=itemgetter(1)) if len(steps) > MANY else ():
        if times > FEW and not search.harmless.known(trait, times):
            walk = yield from _pump(search, trait, times, None if search.ends_anywhere else steps[-1])
            # the way to the last step counts as well
            if (yield from search.fails(walk[max(0, len(walk) - len(steps)) :], as_long=True)):
                return True
    return False


def _nothing() -> Attempts:
    yield from ()
    return True


def _pair(search: ShrinkSearch, trait: Trait) -> Thinking[ModelSteps]:
    walk = yield from _times(search, trait, 1)
    if not walk:
        return ()
    wanted = search.wanted
    end = yield from search.ways.nearest(walk[-1].target, lambda step: wanted <= search.traits.fine(step))
    return (*walk, *end) if end else ()


def _pump(search: ShrinkSearch, trait: Trait, times: int, last: ModelStep | None) -> Thinking[ModelSteps]:
    walk = yield from _times(search, trait, times + (last is None))
    if last is None:
        return walk
    way = (yield from search.ways.path(walk[-1].target, last.nodes)) if walk else None
    return () if way is None else (*walk, *way, last)


def _times(search: ShrinkSearch, trait: Trait, times: int) -> Thinking[ModelSteps]:
    walk, nodes, known = list[ModelStep](), search.ways.start, dict[NodeSet, ModelSteps | None]()
    for _ in range(times):
        if nodes not in known:
            known[nodes] = yield from search.ways.nearest(nodes, lambda step: trait in search.traits.of(step))
        way = known[nodes]
        if way is None:
            return ()
        walk += way
        nodes = way[-1].target
    return tuple(walk)


def _fewer(search: ShrinkSearch, trait: Trait, times: int, last: ModelStep) -> Attempts:
    low, high, failed = 0, times, False
    while high - low > 1:
        middle = (low + high) // 2
        walk = yield from _pump(search, trait, middle, last)
        result = yield from search.attempt(walk)
        low, high = (low, middle) if result in SIGNS else (middle, high)
        failed = failed or result is AttemptResult.FAILED
    return failed


FEW_BURSTS: Final = 4


def last_bursts(issue: Issue, oracle: Oracle) -> Thinking[list[Candidate]]:
    """Return the last 1, 2, 3, 4, 8, 16 … bursts of a failing path as candidates, and at last the whole path.

    A burst is a group of inputs that otf sends at once.

    >>> from otf.core import Model, Symbol
    >>> from otf.shrink import ModelStep
    >>> from otf.shrink.issue import completed
    >>> from otf.spec import Spec, goto
    >>> oracle = Oracle(Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])))
    >>> step = ModelStep(frozenset([oracle.model.initial]), oracle.model.symbol("press"))
    >>> [len(each.steps) for each in completed(last_bursts(Issue((step, step)), oracle))[:-1]]
    [1]
    """
    ways, steps = ModelMap(oracle), issue.steps
    ways.learn(steps)
    found = dict[ModelSteps, None]()
    for begin in _begins(steps):
        way = yield from _way(ways, steps[begin].nodes)
        for before in ((), way or ()):
            found[ways.along((*before, *steps[begin:]))] = None
    shorter = sorted((walk for walk in found if 0 < len(walk) < len(steps)), key=len)
    return [*(StepPlan(walk, ways) for walk in shorter), again(issue, oracle)]


def _begins(steps: ModelSteps) -> Iterator[int]:
    """Yield where the last bursts begin; an input sent alone is one."""
    every = [at for at, step in enumerate(steps) if not at or not 0 < step.burst == steps[at - 1].burst]
    kept = 1
    while kept < len(every):
        yield every[-kept]
        kept += 1 if kept < FEW_BURSTS else kept


def _way(ways: ModelMap, nodes: NodeSet) -> Thinking[ModelSteps | None]:
    """Return the shortest way to nodes, or to one of them: a run without bursts reaches a single state."""
    for target in (nodes, *(frozenset([each]) for each in nodes)):
        way = yield from ways.path(ways.start, target)
        if way is not None:
            return way
    return None


def one_by_one(search: ShrinkSearch) -> Attempts:
    """Send the inputs of each burst one after another instead of at once, as long as the path still fails."""
    search.begin("bursts")
    steps = search.best.steps
    for burst in dict.fromkeys(step.burst for step in steps if step.burst):
        if (yield from search.fails((_alone(step, burst) for step in steps), as_long=True)):
            return True
    return False


def _alone(step: ModelStep, burst: int) -> ModelStep:
    return step._replace(burst=0) if step.burst == burst else step
