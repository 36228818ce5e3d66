"""Calls that the parser of the command line refuses, with the option or the value that was probably meant."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, Final

import typer

from otf.cli.output import document, error_document
from otf.errors import near

_MEANT: Final = {"--paths": "traces", "--runs": "traces"}
_WRITTEN: Final = "`otf run` writes traces to its --out folder, without that to one in otf-runs/."


def report_misuse(error: typer.TyperException, *, as_json: bool) -> int:
    """Show the usage and what is wrong; return the exit status."""
    # shows the usage of the command, with a hint if there is one; typer does not export the type with this method
    wrong: Any = error
    wrong.message = re.sub(r"is not a valid int( range)?\.", "is not a whole number, such as 10.", wrong.message)
    wrong.message = re.sub(r"is not a valid float( range)?\.", "is not a number, such as 0.5.", wrong.message)
    if hasattr(wrong, "possibilities"):
        wrong.message, wrong.possibilities = f"{wrong.message}; {_options(wrong.option_name, wrong.ctx)}", None
    if wrong.message.endswith("requires an argument.") and wrong.ctx is not None:
        taken = next(each for each in wrong.ctx.command.params if wrong.option_name in each.opts)
        wrong.message = f"{wrong.message} Write {wrong.option_name} {taken.make_metavar(wrong.ctx)}: {taken.help}"
    if wrong.message.startswith("Got unexpected extra argument"):
        wrong.message += "; leave it out, or put it in quotes with what is before it; a bench of a file is FILE:NAME"
    if not wrong.message and (lacking := getattr(wrong, "param", None)) is not None:
        wrong.message = _WRITTEN if lacking.metavar in {"TRACE", "TRACE..."} else lacking.help or ""
    shown = re.match(r"'(.*)' is not one of ", wrong.message)
    if shown and (hint := near(shown[1], re.findall(r"'(\w+)'", wrong.message[shown.end() :]))):
        wrong.message = f"{wrong.message.rstrip('.')}; {hint}"
    wrong.show()
    if as_json:
        document(error_document(error.format_message()))
    return error.exit_code


def _options(given: str, ctx: Any) -> str:  # noqa: ANN401 -- typer does not export the type
    """Return the option that was probably meant, else all of them."""
    name = str(_MEANT.get(given, given)).strip("-")  # without the hyphens, which all options have
    known = dict[str, list[str]](argument=[], option=[])
    for each in ctx.command.get_params(ctx):
        known[each.param_type_name] += [word.strip("-") for word in (*each.opts, *each.secondary_opts)]
    if name in known["argument"]:
        return f"write the {name.upper()} alone, without {given}"
    options = [each for each in known["option"] if len(each) > 1]
    close = get_close_matches(name, options, n=1) or [each for each in options if each[0] == name]
    return f"did you mean --{close[0]}?" if close else f"the options are --{', --'.join(options)}"
