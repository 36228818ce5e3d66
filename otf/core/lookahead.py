"""Keeps what the monitor judges again with more spontaneous outputs in flight, if a few could not explain what came.

Spontaneous outputs on other ports may already have changed the state, although they have not been seen yet. otf
cannot know how many are in flight, so it follows few at first. Whatever was emitted before an output was seen arrives
within L. So each search that left something out is kept until that time has passed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from otf.core.belief import Belief, Ledger
from otf.core.moves import Limits
from otf.core.timing import is_later
from otf.trace.events import Event, Quiet, Seen, Stalled

EVENTS: Final = 10_000
"""Events kept for judging again. After more than these, what was left out can no longer be decided."""
DEEPER: Final = 4  # factor on the spontaneous outputs followed, when those so far explain nothing


class CutSearch(NamedTuple):
    """A search that left out spontaneous outputs on these ports: its event number, and what was known before it."""

    event: int
    ports: frozenset[str]
    by: float
    belief: Belief
    ledger: Ledger


@dataclass(slots=True)
class Lookahead:
    """The searches that left something out, and all events since the first of them, each with the tester's slack.

    `lost`: too many events have passed, or judging them again took too long, so no failure is certain any more.
    """

    cuts: deque[CutSearch] = field(default_factory=deque[CutSearch])
    events: list[tuple[Event, float]] = field(default_factory=list[tuple[Event, float]])
    lost: bool = False
    _first: int = 0  # the number of the first event kept

    @property
    def first(self) -> CutSearch | None:
        """Return the first search that left something out, or None."""
        return self.cuts[0] if self.cuts else None

    @property
    def cut(self) -> bool:
        """Return whether spontaneous outputs were left out that may have been in flight."""
        return self.lost or bool(self.cuts)

    def note(self, event: Event, cut: CutSearch | None, slack: float = 0.0) -> None:
        """Take an event, what its search left out, and by how many seconds the tester may have seen it late."""
        if isinstance(event, Quiet) and not event.restless:
            # everything emitted has been seen
            self.clear()
            return
        if isinstance(event, Stalled):
            # whatever was in flight then arrives later
            self.cuts = deque(
                each if is_later(event.begun, each.by) else each._replace(by=each.by + event.seconds)
                for each in self.cuts
            )
        if cut is not None:
            if not self.cuts:
                self._first = cut.event
            self.cuts.append(cut)
        if self.cuts:
            self.events.append((event, slack))
            if len(self.events) > EVENTS:
                self.give_up()

    def clear(self) -> None:
        """Forget everything: nothing is left out any more."""
        self.cuts.clear()
        self.events.clear()
        self.lost = False

    def give_up(self) -> None:
        """Forget what was left out, although it may matter; so no failure is certain until the next quiescence."""
        self.clear()
        self.lost = True

    def before(self, event: int) -> Lookahead:
        """Return a copy as it was before the last event, which has the number `event`."""
        return Lookahead(deque(cut for cut in self.cuts if cut.event < event), self.events[:-1], self.lost, self._first)

    def more(self, now: float, followed: int) -> int:
        """Return how many spontaneous outputs were in flight at once if that is more than were `followed`, else 0.

        Forgets searches once it is clear that nothing that they left out has happened.
        """
        while self.cuts and is_later(now, self.cuts[0].by):
            cut = self.cuts[0]
            seen = max(sum(each.port == port for each in self._seen(cut)) for port in cut.ports)
            if seen > followed:
                return seen
            self.cuts.popleft()
            first = self.cuts[0].event if self.cuts else self._first + len(self.events)
            del self.events[: first - self._first]
            self._first = first
        return 0

    def _seen(self, cut: CutSearch) -> list[Seen]:
        later = self.events[cut.event - self._first :]
        return [each for each, _ in later if isinstance(each, Seen) and not is_later(each.at, cut.by)]


def deeper(limits: Limits) -> Iterator[int]:
    """Yield how many spontaneous outputs to follow next, each time several times as many, up to `limits.ahead`."""
    followed = limits.spontaneous
    while followed < limits.ahead:
        followed = max(1, DEEPER * followed)
        # two nearly equal depths would double the work
        followed = limits.ahead if DEEPER * followed > limits.ahead else followed
        yield followed


def unjudgeable(latency: float, limits: Limits) -> str:
    """Return why a run is inconclusive when what was left out can no longer be decided."""
    said = f"more spontaneous outputs may be under way within the latency ({latency:g} s) than can be judged again"
    work = f"at most {EVENTS:,} events, and {limits.work:,} moves for one (Limits.hypotheses={limits.hypotheses:,})"
    return f"{said}: {work}; a smaller latency= of the bench, if it is true, needs fewer"
