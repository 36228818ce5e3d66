"""The classes and functions for writing a spec, which says what a system may do after each input in each state."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Generic, TypeGuard, TypeVar, cast

from otf.errors import UsageError, refuse
from otf.spec.offering import (
    Always,
    Elapse,
    Idle,
    Offering,
    arguments_refused,
    classes_refused,
    incomparable,
    kind_refused,
    offering,
    options_refused,
)
from otf.spec.outputs import Accept, AnyOrder, On, OneOf, Where, on
from otf.spec.redrawing import Within
from otf.spec.requirements import Requirement, Requirements
from otf.spec.transition import (
    Completed,
    TimerAction,
    TimerStart,
    TimerStop,
    Transition,
    goto,
    initial_timers,
    start,
    stop,
)
from otf.values import Values, key
from otf.values.arguments import checked

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

State = TypeVar("State")
Input = TypeVar("Input")
Step = Callable[[State, Input], Iterable["Transition[State] | Accept"]]
Emits = Callable[[State], Iterable["Transition[State] | Accept"]]

_GUARDED: Final = 16  # states whose inputs a guard remembers


class _Guarded:
    """A step function called only for the inputs of its state: any other input is unspecified there."""

    def __init__(self, step: Callable[[Any, Any], Iterable[Any]], inputs: Offering) -> None:
        self.step = step
        self._inputs = inputs
        # The latest states: the oracle asks about all inputs of a new state one after another, while a simulated system
        # asks about its own.
        self._known: dict[int, tuple[object, frozenset[Hashable]]] = {}
        update_wrapper(self, step)

    def __call__(self, state: object, inp: object) -> Iterable[Any]:
        """Return what the step function yields."""
        known = self._known.get(id(state))
        if known is None or known[0] is not state:
            if len(self._known) >= _GUARDED:
                self._known.clear()
            known = self._known[id(state)] = state, frozenset(map(key, self._inputs(state)))
        return self.step(state, inp) if key(inp) in known[1] else ()


@dataclass(frozen=True, init=False)
class Spec(Generic[State, Input]):
    """The model of a system: it says what may happen for each state and input.

    `initial` is the state in which each path begins. `step(state, input)` yields a transition for each thing that may
    happen; if it yields nothing, the model does not specify the input in that state. `emits(state)` yields the
    transitions that the system may make without an input. `name` is the name of the model. The idea of functions as
    specifications comes from Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.5.

    `inputs` is a list of the inputs to try, or a function from a state to such a list; a Hypothesis strategy in the
    list stands for its values. Without `inputs`, otf tries the values of the type that `step` declares for its input;
    `values` replaces the values of types (see `bounded`). otf may call `step` with any of the inputs in any state. With
    `guarded=True`, otf calls `step` only with inputs that `inputs(state)` returns; all other inputs are unspecified in
    that state.

    `malformed(state, input)` yields the transitions that the model allows on a malformed input (an
    `otf.codec.malformed.Malformed`). If `malformed` yields nothing, otf does not send the malformed input. Without
    `malformed`, or if it returns None, otf accepts any answer (see `otf run --malformed`).

    `timers` are the timers that run when a path begins: `timers=[start("tick", 0, 0.12)]` for a device that ticks from
    power-on. If the device was on before otf opened its ports, the timer expires sooner.

    `counters` names the fields of a state that are mere counters, for instance "alive". "0.number" names the field
    `number` of item 0 of a tuple, and "" names the state itself. Strategies and coverage ignore counters when they
    count states. otf itself recognises a number as a counter if spontaneous outputs advance it and no input changes it;
    `counters=()` prevents that.

    `partial` is the incomplete spec from which `total` made this spec, or None for a spec that `total` did not make.

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
    malformed: Callable[[State, Any], Iterable[Transition[Any] | Accept] | None] | None
    timers: tuple[TimerStart, ...]
    counters: tuple[str, ...] | None

    def __init__(  # noqa: PLR0913 -- the parts of a spec; from the third on they are given by name
        self,
        step: Step[State, Input],
        initial: State,
        inputs: Iterable[Input] | Callable[[State], Iterable[Input]] | SearchStrategy[Input] | None = None,
        emits: Emits[State] | None = None,
        *,
        name: str = "",
        partial: Spec[State, Input] | None = None,
        values: Values | None = None,
        guarded: bool = False,
        malformed: Callable[[State, Any], Iterable[Transition[Any] | Accept] | None] | None = None,
        timers: Iterable[TimerStart] = (),
        counters: Iterable[str] | None = None,
    ) -> None:
        """Make a spec; `partial` is the spec that this one completes, set by `total`.

        Raises UsageError that lists what is wrong with the arguments.
        """
        __tracebackhide__ = True  # pytest shows the call
        refuse(
            "Spec(step, …): ",
            kind_refused("partial", partial, (Spec, type(None)), "a Spec"),
            arguments_refused(step, initial, inputs, emits, malformed),
            options_refused(name, values, guarded, counters),
        )
        put, offered = object.__setattr__, offering(step, inputs, values)
        put(self, "step", _Guarded(step, offered) if guarded else step)
        put(self, "initial", initial)
        put(self, "inputs", offered)
        put(self, "emits", emits)
        put(self, "name", name or getattr(step, "__name__", "spec"))
        put(self, "partial", partial)
        put(self, "malformed", malformed)
        put(self, "timers", initial_timers(timers))
        put(self, "counters", None if counters is None else tuple(counters))
        listed = offered.inputs if isinstance(offered, Always) else ()
        refuse("Spec(step, …): ", classes_refused(listed), incomparable("value", listed))
        if counters:
            from otf.spec.places import unknown_counters  # most models name none

            refuse("Spec(step, …): ", unknown_counters(self))

    def bounded(self, values: Values) -> Spec[State, Input]:
        """Return a spec whose inputs are all values of the type that `step` declares for its input.

        `values` maps a type to the values to use for it: a range or list, another type, a Hypothesis strategy, or a
        function of the state. If the declared type is a union, the inputs are all values of each class in the union. If
        a class has more than 10,000 values, only its first 100 are inputs. `bounded` raises UsageError if `step`
        declares no type for its input.

        >>> def step(total: int, inp: int) -> list[Transition[int]]: return [Transition(total + inp)]
        >>> list(Spec(step, initial=0).bounded({int: range(3)}).inputs(0))
        [0, 1, 2]
        """
        refuse("bounded: ", kind_refused("values", values, Mapping, "a dict from types to their values"))
        declared = (self.partial or self).step  # the step function of a completed spec declares no types
        inputs = offering(declared, None, values)
        step = _Guarded(self.step.step, inputs) if isinstance(self.step, _Guarded) else self.step
        return self.remade(step, self.initial, inputs, self.emits, self.partial)

    def specifies(self, state: State, inp: Input) -> bool:
        """Return whether the model specifies `inp` in `state`: false if only `total` adds it, true for an `Elapse`."""
        spec = self.partial or self
        return isinstance(inp, Elapse) or any(True for _ in spec.step(state, inp))

    def completed(self) -> Spec[State, Input]:
        """Return the spec of a system that ignores unspecified inputs: see `total`."""
        return self.remade(Completed(self), self.initial, self.inputs, self.emits, self.partial or self)

    def remade(
        self,
        step: Step[Any, Any],
        initial: object,
        inputs: Callable[[Any], Iterable[Any]],
        emits: Emits[Any] | None,
        partial: Spec[Any, Any] | None = None,
    ) -> Spec[Any, Any]:
        """Return a spec with other functions, but with the name, timers and malformed inputs of this spec.

        The new spec keeps the counters only if its initial state is the same.
        """
        return Spec(
            step,
            initial,
            inputs,
            emits,
            name=self.name,
            partial=partial,
            malformed=self.malformed,
            timers=self.timers,
            counters=self.counters if initial is self.initial else None,
        )


