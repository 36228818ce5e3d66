"""A simulated world: a system behind FIFO ports with random latencies, in virtual time.

It respects the assumptions behind the promise, and uses all the freedom that they leave. It spreads the outputs of a
transition over the time in which the system is busy with it, and sets timers anywhere in that time. It takes inputs on
different ports, and emits outputs on different ports, in any order. Random times may lie at the very end of their
bounds.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from random import Random
from typing import Final, Literal, TypeAlias

from otf.simulate.system import Emission, SimulatedSystem, SystemMove
from otf.spec import Elapse, Idle, TimerAction, TimerStart
from otf.trace.events import Seen

Callback = Callable[[], None]
Chance: TypeAlias = Literal["uniform", "extreme", "lopsided"]
HALF: Final = 0.5
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """The largest times in a simulated world, in seconds.

    A message takes at most `latency` seconds through a port in one direction. The system needs at most `busy` seconds
    for an input. The mean pause before a spontaneous output is `spontaneous` seconds. `chance` says how the simulation
    draws times: `uniform` draws evenly between the smallest and the largest time, and `extreme` draws only one of these
    two. With `lopsided`, all messages through a port in one direction take the smallest time, or all take the largest.

    >>> TimeBounds(latency=0.01, chance="extreme").busy
    0.002
    """

    latency: float = 0.002
    busy: float = 0.002
    spontaneous: float = 0.01
    chance: Chance = "uniform"


@dataclass(slots=True)
class World:
    """A simulated `system` behind its ports, in virtual time.

    The time `now` is in seconds, and it passes only when the caller calls `advance`. All random numbers come from
    `random`, and the `bounds` limit all times. `arrived` lists the outputs that have come, but that the tester has
    not taken yet.

    By default, the timers of a state restart when a transition leads from the state back to itself. If `ignoring` is
    true, an input that does not change the state does not restart the timers of the state. If `wavering` is true,
    chance decides at each transition whether the timers restart, and the system may have entered its initial state
    before the simulation began. If `choosy` is true, chance decides which of the inputs on different ports the system
    takes next; by default the system takes the input that has waited longest.

    >>> from random import Random
    >>> from otf.simulate import System
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])
    >>> world = World(System(lamp, lambda output: "sut", Random(1)), TimeBounds(), Random(1))
    >>> world.send("press", "sut")
    >>> world.advance(1.0)
    >>> world.stand_still(2.0)
    >>> [seen.output for seen in world.arrived]
    ['click']
    """

    system: SimulatedSystem
    bounds: TimeBounds
    random: Random
    now: float = 0.0
    arrived: list[Seen] = field(default_factory=list[Seen])
    ignoring: bool = False
    wavering: bool = False
    choosy: bool = False
    _waiting: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])
    _free: float = 0.0
    _plans: dict[int, int] = field(default_factory=dict[int, int])
    _named: dict[str, int] = field(default_factory=dict[str, int])
    _last: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    _slow: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    _due: list[tuple[float, int, Callback]] = field(default_factory=list[tuple[float, int, Callback]])
    _order: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        """Arm the spontaneous moves of the initial state, and start the timers that run from the beginning."""
        ends = [way.within[1] for way in self.system.spontaneous() if way.within]
        ends += [each.hi for each in self.system.timers if isinstance(each, TimerStart)]
        began = self._between(-min(ends), self.now) if self.wavering and ends and min(ends) < FOREVER else self.now
        self._arm(began)
        self._start(self.system.timers, began)

    def send(self, inp: object, port: str) -> None:
        """Send an input; the input arrives within the latency, and after all earlier inputs on its port."""
        if isinstance(inp, Idle):
            return
        at = self.now if isinstance(inp, Elapse) else self._through("in", port, self.now)
        self._at(at, partial(self._reach, inp, port))

    def advance(self, until: float) -> None:
        """Let time pass until an output arrives, but at most until the time `until`."""
        while not self.arrived and self._due and self._due[0][0] <= until:
            self.now, _, action = heapq.heappop(self._due)
            action()
        if not self.arrived:
            self.now = max(self.now, until)

    def stand_still(self, until: float) -> None:
        """Let time pass while nothing happens, as on a stalled machine; all due events happen at the time `until`."""
        self._due = [(max(time, until), order, action) for time, order, action in self._due]
        heapq.heapify(self._due)
        self._free = max(self._free, until) if self._free > self.now else self._free
        self.now = until

    def _reach(self, inp: object, port: str) -> None:
        # the system processes inputs one after another, each to completion: this one waits for its turn
        self._waiting.append((port, inp))
        self._serve()

    def _serve(self) -> None:
        if self._waiting and self._free <= self.now:
            head = self._head()
            self._waiting.remove(head)
            self._take(head[1])
            self._at(self._free, self._serve)

    def _head(self) -> tuple[str, object]:
        """Return the next of the waiting inputs: the first on some port."""
        ports = list(dict.fromkeys(port for port, _ in self._waiting))
        chosen = self.random.choice(ports) if self.choosy and len(ports) > 1 else ports[0]
        return next(head for head in self._waiting if head[0] == chosen)

    def _take(self, inp: object) -> None:
        before = self.system.state
        happening = self.system.take(inp)
        if isinstance(inp, Elapse) and happening.state == before and not (happening.outputs or happening.timers):
            return
        busy = self._between(0.0, self.bounds.busy)
        # its outputs come while the system is busy with the input, or in their window if they have one
        lo, hi = happening.within or (0.0, busy)
        emitted = list(self._spread(happening.outputs, lo, hi))
        self._free = max([self.now + busy, *(moment for _, moment in emitted)])
        for emission, moment in emitted:
            self._emit([emission], moment)
        anew = happening.state != before or not self._runs_on(self.ignoring)
        if anew or happening.timers:
            # timers are set on entering the state: at some time while the system is busy with that
            entered = self._between(self.now, max(self.now, self._free))
            self._start(happening.timers, entered)
            if anew:
                self._arm(entered)

    def _spread(self, outputs: Sequence[Emission], lo: float, hi: float) -> Iterator[tuple[Emission, float]]:
        """Yield outputs with the moments of their emission; only those on one port have an order."""
        for port in dict.fromkeys(each.port for each in outputs):
            own = [each for each in outputs if each.port == port]
            yield from zip(own, sorted(self.now + self._between(lo, hi) for _ in own), strict=True)

    def _runs_on(self, ignoring: bool) -> bool:  # noqa: FBT001 -- the answer if nothing wavers
        return self.random.random() < HALF if self.wavering else ignoring

    def _emit(self, outputs: Sequence[Emission], moment: float) -> None:
        for output, port in outputs:
            at = self._through("out", port, moment)
            self._at(at, partial(self.arrived.append, Seen(output, port, at)))

    def _arm(self, entered: float) -> None:
        """Plan the spontaneous moves of the new state; another state cancels them."""
        self._plans.clear()
        for number, way in enumerate(self.system.spontaneous()):
            if not way.after:
                self._plan(number, way, entered)

    def _plan(self, number: int, way: SystemMove, since: float) -> None:
        self._plans[number] = plan = next(self._order)
        pause = self._between(*way.within) if way.within else self._pause()
        self._at(max(since + pause, self._free), partial(self._spontaneous, number, way, plan))

    def _spontaneous(self, number: int, way: SystemMove, plan: int) -> None:
        if self._plans.get(number) != plan:
            return
        if self._free > self.now:
            self._at(self._free, partial(self._spontaneous, number, way, plan))
            return
        if not self._do(way):
            # a timer that expired restarts, whatever the others do
            self._plan(number, way, self.now)

    def _do(self, way: SystemMove) -> bool:
        """Make a spontaneous move; return whether it restarts the timers of the state."""
        before = self.system.state
        happening = self.system.do(way)
        self._emit(happening.outputs, self.now)
        self._start(happening.timers, self.now)
        anew = happening.state != before or not self._runs_on(ignoring=False)
        if anew:
            self._arm(self.now)
        return anew

    def _start(self, actions: Sequence[TimerAction], moment: float) -> None:
        """Start and stop named timers. They keep running whatever happens; a restarted one forgets its previous run."""
        for each in actions:
            self._named.pop(each.name, None)
            if isinstance(each, TimerStart):
                self._named[each.name] = run = next(self._order)
                due = max(self.now, moment + self._between(each.lo, each.hi))
                self._at(due, partial(self._expire, each.name, run))

    def _expire(self, name: str, run: int) -> None:
        if self._named.get(name) != run:
            return
        if self._free > self.now:
            self._at(self._free, partial(self._expire, name, run))
            return
        del self._named[name]
        ways = [way for way in self.system.spontaneous() if way.after == name]
        if ways:
            self._do(self.random.choice(ways))

    def _pause(self) -> float:
        if self.bounds.chance == "uniform":
            return self.random.expovariate(1 / self.bounds.spontaneous)
        return self._between(0.0, 2 * self.bounds.spontaneous)

    def _between(self, lo: float, hi: float) -> float:
        if hi == FOREVER:
            return lo + self._pause()
        chance = self.random.random()
        if self.bounds.chance == "uniform":
            return lo + (hi - lo) * chance
        return lo if chance < HALF else hi

    def _latency(self, direction: str, port: str) -> float:
        if self.bounds.chance != "lopsided":
            return self._between(0.0, self.bounds.latency)
        if (direction, port) not in self._slow:
            self._slow[direction, port] = self._between(0.0, self.bounds.latency)
        return self._slow[direction, port]

    def _through(self, direction: str, port: str, moment: float) -> float:
        """Return the arrival of a message through a port: within the latency, and after earlier messages."""
        before = self._last.get((direction, port), 0.0)
        arrival = max(before, moment + self._latency(direction, port))
        self._last[direction, port] = arrival
        return arrival

    def _at(self, time: float, action: Callback) -> None:
        heapq.heappush(self._due, (time, next(self._order), action))
