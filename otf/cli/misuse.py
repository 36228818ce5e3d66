"""Calls that the parser of the command line refuses, with the option or the value that was probably meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, Final

import typer

from otf.cli.output import document, error_document
from otf.errors import near

_MEANT: Final = {"--paths": "traces", "--runs": "traces"}


def report_misuse(error: typer.TyperException, *, as_json: bool) -> int:
    """Show the usage and what is wrong; return the exit status."""
    # shows the usage of the command, with a hint if there is one; typer does not export the type with this method
    wrong: Any = error
    wrong.message = re.sub(r"is not a valid int( range)?\.", "is not a whole number, such as 10.", wrong.message)
    wrong.message = re.sub(r"is not a valid float( range)?\.", "is not a number, such as 0.5.", wrong.message)
    if found := getattr(wrong, "possibilities", None):
        # not with the hyphens, which all options have
        given = str(_MEANT.get(wrong.option_name, wrong.option_name)).strip("-")
        close = get_close_matches(given, [*_MEANT.values(), *(each.strip("-") for each in found)], n=1)
        wrong.possibilities = [f"--{each}" for each in close]
    if wrong.message.startswith("Got unexpected extra argument"):
        wrong.message += "; leave it out, or put it in quotes with what is before it; a bench of a file is FILE:NAME"
    if not wrong.message and getattr(getattr(wrong, "param", None), "metavar", "") in {"TRACE", "TRACE..."}:
        wrong.message = "`otf run` writes traces to its --out folder, without that to one in otf-runs/."
    shown = re.match(r"'(.*)' is not one of ", wrong.message)
    if shown and (hint := near(shown[1], re.findall(r"'(\w+)'", wrong.message[shown.end() :]))):
        wrong.message = f"{wrong.message.rstrip('.')}; {hint}"
    wrong.show()
    if as_json:
        document(error_document(error.format_message()))
    return error.exit_code
