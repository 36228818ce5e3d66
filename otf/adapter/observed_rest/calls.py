"""System calls in which a thread waits: which they are, and where each keeps its time-out; and the alarm.

A handler of SIGALRM does not prove that a timer is armed, and the kernel does not let one process see another's
interval timers. `setitimer`, `alarm` or `ualarm` arm one. A dynamically linked program names these functions in its own
file or a library's, a Go program in its function table. Go's runtime handles every signal but never arms this timer.
Three kinds of programs go undetected: those that make the system call without these functions, find them by name at run
time, or later load a library that uses them.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from otf.values.identity import light

ANYTIME: Final = float("-inf")
"""The time of a wake-up about which nothing is known: it may be due already."""

NEVER: Final = float("inf")
"""The moment of a wake-up that no timer causes."""

Unit: TypeAlias = Literal["ms", "timespec", "timeval", "none"]
"""The form of a time: a number of milliseconds, or a pair in memory."""

Role: TypeAlias = Literal["reads", "epoll", "poll", "select", "none"]
"""What a call does with descriptors: reads one, waits on one of epoll, or on many given as a list or as bits."""

_NANO: Final = 1e-9
_MICRO: Final = 1e-6
_MILLI: Final = 1e-3
_PAIR: Final = struct.Struct("@2q")
PAIR_SIZE: Final = _PAIR.size
"""The bytes of a time in memory: seconds and a fraction."""

_FUTEX_COMMAND: Final = 127
_FUTEX_REALTIME: Final = 256
_FUTEX_RELATIVE: Final = 0  # FUTEX_WAIT
_FUTEX_LOCK_PI: Final = 6  # by the wall clock, whatever its flags
_FUTEX_ABSOLUTE: Final = frozenset((_FUTEX_LOCK_PI, 9, 11, 13))  # and WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2
_TIMER_ABSTIME: Final = 1
REALTIME: Final = 0
MONOTONIC: Final = 1
_CLOCKS: Final = frozenset((REALTIME, MONOTONIC))


@light
class SystemCall:
    """A system call in which a thread is blocked: its number and its six arguments."""

    number: int
    arguments: tuple[int, ...]


@light
class Timeout:
    """Where a call keeps its time-out.

    `after`: seconds from the start of the sleep (`NEVER`: none; `ANYTIME`: unknown). `pointer`: the address of the time
    in the process's memory, 0 if `after` holds it. `unit`: the form of that time. `clock`: the clock of an absolute
    time, -1 if it is relative. `role`: what the call does with `descriptor`, or with `many` (their number and the
    address of the list).
    """

    after: float = NEVER
    pointer: int = 0
    unit: Unit = "none"
    clock: int = -1
    role: Role = "none"
    descriptor: int = -1
    many: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A kind of call that waits, by the positions of its arguments (-1: it has none). Descriptors come first."""

    unit: Unit = "none"
    timeout: int = -1
    clock: int = -1
    role: Role = "none"


UNKNOWN: Final = Timeout(ANYTIME)
_FOREVER: Final = WaitingCall()
_EPOLL: Final = WaitingCall("ms", 3, role="epoll")
_READING: Final = WaitingCall(role="reads")

# The names are the kernel's. A thread that sleeps in any other call (a write, a file lock, a device) may be woken by
# something that is not examined here: `UNKNOWN`.
_WAITING: Final[dict[str, WaitingCall]] = {
    "read": _READING,
    "readv": _READING,
    "recvfrom": _READING,
    "recvmsg": _READING,
    "recvmmsg": _READING,
    "accept": _READING,
    "accept4": _READING,
    "poll": WaitingCall("ms", 2, role="poll"),
    "ppoll": WaitingCall("timespec", 2, role="poll"),
    "select": WaitingCall("timeval", 4, role="select"),
    "pselect6": WaitingCall("timespec", 4, role="select"),
    "epoll_wait": _EPOLL,
    "epoll_pwait": _EPOLL,
    "epoll_pwait2": WaitingCall("timespec", 3, role="epoll"),
    "nanosleep": WaitingCall("timespec", 0),
    "rt_sigtimedwait": WaitingCall("timespec", 2),
    "semtimedop": WaitingCall("timespec", 3),
    "semop": _FOREVER,
    "msgrcv": _FOREVER,
    "wait4": _FOREVER,
    "waitid": _FOREVER,
    "pause": _FOREVER,
    "rt_sigsuspend": _FOREVER,
    "futex_wait": WaitingCall("timespec", 4, clock=5),
    "futex_waitv": WaitingCall("timespec", 3, clock=4),
    "futex": _FOREVER,  # relative or absolute: `_futex`
    "clock_nanosleep": _FOREVER,  # the same: `_clock_nanosleep`
}

