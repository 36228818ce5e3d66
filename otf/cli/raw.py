"""The bytes of an event, as its trace has them: beside the model's word for it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from otf.trace.reading import bounded

LONGEST: Final = 60  # bytes of a frame that are shown


def spaced(data: bytes) -> str:
    """Return bytes in hexadecimal, as many as fit beside a value.

    >>> spaced(b"coin")
    '63 6f 69 6e'
    """
    return f"{data[:LONGEST].hex(' ')}{' …' if len(data) > LONGEST else ''}"


def raw(trace: Path, number: int) -> bytes:
    """Return the bytes of the event of that number in a trace of our own; none where it has none, or is gone."""
    with suppress(OSError), trace.open("rb") as file:
        for line in bounded(file):
            record: dict[str, Any] = json.loads(line)
            if record.get("n") == number:
                return bytes.fromhex(record.get("raw") or "")
    return b""
