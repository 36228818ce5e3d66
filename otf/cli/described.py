"""Benches described in TOML: a named bench with other addresses and times, for people who change nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from otf.errors import UsageError

SUFFIX: Final = ".toml"
LARGEST: Final = 1 << 20
ACTING_SCHEMES: Final = ("spy://", "alt://", "hwgrep://")
"""Names of serial ports by which pyserial does more than open one: writes files, or opens whatever fits."""


class Description(msgspec.Struct, forbid_unknown_fields=True):
    """What such a file may say; times are in seconds."""

    bench: str
    quiescence: float | None = None
    L: float | None = None
    R: float | None = None
    retries: int | None = None
    ports: dict[str, str] = {}
    set: dict[str, str | int | float | bool] = {}

    @property
    def sets(self) -> dict[str, object]:
        """The parameters and times of the bench."""
        times = {"quiescence": self.quiescence, "L": self.L, "R": self.R}
        return {**self.set, **{name: value for name, value in times.items() if value is not None}}


def description(path: Path) -> Description:
    """Read a file. Raises UsageError that says where it is wrong, and what may stand there."""
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"{path}: {error.strerror}; name a TOML file that describes a bench"
        raise UsageError(message) from error
    if len(data) > LARGEST:
        message = f"{path}: it has more than {LARGEST} bytes; a bench is described in a few lines"
        raise UsageError(message)
    return _checked(path, _parsed(path, data))


def _parsed(path: Path, data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"{path}: not TOML: {error}"
        raise UsageError(message) from error


def _checked(path: Path, data: Mapping[str, Any]) -> Description:
    try:
        found = msgspec.convert(data, Description)
    except msgspec.ValidationError as error:
        message = f"{path}: {error}; it has: bench, quiescence, L, R, retries, and the tables ports and set"
        raise UsageError(message) from error
    if found.bench.partition(":")[0].endswith(SUFFIX):
        message = f"{path}: bench = {found.bench!r}: a description names a bench, and not another description"
        raise UsageError(message)
    for key, value in {**found.ports, **found.set}.items():
        if isinstance(value, str) and value.lower().startswith(ACTING_SCHEMES):
            schemes = ", ".join(ACTING_SCHEMES)
            message = f"{path}: {key} = {value!r}: {schemes} do more than open a port: say it on the command line"
            raise UsageError(message)
    return found
