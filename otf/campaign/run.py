"""Runs a bench from Python: as a one-line test, which raises on a failure, or to measure its times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Unpack

from otf.campaign.results import FailureGroup
from otf.campaign.settings import Settings, SettingsKeywords
from otf.campaign.summary import Listener, Summary
from otf.errors import INCONCLUSIVE, ContactError, OtfError
from otf.spec import Elapse
from otf.trace.events import Event, Seen, Sent
from otf.trace.result import counted

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.core import Monitor


class NonconformanceError(AssertionError):
    """A campaign found that the system does not conform; the message explains each failure of the `summary`.

    >>> import tempfile
    >>> from otf.models.coffee import bench
    >>> with tempfile.TemporaryDirectory() as out:
    ...     try: run(bench(fault="dry"), out=Path(out), traces=2, seed=1, shrink=False)
    ...     except NonconformanceError as error: print(error.point)
    nothing more after Button(): an output that the model requires did not come (step 4)
    """

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        super().__init__("\n\n".join(map(_explanation, summary.failures.values())))

    @property
    def point(self) -> str:
        """Return one line that describes the first failure, beginning with the observation."""
        from otf.trace.explain import point

        first, *others = self.summary.failures.values()
        failure = (first.shrunk or first.first).verdict.failure
        more = f", and {counted(len(others), 'other kind')} of failure" if others else ""
        return f"{point(failure) if failure else first.signature}{more}"


class InconclusiveError(OtfError):
    """A campaign reached the system, but could not decide; the message lists the reasons in the `summary`.

    >>> from otf.adapter import Bench
    >>> from otf.spec import Spec
    >>> nothing = Spec(lambda state, inp: [], 0, lambda state: [])
    >>> try: run(Bench(nothing, system=lambda: lambda inp: (), types=(str,)), traces=1)
    ... except InconclusiveError as error: print(str(error).partition(":")[0])
    nothing was sent
    """

    exit_status: ClassVar[int] = INCONCLUSIVE

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        super().__init__(
            "; ".join(dict.fromkeys(result.verdict.why for result in summary.inconclusive)) or summary.untested
        )


def run(bench: Bench, **settings: Unpack[SettingsKeywords]) -> Summary:
    """Run a campaign on a bench, and return the campaign's summary; the keyword arguments are the fields of `Settings`.

    >>> from otf.models.coffee import bench
    >>> summary = run(bench(), traces=2, steps=20, seed=1)
    >>> summary.verdict, summary.paths, summary.steps
    ('pass', 2, 40)

    `run` raises NonconformanceError if a path fails, ContactError if otf could not reach the system, InconclusiveError
    if otf could not decide for another reason, and ModelError if the model is broken. Without `out`, the traces go to a
    new temporary folder. If all paths pass, `run` deletes this folder; otherwise the error message names it. Do not
    call `run` from within an event loop.
    """
    import shutil  # a model file needs none of this
    import tempfile

    import anyio

    from otf.campaign.campaign import Campaign

    __tracebackhide__ = True  # under pytest, the line of the test is what matters
    temporary = Path(tempfile.mkdtemp(prefix="otf-")) if settings.get("out") is None else None
    if temporary is not None:
        settings["out"] = temporary
    try:
        summary = _require_pass(anyio.run(Campaign(bench, Settings(**settings)).run))
    except NonconformanceError as error:
        raise error.with_traceback(None) from None
    except OtfError as error:
        # the frames of the event loop explain nothing, and the message has those of a model
        raise error.with_traceback(None) from error.__cause__
    if temporary is not None:
        shutil.rmtree(temporary)  # after a failure the folder stays: its traces are needed
    return summary


def _require_pass(summary: Summary) -> Summary:
    if summary.failures:
        raise NonconformanceError(summary)
    return require_decided(summary)


def require_decided(summary: Summary) -> Summary:
    """Return a summary without failures. Raises ContactError or InconclusiveError if the campaign is inconclusive.

    >>> from otf.campaign import Summary
    >>> require_decided(Summary(paths=1, steps=20)).verdict
    'pass'
    """
    if summary.trouble:
        raise ContactError(summary.trouble)
    if summary.verdict == "inconclusive":
        raise InconclusiveError(summary)
    return summary


def _explanation(group: FailureGroup) -> str:
    from otf.trace.explain import explanation

    shortest = group.shrunk or group.first
    return f"{explanation(shortest.verdict, shortest.events)}\ntrace: {shortest.trace}"


ROOM: Final = 3  # times the longest reply: some day the machine will be busier
GENEROUS: Final = 0.5  # seconds of silence while measuring: a late output should be measured, not missed


@dataclass(frozen=True, slots=True)
class Calibration:
    """The reply times, in seconds from each input to its last output, and the bounds that follow from them."""

    replies: tuple[float, ...]
    summary: Summary

    def quantile(self, share: float) -> float:
        """Return the time within which this share of the replies came; 0 if there were none."""
        ordered = sorted(self.replies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    @property
    def bound(self) -> float:
        """Return a value for both L and R: a reply takes at most 2L + R."""
        return ROOM * self.quantile(1.0) / 3

    @property
    def quiescence(self) -> float:
        """Return the quiescence time: 2L + R, with the same room to spare."""
        return 3 * self.bound


class _Stopwatch(Listener):
    """Measures the time from each input to the last output before the next that answers it.

    What a timer or a window of the model brings by itself is no answer: with it, L and R would be as long as the timer.
    """

    def __init__(self, begin: Callable[[], Monitor]) -> None:
        self.replies: list[float] = []
        self._begin, self._monitor, self._path = begin, begin(), 0
        self._sent = self._seen = 0.0

    def event(self, number: int, event: Event) -> None:
        """Take an event; only one path runs at a time."""
        if number != self._path:
            self._path, self._monitor = number, self._begin()
        timed = isinstance(event, Seen) and self._is_timed(event)
        if self._monitor.verdict is None:
            self._monitor.tell(event)
        if isinstance(event, Seen):
            self._seen = self._seen if timed else event.at
            return
        if self._seen > self._sent:
            self.replies.append(self._seen - self._sent)
        self._seen = 0.0
        waits = not isinstance(event, Sent) or isinstance(event.input, Elapse)
        self._sent = float("inf") if waits else event.at

    def _is_timed(self, event: Seen) -> bool:
        model = self._monitor.oracle.model
        moves = [each for node in self._monitor.states for each in model.spontaneous(node) if each.within or each.after]
        chains = [chain for move in moves for port, chain in move.emitted if port == event.port]
        output = model.output_symbol(event.output)
        return any(each.matches(output) for chain in chains for each in chain.bag.expectations)


async def calibrate(bench: Bench, settings: Settings) -> Calibration:
    """Run a campaign in strict mode with a long quiescence time, and return how fast the system answered."""
    from otf.campaign.campaign import Campaign  # a model file needs none of this
    from otf.core import Monitor

    slow = replace(bench, quiescence=max(GENEROUS, bench.quiescence or 0.0))
    stopwatch = _Stopwatch(partial(Monitor, slow.oracle()))
    campaign = Campaign(slow, replace(settings, mode="strict", burst=1, jobs=1, shrink=False), stopwatch)
    await campaign.run()
    return Calibration(tuple(stopwatch.replies), campaign.summary)
