"""Measuring: CPU seconds, medians, all contenders in turn so that a drifting machine hurts them alike."""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
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


def save(data: object) -> None:
    """Write data to the file after `--json` on the command line, if there is one."""
    if "--json" in sys.argv:
        Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
