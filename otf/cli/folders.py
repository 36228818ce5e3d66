"""Where traces go when nobody says it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path("otf-runs")


def fresh(kind: str, detail: object = "") -> Path:
    """Return a new folder for the traces of one command, made at once: two commands at a time must not share one."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = "-".join(map(str, filter(str, (kind, moment, detail))))
    folder, number = ROOT / name, 1
    while not _made(folder):
        number += 1
        folder = ROOT / f"{name}~{number}"
    return folder


def _made(folder: Path) -> bool:
    """Make a folder; return False where it was there before."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return not folder.is_dir()
    except OSError:
        return True  # who writes there first says what is wrong
    return True
