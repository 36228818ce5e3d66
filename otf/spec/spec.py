"""A spec: what the system may do, as a function of the state and the input; completed and restricted specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Generic, TypeVar, cast

from otf.spec.offering import offering
from otf.spec.outputs import Accept
from otf.spec.transition import TimerAction, TimerStart, Transition
from otf.values import Values

State = TypeVar("State")
Input = TypeVar("Input")
Step = Callable[[State, Input], Iterable["Transition[State] | Accept"]]
Emits = Callable[[State], Iterable["Transition[State] | Accept"]]


@dataclass(frozen=True, init=False)
class Spec(Generic[State, Input]):
    """The model of a system: a function from a state and an input to what may happen.

    `step(state, input)` yields a transition for each thing that may happen; if it yields nothing, the input is
    unspecified in that state. `emits(state)` yields the transitions with spontaneous outputs. `inputs` are the inputs
    to try: a list, or a function of the state. Without `inputs`, they are the values of the type that `step` declares
    for its input, and `values` may replace the values of types (see `bounded`). Functions as specifications are from
    Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.5.

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

    def __init__(  # noqa: PLR0913 -- the parts of a spec; from the third on they are given by name
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
        """Make a spec; `partial` is the spec that this one completes, and is set by `total`."""
        put = object.__setattr__
        put(self, "step", step)
        put(self, "initial", initial)
        put(self, "inputs", offering(step, inputs, values))
        put(self, "emits", emits)
        put(self, "name", name or getattr(step, "__name__", "spec"))
        put(self, "partial", partial)

    def bounded(self, values: Values) -> Spec[State, Input]:
        """Return the spec with the inputs of its declared type, in which `values` replaces the values of types.

        A source of values is a range or list, another type, a Hypothesis strategy, or a function of the state. Of each
        class in a union of inputs, the spec has all values if they end (at most 10,000), otherwise the first 100.
        Raises UsageError if `step` declares no type for its input.

        >>> def step(total: int, inp: int) -> list[Transition[int]]: return [Transition(total + inp)]
        >>> list(Spec(step, initial=0).bounded({int: range(3)}).inputs(0))
        [0, 1, 2]
        """
        declared = (self.partial or self).step  # the step function of a completed spec declares no types
        inputs = offering(declared, None, values)
        return Spec(self.step, self.initial, inputs, self.emits, name=self.name, partial=self.partial)

    def specifies(self, state: State, inp: Input) -> bool:
        """Return whether the model specifies `inp` in `state`, before any completion."""
        spec = self.partial or self
        return any(True for _ in spec.step(state, inp))

    def completed(self) -> Spec[State, Input]:
        """Return the spec in which an unspecified input is ignored: see `total`."""

        def step(state: State, inp: Input) -> Iterable[Transition[State] | Accept]:
            yields = self.step(state, inp)
            if not _listed(yields):
                return yields  # the oracle reports this error, with its place
            happens = iter(yields)
            first = next(happens, None)
            return [Transition(state)] if first is None else chain([first], happens)

        return Spec(step, self.initial, self.inputs, self.emits, name=self.name, partial=self.partial or self)


def _listed(yields: object) -> bool:
    return isinstance(yields, Iterable)


def total(spec: Spec[State, Input]) -> Spec[State, Input]:
    """Return the spec in which an unspecified input is ignored: no output, no change of state.

    This is the implicit completion of Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.3.1.

    >>> lamp = Spec(lambda on, inp: [Transition(True)] if inp == "on" and not on else [], False, ["on"])
    >>> list(lamp.step(True, "on")), list(total(lamp).step(True, "on"))
    ([], [Transition(state=True, outputs=(), within=None)])
    """
    return spec.completed()


def restrict(spec: Spec[State, Input], allow: Callable[[State, Input], bool]) -> Spec[State, Input]:
    """Return the spec with only those inputs for which `allow(state, input)` is true; their transitions stay.

    >>> count = Spec(lambda number, inp: [Transition(number + inp)], 0, [1, 2, 5])
    >>> list(restrict(count, lambda number, inp: number + inp <= 5).inputs(3))
    [1, 2]
    """

    def inputs(state: State) -> Iterable[Input]:
        return [inp for inp in spec.inputs(state) if allow(state, inp)]

    return Spec(spec.step, spec.initial, inputs, spec.emits, name=spec.name, partial=spec.partial)


def at_speed(spec: Spec[State, Input], speed: float) -> Spec[State, Input]:
    """Return the spec of the same system when its clocks run `speed` times as fast: all windows are that much shorter.

    >>> lamp = Spec(lambda on, inp: [Transition(True, ("on",), within=(1.0, 3.0))], False, ["on"])
    >>> list(at_speed(lamp, 50).step(False, "on"))
    [Transition(state=True, outputs=('on',), within=(0.02, 0.06))]
    """
    if speed == 1:
        return spec

    def step(state: State, inp: Input) -> Iterable[Transition[State] | Accept]:
        return _shortened(spec.step(state, inp), speed)

    def emits(state: State) -> Iterable[Transition[State] | Accept]:
        return () if spec.emits is None else _shortened(spec.emits(state), speed)

    return Spec(step, spec.initial, spec.inputs, emits if spec.emits else None, name=spec.name, partial=spec.partial)


def _shortened(yields: Iterable[Any], speed: float) -> Iterable[Any]:
    # the oracle reports what is no list and no transition, with its place
    return (_shorter(each, speed) for each in yields) if _listed(yields) else yields


def _shorter(way: Any, speed: float) -> Any:  # noqa: ANN401 -- whatever a model yields
    if not isinstance(way, (Transition, Accept)):
        return way
    within = None if way.within is None else (way.within[0] / speed, way.within[1] / speed)
    timers = tuple(_earlier(action, speed) for action in way.timers)
    return replace(cast("Any", way), within=within, timers=timers)


def _earlier(action: TimerAction, speed: float) -> TimerAction:
    return replace(action, lo=action.lo / speed, hi=action.hi / speed) if isinstance(action, TimerStart) else action
