"""What a test asks for: its bench and settings, whether it drove them, and the lock on its device.

A test that drove nothing, or did not wait for it, proves nothing and fails. Two testers on one system each see outputs
that the other one caused, and blame the system for them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from functools import partial
from inspect import Parameter
from itertools import chain, count
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from otf.adapter import Bench, Port
from otf.adapter.serial.device import Device
from otf.campaign import Settings
from otf.errors import UsageError, choose, refuse
from otf.values.classes import parameters

OPTIONS: Final = ("traces", "steps", "time", "seed", "strategy", "mode")
KNOWN: Final = tuple(field.name for field in fields(Settings))
PASSED_BY: Final = {Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD}


class PlannedRun(NamedTuple):
    """A bench to drive, the settings, and whether the test or the command line chose the seed."""

    bench: Bench
    settings: Settings
    seeded: bool


def given(item: pytest.Item, bench: Bench | Callable[..., Bench], more: Mapping[str, object]) -> PlannedRun:
    """Return the run; the command line takes precedence over the test, the test over its marks. Raises UsageError."""
    __tracebackhide__ = True
    made, own = made_with(bench, more)
    marked = [mark.kwargs for mark in item.iter_markers("otf")]
    rest: dict[str, object] = {name: value for each in [*reversed(marked), own] for name, value in each.items()}
    refuse("", _unknown(rest))
    chosen = {name: value for name in OPTIONS if (value := item.config.getoption(f"otf_{name}")) is not None}
    settings: dict[str, Any] = {**rest, **chosen}
    seeded = "seed" in settings
    seed = settings.pop("seed", None)
    settings = {"out": _folder(item), **settings, "seed": secrets.randbelow(1_000_000) if seed is None else seed}
    try:
        return PlannedRun(made, Settings(**settings), seeded)
    except UsageError as error:
        raise error.with_traceback(None) from None  # the frames of otf explain nothing


def made_with(bench: Bench | Callable[..., Bench], more: Mapping[str, object]) -> tuple[Bench, dict[str, object]]:
    """Return the bench and the remaining arguments; a function gets its parameters, which its bench keeps."""
    __tracebackhide__ = True
    if isinstance(bench, Bench):
        return bench, dict(more)
    known = {name: each.default for name, each in parameters(bench).items() if each.kind in PASSED_BY}
    own = {name: value for name, value in more.items() if name in known}
    made = bench(**own)
    name = made.name or getattr(bench, "__module__", "")
    made = replace(made, name=name, parameters={**known, **own})
    return made, {name: value for name, value in more.items() if name not in known}


def _unknown(rest: Mapping[str, object]) -> Iterator[str]:
    for name in rest:
        if name not in KNOWN:
            hint = choose(name, KNOWN, "settings are")
            yield f"{name}= is neither a parameter of the bench nor a setting; {hint}"


def _folder(item: pytest.Item) -> Path:
    """Return a folder for the traces of a test: below --otf-out, or one of pytest's own."""
    out: str | None = item.config.getoption("otf_out")
    name = re.sub(r"\W+", "-", item.nodeid).strip("-")
    if out is not None:
        # a folder of traces belongs to one run: the next run gets another
        names = chain((name,), (f"{name}~{number}" for number in count(2)))
        return next(each for each in map(Path(out).joinpath, names) if not each.exists())
    made: Path = own_folder(item).mktemp("otf")
    return made


def own_folder(item: pytest.Item) -> Any:  # noqa: ANN401 -- pytest exports the type, but not the attribute
    """Return the factory of pytest's own folders, the value of its fixture `tmp_path_factory`."""
    config: Any = item.config
    return config._tmp_path_factory  # noqa: SLF001 -- a test that is not a function has no fixtures


WORKER: Final = "PYTEST_XDIST_WORKER"
FRESH: Final = {"process", "inprocess"}  # these open a new system for each run


@contextmanager
def reserved(item: pytest.Item, bench: Bench, alone: str | bool) -> Generator[None]:  # noqa: FBT001 -- as in the test
    """Wait until no other worker of this run uses the devices of the bench, and lock them.

    `alone`: the device's name, if the test knows it better than the ports do; False if each run has its own system.
    """
    if WORKER not in os.environ or alone is False:
        yield
        return
    folder: Path = own_folder(item).getbasetemp().parent
    # all workers lock in the same order, or else two that need both devices would deadlock
    with ExitStack() as stack:
        for name in sorted({alone} if isinstance(alone, str) else set(devices(bench))):
            stack.enter_context(_lock(folder / f"otf-{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"))
        yield


def devices(bench: Bench) -> Iterator[str]:
    """Yield what exists only once: the addresses and devices of a bench's ports.

    A bench that opens its ports with `connect` counts as one device. A system in this process, or one that its adapter
    starts, is new in each run.
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
def _lock(file: Path) -> Generator[None]:
    with file.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing the file releases the lock, and so does the death of the worker


WRITE: Final = {
    "otf_run_async": "`await otf_run_async(bench)`",
    "otf_open_async": "`async with otf_open_async(bench) as talk:`",
}


class Asked:
    """The otf fixtures of one test, and whether it drove anything with them."""

    def __init__(self) -> None:
        self.fixtures: dict[str, None] = {}
        self.driven = False
        self.late = False  # a fixture may drive after the test
        self.waiting: list[str] = []

    @contextmanager
    def awaited(self, fixture: str) -> Generator[None]:
        """Note that a waiting call is now awaited; a cancelled one has decided nothing, and keeps waiting."""
        self.driven = True
        try:
            yield
        except Exception:
            self.waiting.remove(fixture)
            raise
        self.waiting.remove(fixture)

    def check(self) -> None:
        """Fail the test if it drove nothing, or did not await its calls."""
        for fixture in self.waiting:
            message = f"{fixture}(…) was not awaited to its end, so it decided nothing: write {WRITE[fixture]}"
            pytest.fail(message, pytrace=False)
        if not self.driven:
            fixture = next(iter(self.fixtures))
            message = f"this test took {fixture} and drove nothing: call {fixture}(bench), or do not take the fixture"
            pytest.fail(message, pytrace=False)


_KEY: Final = pytest.StashKey[Asked]()


def asked_of(item: pytest.Item) -> Asked:
    """Return the record of what a test asked for, stored with the test."""
    return item.stash.setdefault(_KEY, Asked())


def check_call(item: pytest.Item) -> None:
    """Check a passed test, unless one of its fixtures uses those of otf and may still drive: see `check_end`."""
    asked = item.stash.get(_KEY, None)
    if asked is None or not isinstance(item, pytest.Function):
        return
    asked.late = not asked.fixtures.keys() <= parameters(item.obj).keys()
    if not asked.late:
        asked.check()


def check_end(item: pytest.Item) -> None:
    """Check a passed test after its fixtures have ended."""
    asked = item.stash.get(_KEY, None)
    if asked is not None and asked.late:
        asked.check()
