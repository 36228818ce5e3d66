"""Child processes: started, watched, guarded, and stopped with all that they started."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import shlex
import signal
import subprocess
import tty
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from time import monotonic, sleep
from typing import IO, Final, TypeAlias

from otf.adapter.child.faster import CLOCK
from otf.adapter.log import note
from otf.adapter.observed_rest.owners import ended, started
from otf.errors import ContactError, UsageError

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = 'read -r _ || kill -s KILL -- "-$0"'


class Guard:
    """Waits beside a process and its group until the tester has gone, then kills them; `dismiss` ends it.

    The kernel closes the tester's pipe however the tester ends, so this needs no living process of otf. The kernel's
    own signal at the death of a parent (PDEATHSIG) will not do. It comes when the thread ends that started the process,
    does not reach grandchildren, and must be requested between fork and exec, where a program with threads may hang.
    """

    def __init__(self, group: int) -> None:
        self._guard: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # without a shell, a child ends by itself when its input ends, or not at all
            self._guard = subprocess.Popen(  # noqa: S603 -- our own script, and a number
                [_SHELL, "-c", _SCRIPT, str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            started(self._guard.pid, helper=True)

    def dismiss(self) -> None:
        """End the guard without killing anything. May be called again."""
        guard, self._guard = self._guard, None
        if guard is not None and guard.stdin is not None:
            # killed before its pipe is closed, which it would mistake for the end of the tester
            guard.kill()
            guard.wait()
            guard.stdin.close()
            ended(guard.pid)


PROC: Final = Path("/proc")
_STOPPED: Final = {b"T": "by SIGSTOP or Ctrl-Z", b"t": "by a debugger"}


def halted(pid: int) -> str:
    """Return that a process is stopped, and what to do about it; "" if it runs, or if that is unknown."""
    try:
        # called at each silence, and three times as fast as with a path object
        stat = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY)
        try:
            # the name of the program comes before the state, in brackets, and may contain brackets itself
            state = os.read(stat, 512).rpartition(b")")[2].split()[0]
        finally:
            os.close(stat)
    except (OSError, IndexError):
        return ""
    how = _STOPPED.get(state)
    return f"the process {pid} is stopped {how}; let it go on with `kill -CONT {pid}`" if how else ""


Program: TypeAlias = str | Sequence[str]
"""A program with its arguments, or a command line that is split as by a shell (but not run by one)."""

Folder: TypeAlias = str | Path | None
"""A working directory; None: our own."""

_ADVICE: Final = {
    errno.ENOENT: "check its spelling, or give its whole path; a script also needs the program in its first line",
    errno.EACCES: "it must be a file that you may execute (`chmod +x`), in folders that you may enter",
    errno.ENOEXEC: "it is neither a program for this machine nor a script with a first line such as #!/bin/sh",
}
_REAP: Final = 1.0
_MOMENT: Final = 0.001
_PEER: Final = 0x5441  # TIOCGPTPEER: opens the other end


def words(command: Program) -> list[str]:
    """Return a command as a program and its arguments. Raises UsageError if it is empty or a quotation is open."""
    try:
        argv = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError as error:
        message = f"not a command line: {command!r}: {str(error).lower()}; quote it as for a shell, or give a list"
        raise UsageError(message) from error
    if not argv:
        raise UsageError("no command: name a program, followed by its arguments")
    return argv


class Child:
    """A running process with pipes to its standard input, output and error; it leads its own session.

    `stdin`, `stdout` and `stderr` are our ends of the pipes, and never block. With `pty` the process has a terminal
    instead of pipes, which passes all bytes unchanged: `stdin` and `stdout` are both our end of it, and `stderr` is -1.
    `exit` becomes readable when the process ends, and is -1 if the kernel has no such descriptor. Raises ContactError
    if the command cannot be started. If the tester is killed, so are the process and its session.
    """

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: Folder = None, *, pty: bool = False
    ) -> None:
        self.command: str = shlex.join(argv)
        self._terminal = -1
        self._process = self._on_terminal(argv, env, cwd) if pty else _started(argv, env, cwd, subprocess.PIPE)
        self.pid: int = self._process.pid
        started(self.pid)
        self._guard = Guard(self.pid)
        self.exit: int = _exit_descriptor(self.pid)
        self.stdin: int
        self.stdout: int
        self.stderr: int
        if pty:
            self.stdin, self.stdout, self.stderr = self._terminal, self._terminal, -1
        else:
            self.stdin, self.stdout, self.stderr = (_unblock(pipe) for pipe in self._pipes())

    def ended(self) -> str:
        """Return how the process ended, "exit status 3" or "killed by SIGKILL"; "" while it runs."""
        try:
            code = self._code()
        except ChildProcessError:
            return "exit status unknown"  # other code has waited for it
        if code is None:
            return ""
        return f"exit status {code}" if code >= 0 else f"killed by {_signal_name(-code)}"

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process and everything it started that has not left its session."""
        # until it is reaped, the process holds the number of the group, so no other group can have it
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def settle(self) -> None:
        """Make the kernel carry what was written to the terminal to its other end at once.

        The kernel does that in a thread of its own; until then a process that waits for the data may seem to rest.
        """
        peer = fcntl.ioctl(self._terminal, _PEER, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            look = select.poll()
            look.register(peer, select.POLLIN)
            look.poll(0)
        finally:
            os.close(peer)

    @property
    def on_terminal(self) -> bool:
        """Whether the process has a terminal whose other end can be looked at."""
        return self._terminal >= 0

    def close_input(self) -> None:
        """Close the standard input: most programs then end. A terminal hangs up."""
        self.stdin = -1
        if self._terminal >= 0:
            self.signal(signal.SIGHUP)  # it controls no session, so closing it would signal no process
        for pipe in self._pipes()[:1]:
            pipe.close()

    def close(self) -> None:
        """Close all descriptors and release the number of the process, which should have ended before."""
        self._guard.dismiss()
        self.close_input()
        for pipe in self._pipes():
            pipe.close()
        for descriptor in (self._terminal, self.exit):
            if descriptor >= 0:
                os.close(descriptor)
        with suppress(subprocess.TimeoutExpired):  # a process that hangs in the kernel outlives even SIGKILL
            self._process.wait(_REAP)
        _reap_orphans(self.pid)
        ended(self.pid)

    def _pipes(self) -> list[IO[bytes]]:
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        return [pipe for pipe in pipes if pipe is not None]

    def _on_terminal(self, argv: Sequence[str], env: Mapping[str, str] | None, cwd: Folder) -> subprocess.Popen[bytes]:
        self._terminal, theirs = os.openpty()
        os.set_blocking(self._terminal, False)
        try:
            tty.setraw(theirs)
            return _started(argv, env, cwd, theirs)
        except BaseException:
            os.close(self._terminal)
            raise
        finally:
            os.close(theirs)

    def _code(self) -> int | None:
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _started(argv: Sequence[str], env: Mapping[str, str] | None, cwd: Folder, io: int) -> subprocess.Popen[bytes]:
    clock = CLOCK.get()
    if clock is not None:
        env = clock.environment(env)
    try:
        with _interruptible():
            started = subprocess.Popen(  # noqa: S603 -- to start what the user names is the purpose
                argv, bufsize=0, stdin=io, stdout=io, stderr=io, env=env, cwd=cwd, start_new_session=True
            )
    except OSError as error:
        raise _not_started(argv, cwd, error) from error
    note("started", command=shlex.join(argv), pid=started.pid)
    if clock is not None:
        clock.pids.append(started.pid)
    return started


@contextmanager
def _interruptible() -> Generator[None]:
    """Have a program that starts meanwhile obey SIGINT, which a shell has its background jobs ignore.

    A program inherits that a signal is ignored, but not a handler. A shell cannot even trap a signal that was ignored.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN and current_thread() is main_thread()
    if ignored:
        signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _not_started(argv: Sequence[str], cwd: Folder, error: OSError) -> ContactError:
    why = str(error.strerror).lower()
    if cwd is not None and error.filename == cwd:
        return ContactError(f"cannot start `{shlex.join(argv)}` in the folder {str(cwd)!r}: {why}; name another folder")
    advice = _ADVICE.get(error.errno or 0, "try to start it by hand")
    return ContactError(f"cannot start `{shlex.join(argv)}`: {argv[0]!r}: {why}; {advice}")


def _reap_orphans(group: int) -> None:
    """Reap what a killed system has left: the tester may have adopted it, and it would stay a zombie."""
    until = monotonic() + _REAP
    with suppress(ChildProcessError):
        while monotonic() < until:
            if os.waitpid(-group, os.WNOHANG)[0] == 0:
                sleep(_MOMENT)


def _exit_descriptor(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel, or a sandbox without it
        return -1


def _unblock(pipe: IO[bytes]) -> int:
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
