"""Systems in the same process, and runs on them in virtual time: what went in and what came out, as a script.

Values are texts: `p.ping` is the frame `ping` on the port `p`.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import anyio
from trio.testing import MockClock

from otf.adapter import Arrival, Bench, Ending, Frame, Line
from otf.adapter.observed_rest.system import Rest, SystemProcesses
from otf.adapter.waiting import Alarm, alarms
from otf.adapters.inprocess import FrameHandler, Reply, inprocess
from otf.core import Session
from otf.core.pacing import Pacing, Strict
from otf.runner import drive
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Undecodable
from otf.trace.record import Header
from otf.trace.verdict import Failure, Verdict
from tests.runner.words import Words

HEADER: Final = Header(
    run="0123456789ab",
    bench="coffee.py:bench",
    parameters={"fault": "none", "size": 3},
    fingerprint="00ff",
    seed=7,
    strategy="random",
    mode="strict",
    inputs="mixed",
    quiescence=0.02,
    latency=0.002,
    busy=0.001,
    versions={"otf": "0.1.0"},
    path=3,
)
"""The header of a trace, for tests that only write one."""

T = TypeVar("T")
Answer: TypeAlias = tuple[float, str, bytes | Ending]
"""The answers of a system: the delay in seconds, the port, the frame."""

Answering: TypeAlias = Callable[[str, bytes], Iterable[Answer]]


def virtually(run: Callable[[], Awaitable[T]]) -> T:
    """Run in virtual time: when all wait, the clock jumps."""
    return anyio.run(run, backend="trio", backend_options={"clock": MockClock(autojump_threshold=0)})


class Due(NamedTuple):
    """What will arrive."""

    at: float
    number: int
    what: Arrival


@dataclass
class HubLine:
    """One port of a hub."""

    hub: Hub
    port: str
    wake: Callable[[], None] = lambda: None
    due: list[Due] = field(default_factory=list[Due])
    last_words: list[str] = field(default_factory=list[str])

    def descriptors(self) -> tuple[int, ...]:
        """Return none."""
        return ()

    def arm(self, wake: Callable[[], None]) -> None:
        """Take whom to wake."""
        self.wake = wake

    async def send(self, data: bytes) -> None:
        """Let the system answer."""
        self.hub.take(self.port, data)

    def receive(self) -> list[Arrival]:
        """Return what is due, one arrival at a time."""
        if self.due and self.due[0].at <= anyio.current_time():
            return [heapq.heappop(self.due).what]
        return []

    def remarks(self) -> list[str]:
        """Return the last words of the port."""
        return self.last_words


@dataclass
class Hub:
    """A system with several ports, one function for all of them; `deaf` ports do not say that something has come."""

    answering: Answering
    alarm: Alarm
    deaf: frozenset[str]
    lines: dict[str, HubLine] = field(default_factory=dict[str, HubLine])
    given: int = 0

    def take(self, port: str, data: bytes) -> None:
        """Plan the answers to a frame."""
        for after, where, what in self.answering(port, data):
            line = self.lines[where]
            at = anyio.current_time() + after
            self.given += 1
            heapq.heappush(line.due, Due(at, self.given, Frame(what) if isinstance(what, bytes) else what))
            if where not in self.deaf:
                # whoever is to be woken then: it may be armed later
                self.alarm(at, partial(_woken, line))


def _woken(line: HubLine) -> None:
    line.wake()


def hub(
    answering: Answering, *ports: str, deaf: Iterable[str] = (), last_words: Mapping[str, list[str]] | None = None
) -> Callable[[], AbstractAsyncContextManager[Mapping[str, Line]]]:
    """Return the `connect` of a bench for a system with several ports."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with alarms() as alarm:
            system = Hub(answering, alarm, frozenset(deaf))
            for port in ports:
                system.lines[port] = HubLine(system, port, last_words=(last_words or {}).get(port, []))
            yield dict(system.lines)

    return connect


@dataclass
class Still:
    """A line on which everything is there from the beginning and nothing calls.

    Sending raises `refusal`, if any, once `willing` frames were taken.
    """

    arrivals: list[Arrival] = field(default_factory=list[Arrival])
    refusal: Exception | None = None
    sent: list[bytes] = field(default_factory=list[bytes])
    willing: int = 0

    def descriptors(self) -> tuple[int, ...]:
        """Return none."""
        return ()

    def arm(self, wake: Callable[[], None]) -> None:
        """Never call it."""

    async def send(self, data: bytes) -> None:
        """Take a frame, or refuse."""
        if self.refusal is not None and len(self.sent) >= self.willing:
            raise self.refusal
        self.sent.append(data)

    def receive(self) -> list[Arrival]:
        """Return the arrivals that are there."""
        arrivals, self.arrivals = self.arrivals, []
        return arrivals

    def remarks(self) -> list[str]:
        """Return none."""
        return []


