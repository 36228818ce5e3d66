"""The figures of a running campaign, from its events; what a pipe and a terminal show of them."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from pathlib import Path

import pytest

from otf.campaign import Budget, FailureGroup, Settings, Summary
from otf.campaign.settings import UNLIMITED
from otf.cli.benches import load
from otf.cli.figures import Figures
from otf.cli.progress import Moving, Reporting, ShrinkFigures, board, heartbeat, listening, working
from otf.cli.summary import SummaryPrinter
from otf.core import Model, Monitor, Oracle, Routes, View
from otf.spec import Spec, Transition, goto
from otf.trace.events import Guess, Quiet, Seen, Sent
from tests.cli.test_summary import PATH, SIGNATURE


def step(state: int, inp: str) -> list[Transition[int]]:
    """Count; a toss may or may not."""
    return [goto(state + 1, "ok")] if inp == "count" else [goto(state), goto(state + 1)]


ORACLE = Oracle(Model(Spec(step, 0, ["count", "toss"]), Routes(("p",), lambda _value: "p")))


def offered(monitor: Monitor) -> View:
    """Return the view of the enabled inputs."""
    return ORACLE.view(monitor.belief)


def figures(**settings: float) -> Figures:
    """Return the figures of a campaign of 2 paths of 5 steps."""
    return Figures(Settings(**{"out": Path("out"), "traces": 2, "steps": 5, **settings}))  # type: ignore[arg-type]


def driven() -> Figures:
    """Return the figures after two inputs, of which the second leaves two states."""
    told, monitor = figures(), Monitor(ORACLE)
    for event in (Sent("count", "p", 1.0), Seen("ok", "p", 1.5), Quiet(3.0), Sent("toss", "p", 3.0), Quiet(5.0)):
        if isinstance(event, Sent):
            told.enabled(1, offered(monitor))
        told.event(1, event)
        assert monitor.tell(event) is None
    told.enabled(1, offered(monitor))
    return told


def test_states_behind_a_failure_are_not_met() -> None:
    """They are guessed, as in the report; the next path of that lane is certain again."""
    told, monitor = figures(), Monitor(ORACLE)
    told.event(1, Guess(1.0))
    told.enabled(1, offered(monitor))
    assert not told.met
    told.path(1, 1, failed=True)
    told.enabled(1, offered(monitor))
    assert len(told.met) == 1


def test_what_is_counted() -> None:
    """Steps, the share of time spent waiting for quiescence, states, and inputs with the states they were sent in."""
    assert list(driven().lines(10.0)) == [
        "2 steps, 0.2 a second",
        "waiting for quiescence: 88 % of the time; possible states now: 2",
        "met: 2 states, 2 inputs, 2 pairs of both",
        "0 failures",
    ]


def test_where_the_state_is_not_certain_nothing_is_met() -> None:
    """An input sent in one of two possible states counts for neither."""
    told = driven()
    told.event(1, Sent("count", "p", 5.0))
    assert (told.steps, len(told.pairs), len(told.inputs)) == (3, 2, 2)


def test_a_path_that_ends_early_counts_whole() -> None:
    """The time left is estimated from the share of the campaign that is done, once a path has ended."""
    told = driven()
    assert told.left(7.0) is None
    told.path(1, 2, failed=True)
    assert (told.failures, told.left(7.0)) == (1, 7.0)
    told.event(2, Sent("count", "p", 0.1))
    assert told.left(6.0) == 4.0


def test_nothing_is_known_at_first() -> None:
    """Before the first input the only estimate is the time limit."""
    assert figures().left(3.0) is None
    assert next(figures().lines(0.0)) == "0 steps, 0.0 a second"
    assert figures(time=10.0).left(3.0) == 7.0
    assert figures(time=10.0).left(12.0) == 0.0


def test_a_campaign_with_more_steps_than_planned_has_no_negative_time_left() -> None:
    """Paths that are longer than planned, or driven again, say nothing of what is left; it was "about -2 s left"."""
    told = figures()
    told.path(1, 5, failed=False)
    for _ in range(6):
        told.event(2, Sent("count", "p", 0.1))
    assert next(told.lines(10.0)) == "11 steps, 1.1 a second"


def test_paths_that_workers_drive() -> None:
    """Their inputs do not come here, so nothing is said of them; it was said that no path had begun."""
    told = figures()
    told.path(1, 5, failed=False)
    assert list(told.lines(5.0)) == ["5 steps, 1.0 a second, about 5 s left", "0 failures"]


def test_the_rate_of_the_paths_is_no_estimate_of_shrinking() -> None:
    """While a failure is shrunk, the seconds of its budget are shown, and nothing is said of an end."""
    told = driven()
    told.shrinking = True
    assert next(told.lines(10.0)) == "2 steps, 0.2 a second"


def test_the_time_given_ends_it_earlier() -> None:
    """The earlier end counts."""
    told = figures(time=11.0)
    told.event(1, Sent("count", "p", 0.0))
    assert told.left(10.0) == 1.0


def test_time_alone_bounds_it() -> None:
    """Without a number of paths the time that is left is the estimate, and no number of paths is shown."""
    told = figures(time=600.0, traces=UNLIMITED)
    told.event(1, Sent("count", "p", 0.0))
    assert told.left(10.0) == 590.0
    reporting = Reporting(replace(SETTINGS, traces=UNLIMITED), summary_of(), None)
    assert reporting.line == "3 paths, 27 steps, 1 kind of failure"


SETTINGS = Settings(out=Path("out"), reference="coffee", traces=20, budget=Budget(1000, seconds=600.0))


def summary_of(paths: int = 3) -> Summary:
    """A campaign with one failure so far."""
    return Summary(paths=paths, steps=27, failures={SIGNATURE: FailureGroup(SIGNATURE, PATH, 2)})


def test_a_line_says_what_a_campaign_has_done() -> None:
    """The counts, and while a failure is shrunk how far that has got."""
    reporting = Reporting(SETTINGS, summary := summary_of(), None)
    assert reporting.line == "3 of 20 paths, 27 steps, 1 kind of failure"
    reporting.shrinking(summary.failures[SIGNATURE], 4, 100)
    assert "; shrinking, 9 -> 4 steps (Ctrl-C keeps 4); left: 900 inputs, 600 s" in reporting.line
    reporting.failure(summary.failures[SIGNATURE])
    assert "shrinking" not in reporting.line


def test_a_path_that_lasts_for_hours_has_steps_in_a_pipe() -> None:
    """Steps of a path under way count until it ends, and then stand in the summary."""
    reporting = Reporting(SETTINGS, summary := summary_of(), None)
    for _ in range(3):
        reporting.event(PATH.number, Sent("a", "port", 0.0))
        reporting.event(PATH.number, Quiet(0.1))
    assert reporting.line == "3 of 20 paths, 30 steps, 1 kind of failure"
    reporting.path(PATH, summary)
    assert reporting.line.startswith("3 of 20 paths, 27 steps, 1 kind of failure: ")


def test_the_budget_that_is_left() -> None:
    """Seconds are left out where they are not the bound; a budget that is overdrawn has nothing left."""
    figures = ShrinkFigures(Budget(1000), timed=False)
    assert figures.text(9, 1, 1001) == "shrinking, 9 -> 1 step (Ctrl-C keeps 1); left: 0 inputs"


def test_which_of_several_failures_is_shrunk() -> None:
    """Each has its number."""
    summary = summary_of()
    other = FailureGroup(replace(SIGNATURE, kind="missing"), PATH)
    summary.failures[other.signature] = other
    reporting = Reporting(SETTINGS, summary, None)
    reporting.shrinking(other, 4, 100)
    assert "; 2 of 2: shrinking" in reporting.line


def test_a_pipe_gets_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """It goes to standard error, as long as the work lasts and no longer."""

    async def work() -> None:
        twice = asyncio.Event()
        lines = iter(["3 paths", "4 paths"])

        def line() -> str:
            text = next(lines)
            if text == "4 paths":
                twice.set()
            return text

        with heartbeat(line, every=0.0):
            await twice.wait()
        await asyncio.sleep(0)
        assert capsys.readouterr().err == "otf: 3 paths\notf: 4 paths\n"

    asyncio.run(work())
    assert capsys.readouterr().err == ""


def test_a_short_command_says_nothing_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    """The first line comes after a minute."""

    async def work() -> None:
        with working(lambda: "at work"), listening(SETTINGS, summary_of(), None, quiet=True) as listener:
            assert isinstance(listener, Reporting)
            await asyncio.sleep(0)

    asyncio.run(work())
    assert capsys.readouterr().err == ""


def test_a_start_that_failed_is_shown_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a pipe it is a line; on a terminal it is above the board."""
    reporting = Reporting(SETTINGS, summary := Summary(), None)
    reporting.failed_start(7, "the port is in use", 0.44)
    reporting.failed_start(7, "the port is in use", 12.4)
    first, again = capsys.readouterr().err.splitlines()
    assert first == "otf: path 7: the port is in use; it is driven again in 0.44 s"
    assert again == "otf: path 7: as before; it is driven again in 12 s"
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with board(told := Figures(SETTINGS), 0.0) as bars:
        moving = Moving(SETTINGS, summary, None, told, bars, bars.add_task("paths", total=20, more=""))
        moving.failed_start(7, "the port is in use", 12.4)
    assert "path 7: the port is in use; it is driven again in 12 s" in terminal.getvalue()


