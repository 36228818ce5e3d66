"""A small campaign over pairs of sockets, conducted the quick way and the long one."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from otf.adapter import Arrival, Bench, Ending, Frame, Line, LineLost
from otf.campaign.recorder import Recorder
from otf.core import Pacing, Session, Symbol, View
from otf.core.cached_run import CachedInput, CachedOutput, CachedRun
from otf.core.pacing import Eager
from otf.runner import TraceWriter, drive
from otf.runner.fast_path import FastPath
from otf.spec import Accept, Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Event, Seen, Sent, Stalled
from otf.trace.record import Header
from otf.trace.verdict import Verdict
from tests.runner.playing import opened
from tests.runner.words import Words

Answer = tuple[str, bytes | None]  # a port, and a frame on it; None: the port ends
Answering = Callable[[str, bytes], Iterable[Answer]]


# A system at the other end of pairs of sockets


@dataclass
class Near(Line):
    """Our end of a pair of sockets; `broken` is the number of the frame that cannot be sent."""

    port: str
    far: Far
    near: socket.socket
    broken: int = 0
    slow: int = 0
    over: bool = False
    sent: int = 0

    def descriptors(self) -> tuple[int, ...]:
        """Return that of the socket, until it has ended."""
        return () if self.over else (self.near.fileno(),)

    def arm(self, wake: Callable[[], None]) -> None:
        """Never call it: the descriptor tells all."""

    async def send(self, data: bytes) -> None:
        """Send a frame."""
        self.sent += 1
        if self.broken and self.sent >= self.broken:
            raise LineLost("the cable was pulled")
        if self.sent == self.slow:
            await anyio.sleep(0.005)
        self.far.take(self.port, data)

    def receive(self) -> list[Arrival]:
        """Return all frames that have come."""
        found = list[Arrival]()
        while not self.over:
            try:
                data = self.near.recv(4096)
            except BlockingIOError:
                break
            if data == b"\x04":
                self.over = True
                found.append(Ending("end of stream"))
            else:
                found.append(Frame(data.lstrip(b"\x05"), "longer than 4 bytes" if data[:1] == b"\x05" else ""))
        return found

    def remarks(self) -> list[str]:
        """Return none."""
        return []


@dataclass
class Far:
    """The other ends: an input is answered before `send` returns, so that no machine is too slow for it."""

    answering: Answering
    ends: dict[str, socket.socket] = field(default_factory=dict[str, socket.socket])

    def take(self, port: str, data: bytes) -> None:
        """Answer a frame."""
        for where, what in self.answering(port, data):
            self.ends[where].send(b"\x04" if what is None else what)


@contextmanager
def connected(
    answering: Answering, *ports: str, line: type[Near] | None = None, broken: int = 0, slow: int = 0
) -> Generator[Mapping[str, Near], None, None]:
    """Yield lines to a system."""
    with ExitStack() as stack:
        far, found = Far(answering), dict[str, Near]()
        for port in ports:
            near, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.enter_context(near)
            far.ends[port] = stack.enter_context(end)
            near.settimeout(0)
            found[port] = (line or Near)(port, far, near, broken, slow)
        yield found


# A campaign of few paths on it


def steps(state: int, inp: str) -> Iterator[Transition[int] | Accept]:
    """Count pings, say the number of ports, be silent, say much."""
    if inp == "p.ping":
        yield goto(state, "p.pong")
    elif inp == "p.more":
        yield goto(state, "p.one", "p.two")
    elif inp == "q.ping":
        yield goto(1 - state, "q.odd" if state else "q.even")
    elif inp == "p.both":
        yield goto(state, "p.left", "q.right")
    elif inp == "p.hush":
        yield goto(state)
    elif inp == "p.long":
        yield goto(state, "p." + "x" * 600)
    elif inp == "p.go":
        yield Accept(lambda seen: [seen], "p", until=lambda _seen: False)


class Right:
    """A system that follows the model; `wrong` has the reactions to the inputs with these numbers instead."""

    def __init__(self, wrong: Mapping[int, Sequence[Answer]] | None = None) -> None:
        self.wrong = wrong or {}
        self.odd = False
        self.number = 0

    def __call__(self, port: str, data: bytes) -> list[Answer]:
        """Answer."""
        self.number += 1
        right = self.right(port, data)
        return list(self.wrong.get(self.number, right))

    def right(self, port: str, data: bytes) -> list[Answer]:
        """Return the right answer."""
        if port == "q":
            self.odd = not self.odd
            return [("q", b"even" if self.odd else b"odd")]
        return ANSWERS[data]


ANSWERS: Final[Mapping[bytes, list[Answer]]] = {
    b"ping": [("p", b"pong")],
    b"more": [("p", b"one"), ("p", b"two")],
    b"both": [("p", b"left"), ("q", b"right")],
    b"hush": [],
    b"long": [("p", b"x" * 600)],
    b"go": [("p", b"x")] * 150,
}


@dataclass
class Story:
    """The result of a campaign: a verdict and the lines of a trace for each path, and how many steps were fast."""

    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    lines: list[list[dict[str, Any]]] = field(default_factory=list[list[dict[str, Any]]])
    events: list[list[Event]] = field(default_factory=list[list[Event]])
    quick: int = 0
    heard: int = 0
    views: list[set[object]] = field(default_factory=list[set[object]])


class Shown(Script):
    """A chooser that notes which states it is shown."""

    def __init__(self, inputs: Sequence[str], views: list[set[object]]) -> None:
        super().__init__(inputs)
        self.views = views

    def choose(self, view: View) -> Symbol | None:
        """Return the next input."""
        self.views.append({node.value for node in view.nodes})
        return super().choose(view)


@dataclass(kw_only=True)
class Plan:
    """A campaign: the inputs of its paths, and everything that may be special in one."""

    inputs: Sequence[str]
    wrong: Mapping[int, Sequence[Answer]] = field(default_factory=dict[int, Sequence[Answer]])
    ports: Sequence[str] = ("p",)
    paths: int = 2
    limit: int = 10_000
    flood: int = 10_000
    broken: int = 0
    slow: int = 0
    line: type[Near] = Near
    bench: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pacing: Callable[[Bench], Pacing] | None = None


HEADER: Final = Header("id", "b", {}, "0", 1, "script", "eager", "uioco", 0.01, 0.0, 0.0, {}, 1)


def told(plan: Plan, out: Path, monkeypatch: pytest.MonkeyPatch, *, quick: bool) -> Story:
    """Conduct a campaign, on the fast path or without it; the planned trouble comes in its last path."""
    story = Story()
    offered = ["p.ping", "p.more", "p.hush", "p.long", "p.go", *(["q.ping", "p.both"] if "q" in plan.ports else [])]
    given: dict[str, Any] = {
        "spec": Spec(steps, 0, offered),
        "codec": Words(),
        "outputs": tuple(plan.ports),
        "quiescence": 0.01,
    }
    bench = Bench(**{**given, **plan.bench})
    oracle, proven = bench.oracle(), set[Any]()
    with monkeypatch.context() as patch:
        _count(story, patch)
        if not quick:
            patch.setattr(FastPath, "ready", property(lambda _self: False))
        for number in range(1, plan.paths + 1):
            last = number == plan.paths
            pacing = plan.pacing(bench) if plan.pacing else Eager(bench.timing, proven)
            chooser = Shown(plan.inputs, story.views)
            session = Session(oracle, chooser, pacing, steps=plan.limit, flood=plan.flood, barrier=bench.barrier)
            at_last = plan if last else Plan(inputs=())
            faults = {"broken": at_last.broken, "slow": at_last.slow}
            with connected(Right(at_last.wrong), *plan.ports, line=plan.line, **faults) as found:
                drove(replace(bench, connect=opened(**found)), session, story, out)
    return story


def _count(story: Story, patch: pytest.MonkeyPatch) -> None:
    """Count the inputs and outputs of cached runs."""
    sent, seen = CachedRun.sent, CachedRun.seen

    def counted(cached_run: CachedRun, go: CachedInput, event: Sent) -> None:
        story.quick += 1
        sent(cached_run, go, event)

    def noted(cached_run: CachedRun, then: CachedOutput, event: Seen) -> None:
        story.heard += 1
        seen(cached_run, then, event)

    patch.setattr(CachedRun, "sent", counted)
    patch.setattr(CachedRun, "seen", noted)


def drove(bench: Bench, session: Session, story: Story, out: Path) -> None:
    """Drive one path, and add its result to the story."""
    writer = TraceWriter(out / "trace.jsonl", HEADER, datetime.now(UTC))
    record = Recorder(writer)
    story.verdicts.append(anyio.run(lambda: drive(bench, session, record)))
    writer.close()
    story.events.append(record.events)
    told = [json.loads(line) for line in (out / "trace.jsonl").read_bytes().splitlines()[1:]]
    # when the machine stalls depends on neither way
    kept = [line for line in told if line["event"] != "stalled"]
    plain = [{name: what for name, what in line.items() if name not in TIMES} for line in kept]
    story.lines.append([{**line, "n": number} for number, line in enumerate(plain, 1)])
    # what is in the trace is what was told, to the microsecond
    assert [line["at"] for line in told] == pytest.approx([event.at for event in record.events], abs=2e-6)
    at = [event.at for event in record.events if not isinstance(event, Stalled)]
    assert at == sorted(at)


def pinging(found: Mapping[str, Line], quiescence: float = 0.01) -> Bench:
    """Return a bench on these lines with one input."""
    spec = Spec(steps, 0, ["p.ping"])
    return Bench(spec, codec=Words(), connect=opened(**found), outputs=("p",), quiescence=quiescence)


TIMES: Final = {"timestamp", "at", "slack", "took"}


def kind(story: Story) -> str:
    """Return the kind of the failure of the last path, or its outcome."""
    verdict = story.verdicts[-1]
    return verdict.failure.kind if verdict.failure else verdict.outcome


Both = Callable[..., Story]
