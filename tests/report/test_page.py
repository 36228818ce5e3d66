"""The page: one file with the whole report that loads nothing, and runs nothing that the system sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from otf.core import Model
from otf.report import Gathered, ReportedFailure, page
from otf.report import PathSummary as Walked
from otf.spec import Spec, goto
from tests.cli.command import otf
from tests.report.browser import CHROMIUM, Browser, browser
from tests.report.runs import EVENTS, HOSTILE, campaign, failure, gathered, header


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
        'verdict: <span class="verdict fail">fail</span>',
        "<b>59</b><span>steps</span>",
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


def hostile(folder: Path) -> Path:
    """Write the page of a run in which all that can be a text is hostile."""
    found = ReportedFailure(failure(seen=HOSTILE, why=HOSTILE), HOSTILE, 2, EVENTS)
    path = Walked(1, HOSTILE, "fail", 2, 0.1, why=HOSTILE, signature=str(found.failure.signature))
    made = gathered(path, found=found, bench=HOSTILE, parameters={HOSTILE: HOSTILE}, versions={HOSTILE: HOSTILE})
    made.notes[HOSTILE] = None
    made.answers[HOSTILE] = [0.1]
    made.space.states[made.space.initial] = HOSTILE
    file = folder / "report.html"
    file.write_text(page(made), encoding="utf-8")
    return file


def test_what_a_system_says_is_text(tmp_path: Path) -> None:
    """There is one script, and it is ours."""
    said = hostile(tmp_path).read_text(encoding="utf-8")
    assert said.count("<script") == 1
    assert "<img" not in said
    assert "\x1b" not in said


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
ROWS = "document.querySelectorAll('#paths-table tbody tr:not([hidden])').length"
DRAWINGS = "[...document.querySelectorAll('#chart-0 .drawing')].map(drawing => drawing.hidden)"


def chosen(seen: Browser, what: str, value: str) -> None:
    """Write into a field of the table of paths, or choose there, as a reader does."""
    event = "change" if what == "select" else "input"
    field = f"document.querySelector('#paths {what}')"
    seen.ask(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('{event}'))")


@needs_browser
@pytest.mark.real
def test_in_a_browser(tmp_path: Path) -> None:
    """It is drawn without a remark in the console, loads nothing else, filters, and can be used by keyboard."""
    folder = campaign(tmp_path / "out", "--set", "fault=free")
    assert otf("report", folder).status == 0
    with browser(tmp_path / "profile") as seen:
        seen.open(folder / "report.html")
        assert seen.requests == [(folder / "report.html").as_uri()]
        assert seen.ask("document.querySelector('svg.states').getBoundingClientRect().height") > 100
        assert seen.ask(ROWS) == 5
        chosen(seen, "input", "0003")
        assert seen.ask(ROWS) == 1
        assert seen.ask("document.querySelector('#paths output').value") == "1 of 5 shown"
        chosen(seen, "input", "")
        chosen(seen, "select", "pass")
        assert seen.ask(ROWS) == 0
        assert seen.ask(DRAWINGS) == [False, True]
        seen.ask("document.querySelector('summary').focus()")
        seen.key("Tab")  # past what can be scrolled by keys
        while not seen.ask("document.activeElement.matches('[data-scale]')"):
            seen.key("Tab")
        seen.key("Enter")
        assert seen.ask(DRAWINGS) == [True, False]
        assert seen.console == []


@needs_browser
@pytest.mark.real
def test_light_dark_and_narrow(tmp_path: Path) -> None:
    """It takes the theme of the reader, can be switched, and a phone need not scroll to the side."""
    folder = campaign(tmp_path / "out")
    otf("report", folder)
    background = "getComputedStyle(document.body).backgroundColor"
    with browser(tmp_path / "profile") as seen:
        seen.size(390)
        seen.open(folder / "report.html")
        assert seen.ask(background) == "rgb(255, 255, 255)"
        assert seen.ask("document.documentElement.scrollWidth") <= 390
        seen.size(1280, dark=True)
        assert seen.ask(background) == "rgb(20, 24, 29)"
        seen.ask("document.getElementById('theme').click()")
        assert seen.ask(background) == "rgb(255, 255, 255)"
        assert seen.console == []


@needs_browser
@pytest.mark.real
def test_a_hostile_output_does_nothing(tmp_path: Path) -> None:
    """The title stays, nothing is asked for, nothing is refused: it was never more than text."""
    file = hostile(tmp_path)
    with browser(tmp_path / "profile") as seen:
        seen.open(file)
        assert seen.ask("document.title").startswith("otf report: </script>")
        assert seen.requests == [file.as_uri()]
        assert seen.console == []


@pytest.mark.slow  # it measures time, which a busy machine does not have
@needs_browser
def test_a_large_report_opens_soon(tmp_path: Path) -> None:
    """1,000 failing paths of 1,000 steps, with 40 kinds of failure: below 10 MB, and open within 2 seconds."""
    made = gathered(bench="large")
    for number in range(1_000):
        kind = failure(why=f"Kind{number % 40}")
        found = ReportedFailure(kind, f"path-{number}.jsonl", 40, EVENTS * 20)
        made.failed(found)
        made.done(Walked(number, found.file, "fail", 1_000, 1.0, signature=str(kind.signature)))
    file = tmp_path / "report.html"
    file.write_text(page(made), encoding="utf-8")
    assert file.stat().st_size < 10_000_000
    with browser(tmp_path / "profile") as seen:
        assert seen.open(file) < 2


def test_more_kinds_of_failure_than_are_drawn() -> None:
    """The first thirty are drawn; the number of the others is shown."""
    made = gathered()
    for number in range(33):
        made.failed(ReportedFailure(failure(why=f"Kind{number}"), "x.jsonl", 2, EVENTS))
    assert "… and 3 other kinds of failure" in page(made)


def test_a_model_with_many_states() -> None:
    """It is not drawn, and the page says so."""
    made = Gathered.of(header(), Model(Spec(lambda state, _: [goto((state + 1) % 200)], initial=0, inputs=["go"])))
    assert "The model has 200 states; up to 80 are drawn." in page(made)


def test_a_model_of_which_everything_was_tried() -> None:
    """Then nothing is listed."""
    made = gathered()
    made.visits.pairs.update(made.space.pairs)
    assert "Every input was tried in every state that specifies it." in page(made)
