"""Tries third-party decoders in a separate process, which ends if a decoder would run for ever.

A library that runs C code, or catches exceptions, can be interrupted neither by a thread nor by a signal handler. So a
copy of this process decodes first, and the kernel kills the copy if it takes too much time or memory. Only if the copy
survived does this process decode the same bytes. This takes tens of microseconds, so otf does it only for libraries
that may never end (`MessageForm.endless`).
"""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import FrameType
from typing import Any, Final, NoReturn

from otf.errors import CodecError

SECONDS: Final = 1.0
"""CPU time for one message: ordinary ones take microseconds."""
MEMORY: Final = 256 << 20
"""Bytes that decoding may take in addition to the tester's own."""
WAITING: Final = 60.0
"""Seconds for an answer: a child that takes this long without using the CPU waits for something that will not come."""
TRIALS: Final = set[int]()
"""The processes, which belong to no system under test."""

_HEADER: Final = 8
_PASSED, _TOO_LARGE = b"p", b"m"


class DecodeTrial:
    """A process that calls `decode` before otf does, in case decoding takes endless time or memory (Linux only).

    `DecodeTrial` starts the process, a copy of this one, when it is first needed.

    >>> trial = DecodeTrial(len)
    >>> trial.check(b"ordinary")
    >>> DecodeTrial(lambda data: bytearray(1 << 40)).check(b"a bomb")
    Traceback (most recent call last):
    otf.errors.CodecError: decoding these 6 bytes takes more than 256 MiB of memory
    """

    def __init__(self, decode: Callable[[bytes], object]) -> None:
        self._decode, self._lock = decode, Lock()
        self._pid, self._owner, self._ends = 0, 0, (-1, -1)

    def check(self, data: bytes) -> None:
        """Return if the bytes are decoded or rejected within the limits. Raises CodecError, RuntimeError.

        RuntimeError says nothing about the bytes: no process could be started, or it ended for another reason.
        """
        with self._lock:
            # a used copy may be full of what others left, or dead; only the answer of a fresh one counts
            is_fresh = self._owner != os.getpid()
            reason = self._asked(data)
            if reason and not is_fresh:
                reason = self._asked(data)
        if reason:
            raise (CodecError if reason.startswith("decoding") else RuntimeError)(reason)

    def _asked(self, data: bytes) -> str:
        if self._owner != os.getpid():  # not started, or this is a copy itself
            self._start()
        given, answer = self._ends
        with suppress(BrokenPipeError):
            _write(given, len(data).to_bytes(_HEADER, "big") + data)
        if not select.select([answer], [], [], WAITING)[0]:
            self.close()
            return f"the process that decodes {len(data)} bytes did not answer for {WAITING:.0f} s"
        found = os.read(answer, 1)
        if found == _PASSED:
            return ""
        status = self.close(kill=False)
        many = f"decoding these {len(data)} bytes takes more than"
        if found == _TOO_LARGE:
            return f"{many} {MEMORY >> 20} MiB of memory"
        if status == -signal.SIGPROF:
            return f"{many} {SECONDS:g} s of CPU time"
        return f"the process that decodes {len(data)} bytes ended with {status}"

    def _start(self) -> None:
        (theirs, given), (answer, says) = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads that hold a lock: see WAITING
            try:
                pid = os.fork()
            except OSError as error:
                for each in (theirs, given, answer, says):
                    os.close(each)
                raise RuntimeError(f"no process to decode in: {error.strerror}") from error
        if not pid:
            _serve(self._decode, theirs, says)
        os.close(theirs)
        os.close(says)
        TRIALS.add(pid)
        self._pid, self._owner, self._ends = pid, os.getpid(), (given, answer)

    def close(self, *, kill: bool = True) -> int:
        """End the process, and return its status."""
        if self._owner != os.getpid():
            return 0
        self._owner = 0
        for each in self._ends:
            os.close(each)
        TRIALS.discard(self._pid)
        with suppress(ProcessLookupError, ChildProcessError):  # someone waits for all children of this process
            if kill:
                os.kill(self._pid, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        return 0

    def __del__(self) -> None:
        self.close()


def _write(to: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(to, rest) :]


def _serve(decode: Callable[[bytes], object], asked: int, answer: int) -> NoReturn:
    """Decode in the copy until there are no more questions, without the tester's other descriptors or its handlers."""
    try:
        signal.set_wakeup_fd(-1)
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGPROF, signal.SIGPIPE):
            signal.signal(each, signal.SIG_IGN if each == signal.SIGINT else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.dup2(asked, 0)
        os.dup2(answer, 1)
        os.closerange(2, os.sysconf("SC_OPEN_MAX"))
        own, most = resource.getrlimit(resource.RLIMIT_AS)[1], _mapped() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most if own == resource.RLIM_INFINITY else min(own, most), own))
        sys.settrace(_watch)
        while header := os.read(0, _HEADER):
            _try(decode, _read(int.from_bytes(header, "big")))
            os.write(1, _PASSED)
    finally:
        os._exit(0)


def _try(decode: Callable[[bytes], object], data: bytes) -> None:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends the process, even in C code
    # rejected, which is an answer; or SystemExit and the like, which come again where the message counts
    with suppress(BaseException):
        decode(data)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _watch(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:  # noqa: ANN401 -- as the interpreter has it
    """End the copy on any MemoryError. The library may catch it here, but would use that memory in the tester."""
    frame.f_trace_lines = False
    if event == "exception" and issubclass(argument[0], MemoryError):
        os.write(1, _TOO_LARGE)
        os._exit(0)
    return _watch


def _read(size: int) -> bytes:
    parts = list[bytes]()
    while size and (part := os.read(0, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _mapped() -> int:
    return int(Path("/proc/self/statm").read_bytes().split()[0]) * os.sysconf("SC_PAGE_SIZE")


__all__ = ["DecodeTrial"]
