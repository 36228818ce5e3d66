"""`otf run --page`: the page about a campaign while it runs, who may read it, and what it becomes."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Generator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

from otf.campaign import Campaign, FailureGroup, Listener, PathResult, Settings, Summary
from otf.campaign.results import KnownIssueCount
from otf.campaign.settings import UNLIMITED, Workers
from otf.campaign.summary import callback
from otf.cli.summary import SummaryPrinter
from otf.cli.tools.live import CLIENTS, LivePage, live
from otf.cli.tools.live_figures import ENDED, LAST, POINTS, LiveFigures
from otf.core import Model, Oracle, View
from otf.errors import UsageError
from otf.models.coffee import bench, coffee
from otf.report.live import live_page
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken
from otf.trace.verdict import Failure, Signature, Verdict
from tests.cli.command import failed, otf
from tests.report.browser import CHROMIUM, browser
from tests.report.runs import HOSTILE


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """A campaign that has not begun."""
    return Campaign(bench(), Settings(out=tmp_path / "out", traces=4, reference="coffee"))


FAILURE = Failure(Signature("wrong", "int", "Button", "Coffee", "Tea"), 3, 2, "Button()", "Tea()", "line")


def view() -> View:
    """What a chooser sees at the start of a coffee machine."""
    oracle = Oracle(Model(coffee))
    return oracle.view(oracle.start())


def result() -> PathResult:
    """A path of 20 steps."""
    return PathResult(1, Verdict("pass"), 20, Path("out/path-0001.jsonl"))


def told(state: dict[str, Any]) -> list[tuple[str, str]]:
    """The failures of a page, with their paths."""
    return [(each["what"], each["of"]) for each in state["failures"]]


def test_the_figures(campaign: Campaign) -> None:
    """Steps, states that were certain, the possible ones now, and the failures with their paths."""
    figures = LiveFigures(campaign, Listener())
    assert (figures.state()["steps"], figures.state()["possible"], figures.state()["left"]) == (0, [], None)
    figures.enabled(1, view())
    campaign.summary.add(result())
    signature = Signature("wrong", "int", "Button", "Coffee", "Tea")
    campaign.summary.failures[signature] = FailureGroup(signature, result())
    state = figures.state()
    assert (state["steps"], state["met"], state["possible"], state["paths"]) == (20, 1, ["0"], 1)
    assert told(state) == [(str(signature), "1 of 1 path")]
    assert state["left"] > 0


def test_a_known_issue_has_the_verdict_of_the_terminal(campaign: Campaign) -> None:
    """The page says and paints what the summary says."""
    campaign.summary.known_issues.append(KnownIssueCount("it is loud", 1))
    campaign.summary.add(result())
    state = LiveFigures(campaign, Listener()).state()
    assert (state["ruling"], state["tone"], state["known"]) == ("pass, 1 known issue", "known", 1)
    assert told(state) == [("known issue: it is loud", "1 of 1 path")]


def test_figures_of_a_time(tmp_path: Path) -> None:
    """Without a number of paths none is shown, and the time that is left is the estimate."""
    timed = Campaign(bench(), Settings(out=tmp_path / "out", traces=UNLIMITED, time=3600.0))
    timed.summary.add(result())
    state = LiveFigures(timed, Listener()).state()
    assert state["traces"] is None
    assert 3500 < state["left"] <= 3600


def test_the_time_left_while_a_failure_is_shrunk(tmp_path: Path) -> None:
    """The time of the campaign bounds shrinking, too."""
    timed = Campaign(bench(), Settings(out=tmp_path / "out", traces=UNLIMITED, time=3600.0))
    figures, failing = LiveFigures(timed, Listener()), replace(result(), verdict=Verdict("fail", FAILURE))
    figures.shrinking(FailureGroup(FAILURE.signature, failing), 9, 7)
    state = figures.state()
    assert (state["bounds"], 3500 < state["left"] <= 3600) == (False, True)


def test_the_curve_is_bounded(campaign: Campaign) -> None:
    """Of a long campaign every second point is dropped, the first and the last stay."""
    figures = LiveFigures(campaign, Listener())
    for _ in range(10 * POINTS):
        figures.enabled(1, view())
        figures.sample()
    state = figures.state()
    assert len(state["growth"]) <= POINTS + 1
    assert (state["growth"][0], state["growth"][-1][0]) == ((0, 0), state["steps"])


def test_a_tile_and_the_chart_show_the_same_steps(campaign: Campaign) -> None:
    """Between two samples as well: the curve ends with the figures of now."""
    figures = LiveFigures(campaign, Listener())
    for number in (1, 1, 1, 2, 2):
        figures.enabled(number, view())
    campaign.summary.add(result())
    figures.path(result(), campaign.summary)
    state = figures.state()
    assert state["steps"] == 20 + 1  # those of path 1, and one on path 2, whose second input is only chosen
    assert state["growth"] == [(0, 0), (21, 1)]


def test_the_curve_never_goes_back(campaign: Campaign) -> None:
    """A path that failed counts the steps of its strict run: a longer part of the curve would leave the chart."""
    figures = LiveFigures(campaign, Listener())
    for _ in range(30):
        figures.enabled(1, view())
        figures.sample()
    campaign.summary.add(result())
    figures.path(result(), campaign.summary)
    steps = [each for each, _ in figures.state()["growth"]]
    assert (steps, steps[-1]) == ([0, *range(21)], figures.state()["steps"])
    figures.sample()
    assert figures.state()["growth"][-1] == (20, 1)


def test_states_that_are_made_anew(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    """They count once, however often a model forgets them, and the table of known ones is bounded."""
    monkeypatch.setattr("otf.cli.tools.live_figures.KNOWN", 3)
    figures = LiveFigures(campaign, Listener())
    for _ in range(10):
        figures.enabled(1, view())
    assert figures.state()["met"] == 1


def test_another_listener_is_notified_as_before(campaign: Campaign) -> None:
    """One that takes events gets them; for any other the campaign is asked for none, since each would cost time."""
    page, noting = LivePage(campaign, "coffee", None), Mock(spec=Listener)
    watching = page.watch(noting)
    group = FailureGroup(Signature("wrong", "int", "Button", "Coffee", "Tea"), result())
    watching.enabled(1, view())
    watching.event(1, Sent("coin", "slot", 0.0))
    watching.path(result(), Summary())
    watching.failed_start(2, "the port is in use", 0.5)
    watching.shrinking(group, 3, 7)
    called = [call[0] for call in noting.method_calls]
    assert called == ["enabled", "event", "path", "failed_start", "shrinking"]
    assert isinstance(watching, LiveFigures)
    assert watching.state()["now"].endswith("20 -> 3 steps, 7 inputs sent")
    watching.failure(group)
    noting.failure.assert_called_once_with(group)
    page.end(lambda: "the report")
    assert callback(LiveFigures(campaign, Listener()), "event", 1) is None


def test_what_a_system_says_is_data() -> None:
    """A failure whose text ends a script ends none."""
    written = live_page(HOSTILE, {"failures": [HOSTILE]})
    assert re.findall("<script[^>]*>", written) == ['<script type="application/json" id="live-data">', "<script>"]
    assert "<img" not in written


def test_a_figure_is_read_apart_from_its_label() -> None:
    """There is a space between them for whoever copies the page or has it read aloud."""
    assert '<b id="steps"></b> <span>steps</span>' in live_page("coffee")


class Address(NamedTuple):
    """Where a page is: its port, and the query that has its token."""

    port: int
    query: str


@pytest.fixture
def served(campaign: Campaign) -> Generator[tuple[LivePage, Address]]:
    """A page behind a free port."""
    told: list[str] = []
    with live("0", campaign, "coffee", told.append) as page:
        found = re.fullmatch(r"page: http://127\.0\.0\.1:(\d+)/\?(token=[0-9a-f]{32})", told[0])
        assert found is not None
        yield page, Address(int(found[1]), found[2])


def asked(at: Address, path: str = "/", method: str = "GET", hosts: tuple[str, ...] = ()) -> tuple[int, str]:
    """Ask for a path; return the status and the body."""
    connection = HTTPConnection("127.0.0.1", at.port, timeout=10)
    connection.putrequest(method, f"{path}?{at.query}", skip_host=bool(hosts))
    for host in hosts:
        connection.putheader("Host", host)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


@pytest.mark.real
def test_only_this_machine_is_answered(served: tuple[LivePage, Address]) -> None:
    """A page of another site that had its own name point here is refused; there are two paths, and only GET."""
    at = served[1]
    own = f"localhost:{at.port}"
    assert asked(at)[0] == asked(at, hosts=(own,))[0] == 200
    others = [("evil.example",), (f"evil.example:{at.port}",), ("127.0.0.1",), (own, "evil.example"), (own, own)]
    assert [asked(at, hosts=hosts)[0] for hosts in others] == [403] * 5
    assert [asked(at, path)[0] for path in ("/x", "/../../etc/passwd", "/state.json/")] == [404] * 3
    assert [asked(at, method=method)[0] for method in ("POST", "PUT", "HEAD")] == [501] * 3
    assert json.loads(asked(at, "/state.json")[1])["traces"] == 4


@pytest.mark.real
@pytest.mark.parametrize("query", ["", "token=", "token", "token=0", "x&token=0"])
def test_only_who_has_its_address_is_answered(served: tuple[LivePage, Address], query: str) -> None:
    """Other users of this machine can connect; without the token they get neither the page nor the figures."""
    wrong = served[1]._replace(query=query)
    for path in ("/", "/state.json", "/x"):
        status, body = asked(wrong, path)
        assert (status, "Open the whole address" in body, "coffee" in body) == (403, True, False)
    assert asked(served[1], "/state.json")[0] == 200


@pytest.mark.real
def test_it_ends_as_the_report(served: tuple[LivePage, Address]) -> None:
    """The same address has the report then, and the figures say so."""
    page, at = served
    page.watch(Listener())
    page.end(lambda: "the report")
    assert json.loads(asked(at, "/state.json")[1])["done"]
    assert asked(at) == (200, "the report")


@pytest.mark.real
def test_many_connections_are_refused(served: tuple[LivePage, Address]) -> None:
    """Idle ones take no more than their number of threads; a further one is closed at once."""
    _, (port, _) = served
    idle = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(CLIENTS)]
    with socket.create_connection(("127.0.0.1", port), timeout=10) as further:
        assert further.recv(1) == b""
    for each in idle:
        each.close()


@pytest.mark.real
def test_a_slow_client_is_cut_off(served: tuple[LivePage, Address], monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole request has a bound in time: bytes that come now and then do not keep a place."""
    monkeypatch.setattr("otf.cli.tools.live.PATIENCE", 0.05)
    with socket.create_connection(("127.0.0.1", served[1].port), timeout=3) as slow:
        slow.sendall(b"G")
        assert slow.recv(1) == b""


