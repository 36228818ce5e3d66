"""The pytest plugin: a bench is a test in one line, with options for how and how long to drive it.

pytest loads this module in every run of every project in the environment, so it imports nothing of the engine: the
first test that needs the engine imports it. If a system in pytest's process ends pytest from inside, that is not a
pass: another process waits for pytest's end.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from otf.campaign import Summary
    from otf.pytest_plugin.talking import Spoken, Talk

FOUND = "otf.adapter.bench"  # defines benches: before it is imported there are none
RAISED = "otf.campaign.run"  # raises failures
SUPERVISOR = "otf.supervisor"  # knows how pytest ends
ASKED = "otf.pytest_plugin.planned_run"  # notes what tests asked the fixtures for
MARKER = "otf"
_PROGRAM: list[pytest.Config] = []
FIXTURES = frozenset({"otf_run", "otf_run_async", "otf_open", "otf_open_async"})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("otf", "otf: tests of running systems against models")
    group.addoption("--otf-traces", type=int, metavar="NUMBER", help="how many paths each bench is driven along")
    group.addoption("--otf-steps", type=int, metavar="NUMBER", help="how many inputs a path has at most")
    group.addoption("--otf-time", type=float, metavar="SECONDS", help="when to stop a bench, also before --otf-traces")
    group.addoption("--otf-seed", type=int, metavar="NUMBER", help="the same seed gives the same inputs")
    group.addoption("--otf-strategy", metavar="NAME", help="how inputs are chosen; `otf list` shows the names")
    group.addoption("--otf-mode", choices=("strict", "eager"), help="when inputs are sent")
    group.addoption("--otf-out", metavar="DIR", help="where traces are kept (default: a folder of pytest)")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, so that `--strict-markers` knows it; note the first of several runs in one process."""
    if not _PROGRAM:
        _PROGRAM.append(config)
    config.addinivalue_line(
        "markers", f"{MARKER}(**settings): a test that drives a bench; it has settings for otf_run, such as steps=100"
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Let another process judge how pytest ends if any of its tests may drive a system, which may end pytest."""
    if FOUND in sys.modules and _PROGRAM[0] is session.config:
        _supervise(session)
    return (yield)


def _supervise(session: pytest.Session) -> None:
    """Run the tests of a session in a child process, if pytest is the program and no other thread runs yet.

    The process that started workers of pytest-xdist watches them. A fork would lose threads that already run: in that
    case `os._exit` itself refuses status 0, which does not stop a library in C.
    """
    config = session.config
    distributed = hasattr(config, "workerinput") or config.getoption("dist", "no") != "no"
    if distributed or config.option.collectonly or not _is_the_program():
        return
    if threading.active_count() > 1:
        _refuse_success()
        return
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of native threads, as numpy has them, which survive forks
        from otf import supervisor

        supervisor.supervise("pytest")


def _is_the_program() -> bool:
    program = Path(sys.argv[0])
    return program.stem in {"pytest", "py.test"} or program.parts[-2:] == ("pytest", "__main__.py")


def _refuse_success() -> None:
    leave, owner, shown = os._exit, os.getpid(), os.dup(2)  # pytest captures what is written during a test

    def refuse(status: int) -> NoReturn:
        # a fork, such as those of multiprocessing, may end like that
        if status == 0 and os.getpid() == owner:
            os.write(shown, b"\notf: pytest was ended from inside, by os._exit(0): so nothing is decided\n")
            status = 3  # inconclusive
        leave(status)

    os._exit = refuse


def pytest_runtest_logstart(nodeid: str) -> None:
    """Note which test runs, for the message about an end from inside."""
    supervisor: Any = sys.modules.get(SUPERVISOR)
    if supervisor is not None:
        supervisor.working_on(nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Note the exit status: a failure stays one, however pytest ends."""
    del exitstatus  # other plugins may have changed that of the session
    supervisor: Any = sys.modules.get(SUPERVISOR)
    if supervisor is not None and _PROGRAM[0] is session.config:
        supervisor.working_on("after the tests")
        supervisor.decide(int(session.exitstatus))


def _sign() -> None:
    supervisor: Any = sys.modules.get(SUPERVISOR)
    if supervisor is not None:
        supervisor.sign()


# handlers run in reverse order: this one last, after those of the tests and their systems
atexit.register(_sign)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests that use a fixture of otf, so that `-m otf` selects them."""
    if not FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
        item.add_marker(MARKER)


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> pytest.Item | None:
    """Collect a bench named like a test: `test_coffee = Bench(...)`."""
    module: Any = sys.modules.get(FOUND)
    finder: Any = collector  # pytest does not export the class with this method
    if module is None or not isinstance(obj, module.Bench) or not finder.funcnamefilter(name):
        return None
    from otf.pytest_plugin.running import BenchItem

    return BenchItem.from_parent(collector, name=name, bench=obj)  # pyright: ignore[reportUnknownMemberType] -- pytest's own


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that asked for a run and drove nothing; name the command that runs it again.

    The error of `run(bench)` cannot name it, since it does not know the test.
    """
    try:
        done = yield
    except AssertionError as error:
        module: Any = sys.modules.get(RAISED)
        if module is not None and isinstance(error, module.NonconformanceError) and not hasattr(error, "__notes__"):
            error.add_note(f"the same inputs: pytest {item.nodeid}")
        raise
    asked: Any = sys.modules.get(ASKED)
    if asked is not None:
        asked.check_call(item)
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that asked for a run through a fixture of its own and had driven nothing by its end."""
    done = yield
    asked: Any = sys.modules.get(ASKED)
    if asked is not None:
        asked.check_end(item)
    return done


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Fail a function that is named like a test and returns a bench: pytest would drop it, and report a pass."""
    if FOUND in sys.modules and not iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = _refusing_bench(pyfuncitem.obj, pyfuncitem.name)


def _refusing_bench(function: Callable[..., object], name: str) -> Callable[..., object]:
    @wraps(function)
    def call(*arguments: object, **named: object) -> object:
        __tracebackhide__ = True
        returned = function(*arguments, **named)
        if isinstance(returned, sys.modules[FOUND].Bench):
            message = (
                f"{name} returned a bench, which nothing drives: give the bench itself the name of a test, "
                f"`{name} = make_bench()`, or drive it: `def {name}(otf_run): otf_run(make_bench)`"
            )
            pytest.fail(message, pytrace=False)
        return returned

    return call


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Begin a failure's line in the final summary with what was seen, since pytest cuts long lines."""
    report = yield
    module: Any = sys.modules.get(RAISED)
    longrepr: Any = report.longrepr
    # a bench that is a test by itself has no traceback, and its line already begins that way
    if module is None or call.excinfo is None or getattr(longrepr, "reprtraceback", None) is None:
        return report
    error: Any = call.excinfo.value
    if isinstance(error, module.NonconformanceError):
        longrepr.reprcrash.message = error.point
    return report


def _asking(request: pytest.FixtureRequest) -> pytest.Item:
    from otf.pytest_plugin.planned_run import asked_of

    item: pytest.Item = request.node
    asked_of(item).fixtures[str(request.fixturename)] = None
    return item


@pytest.fixture
def otf_run(request: pytest.FixtureRequest) -> Callable[..., Summary]:
    """Return a function that drives a bench: `otf_run(bench, steps=100)`.

    It takes a bench, or a function that makes one, with its arguments; all other arguments are settings, such as
    `traces` and `steps`. It returns the summary; the test fails if the system does what the model does not allow.
    """
    from otf.pytest_plugin.running import Running

    return Running(_asking(request)).run


@pytest.fixture
def otf_run_async(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return the same function for a coroutine test, which awaits it."""
    from otf.pytest_plugin.running import Running

    return Running(_asking(request)).run_async


@pytest.fixture
def otf_open(request: pytest.FixtureRequest) -> Iterator[Callable[..., Talk]]:
    """Return a function that starts a bench's system and opens its ports; the end of the test stops it.

    `talk = otf_open(bench)`, then `talk.send(value)`, `talk.receive()` and `talk.silence()`.
    """
    from otf.pytest_plugin.talking import SystemOpener

    opening = SystemOpener(_asking(request))
    yield opening.open
    opening.close()


@pytest.fixture
def otf_open_async(request: pytest.FixtureRequest) -> Callable[..., AbstractAsyncContextManager[Spoken]]:
    """Return the same for a coroutine test: a context manager whose methods are awaited."""
    from otf.pytest_plugin.talking import SystemOpener

    return SystemOpener(_asking(request)).open_async
