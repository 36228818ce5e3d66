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
        self.began: datetime | None = None
        self.start: int = 0
        self.prefix: bytes = b""
        self.zone: bytes = b""

    def __call__(self, began: datetime, seconds: float) -> str:
        """Return the moment so many seconds after `began`."""
        micros = self.micros(began, round(seconds * SECOND))
        return f"{self.prefix.decode()}{micros:06}{self.zone.decode()}"

    def micros(self, began: datetime, after: int) -> int:
        """Return what stands between `prefix` and `zone` in the text of the moment so many microseconds after."""
        micros = after - self.start
        if not 0 <= micros < SECOND or began is not self.began:
            second, micros = divmod(began.microsecond + after, SECOND)
            whole = (began.replace(microsecond=0) + timedelta(seconds=second)).isoformat()
            self.prefix, self.zone = f"{whole[:19]}.".encode(), whole[19:].encode()
            self.began, self.start = began, second * SECOND - began.microsecond
        return micros