class Terminal(io.StringIO):
    """A terminal, for all that a program can ask."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_failure_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is explained above the board when its path ends, and printed as a result once it is shrunk."""
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    summary = Summary()
    printer = SummaryPrinter(summary, SETTINGS, load("coffee"))
    with board(told := Figures(SETTINGS), 0.0) as bars:
        moving = Moving(SETTINGS, summary, printer, told, bars, bars.add_task("paths", total=20, more=""))
        summary.add(PATH)
        moving.path(PATH, summary)
        shown = terminal.getvalue()
        moving.path(PATH, summary)
        moving.shrinking(summary.failures[SIGNATURE], 4, 100)
        assert capsys.readouterr().out == ""
        moving.failure(summary.failures[SIGNATURE])
    assert "path 1 failed after 9 steps" in shown
    assert shown.rpartition("path 1 failed")[2].count("1 failure") == 1, "the board below it counts it"
    assert "'tea'  (on slot)" in shown
    assert terminal.getvalue().count("path 1 failed") == 1
    assert capsys.readouterr().out.splitlines()[2] == "failed on 1 of 1 path, first after 9 steps"


def test_a_long_line_of_a_failure_stays_indented(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the board, too, later parts of a line stand below its first."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    summary = Summary()
    with board(told := Figures(SETTINGS), 0.0) as bars:
        printer = SummaryPrinter(summary, SETTINGS, load("coffee"))
        moving = Moving(SETTINGS, summary, printer, told, bars, bars.add_task("paths", total=20, more=""))
        summary.add(PATH)
        moving.path(PATH, summary)
    assert "\nFAIL (wrong): 'coin' -> expected str,\n  seen 'tea'\n" in terminal.getvalue()


def test_the_next_line_of_a_pipe_names_a_new_failure() -> None:
    """Once, before it is shrunk: that may take minutes."""
    reporting = Reporting(SETTINGS, summary := Summary(), None)
    for _ in range(2):
        summary.add(PATH)
        reporting.path(PATH, summary)
    assert ", 1 kind of failure: FAIL (wrong): 'coin' -> expected " in reporting.line
    assert reporting.line.endswith(", 1 kind of failure")


def test_a_terminal_shows_work_that_is_no_campaign(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its line is on the terminal while it lasts."""
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    with working(lambda: "driving it again\x1b[2J"):
        pass
    assert "driving it again\\x1b[2J" in terminal.getvalue()
