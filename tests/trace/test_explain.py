"""A failure in words: the table of its last steps, in a terminal of any width."""

from __future__ import annotations

from dataclasses import dataclass

from otf.spec import Idle
from otf.trace import Allowed, Failure, Signature, Verdict
from otf.trace.events import Event, Quiet, Seen, Sent, Stalled
from otf.trace.explain import HERE, explanation, story
from otf.values.text import showing

EVENTS: list[Event] = [Sent("press", "", 0.1), Seen("one two three four five six", "", 0.2)]


@dataclass(frozen=True)
class Answer:
    """A value with a long name."""

    text: str
    port: str = "left"


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


def test_time_that_passes_between_inputs_is_shown() -> None:
    """Silence after silence was a wait for a timer, without which the inputs may not show the failure."""
    events: list[Event] = [Sent("take", "", 0.1), Quiet(0.15), Stalled(0.01, 0.3), Quiet(0.58), Sent("take", "", 0.6)]
    assert story(events).splitlines()[1:] == ["     1  'take'  ->  (0.43 s pass)", "     2  'take'  ->  none"]
    events[-1:] = [Sent(Idle(0.6), "", 0.6), Quiet(1.0), Quiet(1.2)]
    assert story(events).splitlines()[-1] == "     2  Idle(seconds=0.6)  ->  none"  # it says itself how long it is
    assert "pass" not in story([Quiet(0.1), Seen("tick", "", 0.5), Quiet(0.6), Quiet(0.605)])


def test_a_word_wider_than_its_column_stays_in_it() -> None:
    """It is broken inside, or it would move what stands beside it on a phone."""
    events: list[Event] = [Sent(Answer("a" * 30), "p", 0.1), Seen(Answer("b" * 40), "p", 0.2)]
    head, *rows = story(events, width=46).splitlines()
    assert max(map(len, rows)) <= 46
    assert {row[head.index("outputs") - 1] for row in rows if len(row) >= head.index("outputs")} == {" "}


def test_columns_are_aligned_however_long_a_type_and_its_fields_are() -> None:
    """In a narrow table a value is broken after its type, and without a width a long input within its column."""
    events: list[Event] = [Sent(Answer("a" * 6), "p", 0.1), Seen(Answer("b" * 7), "p", 0.2)]
    narrow = story(events, width=46).splitlines()
    assert [line.index("->") for line in narrow if "->" in line] == [narrow[0].index("outputs") - 4]
    assert max(map(len, narrow)) <= 46
    first, *rows = story([Sent(("word " * 20).strip(), "p", 0.1), Seen("ok", "p", 0.2)]).splitlines()
    assert rows[0].index("'ok'") == first.index("outputs")


def test_a_row_of_a_long_value_keeps_each_of_its_fields() -> None:
    """Long headers do not push a body out of sight; the table says that something is left out, and where it is."""
    sent = Sent(Answer("h" * 400, port="body"), "p", 0.1)
    *rows, legend = story([sent, Seen(Answer("short"), "p", 0.2)]).splitlines()
    assert "hh…hhhhhhhhhhhh'" in "".join(rows)
    assert "port='body')" in "".join(rows)
    assert legend == "        …: a part of a long value; `otf show` with --whole has all of it"
    with showing(whole=True):
        assert "…" not in story([sent])


def test_before_the_first_input_a_model_without_spontaneous_outputs_allows_none() -> None:
    """There is no input that the model could leave open, as it may after one."""
    for given, allows in (
        ("", "no output before the first input"),
        ("'press'", "anything: the model does not specify"),
    ):
        signature = Signature("unasked", "int", given or "no input", "silence", "str")
        failure = Failure(signature, 1, int(bool(given)), given, "'tea'", "", allowed=(Allowed("0", ()),))
        assert f"    allows:        {allows}" in explanation(Verdict("fail", failure))
