"""A verdict in words, for people: what was possible, what was allowed, what came instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otf.trace.events import Event
from otf.trace.near import near
from otf.trace.story import story
from otf.trace.verdict import WORDS, Allowed, Failure, Verdict

BRANCHES = 8  # ways on that are listed for one state


def explanation(verdict: Verdict, events: Iterable[Event] = ()) -> str:
    """Return the verdict as lines of text; for a failure the states that were possible and what each allowed.

    With the run's `events`, a failure is told from the beginning: its last steps as a table.

    >>> print(explanation(Verdict("inconclusive", why="the line was lost")))
    INCONCLUSIVE: the line was lost
    """
    if verdict.failure is not None:
        return "\n".join(_failure(verdict.failure, story(events, verdict.failure)))
    if verdict.outcome == "inconclusive":
        return f"INCONCLUSIVE: {verdict.why}"
    if verdict.truncated:
        return "PASS: as far as the model says anything; then an input came that it does not specify"
    return "PASS: everything that was seen is allowed by the model"


def _failure(failure: Failure, steps: str) -> Iterator[str]:
    yield f"FAIL ({failure.kind}): {WORDS[failure.kind]}"
    if steps:
        yield f"{steps}\n"
    yield f"  step {failure.step}, input:  {failure.input or 'none yet'}"
    for number, state in enumerate(failure.allowed):
        yield f"  {'possible state:' if number == 0 else 'or:            '} {state.state}"
        yield from _branches(state)
    yield f"  seen:            {', '.join(failure.before) or 'nothing'}"
    yield f"  and then:        {failure.seen}{f'  (on {failure.port})' if failure.port else ''}"
    yield from (f"  {'time:' if number == 0 else '':<15}  {line}" for number, line in enumerate(failure.times))
    yield from near(failure)
    if failure.note:
        yield "  remarks:"
        yield from (f"    {line}" for line in failure.note.splitlines())


def _branches(state: Allowed) -> Iterator[str]:
    if not state.branches:
        yield "    allows:        anything: the model does not specify this input here"
    for texts, target in state.branches[:BRANCHES]:
        yield f"    allows:        {', '.join(text for text in texts if text) or 'no output'}"
        yield f"                   -> {target}"
    if len(state.branches) > BRANCHES:
        yield f"    … and {len(state.branches) - BRANCHES} other ways on"
