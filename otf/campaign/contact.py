"""No contact with the system: try again later, or on another device, before the campaign ends.

At night there are moments in which no system starts: the machine is busy, a board reboots, another program holds the
port. Such a moment must not end a campaign with hours of time left. Each failed start is counted, logged and reported,
and their number is bounded. At the start of a campaign there is no second try: then the system is probably not there at
all, and the user is waiting.

With several devices, each lane has one until it stops answering. A device that does not start is reset, and its power
cycled, as its bench says (`Life`). If that does not help, the campaign drops it: a spare one takes its place, or else
lanes take turns on the rest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeAlias, TypeVar

import anyio

from otf.adapter import Bench
from otf.adapter.log import note
from otf.campaign.journal import Journal
from otf.campaign.summary import Listener, Summary
from otf.errors import ContactError

TIMES: Final = 5
"""How often to drive a path again that could not start the system; each pause is twice the last."""
YOUNG: Final = 10.0  # seconds that a campaign must have lasted
SHARE: Final = 0.1  # of the time that the campaign has lasted: how long it goes on without the system
LONGEST: Final = 300.0  # seconds, however long the campaign has lasted

Result = TypeVar("Result")


class NoWorkersError(ContactError):
    """Nothing is left to drive paths; trying again would not help."""


class FailedStarts:
    """If something could not reach the system, tries it again after a pause; counts, logs and shows each failure.

    `ends` returns the moment at which the paths end.
    """

    def __init__(self, ends: Callable[[], float], summary: Summary, journal: Journal, listener: Listener) -> None:
        self._ends, self._summary, self._journal, self._listener = ends, summary, journal, listener
        self._began = anyio.current_time()
        self._reached = False

    async def reach(self, number: int, does: Callable[[], Awaitable[Result]]) -> Result:
        """Return what `does` returns for a path. Raises ContactError if the system stays out of reach."""
        pauses: Iterator[float] | None = None
        while True:
            try:
                result = await does()
            except NoWorkersError:
                raise
            except ContactError as error:
                pauses = pauses or self._pauses()
                pause = next(pauses, None)
                if pause is None:
                    raise
                self._again(number, str(error), pause)
            else:
                self._reached = True
                return result
            await anyio.sleep(pause)

    def _again(self, number: int, why: str, pause: float) -> None:
        self._summary.failed_starts += 1
        note("no contact, and is tried again", "warning", path=number, why=why, pause=pause)
        self._journal.failed_start(number, why, pause)
        self._listener.failed_start(number, why, pause)

    def _pauses(self) -> Iterator[float]:
        """Yield the pauses before the next tries, in seconds, as long as there is time for them."""
        since = anyio.current_time()
        lasted = since - self._began
        if not self._reached or lasted < YOUNG:
            return
        whole = min(LONGEST, SHARE * lasted)
        for at in range(TIMES):
            pause, now = whole * 2**at / (2**TIMES - 1), anyio.current_time()
            if now >= since + whole or now + pause >= self._ends():
                return
            yield pause


MOST: Final = 256  # devices

TakenOut: TypeAlias = Callable[[int, str], object]
"""Receives the number of a device, counted from 1, and why it was dropped."""


class Boards:
    """The devices of this process's lanes; `device` returns the bench of each, or raises LookupError."""

    def __init__(self, device: Callable[[int], Bench], lanes: int, told: TakenOut) -> None:
        self._device, self._told = device, told
        self._at = list(range(lanes))  # the device of each lane
        self._turns = defaultdict[int, anyio.Lock](anyio.Lock)
        self._out = set[int]()

    def on(self, lane: int) -> Bench:
        """Return the bench of a lane's device."""
        return self._device(self._at[lane])

    async def drive(self, lane: int, does: Callable[[], Awaitable[Result]]) -> Result:
        """Do something on a lane's device, or on another if that cannot be reached. Raises ContactError."""
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
        """Return the replacement for a device: a spare, or else the one that the fewest lanes share; None if none."""
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
        # a function that knows only one device returns it for every number
        return all(found is not self._device(each) for each in self._at)
