"""Continues a campaign: `otf run --resume DIR`; adds paths to one: `otf run BENCH --into DIR`.

A journal may come from a stranger, like a trace. So otf loads the bench that it names only if it is shipped, and only
with parameters that a trace may choose. A file, an address, a process or a strategy has to be passed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from otf.adapter import Bench
from otf.campaign import Budget, Settings
from otf.campaign.journal_lines import About
from otf.campaign.journal_reader import Past
from otf.campaign.settings import UNLIMITED
from otf.cli.benches import is_shipped, load, parsed
from otf.cli.catalogue import KEPT, MODES
from otf.cli.options import one_of
from otf.cli.output import ROOT
from otf.cli.run_arguments import RunOptions
from otf.cli.run_options import REQUIREMENTS, chosen, under
from otf.cli.sut_addresses import addressed
from otf.cli.traces import bench_as_recorded
from otf.errors import UsageError
from otf.strategy.coverage import NOTHING_NEW, UPTIME
from otf.trace.kinds import FailurePart
from otf.trace.record import Header
from otf.values import show

PATHS: Final = 10  # unless something bounds the campaign
AGAIN: Final = {
    *(
        "resume",
        "check",
        "cluster",
        "bench",
        "sets",
        "sut",
        "device",
        "pids",
        "strategy",
        "time",
        "spend",
        "page",
        "as_json",
        "debug",
    )
}
"""Options allowed beside --resume; all others come from the folder."""

SAME: Final = ("traces", "time", "spend", "seed", "burst", "jobs", "stop_first", "shrink")
"""Options with the same name and value as a setting."""


def paths_within(time: str | None, until: str | None) -> int:
    """Return the number of paths if none is given: unlimited if time bounds the campaign.

    A coverage goal does not count as a bound: the system may never make a choice that the model leaves to it.
    """
    endless = time is not None or (until or "").startswith((NOTHING_NEW, UPTIME))
    return UNLIMITED if endless else PATHS


def refuse_others(given: Sequence[str]) -> None:
    """Raise UsageError for an option that --resume reads from the folder."""
    others = sorted(set(given) - AGAIN)
    if others:
        message = f"--resume takes --{others[0].replace('_', '-')} from the folder: leave it out"
        raise UsageError(f"{message}; `otf run BENCH … --into DIR` adds paths to a folder")


def made(options: RunOptions) -> Bench:
    """Return the bench of these options."""
    bench = load(options.bench, options.parameters)
    bench = addressed(bench, options.sut) if options.sut else bench
    return _as_asked(bench if options.inputs is None else replace(bench, inputs=options.inputs), options)


def settings_of(options: RunOptions, out: Path) -> Settings:
    """Return the settings of these options. Raises UsageError for invalid values."""
    same: dict[str, Any] = {name: getattr(options, name) for name in SAME}
    return Settings(
        **same,
        **lengths(options.steps),
        group_by=_grouped_by(options.group_by),
        out=out,
        reference=options.bench,
        strategy=chosen(options.strategy),
        mode=one_of("--mode", options.mode, MODES),
        largest=options.largest << 20,
        keep=one_of("--keep", options.keep, KEPT),
        budget=Budget(options.budget),
        saved=ROOT / "failures" if options.saved else None,
        where=tuple(options.sut),
        options=msgspec.to_builtins(options),
    )


def lengths(steps: int | None) -> dict[str, Any]:
    """Return the settings for paths of that many inputs, or of mixed lengths if None."""
    return {"mixed": True} if steps is None else {"steps": steps}


def _grouped_by(names: str | None) -> tuple[FailurePart, ...] | None:
    """Return the parts whose values tell failures apart; none for `types`."""
    if names is None:
        return None
    parts = [] if names == "types" else [each.strip() for each in names.split(",")]
    return tuple(one_of("--group-by", each, (*get_args(FailurePart), "types")) for each in parts)


def as_recorded(head: Header, options: RunOptions, sets: list[str]) -> Bench:
    """Return the shipped bench of a folder, as the header of its traces describes it."""
    recorded = bench_as_recorded(head, options.bench, parsed(sets), drives=True)
    return _as_asked(replace(recorded, inputs=head.inputs), options).at_speed(head.speed)


def resumed(folder: Path, given: RunOptions) -> tuple[RunOptions, Bench]:
    """Return the options and the bench of the campaign in a folder; a `given` bench is the user's own."""
    about = _about(folder)
    head = _header(folder, about)
    options = _options(folder, about)
    # without a number of paths, only time bounds the campaign
    time = given.time or (options.time if about.traces >= UNLIMITED else None)
    spend = given.spend or (options.spend and not given.time)
    options = replace(options, seed=head.seed, traces=about.traces, time=time, spend=spend)
    if given.bench:
        options = replace(
            options,
            bench=given.bench,
            sets=given.sets,
            sut=given.sut,
            devices=given.devices,
            pids=given.pids,
            strategy=_own(options.strategy, given.strategy),
        )
        return options, made(options).at_speed(head.speed)
    _check_harmless(folder, options)
    return options, as_recorded(head, options, given.sets)