def opened(**lines: Line) -> Callable[[], AbstractAsyncContextManager[Mapping[str, Line]]]:
    """Return the `connect` of a bench for these lines."""
    return lambda: nullcontext(lines)


@dataclass
class Played:
    """A run that is over: its verdict, and everything that was recorded."""

    verdict: Verdict
    recorded: list[tuple[Event, bytes | None, dict[str, Any]]]

    @property
    def events(self) -> list[Event]:
        """Return the events."""
        return [event for event, _, _ in self.recorded]

    @property
    def failure(self) -> Failure:
        """Return why the run failed."""
        assert self.verdict.failure is not None
        return self.verdict.failure

    @property
    def script(self) -> list[str]:
        """Return a line for each event: `0 > p.ping`, `0.05 < p.pong`, `1 p ended: why`, `1.05 quiet`."""
        return [_line(event) + "".join(f" ({name})" for name in more) for event, _, more in self.recorded]


def _line(event: Event) -> str:
    at = f"{event.at:.6g}"
    match event:
        case Sent(value):
            return f"{at} > {value}"
        case Seen(Undecodable(raw), port):
            return f"{at} < {port} garbled {raw.hex()}"
        case Seen(value):
            return f"{at} < {value}"
        case Closed(port, reason):
            return f"{at} {port} ended: {reason}"
        case Quiet():
            return f"{at} quiet"
        case _:
            return f"{at} {event}"


async def conduct(
    bench: Bench, inputs: Sequence[object], pacing: Pacing | None = None, *, flood: int = 10_000
) -> Played:
    """Drive a system with these inputs."""
    recorded: list[tuple[Event, bytes | None, dict[str, Any]]] = []

    def record(event: Event, raw: bytes | None = None, /, **more: object) -> None:
        recorded.append((event, raw, more))

    session = Session(
        bench.oracle(),
        Script(inputs),
        pacing or Strict(bench.timing),
        steps=1000,
        flood=flood,
        barrier=bench.barrier,
    )
    return Played(await drive(bench, session, record), recorded)


def play(bench: Bench, *inputs: object, flood: int = 10_000) -> Played:
    """Drive a system with these inputs in virtual time."""
    return virtually(lambda: conduct(bench, inputs, flood=flood))


def spec(step: Callable[[Any, Any], Iterable[Any]], *inputs: object, initial: object = 0) -> Spec[Any, Any]:
    """Return a spec that offers these inputs."""
    return Spec(step, initial, inputs)


def ping(state: int, inp: str) -> Iterator[Transition[int]]:
    """Answer `p.ping` with `p.pong`, `p.hush` with silence; count both. Nothing else is specified."""
    if inp == "p.ping":
        yield goto(state + 1, "p.pong")
    elif inp == "p.hush":
        yield goto(state + 1)


def on_function(make: Callable[[], FrameHandler], **more: Any) -> Bench:  # noqa: ANN401 -- the fields of a bench
    """Return a bench with one port, behind which is the function that `make` returns; it should do as `ping`."""
    given: dict[str, Any] = {"spec": spec(ping), "codec": Words(), "ports": {"p": inprocess(make)}, "quiescence": 1.0}
    return Bench(**{**given, **more})


def answering(*replies: Reply, **more: Any) -> Bench:  # noqa: ANN401 -- the same
    """Return a bench with a system that answers every input with these replies; it should do as `ping`."""
    return on_function(lambda: lambda _frame: list(replies), **more)


def on_still(*arrivals: Arrival, refusal: Exception | None = None, **more: Any) -> Bench:  # noqa: ANN401 -- the same
    """Return a bench with one `Still` line; its system should do as `ping`."""
    given: dict[str, Any] = {"connect": opened(p=Still([*arrivals], refusal)), "ports": {}, "outputs": ("p",)}
    return on_function(lambda: lambda _frame: None, **{**given, **more})


class Restless(SystemProcesses):
    """A process that works at every look, and uses no time: for others."""

    def __init__(self) -> None:
        self.roots = frozenset({7})

    def look(self, quiet: object) -> Rest | None:
        """Return that a thread runs."""
        del quiet
        return None

    def glance(self) -> None:
        """See nothing new."""

    def used(self) -> float:
        """Return that it has computed nothing."""
        return 0.0
