"""A short run as a table with the states of the model: `{states} input -> outputs {states'}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otf.core import Monitor, Oracle
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from otf.values import show


def table(oracle: Oracle, events: Iterable[Event]) -> str:
    """Return a line for each step: the possible states, the input, its outputs, and the states that explain them.

    After the failing step there are none.
    """
    return "\n".join(_lines(oracle, events))


def _lines(oracle: Oracle, events: Iterable[Event]) -> Iterator[str]:
    monitor, line, outputs = Monitor(oracle), "", list[str]()
    for event in events:
        if isinstance(event, Sent):
            if line:
                yield f"{line} -> {', '.join(outputs) or 'nothing'} {_states(monitor)}"
            line, outputs = f"{_states(monitor)} {show(event.input)}", []
        over = monitor.tell(event) is not None
        outputs += _seen(event, over=over)
        if over:
            break
    if line:
        yield f"{line} -> {', '.join(outputs) or 'nothing'} {'{}' if monitor.end().failed else _states(monitor)}"


def _states(monitor: Monitor) -> str:
    return f"{{{', '.join(show(node.value) for node in monitor.states)}}}"


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
