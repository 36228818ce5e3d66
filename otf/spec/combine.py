"""Specs from specs: completion and restriction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeVar

from otf.spec.channels import Unreliable
from otf.spec.outputs import Accept
from otf.spec.spec import Spec
from otf.spec.transition import Transition

State = TypeVar("State")
Input = TypeVar("Input")


def total(spec: Spec[State, Input]) -> Spec[State, Input]:
    """Return the spec in which an unspecified input is ignored: no output, no change of state.

    The implicit completion of Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3.1.
    """
    if isinstance(spec, Unreliable):
        # it is the system that ignores an input, when it arrives: behind the net
        return spec.of(total(spec.base))

    def step(state: State, inp: Input) -> Iterable[Transition[State] | Accept]:
        yields = spec.step(state, inp)
        if not _listed(yields):
            return yields  # the oracle says what is wrong with it, and where
        happens = iter(yields)
        first = next(happens, None)
        return [Transition(state)] if first is None else chain([first], happens)

    return Spec(step, spec.initial, spec.inputs, spec.emits, name=spec.name, partial=spec.partial or spec)


def restrict(spec: Spec[State, Input], allow: Callable[[State, Input], bool]) -> Spec[State, Input]:
    """Return the spec that offers only inputs for which `allow(state, input)` is true; what it says of them stays."""

    def inputs(state: State) -> Iterable[Input]:
        return [inp for inp in spec.inputs(state) if allow(state, inp)]

    return Spec(spec.step, spec.initial, inputs, spec.emits, name=spec.name, partial=spec.partial)


def _listed(yields: object) -> bool:
    return isinstance(yields, Iterable)
