"""The options of a bench: those of its constructors, and what a trace may choose by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Hashable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, TypeVar

from otf.errors import OtfError, UsageError, choose, refuse
from otf.spec import Requirements
from otf.spec.transition import RequirementIds
from otf.values import show
from otf.values.arguments import brief
from otf.values.raised import blame

if TYPE_CHECKING:  # a model file needs none of it until it is run
    from otf.adapter.lifecycle import Life
    from otf.adapter.line import Line
    from otf.codec import Codec
    from otf.core import Barrier, InputMode, Limits
    from otf.temporal import Formula
    from otf.trace.events import Event
    from otf.trace.verdict import Failure

Opener: TypeAlias = Callable[[], "AbstractAsyncContextManager[Line]"]
"""A function that opens the line of one port; an adapter returns it.

>>> from otf.adapters import tcp
>>> port: Opener = tcp("127.0.0.1:7")  # `async with port() as line:` connects
"""

Connect: TypeAlias = Callable[[], "AbstractAsyncContextManager[Mapping[str, Line]]"]
"""A function that opens the lines of all ports of a bench at once.

>>> from contextlib import asynccontextmanager
>>> from otf.adapters import tcp
>>> @asynccontextmanager
... async def both():
...     async with tcp("127.0.0.1:21")() as control, tcp("127.0.0.1:20")() as data:
...         yield {"control": control, "data": data}
>>> connect: Connect = both
"""

Silence: TypeAlias = Literal["observed", "timed"]
"""How otf detects silence: by looking at the system's processes, where possible, or only by time."""


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """A failure that the maintainers of a bench know about: a campaign counts it and goes on.

    `shows` is the function that returns whether a failure is this known issue. `says` describes the issue in reports.
    `req` lists the ids of the requirements that the issue violates.

    >>> KnownIssue(lambda failure: "Unknown command" in failure.seen, "it answers what it should ignore").says
    'it answers what it should ignore'
    """

    shows: Callable[[Failure], bool]
    says: str
    req: RequirementIds = ()

    def is_sound(self) -> bool:
        """Return whether `shows` is a function and `says` is a text."""
        return callable(self.shows) and isinstance(self.says, str)  # pyright: ignore[reportUnnecessaryIsInstance] -- a bench may give anything


def known_issue(issues: Iterable[KnownIssue], failure: Failure | None) -> KnownIssue | None:
    """Return the issue that a failure shows, or None. Raises ModelError if a known issue raises."""
    for each in issues:
        try:
            if failure is not None and each.shows(failure):
                return each
        except OtfError:
            raise
        except Exception as error:
            raise blame(f"the known issue {each.says!r} raised on the failure {show(failure, 120)}:", error) from error
    return None


class BenchOptions(TypedDict, total=False):
    """Fields that every bench may have."""

    name: str
    types: tuple[type, ...]
    outputs: tuple[str, ...]
    inputs: InputMode
    quiescence: float | None
    latency: float
    busy: float
    pause: float
    limits: Limits
    mutants: Mapping[str, str]
    parameters: Mapping[str, object]
    known_issues: tuple[KnownIssue, ...]
    requirements: Requirements
    properties: Mapping[str, Formula]
    foreign: Callable[[Any], Event | None] | None


class PortOptions(BenchOptions, total=False):
    """Further fields of a bench with ports."""

    life: Life | None
    barrier: Barrier | None
    silence_key: Callable[[Any, Any], Hashable] | None
    retries: int
    silence: Silence
    malformed: float
    pids: tuple[int, ...]
    clients: tuple[str, ...] | None


class ProcessOptions(BenchOptions, total=False):
    """Further fields of a bench of a Python object."""

    codec: Codec | None


Make = TypeVar("Make", bound=Callable[..., Any])
_NAME: Final = "otf_trace_may_set"


def trace_may_set(**values: Container[object]) -> Callable[[Make], Make]:
    """Allow traces to set the given parameters of a bench, each to one of the given values.

    A trace may come from other people, so allow only harmless parameters: sizes, counts and faults, but never
    addresses, files or programs. To replay a trace with a value that you do not allow, a user gives the value on the
    command line. An allowed value is a number, a text, True or False. `trace_may_set` raises UsageError for an unknown
    parameter.

    >>> @trace_may_set(size=range(2, 20), fault=("none", "late"))
    ... def bench(url: str = "", size: int = 4, fault: str = "none") -> None: ...
    >>> settable(bench)["size"]
    range(2, 20)
    """

    def marked(make: Make) -> Make:
        if not callable(make):
            raise UsageError(f"trace_may_set: it decorates the function that makes a bench, not {brief(make)}")
        known = inspect.signature(make).parameters
        unknown = [each for each in values if each not in known]
        single = [(each, given) for each, given in values.items() if not _many(given)]
        refuse(
            f"trace_may_set for {getattr(make, '__name__', 'a bench')}: ",
            (f"there is no parameter {each}=; {choose(each, known, 'there are')}" for each in unknown),
            (f"{each}={show(given)}: a tuple of values is needed" for each, given in single),
        )
        setattr(make, _NAME, values)
        return make

    return marked


def _many(values: object) -> bool:
    # a text is a container of letters
    return isinstance(values, Container) and not isinstance(values, (str, bytes))


def settable(make: object) -> Mapping[str, Container[object]]:
    """Return the parameters of a bench that a trace may choose, each with its values."""
    found: Mapping[str, Container[object]] = getattr(make, _NAME, {})
    return found


def allowed(values: Container[object], value: object) -> bool:
    """Return whether a trace may choose a value; lists and objects are never allowed."""
    return isinstance(value, str | int | float) and value in values
