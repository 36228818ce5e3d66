"""Calling a command: whatever goes wrong is told, and becomes an exit status."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final

import typer

from otf.cli.app import app
from otf.cli.completion import VARIABLE, prepare
from otf.cli.ending import UNHEARD, document, trouble, unheard, warn
from otf.errors import FAIL, INCONCLUSIVE, USAGE, USERS_OWN

_FULL: Final = {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG}


def call(arguments: Sequence[str]) -> int:
    """Run a command with these arguments and return its exit status."""
    _tolerant(sys.stdin)
    _tolerant(sys.stdout)
    as_json = "--json" in arguments
    prepare()
    UNHEARD.clear()
    try:
        status: int = app(list(arguments), prog_name="otf", standalone_mode=False) or 0
    except typer.TyperException as error:
        return _misused(error, as_json=as_json)
    except OSError as error:
        return _unwritten(error) or _broken(error, as_json=as_json)
    except USERS_OWN:
        raise
    except SystemExit as error:
        # a shell that wanted to complete a word was answered; nothing else ends the program so
        return int(error.code or 0) if VARIABLE in os.environ else _broken(error, as_json=as_json)
    except BaseException as error:  # noqa: BLE001 -- the last resort: Python's own status would be that of a nonconformance
        return _broken(error, as_json=as_json)
    # what was found stays found; a pass that could not be told is none
    return max(status, USAGE) if UNHEARD and status != FAIL else status


def _tolerant(stream: object) -> None:
    # a locale that has no `…` is no reason to fail, nor are bytes of another one; not every stream has an encoding
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _unwritten(error: OSError) -> int:
    """Return the exit status of a page of help that standard output does not take; 0 where that is not what it is."""
    if error.filename is not None or error.errno not in _FULL:
        return 0
    unheard(error)
    return USAGE


def _misused(error: typer.TyperException, *, as_json: bool) -> int:
    # with the usage of the command and a hint where it helps; typer does not export the type that has it
    wrong: Any = error
    wrong.show()
    if as_json:
        document(trouble(error.format_message()))
    return error.exit_code


def _broken(error: BaseException, *, as_json: bool) -> int:
    traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    warn(f"this is a defect of otf, or of a bench's own adapter; it says nothing about the system under test: {what}")
    if as_json:
        document(trouble(what))
    return INCONCLUSIVE
