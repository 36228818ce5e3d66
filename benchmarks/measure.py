"""Measuring: CPU seconds, medians, all contenders in turn so that a drifting machine affects them equally."""

from __future__ import annotations

import gc
import json
import os
import statistics
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from pathlib import Path

Contender = Callable[[], int]  # does its work and returns the number of steps done


def rates(contenders: Mapping[str, Contender], runs: int = 5) -> dict[str, float]:
    """Return the median steps per CPU second of each contender over `runs` rounds, after one round to warm up."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for round_ in range(runs + 1):
        for name, contender in contenders.items():
            gc.collect()
            before = time.process_time()
            steps = contender()
            spent = time.process_time() - before
            if round_:
                found[name].append(steps / spent)
    return {name: statistics.median(each) for name, each in found.items()}


def table(title: str, found: Mapping[str, float], base: str) -> None:
    """Print the rates, and each as a multiple of the one named `base`."""
    print(f"\n{title}")
    for name, rate in found.items():
        print(f"  {name:28} {rate:14,.0f} /s   {rate / found[base]:8.2f} x {base}")


def command(name: str, text: str | None) -> ArgumentParser:
    """Return the parser for the command line of a benchmark, with the option that all of them have."""
    parser = ArgumentParser(prog=f"python -m benchmarks.{name}", description=text)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    return parser


def positive(text: str) -> int:
    """Return the number in an option, which has to be 1 or more."""
    number = int(text)
    if number < 1:
        raise ArgumentTypeError(f"{number} is less than 1")
    return number


def pinned() -> None:
    """Stay on one core, with all child processes."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def save(data: object, file: Path | None) -> None:
    """Write data to a file as JSON, if there is one."""
    if file is not None:
        file.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
