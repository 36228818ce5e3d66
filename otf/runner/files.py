"""Writing files: every OSError becomes an error that names the file and says what to do."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from otf.errors import WriteError

ADVICE = "choose another folder with --out"


@contextmanager
def writing(path: Path, what: str = "it", advice: str = ADVICE) -> Generator[None]:
    """Turn every OSError into a WriteError that names the file and its role."""
    try:
        yield
    except OSError as error:
        raise unwritten(path, error, what, advice) from error


def unwritten(path: Path, error: OSError, what: str = "it", advice: str = ADVICE) -> WriteError:
    """Return the error for a file that cannot be written."""
    return WriteError(f"{path}: {what} cannot be written ({error.strerror or error}); {advice}")


def put(path: Path, content: bytes, advice: str = ADVICE) -> None:
    """Write a file atomically: readers see the old content until the new one is complete. Raises WriteError."""
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path, advice=advice):
        try:
            begun.write_bytes(content)
            begun.replace(path)
        except BaseException:
            begun.unlink(missing_ok=True)
            raise
