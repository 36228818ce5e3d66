"""RERS 2017, sequential problems 10, 11 and 13: reactive Java programs with errors that are hard to reach.

The programs run as given, behind `Serve.java`: a connection is a fresh one. The model has one state, and allows all
outputs but errors. The figures beside ours are those of a plain random walk and of the problems' own search.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final

import anyio

from otf.adapter import Bench
from otf.adapters.tcp import tcp
from otf.campaign import Budget, Campaign, Listener, Settings
from otf.codec import lines
from otf.core import Barrier
from otf.spec import Spec, Transition, Where, goto
from otf.strategy import STRATEGIES
from otf.trace.events import Event, Seen, Sent

NAME: Final = "rers"
SOURCE: Final = "github.com/Meijuh/RERS2017-seq-problems, src/main/resources"
LICENCE: Final = "Apache-2.0"
BUDGET: Final = 57_265  # inputs, refused ones included: a published random walk reaches all 32 errors of problem 10
STEPS: Final = 20
SUMS: Final = {
    10: "4cd2c0f7a1e80c8db8655f37f32e0c256fa03a2d9b47b52dcd74388da5080f91",
    11: "e58db5e9eaf2c77171fc8a343f56c351bd47cb6f8c2bca3d3bf4c9c327665e7f",
    13: "e189efa0a5d9ff7a2a6908540a8300743049449d44b5ff84b218da0f28c1bef2",
}
MORE: Final = {
    12: "9af1368518e47dbbd62ed8440b36a18be370368d7e3ce67c63036a7e87d622fd",
    14: "93d1fc4dcb949af9e31a7067b855e483df0f284484f4d8481e241e0f2c60500d",
}
PING: Final = Barrier({"sut": "ping"}, lambda _port, output: bool(output == "pong"))
"""Its answer proves that a path is quiet, instead of half a second of silence; it reaches no problem."""
SEARCHED: Final = 100_000  # states of a problem that the breadth-first search for the shortest ways looks at


@dataclass(frozen=True)
class Row:
    """What one campaign found; `shortest` of the errors were shrunk to as few inputs as a breadth-first search."""

    problem: int
    strategy: str
    seed: int
    errors: int
    inputs: int
    refused: float
    last: int
    shortest: int
    kinds: int
    seconds: float

    def __str__(self) -> str:
        """Return the row as text."""
        return (
            f"problem {self.problem}, {self.strategy}, seed {self.seed}: {self.errors} errors in {self.inputs:,} inputs"
            f" (the last new one at {self.last:,}), {self.refused:.1%} refused, {self.kinds} kinds,"
            f" {self.shortest} as short as can be, {self.seconds:.0f} s"
        )


class Counting(Listener):
    """Counts inputs, refused ones, and errors."""

    def __init__(self) -> None:
        self.sent = self.refused = 0
        self.errors: dict[str, int] = {}

    def event(self, number: int, event: Event) -> None:
        """Count an event of a path."""
        del number
        self.sent += isinstance(event, Sent)
        if isinstance(event, Seen):
            self.refused += event.output == "invalid"
            if "error" in str(event.output):
                self.errors.setdefault(str(event.output).split()[-1], self.sent)


def run(data: Path, seeds: int) -> Iterator[Row]:
    """Yield the results of novelty and of a random walk, for each problem and seed."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = {number: source(data, number, Path(folder)) for number in SUMS}
        here = Path(__file__).with_name("Serve.java")
        files = [here, *(Path(folder, f"Problem{number}.java") for number in SUMS)]
        command = ["javac", "-nowarn", "-d", folder, *map(str, files)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 -- of this machine
        for number, names in inputs.items():
            best = _shortest(number, folder)
            for strategy in ("novelty", "random"):
                for seed in range(1, seeds + 1):
                    with served(number, folder) as port:
                        yield _campaign(number, names, port, strategy, seed, best, Path(folder))


def source(data: Path, number: int, folder: Path) -> list[str]:
    """Copy a problem and return its inputs; its text must be the one that was measured before."""
    found = [each for each in data.rglob(f"Problem{number}.java") if each.parent.name == "resources"]
    if not found:
        raise SystemExit(f"{data}: no src/main/resources/Problem{number}.java below it; check out {SOURCE}")
    text = found[0].read_bytes()
    if sha256(text).hexdigest() != (SUMS | MORE)[number]:
        raise SystemExit(f"{found[0]}: not the file that was measured: its SHA-256 is {sha256(text).hexdigest()}")
    (folder / f"Problem{number}.java").write_bytes(text)
    declared = re.search(rb"String\[\] inputs = \{(.*?)\}", text)
    return [] if declared is None else re.findall(r'"(\w+)"', declared[1].decode())


def _java(number: int, folder: str, *more: str) -> list[str]:
    return ["java", "-Xss64m", "-cp", folder, "Serve", f"Problem{number}", *more]


def _shortest(number: int, folder: str) -> dict[str, int]:
    command = _java(number, folder, "30", str(SEARCHED))
    found = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 -- of this machine
    return {name: int(length) for name, length in (line.split() for line in found.stdout.splitlines()[1:])}


@contextmanager
def served(number: int, folder: str) -> Iterator[int]:
    """Run a problem; yield its port."""
    command = _java(number, folder)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:  # noqa: S603 -- of this machine
        try:
            yield int(program.stdout.readline() if program.stdout else 0)
        finally:
            program.kill()


def allowed(state: int, inp: str) -> Iterator[Transition[int]]:
    """Allow every output but an error."""
    del inp
    yield goto(state, Where(_is_no_error, says="no error"))


def _is_no_error(output: object) -> bool:
    return "error" not in str(output)


def _campaign(
    number: int, inputs: list[str], port: int, strategy: str, seed: int, best: dict[str, int], folder: Path
) -> Row:
    counting, began = Counting(), monotonic()
    ports = {"sut": tcp(f"127.0.0.1:{port}")}
    bench = Bench.on_ports(Spec(allowed, 0, inputs), lines({str: "{}"}), ports, barrier=PING, latency=0.2)
    kind = replace(STRATEGIES[strategy], done=lambda: counting.sent >= BUDGET)
    out = folder / f"{number}-{strategy}-{seed}"
    # no bound by the clock, or a busy machine would shrink less
    shrinking = Budget(seconds=inf)
    settings = Settings(out=out, traces=BUDGET, steps=STEPS, seed=seed, strategy=kind, budget=shrinking)
    summary = anyio.run(Campaign(bench, settings, counting).run)
    short = dict[str, int]()
    for group in summary.failures.values():
        if group.shrunk is not None and group.shrunk.events:
            error = str([each.output for each in group.shrunk.events if isinstance(each, Seen)][-1]).split()[-1]
            short[error] = min(group.shrunk.steps, short.get(error, group.shrunk.steps))
    return Row(
        number,
        strategy,
        seed,
        len(counting.errors),
        counting.sent,
        counting.refused / max(1, counting.sent),
        max(counting.errors.values(), default=0),
        sum(short.get(name) == length for name, length in best.items()),
        len(summary.failures),
        monotonic() - began,
    )
