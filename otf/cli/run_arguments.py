"""The options of `otf run`, each written once: its type, its default, its help, and what the journal keeps of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, get_args

import typer

from otf.cli.option_values import KEPT, MIB, MODES, TRANSITIONS, InputChoice, among
from otf.cli.options import CHOICE, FAILURES, HOW_LONG, KEEPING, SILENCE, WHAT, WHERE, Jobs, SystemOptions
from otf.strategy.names import SAYS


@dataclass(frozen=True, kw_only=True, slots=True)
class RunOptions(SystemOptions):
    """What `otf run` was given, as the journal keeps it.

    A field with an option of typer is that option. The others follow from options that a journal must not keep as they
    were written, such as a file of devices.
    """

    bench: str = ""
    traces: int = 10
    time: float | None = None
    spend: bool = False
    seed: int = 0
    devices: list[list[str]] = field(default_factory=list[list[str]])
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many inputs a path has at most. Without it lengths are mixed, 50 on average: the longest path "
            "takes half of all inputs, or of --time.",
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="ACTIONS",
            help="The inputs that a scenario names in its order only: 'Coin+ Button'; all others stay free.",
            rich_help_panel=WHAT,
        ),
    ] = None
    malformed: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Send bytes that are no message in place of this share of the inputs.",
            rich_help_panel=WHAT,
        ),
    ] = 0.0
    until: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Count coverage, and stop when it is reached: states, transitions, pairs=100; or when all "
            "requirements are decided: requirements; or after a time without anything new: nothing-new=10m; "
            "or once a path has lasted so long: uptime=1h.",
            rich_help_panel=HOW_LONG,
        ),
    ] = None
    stop_first: Annotated[bool, typer.Option("--stop-first", help="Stop at the first failure.")] = False
    mode: Annotated[
        str,
        typer.Option(
            metavar="|".join(MODES),
            autocompletion=among(*MODES),
            help="strict: an input only after silence; eager: at once if a correct system must be silent.",
            rich_help_panel=CHOICE,
        ),
    ] = "eager"
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How inputs are chosen: one that `otf list` shows, or your own as file.py:Name.",
            autocompletion=among(*SAYS),
            rich_help_panel=CHOICE,
        ),
    ] = "alternating"
    burst: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="How many inputs are sent at once, without waiting for outputs; default: of several clients two or "
            "three, on a quarter of the paths, and else one.",
            rich_help_panel=CHOICE,
        ),
    ] = None
    inputs: Annotated[
        InputChoice | None,
        typer.Option(
            metavar="|".join(get_args(InputChoice)),
            help="Which inputs: uioco, specified in all possible states; any, specified in some of them; all, also "
            "those not specified; mixed, half and half. The bench has a default.",
            rich_help_panel=CHOICE,
        ),
    ] = None
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|auto",
            help="How many times as fast the clocks of the system run, with libfaketime; auto: as fast as it follows.",
            rich_help_panel=SILENCE,
        ),
    ] = None
    jobs: Jobs = 1
    processes: Annotated[
        str,
        typer.Option(
            metavar="NUMBER|auto",
            help="How many processes, each with --jobs paths; auto: one for each processor.",
            rich_help_panel=WHERE,
        ),
    ] = "1"
    keep: Annotated[
        str,
        typer.Option(
            metavar="|".join(KEPT),
            help="Which traces are kept.",
            autocompletion=among(*KEPT),
            rich_help_panel=KEEPING,
        ),
    ] = "all"
    largest: Annotated[
        int,
        typer.Option(
            metavar="MIB",
            min=1,
            help="How large a trace may become: of a longer one the middle is dropped.",
            rich_help_panel=KEEPING,
        ),
    ] = MIB
    saved: Annotated[
        bool,
        typer.Option(
            "--saved/--no-saved",
            help="Save failures in otf-runs/failures, and try the saved ones first.",
            rich_help_panel=KEEPING,
        ),
    ] = True
    shrink: Annotated[
        bool,
        typer.Option(
            "--shrink/--no-shrink", help="Shrink one trace of each kind of failure.", rich_help_panel=FAILURES
        ),
    ] = True
    group_by: Annotated[
        str | None,
        typer.Option(
            metavar="PARTS",
            help="Which values of a failure make its kind: state, input, expected, seen, or several, as in input,seen; "
            "types: none of them. Without it, as few as tell defects apart.",
            rich_help_panel=FAILURES,
        ),
    ] = None
    budget: Annotated[
        int,
        typer.Option(
            metavar="STEPS",
            min=1,
            help="How many inputs the system may be sent to shrink a failure.",
            rich_help_panel=FAILURES,
        ),
    ] = TRANSITIONS