_NUMBERS: Final[dict[str, dict[str, int]]] = {
    "x86_64": {
        "read": 0, "readv": 19, "recvfrom": 45, "recvmsg": 47, "recvmmsg": 299, "accept": 43, "accept4": 288,
        "poll": 7, "ppoll": 271, "select": 23, "pselect6": 270, "epoll_wait": 232, "epoll_pwait": 281,
        "epoll_pwait2": 441, "nanosleep": 35, "rt_sigtimedwait": 128, "semtimedop": 220, "semop": 65, "msgrcv": 70,
        "wait4": 61, "waitid": 247, "pause": 34, "rt_sigsuspend": 130, "futex_wait": 455, "futex_waitv": 449,
        "futex": 202, "clock_nanosleep": 230,
    },
    "aarch64": {
        "read": 63, "readv": 65, "recvfrom": 207, "recvmsg": 212, "recvmmsg": 243, "accept": 202, "accept4": 242,
        "ppoll": 73, "pselect6": 72, "epoll_pwait": 22, "epoll_pwait2": 441, "nanosleep": 101, "rt_sigtimedwait": 137,
        "semtimedop": 192, "semop": 193, "msgrcv": 188, "wait4": 260, "waitid": 95, "rt_sigsuspend": 133,
        "futex_wait": 455, "futex_waitv": 449, "futex": 98, "clock_nanosleep": 115,
    },
}  # fmt: skip


def table(machine: str) -> dict[int, str] | None:
    """Return the names of the calls that wait by their numbers on this machine; None if unknown."""
    numbers = _NUMBERS.get(machine)
    return None if numbers is None else {number: name for name, number in numbers.items()}


def parsed(line: bytes) -> SystemCall | None:
    """Return the call in a line of `/proc/PID/syscall`; None if the thread is running."""
    words = line.split()
    try:
        return SystemCall(int(words[0]), tuple(int(word, 16) for word in words[1:7]))
    except (IndexError, ValueError):
        return None


def timeout(call: SystemCall, names: dict[int, str]) -> Timeout:
    """Return where a call keeps its time-out; `UNKNOWN` if it is not a call that waits."""
    name = names.get(call.number, "")
    kind = _WAITING.get(name)
    if kind is None or len(call.arguments) < 6:  # noqa: PLR2004 -- a call has six arguments
        return UNKNOWN
    special = _SPECIAL.get(name)
    return _plain(kind, call.arguments) if special is None else special(call.arguments)


def seconds(raw: bytes, unit: Unit) -> float | None:
    """Return a time read from memory, in seconds, or None if the memory holds something else."""
    if len(raw) != PAIR_SIZE:
        return None
    whole, fraction = _PAIR.unpack(raw)
    size = _MICRO if unit == "timeval" else _NANO
    return whole + fraction * size if whole >= 0 and 0 <= fraction * size < 1 else None


