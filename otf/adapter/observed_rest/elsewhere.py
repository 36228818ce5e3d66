"""Finds out whether a line leads away from this machine: to a device on a real serial port, or to another host.

Load on this machine does not delay such a system. Only the way to it counts: the tester, and the kernel threads that
carry the bytes. On two busy cores we saw one of these wait for a processor for 226 ms.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import struct
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

KERNEL: Final = 2
"""The process that started all threads of the kernel. Among the processes behind a line, it stands for the carriers."""

_PROC: Final = Path("/proc")
_SYS: Final = Path("/sys")
_INDEX: Final = 4  # RTA_OIF of linux/rtnetlink.h
_HEADER: Final = struct.Struct("=IHHII")  # struct nlmsghdr
_ROUTE: Final = struct.Struct("=8BI")  # struct rtmsg
_ATTRIBUTE: Final = struct.Struct("=HH")  # struct rtattr
_GET_ROUTE, _REQUEST, _TO, _ERROR, _UNICAST = 26, 1, 1, 2, 1
_PATIENCE: Final = 1.0  # seconds for an answer of the kernel, which comes at once


def is_device(number: int, sysfs: Path = _SYS) -> bool:
    """Return whether this is the number of a serial port of the hardware, rather than of a terminal of a program."""
    folder = sysfs / "dev" / "char" / f"{os.major(number)}:{os.minor(number)}"
    return (folder / "device").exists() and (folder / "subsystem").resolve().name == "tty"


def is_abroad(host: str) -> bool:
    """Return whether packets to an address leave this machine through its hardware.

    A container or a guest on this machine is behind an interface that has none, as a VPN is. An address that is
    forwarded to a program of this machine looks as if it were abroad.
    """
    address, _, scope = host.partition("%")
    with suppress(OSError, ValueError, struct.error):
        return _is_hardware(scope or _interface(ipaddress.ip_address(address).packed))
    return False


def _is_hardware(interface: str) -> bool:
    folder = _SYS / "class" / "net" / interface
    below = [each.name.removeprefix("lower_") for each in folder.glob("lower_*")]
    return (folder / "device").exists() or (bool(below) and all(map(_is_hardware, below)))


def _interface(address: bytes) -> str:
    """Return the interface through which this machine reaches one host. Raises OSError if there is none."""
    family = socket.AF_INET if len(address) == 4 else socket.AF_INET6  # noqa: PLR2004 -- bytes of IPv4
    body = _ROUTE.pack(family, 8 * len(address), *[0] * 7) + _ATTRIBUTE.pack(4 + len(address), _TO) + address
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        netlink.settimeout(_PATIENCE)
        netlink.sendto(_HEADER.pack(_HEADER.size + len(body), _GET_ROUTE, _REQUEST, 1, 0) + body, (0, 0))
        answer = netlink.recv(1 << 16)
    if _HEADER.unpack_from(answer)[1] == _ERROR or _ROUTE.unpack_from(answer, _HEADER.size)[7] != _UNICAST:
        raise OSError
    at = _HEADER.size + _ROUTE.size
    while at < len(answer):
        size, kind = _ATTRIBUTE.unpack_from(answer, at)
        if kind == _INDEX:
            return socket.if_indextoname(*struct.unpack_from("=I", answer, at + _ATTRIBUTE.size))
        at += max(4, (size + 3) & ~3)
    raise OSError


def carriers_seen(proc: Path = _PROC) -> frozenset[int]:
    """Return KERNEL if the threads of the kernel are visible: in a container they are not."""
    with suppress(OSError):
        if (proc / str(KERNEL) / "comm").read_bytes() == b"kthreadd\n":
            return frozenset({KERNEL})
    return frozenset()


def carriers(proc: Path = _PROC) -> list[Path]:
    """Return the threads of the kernel that carry bytes between ports, or to the hardware: folders of `/proc`."""
    with suppress(OSError):
        threads = (proc / str(KERNEL) / "task" / str(KERNEL) / "children").read_text().split()
        return [proc / each for each in threads if _carries(proc / each)]
    return []


@lru_cache(1000)
def _carries(thread: Path) -> bool:
    with suppress(OSError):
        return _CARRIER.match((thread / "comm").read_text()) is not None
    return False


_CARRIER: Final = re.compile("kworker/u|irq/|napi/")  # those of terminals and serial ports, and of drivers
