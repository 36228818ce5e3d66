"""Late faults, found and shrunk: `python -m benchmarks.late [FAULT …]`.

Each fault of the device in C and of the node on CAN is looked for as `otf run --stop-first --time 600s` does. What was
found is shrunk for two minutes, or for six times as long as the shortest failing run takes, if that is more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final

import anyio

from benchmarks.late import device, node
from benchmarks.measure import command, save
from otf.adapter import Bench
from otf.campaign import Budget, Campaign, Settings, Shrinker, Summary
from otf.campaign.settings import UNLIMITED
from otf.trace.reading import TraceReader, bounded

FEWEST: Final = {"watchdog": 2, "empty": 1, "commands": 50, "uptime": 1, "doubled": 3, "checksum": 1}
"""The inputs that each fault needs, besides waits."""
SECONDS: Final = 600.0
SHRINKING: Final = {"uptime": 300.0}
HEAD: Final = "fault      verdict       failed after  in seconds  shrunk to  needs  in seconds  load"


def bench_of(fault: str) -> Bench:
    """Return the bench of the system that has a fault."""
    return device.bench(fault=fault) if fault in device.FAULTS else node.bench(fault=fault)


def looked_for(fault: str, seed: int, folder: Path) -> Summary:
    """Look for a fault for ten minutes at most."""
    settings = Settings(
        out=folder, seed=seed, time=SECONDS, traces=UNLIMITED, mixed=True, stop_first=True, shrink=False
    )
    return anyio.run(Campaign(bench_of(fault), settings).run)


def rows(fault: str, summary: Summary) -> Iterator[str]:
    """Shrink each kind of failure; yield how long it took."""
    for group in summary.failures.values():
        bench, began, failing = bench_of(fault), monotonic(), group.first
        with failing.trace.open("rb") as file:
            head = TraceReader(bounded(file), failing.trace.name).header
        budget = Budget(seconds=SHRINKING.get(fault, 120.0))
        shrinker = Shrinker(bench=bench, oracle=bench.oracle(), header=head, budget=budget, confirmed=True)
        shrunk = anyio.run(shrinker.run, failing)
        left = f"{shrunk.steps}{'' if shrunk.minimal else '?'}"
        seconds = sum(summary.parts.seconds.values())
        yield f"{failing.steps:12}  {seconds:10.1f}  {left:>9}  {FEWEST[fault]:5}  {monotonic() - began:10.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, and print a row for each fault."""
    parser = command("late", __doc__)
    parser.add_argument("faults", nargs="*", default=[*FEWEST], help=f"of {', '.join(FEWEST)}; all by default")
    parser.add_argument("--seed", type=int, default=1)
    chosen, found = parser.parse_args(arguments), dict[str, str]()
    print(HEAD, flush=True)
    for fault in chosen.faults:
        with TemporaryDirectory() as folder:
            summary = looked_for(fault, chosen.seed, Path(folder, "out"))
            each = next(rows(fault, summary), "")
            found[fault] = f"{summary.verdict:12}  {each:54}"
            print(f"{fault:9}  {found[fault]}  {os.getloadavg()[0]:.1f}", flush=True)
    save(found, chosen.json)


if __name__ == "__main__":
    main()
