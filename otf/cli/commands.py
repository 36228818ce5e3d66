"""The commands of the engine, as help shows them: the options of each. `app` names the modules that do the work."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Final

from otf.cli.catalogue import RESETS, SECONDS, TRANSITIONS
from otf.cli.options import (
    AsJson,
    BenchName,
    FromBench,
    Jobs,
    Out,
    Sets,
    Suts,
    SystemOptions,
    TraceName,
    WholeValues,
    argument,
    flag,
    option,
)


class Form(StrEnum):
    """The output format of a trace."""

    TABLE = "table"
    CHART = "chart"
    SVG = "svg"
    MERMAID = "mermaid"
    JSON = "json"


SHELLS: Final = {
    "bash": 'in ~/.bashrc:                   eval "$(otf completion bash)"',
    "zsh": 'in ~/.zshrc, after compinit:    eval "$(otf completion zsh)"',
    "fish": "in ~/.config/fish/config.fish:  otf completion fish | source",
}


@dataclass(frozen=True, kw_only=True)
class CompletionCommand:
    """Print the script that completes commands, options and benches in a shell."""

    shell: Annotated[str, argument("SHELL", f"One of {', '.join(SHELLS)}.")]
    examples: ClassVar[str] = "\b\nExamples:\n" + "".join(f"  {how}\n" for how in SHELLS.values())


@dataclass(frozen=True, kw_only=True)
class ListCommand:
    """List the shipped benches with their parameters, and the strategies."""

    only_ports: Annotated[bool, flag("--ports", "Only the serial ports of this machine.")] = False
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf list          the shipped benches and their parameters
  otf list --ports  the serial ports of this machine
"""


@dataclass(frozen=True, kw_only=True)
class ShowCommand:
    """Show a trace as a table: what was sent and seen, when, its bytes, and the possible states after each step.

    For each state it shows what changed since the one before. It marks the step that fails, and below the table it says
    what the model allowed there. The exit status is 0 even for a failing trace: `otf replay` judges.
    """

    traces: Annotated[
        list[str], argument("TRACE...", "Trace files of `otf run`, or folders of them; - is standard input.")
    ]
    bench: FromBench = None
    sets: Sets = None
    as_chart: Annotated[bool, flag("--chart", "A sequence chart: a line for each port, the system in the middle.")] = (
        False
    )
    form: Annotated[
        Form, option("FORM", "table, or as a sequence chart: chart, svg, mermaid; json is --json.", "--format")
    ] = Form.TABLE
    whole: WholeValues = False
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf show runs/path-0001.jsonl          each event with its time and bytes
  otf show runs/path-0001.jsonl --chart  as a sequence chart
"""


@dataclass(frozen=True, kw_only=True)
class RerunCommand:
    """Drive a fresh copy of the system with the inputs of a trace, and judge its outputs this time.

    The bench gets the parameters of the trace; --set changes them, as in `--set fault=none`. The new trace goes to a
    new folder in otf-runs, or to that of --out. The exit status is 1 if the system fails.

    With --confidence otf drives it again and again, until a run fails or enough runs have passed. It does the same
    without that option if the trace says that the failure depends on chance, or has inputs sent at once.
    """

    trace: TraceName
    bench: FromBench = None
    out: Out = None
    system: SystemOptions
    confidence: Annotated[
        float | None,
        option(
            "SHARE",
            "Drive it until it fails, or until it is fixed with this confidence; default: 0.95 where it is known "
            "to fail by chance, else once.",
        ),
    ] = None
    rate: Annotated[
        float | None, option("SHARE", "How often it failed, for --confidence; default: as shrinking measured it.")
    ] = None
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf rerun runs/path-0001.jsonl                    the same inputs once more
  otf rerun runs/path-0001.jsonl --confidence 0.99  is it repaired?
"""


@dataclass(frozen=True, kw_only=True)
class ShrinkCommand:
    """Find the shortest trace with the same failure; its name ends in .shrunk.jsonl.

    otf leaves out one group of inputs after another, and each time drives a fresh copy of the system with the remaining
    ones.
    """

    trace: TraceName
    budget: Annotated[int, option("STEPS", "How many inputs may be sent to the system.", min=1)] = TRANSITIONS
    resets: Annotated[int, option("NUMBER", "How many copies of the system may be started.", min=1)] = RESETS
    seconds: Annotated[float, option("SECONDS", "How long it may take.", min=0)] = SECONDS
    jobs: Jobs = 1
    bench: FromBench = None
    out: Annotated[Path | None, option("DIR", "The folder of the result; default: that of the trace.")] = None
    system: SystemOptions
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf shrink runs/path-0001.jsonl  fewer inputs, the same failure
"""


@dataclass(frozen=True, kw_only=True)
class ReplayCommand:
    """Judge recorded traces against the current model, without a system under test.

    For captures and logs of other programs, give the bench that decodes them (--bench), and --sut PORT=URL for the
    address of a port. For logs of several nodes, give --nodes: otf judges them together. The exit status is that of the
    worst trace: 1 if one fails, 2 if one cannot be read. A trace that tests nothing (the model specifies none of its
    inputs) is inconclusive, but does not change the result if others pass.
    """

    traces: Annotated[
        list[str],
        argument("TRACE...", "Trace files, or folders of them; captures; logs of other programs; - is standard input."),
    ]
    bench: FromBench = None
    suts: Suts = None
    follow: Annotated[bool, flag("--follow", "The capture or log still grows: judge it while it does.")] = False
    lost_start: Annotated[
        bool, flag("--lost-start", "Its start is lost: the system may be in any state of the spec.")
    ] = False
    ended: Annotated[bool, flag("--ended", "There was silence after its end: outstanding outputs are missing.")] = False
    log_format: Annotated[
        str,
        option(
            "FORMAT",
            "The format of a log of another tool, where it is not plain: candump, script:TYPESCRIPT, sigrok:BAUD, "
            "text, raw, …; a wrong one lists all.",
            "--format",
        ),
    ] = ""
    port: Annotated[str, option("PORT", "The port that such a log is of, if the bench has several.")] = ""
    nodes: Annotated[
        str, option("PLACE", "The logs are those of several nodes: judge them together, as this NodeLogs says.")
    ] = ""
    sets: Sets = None
    as_json: AsJson = False
    examples: ClassVar[str] = """\b
Examples:
  otf replay runs                           every trace of a folder
  otf replay dump.pcap --bench my_bench.py  a capture of another program
"""


@dataclass(frozen=True, kw_only=True)
class StepCommand:
    """Walk through a model by hand: see what a state allows, choose what happens, go back.

    Each way on is an input with the outputs that the model expects. otf reads your commands line by line, also from a
    pipe: `echo 1 | otf step coffee`. Without --live it starts no system.
    """

    bench: BenchName
    on_system: Annotated[bool, flag("--live", "Send the inputs to the system, and judge what comes back.")] = False
    out: Out = None
    system: SystemOptions
    examples: ClassVar[str] = """\b
Examples:
  otf step coffee  choose inputs, see what the model allows
"""
