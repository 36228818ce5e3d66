"""Digests that tell whether bytes are still those that were written."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

SIZE: Final = 16
"""Bytes of a digest: no two of all traces that were ever written have the same by chance."""
_AFTER: Final = re.compile(rb',"after":"([0-9a-f]{%d})"\}\n?\Z' % (2 * SIZE))
_LONGEST: Final = len(b',"after":""}\n') + 2 * SIZE


def hasher() -> blake2b:
    """Return what makes the digest of a trace, or of a line.

    >>> found = hasher()
    >>> found.update(b"line")
    >>> len(found.hexdigest())
    32
    """
    return blake2b(digest_size=SIZE, usedforsecurity=False)


class LineChain:
    r"""Lines that each end with the digest of the line before: one that was changed, added or lost shows in the next.

    A line may be torn, by a kill or a full disk: what was written of it counts, and the next begins after a line break.

    >>> chain = LineChain()
    >>> first = chain.link(b'{"event":"started"}\n')
    >>> chain.take(first), chain.take(chain.link(b'{"event":"ended"}\n')), chain.take(b'{"event":"added"}\n')
    (True, True, None)
    """

    def __init__(self) -> None:
        self.torn: bool = False
        self._line = hasher()
        self._before = self._line.hexdigest()

    def take(self, data: bytes) -> bool | None:
        """Take a line, or a part of one; return whether it follows the lines before, None if it does not say so."""
        if not data:
            return None
        found = _AFTER.search(data, max(0, len(data) - _LONGEST))
        follows = None if found is None else found[1] == self._before.encode()
        self._line.update(data.removesuffix(b"\n"))
        self.torn = not data.endswith(b"\n")
        if not self.torn:
            self._before, self._line = self._line.hexdigest(), hasher()
        return follows

    def link(self, line: bytes) -> bytes:
        """Return an object of JSON, with its line break, as it is to be written after the lines that were taken."""
        before = self._line.hexdigest() if self.torn else self._before
        return b'%b%b,"after":"%b"}\n' % (b"\n" * self.torn, line[:-2], before.encode())
