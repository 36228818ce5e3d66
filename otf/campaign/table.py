"""A short run as a table with the states of the model: `input -> outputs {states}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otf.core import Monitor, Oracle
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.values import became, show


def table(oracle: Oracle, events: Iterable[Event]) -> str:
    """Return a line for each step: the input, its outputs, and the possible states that explain them.

    A state is given by what changed in it; the first line begins with the initial one. After the failing step there are
    none.
    """
    return "\n".join(_lines(oracle, events))


def _lines(oracle: Oracle, events: Iterable[Event]) -> Iterator[str]:
    monitor, line, outputs = Monitor(oracle), "", list[str]()
    before = _states(monitor)
    first = f"{_braced(map(show, before))} "
    for event in events:
        if isinstance(event, Sent):
            if line:
                now = _states(monitor)
                yield f"{line} -> {', '.join(outputs) or 'nothing'} {_braced(became(before, now))}"
                before, first = now, ""
            line, outputs = f"{first}{show(event.input)}", []
        over = monitor.tell(event) is not None
        outputs += _seen(event, over=over)
        if over:
            break
    if line:
        after = [] if monitor.end().failed else became(before, _states(monitor))
        yield f"{line} -> {', '.join(outputs) or 'nothing'} {_braced(after)}"


def _states(monitor: Monitor) -> list[object]:
    return [node.value for node in monitor.states]


def _braced(texts: Iterable[str]) -> str:
    return f"{{{', '.join(texts)}}}"


def _seen(event: Event, *, over: bool) -> list[str]:
    match event:
        case Seen(output):
            return [show(output)]
        case Closed(port, reason):
            return [f"the port {port} ended: {reason}"]
        case Quiet() if over:
            return ["nothing more"]
        case _:
            return []
