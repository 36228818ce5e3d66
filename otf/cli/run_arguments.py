"""The options of `otf run`, each written once: type, default, help, and what the journal keeps of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, get_args

import typer

from otf.cli.catalogue import KEPT, MIB, MODES, TRANSITIONS, InputChoice, among
from otf.cli.options import (
    CHOICE,
    FAILURES,
    HOW_LONG,
    KEEPING,
    SILENCE,
    WHAT,
    WHERE,
    AsJson,
    Jobs,
    MaybeBench,
    Out,
    SystemOptions,
    flag,
    option,
)
from otf.strategy.names import SAYS


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions(SystemOptions):
    """The options given to `otf run`, as the journal keeps them.

    A field annotated with a typer option is that option. The others derive from options that a journal must not keep as
    written, such as a file of devices.
    """

    bench: str = ""
    traces: int = 10
    time: float | None = None
    spend: bool = False
    seed: int = 0
    devices: list[list[str]] = field(default_factory=list[list[str]])
    steps: Annotated[
        int | None,
        option(
            "NUMBER",
            "How many inputs a path has at most. Without it lengths are mixed, 50 on average: the longest path "
            "takes half of all inputs, or of --time.",
            min=1,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        option(
            "ACTIONS",
            "The inputs that a scenario names in its order only: 'Coin+ Button'; all others stay free.",
            group=WHAT,
        ),
    ] = None
    malformed: Annotated[
        float,
        option(
            "SHARE",
            "Send bytes that are not a message in place of this share of the inputs.",
            group=WHAT,
            min=0,
            max=1,
        ),
    ] = 0.0
    until: Annotated[
        str | None,
        option(
            "WHAT",
            "Count coverage, and stop when it is reached: states, transitions, pairs=100; or when all "
            "requirements are decided: requirements; or after a time without anything new: nothing-new=10m; "
            "or once a path has lasted so long: uptime=1h.",
            group=HOW_LONG,
        ),
    ] = None
    stop_first: Annotated[bool, flag("--stop-first", "Stop at the first failure.")] = False
    mode: Annotated[
        str,
        option(
            "|".join(MODES),
            "strict: an input only after silence; eager: at once if a correct system must be silent, which saves "
            "waiting; a failure is driven again in strict mode before it counts.",
            group=CHOICE,
            autocompletion=among(*MODES),
        ),
    ] = "eager"
    strategy: Annotated[
        str,
        option(
            "NAME",
            "How inputs are chosen: one that `otf list` shows, or your own as file.py:Name.",
            group=CHOICE,
            autocompletion=among(*SAYS),
        ),
    ] = "alternating"
    burst: Annotated[
        int | None,
        option(
            "NUMBER",
            "How many inputs are sent at once, without waiting for outputs; default: of several clients two or "
            "three, on a quarter of the paths, and else one.",
            group=CHOICE,
            min=1,
        ),
    ] = None
    inputs: Annotated[
        InputChoice | None,
        option(
            "|".join(get_args(InputChoice)),
            "Which inputs: uioco, specified in all possible states; any, specified in some of them; all, also "
            "those not specified; mixed, half and half. The bench has a default.",
            group=CHOICE,
        ),
    ] = None
    speed: Annotated[
        str | None,
        option(
            "NUMBER|auto",
            "How many times as fast the clocks of the system run, with libfaketime; auto: as fast as it follows.",
            group=SILENCE,
        ),
    ] = None
    jobs: Jobs = 1
    processes: Annotated[
        str,
        option(
            "NUMBER|auto",
            "How many processes of otf drive paths, each of them --jobs at a time; auto: one for each processor.",
            group=WHERE,
        ),
    ] = "1"
    keep: Annotated[
        str, option("|".join(KEPT), "Which traces are kept.", group=KEEPING, autocompletion=among(*KEPT))
    ] = "all"
    largest: Annotated[
        int, option("MIB", "How large a trace may become: of a longer one the middle is dropped.", group=KEEPING, min=1)
    ] = MIB
    saved: Annotated[
        bool,
        flag("--saved/--no-saved", "Save failures in otf-runs/failures, and try the saved ones first.", group=KEEPING),
    ] = True
    shrink: Annotated[
        bool,
        flag(
            "--shrink/--no-shrink",
            "Search for the fewest inputs that still cause each kind of failure: the system is driven "
            "again, up to --budget inputs. --no-shrink reports the failing path as it is.",
            group=FAILURES,
        ),
    ] = True
    group_by: Annotated[
        str | None,
        option(
            "PARTS",
            "Which values of a failure make its kind: state, input, expected, seen, or several, as in input,seen; "
            "types: none of them. Without it, as few as tell defects apart.",
            group=FAILURES,
        ),
    ] = None
    budget: Annotated[
        int, option("STEPS", "The most inputs sent to the system to shrink one kind of failure.", group=FAILURES, min=1)
    ] = TRANSITIONS


@dataclass(frozen=True, kw_only=True)
class RunCommand:
    """Drive the system with inputs that the model chooses, and judge everything that comes back.

    Each path starts a fresh copy of the system. A path that fails ends; the others go on. Each failure is explained in
    the words of the model, and shrunk to the few inputs that matter.
    """

    ctx: typer.Context
    bench: MaybeBench = None
    traces: Annotated[
        int | None,
        option(
            "NUMBER",
            "How many paths, each with its own trace; default: 10, or as many as another bound of time allows.",
            show_default=False,
            min=1,
        ),
    ] = None
    time: Annotated[str | None, option("TIME", "When to stop: 90 (seconds), 10m or 8h.", show_default=False)] = None
    seed: Annotated[int | None, option("NUMBER", "The same seed gives the same inputs; default: random.")] = None
    out: Out = None
    resume: Annotated[
        Path | None, option("DIR", "Continue the campaign in a folder: only the paths that it lacks are driven.")
    ] = None
    check: Annotated[
        bool,
        flag(
            "--check",
            "With --resume or --into: judge all traces of the folder again, not only changed ones.",
            group=KEEPING,
        ),
    ] = False
    report: Annotated[
        Path | None, option("FILE", "Write the report at the end, as `otf report` does.", group=KEEPING)
    ] = None
    page: Annotated[
        str | None,
        option(
            "FILE|PORT",
            "Show the campaign while it runs, on a page in a file or at a port of 127.0.0.1 (0: a free one); the "
            "page ends as the report.",
        ),
    ] = None
    as_json: AsJson = False
    spend: Annotated[
        str | None,
        option(
            "TIME",
            "Spend this time (90s, 10m, 8h): on saved failures first, then on what changed in the model since the "
            "last campaign in the folder of --into, then on what was covered least.",
            group=HOW_LONG,
            show_default=False,
        ),
    ] = None
    calibrate: Annotated[
        bool,
        flag("--calibrate", "Only measure how fast the system answers, and print the times that fit.", group=SILENCE),
    ] = False
    cluster: Annotated[
        str | None,
        option("ADDRESS", "Drive --jobs paths at the same time on a dask cluster: tcp://host:8786.", group=WHERE),
    ] = None
    device: Annotated[
        Path | None, option("FILE", "A pool of devices: a line for each with its addresses, as for --sut.", group=WHERE)
    ] = None
    into: Annotated[
        Path | None,
        option(
            "DIR",
            "Add paths to the campaign in this folder, as many as --traces says (default: 10); the seed stays. If the "
            "folder is empty or new, a campaign begins there.",
            group=KEEPING,
        ),
    ] = None
    options: RunOptions
    examples: ClassVar[str] = """\b
Examples:
  otf run conference                         a correct system: it passes
  otf run conference --set fault=O7          one with a known fault: it fails
  otf run my_bench.py --traces 100 --seed 7  a bench of your own, in a file

\b
Exit status:
  0 pass, 1 fail, 2 wrong usage or a broken model, 3 inconclusive;
  130 ended by Ctrl-C (143: by SIGTERM), but 1 if a failure had been found
"""
