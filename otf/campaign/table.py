"""Runs as tables: a short one with the model's states, `input -> outputs {states}`, or a trace with a row per event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from otf.core import Monitor, Oracle
from otf.trace.events import GUESSED, Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.explain import output_text
from otf.trace.reading import TracedEvent
from otf.trace.texts import message_text
from otf.values import became, show


def table(oracle: Oracle, events: Iterable[Event]) -> str:
    """Return a line for each step: the input, its outputs, and the possible states that explain them.

    It shows a state by its changes; the first line begins with the initial state. After the failing step there are
    none.
    """
    return "\n".join(_lines(oracle, events))


def _lines(oracle: Oracle, events: Iterable[Event]) -> Iterator[str]:
    monitor, line, outputs = Monitor(oracle), "", list[str]()
    before = _states(monitor)
    first = f"{_in_braces(map(show, before))} "
    for event in events:
        if isinstance(event, Sent):
            if line:
                now = _states(monitor)
                yield f"{line} -> {', '.join(outputs) or 'nothing'} {_in_braces(became(before, now))}"
                before, first = now, ""
            line, outputs = f"{first}{show(event.input)}", []
        over = monitor.tell(event) is not None
        outputs += filter(None, [output_text(event, last=over)])
        if over:
            break
    if line:
        after = [] if monitor.end().failed else became(before, _states(monitor))
        yield f"{line} -> {', '.join(outputs) or 'nothing'} {_in_braces(after)}"


def _states(monitor: Monitor) -> list[object]:
    return [node.value for node in monitor.states]


def _in_braces(texts: Iterable[str]) -> str:
    return f"{{{', '.join(texts)}}}"


class TraceRows:
    """Collects the rows of a table; `states` holds the possible states in the last row."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._states: list[object] = []
        self._running = set[str]()

    def add(self, traced: TracedEvent, monitor: Monitor) -> None:
        """Add the row of a judged event."""
        failure = None if monitor.verdict is None else monitor.verdict.failure
        settled = isinstance(traced.event, Quiet) and failure is None
        now = _states(monitor) if settled else []
        row = _row(traced, now, failed=failure is not None and failure.event == monitor.events)
        if now:
            row["changes"] = became(self._states, now)
            self._states = now
            row["timers"] = self._timers(monitor)
        self.rows.append(row)

    def _timers(self, monitor: Monitor) -> list[str]:
        """Return in words which timers have started since the last such row, and which have ended."""
        before, self._running = self._running, {name for name in monitor.timers() if isinstance(name, str)}
        began = [f"timer {name!r} runs" for name in sorted(self._running - before)]
        return [*began, *(f"timer {name!r} has ended" for name in sorted(before - self._running))]

    def add_after(self, traced: TracedEvent) -> None:
        """Add the row of an event after the failure, which was not judged."""
        row = _row(traced)
        self.rows.append({**row, "what": f"{row['what']}  (afterwards)"})


def _row(traced: TracedEvent, states: Iterable[object] = (), *, failed: bool = False) -> dict[str, Any]:
    kind, what = _description(traced.event)
    return {
        "line": traced.line,
        "at": traced.event.at,
        "kind": kind,
        "port": getattr(traced.event, "port", ""),
        "what": what,
        "states": [show(state) for state in states],
        "raw": traced.raw.hex(" ") if traced.raw is not None else "",
        "failed": failed,
    }


def _description(event: Event) -> tuple[str, str]:  # noqa: PLR0911 -- one for each kind of event
    match event:
        case Sent(value):
            return "->", message_text(value)
        case Seen(value):
            return "<-", message_text(value)
        case Closed(_, reason):
            return "<-", f"the port ended: {reason}"
        case Quiet(by=by):
            return "quiet", f"({by})" if by else ""
        case Guess():
            return "guess", f"({GUESSED})"
        case Stalled(seconds):
            return "stall", f"({seconds:.3f} s)"
        case Taken():
            return "taken", ""
