"""An implementation as a model: an object whose state can be copied, so that its conformance can be proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from otf.fronts.actions import Attributes, restored, stored
from otf.spec import Spec, Transition


def behaviour(
    make: Callable[[], Any], act: Callable[[Any, Any], Iterable[Any] | None], inputs: Iterable[Any], name: str = ""
) -> Spec[Attributes, Any]:
    """Return what an object does as a spec: `conforms(behaviour(Machine, Machine.act, inputs), spec)` proves it right.

    `act(object, input)` returns the outputs (None: none). The state are the attributes of the object: lists, sets,
    dicts, tuples and plain values.

    >>> class Counter:
    ...     def __init__(self): self.count = 0
    ...     def act(self, inp): self.count = (self.count + 1) % 3; return [self.count]
    >>> spec = behaviour(Counter, Counter.act, ["up"])
    >>> list(spec.step(spec.initial, "up"))
    [Transition(state=count=1, outputs=(1,), within=None)]
    """
    first = make()

    def step(state: Attributes, inp: Any) -> list[Transition[Attributes]]:  # noqa: ANN401 -- any input
        now = restored(first.__class__, state)
        outputs = act(now, inp)
        return [Transition(stored(now), tuple(outputs or ()))]

    return Spec(step, stored(first), tuple(inputs), name=name or type(first).__name__)
