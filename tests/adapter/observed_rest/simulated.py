"""A system of threads in virtual time, looked at as the observer does: one thread after another, while all go on."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from otf.adapter.observed_rest.threads import Sleepers, ThreadReading, Wake
from otf.core.pacing import PATIENCE
from otf.runner.observing import Stillness

QUIESCENCE = 0.020
LOOK = 0.00003  # seconds at most for one reading
COMPUTING = 0.03  # seconds at most for which a thread computes
STARVED = 0.004  # seconds at most for which a thread that was woken waits for a processor

Program: TypeAlias = "Generator[Action, None, None]"
Rest: TypeAlias = tuple[float, float, float, bool]
"""When its first reading ended and its last, when a thread is due, and whether none has run since the rest before."""


@dataclass(frozen=True)
class Action:
    """What a thread does next: it runs, sleeps, waits to be signalled, emits an output, starts or signals another.

    A `tick` is an output that can only be spontaneous.
    """

    what: str
    seconds: float = 0.0
    program: Program | None = None
    thread: int = 0


@dataclass
class Thread:
    """A thread; `asleep` is its time-out, None while it is none that sleeps."""

    program: Program
    letter: bytes = b"R"
    runs: int = 0
    asleep: Wake | None = None
    sleep: int = 0


@dataclass
class World:
    """The threads of a system, the outputs that were not taken yet, and the next events.

    `starved`: seconds at most for which a thread waits for a processor; `copies`: outputs for each answer.
    """

    random: Random
    now: float = 1.0
    threads: dict[int, Thread] = field(default_factory=dict[int, Thread])
    outputs: int = 0
    ticks: int = 0
    starved: float = STARVED
    copies: int = 1
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _next: list[tuple[float, int, Callable[[], None]]] = field(
        default_factory=list[tuple[float, int, Callable[[], None]]]
    )

    def advance(self, seconds: float) -> None:
        """Let all go on for a time."""
        end = self.now + seconds
        while self._next and self._next[0][0] <= end:
            self.now, _, happens = heapq.heappop(self._next)
            happens()
        self.now = end

    def start(self, program: Program) -> int:
        """Start a thread."""
        tid = next(self._numbers)
        self.threads[tid] = Thread(program)
        self._soon(tid)
        return tid

    def signal(self, tid: int) -> None:
        """Wake a thread, which runs as soon as it has a processor."""
        thread = self.threads.get(tid)
        if thread is not None and thread.letter == b"S":
            thread.letter, thread.asleep = b"R", None
            thread.sleep += 1
            self._soon(tid)

    def _soon(self, tid: int) -> None:
        wait = self.random.choice((0.0, self.random.uniform(0, 0.00005), self.random.uniform(0, self.starved)))
        self._at(wait, lambda: self._run(tid))

    def _run(self, tid: int) -> None:
        self.threads[tid].runs += 1
        self._step(tid)

    def _step(self, tid: int) -> None:
        thread = self.threads[tid]
        for action in thread.program:
            if action.what == "run":
                self._at(action.seconds, lambda: self._step(tid))
                return
            if action.what in {"sleep", "wait"}:
                self._sleeps(tid, thread, action)
                return
            self._does(action)
        del self.threads[tid]

    def _sleeps(self, tid: int, thread: Thread, action: Action) -> None:
        thread.letter, thread.asleep = b"S", Wake()
        if action.what == "sleep":
            thread.asleep, number = Wake(action.seconds), thread.sleep
            self._at(action.seconds, lambda: self.signal(tid) if thread.sleep == number else None)

    def _does(self, action: Action) -> None:
        if action.what == "emit":
            self.outputs += self.copies
        elif action.what == "tick":
            self.ticks += 1
        elif action.program is not None:
            self.start(action.program)
        else:
            self.signal(action.thread)

    def _at(self, seconds: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._next, (self.now + seconds, next(self._numbers), happens))


class Look:
    """The looks at a world; without `twice` there is no second reading, without `timed` no time-out is read."""

    def __init__(self, world: World, *, twice: bool = True, timed: bool = True) -> None:
        self.world = world
        self.seen = 0
        self._twice = twice
        self._timed = timed
        self.sleepers = Sleepers()
        self._known: list[int] = []

    def until_rest(self, wanted: float = QUIESCENCE) -> None:
        """Look until the system rests."""
        stillness = Stillness(wanted, wanted)
        while True:
            before = self.seen
            rest = self._rest()
            if self.seen != before:
                stillness = Stillness(wanted, wanted)
            if rest is None:
                stillness.broken(self.world.now)
            elif self.believed(stillness, rest):
                return
            self.world.advance(self.world.random.choice((0.0, 0.00005, 0.0003, 0.001)))

    def believed(self, stillness: Stillness, rest: Rest) -> bool:
        """Return whether a rest is believed."""
        return stillness.rest(*rest[:3], still=rest[3])

    def _rest(self) -> Rest | None:
        world, began = self.world, self.world.now
        first = self._readings()
        if first is None or set(world.threads) != set(self._known):
            self._known = list(world.threads)
            return None
        ended = world.now
        if not self.sleepers.first(began, ended, first):
            return None
        self.sleepers.note_all(ended, frozenset(first))
        wakes = {tid: self._wake(tid) for tid in self.sleepers.unread}
        world.advance(LOOK)
        came, ticks, world.outputs, world.ticks = world.outputs, world.ticks, 0, 0
        self.seen += came
        if came or ticks:
            return None
        second = self._readings() if self._twice else first
        if second is None or not self.sleepers.second(second, wakes):
            return None
        still, self.sleepers.ran = not self.sleepers.ran, False
        return ended, world.now, self.sleepers.due(world.now), still

    def _readings(self) -> dict[int, ThreadReading] | None:
        found: dict[int, ThreadReading] = {}
        for tid in self._known:
            self.world.advance(self.world.random.uniform(0, LOOK))
            thread = self.world.threads.get(tid)
            if thread is None:
                return None
            found[tid] = ThreadReading(b"%d" % thread.runs, thread.letter)
        return found

    def _wake(self, tid: int) -> Wake:
        self.world.advance(self.world.random.uniform(0, LOOK))
        thread = self.world.threads.get(tid)
        asleep = None if thread is None else thread.asleep
        return asleep if asleep is not None and self._timed else Wake()


def system(random: Random, asleep: float = 0.0) -> tuple[World, Callable[[], None]]:
    """Return a system that answers each input once, late, by threads and timers drawn at random; and its input.

    `asleep`: it sleeps for so many quiescence times before an answer; by default for less than one, drawn at random.
    """
    world = World(random)
    answer = _answer(world, random, asleep)
    waiting: list[int] = []

    def main() -> Program:
        while True:
            if not waiting:
                yield Action("wait")
            waiting.clear()
            yield from answer()

    first = world.start(main())
    world.advance(0.1)

    def send() -> None:
        waiting.append(1)
        world.signal(first)

    return world, send


def _answer(world: World, random: Random, asleep: float) -> Callable[[], Program]:
    """Return what the system does for an answer: it computes and sleeps, in some of its threads.

    One that computes for long is given more time by rests than by a clock, and so its computing is short where the two
    are compared.
    """
    parts = [random.choice(("run", "sleep", "thread", "worker")) for _ in range(random.randint(0, 4))]
    sleep = random.uniform(0.05, 0.85) * QUIESCENCE / max(1, len(parts))
    if asleep:
        parts += ["sleep"]
        sleep = asleep * QUIESCENCE / sum(part in {"sleep", "worker"} for part in parts)

    def rest_of(left: list[str]) -> Program:
        if not left:
            yield Action("run", random.uniform(0, 0.0002))
            yield Action("emit")
            return
        what, after = left[0], left[1:]
        if what == "run":
            yield Action("run", random.uniform(0, 0.0002 if asleep else COMPUTING))
            yield from rest_of(after)
        elif what == "sleep":
            yield Action("sleep", sleep)
            yield from rest_of(after)
        elif what == "thread":
            yield Action("start", program=rest_of(after))
        else:
            yield Action("signal", thread=world.start(_worker(rest_of(after), sleep)))

    return lambda: rest_of(parts)


def _worker(program: Program, seconds: float) -> Program:
    yield Action("sleep", seconds)
    yield from program


def missed(seed: int, inputs: int = 5, *, twice: bool = True, timed: bool = True) -> int:
    """Return how many answers of a system had not come at the rest after their input."""
    world, send = system(Random(seed))
    look, wrong = Look(world, twice=twice, timed=timed), 0
    look.until_rest()
    for _ in range(inputs):
        before = look.seen
        look.until_rest()
        send()
        look.until_rest()
        wrong += look.seen != before + 1
        world.advance(0.5)
        look.seen += world.outputs
        world.outputs = 0
    return wrong


class Timed:
    """A tester at the same world that has only a clock: silence is a quiescence time in which nothing came."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen = 0

    def until_rest(self, wanted: float = QUIESCENCE) -> None:
        """Wait until nothing has come for that long."""
        until = self.world.now + wanted
        while self.world.now < until:
            self.world.advance(LOOK)
            if self.world.outputs:
                until = self.world.now + wanted
            self.seen += self.world.outputs
            self.world.outputs = 0


def fails(tester: Look | Timed, send: Callable[[], None], inputs: int = 5) -> bool:
    """Return whether strict mode with this tester finds a step that has not one answer, or an output after the last.

    As in a run, a missing answer and the end of the path are waited for ten times as long.
    """
    tester.until_rest()
    for _ in range(inputs):
        before = tester.seen
        send()
        tester.until_rest()
        if tester.seen == before:
            tester.until_rest(PATIENCE * QUIESCENCE)
        if tester.seen != before + 1:
            return True
    before = tester.seen
    tester.until_rest(PATIENCE * QUIESCENCE)
    return tester.seen != before


def compared(seed: int, asleep: float, *, answers: int = 1) -> tuple[bool, bool]:
    """Return whether timed strict mode on an idle machine finds a system wrong, and observed strict mode on a busy one.

    The system gives so many `answers` to an input, of which the tester expects one.
    """
    found: list[bool] = []
    for make, starved in ((Timed, 0.0), (Look, STARVED)):
        world, send = system(Random(seed), asleep)
        world.starved, world.copies = starved, answers
        found.append(fails(make(world), send))
    return found[0], found[1]
