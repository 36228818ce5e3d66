"""The commands under one name."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from otf.cli.ending import say
from otf.cli.lazy import Lazy

STATUS = """\b
Exit status:
  0    pass; for `mutants`: every fault was found
  1    the system does what the model does not allow; a fault was not found
  2    wrong usage, a broken model, a trace that cannot be read
  3    inconclusive: no contact with the system, or nothing could be decided
  130  ended by Ctrl-C (143: by SIGTERM, 129: the terminal has gone); 1 where a failure had been found
"""

# plain help and plain tracebacks: rich's need four times the start-up time, and errors on purpose have no traceback
app: Final = typer.Typer(
    name="otf",
    epilog=STATUS,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version as installed

        say(f"otf {installed('otf')}")
        raise typer.Exit


@app.callback(cls=Lazy)
def otf(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and exit.")
    ] = False,
) -> None:
    """Test a running system against a model of it, on the fly.

    Begin with `otf run conference`: it tests a small chat program that comes with otf. `otf COMMAND --help` explains a
    command.
    """
