"""What help, lists and the Tab key know without the engine: the shipped benches, and the words that options take.

Importing all benches takes half a second, and a list runs nothing, so this module reads their sources. It also repeats
words that the engine defines; a test compares both with the benches and the engine. Other packages add benches
(`otf.benches`) and commands (`otf.commands`) by entry points. Looking these up takes 50 ms, so it happens only for
lists and for names that otf lacks.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from otf.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BENCH: Final = "\ndef bench("
TIMES: Final = {"quiescence": "quiescence", "L": "latency", "R": "busy"}
"""The parameters that every bench has: times in seconds, each with the name of its field."""


class ListedBench(NamedTuple):
    """A bench in the list: the first line of its documentation, its parameters and their defaults, its faults."""

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
    """Return what a bench's file says: its times, and defaults that are literals."""
    text = file.read_text("utf-8")
    about = file.with_name("__init__.py").read_text("utf-8") if file.name == "bench.py" else text
    times = {name: float(_only(rf"\b{field}=([\d.]+)", text)) for name, field in TIMES.items()}
    return ListedBench(_only(r'\A"""(.*?)(?:"""|\n)', about), {**_defaults(text), **times}, _faults(file))


def _faults(file: Path) -> tuple[str, ...]:
    """Return the values of `fault=`, from whichever file of a bench's folder has the table."""
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
    """Return the function of a command. Raises UsageError, naming the package, if it cannot be loaded."""
    try:
        found: object = point.load()
    except Exception as error:
        raise UsageError(f"{_of(point)} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise UsageError(f"{_of(point)} is not a function: {point.value}")
    return found


def _of(point: EntryPoint) -> str:
    package = f" of the package {point.dist.name}" if point.dist is not None else ""
    return f"otf {point.name}: this command{package}"


# ---- the words that options take, and their completion -------------------------------------------------------------

METHODS: Final = ("a2", "a3", "a4", "tour", "uio", "ds", "ads", "w", "wp", "hsi", "h", "spy", "chain")
ADAPTIVE: Final = ("state-counting", "adaptive-cover")
GENERAL: Final = ("deterministic", "output-deterministic", "total", "input-enabled", "minimal")
LIVE: Final = "no dead end"
REQUIRED: Final = (LIVE, "no lost timer", "no unknown timer")
LAWS: Final = (*GENERAL, *REQUIRED)
FORMATS: Final = ("text", "json", "dot", "svg", "png", "mermaid", "graphml", "aut")
MODES: Final = ("strict", "eager")
KEPT: Final = ("all", "failures")
SILENCES: Final = ("observed", "timed")
InputChoice = Literal["uioco", "any", "all", "mixed"]

RUNS: Final = 20  # of each adaptive test
TRANSITIONS: Final = 20_000  # the bounds of shrinking one failure
RESETS: Final = 5_000
SECONDS: Final = 600.0
MIB: Final = 1024  # of a trace

VARIABLE: Final = "_OTF_COMPLETE"  # set by a shell that asks for completions
AFTER_EQUALS: Final = """\
    # bash ends a word at an equals sign: what is before it must not be inserted again
    [[ "${COMP_WORDS[*]:COMP_CWORD-1:2}" == *=* ]] && COMPREPLY=("${COMPREPLY[@]#*=}")"""


def among(*words: str) -> Callable[[str], list[str]]:
    """Return a function that completes a word from this list.

    >>> among("tea", "milk")("t")
    ['tea']
    """
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def benches(incomplete: str) -> list[str]:
    """Return the shipped benches that start with `incomplete`; the shell itself completes files."""
    return [name for name in sources() if name.startswith(incomplete)]


def faults(ctx: Any, incomplete: str) -> list[str]:  # noqa: ANN401 -- typer does not export the type
    """Return the mutants of the bench on the command line."""
    file = sources().get(_named(ctx))
    return [] if file is None else [name for name in listed(file).faults if name.startswith(incomplete)]


def settings(ctx: Any, incomplete: str) -> list[str]:  # noqa: ANN401 -- as above
    """Return the parameters of the bench on the command line; after `fault=`, its mutants."""
    key, equals, value = incomplete.partition("=")
    if not equals:
        file = sources().get(_named(ctx))
        names = TIMES if file is None else listed(file).parameters
        return [f"{name}=" for name in names if name.startswith(key)]
    return [f"fault={name}" for name in faults(ctx, value)] if key == "fault" else []


def _named(ctx: Any) -> str:  # noqa: ANN401 -- as above
    # an option without its value ends the parsing: the words before it remain
    return next((str(each) for each in (ctx.params.get("bench"), *ctx.args) if each), "")


def prepare_completion() -> None:
    """Register typer's completion formats, for a shell that asks for completions."""
    if os.environ[VARIABLE] == "complete_bash":
        words = joined_words(os.environ["COMP_WORDS"].replace("\n", " ").split(" "), int(os.environ["COMP_CWORD"]))
        os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    _completion().completion_init()


def completion_script(shell: str) -> str:
    """Return the script that completes words in a shell."""
    found: str = _completion().get_completion_script(prog_name="otf", complete_var=VARIABLE, shell=shell)
    return found.replace("    return 0", f"{AFTER_EQUALS}\n    return 0") if shell == "bash" else found


def _completion() -> Any:  # noqa: ANN401 -- the module hides its exports from type checkers
    from typer import completion

    return completion


def joined_words(words: Sequence[str], current: int) -> list[str]:
    """Return the words of a line up to the current one, with `KEY = VALUE` as one word, since bash splits at `=`.

    >>> joined_words(["otf", "run", "coffee", "--set", "fault", "=", "O"], 6)
    ['otf', 'run', 'coffee', '--set', 'fault=O']
    """
    found: list[str] = []
    for word in [*words, ""][: current + 1]:
        if found and (word == "=" or found[-1].endswith("=")):
            found[-1] += word
        else:
            found.append(word)
    return found
