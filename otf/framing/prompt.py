"""Prompts: an answer ends where the system asks for the next command."""

from __future__ import annotations

import re
from functools import partial

from otf.errors import CodecError, UsageError
from otf.framing.cutting import Cutter, FrameBounds
from otf.framing.frame import LARGEST, Frame, Framing


class Prompt(Cutter):
    """Cuts a stream at prompts; made by `prompt`."""

    def __init__(self, prompts: tuple[bytes, ...], end: bytes, largest: int, keep: bool, anywhere: bool) -> None:  # noqa: FBT001 -- `prompt` has their names
        super().__init__(largest)
        self._end = end
        self._keep = keep
        self._anywhere = anywhere
        self._longest = max(map(len, prompts))
        # the longest first: of two prompts, one may be how the other begins
        self._prompts = re.compile(b"|".join(map(re.escape, sorted(prompts, key=len, reverse=True))))
        self.grace: int = self._longest

    def pack(self, data: bytes) -> bytes:
        """Return the command with its end. Raises CodecError where `data` has that end in it."""
        if self._end and self._end in data:
            message = f"{data!r} cannot be sent as one command: it has the end {self._end!r} in it"
            raise CodecError(message)
        return data + self._end

    def find(self, buffer: bytearray, looked: int) -> FrameBounds | None:
        """Return where the first answer ends, and where its prompt does."""
        # a prompt may have come in part when one looked last, and the line end before it decides as well
        for found in self._prompts.finditer(buffer, max(0, looked - self._longest)):
            if self._anywhere or self._fresh(buffer, found.start()):
                return found.end() if self._keep else found.start(), found.end()
        return None

    def _fresh(self, buffer: bytearray, at: int) -> bool:
        # while the rest of a frame is skipped, where the buffer begins is nowhere in particular
        return buffer[at - 1] in b"\r\n" if at else not self._skipping

    def rest(self) -> list[Frame]:
        """Return what came after the last prompt: last words, which no prompt ends."""
        left = self.left()
        return [Frame(left)] if left else []


def prompt(
    *prompts: bytes, end: bytes = b"\r", keep: bool = False, anywhere: bool = False, largest: int = LARGEST
) -> Framing:
    r"""Return the framing in which a frame is all that comes up to a prompt, and `end` follows each command.

    A prompt counts at the beginning of a line only, unless `anywhere`: `=> ` may stand in an answer too. With `keep`
    it stays at the end of the frame, so that a codec can tell several prompts apart. Raises UsageError for no prompt.

    >>> framer = prompt(b"=> ")()
    >>> framer.pack(b"printenv a"), framer.feed(b"printenv a\r\na=1 => 2\r\n="), framer.feed(b"> ")
    (b'printenv a\r', [], [Frame(data=b'printenv a\r\na=1 => 2\r\n', trouble='', came=None)])
    """
    if not prompts or not all(prompts):
        message = "prompt(…): name the bytes that the system ends an answer with, such as b'=> '"
        raise UsageError(message)
    return partial(Prompt, prompts, end, largest, keep, anywhere)
