"""Injected faults are shrunk: which are left are those that matter."""

from collections.abc import Sequence

import anyio
import pytest

from otf.campaign.budgeted import spared

FAULTS = ("p in 1 drop", "p in 2 drop", "q out 1 delay", "q out 3 drop")


@pytest.mark.parametrize(
    ("needed", "left"),
    [
        ([], ()),
        (["p in 2 drop"], ("p in 2 drop",)),
        (["p in 1 drop", "q out 3 drop"], ("p in 1 drop", "q out 3 drop")),
        (FAULTS, FAULTS),
    ],
)
def test_the_fewest_that_show_the_failure_are_left(needed: Sequence[str], left: tuple[str, ...]) -> None:
    """Whatever is needed stays, in its order, and nothing else does."""

    async def shows(faults: tuple[str, ...]) -> bool:
        return set(needed) <= set(faults)

    assert anyio.run(spared, FAULTS, shows) == left
