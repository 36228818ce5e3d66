"""Why a serial device could not be opened, what to do about it, and which programs have it open."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")


def explained(url: str, error: OSError, forms: str) -> str:
    """Return the message for a device that could not be opened; `forms` lists how ports are written."""
    path = Path(url)
    explain = _EXPLANATIONS.get(error.errno or 0)
    if explain is not None and path.is_absolute():
        return f"cannot open {url}: {explain(path)}"
    return f"cannot open {url}: {error}; {forms}"


def _forbidden(path: Path) -> str:
    group = _group(path)
    return (
        f"permission denied; it belongs to the group {group}: `sudo usermod -aG {group} $USER`, then log in again"
        if group
        else "permission denied; look at its rights with `ls -l`"
    )


def _missing(path: Path) -> str:
    del path
    found = ", ".join(ports()) or "there are none"
    return f"there is no such device; is it plugged in? serial ports of this machine: {found}"


def _busy(path: Path) -> str:
    users = ", ".join(holders(path))
    if not users and _ours(path):
        return "this very run has it open already; each job (--jobs) and each port of a bench needs a device of its own"
    return f"another program has it{f': {users}' if users else ''}; end that first, or open it with exclusive=False"


_EXPLANATIONS: Final[Mapping[int, Callable[[Path], str]]] = {
    errno.EACCES: _forbidden,
    errno.EPERM: _forbidden,
    errno.ENOENT: _missing,
    errno.ENXIO: _missing,
    errno.ENODEV: _missing,
    errno.EBUSY: _busy,
    errno.EAGAIN: _busy,
}


def ports() -> dict[str, str]:
    """Return the serial ports of this machine, each with its description."""
    from serial.tools.list_ports import comports

    return {port.device: port.description for port in sorted(comports())}


def holders(path: Path) -> list[str]:
    """Return the programs that have a device open, as far as permissions allow: "minicom (4711)"."""
    found = set[str]()
    for link in _PROC.glob("[0-9]*/fd/*") if sys.platform == "linux" else ():
        with suppress(OSError):
            if link.samefile(path) and stat.S_ISCHR(link.stat().st_mode) and link.parts[2] != str(os.getpid()):
                name = (_PROC / link.parts[2] / "comm").read_text(encoding="utf-8", errors="replace").strip()
                found.add(f"{name} ({link.parts[2]})")
    return sorted(found)


def _ours(path: Path) -> bool:
    for link in (_PROC / "self/fd").glob("*"):
        with suppress(OSError):
            if link.samefile(path):
                return True
    return False


def _group(path: Path) -> str:
    if os.name != "posix":
        return ""
    import grp

    with suppress(KeyError, OSError):
        return grp.getgrgid(path.stat().st_gid).gr_name
    return ""