@pytest.mark.real
def test_a_port_that_is_taken(campaign: Campaign) -> None:
    """The message names another one."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        with pytest.raises(UsageError, match="0 takes a free one"), live(port, campaign, "coffee", print):
            pass
    with (
        pytest.raises(UsageError, match="cannot be used: a port from 0 to 65535 is needed;"),
        live("70000", campaign, "coffee", print),
    ):
        pass


def test_in_a_file(tmp_path: Path) -> None:
    """It is there from the beginning, and ends as the report of the campaign."""
    file = tmp_path / "page.html"
    done = otf("run", "coffee", "--seed", 1, "--traces", 2, "--no-saved", "--page", file, "--out", tmp_path / "out")
    assert (done.status, done.err) == (0, f"otf: page: {file}\n")
    assert "<h1>otf report: coffee</h1>" in file.read_text(encoding="utf-8")


def test_in_the_folder_of_the_traces(tmp_path: Path) -> None:
    """The page may be in the folder of the campaign, which the campaign makes."""
    file = tmp_path / "out" / "page.html"
    assert otf("run", "coffee", "--traces", 1, "--no-saved", "--page", file, "--out", tmp_path / "out").status == 0
    (tmp_path / "file").touch()
    told = failed("run", "coffee", "--page", tmp_path / "file" / "page.html", "--out", tmp_path / "other")
    assert told.endswith("page.html: it cannot be written (File exists); choose another file\n")


def test_where_no_trace_was_kept(tmp_path: Path) -> None:
    """There is no report; the page shows the last figures."""
    file = tmp_path / "page.html"
    more = ("--keep", "failures", "--out", tmp_path / "out")
    otf("run", "coffee", "--seed", 1, "--traces", 2, "--no-saved", "--page", file, *more)
    written = file.read_text(encoding="utf-8")
    assert '"done": true, "tone": "pass", "paths": 2' in written


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    """It is refused before anything is driven."""
    file = tmp_path / "mine.txt"
    file.write_text("mine", encoding="utf-8")
    assert "this file exists already" in failed("run", "coffee", "--page", file, "--out", tmp_path / "out")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.real
def test_in_a_browser(campaign: Campaign, tmp_path: Path) -> None:
    """The figures are shown as text, without an error, and a phone need not scroll to the side."""
    figures = LiveFigures(campaign, Listener())
    figures.enabled(1, view())
    figures.sample()
    lines = [[["fail", HOSTILE]]] * 2
    newest, known = (
        {"what": what, "of": "1 of 1 path", "story": lines, "commands": [["look at it", HOSTILE]]}
        for what in (HOSTILE, "known issue: it is loud")
    )
    state = {**figures.state(), "events": [HOSTILE], "failures": [newest, known], "done": True}
    file = tmp_path / "page.html"
    file.write_text(live_page(HOSTILE, state), encoding="utf-8")
    with browser(tmp_path / "profile") as seen:
        seen.size(390, dark=True)
        seen.open(file)
        assert seen.ask("document.getElementById('paths').textContent") == "0 of 4"
        assert seen.ask("document.querySelector('#failures summary').textContent").startswith("</script>")
        assert seen.ask("[...document.querySelectorAll('#failures details')].map(each => each.open)") == [True, False]
        assert seen.ask("document.querySelectorAll('#failures button').length") == 2
        assert seen.ask("document.documentElement.scrollWidth") <= 390
        assert seen.ask("document.getElementById('curve').getAttribute('points').split(' ').length") == 2
        assert (seen.ask("document.title").startswith("otf run: </script>"), seen.console) == (True, [])
        file.write_text(live_page("coffee", {**state, "done": False, "at": 0.0}), encoding="utf-8")
        seen.open(file)
        assert "the tester is gone" in seen.ask("document.getElementById('now').textContent")


def test_the_paths_under_way_are_named(campaign: Campaign) -> None:
    """Which paths run, at which step, and the seed: whoever watches can drive the same again."""
    watching = LiveFigures(campaign, Mock(spec=Listener))
    assert watching.state()["now"] == "waiting: the system is starting or not yet at rest, or a failure is driven again"
    watching.event(1, Quiet(0.1))
    assert watching.state()["now"] == "running: path 1, before its first input (seed 0)"
    for number in (1, 1, 2, 3, 4, 5):
        watching.enabled(number, view())
    told = "running: path 1, step 2; path 2, step 1; path 3, step 1; path 4, step 1; and 1 more (seed 0)"
    assert watching.state()["now"] == told


def test_the_path_of_a_failure_is_named(campaign: Campaign) -> None:
    """While its failure is confirmed, on whichever process, and while it is shrunk; then it is a path that failed."""
    inner = Mock(spec=Listener)
    watching = LiveFigures(campaign, inner)
    watching.enabled(2, view())
    watching.confirming(1)
    inner.confirming.assert_called_once_with(1)
    assert watching.state()["now"] == "running: path 1, its failure is being confirmed; path 2, step 1 (seed 0)"
    campaign.summary.add(failing := replace(result(), verdict=Verdict("fail", FAILURE)))
    watching.path(failing, campaign.summary)
    assert (watching.state()["now"], watching.state()["failed"]) == ("running: path 2, step 1 (seed 0)", 1)
    [group] = campaign.summary.failures.values()
    watching.shrinking(group, 1, 7)
    assert watching.state()["now"] == "shrinking the failure of path 1: 20 -> 1 step, 7 inputs sent"
    assert (watching.state()["bounds"], 590 < watching.state()["left"] <= 600) == (True, True)  # of the budget
    watching.failure(group)
    assert watching.state()["bounds"] is False
    assert watching.state()["now"] == "running: path 2, step 1 (seed 0)"


def test_states_of_a_small_model_are_a_share(campaign: Campaign) -> None:
    """The page says how many states there are, and how many of them were met."""
    watching = LiveFigures(campaign, Listener())
    assert watching.state()["states"] == 0
    watching.count_states()
    watching.enabled(1, view())
    assert (watching.state()["met"], watching.state()["states"]) == (1, 3)


class Hearing(Listener):
    """A listener that takes events, as those of the command do."""

    def event(self, number: int, event: Event) -> None:
        """Take it."""


def test_the_last_events_of_a_path(campaign: Campaign) -> None:
    """Those of the first path under way; between two paths, those of the one that ended."""
    watching = LiveFigures(campaign, Hearing())
    for at in range(LAST + 1):
        watching.event(1, Sent(at, "slot", 0.0))
    for event in (Seen("tea", "slot", 1.0), Closed("slot", "reset", 2.0), Quiet(3.0), Taken(1, 3.0)):
        watching.event(2, event)
    assert watching.state()["events"] == [f"-> {at}" for at in range(1, LAST + 1)]
    watching.path(result(), Summary())
    assert watching.state()["events"] == ["<- 'tea'", "<- the port slot ended: reset", "quiet"]
    watching.path(replace(result(), number=2), Summary())
    assert watching.state()["events"][0] == "<- 'tea'"


def test_nothing_is_judged_before_a_path_has_ended(campaign: Campaign) -> None:
    """The page says so, and why a path is not yet under way."""
    watching = LiveFigures(campaign, Listener())
    assert (watching.state()["ruling"], watching.state()["tone"]) == ("none yet", "")
    watching.failed_start(1, "the port is in use", 0.5)
    now = "path 1 could not reach the system, and is driven again in 0.5 s: the port is in use"
    assert watching.state()["now"] == now
    watching.enabled(1, view())
    assert watching.state()["now"] == "running: path 1, step 1 (seed 0)"
    campaign.summary.add(result())
    watching.path(result(), campaign.summary)
    assert (watching.state()["ruling"], "reach" in watching.state()["now"]) == ("pass", False)


def test_while_the_report_is_written_nothing_runs(campaign: Campaign, tmp_path: Path) -> None:
    """Of long paths that takes minutes: the page says so, and its time stands still."""
    page = LivePage(campaign, "coffee", tmp_path / "page.html")
    campaign.summary.parts.seconds["paths"] = 2.5
    seen: list[dict[str, Any]] = []

    def report() -> str:
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        seen.append(json.loads(re.findall(r'id="live-data">(.*?)</script>', text)[0]))
        return "the report"

    page.end(report)
    [shown] = seen
    assert (shown["now"], shown["seconds"], shown["done"]) == (ENDED, 2.5, False)


def test_states_that_workers_met(tmp_path: Path) -> None:
    """They drive the paths, so no view comes here: the states of their paths count, or the page says that none do."""
    workers = Workers(2, ("-m", "otf.cli.worker"), b"{}")
    campaign = Campaign(bench(), Settings(out=tmp_path / "out", workers=workers))
    watching = LiveFigures(campaign, Listener())
    assert (watching.state()["met"], watching.state()["now"]) == (0, "the paths run in 2 workers (seed 0)")
    campaign.summary.add(result())
    assert watching.state()["met"] is None
    campaign.summary.parts.tried(["a coin", "a button", "b coin"])
    assert watching.state()["met"] == 2


def test_a_failure_of_the_page_is_that_of_its_text(campaign: Campaign) -> None:
    """Its headline, its text and its commands are of one run, even if a later path failed in fewer steps."""
    printer = SummaryPrinter(campaign.summary, campaign.settings, campaign.bench)
    exact = Signature("unasked", "int", "Button()", "no output", "Coffee()")
    failure = Failure(exact, 3, 2, "Button()", "Coffee()", "")
    group = FailureGroup(exact, replace(result(), verdict=Verdict("fail", failure)))
    group.meet(replace(result(), number=2, steps=2, verdict=Verdict("fail", replace(failure, seen="Tea()"))))
    campaign.summary.failures[exact] = group
    figures = LiveFigures(campaign, Listener(), printer)
    (shown,) = figures.state()["failures"]
    assert shown["what"] == "unasked: Button() -> expected no output, seen Coffee()"
    assert shown["story"][0][0] == ("fail", "FAIL (unasked): Button() -> expected no output, seen Coffee()")
    assert shown["commands"][0] == ("look at it", "otf show out/path-0001.jsonl")
    assert figures.state()["commands"][1] == ("go on after a stop", f"otf run --resume {campaign.settings.out}")
