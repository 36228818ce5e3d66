"""The lines of one copy of the system, as one source of arrivals with their times."""

from __future__ import annotations

import os
import select
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf
from operator import attrgetter
from time import monotonic
from types import TracebackType
from typing import Final, Self

import anyio
from anyio.abc import TaskGroup

from otf.adapter import Arrival, Frame, Line
from otf.adapter.faults import Noting
from otf.adapter.line import NEVER, Acknowledging, Belated, Counting, Stamping, Stirring
from otf.adapter.waiting import clock
from otf.core.stalls import NOISE
from otf.runner.waiting import FIRST, SHORT, SpinWait, Watching, watching
from otf.values.identity import light

FULL: Final = 20_000  # arrivals waiting to be judged, at which reading stops and the other side has to wait
HEAVY: Final = 1 << 25  # the same in bytes


@light
class Arrived:
    """An arrival, its port, and its time in seconds since the start of the run.

    If `stamped`, that is when the kernel received it; otherwise it is when the tester saw it, which may be later.
    `looked` is when the tester saw a stamped arrival. `took` is how many seconds the read took; it was there at the end
    of these.
    """

    port: str
    what: Arrival
    at: float
    stamped: bool = False
    looked: float = NEVER
    took: float = 0.0


_MOMENT: Final = attrgetter("at")


