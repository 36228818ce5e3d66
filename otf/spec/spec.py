"""A spec: what the system may do, as a function of the state and the input."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from otf.spec.offering import offering
from otf.spec.outputs import Accept
from otf.spec.transition import Transition
from otf.values import Values

State = TypeVar("State")
Input = TypeVar("Input")
Step = Callable[[State, Input], Iterable["Transition[State] | Accept"]]
Emits = Callable[[State], Iterable["Transition[State] | Accept"]]


@dataclass(frozen=True, init=False)
class Spec(Generic[State, Input]):
    """The model of a system: a function from a state and an input to what may happen.

    `step(state, input)` yields a transition for each thing that may happen; yielding nothing leaves the input
    unspecified in that state. `emits(state)` yields what may come unasked. `inputs` is what is worth trying: a list,
    or a function of the state; without it the values of the type that `step` declares for its input, where `values`
    may say for each type which there are (see `bounded`). The function as specification: Koopman and Plasmeijer,
    "Testing Reactive Systems with GAST", section 8.5.

    >>> def step(paid, inp):
    ...     if inp == "coin": yield Transition(paid + 1)
    ...     elif paid: yield Transition(paid - 1, ("coffee",))
    >>> spec = Spec(step, initial=0, inputs=["coin", "button"])
    >>> spec.specifies(0, "button"), list(spec.inputs(0))
    (False, ['coin', 'button'])
    """

    step: Step[State, Input]
    initial: State
    inputs: Callable[[State], Iterable[Input]]
    emits: Emits[State] | None
    name: str
    partial: Spec[State, Input] | None

    def __init__(  # noqa: PLR0913 -- what a spec is made of; past the second they are given by name
        self,
        step: Step[State, Input],
        initial: State,
        inputs: Iterable[Input] | Callable[[State], Iterable[Input]] | None = None,
        emits: Emits[State] | None = None,
        *,
        name: str = "",
        partial: Spec[State, Input] | None = None,
        values: Values | None = None,
    ) -> None:
        """Make a spec; `partial` is the spec that this one completes (`total` sets it)."""
        put = object.__setattr__
        put(self, "step", step)
        put(self, "initial", initial)
        put(self, "inputs", offering(step, inputs, values))
        put(self, "emits", emits)
        put(self, "name", name or getattr(step, "__name__", "spec"))
        put(self, "partial", partial)

    def bounded(self, values: Values) -> Spec[State, Input]:
        """Return the spec that offers the inputs of its declared type, with these values for the types named.

        Values are a range or list, another type, a Hypothesis strategy, or a function of the state. Of each class in
        a union of inputs all values are offered where these end (at most 10,000), otherwise the first 100.

        >>> def step(total: int, inp: int) -> list[Transition[int]]: return [Transition(total + inp)]
        >>> list(Spec(step, initial=0).bounded({int: range(3)}).inputs(0))
        [0, 1, 2]
        """
        declared = (self.partial or self).step  # what completes a spec has no types of its own
        inputs = offering(declared, None, values)
        return Spec(self.step, self.initial, inputs, self.emits, name=self.name, partial=self.partial)

    def specifies(self, state: State, inp: Input) -> bool:
        """Return whether the model says what may happen on `inp` in `state`, before any completion."""
        spec = self.partial or self
        return any(True for _ in spec.step(state, inp))

    def completed(self) -> Spec[State, Input]:
        """Return the spec in which an unspecified input is ignored: see `total`."""

        def step(state: State, inp: Input) -> Iterable[Transition[State] | Accept]:
            yields = self.step(state, inp)
            if not _listed(yields):
                return yields  # the oracle says what is wrong with it, and where
            happens = iter(yields)
            first = next(happens, None)
            return [Transition(state)] if first is None else chain([first], happens)

        return Spec(step, self.initial, self.inputs, self.emits, name=self.name, partial=self.partial or self)


def _listed(yields: object) -> bool:
    return isinstance(yields, Iterable)


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
