"""Which lines of a model make a rule."""

from __future__ import annotations

import gc

from otf.mutation.rules import watched

MANY = 5_000


class Garbage:
    """Is finalized when the collector finds it."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        """Run a line that is no part of any model."""
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
