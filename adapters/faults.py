"""Faults on a line, by plan: frames are lost, duplicated, overtaken, delayed, damaged or cut, and connections break.

This is a layer over any port of any bench. Only the seed of the path decides what it does, and the trace records that.
So otf can drive a failure again with the same faults, or with fewer.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from math import inf

import anyio

from otf.adapter import Arrival, Bench, Frame, Line, LineLost
from otf.adapter.faults import IN, OUT, Faults, plan
from otf.adapter.line import NEVER, Acting, Belated, Counting, Packing, Stamping, Stirring
from otf.adapter.observed_rest.place import Delaying, Place, Placed
from otf.adapter.waiting import Alarm, Spawn, alarms, clock, spawning
from otf.codec import PortAction
from otf.errors import CodecError, UsageError
from otf.values.arguments import checked


class FaultyLine:
    """A line on which faults happen; made by `inject`."""

    def __init__(self, inner: Line, port: str, faults: Faults, alarm: Alarm, start: Spawn) -> None:
        self._inner = inner
        self._port = port
        self._faults = faults
        self._alarm = alarm
        self._start = start
        self._plan = plan()
        self._clock = clock()
        self._sent = self._came = 0
        self._noted: list[str] = []
        self._held: list[Frame] = []  # outputs that wait to be overtaken, or for their time
        self._waiting: list[tuple[str, bytes]] = []  # inputs, each with its planned fault
        self._released = 0  # inputs that were let go but not sent yet
        self._queue: list[Arrival] = []
        self._wake: Callable[[], None] = lambda: None

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptors of the line below."""
        return self._inner.descriptors()

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever the line below does, and when something held up may go on."""
        self._wake = wake
        self._inner.arm(wake)

    def noted(self) -> list[str]:
        """Return the faults injected since the last call."""
        noted, self._noted = self._noted, []
        return noted

    def remarks(self) -> list[str]:
        """Return the remarks of the line below."""
        return self._inner.remarks()

    def stirred(self) -> float:
        """Return when the last bytes of an unfinished frame came, or now if an output is held up."""
        below = self._inner.stirred() if isinstance(self._inner, Stirring) else NEVER
        return self._clock() if self._held or self._queue else below

    def place(self) -> Place:
        """Return where the other end is; an end in this process counts as hidden, since silence there takes no time."""
        found = self._inner.place() if isinstance(self._inner, Placed) else None
        if found is None or found.inside or found.threads:
            return Place(hidden="faults are injected, and what is held back for them is not seen")
        return found

    def under_way(self) -> int:
        """Return how much is still in transit: frames held up, and bytes below. Raises OSError if hidden."""
        held = len(self._held) + len(self._queue) + len(self._waiting) + self._released
        return held + (self._inner.under_way() if isinstance(self._inner, Delaying) else 0)

    def lost(self) -> str:
        """Return what the underlying line has lost of its own accord."""
        return self._inner.lost() if isinstance(self._inner, Counting) else ""

    def overdue(self) -> float:
        """Return since when the underlying line has been late with what it sends of its own accord, or `inf`."""
        return self._inner.overdue() if isinstance(self._inner, Belated) else inf

    def doubt(self) -> str:
        """Return why a failure may be the fault of the line below."""
        return self._inner.doubt() if isinstance(self._inner, Belated) else ""

    def stamp(self) -> None:
        """Ask the line below for times, if it has them."""
        if isinstance(self._inner, Stamping):
            self._inner.stamp()

    async def perform(self, port_action: PortAction) -> None:
        """Let the line below connect or close."""
        if not isinstance(self._inner, Acting):
            message = f"it cannot {port_action.value}: tcp and unix can, and a process can finish"
            raise CodecError(message)
        await self._inner.perform(port_action)

    # Inputs

    async def send(self, data: bytes) -> None:
        """Send one frame, or do to it what the plan says. Raises what the line below raises."""
        self._sent += 1
        match self._decided(IN, self._sent):
            case "drop":
                pass
            case "duplicate":
                await self._send(data)
                await self._send(data)
            case "reorder" | "delay" | "merge" as kind:
                self._waiting.append((kind, data))
                self._alarm(self._clock() + self._faults.late, self._release)
            case "split":
                await self._split(data)
            case "disconnect":
                await self.perform(PortAction.ABORT)
            case kind:
                await self._send(self._damaged(data, kind, IN, self._sent))

    async def _send(self, data: bytes) -> None:
        """Send a frame together with those that waited for it, which go before it, with it, or after it."""
        if not self._waiting:
            await self._inner.send(data)
            return
        waiting, self._waiting = self._waiting, []
        for kind in ("delay", "merge", "reorder"):
            frames = [each for its, each in waiting if its == kind]
            if kind == "merge":
                frames.append(data)
            if kind == "merge" and isinstance(self._inner, Packing):
                await self._inner.push(b"".join(map(self._inner.pack, frames)))
                continue
            for frame in frames:
                await self._inner.send(frame)

    async def _split(self, data: bytes) -> None:
        if not isinstance(self._inner, Packing):
            await self._inner.send(data)
            return
        raw = self._inner.pack(data)
        await self._inner.push(raw[: len(raw) // 2])
        await anyio.sleep(self._faults.late)
        await self._inner.push(raw[len(raw) // 2 :])

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._released += len(waiting)
        for _, data in waiting:
            self._start(self._let_out, data)

    async def _let_out(self, data: bytes) -> None:
        with suppress(LineLost):  # its ending comes by itself
            await self._inner.send(data)
        self._released -= 1

    # Outputs

    def receive(self) -> list[Arrival]:
        """Return what has arrived, after the planned faults."""
        while not self._queue and (batch := self._inner.receive()):
            for arrival in batch:
                self._take(arrival)
        queue, self._queue = self._queue, []
        return queue

    def _take(self, arrival: Arrival) -> None:
        if not isinstance(arrival, Frame):
            self._let_go()
            self._queue.append(arrival)
            return
        self._came += 1
        match self._decided(OUT, self._came):
            case "drop":
                return
            case "reorder" | "delay":
                self._held.append(arrival)
                self._alarm(self._clock() + self._faults.late, self._let_go_and_wake)
                return
            case "duplicate":
                self._queue += [arrival, arrival]
            case kind:
                self._queue.append(replace(arrival, data=self._damaged(arrival.data, kind, OUT, self._came)))
        # it has overtaken what was held up, which may now go on
        self._let_go()

    def _let_go(self) -> None:
        self._queue += self._held
        self._held.clear()

    def _let_go_and_wake(self) -> None:
        self._let_go()
        self._wake()

    # Decisions

    def _decided(self, way: str, number: int) -> str:
        kind = self._faults.fault(self._plan, self._port, way, number)
        if kind:
            self._noted.append(f"{self._port} {way} {number} {kind}")
        return kind

    def _damaged(self, data: bytes, kind: str, way: str, number: int) -> bytes:
        random = self._plan.random(self._port, f"{way} bytes", number)
        if kind == "corrupt" and data:
            at = random.randrange(len(data))
            return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
        return data[: random.randrange(len(data))] if kind == "truncate" and data else data


@checked
def inject(bench: Bench, faults: Mapping[str, Faults]) -> Bench:
    """Return a bench that loses, copies or damages messages on the given ports. Raises UsageError for an unknown port.

    The seed of the campaign and the number of the path decide which frames a fault hits. The trace records each fault
    beside the next event: "cpe2 out 3 drop" means that otf dropped the third frame from port `cpe2`.

    >>> from otf.models.coffee import bench
    >>> inject(bench(), {"line": Faults(drop=0.1)}).name
    'coffee'
    """
    unknown = [port for port in faults if bench.ports and port not in bench.ports]
    if unknown:
        message = f"no port {unknown[0]!r} to inject faults on: the bench {bench.name} has {', '.join(bench.ports)}"
        raise UsageError(message)
    # the bench's own life and connections are those of the lines below
    return replace(bench, connect=partial(_injected, bench, faults), life=None)


@asynccontextmanager
async def _injected(bench: Bench, faults: Mapping[str, Faults]) -> AsyncGenerator[Mapping[str, Line], None]:
    async with alarms() as alarm, spawning() as start, bench.open() as lines:
        yield {port: _over(line, port, faults, alarm, start) for port, line in lines.items()}


def _over(line: Line, port: str, faults: Mapping[str, Faults], alarm: Alarm, start: Spawn) -> Line:
    return FaultyLine(line, port, faults[port], alarm, start) if port in faults else line
