"""What a command prints: an error as one message, a result as text or JSON; also the folder for its traces."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TextIO

from otf.cli.signals import SIGNALS
from otf.errors import ModelError, OtfError
from otf.supervisor import end_copy, reported

STDOUT_ERRORS: Final[list[str]] = []
"""Why standard output accepts no more data; empty while it does."""
DEBUG: Final = ContextVar("debug", default=False)
"""Whether to print errors with the full traceback."""


def report_error(error: OtfError) -> None:
    """Print an error to standard error, with the full traceback if `--debug`; a model's error names its own frames."""
    show_traceback(error)
    warn(str(error))
    if isinstance(error, ModelError) and error.__cause__ is not None and not DEBUG.get():
        _print_error("  --debug shows the whole traceback")


def show_traceback(error: OtfError) -> None:
    """Print the full traceback of an error to standard error, if `--debug` is set."""
    if DEBUG.get():
        _print_error("".join(traceback.format_exception(error)).rstrip())


def error_document(why: str) -> dict[str, str]:
    """Return the JSON document of a command that failed."""
    return {"verdict": "error", "error": why}


def document(data: Any) -> None:  # noqa: ANN401 -- any JSON data
    """Print the one JSON document of a command, in ASCII, which every terminal, pipe and locale accepts."""
    SIGNALS.reporting()
    _print(json.dumps(data, indent=2))
    reported()


def say(text: str = "", *, exact: bool = False) -> None:
    """Print lines for people, on a terminal in its width and with colours; `exact`: unchanged, for a machine."""
    text, width = harmless(text), columns()
    if width is None or exact:
        _print(text)
    elif not is_terminal(_stdout()) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        _print("\n".join(_parts(text, width)))
    else:
        _print(_paint(text, width))


def columns() -> int | None:
    """Return the width of the terminal in characters; for a pipe, COLUMNS, or None if that is not set."""
    if is_terminal(_stdout()):
        return shutil.get_terminal_size().columns
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdecimal() and int(asked) >= NARROWEST else None


def _parts(text: str, width: int) -> Iterator[str]:
    from otf.trace.explain import wrapped  # imports the trace, which `--help` does not need

    return (part for line in text.split("\n") for part in wrapped(line, width))


def is_terminal(stream: TextIO | None) -> bool:
    """Return whether a standard stream is a terminal."""
    with suppress(ValueError, AttributeError):  # it is closed, or something else replaced it
        return stream is not None and stream.isatty()
    return False


def _stdout() -> TextIO | None:
    return _STDOUT[0][0] if _STDOUT else sys.stdout


NARROWEST: Final = 20  # columns; a narrower one is unreadable
LONGEST: Final = 60  # bytes of a frame to show
_STYLES: Final = (
    ("bold red", re.compile(r"(FAIL\b|failed ).*|.*<== here")),
    ("bold green", re.compile(r"PASS(?!, )\b.*|fixed:.*")),
    ("bold yellow", re.compile(r"(PASS, \d+ known|INCONCLUSIVE|INTERRUPTED|stopped)\b.*")),
    ("green", re.compile(r" +allows: .*|  (did not come|nearest allowed): .*")),
    ("red", re.compile(r"  (seen|and then): .*|from an earlier run, still there:.*|.*\bNOT found\b.*")),
    ("yellow", re.compile(r"(known issue|note|path \d+ is inconclusive|they differ)\b.*| +differs in .*")),
)


def _paint(text: str, width: int) -> str:
    """Return text wrapped to this width, coloured: verdicts, what was expected and seen, the failing row."""
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, highlight=False)
    with console.capture() as found:
        for line in text.split("\n"):
            style = next((style for style, pattern in _STYLES if pattern.match(line)), "")
            for part in _parts(line, width):
                console.print(Text(part, style), soft_wrap=True)
    return found.get().removesuffix("\n")


def warn(text: str) -> None:
    """Print a message to standard error, unless it is closed."""
    _print_error(f"otf: {text}")


def _print_error(text: str) -> None:
    stderr: TextIO | None = sys.stderr
    if stderr is not None:  # print would use standard output instead, which may hold a document
        # a message that cannot be printed leaves the exit status alone, which reports the verdict
        with suppress(OSError, ValueError):
            print(harmless(text), file=stderr)


