"""The devices of a campaign: each lane has one, until that stops answering; then others drive the lane's paths.

A device that cannot be started is reset, and its power cycled, as its bench says (`Life`). If that does not help it is
out of the campaign: a spare one takes its place, or else lanes take turns on what is left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, TypeVar

import anyio

from otf.adapter import Bench
from otf.adapter.log import note
from otf.errors import ContactError

Result = TypeVar("Result")
MOST: Final = 256  # devices

TakenOut: TypeAlias = Callable[[int, str], object]
"""Takes the number of a device, counted from 1, and why it was taken out."""


class Boards:
    """The devices of the lanes of this process; `device` returns the bench of each, or raises LookupError for none."""

    def __init__(self, device: Callable[[int], Bench], lanes: int, told: TakenOut) -> None:
        self._device, self._told = device, told
        self._at = list(range(lanes))  # the device of each lane
        self._turns = defaultdict[int, anyio.Lock](anyio.Lock)
        self._out = set[int]()

    def on(self, lane: int) -> Bench:
        """Return the bench of a lane's device."""
        return self._device(self._at[lane])

    async def drive(self, lane: int, does: Callable[[], Awaitable[Result]]) -> Result:
        """Do something on the device of a lane; if that cannot be reached, on another. Raises ContactError."""
        while True:
            at = self._at[lane]
            async with self._turns[at]:
                if at not in self._out:
                    try:
                        return await does()
                    except ContactError as error:
                        if self._other(at) is None:
                            raise
                        self._out.add(at)
                        note("a device is taken out", "warning", device=at + 1, why=str(error))
                        self._told(at + 1, str(error))
            self._at[lane] = self._other(at) or 0

    def _other(self, at: int) -> int | None:
        """Return the device that takes the place of one: a spare one, or one that fewest lanes share; None for none."""
        spare = max(*self._at, *self._out, at) + 1
        if self._is_there(spare):
            return spare
        shared = [each for each in self._at if each != at and each not in self._out]
        return min(shared, key=shared.count, default=None)

    def _is_there(self, at: int) -> bool:
        if at >= MOST:
            return False
        try:
            found = self._device(at)
        except LookupError:
            return False
        # a function that knows one device only returns it for every number
        return all(found is not self._device(each) for each in self._at)
