"""`otf replay` on logs of other programs: captures and JSON Lines, whole or while they grow."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from io import BufferedReader
from typing import BinaryIO, Final

from otf.adapter import Bench
from otf.cli.signals import SIGNALS
from otf.offline.captured import Captured, listed
from otf.offline.logs import ForeignJudge, Noted, Opinion, timed
from otf.trace.pcap import MAGIC, Capture
from otf.trace.reading import LONGEST, bounded

POLL: Final = 0.05  # seconds between two looks at a file that does not grow


class Growing:
    """Reads a file that another program writes; calls `idle` whenever there is nothing new, which may raise to stop."""

    def __init__(self, file: BinaryIO, idle: Callable[[], None]) -> None:
        self._file = file
        self._idle = idle

    def read(self, size: int, /) -> bytes:
        """Return `size` bytes, as soon as they are there."""
        data = b""
        while len(data) < size:
            more = self._file.read(size - len(data))
            data += more
            self._wait(more)
        return data

    def lines(self, longest: int) -> Iterator[bytes]:
        """Yield lines, each as soon as it is complete."""
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


_HEAD = 4096


class _OverError(Exception):
    """There is no need to wait for more."""


@dataclass(frozen=True, slots=True)
class How:
    """How a foreign log is read: while it grows, with its start lost, with silence after its end."""

    follow: bool = False
    lost: bool = False
    ended: bool = False


def is_capture(file: BinaryIO) -> bool:
    """Return whether a file is a capture; its first bytes are not consumed."""
    return _head(file)[:4] in MAGIC


def is_log(file: BinaryIO) -> bool:
    """Return whether a file has JSON lines that are not a trace of otf."""
    head = _head(file)
    return head[:1] == b"{" and b'"event":"start"' not in head.split(b"\n", 1)[0]


def opinion(name: str, file: BinaryIO, bench: Bench, how: How) -> Opinion:
    """Judge a foreign log; one that grows is read until there is a verdict or a signal."""
    judge = ForeignJudge(bench, lost=how.lost)
    latest = time.monotonic()

    def idle() -> None:
        SIGNALS.reached()
        judge.until(judge.last + time.monotonic() - latest)
        if judge.decided or SIGNALS.number:
            raise _OverError

    growing = Growing(file, idle) if how.follow else None
    capture = Capture(growing or file, name) if _captures(name, file, growing) else None
    with _until_over(), SIGNALS.stopping(lambda: None) if how.follow else nullcontext():
        for noted in timed(_lines(name, file, bench, growing) if capture is None else Captured(capture, bench)):
            judge.take(noted)
            latest = time.monotonic()
            if judge.decided or SIGNALS.number:
                break
    return judge.end(ended=how.ended, cut=capture is not None and capture.cut)


def position(found: Opinion) -> str:
    """Return where in the log the verdict was reached."""
    skipped = f", the first {found.skipped} were before the first silence and were skipped" if found.skipped else ""
    cut = "; it ends inside a packet, which was ignored, so what followed is unknown" if found.cut else ""
    return f"the last message that was judged was number {found.place}{skipped}{cut}"


@contextmanager
def _until_over() -> Generator[None]:
    try:
        yield
    except _OverError:
        return


def _captures(name: str, file: BinaryIO, growing: Growing | None) -> bool:
    # if the file is still empty, only its name shows what it will be
    return is_capture(file) or (growing is not None and name.endswith(".pcap"))


def _lines(name: str, file: BinaryIO, bench: Bench, growing: Growing | None) -> Iterator[Noted]:
    return listed(bounded(file) if growing is None else growing.lines(LONGEST), name, bench)


def _head(file: BinaryIO) -> bytes:
    return file.peek(_HEAD)[:_HEAD] if isinstance(file, BufferedReader) else b""
