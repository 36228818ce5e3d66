"""Injected faults as part of what is shrunk: the fewest that still show the failure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

FaultsSuffice = Callable[[tuple[str, ...]], Awaitable[bool]]
"""Runs the system with these faults and no others; tells whether the failure is there."""


async def spared(faults: Sequence[str], shows: FaultsSuffice) -> tuple[str, ...]:
    """Return the fewest of these faults that show the failure by themselves.

    None at all is tried first, then each alone, since one is nearly always enough, then all but one after another.
    """
    for alone in [(), *((fault,) for fault in faults)]:
        if await shows(alone):
            return alone
    left = tuple(faults)
    for fault in faults:
        without = tuple(each for each in left if each != fault)
        if await shows(without):
            left = without
    return left
