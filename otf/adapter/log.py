"""The tester's own log, written with structlog: what it starts, opens, waits for, retries and gives up.

Silent unless someone listens: with `--log` on the command line, or in a program that has configured structlog itself.
Then it also has the events of a run, at the level "debug".
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Literal, get_args

from otf.errors import UsageError, near

Level = Literal["debug", "info", "warning", "error"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
_BOUND: Final = ContextVar[dict[str, Any]]("bound", default={})  # noqa: B039 -- replaced, never changed


def is_heard() -> bool:
    """Return whether someone listens."""
    # unconfigured, structlog prints everything; and a program that has not imported it has not configured it
    structlog = sys.modules.get("structlog")
    return structlog is not None and structlog.is_configured()


def note(event: str, /, level: Level = "info", **fields: object) -> None:
    """Log an event of the tester, with the fields `bound` here.

    >>> with bound(path=3):
    ...     note("opened", port="line")  # no listener yet
    """
    if is_heard():
        import structlog

        getattr(structlog.get_logger("otf"), level)(event, **{**_BOUND.get(), **fields})


@contextmanager
def bound(**fields: object) -> Generator[None]:
    """Add these fields to everything logged until the context is left: `run`, `path`, `port`."""
    token = _BOUND.set({**_BOUND.get(), **fields})
    try:
        yield
    finally:
        _BOUND.reset(token)


@contextmanager
def logging_to(where: str | None) -> Generator[None]:
    """Log everything to a file (JSON lines), or to standard error from a level on (text); None: do nothing.

    Raises UsageError for a file that cannot be written.
    """
    if where is None:
        yield
        return
    import structlog

    if where not in LEVELS and "." not in where and not Path(where).exists() and (hint := near(where, LEVELS)):
        raise UsageError(f"--log {where}: {hint} The levels are {', '.join(LEVELS)}; for a file write ./{where}")
    try:
        file = None if where in LEVELS else Path(where).open("a", encoding="utf-8")  # noqa: SIM115 -- closed below
    except OSError as error:
        message = f"--log {where}: it cannot be written ({error.strerror}); give a file, or one of {', '.join(LEVELS)}"
        raise UsageError(message) from error
    level = where if file is None else "debug"
    render = structlog.dev.ConsoleRenderer(colors=False) if file is None else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file or sys.stderr),
    )
    try:
        yield
    finally:
        structlog.reset_defaults()
        if file is not None:
            file.close()
