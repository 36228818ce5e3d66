"""A run as a sequence chart: its data, and the chart as text and in Mermaid.

GitHub, GitLab and many editors render Mermaid; `sequence_svg` draws SVG.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final, Literal, assert_never

from otf.trace.events import GUESSED, Closed, Event, Guess, Quiet, Seen, Sent, Stalled, Taken
from otf.trace.texts import message_text
from otf.trace.verdict import Failure
from otf.values.text import plain

MOST: Final = 80  # most events to draw, the last ones
SUT: Final = "SUT"
WIDE: Final = 34  # characters between two lifelines
NARROW: Final = 12  # at least
LINES: Final = 8  # of one value
TIME: Final = 10
LEFT: Final = TIME + 5  # characters before the first lifeline
HERE: Final = "  <== here"

EventKind = Literal["sent", "seen", "quiet", "taken", "stalled", "closed", "guess"]


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """An event in a sequence chart: its number in the run, its time in seconds, and whether the run failed there."""

    number: int
    at: float
    kind: EventKind
    port: str
    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """A sequence chart as data.

    The `ports` are in the order in which they were first used. Each of the `rows` is one event. The chart leaves out
    `earlier` events before its first row.

    >>> from otf.trace import Seen, Sent
    >>> len(chart([Sent("coin", "line", 0.0), Seen("tea", "line", 0.1)]).rows)
    2
    """

    ports: tuple[str, ...]
    rows: tuple[SequenceRow, ...]
    earlier: int = 0


def chart(events: Iterable[Event], failure: Failure | None = None, most: int = MOST) -> Chart:
    """Return the last events of a path as a sequence chart; the chart ends at the event that failed.

    >>> from otf.trace import Seen, Sent
    >>> chart([Sent("coin", "line", 0.0), Seen("tea", "line", 0.1)]).ports
    ('line',)
    """
    rows: list[SequenceRow] = []
    for number, event in enumerate(events, 1):
        failed = failure is not None and failure.event == number
        rows.append(_row(number, event, failed=failed))
        if failed:
            break
    # a stall is only known when it ends
    shown = sorted(rows[-most:], key=attrgetter("at"))
    ports = _ports(shown)
    # a wait goes to no one
    drawn = (row if row.port in ports or row.kind != "sent" else replace(row, kind="quiet") for row in shown)
    return Chart(ports, tuple(drawn), len(rows) - len(shown))


def _row(number: int, event: Event, *, failed: bool) -> SequenceRow:  # noqa: PLR0911 -- one for each kind of event
    match event:
        case Sent(value, port, at):
            return SequenceRow(number, at, "sent", plain(port), message_text(value), failed)
        case Seen(value, port, at):
            return SequenceRow(number, at, "seen", plain(port), message_text(value), failed)
        case Closed(port, reason, at):
            return SequenceRow(number, at, "closed", plain(port), plain(f"the port ended: {reason}"), failed)
        case Taken(upto, at):
            return SequenceRow(number, at, "taken", "", f"taken up to input {upto}", failed)
        case Stalled(seconds, at):
            return SequenceRow(number, at, "stalled", "", f"the machine stalled for {seconds:.3f} s", failed)
        case Guess(at):
            return SequenceRow(number, at, "guess", "", GUESSED, failed)
        case Quiet(at, by=by):
            known = f" ({by})" if by not in {"", "timed"} else ""
            return SequenceRow(number, at, "quiet", "", f"{'nothing more' if failed else 'quiet'}{known}", failed)
        case _:
            assert_never(event)


def _ports(rows: Sequence[SequenceRow]) -> tuple[str, ...]:
    """Return the ports of the messages; a wait has none, unless the chart has nothing else."""
    found = dict.fromkeys(row.port for row in rows if row.kind in {"sent", "seen", "closed"})
    answered = any(not row.port and row.kind != "sent" for row in rows if row.kind in {"sent", "seen", "closed"})
    return tuple(port for port in found if port or answered or len(found) == 1)


def lifelines(chart: Chart, width: int = WIDE, within: int | None = None) -> str:
    """Return a sequence chart as text: the system has a column in the middle, and each port has a column beside it.

    There are `width` characters between two columns. If the chart must fit into `within` characters, the columns stand
    closer, and a long value continues below its arrow.

    >>> from otf.report.sequence import chart
    >>> from otf.trace.events import Quiet, Seen, Sent
    >>> print(lifelines(chart([Sent("coin", "line", 0.0), Seen("tea", "line", 0.1), Quiet(0.2)]), 16))
                 line              SUT
        0.0000     |---- 'coin' --->|
        0.1000     |<--- 'tea' -----|
        0.2000     :     quiet      :
    """
    gaps = max(1, len(chart.ports))
    fitting = width if within is None else min(width, max(NARROW, (within - LEFT - 1) // gaps - 1))
    return "\n".join(line.rstrip() for line in _lines(chart, fitting, within))


def _lines(chart: Chart, width: int, within: int | None) -> Iterator[str]:
    half = -(-len(chart.ports) // 2)
    names = [*chart.ports[:half], SUT, *chart.ports[half:]]
    columns = {name: at * (width + 1) for at, name in enumerate(names)}
    yield _heads(names, width)
    if chart.earlier:
        yield f"{'':{LEFT}}… {chart.earlier} earlier events"
    for row in chart.rows:
        first, *more = _lines_of(row, columns)
        beside = within is None or LEFT + len(first + HERE) <= within
        yield f"{row.at:{TIME}.4f}     {first}{HERE if row.failed and beside else ''}"
        yield from (f"{'':{LEFT}}{line}" for line in more)
        if row.failed and not beside:
            yield f"{HERE.strip():>{LEFT + len(first)}}"


def _heads(names: list[str], width: int) -> str:
    line = [" "] * (LEFT + len(names) * (width + 1) + 40)
    for at, name in enumerate(names):
        shown = (name or "port")[:width]
        start = LEFT + at * (width + 1) - len(shown) // 2
        line[start : start + len(shown)] = shown
    return "".join(line)


def _lines_of(row: SequenceRow, columns: dict[str, int]) -> Iterator[str]:
    last = max(columns.values())
    if row.kind in {"quiet", "taken", "stalled", "guess"}:
        yield _over(row.text, [*columns.values()], last)
        return
    low, high = sorted((columns[row.port], columns[SUT]))
    right = (columns[SUT] if row.kind == "sent" else columns[row.port]) == high
    lines = _label(row.text, high - low - 7)
    fits = all(len(line) <= high - low - 7 for line in lines)
    arrow = _text_arrow(lines[0] if fits else "", high - low - 1, right=right, ended=row.kind == "closed")
    yield _between(columns, low, arrow)
    if fits:
        yield from (_between(columns, low, f"   {line}".ljust(high - low - 1)) for line in lines[1:])
    else:
        yield from _across(row.text, columns, low)


def _across(text: str, columns: dict[str, int], low: int) -> Iterator[str]:
    """Yield a text below its arrow, across the other lifelines, cutting a word longer than all of them."""
    last = max(columns.values())
    lines = [line if len(line) < last else f"{line[: last - 2]}…" for line in _label(text, last - 1)]
    start = max(0, min(low + 1, last - 1 - max(map(len, lines))))
    yield from (_between(columns, start, f" {line} ") for line in lines)


def _between(columns: dict[str, int], low: int, text: str) -> str:
    line = ["|" if at in columns.values() else " " for at in range(max(columns.values()) + 1)]
    line[low + 1 : low + 1 + len(text)] = text
    return "".join(line)


def _label(text: str, room: int) -> list[str]:
    """Return a text in lines, broken between words and after brackets; a word may be longer than `room`."""
    wrapper = textwrap.TextWrapper(room, break_long_words=False, break_on_hyphens=False)
    wrapper.wordsep_simple_re = re.compile(r"(\s+|(?<=\())")
    return wrapper.wrap(text)[:LINES] or [""]


def _over(text: str, columns: list[int], last: int) -> str:
    line = [":" if at in columns else " " for at in range(last + 1)]
    start = max(1, (last + 1 - len(text)) // 2)
    line[start : start + len(text)] = text[: max(0, last - start)]
    return "".join(line)


def _text_arrow(text: str, room: int, *, right: bool, ended: bool) -> str:
    text = f" {text} " if text else ""
    rest = room - len(text)
    before, after = "-" * (rest // 2), "-" * (rest - rest // 2)
    head = "x" if ended else ">" if right else "<"
    return f"{before}{text}{after[1:]}{head}" if right else f"{head}{before[1:]}{text}{after}"


def mermaid(chart: Chart) -> str:
    """Return a sequence chart as text in the language of Mermaid, which GitHub draws in Markdown.

    >>> from otf.report.sequence import chart
    >>> from otf.trace.events import Quiet, Seen, Sent
    >>> print(mermaid(chart([Sent("a;b", "line", 0.0), Seen("x", "line", 0.1), Quiet(0.2)])))
    sequenceDiagram
        participant P0 as line
        participant SUT
        P0->>SUT: 'a#59;b'
        SUT->>P0: 'x'
        Note over P0,SUT: quiet
    """
    return "\n".join(_mermaid_lines(chart))


def _mermaid_lines(chart: Chart) -> Iterator[str]:
    half = -(-len(chart.ports) // 2)
    names = {port: f"P{number}" for number, port in enumerate(chart.ports)}
    drawn = [*names.values()]
    drawn.insert(half, SUT)
    ports = {name: port for port, name in names.items()}
    yield "sequenceDiagram"
    for name in drawn:
        yield f"    participant {name}" + ("" if name == SUT else f" as {_text(ports[name] or 'port')}")
    over = ",".join(dict.fromkeys([drawn[0], drawn[-1]]))
    if chart.earlier:
        yield f"    Note over {over}: {chart.earlier} earlier events"
    for row in chart.rows:
        yield f"    {_message(row, names, over)}"


def _message(row: SequenceRow, names: dict[str, str], over: str) -> str:
    here = " (here)" if row.failed else ""
    match row.kind:
        case "sent":
            return f"{names[row.port]}->>{SUT}: {_text(row.text)}{here}"
        case "seen":
            return f"{SUT}->>{names[row.port]}: {_text(row.text)}{here}"
        case "closed":
            return f"{SUT}-x{names[row.port]}: {_text(row.text)}{here}"
        case _:
            return f"Note over {over}: {_text(row.text)}{here}"


def _text(text: str) -> str:
    # a semicolon ends a line, # begins an entity, and angle brackets would look like HTML
    return "".join(f"#{ord(char)};" if char in '#;<>&"%' or not char.isprintable() else char for char in text) or "-"
