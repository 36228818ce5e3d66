"""Runs a node program of Maelstrom with a clock that its network sets: `python node_clock.py SEED PROGRAM`.

The program runs unchanged, in a process of its own, and sees the clock, the lines and the random numbers of this file
in place of the machine's. Without a message for it, each look at its standard input takes it 5 ms of that clock. So a
run depends on nothing but its lines, and an election of three seconds takes a few milliseconds. What is drawn depends
on the time alone, so that one message less, as a shrinker tries, changes little else.

Lines of the network: "start" makes a fresh node; one of JSON is a message; "+25" lets 25 ms pass, and is answered by
"=" after the messages that the node sent meanwhile; "end" ends the node.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import pprint
import random
import re
import select
import sys
import time
import traceback
from collections import deque
from pathlib import Path
from typing import Any, Final

TICK: Final = 5  # ms
NOTHING: Final[tuple[list[Any], list[Any], list[Any]]] = ([], [], [])


class Lines:
    """The standard input and the clock of a node."""

    def __init__(self) -> None:
        self.now = self.until = 0  # ms
        self._lines = deque[bytes]()
        self._rest = b""
        self.said = io.StringIO()

    def take(self) -> bytes:
        """Return the next line of the network; wait for it."""
        while not self._lines:
            more = os.read(0, 1 << 16)
            if not more:
                os._exit(0)
            *lines, self._rest = (self._rest + more).split(b"\n")
            self._lines.extend(lines)
        return self._lines.popleft()

    def readline(self) -> str:
        """Return the message that `select` has announced."""
        return self.take().decode() + "\n"

    def select(self, files: list[Any], *_rest: object) -> tuple[list[Any], list[Any], list[Any]]:
        """Return whether there is a message; if not, the clock goes on."""
        # no line comes while time passes
        if self.now < self.until:
            self.now += TICK
            return NOTHING
        while True:
            if self._lines and self._lines[0].startswith(b"{"):
                return files, [], []
            if self.until:
                self._tell()
            word = self.take()
            if word == b"end":
                self._tell()
                os._exit(0)
            elif word.startswith(b"{"):
                self._lines.appendleft(word)
            else:
                self.now, self.until = self.now + TICK, self.now + int(word)
                return NOTHING

    def _tell(self) -> None:
        os.write(1, self.said.getvalue().encode() + b"=\n")
        self.said.seek(0)
        self.said.truncate()
        self.until = 0


def main() -> None:
    """Serve one fresh node after the other."""
    seed, program = sys.argv[1:]
    text = Path(program).read_text()
    code = compile(text, program, "exec")
    gc.disable()  # a node lives for one history, and a collector would copy the pages that the nodes share
    for name in re.findall(r"^import (\w+)", text, re.MULTILINE):  # once, and not in each node
        importlib.import_module(name)
    while os.read(0, 6) == b"start\n":
        if not (node := os.fork()):
            _run(code, seed)
        if os.waitpid(node, 0)[1]:
            os.write(1, b"died\n")


def _run(code: Any, seed: str) -> None:
    lines: Any = Lines()
    random.random = lambda: random.Random(f"{seed} {lines.now}").random()
    time.time = lambda: lines.now / 1000
    select.select = lines.select
    time.sleep = lambda _seconds: None  # its look at its standard input has taken the time
    json.dump = lambda value, file: file.write(json.dumps(value))  # the same text, by the encoder in C
    # for its log, which nobody reads
    pprint.pformat = lambda _value: ""  # type: ignore[assignment, misc]
    traceback.format_exc = lambda: ""  # type: ignore[assignment, misc]
    sys.stdin, sys.stdout, sys.stderr = lines, lines.said, open(os.devnull, "w")  # noqa: SIM115, PTH123 -- until it ends
    exec(code, {"__name__": "__main__"})  # noqa: S102 -- the node program


if __name__ == "__main__":
    main()
