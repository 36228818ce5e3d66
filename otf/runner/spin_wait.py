"""Short waits without the event loop: a reply that comes at once is there before the loop has gone round.

An event loop waits in whole milliseconds and takes tens of microseconds to wake a task. Where one system is tested at
a time nobody else needs the loop meanwhile, so the first moment of each wait is spent on the descriptors themselves.
"""

from __future__ import annotations

import asyncio
import select
import sys
import time
from collections.abc import Mapping
from typing import Final

FIRST: Final = 0.0002  # seconds: most replies of a system on this machine come within
SHORT: Final = 0.002  # a wait up to this long is spent without the loop as a whole, for the sake of its precision
AT_ONCE: Final = 0.001  # seconds: a write that takes longer had to wait
TURN: Final = 0.02  # so often the loop gets its turn all the same: signals come through it
_HIGHEST: Final = 1024  # `select` takes no descriptor above


class SpinWait:
    """Waits on descriptors for at most two milliseconds; use one for each run."""

    open = 0

    def __init__(self) -> None:
        self.until: float = time.monotonic() + TURN
        self._possible = sys.platform != "win32" and _on_asyncio()

    def wait(self, descriptors: Mapping[int, object], seconds: float) -> list[int] | None:
        """Wait at most so long for one of these; return those that are readable, none where the time is over.

        None: the loop has to do the waiting, for the rest of the time.
        """
        if not self.possible(descriptors):
            return None
        whole = seconds <= SHORT
        ready, _, _ = select.select(descriptors, (), (), (max(0.0, seconds) if whole else FIRST))
        return ready if whole or ready else None

    def possible(self, descriptors: Mapping[int, object]) -> bool:
        """Tell whether waiting for these without the loop is possible, and the loop was not kept from its turn."""
        if not self._possible or SpinWait.open != 1 or time.monotonic() > self.until:
            return False
        return bool(descriptors) and max(descriptors) < _HIGHEST

    def turned(self) -> None:
        """Take that the loop had its turn."""
        self.until = time.monotonic() + TURN


def _on_asyncio() -> bool:
    # elsewhere the clock may be virtual, and real waiting would be out of place
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
