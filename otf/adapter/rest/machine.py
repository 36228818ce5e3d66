"""What of this machine makes a rest uncertain: packets that are delivered later than the call that sends them."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Final

from otf.adapter.rest.kernel import CALLS

_LOOPBACK: Final = Path("/sys/class/net/lo")
_OLDEST: Final = (6, 5)
_NEEDED: Final = ("schedstat", "syscall", "children", "stat")


@cache
def unfit() -> str:
    """Return why no rest can be observed on this machine; empty where it can."""
    if sys.platform != "linux" or CALLS is None:
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
    """Return why what is sent over the loopback may be on its way while all sleep; empty where it never is."""
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
