"""A failure in words: the table of its last steps, in a terminal of any width."""

from __future__ import annotations

from otf.trace import Failure, Signature
from otf.trace.events import Event, Seen, Sent
from otf.trace.explain import HERE, story

EVENTS: list[Event] = [Sent("press", "", 0.1), Seen("one two three four five six", "", 0.2)]


def table(width: int) -> list[str]:
    """Return the table of a failure at the output."""
    signature = Signature("wrong", "int", "str", "Tea", "str")
    failure = Failure(signature, event=2, step=1, input="'press'", seen="'one …'", port="")
    return story(EVENTS, failure, width).splitlines()


def test_the_mark_stands_behind_the_last_line_of_an_output_or_below_it() -> None:
    """It is never torn, and nothing is wider than the terminal as long as the words are not."""
    whole = table(100)[-1]
    assert whole.endswith("'one two three four five six'" + HERE)
    for width in range(30, 80):
        lines = table(width)
        assert lines[-1].endswith(HERE.strip())
        assert max(map(len, lines)) <= width
    assert any(line.strip() == HERE.strip() for width in range(30, 80) for line in table(width))
    assert any("six'" + HERE in line and len(table(width)) > 2 for width in range(30, 80) for line in table(width))
