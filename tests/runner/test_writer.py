"""Traces on disk: whole as far as the run has come, whenever the tester is killed."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.core import Session
from otf.core.pacing import Strict
from otf.errors import ModelError, TraceError, UsageError
from otf.runner import TraceWriter, drive
from otf.runner.writer import KEPT
from otf.strategy import Script
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken, Undecodable
from otf.trace.reading import TraceReader, bounded
from otf.trace.tagged import Registry
from otf.trace.verdict import Allowed, Failure, Signature, Verdict
from tests.runner.playing import HEADER, on_function, virtually

BEGAN = datetime(2026, 11, 20, 6, 30, tzinfo=UTC)


class Cup(Enum):
    """A size."""

    SMALL = 1
    LARGE = 2


@dataclass(frozen=True)
class Order:
    """An input with all that may be in one."""

    cup: Cup
    extras: tuple[str, ...]
    cents: int | float
    raw: bytes
    who: frozenset[str]
    paid: bool | None


ORDER = Order(Cup.LARGE, ("milk", "zucker für ☕"), 250, b"\x00\xff", frozenset({"ann", "bob"}), paid=None)
EVENTS: Sequence[Event] = [
    Sent(ORDER, "tap", 0.0),
    Sent("second", "tap", 0.001),
    Taken(2, 0.25),
    Seen(ORDER, "spout", 0.5),
    Seen(Undecodable(b"\xff\xfe", "no UTF-8"), "spout", 0.75),
    Quiet(1.5),
    Closed("spout", "exit status 3", 1.75),
]
FAILED = Verdict(
    "fail",
    Failure(
        Signature("wrong", "Idle", "Order", "Cup", "Ended"),
        event=7,
        step=2,
        input="second",
        seen="the port ended: exit status 3",
        port="spout",
        before=("one",),
        allowed=(Allowed("Idle", ((("coffee",), "Idle"),)),),
        note="stderr: no beans",
    ),
    late=(4,),
)


def _written(path: Path, events: Sequence[Event], verdict: Verdict | None) -> bytes:
    writer = TraceWriter(path, HEADER, BEGAN)
    for event in events:
        writer.event(event, b"\x01\x02" if isinstance(event, (Sent, Seen)) else None)
    if verdict is not None:
        writer.end(verdict)
    writer.close()
    return path.read_bytes()


def _reader(data: bytes) -> TraceReader:
    return TraceReader(bounded(io.BytesIO(data)), "the trace")


def _read(data: bytes) -> list[Event]:
    return [told.event for told in _reader(data).events(Registry([Order]))]


# Lines


def test_each_event_is_on_disk_as_it_happens(tmp_path: Path) -> None:
    """After each event its line is whole in the file, while the writer goes on."""
    path = tmp_path / "a" / "b" / "trace.jsonl"
    writer = TraceWriter(path, HEADER, BEGAN)
    for number, event in enumerate(EVENTS, 1):
        assert _read(path.read_bytes()) == EVENTS[: number - 1]
        writer.event(event)
    writer.end(FAILED)
    assert path.read_bytes().count(b"\n") == len(EVENTS) + 2
    writer.close()


def test_the_system_could_read_the_trace(tmp_path: Path) -> None:
    """When an input reaches the system, everything before it stands in the trace."""
    path = tmp_path / "trace.jsonl"
    found: list[list[str]] = []

    def system(_frame: bytes) -> bytes:
        found.append([json.loads(line)["event"] for line in path.read_bytes().splitlines()])
        return b"pong"

    async def run() -> None:
        bench = on_function(lambda: system)
        writer = TraceWriter(path, HEADER, BEGAN)
        session = Session(bench.oracle(), Script(["p.ping"] * 3), Strict(bench.timing), steps=3)
        await drive(bench, session, writer.event)
        writer.close()

    virtually(run)
    assert found == [["start"] + ["sent", "seen", "quiet"] * number for number in range(3)]


def test_lines_have_the_shape_of_log_events(tmp_path: Path) -> None:
    """Each line is what structlog writes: an event, a level, a moment in time with its zone, then fields."""
    lines = [json.loads(line) for line in _written(tmp_path / "trace.jsonl", EVENTS, FAILED).splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("start", "info"),
        ("sent", "info"),
        ("sent", "info"),
        ("taken", "info"),
        ("seen", "info"),
        ("seen", "warning"),
        ("quiet", "info"),
        ("closed", "info"),
        ("end", "error"),
    ]
    moments = [datetime.fromisoformat(line["timestamp"]) for line in lines[:-1]]
    assert moments == [BEGAN, *[BEGAN + timedelta(seconds=event.at) for event in EVENTS]]
    assert datetime.fromisoformat(lines[-1]["timestamp"]).tzinfo is not None
    assert [line["n"] for line in lines[1:-1]] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(("outcome", "level"), [("pass", "info"), ("inconclusive", "warning")])
def test_the_end_has_a_level(tmp_path: Path, outcome: str, level: str) -> None:
    """An end that one has to look at stands out."""
    verdict = Verdict("pass") if outcome == "pass" else Verdict("inconclusive", why="interrupted")
    end = json.loads(_written(tmp_path / "trace.jsonl", EVENTS, verdict).splitlines()[-1])
    assert (end["verdict"], end["level"], end["steps"], end["reason"]) == (outcome, level, 2, None)


def test_the_end_tells_the_failure_as_data(tmp_path: Path) -> None:
    """The reason of a failure can be read by a program."""
    end = json.loads(_written(tmp_path / "trace.jsonl", EVENTS, FAILED).splitlines()[-1])
    assert (end["verdict"], end["steps"], end["late"], end["reason"]["event"]) == ("fail", 2, [4], 7)
    assert end["reason"]["signature"] == {
        "kind": "wrong",
        "state": "Idle",
        "input": "Order",
        "expected": "Cup",
        "seen": "Ended",
        "exact": None,
        "meets": "",
    }


# Round trips


def test_the_header_comes_back(tmp_path: Path) -> None:
    """A header is read back as it was written."""
    assert _reader(_written(tmp_path / "trace.jsonl", [], None)).header == HEADER


def test_every_kind_of_event_comes_back(tmp_path: Path) -> None:
    """Events are read back as they were recorded, with their bytes on the wire."""
    reader = _reader(_written(tmp_path / "trace.jsonl", EVENTS, FAILED))
    told = list(reader.events(Registry([Order])))
    assert [each.event for each in told] == EVENTS
    assert [each.raw for each in told] == [b"\x01\x02", b"\x01\x02", None, b"\x01\x02", b"\x01\x02", None, None]
    assert (reader.end or {}).get("verdict") == "fail"
    assert not reader.cut


TIMES = st.integers(0, 10**10).map(lambda microseconds: microseconds / 10**6)
ANY_TEXT = st.text(st.characters(codec=None))  # half surrogate pairs too: a codec may let them through
ORDERS = st.builds(
    Order,
    st.sampled_from(Cup),
    st.lists(ANY_TEXT).map(tuple),
    st.integers() | st.floats(allow_nan=False),
    st.binary(),
    st.frozensets(ANY_TEXT),
    st.booleans() | st.none(),
)
PLAIN = ANY_TEXT | st.integers() | st.booleans() | st.none() | st.binary()
VALUES = st.recursive(ORDERS | PLAIN, lambda inner: st.lists(inner).map(tuple))
PORTS = st.text(st.characters(codec="utf-8"))
ANY_EVENT = st.one_of(
    st.builds(Sent, VALUES, PORTS, TIMES),
    st.builds(Seen, VALUES | st.builds(Undecodable, st.binary(), ANY_TEXT), PORTS, TIMES),
    st.builds(Quiet, TIMES),
    st.builds(Taken, st.integers(0), TIMES),
    st.builds(Closed, PORTS, PORTS, TIMES),
)


@given(st.lists(ANY_EVENT, max_size=5))
def test_whatever_happens_comes_back(tmp_path_factory: pytest.TempPathFactory, events: list[Event]) -> None:
    """Any values that a model may have, of any size and alphabet, are read as they were written."""
    assert _read(_written(tmp_path_factory.getbasetemp() / "any.jsonl", events, None)) == events


# Cut traces


def _assert_cut(data: bytes, cut: int) -> None:
    whole, events = _read(data), _read(data[:cut])
    # a line counts once it is whole, with or without its end
    ended = data[:cut] + (b"\n" if data[cut : cut + 1] == b"\n" else b"")
    assert events == whole[: ended.count(b"\n") - 1]


def test_a_trace_may_be_cut_anywhere(tmp_path: Path) -> None:
    """Cut at any byte behind the header, a trace has all events whose lines are whole."""
    data = _written(tmp_path / "trace.jsonl", EVENTS, FAILED)
    for cut in range(data.index(b"\n"), len(data) + 1):
        _assert_cut(data, cut)


def test_a_cut_header(tmp_path: Path) -> None:
    """A trace whose header is cut is none, and the message names the line."""
    data = _written(tmp_path / "trace.jsonl", EVENTS, FAILED)
    for cut in range(data.index(b"\n")):
        with pytest.raises(TraceError, match=r"^the trace, line 1: "):
            _reader(data[:cut])


@given(st.lists(ANY_EVENT, max_size=3), st.data())
def test_any_trace_may_be_cut_anywhere(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], drawn: st.DataObject
) -> None:
    """The same with any events."""
    data = _written(tmp_path_factory.getbasetemp() / "cut.jsonl", events, Verdict("pass"))
    for cut in drawn.draw(st.lists(st.integers(data.index(b"\n"), len(data)), max_size=20)):
        _assert_cut(data, cut)


def test_a_reader_knows_what_was_cut(tmp_path: Path) -> None:
    """A trace without its end is one that was cut; it has no verdict."""
    reader = _reader(_written(tmp_path / "trace.jsonl", EVENTS, None))
    assert len(list(reader.events(Registry([Order])))) == len(EVENTS)
    assert reader.cut
    assert reader.end is None


# What cannot be written


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    """A trace below a file, or in a folder without write permission, is refused with advice."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"file/trace.jsonl: the trace cannot be written \(.*\); choose an"):
        TraceWriter(tmp_path / "file" / "trace.jsonl", HEADER, BEGAN)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up ends the run with a message, not with a traceback."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(UsageError, match="No space left on device"):
        writer.event(Quiet(1))
    writer.close()


