"""What is wrong with a bench: with its model, codec, ports, system and options."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, ismethod
from math import inf
from typing import Any, Final, cast, get_args

from otf.adapter.bench_options import KnownIssue, Silence
from otf.errors import choose, near
from otf.spec import Requirements, Spec
from otf.spec.offering import Always
from otf.values import show
from otf.values.arguments import brief, unfit
from otf.values.classes import fits, is_alias, is_new_type
from otf.values.raised import definition

WORDS: Final = {"inputs": ("uioco", "any", "all", "mixed"), "silence": get_args(Silence)}
"""The values of fields that are words: see `Bench`."""

TIMES: Final = ("quiescence", "latency", "busy", "pause")
_NAMES: Final = (tuple[str, ...] | list[str], "a tuple of names, such as ('line',),")
KINDS: Final[Mapping[str, tuple[Any, str]]] = {
    "name": (str, "a text"),
    "retries": (int, "a whole number"),
    "types": (tuple[Any, ...] | list[Any], "a tuple of classes"),
    "outputs": _NAMES,
    "clients": _NAMES,
    "pids": (tuple[int, ...] | list[int], "a tuple of numbers"),
    "malformed": (float, "a share from 0 to 1"),
    "mutants": (Mapping[str, str], "a dict of names and texts"),
    "parameters": (Mapping, "a dict of names and values"),
    "properties": (Mapping, "a dict of names and properties"),
    "requirements": (Requirements, "a table, Requirements(…),"),
}
"""What options have to be; a text would be taken for a tuple of its letters."""

_NEEDED: Final = {*TIMES, *WORDS, *KINDS} - {"quiescence", "clients"}  # may not be None

CLASSES: Final = {"life": "Life", "limits": "Limits", "barrier": "Barrier"}
"""Classes of options, by name: a model file needs none of them until it is run."""

FUNCTIONS: Final = {"silence_key": ("state", "input"), "foreign": ("line",), "connect": ()}
"""Options that are functions, with what otf passes to them."""

_NAMING: Final = ("outputs", "clients", "life.inband", "life.actions")  # options that name ports

CODEC: Final = {"port": ("value",), "encode": ("value",), "decode": ("port", "data")}
"""The methods of a codec, with what otf passes to them."""


def options_unknown(options: Mapping[str, object], fields: type[Any]) -> Iterator[str]:
    """Yield the unknown options, each with the name that was probably meant."""
    possible = sorted(fields.__annotations__.keys() | fields.__optional_keys__)
    return (f"there is no option {name}=; {_meant(name, possible, '=')}" for name in options if name not in possible)


def values_refused(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the values of options: times, words, known issues, types and functions."""
    for name, given in options.items():
        if given is not None or name in _NEEDED:
            yield from (f"{name}={brief(given)}: {why}" for why in _why(name, given))
    for name, refused in _PARTS.items():
        if options.get(name) is not None:
            yield from refused(options[name])


def _why(name: str, given: Any) -> Iterator[str]:  # noqa: ANN401 -- an option may have any value
    # not `given < 0`: compared with NaN everything is false, and no silence would ever be long enough
    if name in TIMES and not (fits(given, float) and 0 <= given < inf):
        yield "a number of seconds is needed, 0 or more"
    if name in WORDS and given not in WORDS[name]:
        yield _meant(str(given), WORDS[name])
    if name in KINDS and not fits(given, KINDS[name][0]):
        yield f"{KINDS[name][1]} is needed"
    elif name == "retries" and given < 0:
        yield "a number of 0 or more is needed"
    elif name == "types" and not all(map(_is_type, given)):
        yield "a tuple of classes is needed"
    if name in CLASSES and CLASSES[name] not in [each.__name__ for each in type(given).__mro__]:
        yield f"a {CLASSES[name]} is needed; write {name}={CLASSES[name]}(…)"
    if name in FUNCTIONS and (why := unfit(given, *FUNCTIONS[name])):
        yield f"a function of ({', '.join(FUNCTIONS[name])}) is needed; {why}"


def issues_refused(issues: object) -> Iterator[str]:
    """Yield why these are no known issues, each with a function and a text."""
    given: object = issues
    every = cast("Sequence[KnownIssue]", issues) if isinstance(issues, tuple | list) else None
    if every is None or not all(isinstance(each, KnownIssue) and each.is_sound() for each in every):  # pyright: ignore[reportUnnecessaryIsInstance] -- a bench may give anything
        message = f"known_issues={brief(given)}: a tuple is needed, each of it a KnownIssue with a function and a text"
        yield f"{message}; write known_issues=(KnownIssue(lambda failure: 'busy' in failure.seen, 'why'),)"
        return
    for each in every:
        if why := unfit(each.shows, "failure"):
            yield f"the known issue {each.says!r}: {why}"


def _meant(name: str, possible: Sequence[str], ending: str = "") -> str:
    return near(name, possible, 0.75, ending) or f"it has {', '.join(possible)}"


def spec_refused(spec: object) -> Iterator[str]:
    """Yield why a model is not a Spec; most often it is the function of one."""
    if not isinstance(spec, Spec):
        what = f"{'the class ' * isinstance(spec, type)}{brief(spec)}"
        yield f"{what} is not a Spec; write Spec(step, initial=…, inputs=[…])"