def _plain(kind: WaitingCall, arguments: tuple[int, ...]) -> Timeout:
    after, pointer = NEVER, arguments[kind.timeout] if kind.timeout >= 0 else 0
    if kind.unit == "ms":
        milliseconds, pointer = _signed(pointer), 0
        after = milliseconds * _MILLI if milliseconds >= 0 else NEVER
    elif kind.clock >= 0:
        return _absolute(pointer, _signed(arguments[kind.clock])) if pointer else Timeout()
    descriptor, many = -1, (0, 0)
    if kind.role in {"reads", "epoll"}:
        descriptor = _signed(arguments[0])
    elif kind.role == "poll":
        many = _signed(arguments[1]), arguments[0]
    elif kind.role == "select":
        many = _signed(arguments[0]), arguments[1]
    return Timeout(after, pointer, kind.unit if pointer else "none", -1, kind.role, descriptor, many)


def _absolute(pointer: int, clock: int) -> Timeout:
    # other clocks are those that go on while the machine sleeps, and those of computing time
    return Timeout(NEVER, pointer, "timespec", clock) if clock in _CLOCKS else UNKNOWN


def _futex(arguments: tuple[int, ...]) -> Timeout:
    operation, pointer = arguments[1], arguments[3]
    command = operation & _FUTEX_COMMAND
    if command != _FUTEX_RELATIVE and command not in _FUTEX_ABSOLUTE:
        return UNKNOWN
    if not pointer:
        return Timeout()
    if command == _FUTEX_RELATIVE:
        return Timeout(NEVER, pointer, "timespec")
    by_wall = command == _FUTEX_LOCK_PI or operation & _FUTEX_REALTIME
    return _absolute(pointer, REALTIME if by_wall else MONOTONIC)


def _clock_nanosleep(arguments: tuple[int, ...]) -> Timeout:
    clock, flags, pointer = _signed(arguments[0]), arguments[1], arguments[2]
    return _absolute(pointer, clock) if flags & _TIMER_ABSTIME else Timeout(NEVER, pointer, "timespec")


def _signed(argument: int) -> int:
    """Return an argument that the call takes as an `int`: the upper half of its register may hold anything."""
    low = argument & 0xFFFF_FFFF
    return low - (1 << 32) if low & 0x8000_0000 else low


_SPECIAL: Final = {"futex": _futex, "clock_nanosleep": _clock_nanosleep}


_CALLS: Final = (b"etitimer\0", b"larm\0")  # the ends of their names: a linker may store `alarm` as the end of `ualarm`
_OF_GO: Final = b"runtime.s"  # Go's own function, for the timer of computing time, which wakes nothing
_GO: Final = b"\xff Go buildinf:"
_CODE: Final = re.compile(r"^\S+ ..x. \S+ \S+ \d+ +(/.*)$", re.MULTILINE)
_LIBRARY: Final = re.compile(r"/(?:libc[.-]|libpthread[.-]|ld-(?:linux|musl|\d))")
"""The files of the C library itself, which defines these functions for the others."""


def arming(pid: int) -> str:
    """Return the file by which a process may arm an interval timer, "" if none can."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as maps:  # noqa: PTH123 -- no file of a disk
            files = dict.fromkeys(_CODE.findall(maps.read()))
    except OSError:
        return "which cannot be read"
    own = [each for each in files if not _LIBRARY.search(each)]
    linked = len(own) < len(files)
    return next((each for each in own if _may_arm(each, linked=linked)), "") if own else "which has no file"


def _may_arm(file: str, *, linked: bool) -> bool:
    try:
        told = os.stat(file)  # noqa: PTH116 -- the name may be no text
    except OSError:
        return True
    return _names_a_call(file, (told.st_dev, told.st_ino, told.st_mtime_ns), linked=linked)


@lru_cache
def _names_a_call(file: str, _version: tuple[int, ...], *, linked: bool) -> bool:
    try:
        with open(file, "rb") as program, mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as content:  # noqa: PTH123 -- the same
            # a statically linked program does not show what it calls, unless Go built it
            return any(_found(content, each) for each in _CALLS) or not (linked or content.find(_GO) >= 0)
    except (OSError, ValueError):
        return True


def _found(content: mmap.mmap, name: bytes) -> bool:
    at = content.find(name)
    while at >= 0 and content[max(0, at - len(_OF_GO)) : at] == _OF_GO:
        at = content.find(name, at + 1)
    return at >= 0
