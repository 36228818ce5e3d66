"""Commands that are imported when they are called: the list of them must not wait for the engine."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperGroup


class Entry(NamedTuple):
    """Where a command is, and what the list says of it."""

    module: str
    function: str
    says: str


COMMANDS: Final[Mapping[str, Entry]] = {
    "run": Entry("run", "run", "Drive the system and judge everything that comes back."),
    "replay": Entry("replay", "replay", "Judge recorded traces again, without the system."),
    "rerun": Entry("rerun", "rerun", "Drive the system again with the inputs of a trace."),
    "shrink": Entry("shrink", "shrink", "Find the shortest trace with the same failure."),
    "show": Entry("show", "show", "Show a trace as a table, with the failing step."),
    "report": Entry("report", "report", "Make a report of a campaign, for people and for CI."),
    "mutants": Entry("mutants", "mutants", "See that the tester finds every fault of a bench."),
    "explore": Entry("explore", "explore", "Show the states of a model, as a table or a picture."),
    "check": Entry("check", "check", "Find out what is true of a model."),
    "suite": Entry("suite", "suite", "Make a test suite of a model in advance, and run it."),
    "step": Entry("step", "step", "Walk through a model by hand."),
    "new": Entry("new", "new", "Write a commented bench to start from."),
    "list": Entry("listing", "listing", "List the benches and strategies that there are."),
    "completion": Entry("completion", "completion", "Print the script that completes words in a shell."),
}


class Lazy(TyperGroup):
    """The group of all commands; what it overrides is how one is found, and how the list is written."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 -- typer does not export the type
        """Return the names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 -- as above
        """Import a command and return it, None where there is none of that name."""
        del ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"otf.cli.{entry.module}")
        single = typer.Typer(rich_markup_mode=None, add_completion=False)
        single.command(cmd_name, short_help=entry.says, epilog=getattr(module, "EXAMPLES", None))(
            getattr(module, entry.function)
        )
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- as above
        """Find the command that is called; what is not known is told with what is near."""
        if not ctx.resilient_parsing and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            ctx.fail(f"No such command {args[0]!r}; {hint}there are {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- as above
        """Write the list without importing what it lists."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.says) for name, entry in COMMANDS.items()])