def empty_refused(spec: Spec[Any, Any]) -> Iterator[str]:
    """Yield why nothing can ever happen in a model, so that a campaign has nothing to do; logs need no inputs."""
    if isinstance(spec.inputs, Always) and not spec.inputs.inputs and spec.emits is None:
        what = f"the model {spec.name} has no inputs (inputs=[]) and no emits, so there is nothing to test"
        yield f"{what}; write Spec(step, initial=…, inputs=[…])"


def codec_refused(codec: object) -> Iterator[str]:
    """Yield the parts that a codec lacks, or that otf cannot use."""
    if isinstance(codec, type):
        yield f"the codec {codec.__name__} is a class; write {codec.__name__}(…), which makes one"
        return
    # a property that raises AttributeError is there
    missing = [name for name in ("types", *CODEC) if not hasattr(codec, name) and name not in dir(codec)]
    if missing:
        others = {each for each in dir(codec) if not each.startswith("_")} - {"types", *CODEC}
        own = sorted(others) if len(missing) < len(CODEC) else []
        hint = " ".join(filter(None, (near(each, own, 0.75) for each in missing)))
        name = brief(codec).removeprefix("a ").removeprefix("an ")
        what = f"the codec {name} has no {', '.join(missing)}; {hint and f'{hint} '}"
        yield f"{what}use otf.lines(…), or write a class with them"
        return
    kinds: object = cast("Any", codec).types
    if not _are_types(kinds):
        what = "a method; write @property above it, and" if ismethod(kinds) else f"{brief(kinds)};"
        yield f"the codec's types is {what} it must be a tuple of classes, such as (Coin, Tea)"
    for name, arguments in CODEC.items():
        if why := unfit(getattr(codec, name), *arguments):
            yield f"the codec's {name}: {why}"


def _are_types(kinds: object) -> bool:
    is_some = isinstance(kinds, Collection) and not isinstance(kinds, str)
    return is_some and all(map(_is_type, cast("Collection[object]", kinds)))


def _is_type(kind: object) -> bool:
    """Return whether something is a type, of whatever sort, and not a value or a name."""
    return isinstance(kind, type) or hasattr(kind, "__origin__") or is_alias(kind) or is_new_type(kind)


def ports_refused(ports: object, connect: object, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with ports: missing, given twice, not callable; and the unknown ones of options."""
    how = "give ports={'line': tcp('127.0.0.1:7000')}, or connect= a function that opens all"
    if (connect is None) == (not ports):
        yield f"{'both ports and connect= are given' if ports else 'there are no ports'}; {how}"
    elif connect is None and not isinstance(ports, Mapping):
        yield f"ports is {brief(ports)}; {how}"
    elif isinstance(ports, Mapping):
        known = cast("Mapping[str, object]", ports)
        yield from openers_refused(known)
        for option, names in {**_of_life(options.get("life")), **options}.items():
            if option in _NAMING:
                yield from (f"{option} names the port {each!r}; {hint}" for each, hint in _unknown(names, known))


def _of_life(life: object) -> dict[str, object]:
    """Return the names of ports in a `Life`."""
    inband: Sequence[Any] = getattr(life, "inband", ())
    found = [getattr(each, "port", None) or each[0] for each in inband]
    return {"life.inband": found, "life.actions": [*getattr(life, "actions", ())]}


def openers_refused(ports: object) -> Iterator[str]:
    """Yield which ports have no name, or nothing that opens them."""
    for name, opener in cast("Mapping[str, object]", ports).items() if isinstance(ports, Mapping) else ():
        if not fits(name, str):
            yield f"ports has the name {show(name)}; a text is needed"
        if why := _no_opener(opener):
            yield f"ports[{name!r}] is {brief(opener)}{why}"


def _no_opener(opener: object) -> str:
    """Return why something opens no port; "" if it may."""
    wanted = "an adapter is needed, such as tcp('127.0.0.1:7000')"
    if not callable(opener) or (isinstance(opener, type) and not hasattr(opener, "__aenter__")):
        return f"{', a class' * isinstance(opener, type)}; {wanted}"
    if isasyncgenfunction(opener) or iscoroutinefunction(opener) or isgeneratorfunction(opener):
        how = "write @asynccontextmanager above an `async def` that yields a line, or use an adapter"
        return f"; {how}{definition(opener)}"
    why = unfit(opener)
    return f", which takes arguments: write {brief(opener)}(…); {why}" if why else ""


def _unknown(names: object, known: Mapping[str, object]) -> Iterator[tuple[object, str]]:
    """Yield the names that are unknown, each with those that there are."""
    for each in cast("Sequence[object]", names) if isinstance(names, tuple | list) else ():
        if each not in known:
            yield each, choose(str(each), known, "there are")


def system_refused(system: object) -> Iterator[str]:
    """Yield why a system cannot be created anew for each path."""
    if not callable(system):
        yield f"{brief(system)} cannot be called; give a function that makes the system: lambda: Machine().step"
    elif why := unfit(system):
        # the commonest mistake: the system itself, which takes an input
        message = f"{brief(system)} takes arguments, so it is no function that makes the system for each path"
        yield f"{message}; if it is the system, write lambda: {getattr(system, '__name__', 'machine')}; {why}"


_PARTS: Final[Mapping[str, Callable[[object], Iterator[str]]]] = {
    "spec": spec_refused,
    "codec": codec_refused,
    "ports": openers_refused,
    "system": system_refused,
    "known_issues": issues_refused,
}
"""The parts of a bench, with what yields their mistakes."""
