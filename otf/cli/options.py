"""Options that several commands share, the groups in which help shows them, and the folder for traces without --out.

`otf completion`: the script with which a shell completes commands, options and benches.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from otf.cli.option_values import SILENCES, among, benches, script, settings
from otf.cli.output import guarded, say
from otf.errors import PASS, UsageError

WHAT: Final = "What is tested"
HOW_LONG: Final = "How long"
CHOICE: Final = "How inputs are chosen"
SILENCE: Final = "Silence and time"
WHERE: Final = "Where it runs"
KEEPING: Final = "What is kept"
FAILURES: Final = "What is done with a failure"
GROUPS: Final = (WHAT, HOW_LONG, CHOICE, SILENCE, WHERE, KEEPING, FAILURES)
"""The groups, in the order of the help: an option names its own as `rich_help_panel`."""
SHORT: Final = "otf.short_help"


class GroupedHelp(TyperCommand):
    """A command whose help shows the groups as plain text: with rich the start takes four times as long.

    `-h` only names the options of the groups; `--help` explains them.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- typer does not export the types
        """Note which help was asked for."""
        ctx.meta[SHORT] = "-h" in args
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- typer does not export the types
        """Write the arguments, the options of no group, then each group."""
        rows: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Arguments", "Options", *GROUPS)}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                ungrouped = "Arguments" if each.param_type_name == "argument" else "Options"
                rows[getattr(each, "rich_help_panel", None) or ungrouped].append(record)
        short = {name: ", ".join(use.split()[0] for use, _ in rows.pop(name)) for name in GROUPS if ctx.meta.get(SHORT)}
        rows[f"More options ({ctx.command_path} --help explains them)"] = [each for each in short.items() if each[1]]
        for name, found in rows.items():
            if found:
                with formatter.section(name):
                    formatter.write_dl(found)


SHELLS: Final = {
    "bash": 'eval "$(otf completion bash)", for instance in ~/.bashrc',
    "zsh": 'eval "$(otf completion zsh)", for instance in ~/.zshrc after compinit',
    "fish": "otf completion fish | source, for instance in ~/.config/fish/config.fish",
}
EXAMPLES = "\b\nExamples:\n" + "".join(f"  {how}\n" for how in SHELLS.values())


@guarded
def completion(shell: Annotated[str, typer.Argument(metavar="SHELL", help=f"One of {', '.join(SHELLS)}.")]) -> int:
    """Print the script that completes commands, options and benches in a shell."""
    if shell not in SHELLS:
        message = f"{shell}: there is no script for this shell; there are scripts for {', '.join(SHELLS)}"
        raise UsageError(message)
    say(script(shell))
    return PASS


SET: Final = typer.Option(
    "--set",
    metavar="KEY=VALUE",
    help="A parameter of the bench (`otf list` shows them), or quiescence, L or R in seconds; repeatable.",
    autocompletion=settings,
)
SUT: Final = typer.Option(
    "--sut",
    metavar="PORT=URL",
    help="The address of the system: /dev/ttyUSB0, tcp://HOST:PORT, udp://HOST:PORT, exec:COMMAND, …; a URL alone "
    "if the bench has one port; repeatable.",
)
PID: Final = typer.Option(
    "--pid",
    metavar="NUMBER|FILE",
    help="A process that belongs to the system, though the bench does not start it: its number, or a file with "
    "that; repeatable.",
    rich_help_panel=WHAT,
)
Sets = Annotated[list[str] | None, SET]
Suts = Annotated[list[str] | None, SUT]
Pids = Annotated[list[str] | None, PID]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for traces; default: a new one in otf-runs.")
]
BENCH: Final = typer.Argument(
    metavar="BENCH",
    help="A shipped bench, package.module[:name], path/to/file.py[:name], or a TOML file.",
    autocompletion=benches,
    show_default=False,
)
BenchName = Annotated[str, BENCH]
MaybeBench = Annotated[str | None, BENCH]
StateLimit = Annotated[int, typer.Option(metavar="NUMBER", help="At most this many states.")]
Depth = Annotated[int | None, typer.Option(metavar="NUMBER", help="At most this many steps away from the start.")]
TraceName = Annotated[str, typer.Argument(metavar="TRACE", help="A trace file of `otf run`; - reads standard input.")]
WholeValues = Annotated[
    bool, typer.Option("--whole", help="Show whole values and states: no field is left out, and nothing is cut.")
]
FromBench = Annotated[
    str | None,
    typer.Option(
        "--bench",
        metavar="BENCH",
        help="The bench of the trace, if it is not a shipped one.",
        autocompletion=benches,
    ),
]
Quiescence = Annotated[
    float | None,
    typer.Option(
        "--quiescence",
        metavar="SECONDS",
        help="How long no output must come until the system counts as quiescent; default: the bench's.",
        rich_help_panel=SILENCE,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        metavar="NUMBER",
        min=1,
        help="How many copies of the system run at the same time, each on a path.",
        rich_help_panel=WHERE,
    ),
]
SilenceOption = Annotated[
    str | None,
    typer.Option(
        "--silence",
        metavar="|".join(SILENCES),
        autocompletion=among(*SILENCES),
        help="observed: silence is certain once all processes of the system sleep, if they can be seen; timed: after "
        "the quiescence time. The bench has a default.",
        rich_help_panel=SILENCE,
    ),
]
ROOT: Final = Path("otf-runs")


def fresh(kind: str, detail: object = "") -> Path:
    """Create and return a new folder for the traces of one command: concurrent commands must not share one."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = "-".join(map(str, filter(str, (kind, moment, detail))))
    folder, number = ROOT / name, 1
    while not _made(folder):
        number += 1
        folder = ROOT / f"{name}~{number}"
    return folder


def _made(folder: Path) -> bool:
    """Create a folder; return False if it existed before."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return not folder.is_dir()
    except OSError:
        return True  # the first write there reports the error
    return True
