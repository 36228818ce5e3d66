"""The pytest plugin: a bench is a test in one line, with options for how long and how it is driven.

pytest loads this module in every run of every project of the environment, so it imports nothing of the engine: what
is needed is imported by the first test that uses it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from otf.campaign import Summary
    from otf.pytest_plugin.talking import Spoken, Talk

FOUND = "otf.adapter.bench"  # where benches come from: before it is imported there is none
RAISED = "otf.campaign.run"  # the same for failures


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("otf", "otf: tests of running systems against models")
    group.addoption("--otf-traces", type=int, metavar="NUMBER", help="how many paths each bench is driven along")
    group.addoption("--otf-steps", type=int, metavar="NUMBER", help="how many inputs a path has at most")
    group.addoption("--otf-time", type=float, metavar="SECONDS", help="when to stop a bench, whatever the paths")
    group.addoption("--otf-seed", type=int, metavar="NUMBER", help="the same seed gives the same inputs")
    group.addoption("--otf-strategy", metavar="NAME", help="how inputs are chosen; `otf list` tells them")
    group.addoption("--otf-mode", choices=("strict", "eager"), help="when inputs are sent")
    group.addoption("--otf-out", metavar="DIR", help="where traces are kept (default: among pytest's own folders)")


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> pytest.Item | None:
    """Take a bench that has the name of a test for a test: `test_coffee = Bench(...)`."""
    module: Any = sys.modules.get(FOUND)
    if module is None or not isinstance(obj, module.Bench) or not _is_test(collector, name):
        return None
    from otf.pytest_plugin.running import BenchItem

    return BenchItem.from_parent(collector, name=name, bench=obj)  # pyright: ignore[reportUnknownMemberType] -- pytest's own


def _is_test(collector: Any, name: str) -> bool:  # noqa: ANN401 -- pytest does not export the class that can be asked
    return bool(collector.funcnamefilter(name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep the summary at the end to one line a failure: pytest cuts it for terminals only, and not where CI is set."""
    report = yield
    module: Any = sys.modules.get(RAISED)
    if module is not None and call.excinfo is not None and call.excinfo.errisinstance(module.NonconformanceError):
        crash: Any = getattr(report.longrepr, "reprcrash", None)
        if crash is not None:
            crash.message = crash.message.partition("\n")[0]
    return report


@pytest.fixture
def otf_run(request: pytest.FixtureRequest) -> Callable[..., Summary]:
    """Return what drives a bench: `otf_run(bench, steps=100)`.

    It is given a bench, or a function that makes one and arguments for that; what else is given are settings, such as
    `traces` and `steps`. It returns the summary; the test fails where the system does what the model does not allow.
    """
    from otf.pytest_plugin.running import Running

    return Running(request.node).run


@pytest.fixture
def otf_run_async(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return what drives a bench from a test that is a coroutine, and is awaited there."""
    from otf.pytest_plugin.running import Running

    return Running(request.node).run_async


@pytest.fixture
def otf_open(request: pytest.FixtureRequest) -> Iterator[Callable[..., Talk]]:
    """Return what starts the system of a bench and opens its ports, for a test by hand; the end of the test stops it.

    `talk = otf_open(bench)`, then `talk.send(value)`, `talk.receive()` and `talk.silence()`.
    """
    from otf.pytest_plugin.talking import SystemOpener

    opening = SystemOpener(request.node)
    yield opening.open
    opening.close()


@pytest.fixture
def otf_open_async(request: pytest.FixtureRequest) -> Callable[..., AbstractAsyncContextManager[Spoken]]:
    """Return the same for a test that is a coroutine: a context manager, and all that is said is awaited."""
    from otf.pytest_plugin.talking import SystemOpener

    return SystemOpener(request.node).open_async
