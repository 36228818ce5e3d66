"""The shape of a command: how it ends, the options that several share, and the groups in which help shows them.

`otf completion`: the script with which a shell completes commands, options and benches.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, ParamSpec, get_type_hints

import typer
from typer.core import TyperCommand

from otf.cli.option_values import SILENCES, among, benches, script, settings
from otf.cli.output import DEBUG, document, error_document, report_error, say
from otf.cli.signals import SIGNALS
from otf.errors import PASS, USERS_OWN, OtfError, UsageError

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


def option(metavar: str, says: str, *names: str, group: str | None = None, **more: Any) -> Any:  # noqa: ANN401 -- typer's own
    """Return an option: what its value is called, what it does, its names if the parameter has another, its group."""
    return typer.Option(*names, metavar=metavar, help=says, rich_help_panel=group, **more)


def flag(names: str, says: str, group: str | None = None, **more: Any) -> Any:  # noqa: ANN401 -- as above
    """Return an option without a value: its names, what it does, its group."""
    return typer.Option(names, help=says, rich_help_panel=group, **more)


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


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Return the command as typer calls it: it ends with the status that it returns, or with that of its error.

    An error is one message on standard error; with `--json` it is also the document on standard output. Each command
    gets the option `--debug`. A parameter that is a dataclass, such as `SystemOptions`, stands for all its options.
    """
    own = inspect.signature(command, eval_str=True).parameters.values()
    several: dict[str, Any] = {each.name: each.annotation for each in own if is_dataclass(each.annotation)}

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        DEBUG.set(bool(kwargs.pop("debug", False)))
        for name, kind in several.items():
            kwargs[name] = kind(**{each.name: kwargs.pop(each.name) for each in _options_of(kind)})
        try:
            status = command(*args, **kwargs)
        except OtfError as error:
            _fail(error, as_json=bool(kwargs.get("as_json")))
        except KeyboardInterrupt as error:
            # where our handlers are, Ctrl-C raises none: this is one of the bench
            if not SIGNALS.installed:
                raise
            _fail(_exited(error), as_json=bool(kwargs.get("as_json")))
        except (Exception, *USERS_OWN):
            raise
        except BaseException as error:  # noqa: BLE001 -- a model that exits must not end the command as if it had passed
            _fail(_exited(error), as_json=bool(kwargs.get("as_json")))
        raise typer.Exit(status)

    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    shown = [option for each in own for option in (_options_of(each.annotation) if each.name in several else [each])]
    run.__annotations__["return"] = "None"
    run.__dict__["__signature__"] = inspect.Signature([*shown, debug])
    return run


def _options_of(kind: Any) -> list[inspect.Parameter]:  # noqa: ANN401 -- a dataclass
    """Return the fields of a dataclass that are options of typer, as parameters."""
    types = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=each.default if each.default_factory is MISSING else each.default_factory(),
            annotation=types[each.name],
        )
        for each in fields(kind)
        if hasattr(types[each.name], "__metadata__")
    ]


def _exited(error: BaseException) -> OtfError:
    from otf.adapter.third_party import blamed  # brings the event loop along

    found = blamed(error)
    found.__cause__ = error
    return found


def _fail(error: OtfError, *, as_json: bool) -> NoReturn:
    """Report an error and end with its exit status."""
    report_error(error)
    if as_json:
        document(error_document(str(error)))
    raise typer.Exit(error.exit_status)


Debug = Annotated[bool, flag("--debug", "Show the whole traceback of an error.", envvar="OTF_DEBUG", show_envvar=True)]


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
BENCH: Final = typer.Argument(
    metavar="BENCH",
    help="A shipped bench, package.module[:name], path/to/file.py[:name], or a TOML file.",
    autocompletion=benches,
    show_default=False,
)
BenchName = Annotated[str, BENCH]
MaybeBench = Annotated[str | None, BENCH]
StateLimit = Annotated[int, option("NUMBER", "At most this many states.")]
Depth = Annotated[int | None, option("NUMBER", "At most this many steps away from the start.")]
TraceName = Annotated[str, typer.Argument(metavar="TRACE", help="A trace file of `otf run`; - reads standard input.")]
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
        "NUMBER", "How many copies of the system run at the same time, each on a path.", "--jobs", group=WHERE, min=1
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemOptions:
    """What each command takes that drives a system: its parameters and addresses, its silence, its processes."""

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
        """Return the parameters of the bench, with the time of --quiescence. Raises UsageError."""
        from otf.cli.benches import parsed

        return parsed(self.sets, self.quiescence)

    @property
    def unrecorded(self) -> str:
        """Return the options that no trace records: where the system is, and how its silence is known.

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
        """Return a bench at the addresses of these options, watched as they say. Raises UsageError."""
        from otf.cli.sut_addresses import addressed

        return self.watched(addressed(bench, self.sut))

    def watched(self, bench: Bench) -> Bench:
        """Return a bench with the kind of silence of these options, and with their processes. Raises UsageError."""
        from otf.cli.run_options import watched

        return watched(bench, self.silence, self.pids)
