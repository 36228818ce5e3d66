"""What holds for all tests."""

import faulthandler
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
    """Build the site once; every warning is an error (`strict` in mkdocs.yml)."""
    # the build has a bound of its own, longer than that of a test: on a busy machine it takes minutes
    faulthandler.cancel_dump_traceback_later()
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", str(Path(__file__).parents[1] / "mkdocs.yml")]
    done = subprocess.run(
        [*command, "--site-dir", str(folder)],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # 40 s of CPU; beside other work it took 390 s
    )
    assert done.returncode == 0, done.stderr
    return folder
