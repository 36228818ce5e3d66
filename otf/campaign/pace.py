"""When to send the inputs of a path: one after another, or several at once; and how a re-run does the same.

One input at a time never shows a race. If clients of one server send at once, otf cannot know in which order the server
takes the inputs, so it allows every order. If a bench has several clients, a quarter of the paths send several inputs
at once by default.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Final

from otf.adapter import Bench, Port
from otf.codec.by_port import PortCodecs
from otf.codec.malformed import MalformedCodec
from otf.core import Monitor, Oracle, Pacing, Timing
from otf.core.burst import Burst, Joins
from otf.core.idling import Idling
from otf.core.memory import Symbol
from otf.core.pacing import Eager, Strict
from otf.core.timer_waits import Timers
from otf.errors import UsageError
from otf.trace.clock import pauses
from otf.trace.events import Event, Quiet, Sent
from otf.trace.record import Mode
from otf.values import show

EVERY: Final = 4
"""One path of this many sends bursts: of ten, a minute had one or two, as paths grow; each meets a race by chance."""
SIZES: Final = (2, 3)
MOST: Final = 1_000  # inputs to compare with the first of a burst
EARLY: Final = 3
"""The index of the first path with bursts, the fourth: a long one among those that a short campaign reaches."""


def clients(bench: Bench) -> frozenset[str]:
    """Return the ports of different clients of one system: as declared, as the codec says, or at one address."""
    codec = bench.codec.codec if isinstance(bench.codec, MalformedCodec) else bench.codec
    if bench.clients is not None:
        found = frozenset(bench.clients)
    elif isinstance(codec, PortCodecs) and codec.alike:
        found = codec.alike
    else:
        at = {name: (port.kind, port.url) for name, port in bench.ports.items() if isinstance(port, Port) and port.url}
        shared = Counter(at.values())
        found = frozenset(name for name, where in at.items() if shared[where] > 1)
    return found if len(found) > 1 else frozenset()


def burst(bench: Bench, given: int | None, seed: int, number: int) -> int:
    """Return how many inputs a path sends at once: `given`, else with several clients two or three on one path of four.

    A failure in a burst cannot be driven again at another speed, so with faster clocks there are none by default.
    Raises UsageError for a bench that may send nothing at once (`clients=()`).
    """
    if given is not None:
        if given > 1 and bench.clients == ():
            why = "a client of this protocol has to read an answer before it can send more"
            raise UsageError(f"burst={given}: {why} (clients=() in its bench); leave it out")
        return given
    if number < 1 or bench.speed > 1 or not clients(bench):
        return 1
    random = Random(f"{seed}/burst/{(number - 1) // EVERY}")
    drawn, size = random.randrange(EVERY), random.choice(SIZES)
    chosen = drawn if number > EVERY else EARLY
    return size if (number - 1) % EVERY == chosen else 1


def lasts(bench: Bench, given: int | None, size: int, gone: float, left: float) -> bool:
    """Return whether a path that begins after `gone` seconds, with `left` to go, lasts to the end: in the second half.

    One without bursts does so only after three quarters if others may have bursts, so that those end first.
    """
    leaves = size == 1 and given is None and bench.speed == 1 and clients(bench)
    return gone >= (3 if leaves else 1) * left


def alike(first: Symbol, others: Sequence[Symbol]) -> list[Symbol]:
    """Return the inputs that share most words with a given one, such as the same order from another client.

    >>> [each.value for each in alike(Symbol("ann pay 1", 0), [Symbol("bob pay 1", 1), Symbol("bob fill 1", 2)])]
    ['bob pay 1']
    """
    words = _words(show(first.value))
    common = [len(words & _words(show(each.value))) for each in others[:MOST]]
    most = max(common, default=0)
    return [each for each, number in zip(others, common, strict=False) if number == most]


@lru_cache(10_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def joined(events: Iterable[Event]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the inputs of a run that were sent at once with the one before."""
    found, number, alone = list[int](), 0, True
    for event in events:
        if isinstance(event, Sent):
            number += 1
            found += [] if alone else [number]
        alone = isinstance(event, Quiet) or (alone and not isinstance(event, Sent))
    return tuple(found)


def as_before(events: Iterable[Event]) -> Joins:
    """Return a function that joins the same inputs, by number, that a run sent at once."""
    numbers = frozenset(joined(events))
    return lambda number, _given, _another: number in numbers


@dataclass(frozen=True, slots=True)
class Pace:
    """When to send the inputs of a campaign's paths.

    All paths share `proven` and `timers`: what is known to be quiet, and the timers waited for. `clients` and `joins`
    say which inputs to send at once. A strict path `lasts` at least that many seconds, and waits for the `gaps` after
    its inputs.
    """

    mode: Mode
    burst: int
    timing: Timing
    proven: set[Hashable] = field(default_factory=set[Hashable])
    timers: Timers = field(default_factory=Timers)
    waits: bool = True
    clients: frozenset[str] = frozenset()
    joins: Joins | None = None
    lasts: float = 0.0
    gaps: Sequence[float] = ()
    idling: Idling | None = None

    @property
    def doubtful(self) -> bool:
        """Return whether failures need a strict re-run: eager mode relies on the stated bounds more than strict mode.

        A system in this process answers before it returns, so neither mode waits for it. A burst is not a faster strict
        run but another test, so a strict re-run would not confirm its failure.
        """
        return self.waits and self.mode == "eager" and self.burst == 1

    def pacing(self) -> Pacing:
        """Return the pacing for one path."""
        if self.burst > 1:
            timers = Timers(last=self.timers.last)
            return Burst(self.timing, self.burst, timers, self.clients, self.joins, alike)
        if self.mode == "strict":
            return Strict(self.timing, self.timers, self.lasts, self.gaps, self.idling)
        return Eager(self.timing, self.proven, self.timers, self.idling)


def repeating(oracle: Oracle, bench: Bench, events: Sequence[Event], burst: int, joins: Joins | None = None) -> Pace:
    """Return the pace that drives a run again: in a timed model it pauses as the run did, and waits for no timer.

    A wait that the run did not make may end a state that the failure needs, and then a faulty system would pass.
    """
    gaps = timed_pauses(oracle, events)
    return Pace("strict", burst, bench.timing, timers=Timers(last=True, between=not gaps), joins=joins, gaps=gaps)


def timed_pauses(oracle: Oracle, events: Sequence[Event]) -> Sequence[float]:
    """Return the seconds from each input to the next one; empty for a model without times."""
    monitor = Monitor(oracle)
    # a model's times only show when the first one occurs
    for event in events:
        if oracle.model.timed or monitor.tell(event) is not None:
            break
    return pauses(events) if oracle.model.timed else ()


def is_doubtful(bench: Bench, mode: Mode, size: int) -> bool:
    """Return whether failures in bursts of this size need a strict re-run: see `Pace`; of a faster system, all do."""
    pace = Pace(mode, size, bench.timing, waits=bench.system is None)
    return pace.doubtful or bench.at_speed(1).by_reset() is not bench
