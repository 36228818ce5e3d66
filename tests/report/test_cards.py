"""The card of a failure, the head of the page and of the viewer, in a browser."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import chdir
from pathlib import Path

import pytest

from otf.campaign import Campaign, Listener, Settings
from otf.cli.output import _STYLES  # pyright: ignore[reportPrivateUsage] -- the colours of the terminal
from otf.cli.tools.live_figures import LiveFigures
from otf.models.coffee import bench
from otf.report import ReportedFailure, page
from otf.report.failures import TONES, as_known, failures, toned
from otf.report.live import live_page
from otf.trace.explain import explanation
from otf.trace.verdict import Verdict
from tests.cli.command import otf
from tests.report.browser import CHROMIUM, Browser, browser
from tests.report.runs import EVENTS, campaign, failure, gathered

pytestmark = [pytest.mark.real, pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")]

CARD = "document.querySelector('#failures details[open]')"


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    """One browser for all tests."""
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a coffee machine that gives coffee for nothing."""
    runs = tmp_path_factory.mktemp("runs")
    with chdir(runs):  # commands name the folder as it was given: a short name, as users have
        campaign(Path("out"), "--steps", 50, "--set", "fault=free")
        assert otf("report", "out").status == 0
    return runs / "out" / "report.html"


def opened(seen: Browser, report: Path, width: int = 1280, at: str = "") -> None:
    """Open a report in a window of that width, and wait for its first picture."""
    seen.size(width)
    seen.open(report, at, "document.querySelector('svg.chart')")


def bottom(seen: Browser, what: str) -> float:
    """Return how far down in the window the lower end of an element is, in pixels."""
    return float(seen.ask(f"{CARD}.querySelector('{what}').getBoundingClientRect().bottom"))


def test_words_chart_and_commands_are_on_the_first_screen(seen: Browser, report: Path) -> None:
    """Who opens the report of a failure does not have to scroll before he can act."""
    opened(seen, report)
    assert max(bottom(seen, what) for what in ("pre.screen", "svg.chart", ".command:last-child")) < 900
    words, chart = (seen.ask(f"{CARD}.querySelector('{what}').getBoundingClientRect().x") for what in ("pre", "svg"))
    assert chart > words + 400
    commands = seen.ask(f"[...{CARD}.querySelectorAll('.command code')].map(each => each.textContent)")
    assert [each.split()[1] for each in commands] == ["show", "replay", "rerun", "out/path_0001_strict_shrunk.py"]


def test_so_they_are_for_a_failure_of_several_ports_and_long_values(seen: Browser, tmp_path: Path) -> None:
    """No line of its words is broken by the page, which would begin the rest at the left edge."""
    trace = Path(__file__).parents[1] / "cli" / "golden" / "conference.jsonl"
    (tmp_path / "o7").mkdir()
    (tmp_path / "o7" / "path-0001.jsonl").write_bytes(trace.read_bytes())
    with chdir(tmp_path):
        assert otf("report", "o7").status == 0
    opened(seen, tmp_path / "o7" / "report.html")
    assert max(bottom(seen, what) for what in ("pre.screen", ".drawing", ".command:last-child")) < 900
    seen.ask(f"void ({CARD}.querySelector('pre.screen').style.whiteSpace = 'pre')")
    wide, room = (seen.ask(f"{CARD}.querySelector('pre.screen').{each}") for each in ("scrollWidth", "clientWidth"))
    assert wide <= room


def test_on_a_phone_the_outputs_are_in_sight(seen: Browser, report: Path) -> None:
    """The table of inputs and outputs is as wide as the window: nothing has to be moved sideways."""
    opened(seen, report, 390)
    told = f"{CARD}.querySelector('pre.phone')"
    assert "outputs" in seen.ask(f"{told}.innerText")
    assert seen.ask(f"{told}.scrollWidth <= {told}.clientWidth")
    assert seen.ask("document.documentElement.scrollWidth") <= 390
    assert seen.ask(f"{CARD}.querySelector('pre.screen').offsetParent") is None


def test_the_trace_is_a_link_beside_the_page(seen: Browser, report: Path) -> None:
    """A folder that is copied, or put on a server, keeps its links."""
    opened(seen, report)
    href = seen.ask(f"[...{CARD}.querySelectorAll('a')].at(-1).getAttribute('href')")
    assert "/" not in href
    assert (report.parent / href).is_file()


def test_each_path_has_its_title_and_begins_at_the_top(seen: Browser, report: Path) -> None:
    """The way back and the verdict are in sight, however far down the link was."""
    opened(seen, report)
    seen.ask("scrollTo(0, 10000)")
    seen.ask("[...document.querySelectorAll('#paths a')].at(-1).click()")
    seen.until("document.querySelector('#chart svg')")
    assert seen.ask("scrollY") == 0
    assert seen.ask("document.title") == "path-5 (fail), otf report: coffee"
    seen.ask("location.hash = '#paths'")
    seen.until("document.title === 'otf report: coffee'")


