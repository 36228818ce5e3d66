"""Moments as text, many in one second."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

SECOND: Final = 1_000_000  # microseconds


class Moments:
    """Turns seconds since a moment into timestamps; what all events of one second share is made once.

    >>> moments = Moments()
    >>> moments(datetime.fromisoformat("2026-11-20T06:41:56.900000+00:00"), 0.25)
    '2026-11-20T06:41:57.150000+00:00'
    """

    def __init__(self) -> None:
        self._began: datetime | None = None
        self._micros = 0
        self._last = -1
        self._prefix = ""
        self._zone = ""

    def __call__(self, began: datetime, seconds: float) -> str:
        """Return the moment so many seconds after `began`."""
        if began is not self._began:
            self._began, self._last = began, -1
        micros = round(seconds * 1e6) - self._micros
        if not 0 <= micros <= self._last:
            second, micros = divmod(began.microsecond + round(seconds * 1e6), SECOND)
            whole = (began.replace(microsecond=0) + timedelta(seconds=second)).isoformat()
            self._prefix, self._zone = f"{whole[:19]}.", whole[19:]
            self._micros, self._last = second * SECOND - began.microsecond, SECOND - 1
        return f"{self._prefix}{micros:06}{self._zone}"
