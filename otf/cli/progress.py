"""Progress of a campaign on a terminal, and the figures of it; nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from otf.campaign import FailureGroup, Listener, PathResult, Settings, Summary
from otf.core import View
from otf.trace.events import Event
from otf.trace.result import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TaskID
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from otf.core import Node
from otf.trace.events import Quiet, Sent

FEW: Final = 10  # a rate below this is shown with a decimal: 0.4 is not 0


@dataclass(slots=True)
class Figures:
    """Counts what a campaign does; times are in seconds, those of events are since the start of their path.

    `met` are states that the system was certainly in; `pairs` are such states with the inputs that were sent in them.
    """

    settings: Settings
    steps: int = 0
    ended: int = 0
    failures: int = 0
    possible: int = 0
    waited: float = 0.0
    lasted: float = 0.0
    met: set[Node] = field(default_factory=set[Node])
    inputs: set[object] = field(default_factory=set[object])
    pairs: set[tuple[Node, object]] = field(default_factory=set[tuple[Node, object]])
    _at: dict[int, float] = field(default_factory=dict[int, float])
    _steps: dict[int, int] = field(default_factory=dict[int, int])
    _node: dict[int, Node | None] = field(default_factory=dict[int, Node | None])

    def enabled(self, number: int, view: View) -> None:
        """Note the possible states of a path."""
        self.possible = len(view.nodes)
        self._node[number] = node = view.nodes[0] if len(view.nodes) == 1 else None
        if node is not None:
            self.met.add(node)

    def event(self, number: int, event: Event) -> None:
        """Count an event: time that ends in quiescence was waiting, all other time was work."""
        passed = event.at - self._at.get(number, event.at)
        self._at[number] = event.at
        self.lasted += passed
        if isinstance(event, Quiet):
            self.waited += passed
        elif isinstance(event, Sent):
            self._sent(number, event)

    def path(self, number: int, *, failed: bool) -> None:
        """Count the end of a path."""
        self.ended += 1
        self.failures += failed
        for table in (self._at, self._steps, self._node):
            table.pop(number, None)

    def left(self, seconds: float) -> float | None:
        """Return the seconds left at the rate of the `seconds` so far; None if there is no estimate."""
        per_path = self.settings.steps
        share = (self.ended * per_path + sum(self._steps.values())) / (self.settings.traces * per_path)
        bounds = [] if self.settings.time is None else [max(0.0, self.settings.time - seconds)]
        if share:
            bounds.append(seconds / share - seconds)
        return min(bounds, default=None)

    def lines(self, seconds: float) -> Iterator[str]:
        """Yield the figures as lines."""
        rate = self.steps / seconds if seconds else 0.0
        left = self.left(seconds)
        yield ", ".join(
            [
                counted(self.steps, "step"),
                f"{rate:,.0f} a second" if rate >= FEW else f"{rate:.1f} a second",
                *([f"about {left:.0f} s left"] if left is not None else []),
            ]
        )
        share = f"{100 * self.waited / self.lasted:.0f} %" if self.lasted else "0 %"
        yield f"waiting for quiescence: {share} of the time; possible states now: {self.possible}"
        pairs = counted(len(self.pairs), "pair")
        yield f"met: {counted(len(self.met), 'state')}, {counted(len(self.inputs), 'input')}, {pairs} of both"
        yield counted(self.failures, "failure")

    def _sent(self, number: int, event: Sent) -> None:
        self.steps += 1
        self._steps[number] = self._steps.get(number, 0) + 1
        self.inputs.add(event.input)
        node = self._node.get(number)
        if node is not None:
            self.pairs.add((node, event.input))


@contextmanager
def listening(settings: Settings, *, quiet: bool, what: str = "paths") -> Generator[Listener]:
    """Yield a listener that shows progress on standard error, if that is a terminal."""
    stderr: TextIO | None = sys.stderr  # None where it was closed
    if quiet or stderr is None or not stderr.isatty():
        yield Listener()
        return
    figures = Figures(settings)
    with board(figures, monotonic()) as bars:
        yield Moving(figures, bars, bars.add_task(what, total=settings.traces, more=""))


class Moving(Listener):
    """Updates the figures, which the board reads ten times a second, and the bar; shows the progress of shrinking."""

    def __init__(self, figures: Figures, bars: Progress, task: TaskID) -> None:
        self._figures = figures
        self.bars = bars
        self._task = task

    def enabled(self, number: int, view: View) -> None:
        """Note the possible states."""
        self._figures.enabled(number, view)

    def event(self, number: int, event: Event) -> None:
        """Count an event."""
        self._figures.event(number, event)

    def path(self, result: PathResult, summary: Summary) -> None:
        """Move the bar."""
        self._figures.path(result.number, failed=result.verdict.failed)
        self.bars.update(self._task, completed=summary.paths)

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Show the length reached."""
        text = f"{group.first.steps} -> {counted(length, 'step')}, {transitions} sent"
        self.bars.update(self._task, description="shrinking", more=text)


def board(figures: Figures, began: float) -> Progress:
    """Return the board that shows these figures on standard error; `began`: when the campaign began (monotonic)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Board(Progress):
        """The bar, and the figures below it."""

        def get_renderables(self) -> Generator[RenderableType]:
            yield from super().get_renderables()
            for line in figures.lines(monotonic() - began):
                yield Text(f"  {line}", style="dim" if figures.failures == 0 else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Board(*columns, TextColumn("{task.fields[more]}"), console=Console(stderr=True), transient=True)