def spaced(data: bytes) -> str:
    r"""Return bytes in hexadecimal, and as text if they are text: as many as fit next to a value.

    >>> print(spaced(b"coin\r\n"))
    63 6f 69 6e 0d 0a  'coin\r\n'
    """
    # for a text protocol the text is what one reads; if any byte is not text, hexadecimal says all
    start = data[: 3 * LONGEST]
    text = start.isascii() and start.translate(None, b"\t\r\n").decode().isprintable()
    if len(data) <= LONGEST:
        return f"{data.hex(' ')}{f'  {data.decode()!r}' if text else ''}"
    # in the room of the hexadecimal digits there is three times as much of a long text
    shown = start if text else data[:LONGEST]
    left_out = " …" if len(shown) < len(data) else ""
    return f"{repr(shown.decode()) if text else shown.hex(' ')}{left_out} ({len(data):,} bytes)"


def harmless(text: str) -> str:
    r"""Return text without anything that a terminal would obey: it may come from a trace or the tested system.

    >>> print(harmless("a\nb\x1b[31m"))
    a
    b\x1b[31m
    """
    escaped = (char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode() for char in text)
    return "".join(escaped)


def _print(text: str) -> None:
    end_copy()
    if STDOUT_ERRORS:
        return
    try:
        stream = _open_stdout(text)
        if stream is not None:  # not by print, which the user's code may have replaced
            stream.write(f"{text}\n")
            stream.flush()
    except BrokenPipeError as error:
        # the reader has seen enough (`otf list | head -1`): end as if it had read all, unless the result is a pass
        if _PASSES.match(text):
            stdout_failed(error)
        else:
            unread(error)
    except OSError as error:
        stdout_failed(error)
    except (ValueError, AttributeError):  # it is closed, or something else replaced it
        stdout_failed(OSError(errno.EBADF, _REPLACED))


_REPLACED: Final = "it is closed, or code of the bench replaced it"
_UNREAD: Final[list[BrokenPipeError]] = []
_PASSES: Final = re.compile(r'(\x1b\[[\d;]*m)*PASS\b|\{\s*"verdict": "pass"')
"""A pass that was not read does not count: a reader of exit statuses must not believe it."""


def begin_stdout() -> None:
    """Write to the current standard output, even if the user's code replaces it; forget an earlier command."""
    STDOUT_ERRORS.clear()
    _UNREAD.clear()
    _STDOUT[:] = [(sys.stdout, _file_of(sys.stdout))]


def end_stdout() -> None:
    """Write to whatever is standard output from now on: the command is over."""
    _STDOUT.clear()


_STDOUT: Final[list[tuple[TextIO | None, tuple[int, int] | None]]] = []


def _file_of(stream: TextIO | None) -> tuple[int, int] | None:
    with suppress(OSError, ValueError, AttributeError):
        found = os.fstat(stream.fileno()) if stream is not None else None
        return None if found is None else (found.st_dev, found.st_ino)
    return None


def _open_stdout(text: str) -> TextIO | None:
    """Return standard output. Raises OSError for a pass if there is none, or if it changed during the command."""
    stream, file = _STDOUT[0] if _STDOUT else (sys.stdout, _file_of(sys.stdout))
    if _PASSES.match(text) and (_UNREAD or stream is None or _file_of(stream) != file):
        raise _UNREAD[0] if _UNREAD else OSError(errno.EBADF, _REPLACED)
    return stream


def unread(error: BrokenPipeError) -> None:
    """Note that standard output has no reader any more."""
    _UNREAD.append(error)
    _discard_stdout()


def stdout_failed(error: OSError) -> None:
    """Note that standard output accepts no more data, and warn."""
    _discard_stdout()
    STDOUT_ERRORS.append(str(error.strerror or error))
    warn(f"standard output cannot be written: {STDOUT_ERRORS[0]}")


def _discard_stdout() -> None:
    # the interpreter would flush the rest of the buffer when it exits, and fail again
    with suppress(OSError, ValueError, AttributeError):  # a stream without a file, or none
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


ROOT: Final = Path("otf-runs")


def fresh(kind: str, detail: object = "") -> Path:
    """Create and return a new folder for the traces of one command; concurrent commands must not share one."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = "-".join(map(str, filter(str, (kind, moment, detail))))
    folder, number = ROOT / name, 1
    while not _create(folder):
        number += 1
        folder = ROOT / f"{name}~{number}"
    return folder


def _create(folder: Path) -> bool:
    """Create a folder; return False if it existed before."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return not folder.is_dir()
    except OSError:
        return True  # the first write there reports the error
    return True
