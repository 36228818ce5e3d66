"""Judge from outside how a program ended, since code in the same process can end it at any moment, with any status.

`supervise` continues in a child. The original process imports nothing more, waits, and believes a status only if the
child signed it as its last act: `os._exit(0)` in a system, a codec, a thread or an atexit handler signs nothing. The
child reports through shared memory, so that no descriptor has to stay open, and a process that outlives the child does
not hold up the original process.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from mmap import mmap
from typing import Final, NoReturn

from otf.errors import FAIL, INCONCLUSIVE

_SIZE: Final = 4096
_SIGNED, _STATUS, _REPORTED, _HEARD, _PLACE = 0, 1, 2, 3, 4  # their places in the shared memory
_AGAIN: Final = 1.0  # seconds in which the child must notice a signal that should end it; then it gets it again
_KERNEL: Final = 0x80  # SI_KERNEL: a terminal signals each process of the group, including the child


class _Child:
    """The supervised process's view of itself; elsewhere, and in its forks, calls note nothing."""

    def __init__(self) -> None:
        self.pid = 0
        self.memory: mmap | None = None
        self.decided = False

    def write(self, at: int, data: bytes) -> None:
        if self.memory is not None and os.getpid() == self.pid:
            self.memory[at : at + len(data)] = data


_CHILD: Final = _Child()


def decide(status: int) -> None:
    """Note the status with which this process wants to end; a failure remains one."""
    _CHILD.decided = True
    _CHILD.write(_STATUS, bytes([status & 0xFF]))


def failed() -> None:
    """Note that a failure was reported: if code of the bench ends this process now, it has failed."""
    _CHILD.write(_STATUS, bytes([FAIL]))


def sign() -> None:
    """Declare a deliberate and complete end of this process; the last act of a supervised program."""
    # the interpreter reports what it could not write
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        sys.stderr.flush()
    # Py_Exit in C, and an escaping exception, also call the exit handlers
    if _CHILD.decided:
        _CHILD.write(_SIGNED, b"\1")


def reported() -> None:
    """Note that a command with `--json` has printed its document: it must print only one."""
    _CHILD.write(_REPORTED, b"\1")


def hear() -> None:
    """Note that a signal reached the code that handles it."""
    _CHILD.write(_HEARD, b"\1")


def working_on(what: str) -> None:
    """Note the current activity, for the message about an unsigned end."""
    _CHILD.write(_PLACE, what.encode(errors="replace")[: _SIZE - _PLACE - 1] + b"\0")


def supervised() -> int:
    """Return the id of this process if its forks have to end, which is so when it is supervised; otherwise 0."""
    return _CHILD.pid


def end_copies() -> None:
    """End each fork of this process that returns into the tester."""
    _CHILD.pid = os.getpid()


def end_copy() -> None:
    """End a fork of this process that returned into the tester; otherwise it would drive and write, too."""
    if _CHILD.pid and os.getpid() != _CHILD.pid:
        with suppress(OSError):
            os.write(2, b"otf: code of the bench or its system forked, and did not end the copy: it ends here\n")
        os._exit(INCONCLUSIVE)


def supervise(name: str, *, as_json: bool = False, hears: bool = False) -> None:
    """Continue in a child process; the calling process ends as the child does. In a debugger, do nothing.

    `name` is what the user called; with `as_json` an unsigned end also prints a document on standard output. A program
    that `hears` calls `hear` for each signal that should end it, and gets one again each second until it does.
    """
    if _in_debugger():
        return
    try:
        memory, (ours, theirs) = mmap(-1, _SIZE), os.pipe()
        if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # otherwise the kernel forgets how a child ended
        before, parent = signal.pthread_sigmask(signal.SIG_BLOCK, _signals()), os.getpid()
        child = os.fork()
    except OSError as error:
        _Parent(name, None, as_json=as_json).give_up(f"cannot start a process: {error.strerror}")
    if child:
        _Parent(name, memory, as_json=as_json).follow(child, hears=hears)
    os.close(theirs)
    _die_with(parent, ours)
    _CHILD.pid, _CHILD.memory = os.getpid(), memory
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_debugger() -> bool:
    """Return whether pdb runs the program: it cannot talk to two processes."""
    bdb, tracing = sys.modules.get("bdb"), getattr(sys.gettrace(), "__self__", None)
    return bdb is not None and isinstance(tracing, bdb.Bdb)


def _signals() -> set[signal.Signals]:
    """Return the signals that the parent passes on, and the one for the end of its child."""
    names = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGCONT", "SIGCHLD")
    return {signal.Signals[name] for name in names}