def test_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the operating system takes a few bytes at a time, the line is whole nevertheless."""
    write = os.write

    def slow(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[:7])

    monkeypatch.setattr(os, "write", slow)
    data = _written(tmp_path / "trace.jsonl", EVENTS, FAILED)
    monkeypatch.undo()
    assert _read(data) == EVENTS


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (1j, r"event 1, Seen\(.*1j.*\): a complex cannot be written to a trace: use dataclasses"),
        (KeyError, r"event 1, Seen\(.*KeyError.*\): a class \(write its name\) cannot be written to a trace: use"),
    ],
)
def test_a_value_that_cannot_be_written(tmp_path: Path, value: object, says: str) -> None:
    """A value that no trace can hold is the model's mistake; the message has the value, and the types that can."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)
    with pytest.raises(ModelError, match=says):
        writer.event(Seen(value, "spout", 0.5))
    writer.close()
    assert _read((tmp_path / "trace.jsonl").read_bytes()) == []


def test_text_that_is_no_text(tmp_path: Path) -> None:
    """Half a surrogate pair in an error's text is written in a readable form."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)
    writer.event(Closed("spout", "no file caf\udce9", 0.5))
    writer.end(Verdict("fail", Failure(FAILED.failure.signature, 1, 1, "", "", "") if FAILED.failure else None))
    writer.close()
    assert _read((tmp_path / "trace.jsonl").read_bytes()) == [Closed("spout", "no file caf?", 0.5)]


def test_a_port_whose_name_is_no_text(tmp_path: Path) -> None:
    """Half a surrogate pair in a port's name does not prevent its events from being written."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)
    writer.event(Seen(ORDER, "caf\udce9", 0.5), b"x")
    writer.close()
    assert _read((tmp_path / "trace.jsonl").read_bytes()) == [Seen(ORDER, "caf?", 0.5)]


@pytest.mark.parametrize("event", EVENTS)
def test_a_line_is_the_same_however_it_is_made(tmp_path: Path, event: Event) -> None:
    """A line with more fields is made whole, and says the same as one whose value repeats."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)
    for _ in range(2):
        writer.event(event, b"\x01")
    writer.event(event, b"\x01", late=True)
    writer.close()
    first, again, other = map(json.loads, (tmp_path / "trace.jsonl").read_bytes().splitlines()[1:])
    assert list(first) == [name for name in other if name != "late"]
    assert first | {"late": True, "n": 3} == again | {"late": True, "n": 3} == other


def test_very_many_values(tmp_path: Path) -> None:
    """A run with ever new values is written whole."""
    events = [Sent(f"input {number}", "tap", 0.0) for number in range(KEPT + 2)]
    assert _read(_written(tmp_path / "trace.jsonl", events, None)) == events


def test_close_twice(tmp_path: Path) -> None:
    """A writer may be closed twice: the second time it must not close another file that has its number by then."""
    writer = TraceWriter(tmp_path / "trace.jsonl", HEADER, BEGAN)
    writer.close()
    with (tmp_path / "other").open("wb") as other:
        writer.close()
        other.write(b"x")
