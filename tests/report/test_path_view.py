"""A path as data for the viewer, and which paths are part of a page."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from otf.core import Model, Monitor, Oracle
from otf.core.compile import Routes
from otf.offline import Judgement
from otf.report import PathSummary as Walked
from otf.report import ReportedFailure as Reported
from otf.report import failures as page_part
from otf.report.failures import ChosenPath, EmbeddedPath, chosen, document, embedded
from otf.report.path_view import EVENTS, FIELDS, STATES, PathView, ViewData, value_data
from otf.spec import Accept, AnyOrder, Spec, Transition, goto
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken
from otf.trace.reading import TracedEvent
from tests.report.runs import HOSTILE, failure, gathered, header, step

COFFEE = Spec(step, initial=0, inputs=["coin", "button"])


ONE: Final = Routes(("p",), lambda _: "p")


def viewed(spec: Spec[Any, Any], *events: Event, after: tuple[Event, ...] = (), routes: Routes = ONE) -> ViewData:
    """Return a path as the viewer reads it; each event has one byte."""
    view, monitor = PathView(), Monitor(Oracle(Model(spec, routes)))
    traced = [TracedEvent(event, number, b"!", {}) for number, event in enumerate((*events, *after), 1)]
    for each in traced[: len(events)]:
        monitor.tell(each.event)
        view.event(each, monitor)
    judgement = Judgement(header(), monitor.end(), None, monitor.sent, [], changed=False, cut=False)
    data: ViewData = json.loads(msgspec.json.encode(view.data(judgement, traced[len(events) :])))
    return data


def states(data: ViewData, at: int) -> list[str]:
    """Return the possible states after an event."""
    return [data["states"][number]["text"] for number in data["sets"][data["events"][at]["states"]]["states"]]


def test_each_event_has_its_step_its_bytes_and_the_states() -> None:
    """Two coins: the state after the silence is the next one, and each step says what it allowed."""
    data = viewed(COFFEE, Sent("coin", "p", 0), Quiet(0.1, by="timed"), Sent("coin", "p", 0.2), Taken(2, 0.3))
    assert [(each["kind"], each["step"]) for each in data["events"]] == [
        ("sent", 1),
        ("quiet", 1),
        ("sent", 2),
        ("taken", 2),
    ]
    assert (data["events"][0]["raw"], data["events"][1]["by"]) == ("21", "timed")
    assert states(data, 1) == ["1"]
    assert data["events"][1]["settled"]
    assert data["allowed"][data["events"][2]["allowed"]] == [{"state": "1", "branches": [[[], "2"]]}]


def test_what_did_not_come_has_its_own_port() -> None:
    """Of two outputs on two ports, which only the codec tells apart, the second is missing: it belongs to its port."""
    spec: Spec[int, str] = Spec(lambda _, __: [goto(1, AnyOrder("left", "right"))], 0, ["go"])
    both = Routes(("left", "right"), lambda value: value if value in {"left", "right"} else "")
    data = viewed(spec, Sent("go", "", 0), Seen("left", "left", 0.1), Quiet(1.0), routes=both)
    assert data["failure"]["expected"] == [{"text": "'right'", "port": "right"}]


def test_a_failure_says_what_was_expected_and_in_what_it_differs() -> None:
    """The nearest output is the one expected, with its port; what comes afterwards has no states and is marked."""

    @dataclass(frozen=True)
    class Out:
        n: int
        of: str

    spec = Spec(lambda lit, _: [goto(not lit, Out(1, "x"))], initial=False, inputs=["go"])
    data = viewed(
        spec,
        Sent("go", "p", 0),
        Seen(Out(2, "x"), "p", 0.1),
        Closed("p", "gone", 0.2),
        after=(Seen(Out(1, "x"), "p", 1),),
    )
    name = Out.__qualname__
    assert data["failure"]["expected"] == [{"text": f"{name}(n=1, of='x')", "port": "p"}]
    assert data["events"][1]["failed"]
    assert states(data, 1) == ["False"]
    assert states(data, 2) == []
    assert [each.get("after", False) for each in data["events"]] == [False, False, False, True]


def test_where_nothing_is_expected() -> None:
    """No output is expected of the first coin: the failure lists none."""
    found = viewed(COFFEE, Sent("coin", "p", 0), Seen("tea", "p", 0.1))["failure"]
    assert (found["expected"], found["differences"], found["port"]) == ([], [], "p")


def test_windows() -> None:
    """A window is there from the moment its input is sent, in seconds of the run, and is gone with its output."""

    def slow(state: int, _: str) -> list[Transition[int]]:
        return [goto(state + 1, "done", within=(1.0, 2.0))]

    first, last = viewed(Spec(slow, 0, ["go"]), Sent("go", "p", 3.0), Seen("done", "p", 4.5))["events"]
    (window,) = first["windows"]
    assert (window["port"], window["lo"], window["hi"], window["since"]) == ("p", 1, 2, "its input was taken")
    assert 4.0 <= window["from"] <= window["to"] <= 5.1
    assert "windows" not in last


@pytest.mark.parametrize(("at", "kind", "expected"), [(9.0, "late", "'done', sooner"), (3.1, "early", "'done', later")])
def test_an_output_at_a_wrong_time(at: float, kind: str, expected: str) -> None:
    """Not another output was expected, but this one at another time."""
    spec = Spec(lambda state, _: [goto(state + 1, "done", within=(1.0, 2.0))], 0, ["go"])
    found = viewed(spec, Sent("go", "p", 3.0), Seen("done", "p", at))["failure"]
    assert (found["kind"], [each["text"] for each in found["expected"]]) == (kind, [expected])


def test_spontaneous_outputs_are_allowed_in_their_own_step() -> None:
    """After silence the model may emit: what was allowed is that, and not what the input before allowed."""
    spec: Spec[int, str] = Spec(
        lambda state, _: [goto(state + 1)], 0, ["go"], lambda state: [goto(0, "tick")] if state else []
    )
    data = viewed(spec, Sent("go", "p", 0), Quiet(0.5, restless=True), Seen("tick", "p", 1))
    assert data["allowed"][data["events"][2]["allowed"]] == [{"state": "1", "branches": [[["'tick'"], "0"]]}]


def test_many_states_are_counted() -> None:
    """Twenty are listed, and the number of the others."""
    spec: Spec[int, str] = Spec(lambda _, __: [goto(number) for number in range(50)], 0, ["go"])
    data = viewed(spec, Sent("go", "p", 0), Quiet(0.1))
    found = data["sets"][data["events"][1]["states"]]
    assert (len(found["states"]), found["more"]) == (STATES, 50 - STATES)


def test_a_state_that_depends_on_outputs() -> None:
    """It has no node yet, and so no state is listed."""
    spec: Spec[int, str] = Spec(lambda _, __: [Accept(lambda seen: [(1, seen[0])], says="an id")], 0, ["go"])
    data = viewed(spec, Sent("go", "p", 0), Seen("x", "p", 0.1))
    assert data["verdict"] in {"pass", "fail"}


def test_only_the_last_events_of_a_long_path() -> None:
    """The number of the others is there."""
    data = viewed(COFFEE, *(Quiet(at) for at in range(EVENTS + 3)))
    assert (len(data["events"]), data["earlier"]) == (EVENTS, 3)


class Pair(NamedTuple):
    one: int
    other: list[int]


class Struct(msgspec.Struct):
    one: int = 1


@dataclass
class Broken:
    one: int = 1

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 -- anything
        if name == "one":
            raise ValueError
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (Pair(1, [2]), [("one", "1"), ("other", ["2"])]),
        (Struct(), [("one", "1")]),
        ({"a": {"b": 1}, 2: {3}}, [("'a'", ["'b': 1"]), ("2", ["3"])]),
        ({2, 1}, [("", ["1", "2"])]),
        ("text", [("", "'text'")]),
        ([Pair(1, [2])], [("", ["Pair(one=1, other=[2])"])]),
        (int, [("", "<class 'int'>")]),
    ],
)
def test_values_have_parts(value: object, parts: list[Any]) -> None:
    """Fields of data classes, tuples with names and structs, keys of mappings, elements of collections."""
    assert value_data(value)["parts"] == parts


def test_values_are_bounded_and_may_be_broken() -> None:
    """Only so many elements are listed; an attribute that raises does not hide the path."""
    (only,) = value_data(list(range(FIELDS + 5)))["parts"]
    assert only[1][-1] == "… 5 more"
    assert value_data(Broken())["type"] == "Broken"
    assert value_data(HOSTILE)["text"].isprintable()


def names(*paths: Walked, found: Reported | None = None) -> list[str]:
    """Return the files of the paths that are part of a page."""
    return [path.file.name for path in chosen(gathered(*paths, found=found), Path("out"))]


def test_the_shortest_trace_of_each_failure_comes_first_and_then_one_path_of_each_kind() -> None:
    """Ten of each kind, spread over all; a path without a trace is left out."""
    found = Reported(failure(), "out/path-0002.shrunk.jsonl", 2, [])
    signature = str(found.failure.signature)
    paths = [
        Walked(1, "path-0001.jsonl", "pass", 1, 0.1),
        Walked(2, "path-0002.jsonl", "fail", 1, 0.1, signature=signature),
        Walked(3, "path-0003.jsonl", "inconclusive", 1, 0.1, why="it was lost"),
        Walked(4, "path-0004.jsonl", "pass", 1, 0.1, known_issue="it is late"),
        Walked(5, "", "pass", 1, 0.1),
    ]
    assert names(*paths, found=found) == [
        "path-0002.shrunk.jsonl",
        "path-0002.jsonl",
        "path-0004.jsonl",
        "path-0003.jsonl",
        "path-0001.jsonl",
    ]
    many = [Walked(number, f"path-{number:04}.jsonl", "pass", 51, 0.1) for number in range(1, 101)]
    assert names(*many) == [f"path-{number:04}.jsonl" for number in range(1, 101, 10)]


def test_a_small_campaign_is_there_whole() -> None:
    """Of at most 100 paths with 5,000 steps together each can be opened."""
    small = [Walked(number, f"path-{number:04}.jsonl", "pass", 50, 0.1) for number in range(1, 101)]
    assert names(*small) == [path.file for path in small]


def test_a_full_page_leaves_paths_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same trace is there once; the first that does not fit ends the list."""
    data = {"steps": 3, "events": ["x"] * 50}
    paths = [ChosenPath("pass", "", Path(f"path-{number}.jsonl")) for number in (1, 1, 2, 3)]
    parts = embedded(paths, lambda _: data, lambda _: {})
    assert [part.name for part in parts] == ["path-1", "path-2", "path-3"]
    assert json.loads(zlib.decompress(b64decode(parts[0].packed))) == data
    monkeypatch.setattr(page_part, "BUDGET", 2 * len(parts[0].packed))
    assert [part.name for part in embedded(paths, lambda _: data, lambda _: {})] == ["path-1", "path-2"]


def test_no_markup_can_begin_or_end_in_the_data() -> None:
    """Whatever a name contains: the data is JSON without an angle bracket."""
    said = document([EmbeddedPath(HOSTILE, "fail", HOSTILE, HOSTILE, 1, {HOSTILE: HOSTILE}, "")])
    assert not set("<>&") & set(said)
    assert json.loads(said)[0]["name"] == HOSTILE


@dataclass(frozen=True)
class Written:
    """An output with two fields."""

    size: int
    file: str


def test_two_values_that_are_alike_have_a_short_form() -> None:
    """A chart without room for a whole value shows the field in which it differs from the expected one."""
    spec = Spec(lambda lit, _: [goto(not lit, Written(1, "x"))], initial=False, inputs=["go"])
    for seen, brief in ((Written(9, "x"), ["Written(size=1, …)", "Written(size=9, …)"]), ("other", None)):
        found = viewed(spec, Sent("go", "p", 0), Seen(seen, "p", 0.1))["failure"]["brief"]
        assert (found and [*found]) == brief
