"""The options of a bench: those of its constructors, what these reject, and what a trace may choose by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from inspect import signature
from math import inf
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypedDict, TypeVar, cast, get_args

from otf.errors import OtfError, UsageError, choose, near
from otf.spec import Requirements, Spec
from otf.spec.transition import RequirementIds
from otf.values import show
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

WORDS: Final = {"inputs": ("uioco", "any", "all", "mixed"), "silence": get_args(Silence)}
"""The values of fields that are words: see `Bench`."""

TIMES: Final = ("quiescence", "latency", "busy", "pause")
_NAMES: Final = ((tuple, list), "a tuple of names, such as ('line',),")
KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "name": (str, "a text"),
    "retries": (int, "a whole number"),
    "types": ((tuple, list), "a tuple of classes"),
    "outputs": _NAMES,
    "clients": _NAMES,
    "mutants": (Mapping, "a dict of names and texts"),
    "properties": (Mapping, "a dict of names and properties"),
    "requirements": (Requirements, "a table, Requirements(…),"),
}
"""What options have to be; a text would be taken for a tuple of its letters."""

_OF_CODEC: Final = ("types", "port", "encode", "decode")


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
            raise blame(f"the known issue {each.says!r} raised on the failure {show(failure)}:", error) from error
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


def options_unknown(options: Mapping[str, object], fields: type[Any]) -> Iterator[str]:
    """Yield the unknown options, each with the name that was probably meant."""
    possible = sorted(fields.__annotations__.keys() | fields.__optional_keys__)
    return (f"there is no option {name}=; {_meant(name, possible, '=')}" for name in options if name not in possible)


def values_refused(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the values of options: times, words, known issues, and types."""
    for name, given in options.items():
        # not `given < 0`: compared with NaN everything is false, and no silence would ever be long enough
        if name in TIMES and given is not None and (isinstance(given, str) or not 0 <= given < inf):
            yield f"{name}={given!r}: a number of seconds is needed, 0 or more"
        if name in WORDS and given not in WORDS[name]:
            yield f"{name}={given!r}: {_meant(str(given), WORDS[name])}"
        if name in KINDS and given is not None and not isinstance(given, KINDS[name][0]):
            yield f"{name}={show(given)}: {KINDS[name][1]} is needed"
    if options.get("codec") is not None:
        yield from codec_refused(options["codec"])
    yield from _issues_refused(options.get("known_issues", ()))


def _issues_refused(issues: object) -> Iterator[str]:
    """Yield why these are no known issues, each with a function and a text."""
    given: object = issues
    every = cast("Sequence[object]", issues) if isinstance(issues, tuple | list) else None
    if every is None or not all(isinstance(each, KnownIssue) and each.is_sound() for each in every):
        message = f"known_issues={show(given)}: a tuple is needed, each of it a KnownIssue with a function and a text"
        yield f"{message}; write known_issues=(KnownIssue(lambda failure: 'busy' in failure.seen, 'why'),)"


def _meant(name: str, possible: Sequence[str], ending: str = "") -> str:
    return near(name, possible, 0.75, ending) or f"it has {', '.join(possible)}"


def spec_refused(spec: object) -> Iterator[str]:
    """Yield why a model is not a Spec; most often it is the function of one."""
    if not isinstance(spec, Spec):
        yield f"{getattr(spec, '__name__', show(spec))} is not a Spec; write Spec(step, initial=…, inputs=[…])"


def codec_refused(codec: object) -> Iterator[str]:
    """Yield the parts that a codec lacks."""
    missing = [name for name in _OF_CODEC if not hasattr(codec, name)]
    if missing:
        yield f"the codec {show(codec)} has no {', '.join(missing)}; use otf.lines(…), or write a class with them"


def ports_refused(ports: object, connect: object, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with ports: missing, given twice, not callable; and the unknown ones of options."""
    how = "give ports={'line': tcp('127.0.0.1:7000')}, or connect= a function that opens all"
    if (connect is None) == (not ports):
        yield f"{'both ports and connect= are given' if ports else 'there are no ports'}; {how}"
    elif connect is None and not isinstance(ports, Mapping):
        yield f"ports is {show(ports)}; {how}"
    elif isinstance(ports, Mapping):
        known = cast("Mapping[str, object]", ports)
        for name, opener in known.items():
            if not callable(opener):
                yield f"ports[{name!r}] is {show(opener)}; an adapter is needed, such as tcp('127.0.0.1:7000')"
        for option in ("outputs", "clients"):
            yield from (
                f"{option} names the port {each!r}; {hint}" for each, hint in _unknown(options.get(option), known)
            )


def _unknown(names: object, known: Mapping[str, object]) -> Iterator[tuple[object, str]]:
    """Yield the names that are unknown, each with those that there are."""
    for each in cast("Sequence[object]", names) if isinstance(names, tuple | list) else ():
        if each not in known:
            yield each, choose(str(each), known, "there are")


def system_refused(system: object) -> Iterator[str]:
    """Yield why a system cannot be created anew for each path."""
    if not callable(system):
        yield f"{show(system)} cannot be called; give a function that makes the system: lambda: Machine().step"
        return
    try:
        signature(system).bind()
    except TypeError:
        # the commonest mistake: the system itself, which takes an input
        name = getattr(system, "__name__", "machine")
        message = f"{show(system)} takes arguments, so it is no function that makes the system"
        yield f"{message} for each path; if it is the system, write lambda: {name}"
    except ValueError:  # a built-in without a signature
        return


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
    """Return whether a trace may choose a value; lists and objects are never allowed."""
    return isinstance(value, str | int | float) and value in values
