"""Lines of which all but number and time is known say the same as lines that are made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from otf.runner import TraceWriter
from otf.runner.line_templates import KEPT, LineTemplates, Moments
from otf.trace.events import Closed, Event, KnownBy, Quiet, Seen, Sent, Undecodable
from otf.trace.record import event_line
from tests.runner.playing import HEADER

BEGAN: Final = datetime(2026, 11, 20, 23, 59, 58, 750_001, UTC)
Taken: TypeAlias = tuple[Event, bytes]


class Cup(Enum):
    """A size."""

    SMALL = 1


@dataclass(frozen=True)
class Order:
    """What may be in a value."""

    cup: Cup
    extras: tuple[str, ...]
    cents: int | float
    raw: bytes
    who: frozenset[str]


TEXTS = st.text(st.characters(codec=None), max_size=5)  # half surrogate pairs too
ORDERS = st.builds(
    Order,
    st.sampled_from(Cup),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=4),
    st.frozensets(TEXTS, max_size=2),
)
VALUES = ORDERS | TEXTS | st.integers() | st.booleans() | st.none() | st.binary(max_size=4)
PORTS = st.sampled_from(["p", "q", 'quo"ted', "größer", ',"port":'])
# microseconds of beyond a day: seconds, minutes and midnight go by
TIMES = st.integers(0, 3 * 10**11).map(lambda micros: micros / 10**6)
SOON = st.integers(0, 3 * 10**6).map(lambda micros: micros / 10**6)
BYTES = st.binary(max_size=4)
NAMES = st.sampled_from([Sent, Seen])


def written(path: Path, events: Iterable[Taken], began: Sequence[datetime] = (BEGAN,)) -> bytes:
    """Return the lines of these events; where there are several, `began` changes from one event to the next."""
    writer = TraceWriter(path, HEADER, began[0])
    todo = list(events)
    while todo:
        writer.began = began[(len(todo) - 1) % len(began)]
        writer.event(*todo.pop(0))
    writer.close()
    return path.read_bytes().partition(b"\n")[2]


def anew(events: Iterable[Taken]) -> list[Taken]:
    """Return the same with bytes that are other objects each time, so that nothing is known of them."""
    return [(event, bytes(bytearray(raw))) for event, raw in events]


def parsed(lines: bytes) -> list[dict[str, Any]]:
    """Return the content of these lines."""
    return [json.loads(line) for line in lines.splitlines()]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a trace; the next one replaces it."""
    return tmp_path_factory.mktemp("line_template") / "trace.jsonl"


# A few things that happen again and again, as one of a few objects each
FEW = st.lists(st.tuples(NAMES, VALUES, PORTS, BYTES), min_size=1, max_size=3)


def told(few: list[tuple[Callable[..., Event], object, str, bytes]], times: list[tuple[int, float]]) -> list[Taken]:
    """Return events of these few at these times."""
    return [(make(value, port, at), raw) for number, at in times for make, value, port, raw in [few[number % len(few)]]]


@settings(max_examples=25)
@given(FEW, st.lists(st.tuples(st.integers(0, 2), TIMES | SOON), max_size=12))
def test_known_lines_say_the_same(path: Path, few: list[Any], times: list[tuple[int, float]]) -> None:
    """Any values, ports and times: numbers, moments, values and bytes are the same."""
    events = told(few, times)
    assert parsed(written(path, events)) == parsed(written(path, anew(events)))


@settings(max_examples=25)
@given(FEW, st.lists(st.tuples(st.integers(0, 2), SOON), max_size=12))
def test_times_that_rise_say_the_same(path: Path, few: list[Any], times: list[tuple[int, float]]) -> None:
    """As in a run: one moment after another, over the ends of seconds, of a minute, of a day."""
    events = told(few, sorted(times, key=lambda each: each[1]))
    assert parsed(written(path, events)) == parsed(written(path, anew(events)))


def test_lines_of_a_model_with_windows_are_known_too(path: Path) -> None:
    """How late the tester was is added to a known line, as to a new one; anything more makes the line anew."""
    writer = TraceWriter(path, HEADER, BEGAN)
    for slack, more in ((0.0, {}), (0.25, {}), (1e-6, {"late": True})):
        writer.event(Seen("x", "p", 0.5), RAW, slack=slack, **more)
    writer.event(Quiet(1.0), slack=2.5)
    writer.close()
    lines = parsed(path.read_bytes())[1:]
    assert [line["slack"] for line in lines] == [0.0, 0.25, 0.000_001, 2.5]
    for number, line in enumerate(lines[:3], 1):
        plain = event_line(number, Seen("x", "p", 0.5), line["timestamp"], RAW)
        assert {name: line[name] for name in line.keys() - {"slack", "late"}} == plain
    assert [line.get("late") for line in lines] == [None, None, True, None]


ZONES: Final = [UTC, timezone(timedelta(hours=-3, minutes=-30)), timezone(timedelta(hours=5, seconds=7))]


def moment(after: int, zone: tzinfo) -> datetime:
    """Return a moment so many microseconds later, in a zone."""
    return (BEGAN + timedelta(microseconds=after)).astimezone(zone)


MOMENTS = st.builds(moment, st.integers(0, 10**9), st.sampled_from(ZONES))


@settings(max_examples=25)
@given(FEW, st.lists(st.tuples(st.integers(0, 2), SOON), max_size=12), st.lists(MOMENTS, min_size=1, max_size=3))
def test_another_beginning(path: Path, few: list[Any], times: list[tuple[int, float]], began: list[datetime]) -> None:
    """Where seconds count from is known only when the system is there: the moments of lines go with it."""
    events = told(few, times)
    assert parsed(written(path, events, began)) == parsed(written(path, anew(events), began))


