"""The command line; `main` is the entry point of the script `otf`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from otf.cli.signals import SIGNALS


def main() -> None:
    """Run the command line and exit with its status; Ctrl-C at any moment ends it with 130 and no traceback."""
    # first of all, since the imports behind `called` take most of the start
    SIGNALS.install()
    status = called(sys.argv[1:])
    SIGNALS.finish()
    sys.exit(status)


def called(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; errors are reported, and none is raised."""
    from otf.cli.app import call

    return call(arguments)
