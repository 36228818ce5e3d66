"""Round trips per second over a wire: otf with checking and tracing on, a bare blocking socket, a plain anyio loop.

`python -m benchmarks.wire [--json FILE] [--steps N] [--rounds N]`: one request of 32 bytes outstanding, tester and a C
echo server (compiled here with `cc`) on one core, medians of rounds in which all take their turns. A path of otf
begins with one proof of silence of 20 ms, which counts: with fewer steps it is a larger part. On a terminal pair the
CPU time of the tester is compared, since its latency is a matter of luck.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import save
from benchmarks.wires import ROUND_TRIPS, Server

KINDS = ("udp", "tcp", "pipe")


@contextmanager
def compiled() -> Generator[Path, None, None]:
    """Compile the echo server. Ends the program with a reason where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("skipped: the echo server is written in C, and there is no `cc` here")
        save({"skipped": "no cc"})
        raise SystemExit(0)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "echo"
        subprocess.run([compiler, "-O2", "-o", program, Path(__file__).with_name("echo.c")], check=True)  # noqa: S603 -- the compiler
        yield program


def contenders(kind: str) -> dict[str, Callable[[Server, int], float]]:
    """Return who is measured on a kind of wire."""
    return {name: each for (where, name), each in ROUND_TRIPS.items() if where == kind}


def measured(server: Server, steps: int, rounds: int) -> dict[str, float]:
    """Return the median of each contender: round trips per second, or µs of CPU time for each on a terminal."""
    found: dict[str, list[float]] = {}
    for round_ in range(rounds + 1):
        for name, contender in contenders(server.kind).items():
            gc.collect()
            cpu, began = time.process_time(), time.perf_counter()
            elapsed = contender(server, steps if round_ else min(steps, 500))
            spent = 1e6 * (time.process_time() - cpu) / steps if server.kind == "pty" else 0.0
            if round_:
                found.setdefault(name, []).append(spent or steps / (elapsed or time.perf_counter() - began))
    return {name: statistics.median(each) for name, each in found.items()}


def show(kind: str, found: dict[str, float]) -> None:
    """Print the rates of one kind of wire."""
    print(f"\n{kind}")
    for name, rate in found.items():
        share = "" if kind == "pty" else f"  {rate / found['blocking']:5.2f} x blocking"
        print(f"  {name:14} {rate:10,.1f} {'µs of CPU' if kind == 'pty' else '/s'}{share}")


def number(option: str, default: int) -> int:
    """Return the number after an option of the command line."""
    return int(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else default


def pinned() -> None:
    """Stay on one core, with all that is started from here."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> None:
    """Print the table, and write it where `--json` says."""
    pinned()
    steps, rounds = number("--steps", 50_000), number("--rounds", 5)
    table: dict[str, dict[str, Any]] = {}
    only = sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else [*KINDS, "pty"]
    with ExitStack() as stack:
        program = stack.enter_context(compiled())
        for kind in only:
            with Server.started(program, kind) as server:
                table[kind] = measured(server, steps, rounds)
            show(kind, table[kind])
    save({kind: {_key(kind, name): value for name, value in found.items()} for kind, found in table.items()})


def _key(kind: str, name: str) -> str:
    return f"{name.removesuffix('_asyncio')}_cpu_us" if kind == "pty" else name


if __name__ == "__main__":
    main()
