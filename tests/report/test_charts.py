"""Sequence charts: the same events as text, as SVG and for Mermaid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from otf.report import chart, lifelines, mermaid, standalone
from otf.spec import Idle
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Stalled, Taken
from tests.report.runs import EVENTS, HOSTILE, SVG, failure, parsed


def test_as_text() -> None:
    """A line for each port, the system between them; arrows show the direction, and an x the end of a port."""
    assert lifelines(chart(EVENTS), 24).splitlines() == [
        "             slot                      SUT                     tray",
        "    0.0000     |-------- 'coin' ------->|                        |",
        "    0.1000     :                      quiet                      :",
        "    0.2500     |------- 'button' ------>|                        |",
        "    0.3000     |                        |-------- 'tea' -------->|",
        "    0.4000     :               taken up to input 2               :",
        "    0.5000     |                        |--- the port ended: ---x|",
        "               |                        |   exit status 3        |",
    ]


def test_a_chart_of_three_ports_fits_a_page() -> None:
    """Values go on below their arrow, between words; a long word crosses the lines, or is cut; the mark has a line."""
    events = [Sent("a word and another one", port, 0.0) for port in ("user", "cpe2", "cpe3")]
    events.append(Sent("x" * 70, "cpe3", 1.0))
    lines = lifelines(chart(events, failure(event=4)), within=80).splitlines()
    assert lines[1:] == [
        "    0.0000     |------- 'a word and another one' ------->|                    |",
        "    0.0000     |                    |--- 'a word and --->|                    |",
        "               |                    |   another one'     |                    |",
        "    0.0000     |                    |                    |<-- 'a word and ----|",
        "               |                    |                    |   another one'     |",
        "    1.0000     |                    |                    |<-------------------|",
        f"               | '{'x' * 60}…",
        f"{'<== here':>79}",
    ]
    assert lifelines(chart(events[:2]), within=400) == lifelines(chart(events[:2]))


def test_the_failing_event_is_the_last() -> None:
    """Events after it are left out; it is marked in each form."""
    failing = chart(EVENTS, failure(event=4))
    assert [row.failed for row in failing.rows] == [False, False, False, True]
    assert lifelines(failing).splitlines()[-1].endswith("|  <== here")
    assert mermaid(failing).splitlines()[-1] == "    SUT->>P1: 'tea' (here)"
    assert [group.get("class") for group in parsed(standalone(failing)).iter(f"{SVG}g")] == [None] * 3 + ["bad"]


def test_silence_that_fails() -> None:
    """A missing output is shown as `nothing more`."""
    assert chart([Sent("coin", "p", 0), Quiet(1)], failure(event=2)).rows[-1].text == "nothing more"


def test_only_the_last_events_are_drawn() -> None:
    """The number of earlier events is shown."""
    cut = chart([Sent(number, "p", number) for number in range(100)], most=3)
    assert (cut.earlier, [row.number for row in cut.rows]) == (97, [98, 99, 100])
    assert "… 97 earlier events" in lifelines(cut)
    assert "Note over P0,SUT: 97 earlier events" in mermaid(cut)
    assert "… 97 earlier events" in standalone(cut)


def test_a_wait_is_sent_to_no_one() -> None:
    """It is drawn across, as silence is, without a lifeline of its own; a chart of nothing else has one line."""
    events: list[Event] = [Sent("on", "line", 0.0), Sent(Idle(0.5), "", 0.1), Seen("beat", "line", 0.4)]
    drawn = chart(events)
    assert drawn.ports == ("line",)
    assert [row.kind for row in drawn.rows] == ["sent", "quiet", "seen"]
    assert "Idle(seconds=0.5)" in lifelines(drawn)
    assert chart(events[1:2]).ports == ("",)


def test_events_are_in_the_order_of_time() -> None:
    """A stall is known at its end, after what came meanwhile."""
    rows = chart([Sent("on", "line", 0.01), Stalled(0.2, 0.009), Seen("beat", "line", 0.3)]).rows
    assert [row.at for row in rows] == [0.009, 0.01, 0.3]


def test_nothing_happened() -> None:
    """A chart without events is one, too."""
    empty = chart([])
    assert lifelines(empty).strip() == "SUT"
    assert mermaid(empty) == "sequenceDiagram\n    participant SUT"
    assert len(list(parsed(standalone(empty)).iter(f"{SVG}line"))) == 1


def test_for_mermaid() -> None:
    """Each port is declared, left and right of the system; what ends a line of Mermaid is written as its number."""
    said = mermaid(chart([*EVENTS, Seen("a;b<c#", "tray", 1.0)]))
    assert said.splitlines()[:4] == [
        "sequenceDiagram",
        "    participant P0 as slot",
        "    participant SUT",
        "    participant P1 as tray",
    ]
    assert "SUT-xP1: the port ended: exit status 3" in said
    assert said.splitlines()[-1] == "    SUT->>P1: 'a#59;b#60;c#35;'"


def test_as_svg() -> None:
    """There is a lifeline for each port and the system, an arrow for each message, and a tooltip with all its text."""
    drawn = parsed(standalone(chart([*EVENTS, Seen("x" * 100, "tray", 1.0)])))
    assert len([line for line in drawn.iter(f"{SVG}line") if line.get("class") == "life"]) == 3
    assert len(list(drawn.iter(f"{SVG}path"))) == 5
    titles = [title.text or "" for title in drawn.iter(f"{SVG}title")]
    assert titles[-1].endswith("x" * 100 + "'")
    assert [text.text for text in drawn.iter(f"{SVG}text")][-1] == "'" + "x" * 28 + "…"


TEXTS = st.text() | st.just(HOSTILE)
SOME: st.SearchStrategy[Event] = st.one_of(
    st.builds(Sent, TEXTS, TEXTS, st.floats(0, 1e6)),
    st.builds(Seen, TEXTS, TEXTS, st.floats(0, 1e6)),
    st.builds(Closed, TEXTS, TEXTS, st.floats(0, 1e6)),
    st.builds(Quiet, st.floats(0, 1e6)),
    st.builds(Taken, st.integers(0, 9), st.floats(0, 1e6)),
)


@given(st.lists(SOME, max_size=8))
def test_whatever_was_seen(events: list[Event]) -> None:
    """No text from the system breaks a chart: the SVG is XML without scripts, the others keep their lines."""
    drawn = chart(sorted(events, key=lambda event: event.at))
    elements = parsed(standalone(drawn)).iter()
    assert {each.tag.removeprefix(SVG) for each in elements} <= {
        "svg",
        "style",
        "text",
        "line",
        "g",
        "title",
        "path",
        "rect",
    }
    rows = lifelines(drawn).splitlines()[1:]
    assert len([row for row in rows if row[:10].strip()]) == len(events)
    assert len(rows) <= 8 * len(events)
    assert len(mermaid(drawn).splitlines()) == 2 + len(drawn.ports) + len(events)
    assert "<" not in mermaid(drawn).replace("<<", "")
