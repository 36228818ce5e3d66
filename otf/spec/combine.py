"""Specs from specs: completion and restriction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from otf.spec.spec import Spec

State = TypeVar("State")
Input = TypeVar("Input")


def total(spec: Spec[State, Input]) -> Spec[State, Input]:
    """Return the spec in which an unspecified input is ignored: no output, no change of state.

    The implicit completion of Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3.1.
    """
    return spec.completed()


def restrict(spec: Spec[State, Input], allow: Callable[[State, Input], bool]) -> Spec[State, Input]:
    """Return the spec that offers only inputs for which `allow(state, input)` is true; what it says of them stays."""

    def inputs(state: State) -> Iterable[Input]:
        return [inp for inp in spec.inputs(state) if allow(state, inp)]

    return Spec(spec.step, spec.initial, inputs, spec.emits, name=spec.name, partial=spec.partial)
