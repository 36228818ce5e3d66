"""Steps per second with silence that is observed, and with silence that is timed, idle and on a busy machine.

`python -m benchmarks.silence --json FILE`: strict mode, without barriers, time within paths. The reason is printed
where a system cannot be observed. Each part runs alone with `--part`: `idle` and `busy` (beside `--busy 8`
processes that compute) for all systems; `pinned`, the conference with tester and system on one core, on paths ten times
as long, most of whose steps were taken before; `bare`, a
blocking client of the asyncio server; `long`, 50,000 steps of the conference beside busy processes;
`mutants` and `mutants-busy`, all faults of the conference found and shrunk, with the lengths compared to the shortest.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import anyio

from benchmarks.measure import command, positive, save
from benchmarks.shrink_optimum import optimum
from benchmarks.shrink_subjects import SYSTEMS
from otf.adapter import Bench, Line
from otf.adapter.bench_options import Silence
from otf.adapter.observed_rest.owners import ended, started
from otf.adapters import tcp
from otf.campaign import Campaign, Settings, Summary
from otf.codec import lines as written
from otf.errors import OtfError
from otf.models.coap.bench import bench as coap
from otf.models.conference.bench import bench as conference
from otf.models.gtp.bench import bench as gtp
from otf.models.irc.bench import bench as irc
from otf.models.jobs.bench import bench as jobs
from otf.models.memcached.bench import bench as memcached
from otf.models.tftp.bench import bench as tftp
from otf.models.uci.bench import bench as uci
from otf.runner.observing import OBSERVED
from otf.spec import Spec, goto
from otf.trace.verdict import Signature

SERVER: Final = Path(__file__).with_name("asyncio_server.py")
PATHS: Final = 3
FEW: Final = 50  # steps of a path with timed silence
MANY: Final = 500  # steps of a path with observed silence, in which the start of a path counts for as little
LONG: Final = 20  # seconds for one system with one kind of silence: the whole takes ten minutes
PARTS: Final = ("idle", "pinned", "bare", "mutants", "busy", "long", "mutants-busy")
BUSY: Final = ("busy", "long", "mutants-busy")


@dataclass(frozen=True)
class Next:
    """A line to the server."""


@dataclass(frozen=True)
class Reset:
    """Its count begins anew; nothing is answered."""


@dataclass(frozen=True)
class Counted:
    """Its answer."""

    number: int


def counting(number: int, inp: Next | Reset) -> Any:
    """The model of the asyncio server."""
    if isinstance(inp, Reset):
        yield goto(0)
    else:
        yield goto(number + 1, Counted(number + 1))


@asynccontextmanager
async def _connect() -> AsyncGenerator[Mapping[str, Line]]:
    argv = [sys.executable, "-I", str(SERVER)]
    server = await asyncio.create_subprocess_exec(*argv, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        async with tcp(f"tcp://127.0.0.1:{port}")() as line:
            yield {"tcp": line}
    finally:
        server.kill()
        await server.wait()


def on_asyncio() -> Bench:
    """The bench of the asyncio server."""
    codec = written({Next: "next", Reset: "reset", Counted: "line {number}"}, port="tcp")
    spec: Spec[int, Next | Reset] = Spec(counting, 0, [Next(), Reset()])
    return Bench(spec, codec=codec, connect=_connect, outputs=("tcp",), name="asyncio", quiescence=0.02)


BENCHES: Final[dict[str, Callable[[], Bench]]] = {
    "conference": conference,
    "asyncio": on_asyncio,
    "coap": coap,
    "gtp": gtp,
    "irc": irc,
    "jobs": jobs,
    "memcached": memcached,
    "tftp": tftp,
    "uci": uci,
}


def campaign(bench: Bench, **settings: Any) -> Summary:
    """Run a campaign in strict mode, with failures as results."""
    return anyio.run(Campaign(bench, Settings(mode="strict", seed=1, shrink=False, **settings)).run)


def measured(
    bench: Bench, silence: Silence, steps: int, *, paths: int = PATHS, seconds: float = LONG
) -> dict[str, Any]:
    """Drive some paths; return the steps per second within them, and what was not a pass."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        bench = replace(bench, silence=silence, barrier=None)
        summary = campaign(bench, out=out, traces=paths, steps=steps, time=seconds)
        within = sum(_length(trace) for trace in out.glob("path-*.jsonl"))
    reasons = [how for how in summary.silence if how != OBSERVED]
    return {
        "steps_per_s": round(summary.steps / within, 1) if within else None,
        "steps": summary.steps,
        "failed": sum(group.count for group in summary.failures.values()),
        "inconclusive": len(summary.inconclusive),
        **({"why_not": reasons[0] if reasons else None} if silence == OBSERVED else {}),
    }


def _length(trace: Path) -> float:
    """Return the seconds from the first event of a path to its last."""
    times = [event["at"] for event in map(json.loads, trace.read_text().splitlines()) if "at" in event]
    return times[-1] - times[0] if times else 0.0


