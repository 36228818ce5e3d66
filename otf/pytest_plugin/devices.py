"""One test at a time on each device: workers of pytest-xdist wait for each other.

Two testers on one system each see outputs that the other one caused, and blame the system for them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from otf.adapter import Bench, Port
from otf.adapter.serial.device import Device
from otf.pytest_plugin.planned_run import own_folder

WORKER: Final = "PYTEST_XDIST_WORKER"
FRESH: Final = {"process", "inprocess"}  # these open a new system for each run


@contextmanager
def reserved(item: pytest.Item, bench: Bench, alone: str | bool) -> Generator[None]:  # noqa: FBT001 -- as in the test
    """Wait until no other worker of this run uses the devices of the bench, and lock them.

    `alone`: the name of the device, if a test knows it better than the ports do; False if each run has its own system.
    """
    if WORKER not in os.environ or os.name != "posix" or alone is False:
        yield
        return
    folder: Path = own_folder(item).getbasetemp().parent
    # all workers lock in the same order: otherwise two that need both devices would deadlock
    with ExitStack() as stack:
        for name in sorted({alone} if isinstance(alone, str) else set(devices(bench))):
            stack.enter_context(_locked(folder / f"otf-{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"))
        yield


def devices(bench: Bench) -> Iterator[str]:
    """Yield what exists only once: the addresses and devices of the ports of a bench.

    A bench that opens its ports with `connect` counts as one device. A system in this process, or one that its adapter
    starts, is a new one in each run.
    """
    if bench.connect is not None:
        yield f"bench {bench.name}"
    for opener in bench.ports.values():
        kind, opened = (opener.kind, opener.open) if isinstance(opener, Port) else ("", opener)
        if kind not in FRESH and isinstance(opened, partial):
            yield from _addresses([*opened.args, *opened.keywords.values()])


def _addresses(arguments: Iterable[object]) -> Iterator[str]:
    for each in arguments:
        match each:
            case str() if each:
                yield each
            case (str() as host, int() as port) if port:
                yield f"{host}:{port}"
            case Device(url=url):
                yield url
            case _:
                pass


@contextmanager
def _locked(file: Path) -> Generator[None]:
    import fcntl  # Windows has no such locks, so nothing is locked there

    with file.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing the file releases the lock, and so does the death of the worker
