"""Finds the processes at the other ends of lines, for a system that the tester did not start.

Waits of these processes for a processor excuse late outputs. The process at the other end may be only a proxy such as
socat, so the processes that write to its pipes, unix sockets and terminals count too. If a line leaves this machine,
the kernel threads that carry its bytes stand in for the system. If a descriptor leads somewhere that cannot be
followed, the result is empty.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from otf.adapter.line import Line
from otf.adapter.observed_rest.elsewhere import KERNEL, carriers_seen, is_abroad, is_device
from otf.adapter.observed_rest.owners import ancestors, everybody
from otf.adapter.observed_rest.place import Place, Placed, Unseen
from otf.adapter.observed_rest.sockets import bound_to, internet, is_local, outside, unix_peers
from otf.values.identity import light

_MASTER: Final = "/ptmx"
_SLAVES: Final = "/dev/pts/"
_DEAF: Final = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
"""Devices that carry no messages between programs: a terminal has a person at its other end."""


def peers(lines: Mapping[str, Line], named: Collection[int] = ()) -> frozenset[int]:
    """Return the processes at the other ends of lines, the `named` ones, and those that feed them; empty if unsure.

    Each path asks, and to read all descriptors of a machine takes up to 100 ms. So at first this reads only the
    descriptors of new processes and of those found before.
    """
    for again in [_found, None] if _found else [None]:
        with suppress(Unseen, OSError):
            links = _Links(again)
            found = links.fed(set(named).union(*map(links.behind, lines.values())))
            if again is None or found <= again:
                _found.clear()
                _found.update(found)
                return found
    return frozenset()


def on_terminals(lines: Mapping[str, Line]) -> frozenset[int]:
    """Return what carries the bytes of lines of which one is a terminal: KERNEL, or nothing."""
    return (
        carriers_seen()
        if any(os.isatty(each) for line in lines.values() for each in line.descriptors())
        else frozenset()
    )


def are_fed(known: frozenset[int]) -> bool:
    """Return whether processes other than their own children feed these by now: a proxy may connect at any time."""
    alive = {pid for pid in known - {KERNEL} if Path(f"/proc/{pid}").exists()}
    try:
        return any(known.isdisjoint((pid, *ancestors(pid))) for pid in _Links().fed(alive))
    except (Unseen, OSError):
        return True


@light
class _Descriptor:
    pid: int
    number: int

    @property
    def path(self) -> str:
        return f"/proc/{self.pid}/fd/{self.number}"

    @property
    def link(self) -> str:
        return os.readlink(self.path)  # noqa: PTH115 -- a name, not a path of ours

    def info(self, field: str) -> str:
        lines = Path(f"/proc/{self.pid}/fdinfo/{self.number}").read_text(encoding="ascii").splitlines()
        return next((line.split()[1] for line in lines if line.startswith(field)), "")

    def is_only(self, access: int) -> bool:
        return int(self.info("flags:"), 8) & os.O_ACCMODE == access


_found: Final[set[int]] = set()
_held: Final[dict[int, list[tuple[str, _Descriptor]] | None]] = {}
"""The descriptors of each process, with their names, when they were last read; None if they are hidden."""


class _Links:
    """The open descriptors of all processes on this machine, by name; `_hidden`: some processes do not show theirs.

    Reads those of new processes, and those of these processes `again`: of all by default.
    """

    def __init__(self, again: Collection[int] | None = None) -> None:
        self._open = defaultdict[str, list[_Descriptor]](list)
        self._unix, self._internet = unix_peers(), internet()
        own, there = os.getpid(), everybody()
        for pid in [*_held] if again is None else {*again, own, *_held.keys() - there}:
            _held.pop(pid, None)
        for pid in (*there, own):  # the tester's own come last
            if pid not in _held:
                _held[pid] = _named(pid)
        self._hidden = None in _held.values()
        for link, each in (each for held in _held.values() for each in held or ()):
            self._open[link].append(each)

    def behind(self, line: Line) -> set[int]:
        """Return the processes that hold the other end of a line. Raises Unseen if there are none."""
        place = line.place() if isinstance(line, Placed) else Place()
        if place.inside or place.threads:
            return set()
        if place.transport and place.address:
            if is_abroad(place.address[0]):
                return {*_carriers(place.address[0])}
            inodes = bound_to(place.transport, place.address) if is_local(place.address[0]) else set[str]()
            found = {each.pid for inode in inodes for each in self._open[f"socket:[{inode}]"]}
        else:
            own = [_Descriptor(os.getpid(), number) for number in line.descriptors()]
            found = {pid for each in own for pid in self._feeding(each)}
        if not found:
            raise Unseen("no process is seen at its other end")
        return found

    def fed(self, roots: set[int]) -> frozenset[int]:
        """Return these processes, their descendants, and all that feed any of them. Raises Unseen, OSError."""
        found, left, sockets = {os.getpid()}, [*roots], set[str]()
        while left:
            if (pid := left.pop()) in found:
                continue
            found.add(pid)
            if pid == KERNEL:
                continue
            left += _children(pid)
            for each in _descriptors(pid):
                left += self._feeding(each)
                sockets |= _inode(each.link)
        own = {link for link, held in self._open.items() if held[-1:] and held[-1].pid == os.getpid()}
        if other := outside(sockets, sockets.union(*map(_inode, own))):
            raise Unseen(other)
        return frozenset(found - {os.getpid()})

    def _feeding(self, end: _Descriptor) -> set[int]:
        """Return the processes that may write what this descriptor reads. Raises Unseen, OSError."""
        link, what = end.link, os.stat(end.path)  # noqa: PTH116 -- a link of the kernel
        if stat.S_ISSOCK(what.st_mode):
            return self._connected(*_inode(link))
        if stat.S_ISFIFO(what.st_mode):
            return set() if end.is_only(os.O_WRONLY) else self._seen(self._writing(link))
        if link.endswith(_MASTER):
            return {each.pid for each in self._open[f"{_SLAVES}{end.info('tty-index:')}"]} | carriers_seen()
        if link.startswith(_SLAVES):
            return set() if what.st_rdev == _terminal(end.pid) else self._seen(self._masters(link)) | carriers_seen()
        if stat.S_ISCHR(what.st_mode) and link not in _DEAF:
            if not is_device(what.st_rdev):
                raise Unseen(link)
            return {*_carriers(link)}
        return set()

    def _writing(self, link: str) -> Iterator[int]:
        for each in self._open[link]:
            with suppress(OSError):  # it has ended
                if not each.is_only(os.O_RDONLY):
                    yield each.pid

    def _masters(self, slave: str) -> Iterator[int]:
        for each in (each for link, held in self._open.items() if link.endswith(_MASTER) for each in held):
            with suppress(OSError):  # it has ended
                if f"{_SLAVES}{each.info('tty-index:')}" == slave:
                    yield each.pid

    def _connected(self, inode: str) -> set[int]:
        """Return the processes at the other end of a unix socket; `fed` checks TCP and UDP connections at the end."""
        if inode in self._internet:
            return set()
        if inode not in self._unix:
            raise Unseen(f"socket {inode}")
        peer = self._unix[inode]
        return self._seen(each.pid for each in self._open[f"socket:[{peer}]"]) if peer else set()

    def _seen(self, found: Iterator[int]) -> set[int]:
        seen = {*found}
        if self._hidden and not seen:
            raise Unseen("it may be one whose descriptors are not shown")
        return seen


def _carriers(where: str) -> frozenset[int]:
    if not (seen := carriers_seen()):
        raise Unseen(f"{where}: the threads of the kernel are hidden, as in a container")
    return seen


def _descriptors(pid: int) -> list[_Descriptor]:
    return [_Descriptor(pid, int(name)) for name in os.listdir(f"/proc/{pid}/fd")]  # noqa: PTH208 -- names, not paths


def _named(pid: int) -> list[tuple[str, _Descriptor]] | None:
    found = list[tuple[str, _Descriptor]]()
    try:
        for each in _descriptors(pid):
            with suppress(FileNotFoundError):
                found.append((each.link, each))
    except PermissionError:
        return None
    except OSError:
        pass  # it has ended
    return found


def _inode(link: str) -> set[str]:
    return {link[len("socket:[") : -1]} if link.startswith("socket:[") else set()


def _children(pid: int) -> list[int]:
    return [int(child) for each in Path(f"/proc/{pid}/task").glob("*/children") for child in each.read_text().split()]


def _terminal(pid: int) -> int:
    """Return the device number of a process's controlling terminal."""
    line = Path(f"/proc/{pid}/stat").read_bytes()
    return int(line[line.rfind(b")") + 2 :].split()[4])