class Wire:
    """A `Wire` watches all open lines of a path; use it as an async context manager inside the lines' own contexts.

    All times are seconds since the start of the path (`zero`), by the clock of anyio (`clock`); on a virtual event
    loop, the clock is virtual. `lines` are the lines of the ports, `noting` are those lines that have remarks. `hints`
    are the ports that have something to read. `heard` is when all lines were last seen empty, before the start of the
    path. `unheard` is how many seconds before the start something may have come.

    >>> async def port_names():
    ...     async with Wire({}) as wire:
    ...         return list(wire.lines), wire.lost()
    >>> anyio.run(port_names)
    ([], '')
    """

    def __init__(self, lines: Mapping[str, Line], heard: float | None = None) -> None:
        self.lines = lines
        self.clock: Callable[[], float] = clock()
        self.zero: float = self.clock()
        self.unheard: float = 0.0 if heard is None else max(0.0, self.zero - heard)
        # arrivals not returned yet, and the ports that may have more; read at each step of the fast path
        self.inbox: deque[Arrived] = deque()
        self.polled: float = 0.0  # when the last look at all ports began
        self._bytes = 0
        self._came: dict[str, float] = {}  # the last stamps, by port
        self._tasks: TaskGroup
        self._watching: Watching
        self.watched: dict[int, str] = {}  # the descriptors, with their ports
        # ports without data or a partial frame when last read through the wire: their descriptors show when that
        # changes
        self.known_empty: set[str] = set()
        # the only port with descriptors, or None
        self.port: str | None = None
        self._woken = anyio.Event()
        self._paused = self._sleeping = False
        self.hints: set[str] = set()
        self._stirring = {port: line for port, line in lines.items() if isinstance(line, Stirring)}
        self._counting = {port: line for port, line in lines.items() if isinstance(line, Counting)}
        self._belated = {port: line for port, line in lines.items() if isinstance(line, Belated)}
        self.noting: list[Noting] = [line for line in lines.values() if isinstance(line, Noting)]
        self._acknowledging = [line for line in lines.values() if isinstance(line, Acknowledging)]
        # a poll takes a third of the time of a select, but waits in whole milliseconds
        self._poll = select.poll()
        self._spin_wait = SpinWait()

    async def __aenter__(self) -> Self:
        """Start watching."""
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._watching = watching(self._tasks, self._readable)
        SpinWait.open += 1
        for port, line in self.lines.items():
            line.arm(partial(self._hint, port))
            self._agree(port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> bool | None:
        """Stop watching; the lines stay open. An exception is raised as it is, not in a group."""
        SpinWait.open -= 1
        for line in self.lines.values():
            line.arm(lambda: None)
        self._pause()
        self._tasks.cancel_scope.cancel()
        if isinstance(error, Exception):
            # the task group would wrap it in a group, which its handlers do not expect
            await self._tasks.__aexit__(None, None, None)
            return None
        try:
            return await self._tasks.__aexit__(kind, error, where)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None

    @property
    def now(self) -> float:
        """Return the seconds since the start of the path."""
        return self.clock() - self.zero

    @property
    def waiting(self) -> bool:
        """Return whether the wire has arrivals that it has not returned yet."""
        return bool(self.inbox or self.hints)

    @property
    def stirred(self) -> float:
        """Return when the last bytes of an incomplete frame came, on any port; NEVER if no frame is incomplete."""
        latest = NEVER
        for port, line in self._stirring.items():
            if port not in self.known_empty:
                latest = max(latest, line.stirred())
        return latest - self.zero

    def lost(self) -> str:
        """Return as text which data otf's own side of the lines lost; "" if it lost none."""
        lost = {port: line.lost() for port, line in self._counting.items()}
        return "; ".join(f"{port}: {what}" for port, what in lost.items() if what)

    def doubt(self) -> str:
        """Return why a failure now may be the fault of otf, which sends frames by its own clock; "" if it cannot be."""
        return "; ".join(f"{port}: {why}" for port, line in self._belated.items() if (why := line.doubt()))

    def overdue(self) -> float:
        """Return how many seconds otf is late with the frames that it sends by its own clock; 0 if it is on time."""
        since = min((line.overdue() for line in self._belated.values()), default=inf)
        return max(0.0, monotonic() - since)

    def noted(self) -> list[str]:
        """Return the faults that otf has injected since the last call."""
        return [each for line in self.noting for each in line.noted()]

    def stamp(self) -> None:
        """Turn on the kernel's timestamps on lines that have them, so that frames have right times if otf is late."""
        for line in self.lines.values():
            if isinstance(line, Stamping):
                line.stamp()

    def poll(self) -> None:
        """Take everything that has arrived on all ports, without waiting."""
        began = self.now
        for port in self.lines:
            self._drain(port)
        if not self._paused:
            self.polled = began

    def empty(self) -> bool:
        """Take what is there, like `poll`; return whether nothing was there, and no arrival was left from before."""
        # usually nothing is there, and one system call tells so for all lines that were empty before
        at = self.clock() - self.zero
        nothing = not self._poll.poll(0)
        for port, line in self.lines.items():
            if self._paused or (nothing and port in self.known_empty):
                continue
            self.known_empty.discard(port)  # half a frame may have come
            if arrivals := line.receive():
                self.keep(port, arrivals, at)
                self._drain(port)
            elif self._shows(port, line):
                self.known_empty.add(port)
        if not self._paused:
            self.polled = at
        return not self.waiting

    def _shows(self, port: str, line: Line) -> bool:
        """Return whether the descriptors of a line without data show when that changes."""
        wanted, stirring = line.descriptors(), self._stirring.get(port)
        # for a terminal only a read is certain, and time may end half a frame
        return bool(wanted) and not any(map(os.isatty, wanted)) and (stirring is None or stirring.stirred() == NEVER)

    def arrived(self) -> list[Arrived]:
        """Return the arrivals that the wire has not returned yet, in their order."""
        if self.hints:
            # reading a line may wake another, or the same again: that is a hint for the next call
            hints, self.hints = self.hints, set()
            # in the order of the ports, as `poll` does: that of a set differs from one start of Python to the next
            for port in filter(hints.__contains__, self.lines):
                self._drain(port)
        if not self.inbox:
            return []
        # ports are read one after another; if stamps are known, they give the order
        arrived = sorted(self.inbox, key=_MOMENT) if any(each.stamped for each in self.inbox) else list(self.inbox)
        self.inbox.clear()
        self._bytes = 0
        if self._paused:
            self._pause(paused=False)
        return arrived

    def over(self, until: float) -> bool:
        """Return whether the time `until` has come."""
        # compares on the clock's own scale: after subtracting the start, rounding down might keep `until` from ever
        # coming
        return self.clock() >= self.zero + until

    async def wait(self, until: float) -> None:
        """Wait until something has arrived, or until the time `until`."""
        if not self.spun(until):
            await self.sleep(until)

    def spun(self, until: float) -> bool:
        """Wait a moment without the event loop; return whether something came or the time is over, else `sleep`."""
        if self.inbox or self.hints:
            return True
        ready = self._spin_wait.wait(self.watched, until - self.clock() + self.zero)
        self.take(ready or ())
        return ready is not None

    def readable(self, *, patient: bool) -> list[int]:
        """Wait a moment without the event loop, longer if `patient`; return the descriptors that are readable."""
        if patient:
            ready = self._poll.poll(1000 * SHORT)
            return [ready[0][0]] if len(ready) == 1 else [descriptor for descriptor, _ in ready]
        return select.select(self.watched, (), (), FIRST)[0]

    def acknowledge(self, *, later: bool) -> None:
        """Acknowledge what was read, on lines that can; with `later`, leave acknowledgements to the next inputs."""
        for line in self._acknowledging:
            line.acknowledge(later=later)

    def take(self, ready: Iterable[int]) -> None:
        """Read once from each of these descriptors."""
        for descriptor in ready:
            self._readable(descriptor)

    @property
    def turn(self) -> float:
        """When the event loop has to get its next turn, by `time.monotonic`."""
        return self._spin_wait.until

    def prompt(self) -> bool:
        """Return whether otf can now wait for the lines without the event loop."""
        return not self.waiting and not self.noting and self._spin_wait.possible(self.watched)

    def turned(self) -> None:
        """Record that the event loop had its turn: short waits without the loop are possible again."""
        self._spin_wait.turned()

    async def sleep(self, until: float) -> None:
        """Let the event loop wait until something has arrived, or until the time `until`."""
        self._woken, self._sleeping = anyio.Event(), True
        with anyio.CancelScope(deadline=self.zero + until):
            await self._woken.wait()
        self._sleeping = False
        self._spin_wait.turned()

    def _readable(self, descriptor: int) -> None:
        """Do one read from a descriptor; what is left keeps it readable."""
        port = self.watched.get(descriptor)
        if port is not None:
            self._take(port)

    def _drain(self, port: str) -> None:
        while self._take(port):
            pass
        if self._paused:
            self.hints.add(port)  # it may have more

    def _take(self, port: str) -> bool:
        """Take the next arrivals of a port; return False if there are none, or if the inbox is full."""
        if self._paused:
            return False
        at = self.clock() - self.zero
        arrivals = self.lines[port].receive()
        self.keep(port, arrivals, at)
        return bool(arrivals)

    def keep(self, port: str, arrivals: list[Arrival], at: float) -> None:
        """Put arrivals that were read from a port into the inbox; `at` is the time at which reading began."""
        inbox, ended, took = self.inbox, not arrivals, 0.0
        if arrivals and (now := self.clock() - self.zero) - at > NOISE:
            # the machine was held up before the bytes were read: some of them may have come only then
            at, took = now, now - at
        self.known_empty.discard(port)
        for arrival in arrivals:
            if not isinstance(arrival, Frame):
                ended = True
            else:
                self._bytes += len(arrival.data)
                if arrival.received is not None:
                    # a port is first in, first out, whatever its stamps say
                    came = self._came[port] = max(min(arrival.received - self.zero, at), self._came.get(port, NEVER))
                    inbox.append(Arrived(port, arrival, came, stamped=True, looked=at, took=took))
                    continue
            inbox.append(Arrived(port, arrival, at, took=took))
        if ended:
            self._agree(port)
        if inbox and self._sleeping:
            self._woken.set()
        if len(inbox) >= FULL or self._bytes >= HEAVY:
            self._pause()

    def _hint(self, port: str) -> None:
        # at once, since a descriptor must not be watched any more when it is closed
        self._agree(port)
        self.hints.add(port)
        self._woken.set()

    def _agree(self, port: str) -> None:
        """Watch exactly the current descriptors of a line: after its end, one would be readable forever."""
        wanted = set(self.lines[port].descriptors()) if not self._paused else set[int]()
        watched = {descriptor for descriptor, its in self.watched.items() if its == port}
        for descriptor in watched - wanted:
            del self.watched[descriptor]
            self._watching.remove(descriptor)
            self._poll.unregister(descriptor)
        for descriptor in wanted - watched:
            self.watched[descriptor] = port
            self._watching.add(descriptor)
            self._poll.register(descriptor, select.POLLIN)
        ports = set(self.watched.values())
        self.port = ports.pop() if len(ports) == 1 else None

    def _pause(self, *, paused: bool = True) -> None:
        self._paused = paused
        for port in self.lines:
            self._agree(port)
