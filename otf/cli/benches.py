"""Load a bench by its name, and set its parameters."""

from __future__ import annotations

import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn, cast, get_type_hints

import msgspec

from otf.adapter import Bench
from otf.adapter.bench_options import settable
from otf.cli.catalogue import BENCHES, TIMES, installed, sources
from otf.cli.sut_addresses import SUFFIX, Description, addressed, description
from otf.cli.user_code import PREFIX, from_file, imported, located, near_file
from otf.errors import OtfError, UsageError, choose, near, refuse
from otf.spec import Spec
from otf.values import classes
from otf.values.raised import definition

SHIPPED: Final = "otf.models"
LONGEST: Final = 86_400.0  # seconds; a longer quiescence time is a typo
MODEL_FILES: Final = (".aut", ".dot", ".gv")  # of other tools: `otf run mealy.dot --sut exec:./server`
PYMODEL: Final = "pymodel:"  # before the names of PyModel's modules
_FORMS: Final = (
    "`otf list` shows the shipped ones; name others as package.module[:name], path/to/file.py[:name], "
    "path/to/file.toml, or a model in a file .dot, .gv or .aut; modules of PyModel as pymodel:MODEL[,MODEL][@STEPPER]"
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def load(reference: str, sets: Mapping[str, object] | None = None) -> Bench:
    """Return the bench of that name with these parameters. Raises UsageError that lists the options."""
    if reference.endswith(SUFFIX):
        return _described(Path(reference), sets or {})
    module, name = _module(reference)
    made = getattr(module, name, None)
    if isinstance(made, Bench):
        bench, own = made, dict[str, object]()
    elif callable(made):
        bench, own = _made(made, reference, module, sets or {})
    else:
        raise UsageError(_unknown_name(module, name, reference))
    times = {key: value for key, value in (sets or {}).items() if key not in own}
    bench = _timed(bench, reference, times, own)
    name = bench.name or module.__name__.rpartition(".")[2].removeprefix(PREFIX)
    return replace(bench, name=name, parameters={**own, **times})


def named(reference: str) -> object:
    """Return the object with that name, whether or not it is a bench; None if there is none."""
    if reference.endswith(SUFFIX):
        return named(_beside(Path(reference), description(Path(reference))))
    module, name = _module(reference)
    return getattr(module, name, None)


def placed(option: str, place: str) -> object:
    """Return what an option names as file.py:NAME or package.module:NAME. Raises UsageError that names the option."""
    if ":" not in place.strip(":") and not place.endswith(".py"):
        raise UsageError(f"{option} {place}: write file.py:NAME or package.module:NAME")
    try:
        module, name = _module(place)
    except OtfError as error:
        raise type(error)(f"{option} {place}: {error}") from error
    if name not in vars(module):
        own = [each for each in vars(module) if not each.startswith("_")]
        raise UsageError(f"{option} {place}: there is nothing of that name; {choose(name, own, 'there are')}")
    return getattr(module, name)


def parameters(reference: str, sets: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return the parameters of a bench, from `sets` or their defaults; those without a default must be set."""
    sets = sets or {}
    if reference.endswith(SUFFIX):
        found = description(Path(reference))
        return parameters(_beside(Path(reference), found), {**found.sets, **sets})
    module, name = _module(reference)
    made = getattr(module, name, None)
    if isinstance(made, Bench) or not callable(made):
        return {}
    known, given = _given(made, reference, module, sets)
    return {**{key: each.default for key, each in known.items()}, **given}


def is_shipped(name: str) -> bool:
    """Return whether a bench of that name is shipped, without importing the others."""
    if not name.isidentifier() or importlib.util.find_spec(f"{SHIPPED}.{name}") is None:
        return False
    return hasattr(importlib.import_module(f"{SHIPPED}.{name}"), "bench")


def parsed(sets: Sequence[str] | None, quiescence: float | None = None) -> dict[str, object]:
    """Return the parameters of `--set KEY=VALUE …`, plus the time of `--quiescence`."""
    pairs: dict[str, object] = {}
    for text in sets or ():
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: write it as KEY=VALUE")
        pairs[key] = value
    return pairs if quiescence is None else {**pairs, "quiescence": quiescence}


def _described(path: Path, sets: Mapping[str, object]) -> Bench:
    found = description(path)
    try:
        # the command line takes precedence over the file
        bench = load(_beside(path, found), {**found.sets, **sets})
        bench = addressed(bench, [f"{port}={url}" for port, url in found.ports.items()], "ports: ")
    except OtfError as error:
        raise type(error)(f"{path}: {error}") from error
    return bench if found.retries is None else replace(bench, retries=found.retries)


def _beside(path: Path, found: Description) -> str:
    """Return the bench that a description names; the path of a file is relative to the description."""
    where, _ = _parts(found.bench)
    return str(path.parent / found.bench) if where.endswith((".py", *MODEL_FILES)) else found.bench


def about(reference: str) -> str:
    """Return the first line of the documentation of a bench's module."""
    return (_module(reference)[0].__doc__ or "").strip().split("\n", 1)[0]


def _module(reference: str) -> tuple[ModuleType, str]:
    if reference.startswith(PYMODEL):
        from otf.compat.pymodel import as_module

        return as_module(reference), "bench"
    where, name = _parts(reference)
    if where.endswith(MODEL_FILES):
        return _model_module(Path(where)), name
    if where.endswith(".py") or "/" in where:
        return from_file(Path(where)), name
    if where in {info.name for info in pkgutil.iter_modules(importlib.import_module(SHIPPED).__path__)}:
        return imported(f"{SHIPPED}.{where}", reference), name
    if where.isidentifier() and (point := installed(BENCHES).get(where)) is not None:
        return imported(point.module, reference), name if ":" in reference else point.attr or name
    if not where.endswith(".py") and "/" not in where and where.partition(".")[0] in sys.stdlib_module_names:
        raise UsageError(f"{reference}: this is part of Python, not a bench; {_FORMS}")
    # a single word may be a misspelt shipped bench, for which an ImportError would be a poor message
    if ("." in where or ":" in reference) and all(map(_NAME.fullmatch, where.split("."))):
        return imported(where, reference), name
    raise UsageError(_unknown(where))


def _model_module(path: Path) -> ModuleType:
    """Return a module with a bench of the model; its labels are the texts of lines. Raises UsageError."""
    from otf.codec import lines
    from otf.notations import read_aut, read_dot

    def nowhere() -> NoReturn:
        raise UsageError(f"{path} is a model, and says nothing of a system: add --sut exec:COMMAND, or another address")

    try:
        read = read_aut if path.suffix == ".aut" else read_dot
        spec = read(path.read_text(encoding="utf-8"), path.name)
    except OSError as error:
        hint = near_file(path, "; name a file with a model, .dot, .gv or .aut")
        raise UsageError(f"{path}: {error.strerror}{hint}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}") from error
    module = ModuleType(path.stem)
    vars(module)["bench"] = Bench.on_ports(spec, lines({str: "{}"}), {"line": nowhere}, name=path.stem)
    return module


def _parts(reference: str) -> tuple[str, str]:
    where, colon, name = reference.rpartition(":")
    return (where, name) if colon and _NAME.fullmatch(name) else (reference, "bench")


def _unknown(where: str) -> str:
    # a file of this exact name is certain; a similar name is a guess
    file = f"{where}.py"
    benches = [*sources(), *installed(BENCHES)]
    hint = near(where, benches) if not where or not Path(file).is_file() else f"did you mean {file}?"
    if where and Path(where).is_dir():
        hint = "it is a folder, which `otf run --resume`, `report`, `replay` and `compare` take if it holds a campaign;"
    return " ".join(filter(None, (f"there is no bench {where!r};", hint, _FORMS)))


def _unknown_name(module: ModuleType, name: str, reference: str) -> str:
    benches = [key for key, value in vars(module).items() if isinstance(value, Bench) or _makes_bench(value, module)]
    possible = [key for key, value in vars(module).items() if not isinstance(value, type | ModuleType)]
    file, close = _parts(reference)[0], get_close_matches(name, possible, n=1)
    if (found := vars(module).get(name)) is not None:
        what = f"there is no bench {name!r} in it, but a {type(found).__name__}, which names no system to drive"
        return f"{reference}: {what}; make a bench with Bench.on_ports or Bench.in_process"
    if close and name != "bench":
        return f"{reference}: there is no bench {name!r} in it; did you mean {file}:{close[0]}?"
    forms = " or ".join(f"{file}:{key}" for key in dict.fromkeys([*close, *benches]) or ["NAME"])
    return f"{reference}: there is no bench {name!r} in it; call yours that, or name it: {forms}"


def _makes_bench(value: object, module: ModuleType) -> bool:
    """Return whether a function of the module says that it returns a bench."""
    own = inspect.isfunction(value) and value.__module__ == module.__name__
    return own and value.__annotations__.get("return") in {Bench, "Bench", "otf.Bench", "adapter.Bench"}


def _signature(make: Callable[..., Any], reference: str, module: ModuleType) -> dict[str, inspect.Parameter]:
    with located(reference, _file(module)):
        found = classes.parameters(make)
    return {name: each for name, each in found.items() if each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}}


def _file(module: ModuleType) -> Path | None:
    return Path(module.__file__) if module.__file__ else None


def _made(
    make: Callable[..., Any], reference: str, module: ModuleType, sets: Mapping[str, object]
) -> tuple[Bench, dict[str, object]]:
    known, given = _given(make, reference, module, sets)
    missing = [key for key, each in known.items() if each.default is each.empty and key not in given]
    if missing:
        message = f"{reference}: the parameter {missing[0]} has no default: set it with --set {missing[0]}=…"
        raise UsageError(f"{message}{definition(make)}")
    with located(reference, _file(module)), _hinted(make, given):
        bench = make(**given)
    if not isinstance(bench, Bench):
        found = "None, not a Bench; is a `return` missing?" if bench is None else f"{type(bench).__name__}, not a Bench"
        raise UsageError(f"{reference}: {getattr(make, '__name__', 'it')}() returned {found}{definition(make)}")
    return bench, {**{key: each.default for key, each in known.items()}, **given}


@contextmanager
def _hinted(make: object, given: Mapping[str, object]) -> Generator[None]:
    """Name the value that was probably meant, of those that a trace may choose, if the bench rejects one."""
    try:
        yield
    except UsageError as error:
        known = {
            key: [*map(str, cast("Iterable[object]", values))]
            for key, values in settable(make).items()
            if isinstance(values, Iterable)
        }
        hints = [near(value, known[key]) for key, value in given.items() if isinstance(value, str) and key in known]
        if "did you mean" in str(error) or not any(hints):
            raise
        raise UsageError(f"{error}; {next(filter(None, hints))}") from error


def _given(
    make: Callable[..., Any], reference: str, module: ModuleType, sets: Mapping[str, object]
) -> tuple[dict[str, inspect.Parameter], dict[str, object]]:
    """Return the parameters of a function, and the values of those that `sets` contains."""
    known = _signature(make, reference, module)
    with located(reference, _file(module)):
        hints = get_type_hints(make)
    types = {key: hints.get(key, _kind(each)) for key, each in known.items()}
    own = {key: value for key, value in sets.items() if key in known}
    return known, _each(own, lambda key, value: _converted(reference, key, value, types[key]))


def _each(values: Mapping[str, object], convert: Callable[[str, object], object]) -> dict[str, Any]:
    """Return the values, converted. Raises UsageError that tells all that cannot be."""
    found, mistakes = dict[str, Any](), list[str]()
    for key, value in values.items():
        try:
            found[key] = convert(key, value)
        except UsageError as error:
            mistakes.append(str(error))
    refuse("", mistakes)
    return found


def _kind(parameter: inspect.Parameter) -> Any:  # noqa: ANN401 -- a type
    """Return the type of a parameter without an annotation, taken from its default."""
    default: object = parameter.default
    return type(default) if isinstance(default, bool | int | float) else str


def _timed(bench: Bench, reference: str, times: Mapping[str, object], own: Mapping[str, object]) -> Bench:
    def seconds(key: str, value: object) -> float:
        if key not in TIMES:
            hint = choose(key, [*own, *TIMES], "the parameters are")
            raise UsageError(f"--set {key}: {reference} has no such parameter; {hint}")
        found: float = _converted(reference, key, value, float)
        if not 0 <= found <= LONGEST:
            # a number comes from --quiescence
            option = f"--{key} {value:g}" if isinstance(value, float) else f"--set {key}={value}"
            raise UsageError(f"{option}: a time is a number of seconds, from 0 to {LONGEST:g} (a day)")
        return found

    return replace(bench, **{TIMES[key]: value for key, value in _each(times, seconds).items()})


def _converted(reference: str, key: str, value: object, kind: Any) -> Any:  # noqa: ANN401 -- an annotation and its value
    try:
        return msgspec.convert(value, kind, strict=False, dec_hook=lambda maker, text: maker(text))
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise UsageError(f"{reference}: the parameter {key}={value} does not fit: {_plainly(str(error))}") from error


def _plainly(why: str) -> str:
    """Translate an error of msgspec into the words of the command line."""
    found = re.fullmatch(r"Expected `(.*)`, got `str`", why)
    words = {"bool": "true or false", "int": "a whole number", "float": "a number"}
    return f"it must be {words.get(found[1], found[1])}" if found else why


def model(reference: str, sets: Mapping[str, object]) -> Spec[Any, Any]:
    """Return the spec of a bench, or of a file from another tool."""
    return modelled(reference, sets)[0]


def modelled(reference: str, sets: Mapping[str, object]) -> tuple[Spec[Any, Any], dict[str, object]]:
    """Return the spec of a bench with the bench's parameters; a file or a bare model has none."""
    found = named(reference)
    if isinstance(found, Spec):
        return found, {}  # pyright: ignore[reportUnknownVariableType] -- a spec of any state and input
    bench = load(reference, sets)
    return bench.spec, dict(bench.parameters)
