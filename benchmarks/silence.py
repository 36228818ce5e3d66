"""Steps per second with silence that is observed, and with silence that is timed, idle and on a busy machine.

`python -m benchmarks.silence --json FILE`: strict mode, without barriers, time within paths. The reason is printed
where a system cannot be observed. `--busy 8` processes compute beside the second half of it.
"""

from __future__ import annotations

import asyncio
import json
import os
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

from benchmarks.measure import command, positive, save
from otf.adapter import Bench, Line
from otf.adapter.bench_options import Silence
from otf.adapters import tcp
from otf.campaign import run
from otf.codec import lines as written
from otf.errors import OtfError
from otf.models.coap.bench import bench as coap
from otf.models.conference.bench import bench as conference
from otf.models.gtp.bench import bench as gtp
from otf.models.irc.bench import bench as irc
from otf.models.jobs.bench import bench as jobs
from otf.models.tftp.bench import bench as tftp
from otf.models.uci.bench import bench as uci
from otf.runner.observing import OBSERVED
from otf.spec import Spec, goto

SERVER: Final = Path(__file__).with_name("asyncio_server.py")
PATHS: Final = 3
FEW: Final = 50  # steps of a path with timed silence
MANY: Final = 500  # steps of a path with observed silence, in which the start of a path counts for as little
LONG: Final = 60.0  # seconds for one system with one kind of silence


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
    spec = Spec(counting, 0, [Next(), Reset()])
    return Bench(spec, codec=codec, connect=_connect, outputs=("tcp",), name="asyncio", quiescence=0.02)


BENCHES: Final[dict[str, Callable[[], Bench]]] = {
    "conference": conference,
    "asyncio": on_asyncio,
    "coap": coap,
    "gtp": gtp,
    "irc": irc,
    "jobs": jobs,
    "tftp": tftp,
    "uci": uci,
}


def measured(bench: Bench, silence: Silence, steps: int) -> dict[str, Any]:
    """Drive some paths; return the steps per second within them, and what was not a pass."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        bench = replace(bench, silence=silence, barrier=None)
        summary = run(bench, out=out, traces=PATHS, steps=steps, time=LONG, mode="strict", seed=1, shrink=False)
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
    """Let so many processes compute beside the block."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def table(names: list[str], steps: int) -> dict[str, Any]:
    """Measure the benches, and print each."""
    found: dict[str, Any] = {}
    for name in names:
        try:
            bench = BENCHES[name]()
            both = {"timed": measured(bench, "timed", FEW), OBSERVED: measured(bench, OBSERVED, steps)}
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


def options() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = command("silence", __doc__)
    parser.add_argument("--benches", default=",".join(BENCHES), metavar="NAME,…", help="which systems")
    parser.add_argument("--steps", type=positive, default=MANY, help="steps of a path with observed silence")
    parser.add_argument("--busy", type=int, default=8, help="processes that compute beside the second half")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables, and write them where `--json` says."""
    given = options().parse_args(arguments)
    names = given.benches.split(",")
    began = time.monotonic()
    print(f"idle (load {os.getloadavg()[0]:.1f})")
    found = {"idle": table(names, given.steps)}
    with computing(given.busy):
        print(f"beside {given.busy} busy processes")
        found["busy"] = table(names, given.steps)
    print(f"{time.monotonic() - began:.0f} s; load at the end {os.getloadavg()[0]:.1f}")
    save(found, given.json)


if __name__ == "__main__":
    main()
