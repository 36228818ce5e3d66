"""Writing files: each trouble is an error with the file and what to do; a full disk is no defect of anybody."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from otf.errors import WriteError

ADVICE = "choose another folder with --out"


@contextmanager
def writing(path: Path, what: str = "it", advice: str = ADVICE) -> Generator[None]:
    """Turn every OSError into a WriteError that says what could not be written where."""
    try:
        yield
    except OSError as error:
        raise unwritten(path, error, what, advice) from error


def unwritten(path: Path, error: OSError, what: str = "it", advice: str = ADVICE) -> WriteError:
    """Return what is said of a file that cannot be written."""
    return WriteError(f"{path}: {what} cannot be written ({error.strerror or error}); {advice}")


def put(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: whoever reads it meanwhile sees what was there before. Raises WriteError."""
    begun = path.with_name(f".{path.name}.{os.getpid()}")
    with writing(path):
        try:
            begun.write_bytes(content)
            begun.replace(path)
        except BaseException:
            begun.unlink(missing_ok=True)
            raise
