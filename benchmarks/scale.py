"""Campaigns that last: processes, copies, the cost of the journal, resuming a long folder, and what kills lose.

`python -m benchmarks.scale --json FILE`: two processes against one on a system in the same process; 200 connections to
a server that takes 50 ms for each answer, against one; the share of CPU time that the journal takes; the time to read a
folder with 100,000 paths; and what `benchmarks.kills` says of killed workers. Ratios are of wall time, starts of
processes included, so an idle machine is needed; `cpu_2_processes` is the ratio of the CPU time, which depends less on
the load. `speedup_2_computing` is the most that the machine allows: two programs that only compute, half each, against
one. `--only PART …` measures some of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple

from benchmarks.kills import workers_killed
from benchmarks.measure import command, positive, save
from otf.campaign import Settings, Summary, run
from otf.campaign.journal import Journal
from otf.campaign.journal_lines import About
from otf.campaign.journal_reader import Past
from otf.campaign.lane_knowledge import Merged
from otf.campaign.lane_memory import Learning
from otf.campaign.restored import restore
from otf.models.coffee import bench as coffee

PARTS = ("processes", "copies", "journal", "resume", "killed")
SLOW = '''\
"""A server that answers after 50 ms, and its bench."""

import asyncio
from dataclasses import dataclass

from otf.adapter import Bench
from otf.adapters.tcp import tcp
from otf.codec import lines
from otf.spec import Spec, goto


@dataclass(frozen=True)
class Ping:
    """What is sent."""


@dataclass(frozen=True)
class Pong:
    """What comes back."""


def bench(port: int) -> Bench:
    """Return a bench on the server."""
    spec = Spec(lambda state, inp: [goto(state, Pong())], 0, [Ping()])
    codec = lines({Ping: "ping", Pong: "pong"})
    return Bench(spec, ports={"line": tcp(f"127.0.0.1:{port}")}, codec=codec, quiescence=0.2)


async def _serve(reader, writer):
    while await reader.readline():
        await asyncio.sleep(0.05)
        writer.write(b"pong\\n")
    writer.close()


async def _main():
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=2000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main())
'''


class Cost(NamedTuple):
    """Wall time and CPU time of a command, in seconds."""

    wall: float
    cpu: float


def otf(folder: Path, *arguments: object) -> Cost:
    """Run the command in a folder; return its cost. Raises CalledProcessError unless it passes."""
    began, before = perf_counter(), getrusage(RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 -- our own command
        [sys.executable, "-m", "otf", *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    after = getrusage(RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(perf_counter() - began, cpu)


def computing(programs: int, numbers: int = 60_000_000) -> float:
    """Return the seconds that so many programs take, at the same time, to compute so much together."""
    code = f"sum(number * number % 7 for number in range({numbers // programs}))"
    began = perf_counter()
    running = [subprocess.Popen([sys.executable, "-I", "-S", "-c", code]) for _ in range(programs)]  # noqa: S603 -- our own
    for each in running:
        each.wait()
    return perf_counter() - began


def processes(folder: Path, paths: int) -> dict[str, float]:
    """Return how many times as fast two processes are as one, on a system in the same process, and their CPU time."""
    call = ("run", "coffee", "--seed", 1, "--traces", paths, "--steps", 2_000, "--no-saved")
    one = otf(folder, *call, "--out", "one")
    two = otf(folder, *call, "--processes", 2, "--out", "two")
    most = computing(1) / computing(2)
    return {
        "speedup_2_processes": one.wall / two.wall,
        "cpu_2_processes": two.cpu / one.cpu,
        "speedup_2_computing": most,
    }


def copies(folder: Path, number: int, steps: int) -> float:
    """Return how many times as many steps so many copies make as one, in the same time, on a server that waits."""
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    with subprocess.Popen([sys.executable, "slow.py"], cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        call = ("run", "slow.py", "--set", f"port={port}", "--seed", 1, "--steps", steps, "--no-saved")
        one = otf(folder, *call, "--traces", 1, "--out", "copy").wall
        many = otf(folder, *call, "--traces", number, "--jobs", number, "--out", f"copies-{number}").wall
        server.terminate()
    return number * one / many


class Clock:
    """Adds the CPU time of this thread in functions that it wraps; what one calls of the others counts once."""

    def __init__(self) -> None:
        self.seconds: float = 0.0
        self._inside = False

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function with its time added."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return function(*args, **kwargs)
            self._inside, began = True, thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += thread_time() - began
                self._inside = False

        return timed


def share(folder: Path, paths: int, steps: int) -> float:
    """Return the share of CPU time that counting paths and what they learned takes, on a system in the same process."""
    clock, own = Clock(), {Journal: "counted", Learning: "path"}
    before = {kind: getattr(kind, name) for kind, name in own.items()}
    for kind, name in own.items():
        setattr(kind, name, clock.wrapped(before[kind]))
    began = process_time()
    try:
        run(coffee(), out=folder / "share", traces=paths, steps=steps, seed=1)
    finally:
        for kind, name in own.items():
            setattr(kind, name, before[kind])
    return clock.seconds / (process_time() - began)


def resume(folder: Path, paths: int) -> float:
    """Return the seconds in which so many paths are read, their traces too, and their knowledge put together."""
    bench, settings = coffee(), Settings(out=folder / "long", traces=paths, steps=50, seed=1)
    run(bench, out=settings.out, traces=paths, steps=50, seed=1)
    began = perf_counter()
    past, summary = Past(settings.out), Summary()
    restore(past, summary, bench, About.of(bench, settings), settings)
    Merged(1, past, remote=False)
    assert summary.paths == paths, summary.paths
    return perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = command("scale", __doc__)
    parser.add_argument("--paths", type=positive, default=400, help="paths of the campaign in two processes")
    parser.add_argument("--copies", type=positive, default=200, help="connections at the same time")
    parser.add_argument("--kills", type=positive, default=100, help="how many workers are killed")
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS, help="what is measured")
    chosen = parser.parse_args(arguments)
    with TemporaryDirectory() as name:
        folder = Path(name)
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "processes": lambda: processes(folder, chosen.paths),
            "copies": lambda: {f"speedup_{chosen.copies}_copies": copies(folder, chosen.copies, 100)},
            "journal": lambda: {"journal_share_of_cpu": share(folder, 1_000, 50)},
            "resume": lambda: {"resume_3000_s": resume(folder, 3_000)},
            "killed": lambda: {"killed": workers_killed(folder, Random(1), chosen.kills, "processes")},
        }
        found: dict[str, Any] = {"load": os.getloadavg()[0]}
        for part in chosen.only:
            found.update(parts[part]())
    for what, figure in found.items():
        print(f"{what:24} {figure if isinstance(figure, dict) else format(figure, '.3f')}")
    save(found, chosen.json)


if __name__ == "__main__":
    main()
