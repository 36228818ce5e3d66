"""Threads that wake by themselves and do nothing visible: learnt, rechecked now and then, and revoked.

A maintenance thread that wakes every few milliseconds leaves no rest as long as the quiescence time, and nothing shows
that its next wake-up emits nothing. So otf concludes that by induction. In each trial, after an input and at a rest, a
thread woke by its time-out and slept again, and nothing had come. Enough trials without an output make it *harmless*,
separately for each kind of input: what a command leaves to such a thread shows after the first such command. Then otf
believes rests although it will wake. It is revoked if it has run and an output comes that no input explains. That is
one after a rest that was waited out or, since the next input, one more than the model demands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.adapter.observed_rest.threads import Tid

TRIALS: Final = 100
"""How many times nothing must come after a thread woke until it is believed: 95 % sure of 97 in 100 wake-ups."""
EACH: Final = 10
"""… of each kind of input. One that leaves half of its answers to the thread is found in 999 of 1,000 cases."""
LOST: Final = 3
"""How often a thread may be revoked; each time, it needs twice as many trials, and finally it is never believed."""
CHECKED: Final = 200
"""One in this many rests that depend on harmless threads is waited out in any case …"""
LATER: Final = 10
"""… and after many, one in this part of them: a thread that begins to answer is seen within a tenth more rests."""


class Waker(NamedTuple):
    """A thread that wakes by itself, identified across all copies of the system.

    `number`: its position among the threads with the same name in its process, in order of their start. `call`: the
    number of the system call in which it sleeps.
    """

    program: str
    name: str
    number: int
    call: int


@dataclass(slots=True)
class Wakers:
    """What was learnt of the threads of a system. Share it among the paths of a campaign.

    >>> wakers, ticker = Wakers(), Waker("/usr/bin/memcached", "mc-lrumaint", 0, 230)
    >>> for _ in range(TRIALS):
    ...     wakers.clean(ticker, "set")
    >>> wakers.harmless(ticker, "set"), wakers.harmless(ticker, "get")
    (True, False)
    >>> wakers.take_back({ticker})
    True
    >>> wakers.harmless(ticker, "set")
    False
    """

    _clean: Counter[tuple[Waker, str]] = field(default_factory=Counter[tuple[Waker, str]])
    _in_all: Counter[Waker] = field(default_factory=Counter[Waker])
    _lost: Counter[Waker] = field(default_factory=Counter[Waker])
    _used: int = 0
    _check: int = CHECKED

    def harmless(self, waker: Waker, kind: str) -> bool:
        """Return whether wake-ups of a thread after an input of this kind should have no effect."""
        lost = self._lost[waker]
        return lost < LOST and self._clean[waker, kind] >= EACH and self._in_all[waker] >= TRIALS << lost

    def clean(self, waker: Waker, kind: str) -> None:
        """Note that a thread woke after an input of this kind, slept again, and nothing had come."""
        self._clean[waker, kind] += 1
        self._in_all[waker] += 1

    def take_back(self, ran: AbstractSet[Waker]) -> bool:
        """Note that an output came after these threads woke; return whether that refutes what was learnt about them.

        It does not if one of them is never believed, since that one explains the output. A thread is blamed only if no
        other woke: one that wakes often has run before most outputs of the others.
        """
        if any(self._lost[each] >= LOST for each in ran):
            return False
        if len(ran) == 1:
            self._lost.update(ran)
        self._used, self._check = 0, CHECKED
        for trials in [each for each in self._clean if each[0] in ran]:
            del self._clean[trials]
        for each in ran:
            del self._in_all[each]
        return True

    def checks(self) -> bool:
        """Return whether the rest that would be believed now should be waited out, as a check."""
        self._used += 1
        if self._used < self._check:
            return False
        self._check = self._used + max(CHECKED, self._used // LATER)
        return True


class Sleeping(NamedTuple):
    """A thread at a rest that a time-out will wake: its identity and its counters."""

    waker: Waker
    counters: bytes


@dataclass(slots=True)
class Trust:
    """Decides in one run which rests to believe although threads will wake: those `used`; `lost` were revoked.

    `seen`: there was a rest since the last input. `last`: the threads of the last rest that were due too soon.
    """

    wakers: Wakers
    used: set[Waker] = field(default_factory=set[Waker])
    lost: set[Waker] = field(default_factory=set[Waker])
    seen: bool = False
    last: dict[Tid, Sleeping] = field(default_factory=dict[Tid, Sleeping])
    _kind: str = ""
    _careful: bool = False
    _clean: set[Waker] = field(default_factory=set[Waker])

    def sent(self, kind: str) -> None:
        """Note that an input of this kind was sent."""
        self._kind, self.seen = kind, False
        self._clean.clear()

    def wait(self, *, careful: bool) -> None:
        """Begin to wait for silence; if `careful`, no thread is trusted."""
        self._careful = careful

    def rest(self, waking: Mapping[Tid, Sleeping], counters: Callable[[Tid], bytes]) -> bool:
        """Take a rest and the threads whose time-outs would end it too soon; return whether to believe it.

        `counters` returns a thread's counters at this rest, b"" if it has ended.
        """
        if self.seen:
            for tid, (waker, before) in self.last.items():
                if waker not in self._clean and counters(tid) != before:
                    self._clean.add(waker)
                    self.wakers.clean(waker, self._kind)
        self.last, self.seen = dict(waking), True
        if self._careful or not waking:
            return False
        if not all(self.wakers.harmless(each.waker, self._kind) for each in waking.values()):
            return False
        self._careful = self.wakers.checks()
        if not self._careful:
            self.used.update(each.waker for each in waking.values())
        return not self._careful

    def heard(self, counters: Callable[[Tid], bytes]) -> None:
        """Note an output after the last rest: one of the threads that have run since then must have caused it."""
        ran = {tid: waker for tid, (waker, before) in self.last.items() if counters(tid) != before}
        for tid in ran:
            del self.last[tid]
        if ran and self.wakers.take_back({*ran.values()}):
            self.lost.update(ran.values())
