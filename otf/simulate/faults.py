"""Seeded faults: a spec from which the system is made, wrong in one place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from otf.spec import Accept, Spec, TimerAction, TimerStop, Transition, start

MutationKind = Literal["output", "transfer", "missing", "surplus", "late", "early", "dead"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong transition: in `state` on `input` (None: unasked) something is off, as `kind` says.

    `instead` is the wrong output or next state; for `late` and `early` the seconds by which the window moves, or those
    of the timers that it starts. `dead`: it never happens, as when a timer does not go off.
    """

    kind: MutationKind
    state: object
    input: object
    instead: Any = None


def faulty(spec: Spec[Any, Any], fault: Mutation) -> Spec[Any, Any]:
    """Return the spec with the fault in it: a system made from it does not conform to the spec."""

    def step(state: Any, inp: Any) -> Iterable[Transition[Any] | Accept]:  # noqa: ANN401 -- any spec's state and input
        ways = list(spec.step(state, inp))
        return _wrong(ways, fault) if (state, inp) == (fault.state, fault.input) else ways

    def emits(state: Any) -> Iterable[Transition[Any] | Accept]:  # noqa: ANN401 -- as above
        ways = list(spec.emits(state)) if spec.emits is not None else []
        return _wrong(ways, fault) if fault.input is None and state == fault.state else ways

    return Spec(step, spec.initial, spec.inputs, emits if spec.emits is not None else None, name=spec.name)


def _wrong(ways: Sequence[Transition[Any] | Accept], fault: Mutation) -> list[Transition[Any] | Accept]:
    if fault.kind == "dead":
        return []
    return [_changed(way, fault) if isinstance(way, Transition) else way for way in ways]


def _changed(way: Transition[Any], fault: Mutation) -> Transition[Any]:
    match fault.kind:
        case "output":
            return replace(way, outputs=(*way.outputs[:-1], fault.instead))
        case "transfer":
            return replace(way, state=fault.instead)
        case "missing":
            return replace(way, outputs=way.outputs[:-1])
        case "surplus":
            return replace(way, outputs=(*way.outputs, fault.instead))
        case _ if way.timers and way.within is None:
            return replace(way, timers=tuple(_moved(each, fault.instead) for each in way.timers))
        case _:
            lo, hi = way.within or (0.0, 0.0)
            return replace(way, within=(max(0.0, lo + fault.instead), hi + fault.instead))


def _moved(timer: TimerAction, seconds: float) -> TimerAction:
    if isinstance(timer, TimerStop):
        return timer
    return start(timer.name, max(0.0, timer.lo + seconds), timer.hi + seconds)
