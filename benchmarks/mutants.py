"""Wrong systems: specs changed in one place, from which systems are made; the spec that judges stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final, TypeAlias

from benchmarks.blueprints import Blueprint, Branch
from benchmarks.drawn import LETTERS
from benchmarks.subjects import TICK

Change: TypeAlias = Callable[[Random, Blueprint, Branch], Branch | None]
MOVED: Final = (2, 8, 40, 200)  # ticks by which something is too late or too early


def mutated(random: Random, blueprint: Blueprint) -> tuple[Blueprint, str]:
    """Return the spec with one change, and the kind of the change."""
    places = [*blueprint.steps, *((state, "") for state in blueprint.spontaneous)]
    while True:
        state, inp = random.choice(places)
        branches = blueprint.branches((state, 0), inp)
        number = random.randrange(len(branches))
        kind = random.choice(list(CHANGES))
        branch = CHANGES[kind](random, blueprint, branches[number])
        if branch == branches[number] or (branch is None and inp):
            continue
        changed = () if branch is None else (branch,)
        return _put(blueprint, state, inp, (*branches[:number], *changed, *branches[number + 1 :])), kind


def _put(blueprint: Blueprint, state: str, inp: str, branches: tuple[Branch, ...]) -> Blueprint:
    steps, spontaneous = dict(blueprint.steps), dict(blueprint.spontaneous)
    if inp:
        steps[state, inp] = branches
    elif branches:
        spontaneous[state] = branches
    else:
        del spontaneous[state]
    return replace(blueprint, steps=steps, spontaneous=spontaneous, _known={}, _said={})


def _output(random: Random, _blueprint: Blueprint, branch: Branch) -> Branch:
    if branch.accepts:
        (seen, targets), *others = random.sample(branch.accepts, len(branch.accepts))
        return replace(branch, accepts=(((*seen[:-1], random.choice(LETTERS)), targets), *others))
    if not branch.items:
        return branch
    at = random.randrange(len(branch.items))
    return replace(branch, items=(*branch.items[:at], random.choice(LETTERS), *branch.items[at + 1 :]))


def _missing(_random: Random, _blueprint: Blueprint, branch: Branch) -> Branch:
    return replace(branch, items=branch.items[:-1], within=branch.within if branch.items[1:] else None)


def _surplus(random: Random, _blueprint: Blueprint, branch: Branch) -> Branch:
    return branch if branch.accepts else replace(branch, items=(*branch.items, random.choice(LETTERS)))


def _transfer(random: Random, blueprint: Blueprint, branch: Branch) -> Branch:
    states = sorted({state for state, _ in blueprint.steps})
    table = tuple((seen, (random.choice(states),)) for seen, _ in branch.accepts)
    within = branch.within
    if within and within[0] < TICK:
        # never at once: it might come back here again and again
        within = TICK, max(TICK, within[1])
    return replace(branch, target=random.choice(states), accepts=table, within=within)


def _late(random: Random, _blueprint: Blueprint, branch: Branch) -> Branch:
    if branch.after:
        return branch
    more = random.choice(MOVED) * TICK
    lo, hi = branch.within or (0.0, 0.0)
    return replace(branch, within=(max(lo, min(hi, lo + 400 * TICK)) + more, min(hi, lo + 400 * TICK) + more))


def _early(random: Random, _blueprint: Blueprint, branch: Branch) -> Branch:
    if branch.within is None:
        return branch
    # never at once: it might come over and over
    moment = max(TICK, branch.within[0] - random.choice(MOVED) * TICK)
    return replace(branch, within=(moment, moment))


def _dead(_random: Random, _blueprint: Blueprint, _branch: Branch) -> None:
    return None


def _timer(random: Random, _blueprint: Blueprint, branch: Branch) -> Branch:
    if not branch.starts or random.random() < 1 / 4:
        return replace(branch, starts=(), stops=())
    more = random.choice((-1, 1)) * random.choice(MOVED) * TICK
    # never at once: it might come over and over
    moments = {name: max(TICK, (lo if more < 0 else hi) + more) for name, (lo, hi) in branch.starts}
    return replace(branch, starts=tuple((name, (each, each)) for name, each in moments.items()))


def _forgetful(random: Random, blueprint: Blueprint, branch: Branch) -> Branch:
    return replace(branch, store=random.choice(("same", "more"))) if blueprint.memory > 1 else branch


CHANGES: Final[Mapping[str, Change]] = {
    "output": _output,
    "missing": _missing,
    "surplus": _surplus,
    "transfer": _transfer,
    "late": _late,
    "early": _early,
    "dead": _dead,
    "memory": _forgetful,
    "timer": _timer,
}