def _own(recorded: str, given: str) -> str:
    """Return the strategy to continue with: the recorded one, or the given one if it was read from a file."""
    return given if ":" in recorded else recorded


def added(folder: Path, options: RunOptions, seed: int | None) -> RunOptions:
    """Return the options for adding paths to the campaign in a folder: its seed, and that many more paths."""
    past = Past(folder)
    if past.about is None:
        return options
    seed = _header(folder, past.about).seed if seed is None else seed
    return replace(options, seed=seed, traces=min(len(past.counted) + options.traces, UNLIMITED))


def settings_to_continue(settings: Settings, until: str | None, *, resumes: bool, checks: bool) -> Settings:
    """Return the settings of a campaign that may continue; `checks`: judge its traces again. Raises UsageError."""
    if checks and not resumes:
        raise UsageError("--check judges the traces of a folder again: give it with --resume DIR or --into DIR")
    if resumes:
        _check_until(settings.out, until)
    return replace(settings, resume=resumes, check=checks)


def _check_until(folder: Path, until: str | None) -> None:
    """Raise UsageError for a coverage goal in a folder that has paths: coverage counts from the first path on."""
    goes_on = until is None or until == REQUIREMENTS or until.startswith((NOTHING_NEW, UPTIME))
    if not goes_on and Past(folder).counted:
        message = f"--until {until}: coverage is counted from the first path on, and {folder} has paths already"
        raise UsageError(f"{message}; choose another folder")


def _as_asked(bench: Bench, options: RunOptions) -> Bench:
    return options.watched(under(bench, options.scenario)).with_malformed(options.malformed)


def _about(folder: Path) -> About:
    about = Past(folder).about
    if about is None:
        message = f"{folder}: there is no campaign to continue in it; give the folder of one (`otf run` prints it)"
        raise UsageError(message)
    return about


def _options(folder: Path, about: About) -> RunOptions:
    try:
        return msgspec.convert(about.options, RunOptions)
    except msgspec.ValidationError as error:
        message = f"{folder}: its campaign was not begun by `otf run` of this version ({error})"
        raise UsageError(f"{message}; continue it where it was begun, with Settings(resume=True)") from error


def _header(folder: Path, about: About) -> Header:
    try:
        return msgspec.convert({"run": "", **about.header}, Header)
    except msgspec.ValidationError as error:
        raise UsageError(f"{folder}: its journal does not say how its paths were run: {error}") from error


def _check_harmless(folder: Path, options: RunOptions) -> None:
    own = {
        "the bench": "" if is_shipped(options.bench) else options.bench,
        "--sut": " ".join(options.sut),
        "--device": ", ".join(map(" ".join, options.devices)),
        "--pid": " ".join(options.pids),
        "--strategy": options.strategy if ":" in options.strategy else "",
    }
    for what, value in own.items():
        if value:
            message = f"{folder}: {what} was {show(value)}, which a journal may not choose, since it may come from a "
            raise UsageError(f"{message}stranger: give it again, as in `otf run BENCH --resume {folder}`")
