"""The network between the node programs of Maelstrom: it delays, loses and cuts off messages, and has the clock.

Messages are lines of JSON with `src`, `dest` and `body`, as Maelstrom has them. All that is drawn comes from one seed.
"""

from __future__ import annotations

import heapq
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

from msgspec.json import decode

CLOCK: Final = Path(__file__).with_name("node_clock.py")
BUSY, IDLE = 50, 200  # ms that pass at once while messages are under way, and while none is
FAST: Final = (10, 100)  # ms that a message between nodes takes


class Network:
    """Nodes with their names, and what is under way between them. `cut` are the nodes that the others do not reach."""

    def __init__(self, nodes: dict[str, subprocess.Popen[bytes]], seed: int) -> None:
        self._nodes = nodes
        self._seed = seed
        self._up = False
        self.delivered = self.lost = 0

    def fresh(self) -> None:
        """Start each node anew, and introduce them to each other."""
        self.end()
        self.now, self._number = 0, 0
        self._under_way: list[tuple[int, int, dict[str, Any], bytes]] = []
        self.cut: frozenset[str] = frozenset()
        self.latency, self.loss = FAST, 0.0
        for node in self._nodes.values():
            _write(node, b"start\n")
        self._up = True
        for name in self._nodes:
            self.send(
                {
                    "src": "c0",
                    "dest": name,
                    "body": {"type": "init", "node_id": name, "node_ids": [*self._nodes], "msg_id": 0},
                }
            )
        self.elapse(IDLE)

    def end(self) -> None:
        """End the nodes."""
        if self._up:
            self._up = False
            for node in self._nodes.values():
                _write(node, b"end\n")
            for node in self._nodes.values():
                _read(node)

    def send(self, message: dict[str, Any], line: bytes = b"") -> None:
        """Put a message under way; `line` is its text. Those of clients are fast, and arrive."""
        between = message["src"] in self._nodes and message["dest"] in self._nodes
        takes = 1
        if between:
            # what is drawn depends on nothing but the time and the two ends: one message less changes little else
            random = Random(f"{self._seed} {self.now} {message['src']} {message['dest']}")
            if random.random() < self.loss:
                self.lost += 1
                return
            takes = random.randint(*self.latency)
        self._number += 1
        heapq.heappush(self._under_way, (self.now + takes, self._number, message, line or json.dumps(message).encode()))

    def elapse(self, milliseconds: int) -> list[dict[str, Any]]:
        """Let time pass; return the messages that clients get meanwhile."""
        until, answers = self.now + milliseconds, list[dict[str, Any]]()
        while self.now < until:
            passes = min(BUSY if self._under_way else IDLE, until - self.now)
            self.now += passes
            words = {name: list[bytes]() for name in self._nodes}
            for message, line in self._due():
                if message["dest"] in words:
                    words[message["dest"]] += line, b"\n"
                else:
                    answers.append(message)
            for name, node in self._nodes.items():
                _write(node, b"".join(words[name]) + b"+%d\n" % passes)
            for node in self._nodes.values():
                for line in _read(node):
                    self.send(decode(line), line)
        return answers

    def _due(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        while self._under_way and self._under_way[0][0] <= self.now:
            _, _, message, line = heapq.heappop(self._under_way)
            src, dest = message["src"], message["dest"]
            if src in self._nodes and dest in self._nodes and (src in self.cut) != (dest in self.cut):
                self.lost += 1
            else:
                self.delivered += 1
                yield message, line


def _write(node: subprocess.Popen[bytes], data: bytes) -> None:
    assert node.stdin is not None
    file = node.stdin.fileno()
    sent = os.write(file, data)
    while sent < len(data):
        sent += os.write(file, data[sent:])


def _read(node: subprocess.Popen[bytes]) -> Sequence[bytes]:
    """Return the messages of a node up to the end of its time."""
    assert node.stdout is not None
    data, more = b"", None
    while data != b"=\n" and not data.endswith(b"\n=\n"):
        if more == b"" or data.endswith(b"died\n"):
            message = "a node has died"
            raise RuntimeError(message)
        more = os.read(node.stdout.fileno(), 1 << 16)
        data += more
    return data.split(b"\n")[:-2]


@contextmanager
def network(program: Path, count: int, seed: int) -> Iterator[Network]:
    """Run a network of so many nodes, named as in Maelstrom."""
    names = [f"n{number}" for number in range(count)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "bufsize": 0}
    nodes: dict[str, subprocess.Popen[bytes]] = {
        name: subprocess.Popen([sys.executable, "-S", str(CLOCK), f"{seed}{name}", str(program)], **pipes)  # type: ignore[call-overload]  # noqa: S603
        for name in names
    }
    made = Network(nodes, seed)
    try:
        yield made
        made.end()
    finally:
        for node in nodes.values():
            node.kill()
            node.communicate()
