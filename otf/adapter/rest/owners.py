"""Which processes of this machine hold a socket, by the address it is bound to."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from otf.adapter.rest.place import Bound, Transport

_PROC: Final = Path("/proc")
_LOCAL: Final = 1
_INODE: Final = 9


def owners(transport: Transport, address: Bound, among: Iterable[int]) -> set[int]:
    """Return those `among` the processes that hold a socket bound to an address, as far as they can be seen."""
    wanted = {f"socket:[{inode}]" for inode in _inodes(transport, address)}
    return {pid for pid in among if wanted and _holds(pid, wanted)}


def everybody() -> list[int]:
    """Return all processes of this machine that can be seen, without the tester."""
    own = os.getpid()
    return [int(each.name) for each in _PROC.iterdir() if each.name.isdigit() and int(each.name) != own]


def is_local(host: str) -> bool:
    """Return whether an address leads to this machine over the loopback."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _holds(pid: int, wanted: set[str]) -> bool:
    folder = _PROC / str(pid) / "fd"
    with suppress(OSError):
        for each in folder.iterdir():
            with suppress(OSError):
                if os.readlink(each) in wanted:  # noqa: PTH115 -- it is a name and no path
                    return True
    return False


def _inodes(transport: Transport, address: Bound) -> set[str]:
    """Return the inodes of the sockets bound to an address, or to its port at every address."""
    found = set[str]()
    for name in (transport, f"{transport}6"):
        with suppress(OSError):
            for line in (_PROC / "net" / name).read_text(encoding="ascii").splitlines()[1:]:
                words = line.split()
                host, _, port = words[_LOCAL].rpartition(":")
                if int(port, 16) == address[1] and _same(host, address[0]):
                    found.add(words[_INODE])
    return found - {"0"}


def _same(written: str, host: str) -> bool:
    """Return whether the address of a socket, as the kernel writes it, is that of a host, or any."""
    raw = bytes.fromhex(written)
    if sys.byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    bound, asked = ipaddress.ip_address(raw), ipaddress.ip_address(host.partition("%")[0])
    mapped = bound.ipv4_mapped if isinstance(bound, ipaddress.IPv6Address) else None
    return bound.is_unspecified or asked in {bound, mapped}
