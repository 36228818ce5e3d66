"""One test at a time on each device: workers of pytest-xdist wait for each other.

Two testers that talk to one system each see what the other one causes, and blame the system for it.
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
FRESH: Final = {"process", "inprocess"}  # what these open is made for one run, whatever name it has


@contextmanager
def reserved(item: pytest.Item, bench: Bench, alone: str | bool) -> Generator[None]:  # noqa: FBT001 -- as the test says it
    """Wait until no other worker of this run uses what the bench uses, and keep them away meanwhile.

    `alone`: the name of what must not be used twice, where a test knows that better than the ports; False where each
    run has a system of its own.
    """
    if WORKER not in os.environ or os.name != "posix" or alone is False:
        yield
        return
    folder: Path = own_folder(item).getbasetemp().parent
    # everybody locks in the same order: else two who need both would wait for each other for ever
    with ExitStack() as stack:
        for name in sorted({alone} if isinstance(alone, str) else set(devices(bench))):
            stack.enter_context(_locked(folder / f"otf-{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"))
        yield


def devices(bench: Bench) -> Iterator[str]:
    """Name what a bench uses that there is only once: the addresses and devices of its ports.

    What opens its ports in a function of its own is one device as a whole. A system in this process, and one that is
    started by its adapter, is another one in each run.
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
    import fcntl  # Windows has no such locks: there nobody waits

    with file.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing the file gives the lock back, and so does the death of the worker