@contextmanager
def computing(processes: int) -> Generator[None]:
    """Let so many processes compute beside the block; they belong to no system."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    for each in running:
        started(each.pid, helper=True)
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()
            ended(each.pid)


def table(names: list[str], steps: int, seconds: float) -> dict[str, Any]:
    """Measure the benches, and print each."""
    found: dict[str, Any] = {}
    for name in names:
        try:
            bench = BENCHES[name]()
            both = {
                "timed": measured(bench, "timed", FEW, seconds=seconds),
                OBSERVED: measured(bench, OBSERVED, steps, seconds=seconds),
            }
        except OtfError as error:
            print(f"  {name:11} {error}")
            continue
        found[name] = both
        timed, observed = both["timed"]["steps_per_s"] or 0, both[OBSERVED]["steps_per_s"] or 0
        ratio = f"{observed / timed:6.1f} x" if timed else ""
        wrong = [f"{how} {each}" for each in ("failed", "inconclusive") for how in both if both[how][each]]
        why = both[OBSERVED]["why_not"] or ""
        print(
            f"  {name:11} timed {timed:8.1f}/s  observed {observed:8.1f}/s {ratio}  {' '.join(wrong)} {why}", flush=True
        )
    return found


def pinned(steps: int, seconds: float) -> dict[str, Any]:
    """Measure the conference with tester and system on one core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return table(["conference"], steps, seconds)
    finally:
        os.sched_setaffinity(0, cores)


def bare(steps: int) -> dict[str, Any]:
    """Measure the asyncio server with a blocking socket, and nothing that chooses, observes or judges."""
    argv = [sys.executable, "-I", str(SERVER)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as server:  # noqa: S603 -- our own server
        assert server.stdout is not None
        with socket.create_connection(("127.0.0.1", int(server.stdout.readline()))) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            began = time.perf_counter()
            for _ in range(steps):
                client.send(b"next\n")
                while not client.recv(100).endswith(b"\n"):
                    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            seconds = time.perf_counter() - began
        server.kill()
    rate = round(steps / seconds, 1)
    print(f"  a blocking client of asyncio {rate:8.1f}/s")
    return {"asyncio": {"steps_per_s": rate, "steps": steps}}


def long(steps: int) -> dict[str, Any]:
    """Measure many steps of the conference with the defaults of a run, in strict mode."""
    found = measured(conference(), OBSERVED, 1000, paths=steps // 1000, seconds=600.0)
    print(f"  {found}", flush=True)
    return found


def mutants() -> dict[str, Any]:
    """Find, confirm and shrink all faults of the conference; compare the lengths with the shortest possible."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, "-m", "otf", "mutants", "conference", "--json", "--out", folder]
        done = subprocess.run(argv, stdout=subprocess.PIPE, check=False)  # noqa: S603 -- our own command
        rows = json.loads(done.stdout)
        seconds = time.monotonic() - began
        signatures = {row["fault"]: _signature(Path(row["trace"])) for row in rows if row["trace"]}
    subjects = {each.fault: each for each in SYSTEMS["conference"]}
    least = {fault: optimum(subjects[fault], signature) for fault, signature in signatures.items()}
    longer = {row["fault"]: [row["shrunk"], least.get(row["fault"])] for row in rows}
    longer = {fault: each for fault, each in longer.items() if each[0] != each[1]}
    found = {
        "seconds": round(seconds, 1),
        "found": sum(row["found"] for row in rows),
        "of": len(rows),
        "longer": longer,
    }
    print(f"  {found}", flush=True)
    return found


def _signature(trace: Path) -> Signature:
    return Signature(**json.loads(trace.read_text().splitlines()[-1])["reason"]["signature"])


def options() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = command("silence", __doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this; repeatable")
    parser.add_argument("--benches", default=",".join(BENCHES), metavar="NAME,…", help="which systems")
    parser.add_argument("--steps", type=positive, default=MANY, help="steps of a path with observed silence")
    parser.add_argument("--seconds", type=positive, default=LONG, help="for one system with one kind of silence")
    parser.add_argument("--long", type=positive, default=50_000, help="steps of the long part")
    parser.add_argument("--busy", type=int, default=8, help="processes that compute beside the busy parts")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts, and write them where `--json` says."""
    given = options().parse_args(arguments)
    names = given.benches.split(",")
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "idle": lambda: table(names, given.steps, given.seconds),
        "pinned": lambda: pinned(10 * given.steps, given.seconds),
        "bare": lambda: bare(given.steps),
        "mutants": mutants,
        "busy": lambda: table(names, given.steps, given.seconds),
        "long": lambda: long(given.long),
        "mutants-busy": mutants,
    }
    found: dict[str, Any] = {}
    for part in given.part or PARTS:
        busy = given.busy if part in BUSY else 0
        began, load = time.monotonic(), os.getloadavg()[0]
        print(f"{part} (load {load:.1f}{f', beside {busy} busy processes' if busy else ''})", flush=True)
        with computing(busy):
            found[part] = parts[part]()
        found[f"load {part}"] = round(load, 1)
        print(f"  {time.monotonic() - began:.0f} s; load at the end {os.getloadavg()[0]:.1f}")
    save(found, given.json)


if __name__ == "__main__":
    main()
