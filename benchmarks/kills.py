"""What kills cost a campaign: `python -m benchmarks.kills --json FILE`.

SIGKILL, at random moments, for the workers of a campaign and for its coordinator, which then continues from its folder;
with the processes of this machine, and with a dask cluster on it (the extra `cluster`). Each campaign is compared with
one in a single process that nothing disturbs: paths that do not count, or count twice, those whose inputs differ, and
whether the merged coverage does. Paths that are driven again are counted by the system itself, which writes a mark at
each start. At most those that were under way may be: two for each worker, four for each coordinator.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from argparse import SUPPRESS
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from types import FrameType
from typing import Any, Final, NoReturn

from benchmarks.measure import command, positive, save
from tests.cli.test_processes import begun, command_of, counted, learned, sent, workers

WHERE: Final = ("processes", "cluster")
STEPS: Final = 30
LANES: Final = 4
EACH: Final = 2  # paths that one worker drives at a time
WORKERS: Final = 4  # of the cluster; a killed one is replaced, and takes a second to be of use
PER_KILL: Final = 30  # paths for each worker that is killed
LONGEST: Final = 60.0  # seconds to wait for something that has to come
BENCH: Final = '''\
"""A coffee machine that takes a moment to start, and marks each start."""

import os
import time
from dataclasses import replace
from pathlib import Path

from otf.adapters.inprocess import inprocess
from otf.models.coffee import Machine
from otf.models.coffee import bench as coffee

HERE = Path(__file__).parent


def started():
    """Start a machine."""
    marks = os.open(HERE / "starts", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(marks, b".")
    os.close(marks)
    time.sleep(0.02)
    return Machine().take


def bench():
    """Return the bench."""
    return replace(coffee(), ports={"line": inprocess(started, port="line")})
'''


def otf(folder: Path, *arguments: object) -> subprocess.Popen[bytes]:
    """Start the command in a folder."""
    with (folder / "otf.log").open("ab") as log:
        words = [sys.executable, "-m", "otf", *map(str, arguments)]
        return subprocess.Popen(words, cwd=folder, stdout=log, stderr=log)  # noqa: S603 -- our own command


def _passed(run: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until the command ends. Raises RuntimeError, with what it printed last, unless it passes."""
    if run.wait():
        raise RuntimeError((folder / "otf.log").read_text(encoding="utf-8", errors="replace")[-2000:])


