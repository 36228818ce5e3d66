"""Progress of a campaign: a board that changes on a terminal, nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from otf.campaign import FailureGroup, Listener, PathResult, Settings, Summary
from otf.cli.figures import Figures
from otf.cli.telling import counted
from otf.core import View
from otf.trace.events import Event

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TaskID


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
    """Counts, for a board that looks at the figures ten times a second; then tells how far shrinking has come."""

    def __init__(self, figures: Figures, bars: Progress, task: TaskID) -> None:
        self._figures = figures
        self.bars = bars
        self._task = task

    def offered(self, number: int, view: View) -> None:
        """Take the possible states."""
        self._figures.offered(number, view)

    def event(self, number: int, event: Event) -> None:
        """Take an event."""
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
    """Return the board that shows these figures on standard error; `began` is when the campaign did (monotonic)."""
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
