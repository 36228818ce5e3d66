"""Lines of which most is remembered say what lines say that are made whole."""

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
from otf.runner.writer import KEPT, SHORT, TraceLines
from otf.trace.events import Closed, Event, KnownBy, Quiet, Seen, Sent, Taken, Undecodable
from otf.trace.record import event_line
from tests.runner.playing import HEADER

BEGAN: Final = datetime(2026, 11, 20, 23, 59, 58, 750_001, UTC)
Recorded: TypeAlias = tuple[Event, bytes | None]


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


TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
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
ZONES: Final = [UTC, timezone(timedelta(hours=-3, minutes=-30)), timezone(timedelta(hours=5, seconds=7))]


def moment(after: int, zone: tzinfo) -> datetime:
    """Return a moment so many microseconds later, in a zone."""
    return (BEGAN + timedelta(microseconds=after)).astimezone(zone)


MOMENTS = st.builds(moment, st.integers(0, 10**9), st.sampled_from(ZONES))
TOLD = st.lists(st.tuples(st.integers(0, 2), TIMES | SOON), max_size=12)


def made(events: Iterable[Recorded], began: Sequence[datetime] = (BEGAN,)) -> list[dict[str, Any]]:
    """Return the lines of these events; where there are several, `began` changes from one event to the next."""
    lines = TraceLines()
    texts = [
        lines.event(number, event, began[number % len(began)], raw) for number, (event, raw) in enumerate(events, 1)
    ]
    assert all(text.endswith(b"\n") and text.count(b"\n") == 1 for text in texts)
    return [json.loads(text) for text in texts]


def whole(events: Iterable[Recorded], began: Sequence[datetime] = (BEGAN,)) -> list[dict[str, Any]]:
    """Return the same lines, each made whole."""
    return [
        json.loads(json.dumps(event_line(number, event, _at(began[number % len(began)], event.at), raw)))
        for number, (event, raw) in enumerate(events, 1)
    ]


def _at(began: datetime, seconds: float) -> str:
    return (began + timedelta(microseconds=round(seconds * 10**6))).isoformat(timespec="microseconds")


# A few things that happen again and again, as one of a few objects each
FEW = st.lists(st.tuples(st.sampled_from([Sent, Seen]), VALUES, PORTS, st.binary(max_size=4)), min_size=1, max_size=3)


def told(few: list[tuple[Callable[..., Event], object, str, bytes]], times: list[tuple[int, float]]) -> list[Recorded]:
    """Return events of these few at these times."""
    return [(make(value, port, at), raw) for number, at in times for make, value, port, raw in [few[number % len(few)]]]


@settings(max_examples=50)
@given(
    FEW, st.lists(st.tuples(st.integers(0, 2), TIMES | SOON), max_size=12), st.lists(MOMENTS, min_size=1, max_size=3)
)
def test_lines_say_the_same(few: list[Any], times: list[tuple[int, float]], began: list[datetime]) -> None:
    """Any values, ports, times and beginnings: numbers, moments, values and bytes are those of lines made whole."""
    events = told(few, times)
    assert made(events, began) == whole(events, began)


@settings(max_examples=25)
@given(FEW, st.lists(st.tuples(st.integers(0, 2), SOON), max_size=12))
def test_times_that_rise_say_the_same(few: list[Any], times: list[tuple[int, float]]) -> None:
    """As in a run: one moment after another, over the ends of seconds, of a minute, of a day."""
    events = told(few, sorted(times, key=lambda each: each[1]))
    assert made(events) == whole(events)


@settings(max_examples=40)
@given(st.floats(0, 10**6), st.booleans(), st.sampled_from(["", "timed", "observed", "barrier"]), MOMENTS)
def test_silence_says_the_same(at: float, restless: bool, by: KnownBy, began: datetime) -> None:
    """Quiescence has no value, and its line is put together as well; a clock knows more than microseconds."""
    # half a microsecond is as near to the one as to the other, and either may be said
    assume(abs(at * 10**6 % 1 - 0.5) > 0.01)
    events: list[Recorded] = [(Quiet(at, restless, by=by), None), (Sent("a", "p", at), b"\1")]
    assert made(events, [began]) == whole(events, [began])


RAW: Final = bytes([1, 2])
OTHER: Final[list[Recorded]] = [
    (Sent("a", "p", 1.0), b"other"),
    (Sent("a", "p", 1.0), None),
    (Sent("a", "p", 1.0, 0.5), None),
    (Sent("a", "p", 1.0, 0.5), RAW),
    (Sent("a", "q", 1.0), RAW),
    (Sent(("a",), "p", 1.0), RAW),
    (Seen(Undecodable(RAW, "no end"), "p", 1.0), RAW),
    (Quiet(1.0), RAW),
    (Closed("p", "a", 1.0), RAW),
    (Taken(1, 1.0), None),
]


@pytest.mark.parametrize("other", OTHER)
def test_another_line_is_not_taken_for_a_known_one(other: Recorded) -> None:
    """Bytes, port, value and kind: what differs in one of them has a line of its own."""
    events = [(Sent("a", "p", 0.5), RAW), other, (Sent("a", "p", 1.5), RAW)]
    assert made(events) == whole(events)


def test_equal_values_of_different_types_stay_apart() -> None:
    """True is not 1: values are known by identity, and stay alive as long as they are known."""
    events: list[Recorded] = [(Seen(value, "p", 0.5), RAW) for value in (True, 1, 1.0, [1], [True])]
    assert [line["value"] for line in made(events)] == [line["value"] for line in whole(events)]


def test_a_known_line_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a message that repeats is turned into text once; a long one each time, and takes no memory."""
    asked = list[object]()

    def encode(value: object) -> object:
        asked.append(value)
        return value

    monkeypatch.setattr("otf.runner.writer.encode", encode)
    long = "x" * SHORT
    made([(Seen(value, "p", float(at)), RAW) for at in range(5) for value in ("a", long)])
    assert asked == ["a", *[long] * 5]


def test_what_is_known_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one line too many all are forgotten."""
    monkeypatch.setattr("otf.runner.writer.KEPT", 3)
    events: list[Recorded] = [(Seen(str(number % 4), "p", 0.5), RAW) for number in range(12)]
    assert made(events) == whole(events)
    assert KEPT > 3


def test_lines_of_a_model_with_windows(tmp_path: Path) -> None:
    """How late the tester was is added to a known line, as to a new one; anything more makes the line whole."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)
    for slack, more in ((0.0, {}), (0.25, {}), (1e-6, {"late": True})):
        writer.event(Seen("x", "p", 0.5), RAW, slack=slack, **more)
    writer.event(Quiet(1.0), slack=2.5)
    writer.close()
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_bytes().splitlines()[1:]]
    assert [line["slack"] for line in lines] == [0.0, 0.25, 0.000_001, 2.5]
    for number, line in enumerate(lines[:3], 1):
        plain = event_line(number, Seen("x", "p", 0.5), line["timestamp"], RAW)
        assert {name: line[name] for name in line.keys() - {"slack", "late"}} == plain
    assert [line.get("late") for line in lines] == [None, None, True, None]
