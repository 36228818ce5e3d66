"""The page: one file with the whole report that loads nothing, and runs nothing that the system sent."""

from __future__ import annotations

import re
from pathlib import Path

from otf.core import Model, Monitor, Oracle
from otf.core.compile import Routes
from otf.models.coffee import bench
from otf.offline import Judgement
from otf.report import PathSummary as Walked
from otf.report import ReportedFailure, page
from otf.report.failures import ChosenPath, EmbeddedPath, embedded
from otf.report.path_view import PathView
from otf.spec import Spec
from otf.trace.events import Event, Seen, Sent
from otf.trace.reading import TracedEvent
from tests.report.runs import EVENTS, HOSTILE, failure, gathered, header, step


def test_what_it_says() -> None:
    """The verdict, the numbers, each failure with its explanation, each path, and what was not tried."""
    found = ReportedFailure(failure(), "out/path-0002.shrunk.jsonl", 2, EVENTS, shrunk=True)
    name = str(found.failure.signature)
    paths = [
        Walked(1, "path-0001.jsonl", "pass", 50, 0.5),
        Walked(2, "path-0002.jsonl", "fail", 9, 0.2, signature=name),
    ]
    said = page(gathered(*paths, found=found))
    for part in (
        '<span class="verdict fail">FAIL: 1 kind of failure</span>',
        "59 steps",
        "<b>0 of 4</b><span>transitions visited</span>",
        "possible state: 1",
        "1 path, shrunk to 2 steps",
        "out/path-0002.shrunk.jsonl",
        "4 of 4 inputs were never sent in a state where the model specifies them.",
    ):
        assert part in said
    assert said.index("path-0002.jsonl") < said.index("path-0001.jsonl")


def test_a_pass_says_so() -> None:
    """There is nothing to explain."""
    said = page(gathered(Walked(1, "path-0001.jsonl", "pass", 50, 0.5)))
    assert "None. PASS: every answer is one that the model allows." in said
    assert "No output came." in said


def test_what_a_verdict_rests_on_is_on_the_page() -> None:
    """As in the terminal: why nothing was tested, and paths that did not come to their end."""
    none = gathered()
    none.bench = bench()
    assert "<p>note: nothing was sent</p>" in page(none)
    said = page(gathered(Walked(1, "path-0001.jsonl", "pass", 50, 0.5, late=2, short=True)))
    assert "1 path cut short by the end of the time" in said
    assert "2 outputs came after the quiescence time, but before quiescence was concluded" in said


def test_the_settings_name_no_silence_where_none_is_observed() -> None:
    """A system in this process answers before it returns."""
    said = page(gathered(Walked(1, "path-0001.jsonl", "pass", 50, 0.5), silence=""))
    assert "silence" not in said.partition('<div class="cards">')[0].rpartition("otf report:")[2]


def test_it_loads_nothing() -> None:
    """It contains no address of another machine, and its policy forbids loading and other scripts."""
    said = page(gathered(Walked(1, "path-0001.jsonl", "pass", 50, 0.5)))
    assert set(re.findall(r"\w+://[^\"'<\s]+", said)) <= {"http://www.w3.org/2000/svg"}
    assert "default-src &#x27;none&#x27;" in said


def test_long_tables_are_cut() -> None:
    """A browser is slow with many thousand rows; the page shows how many there are."""
    said = page(gathered(*(Walked(number, f"path-{number}", "pass", 1, 0.1) for number in range(2_500))))
    assert "The first 2,000 of 2,500 are listed." in said
    assert said.count("<tr") < 2_100


def test_paths_that_are_not_in_the_page() -> None:
    """The page counts those that can be opened, and gives the command for the first of the others."""
    walked = [Walked(number, f"path-{number:04}.jsonl", "pass", 50, 0.5) for number in (1, 2, 3)]
    commands = {"look at it": "otf show 'my out/path-0001.jsonl' --bench x.py"}
    inside = EmbeddedPath("path-1", "pass", "", "my out/path-0001.jsonl", 50, commands, "")
    said = page(gathered(*walked), [inside])
    assert "1 of 3 paths can be opened here; their numbers are links." in said
    assert "<code>otf show &#x27;my out/path-0002.jsonl&#x27; --bench x.py</code>" in said
    assert "can be opened here" not in page(gathered(walked[0]), [inside])


def hostile_path() -> EmbeddedPath:
    """A path of which everything is hostile."""
    spec = Spec(step, initial=0, inputs=["coin", "button"])
    view, monitor = PathView(), Monitor(Oracle(Model(spec, Routes((HOSTILE,), lambda _: HOSTILE))))
    events: list[Event] = [Sent("coin", HOSTILE, 0.1), Seen(HOSTILE, HOSTILE, 0.2)]
    for number, event in enumerate(events, 1):
        monitor.tell(event)
        view.event(TracedEvent(event, number, HOSTILE.encode(), {}), monitor)
    data = view.data(Judgement(header(), monitor.end(), None, 1, [], changed=False, cut=False))
    chosen = ChosenPath("fail", HOSTILE, Path(f"path-1{HOSTILE.replace('/', '')}.jsonl"))
    (made,) = embedded([chosen], lambda _: data, lambda _: {HOSTILE: HOSTILE})
    return made


def hostile(folder: Path) -> Path:
    """Write the page of a run in which all that can be a text is hostile."""
    found = ReportedFailure(failure(seen=HOSTILE, why=HOSTILE), HOSTILE, 2, EVENTS)
    path = Walked(1, HOSTILE, "fail", 2, 0.1, why=HOSTILE, signature=str(found.failure.signature))
    made = gathered(path, found=found, bench=HOSTILE, parameters={HOSTILE: HOSTILE}, versions={HOSTILE: HOSTILE})
    made.notes[HOSTILE] = None
    made.answers[HOSTILE] = [0.1]
    made.space.states[made.space.initial] = HOSTILE
    file = folder / "report.html"
    file.write_text(page(made, [hostile_path()]), encoding="utf-8")
    return file


def test_what_a_system_says_is_text(tmp_path: Path) -> None:
    """There is one script, and it is ours; the other elements of that name hold states and paths as data."""
    said = hostile(tmp_path).read_text(encoding="utf-8")
    assert re.findall(r"<script[^>]*>", said) == [
        '<script type="text/plain" id="states-data">',
        '<script type="application/json" id="paths-data">',
        "<script>",
    ]
    assert "<img" not in said
    assert "\x1b" not in said


def test_more_kinds_of_failure_than_are_drawn() -> None:
    """The first thirty are drawn; the number of the others is shown."""
    made = gathered()
    for number in range(33):
        made.failed(ReportedFailure(failure(why=f"Kind{number}"), "x.jsonl", 2, EVENTS))
    assert "… and 3 other kinds of failure" in page(made)


def test_a_model_of_which_everything_was_tried() -> None:
    """Then nothing is listed."""
    made = gathered()
    made.visits.pairs.update(made.space.pairs)
    assert "Every input was tried in every state that specifies it." in page(made)
