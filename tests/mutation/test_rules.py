"""Which lines of a model make a rule."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from otf.mutation.examples import Examples
from otf.mutation.served import ModelRules, ServedModel, watched
from otf.spec import Spec, Transition, goto

MANY = 5_000


class Garbage:
    """Is finalized when the collector finds it."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        """Run a line that is not a part of any model."""
        self.itself = self


def test_what_other_code_leaves_to_the_collector_is_no_part_of_a_rule() -> None:
    """A collection in the middle of a question to the model would add the lines of finalizers."""

    def asked() -> int:
        return len([[number] for number in range(MANY)])

    before = gc.get_threshold()
    _, usual = watched(asked)
    gc.collect()
    gc.set_threshold(MANY // 5)
    try:
        Garbage()
        found, lines = watched(asked)
    finally:
        gc.set_threshold(*before)
    assert (found, lines) == (MANY, usual)
    assert gc.isenabled()


def test_the_lines_of_a_guard_are_no_part_of_a_rule() -> None:
    """A guard lists the inputs of a state, by other lines in another state; it remembers them, and the rule is one."""
    listed = list[int]()

    def step(state: int, _inp: str) -> Iterator[Transition[int]]:
        yield goto((state + 1) % 4, "ok")

    def inputs(state: int) -> Iterator[str]:
        listed.append(state)
        if state % 2:
            yield "go"
        else:
            yield from ("go", "stay")

    served = ServedModel(Spec(step, 0, inputs, guarded=True), Examples())
    for state in (0, 1, 0, 1):
        assert served.spec.specifies(state, "go")
    assert listed == [0, 1]
    assert all(served.step(state, "go") for state in range(4))
    rules = ModelRules(served)
    assert len({rules.of(state, "go").number for state in range(4)}) == 1
