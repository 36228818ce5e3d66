"""Where the paths of `otf run` are driven: worker processes, a cluster, and a pool of devices.

A device belongs to one lane, and a lane drives one path at a time: so no two paths ever meet on one board, whatever
their processes. Addresses of a lab (`labgrid:PLACE`) are resolved where the path runs.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from otf.adapter import Bench
from otf.campaign import Settings
from otf.campaign.journal_reader import Past
from otf.campaign.lanes import make_room
from otf.campaign.settings import Workers
from otf.cli.output import warn
from otf.cli.run_arguments import RunOptions
from otf.cli.sut_addresses import addressed
from otf.cli.user_code import near_file
from otf.errors import UsageError

MOST: Final = 256  # processes


def place_paths(
    settings: Settings, options: RunOptions, bench: Bench, cluster: str | None, *, recorded: bool
) -> tuple[Settings, Bench]:
    """Return the settings with workers and devices, and the bench on the first device.

    `recorded`: the folder names the bench. Raises UsageError for more simultaneous paths than devices.
    """
    settings = on_devices(_with_workers(settings, options, bench, cluster, recorded=recorded), options, bench)
    if settings.device is None:
        return settings, bench
    if settings.lanes > len(options.devices):
        message = f"{settings.lanes} paths at the same time, and --device has {len(options.devices)} devices"
        raise UsageError(f"{message}: each belongs to one path at a time; lower --jobs or --processes")
    return settings, settings.device(0)


def devices_in(file: Path) -> list[list[str]]:
    """Return the devices of a file: one line per device, with its addresses as for --sut."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [shlex.split(line, comments=True) for line in lines]
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        message = f"--device {file}: {why}{near_file(file)}; write a line for each device"
        raise UsageError(f"{message}: PORT=URL, or a URL if there is one port") from error
    if not any(found):
        raise UsageError(f"--device {file}: there is no device in it; write a line for each: PORT=URL, or a URL alone")
    return [device for device in found if device]


def on_devices(settings: Settings, options: RunOptions, bench: Bench) -> Settings:
    """Return the settings with the devices of these options; each belongs to one lane, so to one path at a time."""
    if not options.devices:
        return settings

    @cache
    def device(lane: int) -> Bench:
        return addressed(bench, options.devices[lane], "--device: ")

    return replace(settings, device=device)


def _with_workers(
    settings: Settings, options: RunOptions, bench: Bench, cluster: str | None, *, recorded: bool
) -> Settings:
    """Return the settings with the workers of these options; `recorded`: the folder names the bench."""
    number = _processes(options.processes)
    if cluster is None and (note := make_room(options.jobs)):
        warn(f"note: {note}")
    if cluster is None and number == 1:
        return settings
    if cluster is None:
        return replace(settings, workers=_workers(settings, options, bench, number, recorded=recorded))
    from otf.campaign.cluster import LARGEST

    settings = replace(settings, jobs=settings.jobs * number, largest=min(settings.largest, LARGEST))
    options = replace(options, jobs=1, largest=settings.largest >> 20)
    workers = _workers(settings, options, bench, 1, recorded=recorded, checks=True)
    return replace(settings, workers=replace(workers, cluster=cluster))


def _processes(text: str) -> int:
    number = len(os.sched_getaffinity(0)) if text == "auto" else int(text) if text.isdecimal() else 0
    if not 1 <= number <= MOST:
        message = f"--processes {text}: write a number from 1 to {MOST}, or auto, which is one for each processor"
        raise UsageError(message)
    return number


def _workers(
    settings: Settings, options: RunOptions, bench: Bench, number: int, *, recorded: bool, checks: bool = False
) -> Workers:
    about = Past(settings.out).about if recorded else None
    greeting = {
        "options": msgspec.to_builtins(options),
        "out": str(settings.out),
        "speed": bench.speed,
        "lanes": settings.jobs * number,
        "checks": checks,
        "header": None if about is None else {"run": "", **about.header},
    }
    return Workers(number, ("-m", "otf.cli.worker"), msgspec.json.encode(greeting))
