"""The bench of the hostile day: when one of its places is reached for the second time, it is struck.

The environment names the place and the way, and whether the system answers wrongly from then on.
"""

from __future__ import annotations

import atexit
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.hostile_ways import strike
from otf import Bench, Spec, goto, lines
from otf.adapter import Life
from otf.adapters import inprocess

PLACE, WAY = os.environ.get("HOSTILE_PLACE", ""), os.environ.get("HOSTILE_WAY", "")
WRONG = "HOSTILE_WRONG" in os.environ
ONCE = {"import", "make", "inputs", "plugin", "finish"}
LAST = {"plugin", "finish", "exit"}  # after all was judged and said: what lay on the disk until then is kept
OUT, BEFORE, LIED = (Path(name).absolute() for name in ("out", "before/out", "lied"))
_met: dict[str, int] = {}


def at(place: str) -> None:
    """Strike, if this is the place and the moment."""
    _met[place] = met = _met.get(place, 0) + 1
    if place == PLACE and met == 1 + (place not in ONCE):
        _met["struck"] = 1
        if place in LAST and OUT.exists():
            shutil.copytree(OUT, BEFORE)
        strike(WAY, OUT)


def later() -> None:
    """Strike from another thread."""
    if PLACE == "thread" and _met.get("step", 0) == 2:  # noqa: PLR2004 -- the second step
        thread = threading.Thread(target=_in_thread)
        thread.start()
        thread.join(0.2)


def _in_thread() -> None:
    _met["thread"] = 1
    at("thread")


class Codec:
    """A codec that strikes."""

    def __init__(self) -> None:
        self._inner = lines({int: "{}"})
        self.types = self._inner.types

    def port(self, value: object) -> str:
        """Return the one port."""
        return self._inner.port(value) or "p"

    def encode(self, value: object) -> Any:
        """Encode."""
        at("encode")
        return self._inner.encode(value)

    def decode(self, port: str, data: bytes) -> Any:
        """Decode."""
        at("decode")
        return self._inner.decode(port, data)


def step(state: int, inp: int) -> Any:
    """Add modulo seven."""
    at("model")
    return [goto((state + inp) % 7, (state + inp) % 7)]


def inputs(_state: int) -> list[int]:
    """Return two inputs."""
    at("inputs")
    return [1, 2]


def system() -> Callable[[bytes], bytes]:
    """Start a system that adds modulo seven."""
    at("start")
    total = 0

    def take(data: bytes) -> bytes:
        nonlocal total
        at("step")
        later()
        total = (total + int(data)) % 7
        if WRONG and "struck" in _met:
            LIED.touch()
            return b"9"
        return str(total).encode()

    return take


class Strategy:
    """A strategy that strikes."""

    def choose(self, view: Any) -> Any:
        """Choose the first input."""
        at("strategy")
        return view.enabled[0]


def bench() -> Bench:
    """Return the bench."""
    at("make")
    life = Life(reset=lambda: at("hook"))
    ports = {"p": inprocess(system, port="p")}
    spec = Spec(step, 0, inputs)
    return Bench(spec, ports=ports, codec=Codec(), life=life, quiescence=0.0, latency=0.0, busy=0.0)


if PLACE == "exit":
    atexit.register(at, "exit")
    at("exit")
at("import")
