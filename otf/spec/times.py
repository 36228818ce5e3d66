"""A spec for clocks that run at another speed, or that are wrong: copies of a spec with other times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from otf.errors import UsageError
from otf.spec.outputs import Accept
from otf.spec.transition import TimerAction, TimerStart, Transition
from otf.values.arguments import brief

if TYPE_CHECKING:
    from otf.spec import Spec

State = TypeVar("State")
Input = TypeVar("Input")


def at_speed(spec: Spec[State, Input], speed: float) -> Spec[State, Input]:
    """Return a spec for a system whose clocks run `speed` times as fast: `at_speed` divides all times by `speed`.

    >>> from otf.spec import Spec, Transition
    >>> lamp = Spec(lambda on, inp: [Transition(True, ("on",), within=(1.0, 3.0))], False, ["on"])
    >>> list(at_speed(lamp, 50).step(False, "on"))
    [Transition(state=True, outputs=('on',), within=(0.02, 0.06))]
    """
    return spec if speed == 1 else with_times(spec, lambda lo, hi: (lo / speed, hi / speed))


def drifting(spec: Spec[State, Input], drift: float) -> Spec[State, Input]:
    """Return a spec with wider time windows, for a system whose clock is wrong by up to `drift` (100e-6 is 100 ppm).

    The times of the given spec are times of the system's clock, which may run faster or slower than the clock of otf.
    `drifting` raises UsageError unless `drift` is at least 0 and below 1.

    >>> from otf.spec import Spec, Transition
    >>> lamp = Spec(lambda on, inp: [Transition(True, ("on",), within=(1.0, 3.0))], False, ["on"])
    >>> list(drifting(lamp, 0.5).step(False, "on"))
    [Transition(state=True, outputs=('on',), within=(0.5, 4.5))]
    """
    if not hasattr(spec, "remade"):
        raise UsageError(f"drifting: spec={brief(spec)}: a Spec is needed")
    if isinstance(drift, str) or not 0 <= drift < 1:
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