@checked
def total(spec: Spec[State, Input]) -> Spec[State, Input]:
    """Return a spec in which each input that the given spec does not specify causes no output and no change of state.

    Koopman and Plasmeijer describe this implicit completion in "Testing Reactive Systems with GAST", section 8.3.1.

    >>> lamp = Spec(lambda on, inp: [Transition(True)] if inp == "on" and not on else [], False, ["on"])
    >>> list(lamp.step(True, "on")), list(total(lamp).step(True, "on"))
    ([], [Transition(state=True, outputs=(), within=None)])
    """
    return spec.completed()


@checked
def restrict(spec: Spec[State, Input], allow: Callable[[State, Input], bool]) -> Spec[State, Input]:
    """Return a spec with only those inputs for which `allow(state, input)` is true.

    >>> count = Spec(lambda number, inp: [Transition(number + inp)], 0, [1, 2, 5])
    >>> list(restrict(count, lambda number, inp: number + inp <= 5).inputs(3))
    [1, 2]
    """

    def inputs(state: State) -> Iterable[Input]:
        return [inp for inp in spec.inputs(state) if allow(state, inp)]

    fewer = Within(inputs, spec.inputs, lambda state: state, allow)
    return spec.remade(spec.step, spec.initial, fewer, spec.emits, spec.partial)


_OWN: Final = ("otf.spec.", "otf.channels.", "otf.compose.", "otf.notations.")


