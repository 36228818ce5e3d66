"""What other packages add to otf, by their entry points: benches (`otf.benches`) and commands (`otf.commands`).

Asking for them takes 50 ms, so that it is done only where a name is not one of otf's own, and for lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from otf.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BENCHES: Final = "otf.benches"
COMMANDS: Final = "otf.commands"


@cache
def installed(group: str) -> Mapping[str, EntryPoint]:
    """Return what installed packages add, by name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in sorted(entry_points(group=group))}


def function_of(point: EntryPoint) -> Callable[..., Any]:
    """Return the function of a command. Raises UsageError, with the package, if it cannot be had."""
    try:
        found: object = point.load()
    except Exception as error:
        raise UsageError(f"{_of(point)} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise UsageError(f"{_of(point)} is no function: {point.value}")
    return found


def _of(point: EntryPoint) -> str:
    package = f" of the package {point.dist.name}" if point.dist is not None else ""
    return f"otf {point.name}: this command{package}"
