"""What a trace may choose of the bench that it names: a trace may come from a stranger."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any, Final, TypeVar

from otf.errors import UsageError

Make = TypeVar("Make", bound=Callable[..., Any])
_NAME: Final = "otf_trace_may_set"


def trace_may_set(**values: Container[object]) -> Callable[[Make], Make]:
    """Let a trace choose these parameters of a bench by itself, each among these values.

    A trace may come from a stranger. Where it was recorded with anything else, that has to be said again on the command
    line: name sizes, counts and faults here, with their bounds, and neither addresses nor files nor programs. Values
    are plain, as a trace has them: numbers, texts, true and false. Raises UsageError for a parameter that there is not.

    >>> @trace_may_set(size=range(2, 20), fault=("none", "late"))
    ... def bench(url: str = "", size: int = 4, fault: str = "none") -> None: ...
    >>> settable(bench)["size"]
    range(2, 20)
    """

    def marked(make: Make) -> Make:
        unknown = values.keys() - inspect.signature(make).parameters.keys()
        if unknown:
            message = f"trace_may_set({min(unknown)}=…): {make!r} has no such parameter"
            raise UsageError(message)
        setattr(make, _NAME, values)
        return make

    return marked


def settable(make: object) -> Mapping[str, Container[object]]:
    """Return the parameters of a bench that a trace may choose, each with its values."""
    found: Mapping[str, Container[object]] = getattr(make, _NAME, {})
    return found


def allowed(values: Container[object], value: object) -> bool:
    """Return whether a trace may choose a value; lists and objects are never among them."""
    return isinstance(value, str | int | float) and value in values
