"""Smaller specs for the same events, without the parts that the system did not use and the failure does not need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from benchmarks.blueprints import Blueprint, Branch
from benchmarks.simulating import FEW, Rehearsal, Simulated, Use
from benchmarks.solver import decided
from otf.core import Model, Monitor, Oracle, Timing
from otf.trace.events import Event
from otf.trace.verdict import Verdict

Key = TypeVar("Key")


def smallest(rehearsal: Rehearsal, run: Simulated) -> Blueprint:
    """Return the spec without the parts that a conforming system did not use and the verdict does not need.

    The system conforms to such a spec as well: it used only the rest. For a wrong system as much is left out as
    the solver allows.
    """
    blueprint = rehearsal.blueprint
    wrong, bounds = bool(rehearsal.change), rehearsal.bounds
    before = decided(blueprint, run.events, bounds.latency, bounds.busy) if wrong else ""
    used = set[Use]() if wrong else run.used
    for use in sorted(_uses(blueprint) - used, reverse=True):
        fewer = _without(blueprint, use)
        if judged(fewer, rehearsal.timing, run.events).outcome == run.verdict.outcome and (
            not wrong or decided(fewer, run.events, bounds.latency, bounds.busy) == before
        ):
            blueprint = fewer
    return blueprint


def judged(blueprint: Blueprint, timing: Timing, events: Iterable[Event]) -> Verdict:
    """Return the verdict of these events by a spec."""
    model = Model(blueprint.spec(), blueprint.routes())
    monitor = Monitor(Oracle(model, "uioco", FEW, timing))
    return next((verdict for verdict in map(monitor.tell, events) if verdict is not None), monitor.end())


def told(blueprint: Blueprint) -> Iterator[str]:
    """Yield the lines of a spec, as a person reads them."""
    yield f"starts in {blueprint.initial}; ports {dict(blueprint.inputs)}, {dict(blueprint.outputs)}"
    known = {**blueprint.steps, **{(state, "spontaneous"): found for state, found in blueprint.spontaneous.items()}}
    for (state, inp), branches in sorted(known.items()):
        yield from (f"{state} {inp}: {_told(branch)}" for branch in branches)


def _told(branch: Branch) -> str:
    window = f" within {branch.within[0]:.6g} to {branch.within[1]:.6g} s" if branch.within else ""
    store = "" if branch.store == "same" else f", remembers {branch.store}"
    if branch.accepts:
        table = "; ".join(f"{' '.join(seen)} to {' or '.join(targets)}" for seen, targets in branch.accepts)
        return f"Accept on {branch.port}: {table}{window}{store}{_timers(branch)}"
    return f"to {branch.target}: {', '.join(map(str, branch.items)) or 'nothing'}{window}{store}{_timers(branch)}"


def _timers(branch: Branch) -> str:
    after = f", after {branch.after}" if branch.after else ""
    starts = [f", starts {name} for {lo:.6g} to {hi:.6g} s" for name, (lo, hi) in branch.starts]
    return "".join([after, *starts, *(f", stops {name}" for name in branch.stops)])


def _uses(blueprint: Blueprint) -> set[Use]:
    asked = {(*key, number) for key, found in blueprint.steps.items() for number in range(len(found))}
    return asked | {
        (state, "", number) for state, found in blueprint.spontaneous.items() for number in range(len(found))
    }


def _without(blueprint: Blueprint, use: Use) -> Blueprint:
    state, inp, number = use
    steps, spontaneous = dict(blueprint.steps), dict(blueprint.spontaneous)
    if inp:
        _take_out(steps, (state, inp), number)
    else:
        _take_out(spontaneous, state, number)
    return replace(blueprint, steps=steps, spontaneous=spontaneous, _known={}, _said={})


def _take_out(known: dict[Key, tuple[Branch, ...]], key: Key, number: int) -> None:
    left = known[key][:number] + known[key][number + 1 :]
    if left:
        known[key] = left
    else:
        del known[key]