def _die_with(parent: int, pipe: int) -> None:
    """Have the kernel kill this process when its parent, the pipe's only writer, dies.

    PDEATHSIG would do the same, and needs ctypes, whose import takes longer than the fork.
    """
    import fcntl

    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC)
    if os.getppid() != parent:
        os._exit(INCONCLUSIVE)


class _Parent:
    """The original process: it waits, passes signals on, and ends as its child does."""

    def __init__(self, name: str, memory: mmap | None, *, as_json: bool) -> None:
        self._name, self._memory, self._as_json = name, memory or mmap(-1, _SIZE), as_json

    def follow(self, child: int, *, hears: bool) -> NoReturn:
        """Wait for the end of the child, and end with its status."""
        sent = 0
        # earlier signals were for the child; now the terminal sends it its own
        while (early := signal.sigtimedwait(_signals() - {signal.SIGCHLD}, 0)) is not None:
            os.kill(child, early.si_signo)
            sent = early.si_signo if early.si_signo in _ENDINGS else sent
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            unheard = hears and sent and not self._memory[_HEARD]
            came = signal.sigtimedwait(_signals(), _AGAIN) if unheard else signal.sigwaitinfo(_signals())
            if came is not None:
                self._hand_on(came, child)
                sent = came.si_signo if came.si_signo in _ENDINGS else sent
            elif not self._memory[_HEARD]:
                # Python can lose a signal that comes just before its code blocks: Python checks for signals, the signal
                # comes, and then Python sleeps in the kernel. Its handler would wait until the sleep ends.
                os.kill(child, sent)
        self._end(os.waitstatus_to_exitcode(ended[1]))

    def _hand_on(self, came: signal.struct_siginfo, child: int) -> None:
        if came.si_signo == signal.SIGCHLD:
            return
        # only the session leader learns that the terminal is gone
        if came.si_code != _KERNEL or came.si_signo == signal.SIGHUP:
            os.kill(child, came.si_signo)
        if came.si_signo == signal.SIGTSTP:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
            os.kill(os.getpid(), signal.SIGTSTP)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})

    def _end(self, real: int) -> NoReturn:
        signed, status = self._memory[_SIGNED], self._memory[_STATUS]
        if signed and (status or real >= 0):
            os._exit(status or real)
        if real >= 0:
            by = f"{_BY}{_ITSELF * (real == INCONCLUSIVE)}{_limits()}"
            self._say(f"was ended from inside with status {real}{self._place()}: {by}; {_worth(status)}. {_ADVICE}")
            os._exit(status or INCONCLUSIVE)
        # an interpreter without memory may crash before it can say so, which counts as any other end for this cause
        limit = _limits() if -real in _CRASHES else ""
        self._say(f"was killed by {_signal_name(-real)}{limit}{self._place()}; {_worth(status)}")
        if limit:
            os._exit(status or INCONCLUSIVE)
        with suppress(OSError, ValueError):
            signal.signal(-real, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-real})
        os.kill(os.getpid(), -real)
        os._exit(INCONCLUSIVE)

    def _place(self) -> str:
        what = self._memory[_PLACE:].partition(b"\0")[0].decode(errors="replace")
        return f" ({what})" if what else ""

    def give_up(self, why: str) -> NoReturn:
        """End as inconclusive, with a message."""
        self._say(f"{why}; {_worth(0)}")
        os._exit(INCONCLUSIVE)

    def _say(self, why: str) -> None:
        text = f"{self._name} {why}"
        with suppress(OSError):
            os.write(2, f"otf: {text}\n".encode(errors="replace"))
        if self._as_json and not self._memory[_REPORTED]:
            with suppress(OSError, ImportError):
                import json

                os.write(1, f"{json.dumps({'verdict': 'error', 'error': text}, indent=2)}\n".encode())


_BY: Final = "by code of the bench, its model or its system that called os._exit, os.exec or exit() of a C library"
_ITSELF: Final = ", or by otf itself, if it says above that nothing works any more"
_ADVICE: Final = "To test a system that ends its process, run it in one of its own, with otf.adapters.process"


_ENDINGS: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
_CRASHES: Final = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT})


def _limits() -> str:
    """Return a note that memory may have been too small, since Python itself cannot always say so."""
    try:
        import resource
    except (ImportError, OSError):  # no file can be opened any more: an end by that would have the status of a failure
        return ""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return "" if most == resource.RLIM_INFINITY else f", or by a lack of memory (ulimit -v: {most // 1024:,} KiB)"


def _worth(status: int) -> str:
    return f"its status was to be {status}" if status else "so nothing is decided"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
