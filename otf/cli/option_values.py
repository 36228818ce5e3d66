"""The words that options take, and the values with which a shell completes them.

A page of help and a press of Tab must not wait for the engine, so the words are listed here a second time; a test
compares them with the engine's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

from otf.cli.catalogue import TIMES, listed, sources

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
    """Return a function that completes one of these words.

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
    # an option without its value ends the parsing: the words before it are left over
    return next((str(each) for each in (ctx.params.get("bench"), *ctx.args) if each), "")


def prepare() -> None:
    """Register typer's completion formats, if a shell asks for completions."""
    if VARIABLE not in os.environ:
        return
    if os.environ[VARIABLE] == "complete_bash":
        words = joined(os.environ["COMP_WORDS"].replace("\n", " ").split(" "), int(os.environ["COMP_CWORD"]))
        os.environ["COMP_WORDS"], os.environ["COMP_CWORD"] = "\n".join(words), str(len(words) - 1)
    _typers().completion_init()


def script(shell: str) -> str:
    """Return the script that completes words in a shell."""
    found: str = _typers().get_completion_script(prog_name="otf", complete_var=VARIABLE, shell=shell)
    return found.replace("    return 0", f"{AFTER_EQUALS}\n    return 0") if shell == "bash" else found


def _typers() -> Any:  # noqa: ANN401 -- the module hides its exports from type checkers
    from typer import completion

    return completion


def joined(words: Sequence[str], current: int) -> list[str]:
    """Return the words of a line up to the current one, with `KEY = VALUE` as one word: bash ends words at `=`.

    >>> joined(["otf", "run", "coffee", "--set", "fault", "=", "O"], 6)
    ['otf', 'run', 'coffee', '--set', 'fault=O']
    """
    found: list[str] = []
    for word in [*words, ""][: current + 1]:
        if found and (word == "=" or found[-1].endswith("=")):
            found[-1] += word
        else:
            found.append(word)
    return found
