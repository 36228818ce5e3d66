"""Files that grow: what comes is read as it comes, and while nothing does, somebody is asked whether to go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

POLL: Final = 0.05  # seconds between two looks at a file that does not grow


class Growing:
    """Reads a file that somebody else writes; `idle` is called whenever there is nothing, and may raise to end it."""

    def __init__(self, file: BinaryIO, idle: Callable[[], None]) -> None:
        self._file = file
        self._idle = idle

    def read(self, size: int, /) -> bytes:
        """Return so many bytes, as soon as they are there."""
        data = b""
        while len(data) < size:
            more = self._file.read(size - len(data))
            data += more
            self._wait(more)
        return data

    def lines(self, longest: int) -> Iterator[bytes]:
        """Yield lines, as soon as they are whole."""
        line = b""
        while True:
            more = self._file.readline(longest + 1 - len(line))
            line += more
            if line.endswith(b"\n") or len(line) > longest:
                yield line
                line = b""
            self._wait(more)

    def _wait(self, more: bytes) -> None:
        if not more:
            self._idle()
            time.sleep(POLL)
