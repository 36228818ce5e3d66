"""Finds which processes belong to a system: those that hold its sockets, children of the tester, and orphans.

If the tester asks for it, the kernel makes it the parent of processes whose parent has ended.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple

from otf.adapter.observed_rest.place import Bound, Transport
from otf.adapter.observed_rest.sockets import bound_to, receiving

PROC: Final = Path("/proc")
_AGAIN: Final = 1.0  # seconds after which to search all processes again
_KEPT: Final = 100  # addresses whose last search is remembered
_START: Final = 19  # in /proc/PID/stat, counted after the program name: the start time, in clock ticks


def owners(transport: Transport, address: Bound, among: Iterable[int]) -> set[int]:
    """Return the processes, out of `among`, that hold a socket bound to an address, as far as we can see."""
    wanted = {f"socket:[{inode}]" for inode in bound_to(transport, address)}
    return {pid for pid in among if wanted and _holds(pid, wanted)}


class _PortSearch(NamedTuple):
    """A search of all processes for a socket: its time, the processes that existed, and those that held the socket."""

    at: float
    there: set[int]
    holding: set[int]


_searches: Final[dict[tuple[Transport, Bound], _PortSearch]] = {}


def holders(transport: Transport, address: Bound) -> set[int]:
    """Return all processes that hold a socket bound to an address.

    A search of all descriptors takes 15 to 100 ms, longer than most paths. So for a second after one, only the holders
    and new processes are searched. Another process might be given the socket meanwhile, as it might right after a
    search.
    """
    there, last = {*everybody()}, _searches.get((transport, address))
    if last is not None and monotonic() - last.at < _AGAIN:
        found = owners(transport, address, last.holding | (there - last.there))
        if found and found >= last.holding & there:
            return found
    found = owners(transport, address, there)
    if len(_searches) >= _KEPT:
        _searches.clear()
    if found:
        _searches[transport, address] = _PortSearch(monotonic(), there, found)
    return found


def everybody() -> list[int]:
    """Return all visible processes of this machine except the tester."""
    own = str(os.getpid())
    return [int(each) for each in os.listdir(PROC) if each.isdigit() and each != own]  # noqa: PTH208 -- the same


def _holds(pid: int, wanted: set[str]) -> bool:
    folder = f"{PROC}/{pid}/fd"
    with suppress(OSError):
        for each in os.listdir(folder):  # noqa: PTH208 -- names, not paths
            with suppress(OSError):
                if os.readlink(f"{folder}/{each}") in wanted:  # noqa: PTH115 -- the same
                    return True
    return False


def start_of(pid: int) -> int:
    """Return when a process started, in clock ticks since the boot; 0 if unknown."""
    try:
        return int((PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[_START])
    except (OSError, IndexError, ValueError):
        return 0


def stranger(transport: Transport, address: Bound, server: int, since: int) -> str:
    """Return a message if another process, started before the server (`since`), holds its port; "" if none is seen."""
    for inode in receiving(transport, address):
        # searches all processes only if the server itself does not hold it
        wanted = {f"socket:[{inode}]"}
        held = [] if _holds(server, wanted) else [pid for pid in (*everybody(), os.getpid()) if _holds(pid, wanted)]
        if held and all(start_of(pid) < since for pid in held):
            who = ", ".join(f"{pid} ({program_name(pid)})" for pid in held)
            where = f"{transport.upper()} port {address[0]}:{address[1]}"
            return f"the {where} is held by the process {who}, started before it"
    return ""


def program_name(pid: int) -> str:
    """Return the name of a process's program."""
    try:
        return (PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return "ended"


_SET_SUBREAPER, _GET_SUBREAPER = 36, 37  # PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER

OURS: Final = set[int]()
"""Children that the tester itself started: they belong to one run, or to none, and someone waits for them."""

_before: Final = list[int]()  # for each system being driven: whether the tester adopted orphans when it began

_starting: ContextVar[set[int] | None] = ContextVar("starting", default=None)


def started(pid: int, *, helper: bool = False) -> None:
    """Note a process started for the system being opened; a `helper` of the tester belongs to none."""
    OURS.add(pid)
    system = _starting.get()
    if system is not None and not helper:
        system.add(pid)


def ended(pid: int) -> None:
    """Forget a process that was waited for: its number may now be another's."""
    OURS.discard(pid)


@contextmanager
def starting() -> Generator[set[int]]:
    """Yield the set that collects the processes started in the body by this task."""
    system = set[int]()
    token = _starting.set(system)
    try:
        yield system
    finally:
        with suppress(ValueError):  # left in another context than it was entered in
            _starting.reset(token)


@contextmanager
def adopting() -> Generator[bool]:
    """Let the tester adopt orphans of what the body starts; yield whether the kernel does that.

    Only in the body: the tester may be part of a larger program, where no one waits for the orphans of other parts, and
    each would stay a zombie.
    """
    _before.append(_subreaper())
    try:
        yield _set_subreaper(1)
    finally:
        first = _before[0]
        _before.pop()
        if not _before:  # no other system is being driven
            _set_subreaper(first)


def _subreaper() -> int:
    now = ctypes.c_int()
    ctypes.CDLL(None).prctl(_GET_SUBREAPER, ctypes.byref(now), 0, 0, 0)
    return now.value


def _set_subreaper(value: int) -> bool:
    return int(ctypes.CDLL(None).prctl(_SET_SUBREAPER, value, 0, 0, 0)) == 0


class Strangers:
    """Processes that started since then and may be orphans of a system that the tester did not start.

    The kernel gives an orphan to one of its ancestors, usually the first process. So a new process counts as part of
    the system if its parent is an ancestor of the `roots`.
    """

    def __init__(self, roots: Iterable[int]) -> None:
        self._ancestors = {each for root in roots for each in ancestors(root)} - {os.getpid()}
        self._latest = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self._number = self._newest()
        self._there = set(everybody())

    def new(self) -> list[int]:
        """Return those that started since the last call."""
        number = self._newest()
        if number == self._number:
            return []
        self._number, before = number, self._there
        self._there = set(everybody())
        return [each for each in self._there - before if _parent(each) in self._ancestors]

    def close(self) -> None:
        """Close its file."""
        os.close(self._latest)

    def _newest(self) -> bytes:
        """Return the number of the process or thread that started last on this machine."""
        return os.pread(self._latest, 128, 0).split()[-1]


def ancestors(pid: int) -> list[int]:
    """Return the ancestors of a process: its parent, its parent's parent, and so on."""
    found: list[int] = []
    while (pid := _parent(pid)) > 0:
        found.append(pid)
    return found


def _parent(pid: int) -> int:
    """Return the parent of a process, 0 if it has none."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return 0
    return int(line[line.rfind(b")") + 2 :].split()[1])
