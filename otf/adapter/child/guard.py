"""Around child processes: a guard that kills them if the tester is killed, stopped processes, holders of ports (Linux).

A server that could not bind its port does not serve it: another process does.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from otf.adapter.observed_rest.orphans import ended, started

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = 'read -r _ || kill -s KILL -- "-$0"'


class Guard:
    """Waits beside a process and its group until the tester has gone, then kills them; `dismiss` ends it.

    The kernel closes a pipe of the tester however it ends, so nothing of it has to be alive. The kernel's own signal at
    the death of a parent (PDEATHSIG) will not do. It comes when the thread ends that started the process, does not
    reach grandchildren, and must be requested between fork and exec, where a program with threads may hang.
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


_TABLES: Final = {False: ("tcp", "tcp6"), True: ("udp", "udp6")}
_STATES: Final = {False: "0A", True: "07"}  # a TCP socket that listens, a UDP socket without a peer
_WORD: Final = 4
_START: Final = 19  # the field of /proc/PID/stat after the name of the program: its start, in clock ticks


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a port: its number, its name, and when it started, in clock ticks."""

    pid: int
    name: str
    started: int


def start_of(pid: int) -> int:
    """Return when a process started, in clock ticks since the boot; 0 if unknown."""
    try:
        return int((PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[_START])
    except (OSError, IndexError, ValueError):
        return 0


def bound(host: str, port: int, *, udp: bool) -> frozenset[int]:
    """Return the sockets (inodes) that receive what is sent to a port: those of this address, or else of all addresses.

    Empty on systems other than Linux.
    """
    found = [each for table in _TABLES[udp] for each in _sockets(table, _STATES[udp]) if each[1] == port]
    own = frozenset(inode for address, _, inode in found if address == _plain(host))
    return own or frozenset(inode for address, _, inode in found if address in {"0.0.0.0", "::"})  # noqa: S104 -- compared


def holders(inode: int) -> list[Holder]:
    """Return the processes that hold a socket, as far as permissions allow."""
    target, found = f"socket:[{inode}]", list[Holder]()
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or belongs to another user
            if target in _links(folder / "fd"):
                name = (folder / "comm").read_text(errors="replace").strip()
                found.append(Holder(int(folder.name), name, start_of(int(folder.name))))
    return found


def _links(folder: Path) -> set[str]:
    found = set[str]()
    for name in os.listdir(folder):  # noqa: PTH208 -- there are many, and creating a path for each takes longer
        with suppress(OSError):  # closed meanwhile
            found.add(os.readlink(f"{folder}/{name}"))  # noqa: PTH115 -- as above
    return found


def stranger(host: str, port: int, since: int, *, udp: bool) -> str:
    """Return the process that holds a port, if it started before `since`; "" if none is known."""
    for inode in bound(host, port, udp=udp):
        held = holders(inode)
        if held and all(each.started < since for each in held):
            who = ", ".join(f"{each.pid} ({each.name})" for each in held)
            return f"the {'UDP' if udp else 'TCP'} port {host}:{port} is held by the process {who}, started before it"
    return ""


def _sockets(table: str, state: str) -> Iterator[tuple[str, int, int]]:
    with suppress(OSError):
        for line in (PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            address, _, port = fields[1].partition(":")
            if fields[3] == state:
                yield _address(address), int(port, 16), int(fields[9])


def _address(text: str) -> str:
    # each word of four bytes is written as a number of this machine
    data = bytes.fromhex(text)
    words = [data[at : at + _WORD][::-1] for at in range(0, len(data), _WORD)]
    return _plain(socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, b"".join(words)))


def _plain(host: str) -> str:
    return host.removeprefix("::ffff:")
