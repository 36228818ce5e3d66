"""Round trips per second over a wire: otf with checking and tracing on, a loop by hand, a blocking socket, anyio.

`python -m benchmarks.wire`: one request of 32 bytes outstanding, tester and a C
echo server (compiled here with `cc`) on one core, medians of rounds in which all take their turns. A path of otf
begins with one wait of 20 ms for quiescence, which counts: with fewer steps it is a larger part. On a terminal pair
the CPU time of the tester is compared, since the latency varies by chance.
"""

from __future__ import annotations

import gc
import shutil
import statistics
import subprocess
import tempfile
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import command, pinned, positive, save
from benchmarks.wire_loop import loop_pipe, loop_tcp, loop_udp
from benchmarks.wires import ROUND_TRIPS, Server

KINDS: Final = ("udp", "tcp", "pipe", "pty")
CONTENDERS: Final = {("udp", "loop"): loop_udp, ("tcp", "loop"): loop_tcp, ("pipe", "loop"): loop_pipe, **ROUND_TRIPS}


@contextmanager
def compiled(compiler: str) -> Generator[Path, None, None]:
    """Compile the echo server, which exists until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "echo"
        subprocess.run([compiler, "-O2", "-o", program, Path(__file__).with_name("echo.c")], check=True)  # noqa: S603 -- the compiler
        yield program


def contenders(kind: str) -> dict[str, Callable[[Server, int], float]]:
    """Return the contenders on a kind of wire."""
    return {name: each for (where, name), each in CONTENDERS.items() if where == kind}


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
        shares = (f"  {rate / found[other]:5.2f} x {other}" for other in ("blocking", "loop") if other in found)
        share = "" if kind == "pty" else "".join(shares)
        print(f"  {name:14} {rate:10,.1f} {'µs of CPU' if kind == 'pty' else '/s'}{share}")


def kinds(text: str) -> list[str]:
    """Return the kinds of wire named in an option."""
    named = text.split(",")
    if unknown := sorted(set(named) - set(KINDS)):
        raise ArgumentTypeError(f"unknown: {', '.join(unknown)}; possible are {', '.join(KINDS)}")
    return named


def options() -> ArgumentParser:
    """Return the parser of the command line."""
    parser = command("wire", __doc__)
    parser.add_argument("--steps", type=positive, default=50_000, help="round trips of each contender in a round")
    parser.add_argument("--rounds", type=positive, default=5, help="rounds, after one to warm up")
    parser.add_argument("--only", type=kinds, default=[*KINDS], metavar="KIND,…", help="udp, tcp, pipe, pty")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and write it where `--json` says."""
    chosen = options().parse_args(arguments)
    compiler = shutil.which("cc")
    if compiler is None:
        print("skipped: the echo server is written in C, and there is no `cc` here")
        save({"skipped": "no cc"}, chosen.json)
        return
    pinned()
    table: dict[str, dict[str, Any]] = {}
    with compiled(compiler) as program:
        for kind in chosen.only:
            with Server.started(program, kind) as server:
                table[kind] = measured(server, chosen.steps, chosen.rounds)
            show(kind, table[kind])
    figures = {kind: {_key(kind, name): value for name, value in found.items()} for kind, found in table.items()}
    save(figures, chosen.json)


def _key(kind: str, name: str) -> str:
    return f"{name.removesuffix('_asyncio')}_cpu_us" if kind == "pty" else name


if __name__ == "__main__":
    main()
