"""pytest that is ended from inside, by a system in its process, has not passed: another process waits for its end."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from pathlib import Path
from typing import NoReturn

import pytest

from otf import supervisor
from otf.errors import INCONCLUSIVE


def supervise(session: pytest.Session) -> None:
    """Run the tests of a session in a child process, if pytest is the program, and nothing runs beside it yet.

    Workers of pytest-xdist are watched by the process that started them. A fork would lose threads that run already:
    there `os._exit` itself refuses status 0, which does not stop a library in C.
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
        supervisor.supervise("pytest")


def _is_the_program() -> bool:
    program = Path(sys.argv[0])
    return program.stem in {"pytest", "py.test"} or program.parts[-2:] == ("pytest", "__main__.py")


def _refuse_success() -> None:
    leave, owner, shown = os._exit, os.getpid(), os.dup(2)  # pytest catches what is written while a test runs

    def refuse(status: int) -> NoReturn:
        # a fork, as multiprocessing makes them, may end like that
        if status == 0 and os.getpid() == owner:
            os.write(shown, b"\notf: pytest was ended from inside, by os._exit(0): so nothing is decided\n")
            status = INCONCLUSIVE
        leave(status)

    os._exit = refuse
