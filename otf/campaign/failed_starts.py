"""Starts that fail: in a campaign that has lasted for a while, the system is started again before the campaign ends.

A night has moments in which no system starts: the machine is busy, a board reboots, another program holds the port.
Without this such a moment would end the campaign, with hours of its time left. Each failed start is counted, logged and
reported, and their number is bounded. At the start of a campaign nothing is tried again: then the system is likely not
there at all, and the user is waiting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeVar

import anyio

from otf.adapter.log import note
from otf.campaign.journal import Journal
from otf.campaign.listener import Listener
from otf.campaign.remote import NoWorkersError
from otf.campaign.summary import Summary
from otf.errors import ContactError

TIMES: Final = 5
"""How often a path that could not start the system is driven again; each pause is twice the last."""
YOUNG: Final = 10.0  # seconds that a campaign must have lasted
SHARE: Final = 0.1  # of the time that the campaign has lasted: so long it goes on without the system
LONGEST: Final = 300.0  # seconds, however long the campaign has lasted

Result = TypeVar("Result")


class FailedStarts:
    """Tries again what could not reach the system, after a pause; it is counted, logged, and shown by the listener.

    `ends` returns the moment at which the paths end.
    """

    def __init__(self, ends: Callable[[], float], summary: Summary, journal: Journal, listener: Listener) -> None:
        self._ends, self._summary, self._journal, self._listener = ends, summary, journal, listener
        self._began = anyio.current_time()
        self._reached = False

    async def reach(self, number: int, does: Callable[[], Awaitable[Result]]) -> Result:
        """Return what `does` returns for a path. Raises ContactError if the system stays away."""
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
