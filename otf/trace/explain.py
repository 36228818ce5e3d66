"""A verdict as text: the last steps, the possible states, the outputs allowed and seen."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from otf.spec.offering import Elapse
from otf.trace.clock import by_clock, told
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Stalled
from otf.trace.near import near
from otf.trace.result import counted
from otf.trace.texts import in_row
from otf.trace.title import came, title
from otf.trace.verdict import WORDS, Allowed, Failure, Verdict
from otf.values import show
from otf.values.text import COMPARED, LONGEST, WHOLE, shortened

STEPS: Final = 12  # the last ones, which usually lead to the failure
PASSED: Final = 0.01  # seconds of silence that are shown
OUTPUTS: Final = 6  # the most outputs shown of one step
WIDEST: Final = 60  # characters of an input; a longer one moves its outputs to the right
UNLIMITED: Final = 1 << 62
PAIR: Final = 2
HERE: Final = "   <== here"
_BREAKS: Final = re.compile(r"(\s+|(?<=\())")  # a value may be broken after its type, too
FRAME: Final = len("  1234    ->  ")  # a row without its two cells


@dataclass(slots=True)
class StoryRow:
    """A step in the table of a run: its number, its input, and the outputs before the next input.

    `joined`: the next input was sent at once; `cut`: a part of a long value is left out.
    """

    number: int
    input: str
    outputs: list[str] = field(default_factory=list[str])
    port: str = ""
    joined: bool = False
    cut: bool = False

    def add(self, text: str, *, here: bool) -> None:
        """Add an output, without the middle if it is long."""
        shown = in_row(text)
        self.cut = self.cut or shown != text
        self.outputs.append(shown + HERE if here else shown)


def story(events: Iterable[Event], failure: Failure | None = None, width: int | None = None) -> str:
    """Return the last steps of a run as a table of inputs and outputs, with the failing event marked.

    With a `width`, in characters, both columns are wrapped between words.

    >>> print(story([Sent("coin", "", 0.1), Sent("button", "", 0.2), Seen("coffee", "", 0.3)]))
      step  input         outputs
         1  'coin'    ->  none
         2  'button'  ->  'coffee'
    """
    rows = _rows(events, failure)
    return "\n".join(_table(rows, width)) if rows else ""


def _rows(events: Iterable[Event], failure: Failure | None) -> list[StoryRow]:
    rows = [StoryRow(0, "(before any input)")]
    single = failure.step - failure.together if failure is not None else UNLIMITED
    at_once, quiet, waits = False, math.inf, False
    for number, event in enumerate(events, 1):
        # silence after silence: otf waited for a timer, and the failure may need that; a wait says how long it is
        if isinstance(event, Quiet) and event.at >= quiet + PASSED and not waits:
            rows[-1].outputs.append(f"({event.at - quiet:.2g} s pass)")
        if not isinstance(event, Stalled):
            quiet = event.at if isinstance(event, Quiet) else math.inf
        here = failure is not None and failure.event == number
        if isinstance(event, Sent):
            # inputs in a row from one client make a burst only if they are known to
            rows[-1].joined = at_once and (event.port != rows[-1].port or len(rows) - 1 > single)
            text, waits = show(event.input, COMPARED), isinstance(event.input, Elapse)
            rows.append(StoryRow(len(rows), in_row(text), port=event.port, cut=in_row(text) != text))
        at_once = isinstance(event, Sent) or (at_once and isinstance(event, Stalled))
        text = output_text(event, last=here, longest=COMPARED)
        if text:
            rows[-1].add(text, here=here)
        if here:
            break  # other outputs at the same moment would not help
    return rows if rows[0].outputs else rows[1:]


def output_text(event: Event, *, last: bool, longest: int = LONGEST) -> str:
    """Return an output, or a port's end, as text; any other event is "", or says that nothing came as the `last`."""
    match event:
        case Seen(output):
            return show(output, longest)
        case Closed(port, reason):
            return f"the port {port} ended: {reason}"
        case _:
            return "nothing more" if last else ""


