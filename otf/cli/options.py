"""Options that several commands share, and the groups in which help shows them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, ParamSpec

import typer
from typer.core import TyperCommand

from otf.cli.catalogue import SILENCES, among, benches, settings
from otf.errors import UsageError, choose

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.trace.reading import TraceReader

P = ParamSpec("P")

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


def argument(metavar: str, says: str, **more: Any) -> Any:  # noqa: ANN401 -- typer's own
    """Return an argument: its name in the help, and what it is."""
    return typer.Argument(metavar=metavar, help=says, **more)


def option(metavar: str, says: str, *names: str, group: str | None = None, **more: Any) -> Any:  # noqa: ANN401 -- typer's own
    """Return an option: the name of its value, what it does, its names if not the parameter's, and its group."""
    return typer.Option(*names, metavar=metavar, help=says, rich_help_panel=group, **more)


def flag(names: str, says: str, group: str | None = None, **more: Any) -> Any:  # noqa: ANN401 -- as above
    """Return an option without a value: its names, what it does, and its group."""
    return typer.Option(names, help=says, rich_help_panel=group, **more)


class GroupedHelp(TyperCommand):
    """A command whose help shows the groups as plain text: rich makes the start take four times as long.

    `-h` only lists the options of the groups; `--help` explains them.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- typer does not export the types
        """Note which help the user asked for, and in an error which command it is about."""
        ctx.meta[SHORT] = "-h" in args
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            vars(error).update(ctx=ctx)
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- typer does not export the types
        """Write the arguments, the options without a group, then each group."""
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


def one_of(name: str, value: str, known: Sequence[str]) -> Any:  # noqa: ANN401 -- a different literal type each time
    """Return the value of an option. Raises UsageError if it is not a known one."""
    if value not in known:
        raise UsageError(f"{name} {value}: {choose(value, known)}")
    return value


SET: Final = option(
    "KEY=VALUE",
    "A parameter of the bench (`otf list` shows them), or quiescence, L or R in seconds; repeatable.",
    "--set",
    autocompletion=settings,
)
SUT: Final = option(
    "PORT=URL",
    "The address of the system: /dev/ttyUSB0, tcp://HOST:PORT, udp://HOST:PORT, exec:COMMAND, …; a URL alone "
    "if the bench has one port; repeatable.",
    "--sut",
)
Sets = Annotated[list[str] | None, SET]
Suts = Annotated[list[str] | None, SUT]
AsJson = Annotated[bool, flag("--json", "Print one JSON document and nothing else.")]
Out = Annotated[Path | None, option("DIR", "The folder for traces; default: a new one in otf-runs.", "--out")]
BENCH: Final = argument(
    "BENCH",
    "A shipped bench, package.module[:name], path/to/file.py[:name], or a TOML file.",
    autocompletion=benches,
    show_default=False,
)
BenchName = Annotated[str, BENCH]
MaybeBench = Annotated[str | None, BENCH]
StateLimit = Annotated[int, option("NUMBER", "At most this many states.", min=1)]
Depth = Annotated[int | None, option("NUMBER", "At most this many steps away from the start.", min=0)]
TraceName = Annotated[str, argument("TRACE", "A trace file of `otf run`; - reads standard input.")]
WholeValues = Annotated[
    bool, flag("--whole", "Show whole values and states: no field is left out, and nothing is cut.")
]
FromBench = Annotated[
    str | None,
    option("BENCH", "The bench of the trace, if it is not a shipped one.", "--bench", autocompletion=benches),
]
Jobs = Annotated[
    int,
    option(
        "NUMBER",
        "How many paths are driven at the same time, each on its own copy of the system; 1: one after the other.",
        "--jobs",
        group=WHERE,
        min=1,
    ),
]


_NUMBER: Final = 20  # bytes of a file that holds a process id


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemOptions:
    """The options of every command that drives a system: its parameters and addresses, its silence, its processes."""

    sets: Annotated[list[str], SET] = field(default_factory=list[str])
    sut: Annotated[list[str], SUT] = field(default_factory=list[str])
    pids: Annotated[
        list[str],
        option(
            "NUMBER|FILE",
            "A process that belongs to the system, though the bench does not start it: its number, or a file with "
            "that; repeatable.",
            "--pid",
            group=WHAT,
        ),
    ] = field(default_factory=list[str])
    quiescence: Annotated[
        float | None,
        option(
            "SECONDS",
            "How long no output must come until the system counts as quiescent; default: the bench's.",
            group=SILENCE,
        ),
    ] = None
    silence: Annotated[
        str | None,
        option(
            "|".join(SILENCES),
            "observed: silence is certain once all processes of the system sleep, if they can be seen; timed: "
            "after the quiescence time. The bench has a default.",
            group=SILENCE,
            autocompletion=among(*SILENCES),
        ),
    ] = None

    @property
    def parameters(self) -> dict[str, object]:
        """Return the parameters of the bench, including the time of --quiescence. Raises UsageError."""
        from otf.cli.benches import parsed

        return parsed(self.sets, self.quiescence)

    @property
    def unrecorded(self) -> str:
        """Return the options that no trace records: where the system is, and how otf detects its silence.

        >>> SystemOptions(sut=["line=/dev/ttyUSB0"]).unrecorded
        ' --sut line=/dev/ttyUSB0'
        """
        pairs = [("--sut", each) for each in self.sut] + [("--pid", each) for each in self.pids]
        pairs += [] if self.silence is None else [("--silence", self.silence)]
        return "".join(f" {option} {shlex.quote(value)}" for option, value in pairs)

    def load(self, reference: str, **more: object) -> Bench:
        """Return the bench of that name with these options. Raises UsageError."""
        from otf.cli.benches import load

        return self.of(load(reference, {**self.parameters, **more}))

    def load_as_recorded(self, reader: TraceReader, reference: str | None) -> Bench:
        """Return the bench of a trace with these options, to drive its system again. Raises UsageError."""
        from otf.cli.traces import bench_of

        return self.of(bench_of(reader, reference, self.parameters, drives=True))

    def of(self, bench: Bench) -> Bench:
        """Return the bench at the addresses of these options, with their silence and processes. Raises UsageError."""
        from otf.cli.sut_addresses import addressed

        return self.watched(addressed(bench, self.sut))

    def watched(self, bench: Bench) -> Bench:
        """Return the bench with the kind of silence and the processes of these options. Raises UsageError."""
        kind = bench.silence if self.silence is None else one_of("--silence", self.silence, SILENCES)
        return replace(bench, silence=kind, pids=(*bench.pids, *map(_pid, self.pids)))


def _pid(text: str) -> int:
    """Return a process id, given as a number or in a file. Raises UsageError."""
    where, found = f"--pid {text}", text
    if not text.isascii() or not text.isdigit():
        try:
            with Path(text).open("rb") as file:
                found = file.read(_NUMBER).decode("ascii", "replace").strip()
        except OSError as error:
            raise UsageError(
                f"{where}: neither a number nor a file that can be read: {error.strerror}; `ps -e` lists the processes"
            ) from error
    if not found.isascii() or not found.isdigit() or not Path(f"/proc/{int(found)}").is_dir():
        raise UsageError(f"{where}: {found!r} is not a process of this machine; `ps -e` lists them")
    return int(found)
