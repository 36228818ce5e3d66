"""The command line; `main` is the entry point of the script `otf`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

from otf import supervisor
from otf.cli.asked_format import asks_json
from otf.cli.signals import SIGNALS


def main() -> None:
    """Run the command line and exit with its status; Ctrl-C at any moment ends it with 130 and no traceback."""
    # first, since the imports behind `called` take most of the start-up time
    SIGNALS.install()
    # before those imports, too: forking a small process is cheap
    supervisor.supervise("the command", as_json=asks_json(sys.argv), hears=True)
    atexit.register(supervisor.sign)  # the first one registered runs last, after those of benches
    status = called(sys.argv[1:])
    supervisor.decide(status)
    SIGNALS.finish()
    # collecting the garbage of a long run takes seconds, and the system frees the memory anyway
    gc.disable()
    gc.freeze()
    if SIGNALS.number:
        _leave(status)
    sys.exit(status)


def _leave(status: int) -> None:
    """End the process as `sys.exit` does, without freeing each object, which takes more than a second of CPU time."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # the interpreter reports the failed write
        return
    atexit._run_exitfuncs()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- as multiprocessing does before it leaves
    os._exit(status)


def called(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; it reports errors, and raises none."""
    from otf.cli.app import call

    return call(arguments)
