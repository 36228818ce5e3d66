"""The absolute value of every second negative integer.

Source: Koopman and Plasmeijer, "Testing Reactive Systems with GAST", section 8.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from otf.spec import Spec, Transition, goto


def step(odd: bool, number: int) -> Iterator[Transition[bool]]:  # noqa: FBT001 -- the state of the paper's machine
    """Yield what may happen; the model leaves other integers than negative ones open."""
    if number < 0 and odd:
        yield goto(not odd, -number)
    elif number < 0:
        yield goto(not odd)


ABSOLUTE: Final = Spec(step, initial=False, inputs=[-1, -2, -3, 0, 1], name="absolute")
