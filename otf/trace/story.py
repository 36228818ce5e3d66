"""What happened in a run, step by step: each input with the outputs that came after it, as a table for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from otf.trace.events import Closed, Event, Seen, Sent
from otf.trace.verdict import Failure
from otf.values import show

STEPS: Final = 12  # the last ones: what led to a failure, most often
OUTPUTS: Final = 6  # of one step
WIDEST: Final = 60  # characters of an input, beyond which its outputs stand further to the right
HERE: Final = "   <== here"


@dataclass(slots=True)
class StoryRow:
    """A step: its number, its input, and what came after it until the next one."""

    number: int
    input: str
    outputs: list[str] = field(default_factory=list[str])


def story(events: Iterable[Event], failure: Failure | None = None) -> str:
    """Return the last steps of a run as a table of inputs and outputs; the event of the failure is marked.

    >>> print(story([Sent("coin", "", 0.1), Sent("button", "", 0.2), Seen("coffee", "", 0.3)]))
      step  input         outputs
         1  'coin'    ->  none
         2  'button'  ->  'coffee'
    """
    rows = _rows(events, failure)
    return "\n".join(_table(rows)) if rows else ""


def _rows(events: Iterable[Event], failure: Failure | None) -> list[StoryRow]:
    rows = [StoryRow(0, "(before any input)")]
    for number, event in enumerate(events, 1):
        here = failure is not None and failure.event == number
        if isinstance(event, Sent):
            rows.append(StoryRow(len(rows), show(event.input)))
        text = _text(event, here=here)
        if text:
            rows[-1].outputs.append(text + HERE if here else text)
        if here:
            break  # what else came at the same moment explains nothing
    return rows if rows[0].outputs else rows[1:]


def _text(event: Event, *, here: bool) -> str:
    match event:
        case Seen(output):
            return show(output)
        case Closed(port, reason):
            return f"the port {port} ended: {reason}"
        case _:
            return "nothing more" if here else ""


def _table(rows: Sequence[StoryRow]) -> Iterator[str]:
    last = rows[-STEPS:]
    wide = min(WIDEST, max(len(row.input) for row in last))
    yield f"  step  {'input':{wide}}      outputs"
    if len(rows) > STEPS:
        yield f"        … {len(rows) - STEPS} steps before these"
    for row in last:
        first, *more = _shortened(row.outputs) or ["none"]
        yield f"  {row.number:4}  {row.input:{wide}}  ->  {first}"
        yield from (f"{'':{wide + 14}}{output}" for output in more)


def _shortened(outputs: list[str]) -> list[str]:
    if len(outputs) <= OUTPUTS:
        return outputs
    # the last one is that of the failure
    return [*outputs[: OUTPUTS - 1], f"… {len(outputs) - OUTPUTS} more", outputs[-1]]
