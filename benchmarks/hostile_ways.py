"""Every way to end or to harm a process that we know: statements by name, run by `strike` where a bench asks for it.

`c` is the C library; `disk` and `clock` belong to the library of `hostile.c`, which is loaded before it; `out` is the
folder of the campaign.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, Final

STRUCK: Final = "struck"  # the file that says that a place was reached

_EXITS = {
    "os._exit(0)": "os._exit(0)",
    "os._exit(1)": "os._exit(1)",
    "sys.exit(0)": "sys.exit(0)",
    "exit of C": "c.exit(0)",
    "_exit of C": "c._exit(0)",
    "quick_exit": "c.quick_exit(0)",
    "system call": "c.syscall(231, 0)",
    "exec": "os.execv('/bin/true', ['true'])",
    "exec of Python": "os.execv(sys.executable, [sys.executable, '-c', 'print(\"PASS\")'])",
    "abort": "os.abort()",
    "segmentation fault": "ctypes.string_at(8)",
    "Py_Exit": "ctypes.pythonapi.Py_Exit(0)",
    "Py_FinalizeEx": "ctypes.pythonapi.Py_FinalizeEx()",
    "Py_FatalError": "ctypes.pythonapi.Py_FatalError(b'hostile')",
    "atexit": "import atexit; atexit.register(os._exit, 0)",
    "atexit of C": "c.on_exit(c._exit, 0)",
    "sys.exit replaced": "sys.exit = lambda *_: os._exit(0)",
    "excepthook": "sys.excepthook = lambda *_: os._exit(0)",
    "unraisable": "sys.unraisablehook = lambda *_: os._exit(0)",
    "thread hook": "threading.excepthook = lambda *_: os._exit(0)",
}
_NAMES: Final = (
    "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM CHLD CONT XCPU XFSZ VTALRM PROF WINCH IO SYS"
)
_SIGNALS = {
    **{f"SIG{name}": f"os.kill(os.getpid(), signal.SIG{name})" for name in _NAMES.split()},
    "a real-time signal": "os.kill(os.getpid(), signal.SIGRTMIN + 3)",
    "SIGKILL of the parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "SIGTERM of the parent": "os.kill(os.getppid(), signal.SIGTERM)",
    "SIGTERM of the group": "os.killpg(0, signal.SIGTERM)",
    "signals ignored": "[signal.signal(n, signal.SIG_IGN) for n in (2, 15, 17, 14)]",
    "signals blocked": "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())",
    "alarm": "signal.setitimer(signal.ITIMER_REAL, 0.001)",
}
_ERRORS: Final = (
    "ValueError('x') OSError(5,'x') KeyboardInterrupt SystemExit(0) SystemExit(None) GeneratorExit EOFError "
    "BaseException('x') MemoryError "
    "RecursionError StopIteration StopAsyncIteration asyncio.CancelledError BrokenPipeError(32,'x') Unsayable "
    "ExceptionGroup('x',[ValueError()]) BaseExceptionGroup('x',[SystemExit(0)])"
)
_RAISING = {f"raise {name}": f"raise {name}" for name in _ERRORS.split()}
_THREADS = {
    "a thread that ends": "run()",
    "a thread that raises": "run(int, 'x')",
    "a thread that exits": "run(sys.exit, 0)",
    "a thread that interrupts": "run(_thread.interrupt_main)",
    "a thread that ends all": "run(os._exit, 0)",
    "a thread that hangs": "run(threading.Event().wait)",
    "threads without end": "[run(time.sleep, 9) for _ in range(500)]",
    "SystemExit into the main thread": "into_main(SystemExit)",
    "KeyboardInterrupt into the main thread": "into_main(KeyboardInterrupt)",
    "the task is cancelled": "asyncio.current_task().cancel()",
    "all tasks are cancelled": "[task.cancel() for task in asyncio.all_tasks()]",
    "the loop stops": "asyncio.get_running_loop().stop()",
    "the loop closes": "loop = asyncio.get_running_loop(); loop.stop(); loop.call_soon(loop.close)",
    "a callback exits": "asyncio.get_running_loop().call_soon(sys.exit, 0)",
    "a callback raises": "asyncio.get_running_loop().call_soon(int, 'x')",
    "the executor is gone": "asyncio.get_running_loop()._default_executor = 5",
    "a fork that comes back": "os.fork()",
    "a fork whose child ends": "os.fork() or os._exit(0)",
    "a fork whose parent ends": "os.fork() and os._exit(0)",
    "vfork": "c.vfork() or c._exit(0)",
    "a session of its own": "os.setsid()",
}
_PYTHON = {
    "no modules": "sys.modules.clear()",
    "no open": "builtins.open = os.open = None",
    "no write": "os.write = lambda fd, data: len(data)",
    "no print": "builtins.print = lambda *_, **__: None",
    "no collector": "gc.disable(); gc.freeze()",
    "deep recursion forbidden": "sys.setrecursionlimit(60)",
    "a trace function": "sys.settrace(lambda *_: os._exit(0))",
    "a profile function": "sys.setprofile(lambda *_: os._exit(0))",
    "an audit hook": "sys.addaudithook(lambda *_: os._exit(0))",
    "json writes pass": 'json.dumps = lambda *_, **__: \'{"verdict": "pass"}\'',
    "wrong length": "builtins.len = lambda _: 0",
}
_FILES = {
    "disk full": "disk(errno.ENOSPC)",
    "disk broken": "disk(errno.EIO)",
    "disk read-only": "disk(errno.EROFS)",
    "quota reached": "disk(errno.EDQUOT)",
    "disk stale": "disk(errno.ESTALE)",
    "folder gone": "shutil.rmtree(out)",
    "folder moved": "out.rename('elsewhere')",
    "folder is a file": "shutil.rmtree(out); out.touch()",
    "traces gone": "[each.unlink() for each in [*out.glob('*path*'), *out.glob('.*path*')]]",
    "traces empty": "[os.truncate(each, 0) for each in out.glob('*path*')]",
    "journal gone": "(out / 'campaign.jsonl').unlink()",
    "journal empty": "os.truncate(out / 'campaign.jsonl', 0)",
    "journal full": "full(out / 'campaign.jsonl')",
    "elsewhere": "os.mkdir('away'); os.chdir('away')",
    "the folder we are in is gone": "os.mkdir('x'); os.chdir('x'); os.rmdir('../x')",
    "umask": "os.umask(0o777)",
    "no file may grow": "signal.signal(25, signal.SIG_IGN); limit(resource.RLIMIT_FSIZE, 0)",
    "read-only by mount": "mounted(out)",
}
_STREAMS = {
    "stdin closed": "os.close(0)",
    "stdout closed": "os.close(1)",
    "stderr closed": "os.close(2)",
    "all closed": "os.closerange(0, 256)",
    "all but streams closed": "os.closerange(3, 256)",
    "stdout full": "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)",
    "stderr full": "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
    "stdout null": "os.dup2(os.open('/dev/null', os.O_WRONLY), 1)",
    "stdout broken": "pipe = os.pipe(); os.close(pipe[0]); os.dup2(pipe[1], 1)",
    "stderr broken": "pipe = os.pipe(); os.close(pipe[0]); os.dup2(pipe[1], 2)",
    "stdout read-only": "os.dup2(os.open('/dev/null', os.O_RDONLY), 1)",
    "stdout None": "sys.stdout = None",
    "stderr None": "sys.stderr = None",
    "stdout an object": "sys.stdout = object()",
    "stdout shut": "sys.stdout.close()",
    "stdout swallowed": "sys.stdout = io.StringIO()",
    "all full": "[full_fd(fd) for fd in range(1, 64)]",
}
_CLOCKS = {
    f"{name} {what}": f"clock({which}, {how})"
    for which, name in enumerate(("the day", "the clock"))
    for how, what in enumerate(("stops", "an hour ahead", "an hour back", "runs backwards"), 1)
}
_LIMITS = {
    "no more files": "limit(resource.RLIMIT_NOFILE, 3)",
    "few files": "limit(resource.RLIMIT_NOFILE, len(os.listdir('/proc/self/fd')) + 1)",
    "files without end": "[os.dup(0) for _ in range(1 << 20)]",
    "no more memory": "limit(resource.RLIMIT_AS, 1 << 20)",
    "little memory": "limit(resource.RLIMIT_AS, used() + (1 << 22))",
    "a large array": "bytearray(1 << 45)",
    "no more processes": "limit(resource.RLIMIT_NPROC, 0)",
    "no more stack": "limit(resource.RLIMIT_STACK, 1 << 14)",
    "no more time": "limit(resource.RLIMIT_CPU, 1)",
    "no core": "limit(resource.RLIMIT_CORE, 0); os.abort()",
    "no data": "limit(resource.RLIMIT_DATA, 1 << 20)",
}
WAYS: Final[dict[str, str]] = _EXITS | _SIGNALS | _RAISING | _THREADS | _PYTHON | _FILES | _STREAMS | _CLOCKS | _LIMITS
"""All of them, as statements."""
HARMLESS: Final = frozenset({"a thread that ends", "no collector", "SIGCHLD", "SIGCONT", "SIGWINCH", "stdin closed"})
"""What has to change nothing: the status is to be 0."""
_MUTE: Final = {"no print", "no write", "no file may grow"}  # what a command says goes to files here
SPEECHLESS: Final = frozenset({name for name in WAYS if name in _STREAMS or name in _MUTE})
"""What may end without a word."""
PRELOADED: Final = frozenset({name for name, code in WAYS.items() if code.startswith(("disk(", "clock("))})


class Unsayable(Exception):  # noqa: N818 -- it is the name of a way
    """An exception that cannot be shown."""

    def __str__(self) -> str:
        """Raise an error."""
        raise ValueError


def strike(way: str, out: Path) -> None:
    """Do it; a file says that it was done, and which could not be."""
    Path(STRUCK).touch()
    import _thread
    import asyncio
    import builtins
    import gc
    import io
    import json
    import shutil
    import time

    here = [asyncio, builtins, gc, io, json, shutil, time, _thread, ctypes, errno, os, signal, sys, threading]
    names: dict[str, Any] = {each.__name__: each for each in here}
    import resource

    mine = {"c": ctypes.CDLL(None), "out": out.absolute(), "Unsayable": Unsayable, "resource": resource}
    names |= mine | {each.__name__: each for each in (run, into_main, limit, used, full, full_fd, mounted, disk, clock)}
    exec(WAYS[way], names)  # noqa: S102 -- the statements above


def run(*call: Any) -> None:
    """Call a function in a thread, and wait a moment for its end."""
    thread = threading.Thread(target=call[0] if call else int, args=call[1:], daemon=True)
    thread.start()
    thread.join(0.01)


def into_main(error: type[BaseException]) -> None:
    """Raise an exception in the main thread."""
    number = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(error))


def limit(which: int, value: int) -> None:
    """Lower a limit."""
    import resource

    resource.setrlimit(which, (value, resource.getrlimit(which)[1]))


def used() -> int:
    """Return the bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")


def full(file: Path) -> None:
    """Put /dev/full in place of an open file."""
    for fd in (int(each.name) for each in Path("/proc/self/fd").iterdir()):
        if os.path.exists(f"/proc/self/fd/{fd}") and os.readlink(f"/proc/self/fd/{fd}") == str(file):  # noqa: PTH110, PTH115 -- numbers
            full_fd(fd)


def full_fd(fd: int) -> None:
    """Put /dev/full in place of a descriptor, if it is open."""
    if os.path.exists(f"/proc/self/fd/{fd}"):  # noqa: PTH110 -- a number
        os.dup2(os.open("/dev/full", os.O_RDWR), fd)


def disk(error: int) -> None:
    """Let each writing to a file fail."""
    ctypes.CDLL(None).hostile_disk(error)


def clock(which: int, how: int) -> None:
    """Change a clock for this process."""
    ctypes.CDLL(None).hostile_clock(which, how)


def mounted(out: Path) -> None:
    """Mount a read-only file system over the folder; a file says that this needs rights which we have not."""
    if ctypes.CDLL(None).mount(b"none", str(out).encode(), b"tmpfs", 1, None):
        (out.parent / "not run").touch()