def _table(rows: Sequence[StoryRow], width: int | None) -> Iterator[str]:
    last = rows[-STEPS:]
    wide, rest = _widths(last, width)
    yield f"  step  {'input':{wide}}      outputs"
    if len(rows) > STEPS:
        yield f"        … {counted(len(rows) - STEPS, 'step')} before these"
    for row in last:
        shown = _shorten(row.outputs) or ([""] if row.joined else ["none"])
        outputs = [line for output in shown for line in _cell(output, rest)]
        arrow = "& " if row.joined else "->"
        inputs = _cell(row.input, wide)
        for at, (inp, output) in enumerate(zip_longest(inputs, outputs, fillvalue="")):
            yield f"  {row.number if at == 0 else '':4}  {inp:{wide}}  {arrow if at == 0 else '  '}  {output}".rstrip()
    if any(row.cut for row in last):
        yield "        …: a part of a long value; `otf show` with --whole has all of it"
    if any(row.joined for row in last):
        yield "        &: sent at once with the next input; the system takes them in any order"


def _widths(rows: Sequence[StoryRow], width: int | None) -> tuple[int, int | None]:
    """Return the widths of both columns: what they need, or at least half of what is available for each."""
    inputs = max(len(row.input) for row in rows)
    if width is None:
        return min(WIDEST, inputs), None
    outputs = max((len(output) for row in rows for output in row.outputs), default=0)
    half = max(1, (width - FRAME) // 2)
    wide = min(inputs, max(half, width - FRAME - outputs))
    return wide, max(half, width - FRAME - wide)


def _cell(text: str, width: int | None) -> list[str]:
    if width is None or len(text) <= width:
        return [text]
    marked = text.endswith(HERE)
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    wrapper.wordsep_simple_re = _BREAKS
    lines = wrapper.wrap(text.removesuffix(HERE))
    if max(map(len, lines)) > width:  # a word inside: what it moves would not stand in its column
        wrapper.break_long_words = True
        lines = wrapper.wrap(text.removesuffix(HERE))
    if marked and len(lines[-1] + HERE) <= width:
        return [*lines[:-1], lines[-1] + HERE]
    return [*lines, f"{HERE.strip():>{width}}"] if marked else lines


def _shorten(outputs: list[str]) -> list[str]:
    if len(outputs) <= OUTPUTS:
        return outputs
    # the last output is that of the failure
    return [*outputs[: OUTPUTS - 1], f"… {len(outputs) - OUTPUTS} more", outputs[-1]]


_COLUMN: Final = re.compile(r"\S {2,}(?=\S)|^ *[\w ]{1,20}: +(?=\S)|^ *\d+ +(?=\S)|^ *[{-] (?=\S)")
_COMMAND: Final = re.compile(
    r" *[\w ]+: +(otf|pytest) |traces: \S+$| +known_issues=| {10}['\"].*['\"](,|\), 'why'\),)$"
)
"""What is copied stays one line."""


def wrapped(line: str, width: int) -> list[str]:
    """Return a line in parts of at most `width` characters, broken between words; later parts line up below the first.

    A command stays on one line, whatever the width: users copy it, and would copy line breaks too.

    >>> wrapped("  seen:   Coffee(cups=1), Tea(cups=2)", 30)
    ['  seen:   Coffee(cups=1),', '          Tea(cups=2)']
    """
    if len(line) <= width or _COMMAND.match(line):
        return [line]
    if line.endswith(HERE.strip()):  # alone in a line it must not look like a row
        parts = wrapped(line.removesuffix(HERE.strip()).rstrip(), width)
        fits = len(parts[-1]) + len(HERE) <= width
        return [*parts[:-1], parts[-1] + HERE] if fits else [*parts, f"{HERE.strip():>{width}}"]
    text = line.lstrip()
    indent = len(line) - len(text)
    starts = [found.end() for found in _COLUMN.finditer(line)]
    below = max((start for start in starts if start <= width // 2), default=indent + 2)
    wrapper = textwrap.TextWrapper(width, initial_indent=" " * indent, subsequent_indent=" " * below)
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.wrap(text)


BRANCHES = 8  # listed for one state, and so many states


def explanation(verdict: Verdict, events: Iterable[Event] = (), width: int | None = None) -> str:
    """Return a verdict as lines of text; for a failure, these show the possible states and what each allowed.

    With the run's `events`, a table of the last steps comes before a failure, `width` characters wide.

    >>> print(explanation(Verdict("inconclusive", why="the line was lost")))
    INCONCLUSIVE: the line was lost
    """
    if verdict.failure is not None:
        events = [*events]
        clock = by_clock(verdict.failure, events)
        lines = _failure(verdict.failure, story(events, verdict.failure, width))
        return "\n".join([*lines, *(told(clock) if clock is not None else ()), *_behind(verdict)])
    if verdict.outcome == "inconclusive":
        return f"INCONCLUSIVE: {verdict.why}"
    if verdict.truncated:
        return "PASS: up to an input that the model does not specify; from there on it allows anything"
    doubtful = verdict.judged.doubtful
    stalls = f"; {counted(doubtful, 'event')} judged while stalls left times open" if doubtful else ""
    stalls += "".join(f"; not decided: {each}" for each in verdict.judged.undecided)
    return f"PASS: everything that was seen is allowed by the model{stalls}"


def _behind(verdict: Verdict) -> Iterator[str]:
    """Yield the failures after the first, if the run went past it."""
    if verdict.behind:
        yield "  behind it, by a guess of the state:"
        yield from (f"    {point(failure)}" for failure in verdict.behind)


def point(failure: Failure) -> str:
    """Return a failure on one line that begins with what was seen, since only the first words may fit.

    >>> from otf.trace.verdict import Signature
    >>> signature = Signature("wrong", "int", "Button", "Coffee", "Tea")
    >>> point(Failure(signature, event=3, step=1, input="Button()", seen="Tea()", port="line"))
    'Tea() after Button(): an output came that the model does not allow there (step 1)'
    """
    after = f"after {failure.input}" if failure.input else "before any input"
    return f"{failure.seen} {after}: {WORDS[failure.kind]} (step {failure.step})"


def _failure(failure: Failure, steps: str) -> Iterator[str]:
    yield f"FAIL ({failure.kind}): {title(failure).removeprefix(f'{failure.kind}: ')}"
    yield WORDS[failure.kind]
    if steps:
        yield f"{steps}\n"
    if failure.together > 1:
        to = "and" if failure.together == PAIR else "to"
        first = failure.step - failure.together + 1
        yield f"  steps {first} {to} {failure.step}, in flight together:  {failure.input}"
    else:
        yield f"  step {failure.step}, input:  {failure.input or 'none yet'}"
    yield from _states(failure.allowed, begun=bool(failure.input))
    if failure.before:
        yield f"  seen first:      {', '.join(map(shortened, failure.before))}"
    named = not failure.port or failure.seen.endswith(f" on {failure.port}")
    seen = shortened(came(failure)) + ("" if named else f"  (on {failure.port})")
    yield f"  and then:        {seen}" if failure.before else f"  seen:            {seen}"
    yield from (f"  {'time:' if number == 0 else '':<15}  {line}" for number, line in enumerate(failure.times))
    yield from _violated(failure)
    yield from near(failure)
    if failure.note:
        yield "  remarks:"
        yield from (f"    {line}" for line in failure.note.splitlines())


def _states(allowed: Sequence[Allowed], *, begun: bool) -> Iterator[str]:
    shown = allowed if WHOLE.get() else allowed[:BRANCHES]
    for number, state in enumerate(shown):
        yield f"  {'possible state:' if number == 0 else 'or:            '} {state.state}"
        yield from (f"    {'timers:' if at == 0 else '':<13}  {each}" for at, each in enumerate(state.timers))
        yield from _branches(state, begun=begun)
    if len(shown) < len(allowed):
        yield f"  … and {len(allowed) - len(shown)} more possible states; `otf show` with --whole lists them"


def _branches(state: Allowed, *, begun: bool) -> Iterator[str]:
    if not state.branches:
        free = "anything: the model does not specify this input here"
        yield f"    allows:        {free if begun else 'no output before the first input'}"
    of_each = state.branches, state.changes, state.orders, state.after
    for (texts, target), change, order, after in zip_longest(*(each[:BRANCHES] for each in of_each)):
        if order:
            yield f"    if taken as    {order}"
        by = f", by the timer {after!r}" if after else ""
        yield f"    allows:        {', '.join(shortened(text) for text in texts if text) or 'no output'}{by}"
        yield f"                   -> {target if change is None else change or 'the same state'}"
    if len(state.branches) > BRANCHES:
        yield f"    … and {len(state.branches) - BRANCHES} other branches"


def _violated(failure: Failure) -> Iterator[str]:
    head = "violates:"
    if failure.unclear:
        head = "violates one of:" if len(failure.violates) > 1 else "may violate:"
    for number, each in enumerate(failure.violates):
        yield f"  {head if number == 0 else '':<15}  {each}"
