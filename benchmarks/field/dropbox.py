"""TorXakis' example Dropbox: one file on three computers that a service keeps in step, and a small system of that kind.

The model says what `dropbox-ceciis19.txs` says, after Hughes, Pierce, Arts and Norell, "Mysteries of Dropbox". The
service itself is not part of the example, and three computers with an account are not at hand: the system is ours.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final, NamedTuple

import anyio

from otf.adapter import Bench
from otf.campaign import Budget, Campaign, Settings
from otf.spec import AnyOrder, Spec, Transition, goto

NAME: Final = "dropbox"
SOURCE: Final = "github.com/TorXakis/TorXakis, examps/Dropbox/dropbox-ceciis19.txs"
LICENCE: Final = "BSD-3-Clause"
SUM: Final = "09a536c777e5c61a535ad57706c4579385ed06e154678e5a7c223ea6dbb6bde0"
NODES: Final = range(3)
EMPTY: Final = "$"
PATHS, STEPS = 100, 10
FAULTS: Final = (
    "a download overwrites what was written",
    "an upload of an old file overwrites",
    "a conflict is lost",
    "a conflict without a difference",
    "other computers are not told",
    "a write answers what it wrote",
    "stable with something to upload",
    "a conflict takes the place of the file",
)


@dataclass(frozen=True)
class Read:
    """Read the file on a computer."""

    node: int


@dataclass(frozen=True)
class Write:
    """Write the file on a computer; the answer is what it replaces."""

    node: int
    value: str


@dataclass(frozen=True)
class Stabilize:
    """Wait until all is in step, and show the file and what was set aside as a conflict."""


@dataclass(frozen=True)
class File:
    """The contents of a file."""

    value: str


@dataclass(frozen=True)
class Ack:
    """That was all."""


class State(NamedTuple):
    """The file of the service, conflicts, the files of the computers, and of each if it is up to date and uploaded."""

    server: str = EMPTY
    conflicts: tuple[str, ...] = ()
    local: tuple[str, ...] = (EMPTY,) * 3
    fresh: tuple[bool, ...] = (True,) * 3
    clean: tuple[bool, ...] = (True,) * 3

    def stable(self) -> bool:
        """Return whether nothing is left to do."""
        return all(self.fresh) and all(self.clean)


def put(values: tuple[Any, ...], node: int, *, to: object) -> tuple[Any, ...]:
    """Return the values with that of one computer replaced."""
    return (*values[:node], to, *values[node + 1 :])


def down(state: State, node: int) -> Iterator[State]:
    """Yield the state after a computer has fetched the file."""
    if state.clean[node] and not state.fresh[node]:
        yield state._replace(local=put(state.local, node, to=state.server), fresh=put(state.fresh, node, to=True))


def up(state: State, node: int) -> Iterator[State]:
    """Yield the state after a computer has sent its file: it replaces that of the service, or is a conflict."""
    if state.clean[node]:
        return
    after, local = state._replace(clean=put(state.clean, node, to=True)), state.local[node]
    if local == state.server:
        yield after
    elif state.fresh[node]:
        yield after._replace(server=local, fresh=tuple(each == node and state.fresh[each] for each in NODES))
    elif local == EMPTY:
        yield after
    else:
        yield after._replace(conflicts=tuple(sorted((*state.conflicts, local))))


def moved(state: State) -> Iterator[State]:
    """Yield the states after the service has done one thing."""
    for node in NODES:
        yield from down(state, node)
        yield from up(state, node)


def emits(state: State) -> Iterator[Transition[State]]:
    """Yield what the service does by itself, unseen."""
    yield from map(goto, moved(state))


def step(state: State, inp: Read | Write | Stabilize) -> Iterator[Transition[State]]:
    """Yield what a computer answers."""
    if isinstance(inp, Read):
        yield goto(state, File(state.local[inp.node]))
    elif isinstance(inp, Write):
        written, clean = put(state.local, inp.node, to=inp.value), put(state.clean, inp.node, to=False)
        yield goto(state._replace(local=written, clean=clean), File(state.local[inp.node]))
    else:
        for end in _stable(state):
            yield goto(end, AnyOrder(*map(File, (end.server, *end.conflicts))), Ack())


def _stable(state: State) -> Iterator[State]:
    todo, known = [state], {state}
    while todo:
        now = todo.pop()
        if now.stable():
            yield now
        more = {*moved(now)} - known
        known |= more
        todo += more


INPUTS: Final = [*map(Read, NODES), *(Write(node, value) for node in NODES for value in "ABC"), Stabilize()]
MODEL: Final[Spec[Any, Any]] = Spec(step, State(), INPUTS, emits, name="dropbox")


class System:
    """The small system: between its inputs it does some of what there is to do, drawn from a seed."""

    def __init__(self, fault: str, seed: int = 1) -> None:
        self._fault, self._random, self._now = fault, Random(seed), State()

    def take(self, inp: Read | Write | Stabilize) -> list[File | Ack]:
        """Take an input."""
        for _ in range(self._random.randrange(4)):
            self._work()
        now, fault = self._now, self._fault
        if isinstance(inp, Read):
            return [File(now.local[inp.node])]
        if isinstance(inp, Write):
            local, clean = put(now.local, inp.node, to=inp.value), put(now.clean, inp.node, to=False)
            self._now = now._replace(local=local, clean=clean)
            return [File(inp.value if fault == "a write answers what it wrote" else now.local[inp.node])]
        while not (self._now.stable() or (fault == "stable with something to upload" and all(self._now.fresh))):
            self._work()
        return [*map(File, (self._now.server, *self._now.conflicts)), Ack()]

    def _work(self) -> None:
        node, fault = self._random.choice(NODES), self._fault
        now, fresh = self._now, self._now.fresh[node]
        if self._random.randrange(2):
            fetched = now._replace(clean=put(now.clean, node, to=True)) if fault == FAULTS[0] and not fresh else now
            self._now = next(down(fetched, node), now)
        else:
            sent = (
                now._replace(fresh=put(now.fresh, node, to=True))
                if fault == "an upload of an old file overwrites"
                else now
            )
            self._now = self._uploaded(now, next(up(sent, node), now), node)

    def _uploaded(self, before: State, after: State, node: int) -> State:
        fault, local = self._fault, before.local[node]
        if fault == "a conflict is lost":
            return after._replace(conflicts=before.conflicts)
        if fault == "a conflict without a difference" and local == before.server and not before.clean[node]:
            return after._replace(conflicts=tuple(sorted((*before.conflicts, local))))
        if fault == "other computers are not told" and after.server != before.server:
            return after._replace(fresh=before.fresh)
        if fault == "a conflict takes the place of the file" and after.conflicts != before.conflicts:
            return after._replace(server=local)
        return after


@dataclass(frozen=True)
class Row:
    """The verdict on the system, right or with a fault; the path that showed the fault, and the shrunk length."""

    system: str
    seed: int
    verdict: str
    steps: int
    first: int
    shrunk: tuple[int, ...]
    seconds: float

    def __str__(self) -> str:
        """Return the row as text."""
        found = f" (first on path {self.first}, shrunk to {', '.join(map(str, self.shrunk))})" if self.first else ""
        return f"{self.system}, seed {self.seed}: {self.verdict}, {self.steps:,} steps in {self.seconds:.1f} s{found}"


def run(data: Path, seeds: int) -> Iterator[Row]:
    """Yield the verdicts on the right system, and on it with each fault."""
    found = list(data.rglob("dropbox-ceciis19.txs"))
    if not found:
        raise SystemExit(f"{data}: no examps/Dropbox below it; check out {SOURCE}")
    if sha256(found[0].read_bytes()).hexdigest() != SUM:
        raise SystemExit(f"{found[0]}: not the model that ours says the same as")
    for fault in ("", *FAULTS):
        for seed in range(1, seeds + 1):
            yield row(fault, seed)


def row(fault: str, seed: int) -> Row:
    """Return the verdict on the system with a fault, "" for none."""
    began = monotonic()
    bench = Bench.in_process(MODEL, lambda: partial(System.take, System(fault)), types=(File, Ack))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            out=Path(folder), traces=PATHS, steps=STEPS, seed=seed, budget=Budget(seconds=60), stop_first=True
        )
        summary = anyio.run(Campaign(bench, settings).run)
    shrunk = tuple(each.shrunk.steps for each in summary.failures.values() if each.shrunk)
    first = min((each.first.number for each in summary.failures.values()), default=0)
    return Row(fault or "right", seed, summary.verdict, summary.steps, first, shrunk, monotonic() - began)
