"""Finds the processes behind the open lines of a bench, or the reason why these cannot be watched."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from otf.adapter.observed_rest.owners import holders, owners
from otf.adapter.observed_rest.place import Bound, Place, Placed, Transport, Unseen
from otf.adapter.observed_rest.process import RING, Process
from otf.adapter.observed_rest.sockets import is_local, outside, shown
from otf.adapter.observed_rest.system import SystemProcesses
from otf.adapter.observed_rest.threads import CALLS, Gone, Hidden

_SOCKET: Final = "socket:["
_LOOPBACK: Final = Path("/sys/class/net/lo")
_OLDEST: Final = (6, 5)
_NEEDED: Final = ("schedstat", "syscall", "children", "stat")


@cache
def unfit() -> str:
    """Return why no rest can be observed on this machine, "" if it can."""
    if CALLS is None:
        return "only the kernel of Linux, on x86_64 and aarch64, is known to show it"
    pid = os.getpid()
    missing = [name for name in _NEEDED if not Path(f"/proc/{pid}/task/{pid}/{name}").exists()]
    if missing:
        return f"this kernel does not show {', '.join(missing)} of a thread"
    if _text(Path("/proc/self/schedstat")).split()[:1] == ["0"]:
        return "this kernel does not count for how long a thread ran"
    return ""


@cache
def detours() -> str:
    """Return why loopback data may still be on its way although all threads sleep; "" if none can be."""
    version = tuple(int(each) for each in re.findall(r"\d+", os.uname().release)[:2])
    if version < _OLDEST:
        return f"the kernel {os.uname().release} may deliver packets by a thread of its own (those from 6.5 on do not)"
    if "PREEMPT_RT" in os.uname().version or _text(Path("/sys/kernel/realtime")).strip() == "1":
        return "a real-time kernel delivers packets by threads of its own"
    if _text(_LOOPBACK / "threaded").strip() not in {"", "0"}:
        return "the loopback delivers packets by a thread of its own (/sys/class/net/lo/threaded)"
    steered = [each for each in _LOOPBACK.glob("queues/rx-*/rps_cpus") if _text(each).strip("0,\n ")]
    if steered:
        return f"packets are delivered by another processor (RPS): {steered[0]} is not 0"
    return ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def attached(lines: Mapping[str, object], started: Collection[int], named: Collection[int] = ()) -> SystemProcesses:
    """Return the processes behind these lines: those `started` for them, those `named`, and the holders of their ports.

    Raises Unseen if their rest cannot be observed.
    """
    if why := unfit():
        raise Unseen(why)
    places = {port: _place(port, line) for port, line in lines.items()}
    if any(each.transport for each in places.values()) and (why := detours()):
        raise Unseen(why)
    own = SystemProcesses(started)
    keep = False
    try:
        roots = {*named, *(each.pid for each in places.values() if each.pid), *_strangers(places, own.pids)} - own.pids
        keep = not roots and bool(own.pids)
    finally:
        if not keep:
            own.close()
    if not keep and not roots:
        raise Unseen("none of its ports leads to a process of this machine")
    system = own if keep else SystemProcesses(roots | set(started), foreign=True)
    try:
        examine(system)
    except BaseException:
        system.close()
        raise
    return system


def _place(port: str, line: object) -> Place:
    place = line.place() if isinstance(line, Placed) else Place(hidden="the process at its other end is not visible")
    if not place.hidden and place.address is not None and not is_local(place.address[0]):
        raise Unseen(f"the port {port!r} leads to {place.address[0]}, which is not this machine")
    if place.hidden:
        raise Unseen(f"the port {port!r}: {place.hidden}")
    return place


def _strangers(places: Mapping[str, Place], known: Iterable[int]) -> set[int]:
    """Return the processes that hold the other ends of ports and are not `known`. Raises Unseen if none does."""
    found = set[int]()
    # several connections often lead to one address
    ends: dict[tuple[Transport | None, Bound | None], str] = {
        (place.transport, place.address): port for port, place in places.items()
    }
    for (transport, address), port in ends.items():
        if transport is None or address is None or owners(transport, address, known):
            continue
        holding = holders(transport, address)
        if not holding:
            raise Unseen(f"the port {port!r}: no process is seen that holds {address[0]}:{address[1]}")
        found |= holding
    return found


def examine(system: SystemProcesses) -> None:
    """Check, slowly, for connections and descriptors that would make a rest of the system uncertain. Raises Unseen."""
    sockets = _sockets(kind for process in system.processes.values() for kind in _kinds_of_descriptors(process))
    if sockets and (other := outside(sockets, sockets | _sockets(_own_descriptors()))):
        raise Unseen(
            f"it has a connection to {shown(other)}, which is not part of it: name the process with --pid,"
            " if it is on this machine"
        )


def _kinds_of_descriptors(process: Process) -> list[str]:
    """Return the kinds of a process's descriptors. Raises Unseen if its rest cannot be trusted."""
    try:
        kinds = process.descriptors()
    except Gone:
        return []
    except Hidden as hidden:
        raise Unseen(f"the kernel does not show {hidden} of the process {process.pid}") from hidden
    if RING in kinds:
        raise Unseen(f"the process {process.pid} uses io_uring, and the kernel may work for it unseen")
    if not _is_wide(process.pid):
        raise Unseen(f"the process {process.pid} is a program of 32 bits, whose calls are not known")
    return kinds


def _own_descriptors() -> Iterable[str]:
    for each in os.listdir("/proc/self/fd"):  # noqa: PTH208 -- names, and no paths
        with suppress(OSError):
            yield os.readlink(f"/proc/self/fd/{each}")  # noqa: PTH115 -- the same


def _sockets(kinds: Iterable[str]) -> set[str]:
    """Return the inodes of the descriptors that are sockets."""
    return {kind[len(_SOCKET) : -1] for kind in kinds if kind.startswith(_SOCKET)}


def _is_wide(pid: int) -> bool:
    """Return whether a process runs a 64-bit program: others number their calls differently."""
    try:
        with open(f"/proc/{pid}/exe", "rb") as program:  # noqa: PTH123 -- one of the places where a path is not a file
            return program.read(5)[4:] == b"\x02"
    except OSError:
        return True