def test_bytes_of_text_are_shown_as_text(seen: Browser, report: Path) -> None:
    """Hexadecimal is one click away; other bytes are hexadecimal at once."""
    opened(seen, report, at="#path-1/step-1")
    assert seen.ask("document.querySelector('#details pre.text').textContent") in {"coin 5", "coin 10", "button"}
    assert seen.ask("document.querySelector('#details .hex pre').textContent").startswith("0000  ")
    assert seen.ask("shownBytes('00ff', 2).className") == "bytes"
    assert seen.ask("shownBytes('6f6b0d0a', 4).querySelector('pre').textContent") == "ok\\r\\n"


def test_a_card_has_the_bytes_of_the_output(report: Path, tmp_path: Path) -> None:
    """The words of a failure end with what came on the wire, as in the terminal; what did not come has no bytes."""
    assert "its bytes:       63 6f 66 66 65 65  &#x27;coffee&#x27;" in report.read_text(encoding="utf-8")
    trace = Path(__file__).parents[1] / "cli" / "golden" / "conference.jsonl"
    (tmp_path / "path-0001.jsonl").write_bytes(trace.read_bytes())
    assert otf("report", tmp_path).status == 0
    assert "its bytes:" not in (tmp_path / "report.html").read_text(encoding="utf-8")


BURST = """(() => {
  const sent = (port, step) => ({ kind: "sent", port, step, text: "x", at: step });
  const [stall, quiet] = [{ kind: "stalled", at: 2, text: "s" }, { kind: "quiet", at: 4 }];
  const events = [sent("a", 1), sent("b", 2), stall, stall, quiet, sent("a", 3), quiet];
  const chart = drawChart({ events, failure: null, values: [] });
  const labels = [...chart.querySelectorAll(".label")].map(each => each.textContent);
  const path = { events, failure: null, values: [] };
  const steps = [1, 5].map(at => stepItem(path, { number: at, events: [at] }).textContent);
  return [chart.querySelectorAll(".burst").length, labels, steps];
})()"""


def test_a_burst_has_a_bar_and_stalls_are_one_row(seen: Browser, report: Path) -> None:
    """Inputs that were sent at once stand together, and a busy machine does not hide them."""
    opened(seen, report)
    bars, labels, steps = seen.ask(BURST)
    assert ["(at once)" in each for each in steps] == [True, False]
    assert bars == 2
    assert "the machine stalled 2 times" in labels
    assert len(labels) == 6


def test_lines_have_the_colours_of_the_terminal() -> None:
    """Red is red in both, and green is green."""
    for line in explanation(Verdict("fail", failure()), EVENTS).splitlines():
        style = next((style for style, pattern in _STYLES if pattern.match(line)), "").split(" ")[-1]
        tone = next((tone for tone, pattern in TONES if pattern.match(line)), None)
        assert {"red": "fail", "green": "pass"}.get(style) == tone, line
    shown = ReportedFailure(failure(), "path-1.jsonl", 2, EVENTS)
    assert '<span class="fail">  seen:' in failures(gathered(found=shown), ())


AXE = """
axe.run(document, { resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } })
  .then(found => found.violations.map(each => [each.id, each.nodes.map(node => node.html.slice(0, 120))]))
"""


def _several(out: Path) -> None:
    """A live page and a report, each with a failure and a known issue."""
    words = explanation(Verdict("fail", failure()), EVENTS)
    lines = {"wrong": toned(words), "known issue": toned(as_known(words), excused=True)}
    told = [{"what": what, "of": "1 path", "story": [each] * 2, "commands": []} for what, each in lines.items()]
    figures = LiveFigures(Campaign(bench(), Settings(out=out / "other")), Listener())
    state = {**figures.state(), "failures": told}
    (out / "several.html").write_text(live_page("coffee", state), encoding="utf-8")
    made = gathered(found=ReportedFailure(failure(), "path-1.jsonl", 2, EVENTS))
    made.known_issues = ("it is loud",)
    made.excuse("it is loud", ReportedFailure(failure(), "path-2.jsonl", 2, EVENTS))
    text = page(made).replace("<details>", "<details open>")
    (out / "known.html").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def pages(report: Path) -> Mapping[str, tuple[Path, str]]:
    """Each kind of page, and where in it."""
    out = report.parent
    assert otf("explore", "coffee", "--page", out / "explore.html").status == 0
    assert otf("compare", out, out, "--page", out / "compare.html").status == 0
    run = ("run", "coffee", "--seed", 1, "--traces", 1, "--steps", 5, "--no-saved", "--keep", "failures")
    otf(*run, "--out", out.parent / "other", "--page", out / "live.html")
    _several(out)
    pages = {each: (out / f"{each}.html", "") for each in ("report", "explore", "compare", "live", "several", "known")}
    return {**pages, "explore": (out / "explore.html", "#state-2/2.1.1.1"), "viewer": (report, "#path-1.strict.shrunk")}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["report", "viewer", "explore", "compare", "live", "several", "known"])
def test_axe_finds_nothing(seen: Browser, pages: Mapping[str, tuple[Path, str]], kind: str, *, dark: bool) -> None:
    """Labels, order of headings, contrast, roles: as the common checker of accessibility sees them."""
    axe = pytest.importorskip("axe_core_python", reason="axe-core-python is not installed")
    page, at = pages[kind]
    seen.size(1280, dark=dark)
    seen.open(page, at, {"report": "document.querySelector('svg.chart')", "viewer": "open"}.get(kind, "true"))
    seen.ask((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + "; true")
    assert seen.ask(AXE) == []
