"""What the benchmark `fresh` compares: a campaign of otf, and then a blocking client with the same bytes."""

from __future__ import annotations

import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple

import anyio

from otf.adapter import Bench
from otf.campaign import Campaign, Settings

SENT: Final = re.compile(rb'"event":"sent",.*"port":"(\w*)".*"raw":"([0-9a-f]*)"')
SEEN: Final = re.compile(rb'"event":"seen",.*"raw":"([0-9a-f]*)"')
AT: Final = re.compile(rb'"at":([0-9.e-]+)')


class Asked(NamedTuple):
    """One input of a path: its port and bytes, how many answers otf got to it, and of how many bytes."""

    port: str
    data: bytes
    answers: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Peer:
    """A server as the client sees it: its ports, what a connection begins with, and how an answer ends.

    `end` is the end of each line in both directions. `whole` returns whether an answer is complete, for servers whose
    answers may have another length when the same is asked again.
    """

    ports: Mapping[str, int]
    end: bytes = b""
    greeting: bytes = b""
    whole: Callable[[bytes], bool] | None = None

    def done(self, asked: Asked, got: bytes) -> bool:
        """Return whether the answer to an input is complete."""
        if self.whole is not None:
            return self.whole(got)
        return got.count(self.end) >= asked.answers if self.end else len(got) >= asked.size

    def connected(self, port: int) -> socket.socket:
        """Return a new connection that may be used."""
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(10)
        if self.greeting:
            sock.send(self.greeting)
            sock.recv(65_536)
        return sock


def campaign(tested: Bench, steps: int, out: Path, warm: int = 0) -> float:
    """Run one path of each of the two default strategies; return the seconds of their steps.

    `warm` steps before these do not count.
    """
    settings = Settings(out=out, traces=2, steps=(steps + warm) // 2, seed=1, largest=4 << 30)
    summary = anyio.run(Campaign(tested, settings).run)
    assert summary.verdict == "pass", summary
    return sum(_lasted(trace, warm // 2) for trace in traces(out))


def traces(out: Path) -> list[Path]:
    """Return the traces of a campaign, in the order of its paths."""
    return sorted(out.glob("path-*.jsonl"))


def _lasted(trace: Path, warm: int) -> float:
    """Return the time of the steps of a path after so many, without the silence at its end."""
    times: list[float] = []
    with trace.open("rb") as file:
        for line in file:
            warm -= b'"event":"sent"' in line
            if warm < 0 and b'"event":"se' in line and (at := AT.search(line)):
                times.append(float(at[1]))
    return times[-1] - times[0]


def asked(trace: Path) -> Iterator[Asked]:
    """Yield the inputs of a path."""
    last: Asked | None = None
    with trace.open("rb") as file:
        for line in file:
            if sent := SENT.search(line):
                if last is not None:
                    yield last
                last = Asked(sent[1].decode(), bytes.fromhex(sent[2].decode()))
            elif last is not None and (seen := SEEN.search(line)):
                last = last._replace(answers=last.answers + 1, size=last.size + len(seen[1]) // 2)
    if last is not None:
        yield last


def client(peer: Peer, out: Path) -> float:
    """Send the same bytes, and wait for each answer; return the seconds that it took."""
    spent = 0.0
    for trace in traces(out):
        path = [*asked(trace)]
        with ExitStack() as stack:
            socks = {name: stack.enter_context(peer.connected(port)) for name, port in peer.ports.items()}
            began = perf_counter()
            for one in path:
                sock, got = socks[one.port], b""
                sock.send(one.data + peer.end)
                while (one.answers and not got) or not peer.done(one, got):
                    got += sock.recv(65_536)
            spent += perf_counter() - began
    return spent


def measured(tested: Bench, steps: int, peer: Peer, warm: int = 0) -> dict[str, float]:
    """Return the steps per second of otf after `warm` ones, and of the client, with the load of the machine."""
    with tempfile.TemporaryDirectory() as folder:
        elapsed = campaign(tested, steps, Path(folder), warm)
        alone = client(peer, Path(folder))
    rates = {"otf_steps_per_s": steps / elapsed, "client_steps_per_s": (steps + warm) / alone}
    return {**rates, "steps": steps, "load": os.getloadavg()[0]}


def show(name: str, row: dict[str, Any]) -> None:
    """Print a row."""
    otf, alone = row["otf_steps_per_s"], row["client_steps_per_s"]
    print(f"{name:42} {otf:9,.0f} /s  client {alone:9,.0f} /s  {otf / alone:6.3f}  load {row['load']:.1f}", flush=True)
