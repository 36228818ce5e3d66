"""A choice between ports in the middle of a transition, and what the system says by itself meanwhile."""

from __future__ import annotations

import pytest

from otf.core import Model, Monitor, Oracle, Routes
from otf.spec import OneOf, Spec, Transition, goto, on
from otf.trace.events import Seen, Sent


def _answers(state: int, inp: str) -> list[Transition[int]]:
    del inp
    return [goto(state, on("P", "x"), OneOf(on("P", "z"), on("Q", "w")))]


@pytest.mark.parametrize("within", [None, (0.0, 1.0)])
@pytest.mark.parametrize(
    ("outputs", "failed"),
    [
        (["P x", "Q y", "Q w"], False),
        (["P x", "Q y", "P z"], False),
        (["Q y", "P x", "Q w", "Q y"], False),
        (["P x", "Q w", "Q w"], True),
        (["P x", "Q v"], True),
    ],
)
def test_a_spontaneous_output_may_come_before_what_the_system_still_chooses(
    outputs: list[str], failed: bool, within: tuple[float, float] | None
) -> None:
    """The heartbeat `y` was sent before the input was taken, and its port gets the rest of the answer behind it."""
    spec = Spec(_answers, 0, ["a"], lambda state: [goto(state, on("Q", "y"), within=within)])
    monitor = Monitor(Oracle(Model(spec, Routes(("P", "Q")))))
    monitor.tell(Sent("a", "in", 0.0))
    for port, value in map(str.split, outputs):
        monitor.tell(Seen(value, port, 0.0))
    assert (monitor.verdict is not None) == failed
