"""Mistaken arguments: values that lack the declared type, and functions that take other arguments."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, wraps
from inspect import BoundArguments, Parameter, isfunction, signature
from types import FrameType, NoneType, UnionType
from typing import Any, Final, Literal, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from otf.errors import choose, near, refuse
from otf.values.classes import fits, is_class
from otf.values.raised import ENGINE, LIBRARIES, MODELS, definition
from otf.values.text import show

SHORT: Final = 80  # characters of a value in an error: of a longer one, its type says more
_WORDS: Final[Mapping[Any, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    bytes: "bytes",
    NoneType: "None",
    Any: "a value",
    object: "a value",
}

P = ParamSpec("P")
T = TypeVar("T")


def brief(value: object) -> str:
    """Return a value as text for an error: the name of a function or class, and only the type of a long value.

    >>> brief(len), brief("x" * 99), brief(5)
    ('len', 'a str', '5')
    """
    name = getattr(value, "__name__", None)
    text = name if callable(value) and isinstance(name, str) else show(value)
    return text if len(text) <= SHORT and " at 0x" not in text else _a(type(value).__name__)


def own_call() -> str:
    """Return the line of the user's code that is calling otf now, to append to an error; "" if otf calls itself."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- Python offers no cheaper way
    while frame is not None:
        code, file = frame.f_code, frame.f_code.co_filename
        # the same as `is_own`; each run comes here
        if not LIBRARIES.match(file) and (not file.startswith(ENGINE) or file.startswith(MODELS)):
            return f'\n  File "{file}", line {frame.f_lineno}, in {code.co_name}'
        frame = frame.f_back
    return ""


def unfit(function: object, *names: str) -> str:
    """Return why a function cannot be called with these arguments, and its line; "" if it can.

    >>> unfit(len, "port", "data")
    'it takes (obj), not (port, data)'
    """
    if not callable(function):
        return f"it is {brief(function)}, not a function"
    try:
        found = signature(function, follow_wrapped=False)
    except (TypeError, ValueError):  # a built-in without a signature
        return ""
    try:
        found.bind(*names)
    except TypeError:
        return f"it takes ({', '.join(found.parameters)}), not ({', '.join(names)}){definition(function)}"
    return ""


def misfits(made: Callable[..., Any], given: Iterable[tuple[str, object]]) -> Iterator[str]:
    """Yield which of the arguments of a function or class lack their declared type.

    >>> def wait(seconds: float, why: str | None = None) -> None: ...
    >>> list(misfits(wait, [("seconds", "5"), ("why", 7)]))
    ["seconds='5': a number is needed", 'why=7: a text or None is needed']
    """
    hints = _hints(made)
    for name, value in given:
        if name not in hints:
            continue
        if not fits(value, hints[name]):
            known = get_args(hints[name]) if get_origin(hints[name]) is Literal else ()
            hint = near(str(value), map(str, known)) or _advice(made, name, value, hints[name])
            yield f"{name}={brief(value)}: {_needed(hints[name])} is needed{hint and f'; {hint}'}"
        elif hints[name] is float and not cast("float", value) >= 0:  # nor NaN
            yield f"{name}={value}: a number of 0 or more is needed"
        elif why := _uncallable(value, hints[name]):
            yield f"{name}={brief(value)}: {why}"


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function raise UsageError for arguments that lack their declared type.

    >>> @checked
    ... def wait(seconds: float) -> None: ...
    >>> wait("5")
    Traceback (most recent call last):
    otf.errors.UsageError: wait: seconds='5': a number is needed
    """
    name = function.__name__ if function.__name__ != "__init__" else function.__qualname__.split(".")[-2]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True
        try:
            found = signature(function).bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # Python says which argument is missing, or one too many
        refuse(f"{name}: ", misfits(function, _each(found)))
        return function(*args, **kwargs)

    vars(call)["__signature__"] = signature(function)  # unlike a wrapper of the user's, it takes just that
    return call


def _each(bound: BoundArguments) -> Iterator[tuple[str, object]]:
    """Yield the arguments of a call with their names; those of `**options` have types of their own."""
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is not Parameter.VAR_KEYWORD:
            yield from ((name, each) for each in (value if kind is Parameter.VAR_POSITIONAL else (value,)))


@lru_cache
def _hints(made: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(made)
    except (NameError, TypeError):  # a name that is there for type checkers only; no function of Python's own
        return {}


def _uncallable(value: object, hint: Any) -> str:  # noqa: ANN401 -- an annotation
    """Return why a function is not the one that an annotation declares; "" if it may be."""
    parts = get_args(hint)
    if get_origin(hint) is not Callable or not isinstance(parts[0], list):
        return ""
    result = _hints(value).get("return") if isfunction(value) else None  # an object that can be called has no hash
    if get_origin(result) is Callable and get_origin(parts[1]) is not Callable:
        return f"write {brief(value)}(…), which returns what is needed"
    return unfit(
        value,
        *("value" if each is Any else getattr(each, "__name__", "value") for each in cast("list[object]", parts[0])),
    )


def _advice(made: Callable[..., Any], name: str, value: object, hint: Any) -> str:  # noqa: ANN401 -- an annotation
    """Return what to write instead of a value of another type; "" if its annotation says all."""
    kind, parts = type(value), get_args(hint)
    if name == "framing":
        known = [each for each in getattr(sys.modules.get("otf.framing"), "__all__", ()) if each.islower()]
        return f"{choose(str(value), known)}; write framing=lines() after `from otf.framing import lines`"
    if get_origin(hint) is Callable and parts[0] == [] and kind.__module__ != "builtins":
        method = ".METHOD" * (get_origin(parts[1]) is Callable)
        return f"it makes a new one for each path: write lambda: {kind.__name__}(…){method}"
    found = re.search(r'(?:such as|for instance to) "([^"]+)"', made.__doc__ or "") if name == "url" else None
    return f"write it as {found[1]!r}" if found else ""


def _needed(hint: Any) -> str:  # noqa: ANN401 -- an annotation
    """Return an annotation in words."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType, Literal}:
        return " or ".join(dict.fromkeys(map(repr if origin is Literal else _needed, parts)))
    if hint in _WORDS:
        return _WORDS[hint]
    if origin is Callable or hint is Callable:
        return "a function"
    if origin is type:
        return "a class"
    kind: Any = origin if is_class(origin) else hint
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return f"a dict ({_needed(parts[0])}: {_needed(parts[1])})" if parts else "a dict"
    name = _name(cast("object", kind))
    each = [part for part in parts if part not in {Ellipsis, Any, object}]
    is_group = isinstance(kind, type) and issubclass(kind, Iterable) and len(each) == 1
    return f"{_a(name)} of {_plural(each[0])}" if is_group else _a(name)


def _plural(hint: Any) -> str:  # noqa: ANN401 -- an annotation
    parts = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    return " or ".join(f"{_needed(part).removeprefix('a ').removeprefix('an ').removesuffix('s')}s" for part in parts)


def _name(kind: object) -> str:
    found = getattr(kind, "__name__", "value")
    return "list" if found in {"Sequence", "Iterable"} else found


def _a(name: str) -> str:
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"
