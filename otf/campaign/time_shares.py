"""How a campaign with a time limit divides its time: turns of paths and of shrinking, and what each part took."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

MET: Final = 200_000  # states with inputs to remember: a day on one model may have millions

SpentPart = Literal["start", "saved failures", "clock", "paths", "shrinking", "end"]
"""What a second of a campaign may be spent on: `start` is all before the first run, `end` all after the last."""


@dataclass(slots=True)
class SpentParts:
    """The seconds that each part of a campaign took, and how many changed transitions of the model were tried.

    `met` holds the states with inputs that paths chose. `paths` and `saved` count only this session, not what was
    driven before the campaign was continued. Each second belongs to one part: time for shrinking between paths is not
    time for paths.

    >>> spent = SpentParts(changed={"s1 i1", "s1 i2"})
    >>> spent.tried(["s1 i2", "s3 i1"])
    >>> spent.done, len(spent.changed)
    (1, 2)
    """

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    changed: set[str] = field(default_factory=set[str])
    met: set[str] = field(default_factory=set[str])
    paths: int = 0
    saved: int = 0
    _untried: set[str] = field(init=False)
    _now: SpentPart = "start"
    _since: float | None = None

    def __post_init__(self) -> None:
        """Begin with all of them untried."""
        self._untried = set(self.changed)

    @property
    def done(self) -> int:
        """Return how many changed transitions were tried."""
        return len(self.changed) - len(self._untried)

    def tried(self, pairs: Collection[str]) -> None:
        """Note transitions that a path took, each as `STATE INPUT`."""
        self._untried.difference_update(pairs)
        if len(self.met) < MET:
            self.met.update(pairs)

    def expect(self, changed: Iterable[str]) -> None:
        """Note the changed transitions, all untried."""
        self.changed = {*changed}
        self._untried = {*self.changed}

    def begin(self, spent: float = 0.0) -> None:
        """Start counting; `spent` seconds are already gone."""
        self._since = _now() - spent

    @contextmanager
    def part(self, name: SpentPart) -> Generator[None]:
        """Until the context is left, count the time for this part, and not for the enclosing one."""
        outer = self._now
        self.to(name)
        try:
            yield
        finally:
            self.to("end" if outer == "start" else outer)

    def named(self, earlier: float) -> dict[str, float]:
        """Return the seconds by part, with those before the campaign continued."""
        return {name: round(each, 3) for name, each in {**self.seconds, "earlier": earlier}.items() if each}

    def to(self, name: SpentPart) -> None:
        """Count the time until now for the part that ends, and the time from now on for another."""
        now = _now()
        if self._since is not None:
            self.seconds[self._now] = self.seconds.get(self._now, 0.0) + now - self._since
        self._now, self._since = name, now


def _now() -> float:
    from anyio import current_time  # a model file needs no event loop

    return current_time()


class Turns:
    """Lets paths run together; if something `waits`, `does` handles it first, while no path is under way.

    Shrinking needs the copies of the system that the paths use.
    """

    def __init__(self, waits: Callable[[], bool], does: Callable[[], Awaitable[None]]) -> None:
        self._waits, self._does = waits, does
        self._driving = 0
        from anyio import Condition

        self._turn = Condition()

    @asynccontextmanager
    async def path(self) -> AsyncGenerator[None]:
        """Enter when a path may be driven; leave when it counts."""
        async with self._turn:
            while self._waits():
                if self._driving:
                    await self._turn.wait()
                else:
                    await self._does()  # meanwhile the others wait for the lock
            self._driving += 1
        try:
            yield
        finally:
            self._driving -= 1
            async with self._turn:
                self._turn.notify_all()
