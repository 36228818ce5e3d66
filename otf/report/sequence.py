"""A run as a sequence chart: what is drawn, whatever it is drawn with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, assert_never

from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Failure
from otf.values import show

MOST: Final = 80  # events that are drawn, the last ones

EventKind = Literal["sent", "seen", "quiet", "taken", "closed"]


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """An event: its number in the run, its time in seconds, and whether it is the one that failed."""

    number: int
    at: float
    kind: EventKind
    port: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """The ports in the order of their first use, and the events; `earlier` events were left out before them."""

    ports: tuple[str, ...]
    rows: tuple[SequenceRow, ...]
    earlier: int = 0


def chart(events: Iterable[Event], failure: Failure | None = None, most: int = MOST) -> Chart:
    """Return the last events of a run as a chart, up to the one that failed."""
    rows: list[SequenceRow] = []
    for number, event in enumerate(events, 1):
        failed = failure is not None and failure.event == number
        rows.append(_row(number, event, failed=failed))
        if failed:
            break
    shown = rows[-most:]
    return Chart(_ports(shown), tuple(shown), len(rows) - len(shown))


def _row(number: int, event: Event, *, failed: bool) -> SequenceRow:
    match event:
        case Sent(value, port, at):
            return SequenceRow(number, at, "sent", plain(port), show(value), failed)
        case Seen(value, port, at):
            return SequenceRow(number, at, "seen", plain(port), show(value), failed)
        case Closed(port, reason, at):
            return SequenceRow(number, at, "closed", plain(port), plain(f"the port ended: {reason}"), failed)
        case Taken(upto, at):
            return SequenceRow(number, at, "taken", "", f"taken up to input {upto}", failed)
        case Quiet(at):
            return SequenceRow(number, at, "quiet", "", "nothing more" if failed else "quiet", failed)
        case _:
            assert_never(event)


def plain(text: str) -> str:
    r"""Return a text on one line: the names of ports come from a trace, and a trace from strangers.

    >>> plain("a\nb")
    'a\\nb'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _ports(rows: Sequence[SequenceRow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.port for row in rows if row.kind in {"sent", "seen", "closed"}))
