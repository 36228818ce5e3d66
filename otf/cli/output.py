"""How a command ends: its exit status, errors as one message, results as text or as one JSON document."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn, ParamSpec, TextIO

import typer

from otf.cli.signals import SIGNALS
from otf.errors import USERS_OWN, OtfError

P = ParamSpec("P")
UNHEARD: Final[list[str]] = []
"""Why standard output takes nothing more, while it is so."""


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Return the command as typer calls it: it ends with the status that it returns, or with that of its error.

    An error is one message on standard error; with `--json` it is also the document on standard output.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except OtfError as error:
            fail(error, as_json=bool(kwargs.get("as_json")))
        except (Exception, *USERS_OWN):
            raise
        except BaseException as error:  # noqa: BLE001 -- a model that exits must not end the command as if it had passed
            fail(_exited(error), as_json=bool(kwargs.get("as_json")))
        raise typer.Exit(status)

    run.__annotations__["return"] = "None"
    return run


def _exited(error: BaseException) -> OtfError:
    from otf.adapter.exits import blamed  # brings the event loop along

    return blamed(error)


def fail(error: OtfError, *, as_json: bool) -> NoReturn:
    """Tell an error and end with its exit status."""
    warn(str(error))
    if as_json:
        document(trouble(str(error)))
    raise typer.Exit(error.exit_status)


def trouble(why: str) -> dict[str, str]:
    """Return the JSON document of a command that could not be carried out."""
    return {"verdict": "error", "error": why}


def document(data: Any) -> None:  # noqa: ANN401 -- any JSON data
    """Print the one JSON document of a command; in ASCII, which every terminal, pipe and locale takes as it is."""
    SIGNALS.told()
    _print(json.dumps(data, indent=2))


def say(text: str = "") -> None:
    """Print lines for people."""
    _print(harmless(text))


def warn(text: str) -> None:
    """Print a message to standard error, if it is not closed."""
    stderr: TextIO | None = sys.stderr
    if stderr is not None:  # print would take standard output instead, where a document may stand
        # where nobody can be told, what was found still makes the exit status
        with suppress(OSError):
            print(f"otf: {harmless(text)}", file=stderr)


def harmless(text: str) -> str:
    r"""Return text without anything that a terminal would obey: it may come from a trace, or from the tested system.

    >>> print(harmless("a\nb\x1b[31m"))
    a
    b\x1b[31m
    """
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode()


def _print(text: str) -> None:
    if UNHEARD:
        return
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # who read us has seen enough (`otf list | head -1`): the command ends as if it had been heard
        _silence()
    except OSError as error:
        unheard(error)


def unheard(error: OSError) -> None:
    """Note that standard output takes nothing more, and say so."""
    _silence()
    UNHEARD.append(str(error.strerror or error))
    warn(f"standard output cannot be written: {UNHEARD[0]}")


def _silence() -> None:
    # what is left in the buffer would be tried again at the end of the process, and fail again
    with suppress(OSError):  # a stream that is no file
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)
