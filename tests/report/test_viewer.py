"""The page in a browser: the report, and the viewer of its paths, by mouse and by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from otf.report import PathSummary as Walked
from otf.report import ReportedFailure, page
from otf.report.failures import ChosenPath, embedded
from otf.report.path_view import ViewData
from tests.cli.command import otf
from tests.report.browser import CHROMIUM, Browser, browser
from tests.report.runs import EVENTS, campaign, failure, gathered
from tests.report.test_page import hostile

pytestmark = [pytest.mark.real, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]

ROWS = "document.querySelectorAll('#paths-table tbody tr:not([hidden])').length"
CHART = "document.querySelector('#chart svg')"
SELECTED = "document.querySelector('#steps [aria-selected=true]')?.id"
DETAILS = "document.getElementById('details').innerText"
WIDTH = "document.documentElement.scrollWidth"
# texts of a chart that are not wholly in it, or wider than the box they are in
CUT = """
[...document.querySelectorAll('svg.chart')].flatMap(chart => [...chart.querySelectorAll('text')]
  .filter(text => { const box = text.getBBox(), whole = chart.viewBox.baseVal;
    return box.x < 0 || box.x + box.width > whole.width || box.y + box.height > whole.height; }))
  .map(text => text.textContent)
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    """One browser for all tests: starting it takes longer than any of them."""
    with browser(tmp_path_factory.mktemp("profile")) as started:
        started.size(1280)
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a coffee machine that gives coffee for nothing."""
    folder = campaign(tmp_path_factory.mktemp("runs") / "out", "--steps", 25, "--set", "fault=free")
    assert otf("report", folder).status == 0
    return folder / "report.html"


def opened(seen: Browser, report: Path, fragment: str) -> None:
    """Open a path of a report at an address."""
    seen.open(report, fragment, f"{CHART}")


def chosen(seen: Browser, what: str, value: str) -> None:
    """Write into a field of the table of paths, or choose there, as a reader does."""
    event = "change" if what == "select" else "input"
    field = f"document.querySelector('#paths {what}')"
    seen.ask(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('{event}'))")


def test_the_report(seen: Browser, report: Path) -> None:
    """It is drawn without a remark in the console, loads nothing else, draws the first failure, and filters paths."""
    seen.open(report, drawn="document.querySelector('details svg.chart .bad')")
    assert seen.requests == [report.as_uri()]
    assert seen.ask("document.querySelector('svg.states').getBoundingClientRect().height") > 100
    assert seen.ask("document.querySelector('details svg.chart .ghost').textContent").startswith("expected: no output")
    assert seen.ask(ROWS) == 5
    chosen(seen, "input", "0003")
    assert seen.ask(ROWS) == 1
    assert seen.ask("document.querySelector('#paths output').value") == "1 of 5 shown"
    chosen(seen, "input", "")
    chosen(seen, "select", "pass")
    assert seen.ask(ROWS) == 0
    assert seen.console == []


def test_a_walk_from_the_report(seen: Browser, report: Path) -> None:
    """The way to a state is a command for the system of the campaign, with its parameters."""
    seen.open(report, "#state-1", "document.querySelector('#states-walk[data-ready]')")
    commands = seen.ask("[...document.querySelectorAll('#states-walk .command code')].map(each => each.textContent)")
    assert commands == [
        "printf '%s\\n' 'Coin(cents=5)' | otf step coffee --set fault=free",
        "printf '%s\\n' 'Coin(cents=5)' | otf step coffee --set fault=free --live",
    ]
    assert seen.console == []


def test_every_path_step_and_event_by_mouse(seen: Browser, report: Path) -> None:
    """Each path of the report, each of its steps, and each event of a chart can be clicked; the console stays empty."""
    seen.open(report, drawn="document.querySelector('#failures a[href]')")
    seen.ask("document.querySelector('#failures a[href]').click()")
    seen.until(f"{CHART}")
    for name in seen.ask("embedded.map(head => head.name)"):
        select = "document.querySelector('#viewer select')"
        seen.ask(f"{select}.value = '{name}'; {select}.dispatchEvent(new Event('change'))")
        seen.until(f"document.getElementById('viewed').textContent.startsWith('{name} ')")
        for step in seen.ask("open.steps.map(step => step.number)"):
            seen.ask(f"document.getElementById('step-{step}').click()")
            assert seen.ask(SELECTED) == f"step-{step}"
            assert seen.ask("location.hash") == f"#{name}/step-{step}"
    seen.ask("[...document.querySelectorAll('#chart [data-event]')].at(-1).dispatchEvent(new Event('click'))")
    assert seen.ask("open.at === open.path.events.length - 1")
    seen.ask("document.getElementById('scale').click()")
    assert seen.ask("document.getElementById('scale').getAttribute('aria-pressed')") == "true"
    assert seen.ask("document.querySelectorAll('#viewer .command').length") == 4
    seen.ask("document.querySelector('#viewer .command button').click()")
    seen.until("/copied|selected/.test(document.querySelector('#viewer .command button').textContent)")
    assert seen.console == []


def test_a_filter_by_port_and_the_keys(seen: Browser, report: Path) -> None:
    """The name of a port is no part of a text; arrow keys pass over what is hidden, and the next path is filtered."""
    opened(seen, report, "#path-1/step-1")
    seen.ask("open.path.events.filter(each => each.step === 3).forEach(each => { each.port = 'b'; })")  # as in Button
    seen.ask("filterSteps('B')")
    failing = seen.ask("open.path.events[failureOf(open.path)].step")
    assert seen.ask("document.getElementById('filtered').value").startswith("2 of ")
    assert seen.ask(SELECTED) == "step-3"  # the chosen one was hidden
    for _ in range(2):
        seen.key("ArrowDown")
        assert seen.ask(SELECTED) == f"step-{failing}"
    seen.key("n")
    seen.until("open.head.name !== 'path-1'")
    assert seen.ask("document.querySelector('#viewer input').value") == "B"


def test_the_filter_of_the_chart_and_the_timeline(seen: Browser, report: Path) -> None:
    """Both show the steps of the list, and so do the keys; who goes to another step sees all of them again."""
    opened(seen, report, "#path-1/step-1")
    seen.ask("open.path.events.filter(each => each.step === 3).forEach(each => { each.port = 'b'; })")
    seen.ask("filterSteps('B')")
    failing = seen.ask("open.path.events[failureOf(open.path)].step")
    pale, charted = "document.querySelectorAll('#timeline .pale').length", "[...new Set(open.path.events.filter("
    charted += "(_, at) => document.querySelector(`#chart [data-event='${at}']`)).map(each => each.step))]"
    assert seen.ask(charted) == [3, failing]
    assert seen.ask(pale) > 0
    while seen.ask("open.at !== shownEvents().at(-1)"):
        assert seen.ask("open.path.events[open.at].step") in {3, failing}
        seen.key("ArrowRight")
    seen.ask("choose(0)")
    assert seen.ask("document.querySelector('#viewer input').value") == ""
    assert seen.ask(pale) == 0
    assert len(seen.ask(charted)) > 2
    assert seen.console == []


def test_the_filter_keeps_the_failing_step(seen: Browser, report: Path) -> None:
    """Whatever the words are, the step that failed stays in the list and in the chart."""
    opened(seen, report, f"#{seen.ask('embedded[0].name')}")
    failing = seen.ask("open.path.events[failureOf(open.path)].step")
    seen.ask("choose(0)")
    seen.ask("filterSteps('no such words')")
    assert seen.ask(SELECTED) == f"step-{failing}"
    assert seen.ask("[...document.querySelectorAll('#steps li:not([hidden])')].map(({ id }) => id)") == [
        f"step-{failing}"
    ]
    assert seen.ask("document.querySelectorAll('#chart .bad').length") == 1
    assert seen.ask("document.getElementById('filtered').value").startswith("1 of ")
    seen.ask("filterSteps('')")
    assert seen.ask("document.querySelectorAll('#steps li[hidden]').length") == 0


def test_the_next_path_is_the_next_of_the_list(seen: Browser, report: Path) -> None:
    """That of the viewer; or that of the table, if it shows only some of the paths."""
    opened(seen, report, "#path-1/step-1")
    listed = seen.ask("[...document.querySelectorAll('#viewer option')].map(each => each.value)")
    seen.key("n")
    seen.until(f"open.head.name === '{listed[listed.index('path-1') + 1]}'")
    opened(seen, report, "#path-1/step-1")
    seen.ask("void (document.querySelectorAll('#paths-table tbody tr')[1].hidden = true)")
    seen.key("n")
    seen.until("open.head.name === 'path-3'")
    seen.key("p")
    seen.until("open.head.name === 'path-1'")


def test_a_link_to_a_step(seen: Browser, report: Path) -> None:
    """`#path-1/step-2` opens the path at that step, with its bytes, its value, and the states that changed."""
    opened(seen, report, "#path-1/step-2")
    assert seen.ask(SELECTED) == "step-2"
    assert seen.ask("document.getElementById('content').offsetParent") is None
    said = seen.ask(DETAILS)
    assert "As the codec reads them" in said
    assert "Allowed in this step" in said
    opened(seen, report, "#path-1/step-2/event-2")
    assert seen.ask("open.path.events[open.at].step") == 2
    seen.open(report, "#path-99/step-2")
    assert seen.ask("document.getElementById('viewer').hidden")


def test_the_failing_event(seen: Browser, report: Path) -> None:
    """A path that failed opens there: what was expected is a ghost, what came is marked by a sign, too."""
    opened(seen, report, "#path-1.strict.shrunk")
    assert seen.ask("document.querySelector('#chart .bad .label').textContent") == "✗ Coffee()"
    assert seen.ask("document.querySelector('#chart .ghost .label').textContent") == "expected: no output"
    assert "unasked: an output came where the model allows none" in seen.ask(DETAILS)
    assert "63 6f 66 66 65 65" in seen.ask("document.querySelector('.hex pre').textContent")
    assert seen.ask("document.querySelector('.bytes').textContent").endswith("coffee")


def test_the_port_of_what_failed_is_told_once(seen: Browser, report: Path) -> None:
    """What was seen is followed by its port, unless its text ends with it, and by nothing else."""
    seen.open(report)
    for text in ("Ok() on bob", "Ok()"):
        failed: dict[str, Any] = {"kind": "wrong", "says": "", "port": "bob", "seen": text, "expected": [], "note": ""}
        failed |= {"differences": [], "before": [], "times": []}
        told = seen.ask(f"failureDetails({{ failure: {json.dumps(failed)} }})[0].querySelectorAll('dd')[1].textContent")
        assert told == "Ok() on bob"


def test_by_keyboard_alone(seen: Browser, report: Path) -> None:
    """From the top of the report to a failure, through its steps and events, to the next path and back."""
    seen.open(report, drawn="document.querySelector('details svg.chart')")
    while not seen.ask("document.activeElement.matches('#failures a[href]')"):
        seen.key("Tab")
    seen.key("Enter")
    seen.until(f"{CHART} && document.activeElement.id === 'steps'")
    name, last = seen.ask("[open.head.name, open.at]")
    # a key, and what is true after it
    for key, expected in {
        "ArrowLeft": f"open.at === {last - 1}",
        "Home": f"{SELECTED} === 'step-1'",
        "ArrowDown": f"{SELECTED} === 'step-2'",
        "ArrowRight": "location.hash.endsWith('/step-2/event-2')",
        "ArrowUp": f"{SELECTED} === 'step-1'",
        "f": f"open.at === {last}",
        "n": f"open.head.name !== '{name}'",
        "p": f"open.head.name === '{name}'",
        "End": f"open.at === {last}",
        "Escape": "document.getElementById('viewer').hidden",
    }.items():
        seen.key(key)
        seen.until(f"({expected})")
    assert seen.console == []


def test_for_a_screen_reader(seen: Browser, report: Path) -> None:
    """The accessibility tree has the steps as a list to choose from, the chart as a list of events, and the states."""
    opened(seen, report, "#path-1.strict.shrunk")
    nodes: list[dict[str, Any]] = seen.call("Accessibility.getFullAXTree")["nodes"]
    named = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node}
    roles = {role for role, _ in named}
    assert {("listbox", "steps"), ("region", "sequence chart"), ("region", "the chosen event")} <= named
    assert any(role == "option" and "Button()" in name for role, name in named)
    assert any(role == "listitem" and name.endswith("from the system on line, failed here") for role, name in named)
    assert {"main", "status", "list", "heading", "button", "combobox"} <= roles
    unnamed = [role for role, name in named if role in {"button", "link", "combobox", "listbox", "region"} and not name]
    assert unnamed == []


@pytest.mark.parametrize("fragment", ["", "#path-1.strict.shrunk", "#path-1"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_or_too_wide(seen: Browser, report: Path, width: int, fragment: str) -> None:
    """No page is wider than the window, on a phone either, and no label leaves its chart."""
    seen.size(width)
    seen.open(report, fragment, "document.querySelector('svg.chart')")
    assert seen.ask(WIDTH) <= width
    assert seen.ask(CUT) == []
    seen.size(1280)


def test_light_and_dark(seen: Browser, report: Path) -> None:
    """It takes the theme of the reader, and can be switched."""
    background = "getComputedStyle(document.body).backgroundColor"
    seen.open(report)
    assert seen.ask(background) == "rgb(255, 255, 255)"
    seen.size(1280, dark=True)
    assert seen.ask(background) == "rgb(20, 24, 29)"
    seen.ask("document.getElementById('theme').click()")
    assert seen.ask(background) == "rgb(255, 255, 255)"
    seen.size(1280)


def test_a_hostile_output_does_nothing(seen: Browser, tmp_path: Path) -> None:
    """In the report and in the viewer the title stays, nothing is asked for, nothing is refused: it is only text."""
    file = hostile(tmp_path)
    for drawn in ("true", CHART):
        address = "" if drawn == "true" else seen.ask("'#' + embedded[0].name")
        seen.open(file, address, drawn)
        assert "otf report: </script>" in seen.ask("document.title")
        assert seen.ask("document.querySelectorAll('main img, main script:not([type])').length") == 0
        assert [request.partition("#")[0] for request in seen.requests] == [file.as_uri()]
        assert seen.console == []
    assert "</script>" in seen.ask(DETAILS)


def test_a_browser_that_cannot_unpack(seen: Browser, report: Path) -> None:
    """It shows the command that shows the path."""
    script = seen.call("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    seen.open(report, "#path-1")
    assert "path-0001.jsonl" in seen.ask("document.getElementById('viewer').textContent")
    assert seen.ask("document.getElementById('viewer').textContent").startswith("This browser cannot unpack the path")
    seen.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_an_interval_is_never_negative(seen: Browser, report: Path) -> None:
    """A stall is told before an output that came in it, with the time of its end: the interval is by time."""
    seen.open(report)
    events = {"events": [{"at": 1.0}, {"at": 3.0}, {"at": 2.5}, {"at": 3.0}]}
    told = [seen.ask(f"sinceEarlier({json.dumps(events)}, {at})") for at in range(4)]
    assert told == ["", *(f"{each} after the event before" for each in ("500 ms", "1.5 s", "0 µs"))]


def test_windows_are_bars(seen: Browser, report: Path) -> None:
    """A window reaches from its begin to its end on its lifeline; only the last of its versions is drawn."""
    window = {"port": "p", "lo": 1, "hi": 2, "since": "its input was taken", "from": 1.1, "to": 2.1}
    opened: list[ViewData] = [{**window, "from": 1.0}]
    times: list[tuple[float, list[ViewData]]] = [(0.1, []), (1.0, opened), (2.0, [window]), (4.0, [])]
    events: list[ViewData] = [
        {"kind": "quiet", "by": "timed", "step": 1, "at": at, "windows": windows, "states": 0, "allowed": 0}
        for at, windows in times
    ]
    events[0] |= {"kind": "sent", "port": "p", "value": 0}
    path: ViewData = {"events": events, "values": [{"text": "go", "type": "str", "parts": []}], "failure": None}
    seen.open(report)
    other = {**window, "from": 1.9, "to": 3.2}
    events[3]["windows"] = [other]
    for scaled in ("false", "true"):
        drawn = f"drawChart({json.dumps(path)}, {{ scaled: {scaled} }})"
        bars = seen.ask(f"[...{drawn}.querySelectorAll('.window')].map(bar => bar.getAttribute('height') > 20)")
        assert bars == [True, True]
    assert seen.ask(f"{drawn}.textContent").count("silence, timed") == 6  # titles and labels
    assert "cut ≈" not in seen.ask(f"drawChart({json.dumps(path)}).textContent")


@pytest.mark.slow  # it measures time, which a busy machine does not have
def timed(path: ViewData, seen: Browser, width: int = 1000) -> None:
    """Draw the timeline of a path alone; a click puts the number of the event into `chosen`."""
    seen.ask(f"""window.chosen = null;
      window.line = drawTimeline({json.dumps(path)}, {width}, at => {{ chosen = at; }});
      document.body.append(line.drawn); line.mark(0, 0, 2)""")


def test_a_timeline_is_to_scale(seen: Browser, report: Path) -> None:
    """Inputs, outputs, silences, stalls and windows lie where their times say; a click chooses the nearest event."""
    opened(seen, report, "#path-1/step-1")
    states = {"states": 0, "allowed": 0}
    path: dict[str, Any] = {
        "values": [{"text": "a", "type": "str", "parts": []}],
        "events": [
            {
                "kind": "sent",
                "port": "p",
                "value": 0,
                "at": 0,
                "step": 1,
                "windows": [{"port": "p", "from": 7, "to": 99}],
            }
            | states,
            {"kind": "seen", "port": "p", "value": 0, "at": 1, "step": 1, **states},
            {"kind": "stalled", "text": "the machine stalled for 2.000 s", "seconds": 2, "at": 4, "step": 1, **states},
            {"kind": "quiet", "by": "timed", "at": 6, "step": 1, **states},
            {"kind": "seen", "port": "q", "value": 0, "at": 10, "step": 1, "failed": True, **states},
        ],
        "failure": {"step": 1, "together": 1, "expected": []},
    }
    timed(path, seen)
    span = "(kind => {{ const box = line.drawn.querySelector(kind).getBBox(); return [box.x, box.width]; }})('{}')"
    begin, end = (seen.ask(span.format(kind))[0] for kind in (".sent", ".failed"))
    wide = (end - begin) / 10
    assert seen.ask(span.format(".silence")) == pytest.approx([begin + wide, 5 * wide], abs=0.2)
    assert seen.ask(span.format(".window")) == pytest.approx([begin + 7 * wide, 3 * wide], abs=0.2)
    assert seen.ask(span.format(".stall")) == pytest.approx([begin + 2 * wide, 2 * wide], abs=0.2)
    assert seen.ask(f"timelineSaid({json.dumps(path)}, () => 0).textContent") == (
        "10 s to scale: 1 input (above the line of the port), 2 outputs (below), longest silence 5 s, "
        "1 stall of the machine, 2 s together"
    )
    seen.ask(f"""(() => {{ const box = line.drawn.getBoundingClientRect();
      const at = {{ clientX: box.left + {begin + 5.8 * wide}, clientY: box.top + 9 }};
      line.drawn.dispatchEvent(new MouseEvent('click', at)); }})()""")
    assert seen.ask("chosen") == 3
    # the label of the last mark stands at the right end
    assert seen.ask(f"({CUT.replace('chart', 'timeline')}).length") == 0
    assert seen.console == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_timeline_follows_the_chosen_event(seen: Browser, report: Path, width: int) -> None:
    """Its mark moves with the keys, and all of it is in the page."""
    seen.size(width)
    opened(seen, report, "#path-1/step-1")
    mark = "document.querySelector('.timeline .now').getAttribute('d')"
    before = seen.ask(mark)
    seen.key("End")
    assert seen.ask(mark) != before
    assert seen.ask(WIDTH) <= width
    assert seen.ask(f"({CUT.replace('chart', 'timeline')}).length") == 0
    seen.size(1280)


def test_a_part_of_a_long_timeline(seen: Browser, report: Path) -> None:
    """Of a long path it can show what the chart shows: a click there chooses the event of the path."""
    opened(seen, report, "#path-1/step-1")
    seen.ask("""(() => { const { path, head } = open, [event] = path.events;
      const events = Array.from({ length: 400 }, (_, at) => ({ ...event, at, step: at }));
      const long = { ...path, events };
      open = { head, path: long, steps: stepsOf(long), at: 0, hidden: new Set() };
      buildViewer(); showTimeline(); choose(200); })()""")
    assert seen.ask("document.querySelector('#timeline p').textContent").startswith("399 s to scale")
    seen.ask("document.getElementById('near').focus(); document.getElementById('near').click()")
    assert seen.ask("document.querySelector('#timeline p').textContent").startswith("120 s to scale")
    assert seen.ask("document.activeElement.id") == "near"
    seen.ask("""(() => { const drawn = document.querySelector('svg.timeline'), box = drawn.getBoundingClientRect();
      drawn.dispatchEvent(new MouseEvent('click', { clientX: box.right - 8, clientY: box.top + 9 })); })()""")
    assert seen.ask("open.at") == 260
    seen.ask("document.getElementById('near').click()")
    assert seen.ask("document.querySelector('#timeline p').textContent").startswith("399 s to scale")
    assert seen.console == []


def test_a_large_report_opens_soon(seen: Browser, tmp_path: Path) -> None:
    """1,000 failing paths of 1,000 steps, with 40 kinds of failure: below 10 MB, the first drawn within 2 seconds."""
    made = gathered(bench="large")
    for number in range(1_000):
        kind = failure(why=f"Kind{number % 40}")
        found = ReportedFailure(kind, f"path-{number}.jsonl", 1_000, EVENTS * 20)
        made.failed(found)
        made.done(Walked(number, found.file, "fail", 1_000, 1.0, signature=str(kind.signature)))
    values = [{"text": f"Out(n={number})", "type": "Out", "parts": [["n", str(number)]]} for number in range(500)]
    events = [
        {"kind": kind, "port": "p", "value": step * 7919 % 500, "step": step, "at": step + part, "states": 0}
        | {"allowed": 0, "raw": f"{step * 2654435761 % 2**64:016x}", "size": 8}
        for step in range(1, 1_001)
        for kind, part in (("sent", 0.1), ("seen", 0.2), ("quiet", 0.3))
    ]
    rest: ViewData = {"states": [], "sets": [{"states": [], "more": 0}], "allowed": [[]], "failure": None, "earlier": 0}
    path: ViewData = {"verdict": "pass", "why": "", "steps": 1_000, "events": events, "values": values, **rest}
    names = [ChosenPath("fail", "kind", Path(f"path-{number}.jsonl")) for number in range(400)]
    file = tmp_path / "report.html"
    file.write_text(page(made, embedded(names, lambda _: path, lambda _: {})), encoding="utf-8")
    assert 4_000_000 < file.stat().st_size < 10_000_000
    assert seen.open(file, drawn="document.querySelector('svg.chart')") < 2
    assert seen.open(file, "#path-1/step-500", f"{CHART}") < 2
