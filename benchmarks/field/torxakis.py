"""Two examples that TorXakis is published with, Queue and Lucky People: our models against their systems in Java.

The systems run as published, but for the port, which is a free one of this machine alone. Each is also run with one
line exchanged, to see that the models notice. TorXakis publishes no figures of these runs.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio

from otf.adapter import Bench, Life
from otf.adapters.tcp import tcp
from otf.campaign import Campaign, Settings
from otf.codec import lines
from otf.spec import Spec, Transition, goto

NAME: Final = "torxakis"
SOURCE: Final = "github.com/TorXakis/TorXakis, examps"
LICENCE: Final = "BSD-3-Clause"
PATHS, STEPS = 10, 100
LUCKY_AFTER: Final = 5


@dataclass(frozen=True)
class Row:
    """The verdict on one system, and the rate of steps; of a wrong one, to how few inputs it was shrunk."""

    system: str
    verdict: str
    steps: int
    seconds: float
    shrunk: tuple[int, ...]

    def __str__(self) -> str:
        """Return the row as text."""
        shrunk = f", shrunk to {', '.join(map(str, self.shrunk))}" if self.shrunk else ""
        return f"{self.system}: {self.verdict}, {self.steps:,} steps in {self.seconds:.1f} s{shrunk}"


@dataclass(frozen=True)
class Enq:
    """Put a number into the queue."""

    number: int


@dataclass(frozen=True)
class Deq:
    """Take the first one out; nothing comes of an empty queue."""


@dataclass(frozen=True)
class Person:
    """Somebody who may be lucky."""

    sex: str
    first: str
    last: str
    day: int
    month: int


@dataclass(frozen=True)
class Out:
    """An answer."""

    text: str


def queue(held: tuple[int, ...], inp: Enq | Deq) -> Iterator[Transition[Any]]:
    """A queue of numbers."""
    if isinstance(inp, Enq):
        yield goto((*held, inp.number))
    elif held:
        yield goto(held[1:], Out(str(held[0])))
    else:
        yield goto(held)


def lucky(state: tuple[str, int], inp: Person) -> Iterator[Transition[Any]]:
    """Lucky are those with two equal initials or numbers, and the first after five of the other sex."""
    last, number = state
    by_sex = inp.sex != last and number >= LUCKY_AFTER
    found = by_sex or inp.first[0] == inp.last[0] or inp.day == inp.month
    yield goto((inp.sex, min(number + 1, LUCKY_AFTER) if inp.sex == last else 1), Out(str(found)))


PEOPLE: Final = [
    Person(sex, first, last, *born)
    for sex in ("Male", "Female")
    for first, last in (("Ann", "Berg"), ("Ann", "Adams"))
    for born in ((1, 2), (3, 3))
]


class Example(NamedTuple):
    """A system: its file and checksum, the line about the port, a fault, the model, and the texts of its messages."""

    file: str
    sum: str
    listens: str
    fault: tuple[str, str]
    spec: Spec[Any, Any]
    says: dict[Any, str]


EXAMPLES: Final = {
    "QueueServer": Example(
        "examps/Queue/QueueServer.java",
        "1df3ca828b38e3518669cf2ec3a1d13d0e39bd97ef9778eda98d87e85bd1a55e",
        "new ServerSocket(portNo)",
        ("last = cell;", "if (empty() || x != 2) last = cell;"),
        Spec(queue, (), [*map(Enq, range(3)), Deq()], name="queue"),
        {Enq: "Enq({number})", Deq: "Deq", Out: "{text}"},
    ),
    "LuckyPeople": Example(
        "examps/LuckyPeople/sut/LuckyPeople.java",
        "b23251ea7a3dea3bae6eed0cd346b24e9200e46649104738e4c1998eb2642bc4",
        "new ServerSocket(7777)",
        ("LUCKY_AFTER = 5", "LUCKY_AFTER = 6"),
        Spec(lucky, ("Male", 0), PEOPLE, name="lucky"),
        {Person: "{sex}@{first}@{last}@{day}@{month}", Out: "{text}"},
    ),
}


def run(data: Path, seeds: int) -> Iterator[Row]:
    """Yield the verdicts on each system, and on it with a fault."""
    for name, example in EXAMPLES.items():
        for fault in (False, True):
            for seed in range(1, seeds + 1):
                with tempfile.TemporaryDirectory() as folder:
                    yield _row(name, example, data, Path(folder), seed, fault=fault)


def _row(name: str, example: Example, data: Path, folder: Path, seed: int, *, fault: bool) -> Row:
    _compile(name, example, data, folder, fault=fault)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    life = Life(server=["java", "-Xshare:auto", "-cp", str(folder), name, str(port)], ready="Waiting for tester")
    ports = {"sut": tcp(f"127.0.0.1:{port}")}
    bench = Bench.on_ports(example.spec, lines(example.says), ports, life=life, latency=0.05, quiescence=0.1)
    settings = Settings(out=folder / "out", traces=PATHS, steps=STEPS, seed=seed)
    summary = anyio.run(Campaign(bench, settings).run)
    shrunk = tuple(each.shrunk.steps for each in summary.failures.values() if each.shrunk)
    return Row(name + " with a fault" * fault, summary.verdict, summary.steps, summary.result.seconds, shrunk)


def _compile(name: str, example: Example, data: Path, folder: Path, *, fault: bool) -> None:
    found = list(data.rglob(example.file))
    if not found:
        raise SystemExit(f"{data}: no {example.file} below it; check out {SOURCE}")
    text = found[0].read_text()
    if sha256(text.encode()).hexdigest() != example.sum:
        raise SystemExit(f"{found[0]}: not the file that was measured")
    listens = "new ServerSocket(Integer.parseInt(args[0]), 1, InetAddress.getLoopbackAddress())"
    text = text.replace(example.listens, listens)
    file = folder / f"{name}.java"
    file.write_text(text.replace(*example.fault) if fault else text)
    subprocess.run(["javac", "-nowarn", "-d", str(folder), str(file)], check=True, capture_output=True)  # noqa: S603, S607
