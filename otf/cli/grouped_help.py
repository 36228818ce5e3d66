"""Help whose options stand in groups: first those that nearly everybody needs, then each group under its name."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperCommand

WHAT: Final = "What is tested"
HOW_LONG: Final = "How long"
CHOICE: Final = "How inputs are chosen"
SILENCE: Final = "Silence and time"
WHERE: Final = "Where it runs"
KEEPING: Final = "What is kept"
FAILURES: Final = "What is done with a failure"
GROUPS: Final = (WHAT, HOW_LONG, CHOICE, SILENCE, WHERE, KEEPING, FAILURES)
"""The groups, in the order of the help: an option names its own as `rich_help_panel`."""


class GroupedHelp(TyperCommand):
    """A command whose help shows the groups as plain text: with rich the start takes four times as long."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- typer does not export the types
        """Write the arguments, the options of no group, then each group."""
        rows: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", "Options", *GROUPS)}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                ungrouped = "Arguments" if each.param_type_name == "argument" else "Options"
                rows[getattr(each, "rich_help_panel", None) or ungrouped].append(record)
        for name, found in rows.items():
            if found:
                with formatter.section(name):
                    formatter.write_dl(found)
