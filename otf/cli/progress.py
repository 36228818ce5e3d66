"""Progress of a campaign: with its figures on a terminal, as a line every ten seconds in a pipe."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Final

from otf import supervisor
from otf.campaign import Budget, FailureGroup, Listener, PathResult, Settings, Summary
from otf.campaign.settings import UNLIMITED
from otf.cli.figures import Figures
from otf.cli.output import harmless, is_terminal, warn
from otf.cli.signals import SIGNALS
from otf.core import View
from otf.trace.events import Event, Sent
from otf.trace.explain import explanation, wrapped
from otf.trace.result import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TaskID

    from otf.cli.summary import SummaryPrinter

BEAT: Final = 10.0  # seconds between two lines of `heartbeat`: a reader of a pipe waits just as one at a terminal does


@contextmanager
def listening(
    settings: Settings, summary: Summary, printer: SummaryPrinter | None, *, quiet: bool, what: str = "paths"
) -> Generator[Listener]:
    """Yield a listener that prints each failure as soon as it is shrunk, and shows progress on standard error.

    `quiet`: show no more on a terminal than in a pipe. Enter it while the event loop runs.
    """
    if quiet or not is_terminal(sys.stderr):
        reporting = Reporting(settings, summary, printer)
        with heartbeat(lambda: f"{what}: {reporting.line}"):
            yield reporting
        return
    figures = Figures(settings)
    with board(figures, monotonic() - SIGNALS.spent) as bars:
        total = None if settings.traces >= UNLIMITED else settings.traces
        yield Moving(settings, summary, printer, figures, bars, bars.add_task(what, total=total, more=""))


@contextmanager
def heartbeat(line: Callable[[], str], every: float = BEAT) -> Generator[None]:
    """Print a line to standard error every ten seconds, so that the log of a long command shows that it is alive.

    Enter it while the event loop runs.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def beat() -> None:
        nonlocal timer
        warn(line())
        timer = loop.call_later(every, beat)

    timer = loop.call_later(every, beat)
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def working(line: Callable[[], str]) -> Generator[None]:
    """Show the progress of a command that is not a campaign, as `heartbeat` does or in a line of the terminal."""
    if not is_terminal(sys.stderr):
        with heartbeat(line):
            yield
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Line(Progress):
        def get_renderables(self) -> Generator[RenderableType]:
            yield from super().get_renderables()
            yield Text(f"  {harmless(line())}")

    with Line(TextColumn(""), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bars:
        bars.add_task("")
        yield


@dataclass(slots=True)
class ShrinkFigures:
    """How far the shrinking of one failure has got, and what is left of its budget; `began` is monotonic.

    `timed` is false if the budget's seconds are not the limit, since several failures share the rest of `--time`.
    """

    budget: Budget
    timed: bool = True
    began: float = field(default_factory=monotonic)

    @property
    def left(self) -> float:
        """Return the seconds that the budget still has."""
        return max(0.0, self.budget.seconds - (monotonic() - self.began))

    def text(self, steps: int, length: int, transitions: int) -> str:
        """Return the progress in words."""
        left = max(0, self.budget.transitions - transitions)
        budget = f"left: {counted(left, 'input')}{f', {self.left:.0f} s' if self.timed else ''}"
        return f"shrinking, {steps} -> {counted(length, 'step')} (Ctrl-C keeps {length:,}); {budget}"


class Reporting(Listener):
    """Prints each failure as soon as it is shrunk; `line` sums up the campaign so far in a line."""

    def __init__(self, settings: Settings, summary: Summary, printer: SummaryPrinter | None) -> None:
        self._settings, self._summary, self._printer = settings, summary, printer
        self._shrinking: tuple[FailureGroup, ShrinkFigures] | None = None
        self._now = self._lost = self._newest = ""
        # by path: one that runs for hours adds steps all the time
        self._under_way = Counter[int]()
        self._kinds = 0

    @property
    def line(self) -> str:
        """Return the counts, and how far shrinking has got."""
        summary = self._summary
        most, paths = self._settings.traces, counted(summary.paths, "path")
        paths = paths if most >= UNLIMITED else f"{summary.paths:,} of {counted(most, 'path')}"
        counts = f"{paths}, {counted(summary.steps + self._under_way.total(), 'step')}, "
        counts += f"{len(summary.inconclusive):,} inconclusive, " * bool(summary.inconclusive)
        newest, self._newest = self._newest, ""
        return f"{counts}{counted(len(summary.failures), 'kind')} of failure{self._now and f'; {self._now}'}{newest}"

    def event(self, number: int, event: Event) -> None:
        """Count a step of a path under way."""
        if isinstance(event, Sent):
            self._under_way[number] += 1

    def path(self, result: PathResult, summary: Summary) -> None:
        """Leave the steps of a finished path to the summary; note a new kind of failure."""
        self._under_way.pop(result.number, None)
        if len(summary.failures) > self._kinds:
            self._kinds = len(summary.failures)
            self._failed(result)

    def _failed(self, result: PathResult) -> None:
        # shrinking it may take minutes: the next line of a pipe has it
        self._newest = f": {explanation(result.verdict).partition(chr(10))[0]}"

    def failed_start(self, number: int, why: str, pause: float) -> None:
        """Print that a path could not reach the system."""
        self._print(f"path {number}: {'as before' if why == self._lost else why}; it is driven again in {pause:.2g} s")
        self._lost = why

    def _print(self, text: str) -> None:
        warn(text)

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Note the length reached."""
        if self._shrinking is None or self._shrinking[0] is not group:
            self._shrinking = group, ShrinkFigures(self._settings.budget, timed=self._settings.time is None)
        kinds = [*self._summary.failures]
        # a kind that has just been split off is not among them yet
        known = len(kinds) > 1 and group.signature in kinds
        which = f"{kinds.index(group.signature) + 1} of {len(kinds)}: " if known else ""
        self._now = which + self._shrinking[1].text(group.first.steps, length, transitions)

    def failure(self, group: FailureGroup) -> None:
        """Print a failure."""
        self._now = ""
        if self._printer is not None:
            self._printer.failure(group)
        supervisor.failed()


class Moving(Reporting):
    """Updates the bar and the figures, which the board reads ten times a second; prints a new failure above it."""

    def __init__(
        self,
        settings: Settings,
        summary: Summary,
        printer: SummaryPrinter | None,
        figures: Figures,
        bars: Progress,
        task: TaskID,
    ) -> None:
        super().__init__(settings, summary, printer)
        self._figures, self._task = figures, task
        self.bars: Progress = bars

    def enabled(self, number: int, view: View) -> None:
        """Note the possible states."""
        self._figures.enabled(number, view)

    def event(self, number: int, event: Event) -> None:
        """Count an event."""
        self._figures.event(number, event)

    def path(self, result: PathResult, summary: Summary) -> None:
        """Move the bar."""
        # a path that showed a known issue failed, but does not count as a failure of the campaign
        failed = sum(group.count for group in summary.failures.values())
        self._figures.path(result.number, summary.steps, failed=failed > self._figures.failures)
        self.bars.update(self._task, completed=summary.paths)
        super().path(result, summary)

    def _failed(self, result: PathResult) -> None:
        if self._printer is not None:
            after = counted(result.steps, "step")
            self._print(f"path {result.number} failed after {after}\n{explanation(result.verdict)}")

    def _print(self, text: str) -> None:
        self.bars.refresh()  # else the board below the text would be the one from before it
        wide = self.bars.console.width
        shown = "\n".join(part for line in harmless(text).split("\n") for part in wrapped(line, wide))
        self.bars.console.print(shown, markup=False, highlight=False, soft_wrap=True)

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Show the length reached, and the budget that is left."""
        super().shrinking(group, length, transitions)
        self._figures.shrinking = True
        self.bars.update(self._task, more=self._now)

    def failure(self, group: FailureGroup) -> None:
        """Print a failure in place of the board."""
        self.bars.stop()
        super().failure(group)
        self.bars.start()


def board(figures: Figures, began: float) -> Progress:
    """Return the board that shows these figures on standard error; `began`: the start of the campaign (monotonic)."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Board(Progress):
        """The bar, with the figures below it."""

        def get_renderables(self) -> Generator[RenderableType]:
            yield from super().get_renderables()
            # below the bar, not beside it: in 80 columns both would be too narrow to read
            now = [str(task.fields["more"]) for task in self.tasks if task.fields["more"]]
            for line in (*now, *figures.lines(monotonic() - began)):
                yield Text(f"  {line}", style="dim" if figures.failures == 0 else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Board(*columns, console=Console(stderr=True), transient=True)
