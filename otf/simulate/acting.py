"""Any spec as a system in this process, with a fault if one is wanted: benches can be tried without what they test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from random import Random
from typing import Any

from otf.errors import ModelError
from otf.simulate.faults import Mutation, faulty
from otf.simulate.system import System
from otf.simulate.walk import Act
from otf.spec import Spec
from otf.values import show


def acting(
    spec: Spec[Any, Any],
    fault: Mutation | None = None,
    *,
    seed: int = 0,
    invent: Callable[[Any], Any] | None = None,
) -> Callable[[], Act]:
    """Return what makes a system of a spec for each path: `Bench(spec, system=acting(spec), types=(…))`.

    Where the spec leaves a choice, chance decides, another one on each path; what comes unasked does not come, since
    the system speaks only when it is spoken to. What the spec leaves open is ignored. `invent` thinks of a value where
    the spec gives a class or a test.
    """
    wrong = spec if fault is None else faulty(spec, fault)
    numbers = count(1)

    def make() -> Act:
        system = System(wrong, lambda _value: "", Random(f"{seed}/{next(numbers)}"), invent or _invented)

        def act(inp: Any) -> Iterable[object]:  # noqa: ANN401 -- any input
            return tuple(each.output for each in system.take(inp).outputs)

        return act

    return make


def _invented(item: Any) -> Any:  # noqa: ANN401 -- what a spec gives instead of a value
    if isinstance(item, type):
        return item()
    message = f"a system made from a spec cannot think of an output for {show(item)}: give it `invent`"
    raise ModelError(message)
