"""The kernel's stamps, as far as they can be believed: they go by the clock of the day, which is set now and then."""

from __future__ import annotations

import time
from typing import Final

_SLIP: Final = 0.001  # seconds by which two clocks that are read one after the other may differ
_SLEW: Final = 0.001  # seconds a second: a clock that is put right goes faster or slower by half of that at most


class Stamps:
    """Says how long ago something came, by its stamp; once stamps are found to be wrong, none is believed any more.

    They are, where the clock of the day was set since, or where something came later than now, or before the socket
    was last seen to be empty: then a program may have been given another time than the kernel's (`faketime`).
    """

    def __init__(self) -> None:
        self._wrong = False
        self._begun = time.monotonic()
        self._offset = _offset()

    def ago(self, stamp: float, most: float) -> float | None:
        """Return how many seconds ago it was, at most `most` by what is known else; None where nobody can say.

        `stamp` is in seconds of the clock of the day.
        """
        ago = time.time() - stamp
        slewed = _SLIP + _SLEW * (time.monotonic() - self._begun)
        self._wrong = self._wrong or not -_SLIP <= ago <= most + _SLIP or abs(_offset() - self._offset) > slewed
        return None if self._wrong else max(0.0, ago)


def _offset() -> float:
    return time.time() - time.monotonic()