@settings(max_examples=40)
@given(st.floats(0, 10**6))
def test_times_of_a_clock_are_rounded_alike(path: Path, at: float) -> None:
    """A clock knows more than microseconds: to which of them a time is rounded does not depend on who writes it."""
    # half a microsecond is as near to the one as to the other, and either may be said
    assume(abs(at * 10**6 % 1 - 0.5) > 0.01)
    events: list[Taken] = [(Sent("a", "p", 0.0), RAW), (Sent("a", "p", at), RAW)]
    assert parsed(written(path, events)) == parsed(written(path, anew(events)))


# What is known


RAW: Final = bytes([1, 2])
LINE: Final = b'{"event":"sent","level":"info","timestamp":"?","n":7,"at":0.5,"port":"p","value":"a","raw":"0102"}\n'


def known(event: Event, raw: bytes | None, line_templates: LineTemplates) -> list[Any] | None:
    """Return the kind, number, time and value of the line that is known for an event, None where there is none."""
    line = line_templates.line(8, event, BEGAN, raw)
    return None if line is None else [json.loads(line)[name] for name in ("event", "n", "at", "port", "value", "raw")]


def learnt(event: Event) -> LineTemplates:
    """Return stencils that know one line."""
    line_templates = LineTemplates(Moments())
    line_templates.learn(event, RAW, LINE)
    return line_templates


def test_a_line_that_came_before_is_known() -> None:
    """Its number and its time are new, and so is its direction: the rest of a line says nothing of that."""
    line_templates = learnt(Sent("a", "p", 0.5))
    assert known(Sent("a", "p", 61.000001), RAW, line_templates) == ["sent", 8, 61.000001, "p", "a", "0102"]
    assert known(Seen("a", "p", 0.25), RAW, line_templates) == ["seen", 8, 0.25, "p", "a", "0102"]
    assert known(Sent("a", "p", 1.0), RAW, learnt(Seen("a", "p", 0.5))) == ["sent", 8, 1.0, "p", "a", "0102"]


@pytest.mark.parametrize(
    ("event", "raw"),
    [
        (Sent("a", "p", 1.0), bytes(bytearray(RAW))),  # equal, and another object
        (Sent("a", "p", 1.0), b"other"),
        (Sent("a", "p", 1.0), None),
        (Sent("a", "q", 1.0), RAW),
        (Sent(("a",), "p", 1.0), RAW),
        (Seen(Undecodable(RAW), "p", 1.0), RAW),
        (Quiet(1.0), RAW),
        (Closed("p", "a", 1.0), RAW),
    ],
)
def test_other_lines_are_made_anew(event: Event, raw: bytes | None) -> None:
    """Only the same bytes with the same value on the same port are known."""
    assert known(event, raw, learnt(Sent("a", "p", 0.5))) is None


def test_only_what_was_sent_and_seen_is_learnt() -> None:
    """Of other events none comes again and again with the same bytes."""
    for event in (Quiet(1.0), Closed("p", "gone", 1.0)):
        assert known(Sent("a", "p", 0.5), RAW, learnt(event)) is None


def test_what_is_known_has_a_bound() -> None:
    """With one line too many all are forgotten."""
    line_templates = LineTemplates(Moments())
    frames = [b"%d" % number for number in range(1000, 1000 + KEPT + 1)]
    for raw in frames[:-1]:
        line_templates.learn(Sent("a", "p", 0.5), raw, LINE)
    assert known(Sent("a", "p", 1.0), frames[0], line_templates) is not None
    line_templates.learn(Sent("a", "p", 0.5), frames[-1], LINE)
    assert known(Sent("a", "p", 1.0), frames[0], line_templates) is None
    assert known(Sent("a", "p", 1.0), frames[-1], line_templates) is not None


def test_known_lines_are_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer makes a template of a line and fills in the rest from then on, except for events with more fields."""
    made = list[Event]()
    learn = LineTemplates.learn

    def noting(self: LineTemplates, event: Event, raw: bytes, line: bytes) -> None:
        made.append(event)
        learn(self, event, raw, line)

    monkeypatch.setattr(LineTemplates, "learn", noting)
    written(path, [(Sent("a", "p", float(at)), RAW) for at in range(5)])
    assert made == [Sent("a", "p", 0.0)]
    writer = TraceWriter(path, HEADER, BEGAN)
    writer.event(Seen("a", "p", 1.0), RAW)
    writer.event(Seen("a", "p", 2.0), RAW, late=True)
    writer.event(Seen(Undecodable(RAW), "p", 3.0), RAW)
    writer.event(Seen("a", "p", 4.0), RAW)
    writer.close()
    assert made[1:] == [Seen("a", "p", 1.0)]
    assert [line.get("late") for line in parsed(path.read_bytes())[1:]] == [None, True, None, None]


@settings(max_examples=40)
@given(st.floats(0, 10**6), st.booleans(), st.sampled_from(["", "timed", "observed", "barrier"]), MOMENTS)
def test_silence_has_a_template_of_its_own(at: float, restless: bool, by: KnownBy, began: datetime) -> None:
    """It says what a line that is made anew says."""
    assume(abs(at * 10**6 % 1 - 0.5) > 0.01)
    event, moments = Quiet(at, restless, by=by), Moments()
    line = LineTemplates(moments).line(3, event, began, None)
    assert line is not None
    assert json.loads(line) == event_line(3, event, Moments()(began, at))
