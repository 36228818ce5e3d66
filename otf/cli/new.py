"""`otf new`: a bench to start from."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final

import typer

from otf.cli.ending import guarded, say
from otf.cli.templates import KINDS, bench_text
from otf.errors import PASS, UsageError

NAME: Final = re.compile(r"[A-Za-z_]\w*")
EXAMPLES = """\b
Examples:
  otf new lamp                 a bench in lamp.py, for a system behind TCP
  otf new lamp --kind serial   the same for a serial port
"""


@guarded
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the system; the file is NAME.py.")],
    kind: Annotated[str, typer.Option(metavar="KIND", help=f"How it is reached: {', '.join(KINDS)}.")] = "tcp",
) -> int:
    """Write a commented bench for a system of your own; it runs at once, against a simulated one inside the file."""
    name = name.removesuffix(".py")
    if not NAME.fullmatch(name):
        message = f"{name}: a file of Python has a name of letters, digits and underscores: otf new my_system"
        raise UsageError(message)
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        message = f"--kind {kind}: {hint}there are {', '.join(KINDS)}"
        raise UsageError(message)
    file = Path(f"{name}.py")
    _write(file, bench_text(kind, name, file.name))
    say(f"{file}: a bench for a lamp, {KINDS[kind].says}")
    say(f"  run it:            otf run {file}")
    say(f"  see it fail:       otf run {file} --set broken=true")
    say(f"  walk through it:   otf step {file}")
    return PASS


def _write(file: Path, content: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as created:
            created.write(content)
    except FileExistsError as error:
        message = f"{file}: there is such a file already, and it stays as it is; choose another name"
        raise UsageError(message) from error
    except OSError as error:
        message = f"{file}: it cannot be written ({error.strerror})"
        raise UsageError(message) from error
