"""The shipped benches, as their sources have them: to import them all takes half a second, and a list runs nothing.

A test compares what is read here with the benches themselves. Other packages add benches (`otf.benches`) and commands
(`otf.commands`) by their entry points. To ask for these takes 50 ms: it is done for lists, and for names of no own one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from otf.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BENCH: Final = "\ndef bench("
TIMES: Final = {"quiescence": "quiescence", "L": "latency", "R": "busy"}
"""The parameters that every bench has: times in seconds, each with the name of its field."""


class ListedBench(NamedTuple):
    """A bench in the list: the first line of its documentation, its parameters with their defaults, its faults."""

    says: str
    parameters: dict[str, object]
    faults: tuple[str, ...] = ()


@cache
def sources() -> dict[str, Path]:
    """Return the file of each shipped bench, by its name."""
    import otf.models

    folders = [Path(each) for each in otf.models.__path__]
    files = [file for folder in folders for pattern in ("*.py", "*/bench.py") for file in folder.glob(pattern)]
    named = {file.parent.name if file.name == "bench.py" else file.stem: file for file in files}
    return {name: named[name] for name in sorted(named) if BENCH in named[name].read_text("utf-8")}


def listed(file: Path) -> ListedBench:
    """Return what the file of a bench says: defaults that are literals, and its times."""
    text = file.read_text("utf-8")
    about = file.with_name("__init__.py").read_text("utf-8") if file.name == "bench.py" else text
    times = {name: float(_only(rf"\b{field}=([\d.]+)", text)) for name, field in TIMES.items()}
    return ListedBench(_only(r'\A"""(.*?)(?:"""|\n)', about), {**_defaults(text), **times}, _faults(file))


def _faults(file: Path) -> tuple[str, ...]:
    """Return the values of `fault=`, wherever in the folder of a bench its table is."""
    for each in file.parent.glob("*.py") if file.name == "bench.py" else [file]:
        if table := re.search(r"\n(?:MUTANTS|FAULTS)\b[^=\n]*= (\{.*?\})\n", each.read_text("utf-8"), re.DOTALL):
            return tuple(ast.literal_eval(table[1]))
    return ()


def _defaults(text: str) -> dict[str, object]:
    begin = text.index(BENCH)
    end = text.find("\n\n\n", begin)
    function = ast.parse(text[begin : end if end > 0 else None]).body[0]
    assert isinstance(function, ast.FunctionDef)  # noqa: S101 -- as the texts of the shipped benches are
    return {
        each.arg: _literal(default, text)
        for each, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if default is not None
    }


def _literal(default: ast.expr, text: str) -> object:
    if isinstance(default, ast.Name):
        default = ast.parse(_only(rf"\n{default.id}(?:: Final)? = (.*)", text), mode="eval").body
    return ast.literal_eval(default)


def _only(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, pattern  # noqa: S101 -- as above
    return found[1]


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