def until(done: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = monotonic() + LONGEST
    while not done():
        if monotonic() > end:
            raise TimeoutError
        sleep(0.002)


@contextmanager
def cluster(folder: Path) -> Generator[tuple[str, int]]:
    """Run a scheduler, and a program that keeps workers; yield the address of the one and the pid of the other."""
    file = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-show", "--no-dashboard", "--scheduler-file", str(file))
    many = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1000"}
    with ExitStack() as stack, (folder / "dask.log").open("ab") as log:

        def start(*words: str) -> subprocess.Popen[bytes]:
            program = subprocess.Popen([sys.executable, *words], stdout=log, stderr=log, env=many)  # noqa: S603
            stack.callback(program.wait)
            stack.callback(program.terminate)
            return program

        start("-m", "dask", "scheduler", *options)
        until(lambda: file.is_file() and file.read_bytes().endswith(b"}"))
        address: str = json.loads(file.read_text(encoding="utf-8"))["address"]
        yield address, start("-m", "benchmarks.kills", "--keep", address, "--in", str(folder)).pid


def keep(address: str, folder: Path) -> None:
    """Keep workers until SIGTERM: a killed one is replaced.

    They are forks of this program: a `dask worker` with its nanny takes seconds of CPU to start.
    """
    distributed = import_module("distributed")  # by name: type checkers do without it
    os.chdir(folder)  # the bench is imported from there
    signal.signal(signal.SIGTERM, _stopped)
    alive = set[int]()
    try:
        while True:
            while len(alive) < WORKERS:
                alive.add(os.fork() or _work(distributed, address, folder))
            alive.discard(os.wait()[0])
    finally:
        for pid in alive:
            os.kill(pid, signal.SIGTERM)


def _stopped(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit()


def _work(distributed: Any, address: str, folder: Path) -> NoReturn:
    async def work() -> None:
        own = {"nthreads": EACH, "local_directory": str(folder), "death_timeout": LONGEST, "memory_limit": 0}
        async with distributed.Worker(address, **own) as worker:
            await worker.finished()

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        asyncio.run(work())
    finally:
        os._exit(0)  # nothing of the program that keeps it


def victims(pid: int) -> list[int]:
    """Return the workers among the children of a process: otf's own, or those of dask in which such a one runs."""
    return [each for each in workers(pid) if any(map(_is_worker, (each, *workers(each))))]


def _is_worker(pid: int) -> bool:
    return b"otf.cli.worker" in command_of(pid)


def workers_killed(folder: Path, random: Random, kills: int, where: str) -> dict[str, Any]:
    """Kill workers of one campaign at random moments; compare it with an undisturbed one."""
    paths = _prepared(folder, PER_KILL * kills)
    with options(folder, where) as (more, keeper):
        run = otf(folder, *_call(paths), *more, "--out", "out")
        for moment in sorted(random.randrange(paths) for _ in range(kills)):
            _begun(run, folder, moment, random)
            until(lambda: run.poll() is not None or _killed(victims(keeper or run.pid), random))
        _passed(run, folder)
    return {**compared(folder, paths), "may be driven again": EACH * kills}


def _begun(run: subprocess.Popen[bytes], folder: Path, moment: int, random: Random) -> None:
    """Wait until a campaign has begun so many paths, or has ended, and then until any moment of a path."""
    until(lambda: run.poll() is not None or begun(folder / "out") >= moment)
    sleep(random.uniform(0, 0.05))


def _killed(found: Sequence[int], random: Random) -> bool:
    if found:
        with suppress(ProcessLookupError):
            os.kill(random.choice(found), signal.SIGKILL)
    return bool(found)


def coordinators_killed(folder: Path, random: Random, kills: int, where: str) -> dict[str, Any]:
    """Kill the coordinator of a campaign at random moments, each time after it has continued; compare as above."""
    paths, alive = _prepared(folder, 2 * PER_KILL * kills), 0
    with options(folder, where) as (more, _):
        arguments = (*_call(paths), *more, "--out", "out")
        for kill in range(kills):
            now = begun(folder / "out")
            run = otf(folder, *arguments)
            moment = now + random.randrange(1, 2 * (paths - now) // (kills - kill + 1))
            _begun(run, folder, moment, random)
            alive += run.poll() is None
            run.kill()
            run.wait()
            # the folder knows the number of jobs and of processes, and not where the scheduler is
            arguments = ("run", "marked.py", "--resume", "out", *(more[2:] if where == "cluster" else ()))
        _passed(otf(folder, *arguments), folder)
    return {
        "killed while it ran": alive,
        **compared(folder, paths),
        "may be driven again": LANES * kills,
    }


def _prepared(folder: Path, paths: int) -> int:
    (folder / "marked.py").write_text(BENCH, encoding="utf-8")
    return paths


def _call(paths: int) -> tuple[object, ...]:
    return ("run", "marked.py", "--seed", 5, "--no-saved", "--steps", STEPS, "--traces", paths)


@contextmanager
def options(folder: Path, where: str) -> Generator[tuple[tuple[object, ...], int]]:
    """Yield the options for where the paths are driven, and the process whose children are the workers, 0 for otf's."""
    if where == "processes":
        yield ("--jobs", LANES // 2, "--processes", 2), 0
        return
    with cluster(folder) as (address, keeper):
        yield ("--jobs", LANES, "--cluster", address), keeper


def compared(folder: Path, paths: int) -> dict[str, Any]:
    """Return in what a disturbed campaign differs from one in a single process."""
    starts = (folder / "starts").stat().st_size
    _passed(otf(folder, *_call(paths), "--jobs", LANES, "--out", "one"), folder)
    counts, out, one = counted(folder / "out"), folder / "out", folder / "one"
    was, now = sent(one), sent(out)
    return {
        "paths": paths,
        "lost": paths - len({*counts}),
        "counted_twice": len(counts) - len({*counts}),
        "other_inputs": sum(was[name] != now.get(name) for name in was),
        "same_coverage": learned(out) == learned(one),
        "driven_again": starts - paths,
    }


def measured(where: Sequence[str], kills: dict[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what kills cost, of workers and of coordinators, wherever the paths are driven."""
    kinds: dict[str, Callable[..., dict[str, Any]]] = {"workers": workers_killed, "coordinators": coordinators_killed}
    for place, what in product(where, kills):
        load, began = os.getloadavg()[0], monotonic()
        with TemporaryDirectory() as name:
            row = kinds[what](Path(name), Random(kills[what]), kills[what], place)
        about = {"seconds": round(monotonic() - began), "load": [round(load, 1), round(os.getloadavg()[0], 1)]}
        yield f"{kills[what]} {what}, {place}", row | about


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what differs from an undisturbed campaign."""
    parser = command("kills", __doc__)
    parser.add_argument("--workers", type=positive, default=100, help="how many workers are killed")
    parser.add_argument("--coordinators", type=positive, default=20, help="how many coordinators are killed")
    parser.add_argument("--where", nargs="*", choices=WHERE, default=WHERE, help="where the paths are driven")
    parser.add_argument("--keep", help=SUPPRESS)
    parser.add_argument("--in", dest="folder", type=Path, help=SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.keep:
        keep(chosen.keep, chosen.folder)
    found: dict[str, Any] = {}
    for what, row in measured(chosen.where, {"workers": chosen.workers, "coordinators": chosen.coordinators}):
        found[what] = row
        print(f"{what:28} {'  '.join(f'{name} {figure}' for name, figure in row.items())}", flush=True)
    save(found, chosen.json)


if __name__ == "__main__":
    main()
