"""Maelstrom's raft in Python, as published, repaired, and with faults: are all its histories linearizable.

The node programs run as processes that speak lines of JSON, and otf is their network and their clients: partitions,
delay and loss are inputs of the model as calls are. Maelstrom itself draws them, and judges a history afterwards.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, Final

import anyio

from benchmarks.field.key_value import Answer, Cas, Cut, Heard, Pass, Read, Weather, Write, key_value
from benchmarks.field.node_network import Network, network
from benchmarks.field.raft_faults import FAULTS, REPAIRS
from otf.adapter import Bench
from otf.campaign import Budget, Campaign, Settings, Summary
from otf.strategy import weighted

NAME: Final = "maelstrom"
SOURCE: Final = "github.com/jepsen-io/maelstrom, demo/python/raft.py"
LICENCE: Final = "EPL-1.0"
SUM: Final = "0970a52ab46b567d395bb8c1cad839d696aa7972db93345f137cbc5cb8e18c10"
NODES: Final = 5
HISTORIES, CALLS = 1_000, 40
WEIGHTS: Final = {Pass: 15.0, Cut: 0.4, Weather: 0.5, Read: 2.0}
ERRORS: Final = {11: "failed", 20: "no value", 22: "differs"}


@dataclass(frozen=True)
class Row:
    """The verdict on a program: histories, the first one that fails, what was shrunk, and messages delivered."""

    program: str
    seed: int
    verdict: str
    histories: int
    first: int
    shrunk: tuple[int, ...]
    messages: int
    seconds: float
    cpu: float

    def __str__(self) -> str:
        """Return the row as text."""
        found = f" (first in {self.first}, shrunk to {', '.join(map(str, self.shrunk))})" if self.first else ""
        rates = f"{self.messages / self.seconds:,.0f} a second, {self.messages / self.cpu:,.0f} a second of CPU"
        counts = f"{self.histories:,} histories{found}; {self.messages:,} messages"
        return f"{self.program}, seed {self.seed}: {self.verdict}, {counts}, {rates}"


class Clients:
    """The clients: an input in, the answers that they got out."""

    def __init__(self, net: Network) -> None:
        self._net = net
        self._calls = 0
        self._open: dict[int, int] = {}
        net.fresh()

    def take(self, inp: Any) -> list[Heard]:
        """Take an input of the model."""
        match inp:
            case Pass(milliseconds):
                return [Heard(tuple(answer for each in self._net.elapse(milliseconds) for answer in self._heard(each)))]
            case Cut(nodes):
                self._net.cut = frozenset(f"n{each}" for each in nodes)
            case Weather(fast, slow, loss):
                self._net.latency, self._net.loss = (fast, slow), loss
            case _:
                self._call(inp)
        return []

    def _call(self, inp: Read | Write | Cas) -> None:
        self._calls += 1
        self._open[inp.client] = self._calls
        bodies: dict[type, dict[str, Any]] = {
            Read: {"type": "read"},
            Write: {"type": "write", "value": getattr(inp, "value", 0)},
            Cas: {"type": "cas", "from": getattr(inp, "old", 0), "to": getattr(inp, "new", 0)},
        }
        body = {**bodies[type(inp)], "key": 0, "msg_id": self._calls}
        self._net.send({"src": f"c{inp.client + 1}", "dest": f"n{inp.client}", "body": body})

    def _heard(self, message: dict[str, Any]) -> Iterator[Answer]:
        body, client = message["body"], int(message["dest"][1:]) - 1
        if body["type"] != "init_ok" and self._open.get(client) == body["in_reply_to"]:
            del self._open[client]
            says = body["value"] if body["type"] == "read_ok" else ERRORS.get(body.get("code"), "ok")
            yield Answer(client, says)


def run(data: Path, seeds: int) -> Iterator[Row]:
    """Yield the verdicts on the program as published, on the repaired one, and on that one with faults."""
    text = _text(data)
    repaired = exchanged(text, *REPAIRS)
    programs = {"as published": text, "one of two repaired": exchanged(text, REPAIRS[0]), "repaired": repaired}
    programs |= {f"repaired, {name}": exchanged(repaired, each) for name, each in FAULTS.items()}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, program) in enumerate(programs.items()):
            file = Path(folder, f"{number}.py")
            file.write_text(program)
            for seed in range(1, seeds + 1):
                yield _row(name, file, seed, Path(folder, f"{number}-{seed}"))


def _text(data: Path) -> str:
    found = [each for each in data.rglob("raft.py") if each.parts[-3:-1] == ("demo", "python")]
    if not found:
        raise SystemExit(f"{data}: no demo/python/raft.py below it; check out {SOURCE}")
    if sha256(found[0].read_bytes()).hexdigest() != SUM:
        raise SystemExit(f"{found[0]}: not the file that was measured")
    return found[0].read_text()


def exchanged(text: str, *pairs: tuple[str, str]) -> str:
    """Return the program with texts exchanged, each of which it has once."""
    for old, new in pairs:
        if text.count(old) != 1:
            raise SystemExit(f"the program has this {text.count(old)} times: {old}")
        text = text.replace(old, new)
    return text


def _row(name: str, file: Path, seed: int, out: Path) -> Row:
    began, before = monotonic(), _cpu()
    with network(file, NODES, seed) as net:
        bench = Bench.in_process(key_value(NODES), lambda: Clients(net).take, types=(Answer, Heard))
        strategy = weighted(WEIGHTS)
        settings = Settings(
            out=out,
            traces=HISTORIES,
            steps=CALLS,
            seed=seed,
            strategy=strategy,
            budget=Budget(seconds=120),
            stop_first=True,
        )
        summary: Summary = anyio.run(Campaign(bench, settings).run)
    shrunk = tuple(each.shrunk.steps for each in summary.failures.values() if each.shrunk)
    first = min((each.first.number for each in summary.failures.values()), default=0)
    return Row(
        name, seed, summary.verdict, summary.paths, first, shrunk, net.delivered, monotonic() - began, _cpu() - before
    )


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
