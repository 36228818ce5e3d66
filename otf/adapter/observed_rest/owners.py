"""Finds the processes of this machine that hold a socket, by the address it is bound to."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
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
            who = ", ".join(f"{pid} ({_name_of(pid)})" for pid in held)
            where = f"{transport.upper()} port {address[0]}:{address[1]}"
            return f"the {where} is held by the process {who}, started before it"
    return ""


def _name_of(pid: int) -> str:
    try:
        return (PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return "ended"
