"""What holds for all tests."""

import faulthandler
import fcntl
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# What these say changes what pytest, rich and typer print, and with it what the programs under test print: without them
# a test sees the same words on a desk and where a server runs it.
for _name in ("BUILD_NUMBER", "CI", "COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS", "LINES", "NO_COLOR", "PY_COLORS"):
    os.environ.pop(_name, None)

# Programs under test inherit it: tests that were started with nohup would see them live on when their terminal goes.
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# An example may take as long as it takes: a limit in wall-clock time would fail laws because a machine is busy.
settings.register_profile("otf", settings(), deadline=None)
settings.load_profile("otf")

# Runs of pytest inside a test, for the plugin; only the uppermost file may say it.
pytest_plugins = ("pytester",)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take what no test may bring along itself."""
    parser.addoption("--data", metavar="DIR", help="the folder `samples` of PyModel's fork, for tests/compat")


def pytest_collection_finish() -> None:
    """Keep what all tests share out of every later collection of garbage: with it, each takes half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, for all workers; every warning is an error (`strict` in mkdocs.yml)."""
    # the build has a bound of its own, longer than that of a test: on a busy machine it takes minutes
    faulthandler.cancel_dump_traceback_later()
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            _build_site(folder)
    return folder


def _build_site(folder: Path) -> None:
    begun = folder.with_suffix(".begun")
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(Path(__file__).parents[1] / "mkdocs.yml")]
    done = subprocess.run(
        [*command, "--site-dir", str(begun)],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # 40 s of CPU; beside other work it took 390 s
    )
    assert done.returncode == 0, done.stderr
    begun.rename(folder)
