"""Exploration: how fast, how its cost grows, and how much memory a million states take.

Run `python -m benchmarks.explore`. The bounded stack is that of Jacky's PyModel, with more room.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median
from typing import Any, Final

from benchmarks.measure import command, save
from otf.explore import Graph, explore
from otf.models.stack import STACK

FEWER: Final = 10  # elements
STATES, TRANSITIONS = 29_524, 59_046
SERIES: Final = (6, 7, 8, 9, 10, 11)
RUNS: Final = 5
RATE: Final = 50_000  # states in a second of CPU time
MILLION: Final = 1_000_000
GIGABYTE: Final = 1_000_000  # in the kilobytes that the system counts


def stack(fewer: int, limit: int = 10 * MILLION) -> Graph:
    """Return the stack of values 0 to 2 with fewer elements than that."""
    return explore(STACK, limit, states=lambda items: len(items) < fewer)


def rate(fewer: int) -> tuple[int, float]:
    """Return the number of states, and how many of them are explored in a second of CPU time."""
    taken: list[float] = []
    states = 0
    for _ in range(RUNS):
        before = time.process_time()
        states = len(stack(fewer).values)
        taken.append(time.process_time() - before)
    return states, states / median(taken)


def large() -> None:
    """Explore a million states and print the memory in kilobytes that this process took."""
    graph = stack(MILLION, MILLION)
    assert len(graph.values) == MILLION
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures and, if asked to, write them as JSON."""
    chosen = command("explore", __doc__).parse_args(arguments)
    graph = stack(FEWER)
    assert (len(graph.values), len(graph.target)) == (STATES, TRANSITIONS)
    data: dict[str, Any] = {"states": STATES, "transitions": TRANSITIONS, "series": {}}
    print(f"bounded stack, values 0 to 2, fewer than {FEWER} elements: {STATES:,} states, {TRANSITIONS:,} transitions")
    for fewer in SERIES:
        states, speed = rate(fewer)
        data["series"][str(states)] = round(speed)
        print(f"  {states:>9,} states  {speed:>12,.0f} states/s of CPU time")
    itself = [sys.executable, "-c", "from benchmarks.explore import large; large()"]
    kilobytes = int(subprocess.run(itself, capture_output=True, text=True, check=True).stdout)  # noqa: S603 -- this file
    data["kilobytes"] = kilobytes
    print(f"  {MILLION:,} states: {kilobytes / 1000:,.0f} MB")
    assert data["series"][str(STATES)] >= RATE
    assert kilobytes < GIGABYTE
    save(data, chosen.json)


if __name__ == "__main__":
    main()
