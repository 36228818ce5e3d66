"""The figures that a terminal shows while a campaign runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from otf.campaign import Settings
from otf.campaign.settings import UNLIMITED
from otf.core import Node, View
from otf.trace.events import Event, Guess, Quiet, Sent
from otf.trace.result import counted

FEW: Final = 10  # a lower rate gets a decimal: 0.4 is not 0


@dataclass(slots=True)
class Figures:
    """Counts what a campaign does. All times are in seconds; an event's time counts from the start of its path.

    `counted` is the number of steps on paths that count. `met` holds the states that the system was certainly in, not
    those behind a failure, which are guessed; `pairs` holds those states with each input sent in them.
    """

    settings: Settings
    counted: int = 0
    ended: int = 0
    failures: int = 0
    possible: int = 0
    waited: float = 0.0
    lasted: float = 0.0
    shrinking: bool = False
    met: set[Node] = field(default_factory=set[Node])
    inputs: set[object] = field(default_factory=set[object])
    pairs: set[tuple[Node, object]] = field(default_factory=set[tuple[Node, object]])
    _at: dict[int, float] = field(default_factory=dict[int, float])
    _steps: dict[int, int] = field(default_factory=dict[int, int])
    _node: dict[int, Node | None] = field(default_factory=dict[int, Node | None])
    _guessed: set[int] = field(default_factory=set[int])

    def enabled(self, number: int, view: View) -> None:
        """Note the possible states of a path."""
        self.possible = len(view.nodes)
        certain = len(view.nodes) == 1 and number not in self._guessed
        self._node[number] = node = view.nodes[0] if certain else None
        if node is not None:
            self.met.add(node)

    def event(self, number: int, event: Event) -> None:
        """Count an event: time that ends in quiescence was spent waiting, all other time working."""
        passed = event.at - self._at.get(number, event.at)
        self._at[number] = event.at
        self.lasted += passed
        if isinstance(event, Quiet):
            self.waited += passed
        elif isinstance(event, Sent):
            self._sent(number, event)
        elif isinstance(event, Guess):
            self._guessed.add(number)

    @property
    def steps(self) -> int:
        """Return the steps of finished paths that count, and of paths under way."""
        return self.counted + sum(self._steps.values())

    def path(self, number: int, steps: int, *, failed: bool) -> None:
        """Count the end of a path; `steps` is the campaign's new total."""
        self.counted = steps
        self.ended += 1
        self.failures += failed
        for table in (self._at, self._steps, self._node):
            table.pop(number, None)
        self._guessed.discard(number)

    def left(self, seconds: float) -> float | None:
        """Return the estimated seconds left, from the rate over the first `seconds`; None without an estimate.

        The rate of the paths says nothing about how long shrinking takes, and before one has ended it is a guess.
        """
        if self.shrinking:
            return None
        per_path = self.settings.steps
        share = (self.ended * per_path + sum(self._steps.values())) / (self.settings.traces * per_path)
        bounds = [] if self.settings.time is None else [max(0.0, self.settings.time - seconds)]
        if self.ended and share < 1 and self.settings.traces < UNLIMITED:
            bounds.append(seconds / share - seconds)
        return min(bounds, default=None)

    def lines(self, seconds: float) -> Iterator[str]:
        """Yield the figures as lines of text."""
        rate = self.steps / seconds if seconds else 0.0
        left = self.left(seconds)
        yield ", ".join(
            [
                counted(self.steps, "step"),
                f"{rate:,.0f} a second" if rate >= FEW else f"{rate:.1f} a second",
                *([f"about {left:.0f} s left"] if left is not None else []),
            ]
        )
        if not self.inputs and not self.ended:
            yield "no path has begun: failures of earlier runs are tried first"
            return
        if self.inputs:  # else other processes drive the paths
            yield from self._met()
        yield counted(self.failures, "failure")

    def _met(self) -> Iterator[str]:
        share = f"{100 * self.waited / self.lasted:.0f} %" if self.lasted else "0 %"
        yield f"waiting for quiescence: {share} of the time; possible states now: {self.possible}"
        pairs = counted(len(self.pairs), "pair")
        yield f"met: {counted(len(self.met), 'state')}, {counted(len(self.inputs), 'input')}, {pairs} of both"

    def _sent(self, number: int, event: Sent) -> None:
        self._steps[number] = self._steps.get(number, 0) + 1
        self.inputs.add(event.input)
        node = self._node.get(number)
        if node is not None:
            self.pairs.add((node, event.input))
