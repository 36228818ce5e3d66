"""Starts that fail: in a campaign that has lasted for a while, the system is started again before the campaign ends.

A night has moments in which no system starts: the machine is busy, a board reboots, another program holds the port.
Without this such a moment would end the campaign, with hours of its time left. Each failed start is counted, logged and
reported, and their number is bounded. At the start of a campaign nothing is tried again: then the system is likely not
there at all, and the user is waiting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Final, TypeVar

import anyio

from otf.adapter.log import note
from otf.campaign.confirm import ConfirmedPath
from otf.campaign.journal import Journal
from otf.campaign.lanes import Executor, Lease, Leased, ShrinkWatch
from otf.campaign.listener import Listener
from otf.campaign.remote import NoWorkersError
from otf.campaign.results import PathResult, Shrunk
from otf.campaign.saved import DriveSaved
from otf.campaign.summary import Summary
from otf.core import Oracle
from otf.errors import ContactError
from otf.trace.kinds import Scope

TIMES: Final = 5
"""How often a path that could not start the system is driven again; each pause is twice the last."""
YOUNG: Final = 10.0  # seconds that a campaign must have lasted
SHARE: Final = 0.1  # of the time that the campaign has lasted: so long it goes on without the system
LONGEST: Final = 300.0  # seconds, however long the campaign has lasted

Result = TypeVar("Result")


class PersistentExecutor(Executor):
    """Has paths driven by another executor; one that cannot reach the system is driven again after a pause.

    `ends` returns the moment at which the paths end. What is tried again is counted, logged, and shown by the listener.
    """

    def __init__(
        self, executor: Executor, ends: Callable[[], float], summary: Summary, journal: Journal, listener: Listener
    ) -> None:
        self._executor, self._ends = executor, ends
        self._summary, self._journal, self._listener = summary, journal, listener
        self._began = anyio.current_time()
        self._reached = False

    def running(self) -> AbstractAsyncContextManager[None]:
        """Return the context in which paths are driven."""
        return self._executor.running()

    @property
    def drive_saved(self) -> DriveSaved | None:
        """Return what drives a saved failure: before the first path, so nothing is tried again."""
        return self._executor.drive_saved

    async def check_speed(self, until: float) -> None:
        """Refuse a faster clock that the system does not follow."""
        await self._executor.check_speed(until)

    @property
    def together(self) -> int:
        """Return how many failures are shrunk at the same time."""
        return self._executor.together

    def oracle(self, lane: int) -> Oracle:
        """Return the oracle of a lane."""
        return self._executor.oracle(lane)

    async def drive(self, lease: Lease) -> Leased:
        """Drive a path. Raises ContactError if the system stays away, ModelError if the model is broken."""
        return await self._reaching(lease.number, lambda: self._executor.drive(lease))

    async def confirm(self, lane: int, failing: PathResult, first: str, until: float, *, strict: bool) -> ConfirmedPath:
        """Drive a failing path again. Raises ContactError if the system stays away."""
        return await self._reaching(
            failing.number, lambda: self._executor.confirm(lane, failing, first, until, strict=strict)
        )

    async def shrink(  # noqa: PLR0913 -- what a search needs, each once
        self, failing: PathResult, seconds: float, watch: ShrinkWatch, *, lane: int, confirmed: bool, scope: Scope
    ) -> Shrunk:
        """Shrink a failing path; after a start that failed the search begins anew, in the time that is left."""
        until = anyio.current_time() + seconds

        def search() -> Awaitable[Shrunk]:
            left = max(0.0, until - anyio.current_time())
            return self._executor.shrink(failing, left, watch, lane=lane, confirmed=confirmed, scope=scope)

        return await self._reaching(failing.number, search)

    async def _reaching(self, number: int, does: Callable[[], Awaitable[Result]]) -> Result:
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
        """Yield the pauses before the next tries, in seconds, as long as any is left of the time for them."""
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
