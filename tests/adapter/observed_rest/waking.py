"""Servers in virtual time with threads that wake by themselves, for nothing or to answer; and a tester of them."""

from __future__ import annotations

from collections import deque
from random import Random

from otf.adapter.observed_rest.wakers import Sleeping, Trust, Waker, Wakers
from otf.runner.observing import Stillness
from tests.adapter.observed_rest.simulated import Action, Look, Program, Rest, World

KINDS = "abc"
RARE = 300  # of so many answers one is left to the thread that seldom answers


class Server:
    """Threads that wake every few milliseconds; `harm` is what the first of them answers, and when: else `main` does.

    `always`: every answer; `kind`: those to the inputs `c`; `rare`: one of some hundreds; or nothing. If it `ticks`,
    it says so at each turn.
    """

    def __init__(self, random: Random, harm: str, *, ticks: bool = False) -> None:
        self.world = World(random)
        self.world.starved = 0.0002
        self.harm = harm
        self._ticks = ticks
        self.left = deque[str]()  # for the first thread
        self._waiting = deque[str]()
        self._random = random
        self._main = self.world.start(self._serve())
        periods = [random.uniform(0.001, 0.015) for _ in range(random.randint(1, 3))]
        self.wakers = [self.world.start(self._tick(each, first=not at)) for at, each in enumerate(periods)]
        self.world.advance(0.1)

    def send(self, kind: str) -> None:
        """Send an input."""
        self._waiting.append(kind)
        self.world.signal(self._main)

    def _serve(self) -> Program:
        while True:
            if not self._waiting:
                yield Action("wait")
            kind = self._waiting.popleft()
            yield Action("run", self._random.uniform(0.00001, 0.0002))
            if self._leaves(kind):
                self.left.append(kind)
            else:
                yield Action("emit")

    def _leaves(self, kind: str) -> bool:
        rare = self.harm == "rare" and self._random.random() < 1 / RARE
        return rare or self.harm == "always" or (self.harm == "kind" and kind == "c")

    def _tick(self, period: float, *, first: bool) -> Program:
        while True:
            yield Action("sleep", period)
            yield Action("run", self._random.uniform(0.00001, 0.0001))
            if first and self._ticks:
                yield Action("tick")
            while first and self.left:
                self.left.popleft()
                yield Action("emit")


class Trusting(Look):
    """Looks that believe a rest though threads will wake which were learnt to be harmless; `wakers` are theirs."""

    def __init__(self, server: Server, wakers: Wakers) -> None:
        super().__init__(server.world)
        self.trust = Trust(wakers)
        self._server = server
        self._judged = self._demanded = 0

    def named(self, tid: int) -> Waker:
        """Return as whom a thread is known."""
        return Waker("server", self._server.harm, self._server.wakers.index(tid), 230)

    def sent(self, kind: str) -> None:
        """Note an input, which is answered once."""
        self.hear()
        self.trust.sent(kind)
        self._demanded = self.seen + 1

    def hear(self) -> None:
        """Judge the outputs that came: as answers, as long as the input has none and the system did not rest."""
        while self._judged < self.seen:
            self._judged += 1
            if self._judged > self._demanded or self.trust.seen:
                self.trust.heard(self._runs)

    def believed(self, stillness: Stillness, rest: Rest) -> bool:
        """Return whether a rest is believed."""
        certain = super().believed(stillness, rest)
        by = rest[1] + max(stillness.left, 0.0)
        waking = [] if certain else self.sleepers.waking(rest[1], by)
        found = {tid: Sleeping(self.named(tid), self.sleepers.counters(tid)) for tid in waking}
        return self.trust.rest(found, self.sleepers.counters) or certain

    def _rest(self) -> Rest | None:
        rest = super()._rest()
        self.hear()
        return rest

    def _runs(self, tid: int) -> bytes:
        return b"%d" % self.world.threads[tid].runs


def path(seed: int, harm: str, wakers: Wakers, inputs: int, *, ticks: bool = False) -> tuple[int, int, Trust]:
    """Drive a fresh server; return at how many rests an answer was missing, what came, and what was trusted."""
    random = Random(seed)
    server = Server(random, harm, ticks=ticks)
    look, wrong = Trusting(server, wakers), 0
    look.until_rest()
    for _ in range(inputs):
        kind = random.choice(KINDS)
        owed = look.seen + 1
        look.sent(kind)
        server.send(kind)
        look.until_rest()
        wrong += look.seen < owed
        if look.seen < owed and server.left:
            # strict mode waits for a missing answer, and trusts nobody meanwhile
            look.trust.wait(careful=True)
            look.until_rest()
            look.trust.wait(careful=False)
    return wrong, look.seen, look.trust


class Found:
    """What paths on fresh copies of a server show: its wrong rests, those that count, and which threads were learnt."""

    def __init__(self, seed: int, harm: str, paths: int = 5, inputs: int = 200, *, ticks: bool = False) -> None:
        wakers = Wakers()
        self.wrong = self.counting = 0
        for _ in range(paths):
            wrong, _, trust = path(seed, harm, wakers, inputs, ticks=ticks)
            self.wrong += wrong
            # the verdict of a run in which a thread was taken back that it trusted is worth nothing
            self.counting += 0 if trust.lost & trust.used else wrong
        threads = range(len(Server(Random(seed), harm).wakers))
        known = [Waker("server", harm, each, 230) for each in threads]
        learnt = [all(wakers.harmless(each, kind) for kind in KINDS) for each in known]
        self.harmful = harm != "none" and learnt.pop(0)
        self.harmless = learnt