def fingerprint(spec: Spec[Any, Any]) -> str:
    """Return a short hash of the source files of a spec, which changes if the model changes.

    The hash covers whole source files, since helper functions and classes next to `step` are part of the model too.
    """
    source = "\0".join(sorted(set(_sources(spec))))
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _sources(part: object) -> Iterator[str]:
    """Yield the source of each file that contains a spec or one of its functions."""
    if _is_spec(part):
        # modules of other tools are not functions of the spec
        yield from getattr(part, "sources", ())
        for function in (part.step, part.emits, part.inputs):
            yield from _sources(function)
    elif isinstance(part, (partial, Completed)):
        yield from _sources(part.func if isinstance(part, partial) else part.spec)
    elif callable(part):
        module = inspect.getmodule(part)
        if module is not None and f"{module.__name__}.".startswith(_OWN):
            # functions of otf that complete or combine specs hold them in closures, but are not part of the model
            for cell in getattr(part, "__closure__", None) or ():
                yield from _sources(cell.cell_contents)
        else:
            yield _text(part, module)


def _is_spec(part: object) -> TypeGuard[Spec[Any, Any]]:
    return isinstance(part, Spec)


def _text(function: object, module: ModuleType | None) -> str:
    if module is not None:
        with suppress(OSError, TypeError):
            return inspect.getsource(module)
    # typed at a prompt, or built in: only its name is known
    return getattr(function, "__qualname__", "")


def at_speed(spec: Spec[State, Input], speed: float) -> Spec[State, Input]:
    """Return a spec for a system whose clocks run `speed` times as fast: `at_speed` divides all times by `speed`.

    >>> lamp = Spec(lambda on, inp: [Transition(True, ("on",), within=(1.0, 3.0))], False, ["on"])
    >>> list(at_speed(lamp, 50).step(False, "on"))
    [Transition(state=True, outputs=('on',), within=(0.02, 0.06))]
    """
    return spec if speed == 1 else with_times(spec, lambda lo, hi: (lo / speed, hi / speed))


@checked
def drifting(spec: Spec[State, Input], drift: float) -> Spec[State, Input]:
    """Return a spec with wider time windows, for a system whose clock is wrong by up to `drift` (100e-6 is 100 ppm).

    The times of the given spec are times of the system's clock, which may run faster or slower than the clock of otf.
    `drifting` raises UsageError unless `drift` is at least 0 and below 1.

    >>> lamp = Spec(lambda on, inp: [Transition(True, ("on",), within=(1.0, 3.0))], False, ["on"])
    >>> list(drifting(lamp, 0.5).step(False, "on"))
    [Transition(state=True, outputs=('on',), within=(0.5, 4.5))]
    """
    if not 0 <= drift < 1:
        raise UsageError(f"drifting(…, {drift!r}): a share from 0 to 1 is needed: 100e-6 for 100 ppm")
    return with_times(spec, lambda lo, hi: (lo * (1 - drift), hi * (1 + drift)))


Retime = Callable[[float, float], tuple[float, float]]


def with_times(spec: Spec[State, Input], retime: Retime) -> Spec[State, Input]:
    """Return a copy of a spec in which `retime` has replaced the bounds of each time window and timer."""

    def step(state: State, inp: Input) -> Iterable[Transition[State] | Accept]:
        return _ways(spec.step(state, inp), retime)

    def emits(state: State) -> Iterable[Transition[State] | Accept]:
        return () if spec.emits is None else _ways(spec.emits(state), retime)

    made = spec.remade(step, spec.initial, spec.inputs, emits if spec.emits else None, spec.partial)
    object.__setattr__(made, "timers", tuple(_timer(each, retime) for each in spec.timers))
    return made


def _ways(yields: Iterable[Any], retime: Retime) -> Iterable[Any]:
    # the oracle reports anything that is not a list or not a transition, with its place
    listed = isinstance(yields, Iterable)  # pyright: ignore[reportUnnecessaryIsInstance] -- of the user
    return (_way(each, retime) for each in yields) if listed else yields


def _way(way: Any, retime: Retime) -> Any:  # noqa: ANN401 -- whatever a model yields
    if not isinstance(way, (Transition, Accept)):
        return way
    within = None if way.within is None else retime(*way.within)
    return replace(cast("Any", way), within=within, timers=tuple(_timer(each, retime) for each in way.timers))


def _timer(action: TimerAction, retime: Retime) -> TimerAction:
    if not isinstance(action, TimerStart):
        return action
    lo, hi = retime(action.lo, action.hi)
    return replace(action, lo=lo, hi=hi)


__all__ = [
    "Accept",
    "AnyOrder",
    "Elapse",
    "Idle",
    "On",
    "OneOf",
    "Requirement",
    "Requirements",
    "Spec",
    "TimerAction",
    "TimerStart",
    "TimerStop",
    "Transition",
    "Where",
    "drifting",
    "goto",
    "on",
    "restrict",
    "start",
    "stop",
    "total",
]
