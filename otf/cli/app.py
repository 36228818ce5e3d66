"""All commands under one name: their list, their help, and calling one."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup

from otf.cli.asked_format import asks_json
from otf.cli.catalogue import COMMANDS as ADDED
from otf.cli.catalogue import VARIABLE, function_of, installed, prepare_completion
from otf.cli.command import guarded, worker
from otf.cli.misuse import report_misuse
from otf.cli.options import GroupedHelp, option
from otf.cli.output import (
    STDOUT_ERRORS,
    begin_stdout,
    document,
    end_stdout,
    error_document,
    report_error,
    say,
    stdout_failed,
    unread,
    warn,
)
from otf.cli.signals import SIGNALS
from otf.errors import FAIL, INCONCLUSIVE, PASS, USAGE, USERS_OWN, UsageError, choose

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Entry(NamedTuple):
    """Where a command declares its options, its line in the list, and the function that does its work."""

    options: str
    says: str
    work: str


COMMANDS: Final[Mapping[str, Entry]] = {  # in the order of use
    "run": Entry("run_arguments.RunCommand", "Drive the system and judge everything that comes back.", "run.run"),
    "new": Entry("tools.commands.NewCommand", "Write a commented bench to start from.", "tools.new.new"),
    "list": Entry("commands.ListCommand", "List the shipped benches and the strategies.", "listing.listing"),
    "show": Entry("commands.ShowCommand", "Show a trace as a table, with the failing step.", "show.show"),
    "report": Entry(
        "tools.commands.ReportCommand", "Make a report of a campaign, for people and for CI.", "tools.report.report"
    ),
    "rerun": Entry("commands.RerunCommand", "Drive the system again with the inputs of a trace.", "rerun.rerun"),
    "shrink": Entry("commands.ShrinkCommand", "Find the shortest trace with the same failure.", "shrink.shrink"),
    "replay": Entry("commands.ReplayCommand", "Judge recorded traces again, without the system.", "replay.replay"),
    "compare": Entry(
        "tools.commands.CompareCommand", "Show where two traces or two campaigns part.", "tools.compare.compare"
    ),
    "step": Entry("commands.StepCommand", "Walk through a model by hand.", "step.step"),
    "explore": Entry(
        "tools.model_commands.ExploreCommand",
        "Show the states of a model, as a table or a picture.",
        "tools.explore.explore",
    ),
    "check": Entry("tools.model_commands.CheckCommand", "Check laws of a model.", "tools.check.check"),
    "suite": Entry(
        "tools.model_commands.SuiteCommand", "Generate a test suite from a model, and run it.", "tools.suite.suite"
    ),
    "mutants": Entry(
        "tools.model_commands.MutantsCommand",
        "Check that the tester finds every mutant of a bench.",
        "tools.mutants.mutants",
    ),
    "learn": Entry("tools.commands.LearnCommand", "Learn a model from the running system.", "tools.learn.learn"),
    "completion": Entry("commands.CompletionCommand", "Print the completion script of a shell.", "listing.completion"),
}

HEADINGS: Final[Mapping[str, str]] = {
    "run": "Test a system",
    "show": "Look into a run, or repeat it",
    "step": "Work with models",
    "completion": "Other commands",
}
"""The headings in the list of commands, by the first command below each."""


_HELP: Final = ("-h", "--help")
HELP: Final = {"help_option_names": [*_HELP]}


class Lazy(TyperGroup):
    """The group of all commands. It imports a command only when called: the list must not wait for the engine."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 -- typer does not export the type
        """Return the names in the order of the table, then those from other packages."""
        del ctx
        return [*COMMANDS, *_others()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 -- as above
        """Import a command and return it; None if there is no such command."""
        if cmd_name in COMMANDS:
            entry = COMMANDS[cmd_name]
            module, _, name = entry.options.rpartition(".")
            found = getattr(import_module(f"otf.cli.{module}"), name)
            return _command(cmd_name, guarded(worker(found, f"otf.cli.{entry.work}")), found.examples)
        if cmd_name not in installed(ADDED):
            return None
        try:
            # like those of otf it returns its exit status
            return _command(cmd_name, guarded(function_of(installed(ADDED)[cmd_name])))
        except UsageError as error:
            return ctx.fail(str(error))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 -- as above
        """Find the called command; the error for an unknown one suggests a similar name."""
        known = args[0] in COMMANDS or args[0] in installed(ADDED)
        if not (ctx.resilient_parsing or args[0].startswith("-") or known):
            names = self.list_commands(ctx)
            ctx.fail(f"No such command {args[0]!r}; {choose(args[0], names, 'the commands are')}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- as above
        """Write the list without importing the commands."""
        del ctx
        rows = {name: entry.says for name, entry in COMMANDS.items()}
        rows["help"] = "Say what a command, a message or a term means."
        rows |= {name: f"{point.value}, an installed package." for name, point in _others().items()}
        wide, heading, sections = max(map(len, rows)), "", defaultdict[str, list[tuple[str, str]]](list)
        for name, says in rows.items():
            heading = HEADINGS.get(name, heading)
            sections[heading].append((f"{name:{wide}}", says))
        for heading, found in sections.items():
            with formatter.section(heading):
                formatter.write_dl(found)


def _command(name: str, function: Callable[..., Any], examples: str | None = None) -> Any:  # noqa: ANN401 -- as above
    single = typer.Typer(rich_markup_mode=None, add_completion=False)
    single.command(name, cls=GroupedHelp, epilog=examples, context_settings=HELP)(function)
    return typer.main.get_command(single)


def _others() -> Mapping[str, EntryPoint]:
    """Return the commands of other packages; none can replace one of otf's own."""
    return {name: point for name, point in installed(ADDED).items() if name not in COMMANDS}


STATUS = """\b
Exit status:
  0    pass; for `mutants`: every mutant was found, or conforms
  1    the system does what the model does not allow; a mutant was not found
  2    wrong usage, a broken model, a trace that cannot be read
  3    inconclusive: no contact with the system, or nothing could be decided
  130  ended by Ctrl-C (143: by SIGTERM, 129: the terminal has gone),
       but 1 if a failure had been found
"""

# plain help and tracebacks: rich makes the start four times as long, and intended errors have no traceback
app: Final = typer.Typer(
    name="otf",
    epilog=STATUS,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version as installed

        say(f"otf {installed('otf')}")
        raise typer.Exit


@app.callback(cls=Lazy)
def otf(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Show the version and exit.")
    ] = False,
    log: Annotated[
        str | None,
        option(
            "FILE|LEVEL",
            "Log what otf itself starts, opens, waits for, tries again and gives up: to a file, or from debug, "
            "info, warning or error on to standard error.",
        ),
    ] = None,
) -> None:
    """Test a running system against a model of it, on the fly.

    Begin with `otf run conference`: it tests a small chat program that comes with otf. `otf COMMAND --help` explains a
    command, `otf help WORDS` a message.
    """
    del version
    if log is not None:
        from otf.adapter.log import logging_to

        try:
            ctx.with_resource(logging_to(log))
        except UsageError as error:
            raise typer.BadParameter(str(error), ctx=ctx) from error


_UNWRITTEN: Final = {errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG}


def call(arguments: Sequence[str]) -> int:
    """Run a command with these arguments and return its exit status."""
    _tolerant(sys.stdin)
    _tolerant(sys.stdout)
    if arguments[:1] == ["help"]:
        if arguments[1:] and arguments[1] not in {*COMMANDS, *_HELP, *installed(ADDED)}:
            from otf.cli.messages import explain

            return explain(arguments[1:], COMMANDS)
        arguments = [*arguments[1:], "--help"]
    as_json = asks_json(arguments)
    if VARIABLE in os.environ:
        prepare_completion()
    begin_stdout()
    try:
        status: int = app(list(arguments), prog_name="otf", standalone_mode=False) or 0
    except typer.TyperException as error:
        return report_misuse(error, as_json=as_json)
    except OSError as error:
        return _unwritten(error) or _broken(error, as_json=as_json)
    except USERS_OWN:
        raise
    except SystemExit as error:
        return _exited(error, arguments, as_json=as_json)
    except BaseException as error:  # noqa: BLE001 -- the last resort: Python's own status, 1, would report a nonconformance
        return _broken(error, as_json=as_json)
    finally:
        end_stdout()
    # a failure stays a failure; a pass that could not be reported is not a pass
    return max(status, USAGE) if STDOUT_ERRORS and status != FAIL else status


def _tolerant(stream: object) -> None:
    # a locale without `…`, or bytes of another encoding, must not cause an error; not every stream has an encoding
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _unwritten(error: OSError) -> int:
    """Return the exit status if no output can be written any more; 0 for any other error."""
    if error.filename is not None or error.errno not in _UNWRITTEN:
        return 0
    stdout_failed(error)
    return 128 + SIGNALS.number if SIGNALS.number else USAGE


def _exited(error: SystemExit, arguments: Sequence[str], *, as_json: bool) -> int:
    """Return the status when typer exits: after a help page without a reader, or after completing a word."""
    pipe = error.__context__
    if not isinstance(pipe, BrokenPipeError):
        return int(error.code or 0) if VARIABLE in os.environ else _broken(error, as_json=as_json)
    if not arguments or any(each in arguments for each in _HELP):
        unread(pipe)
        return PASS
    # inside a command, the user's code raised it
    return _broken(pipe, as_json=as_json)


def _broken(error: BaseException, *, as_json: bool) -> int:
    from otf.values import as_text

    what = f"{type(error).__name__}: {as_text(error)}"
    if limit := _limit(error):
        why = f"this machine gives the command no more {limit}: {what}"
        return _nothing(f"{why}; raise that limit, or run less at the same time", as_json=as_json)
    from otf.cli.user_code import broken_by  # the list of commands must not wait for it, and it might need more of that

    if broke := broken_by(error):
        return _nothing(
            f"code of the bench, its model or its system changed or closed {broke}: {what}", as_json=as_json
        )
    from otf.values.raised import blame, is_users

    if is_users(error):
        found = blame("code of the bench, its model or its system raised", error)
        found.__cause__ = error
        report_error(found)
        if as_json:
            document(error_document(str(found)))
        return found.exit_status
    warn("".join(traceback.format_exception(error)).rstrip())
    warn(f"this is a defect of otf, or of a bench's own adapter; it says nothing about the system under test: {what}")
    if as_json:
        document(error_document(what))
    return INCONCLUSIVE


_NO_REASON: Final = re.compile("without (setting an )?exception")
_LIMITS: Final = {
    errno.EMFILE: "files (ulimit -n)",
    errno.ENFILE: "files of the whole machine",
    errno.EAGAIN: "processes and threads (ulimit -u)",
    errno.ENOMEM: "memory (ulimit -v)",
}
# the C library says so of a module that it cannot load
_UNLOADED: Final = {"Too many open files": errno.EMFILE, "failed to map": errno.ENOMEM, "allocate": errno.ENOMEM}


def _limit(error: BaseException | None) -> str:
    """Return the resource that this process ran out of, if that caused an error, else ""."""
    while error is not None:
        # Python also raises SystemError where its own code runs out of memory
        if isinstance(error, MemoryError) or (isinstance(error, SystemError) and _NO_REASON.search(str(error))):
            return _LIMITS[errno.ENOMEM]
        if isinstance(error, OSError) and error.errno in _LIMITS:
            return _LIMITS[error.errno]
        for words in _UNLOADED:
            if isinstance(error, ImportError) and words in error.msg:
                return _LIMITS[_UNLOADED[words]]
        if isinstance(error, RuntimeError) and "start new thread" in str(error):
            return "threads or memory (ulimit -u, ulimit -v)"
        error = error.__cause__ or error.__context__
    return ""


def _nothing(why: str, *, as_json: bool) -> int:
    sys.unraisablehook = lambda _: None  # cleaning up may fail for the same reason: not worth a report
    warn(f"{why}; nothing is decided")
    if as_json:
        document(error_document(why))
    return INCONCLUSIVE
