"""What a campaign that passed says of the model: what it came to, what it did not, and whether its goal was reached."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from otf.campaign import Campaign, Settings, Summary
from otf.campaign.results import FailureGroup
from otf.cli.visited import unreached
from otf.trace.verdict import Signature
from tests.cli.command import otf

pytestmark = pytest.mark.real
BENCH = """
from otf import Bench, Spec, goto

def bench(ring: int = 40, dead: bool = False, secret: bool = True):
    \"\"\"A ring of states; from the first a word leads aside.\"\"\"
    def step(state, inp):
        if dead or (inp == "aside" and state != "0"):
            return
        if inp == "aside":
            yield goto("aside" if secret else state, "there")
        else:
            yield goto(str((int(state) + 1) % ring) if state != "aside" else "0", "on")

    spec = Spec(step, "0", ["on", "aside"])

    def system():
        state = "0"
        def act(inp):
            nonlocal state
            ways = list(step(state, inp))
            state = ways[0].state
            return list(ways[0].outputs)
        return act

    return Bench.in_process(spec, system)
"""


def _said(folder: Path, *options: str) -> str:
    (folder / "ring.py").write_text(BENCH, encoding="utf-8")
    return otf("run", str(folder / "ring.py"), "--seed", "1", "--no-saved", "--out", str(folder / "out"), *options).out


def test_a_long_campaign_says_what_it_visited(tmp_path: Path) -> None:
    """By what its strategy counted, since judging all of it again would take the user's time; without traces, too."""
    said = _said(tmp_path, "--traces", "40", "--keep", "failures")
    assert "\ntried: 42 of 42 inputs in their states, in 41 of 41 states\n" in said


def test_what_was_not_reached_is_named(tmp_path: Path) -> None:
    """States and inputs, a few of many."""
    said = _said(tmp_path, "--traces", "1", "--steps", "2")
    assert "\nvisited: 2 of 41 states" in said
    assert said.split("\nnever in 39 of 41 states: '")[1].splitlines()[0].endswith(" and 36 more")
    long = _said(tmp_path, "--traces", "50", "--steps", "21", "--set", "ring=200", "--out", str(tmp_path / "long"))
    assert "\nno input was sent in " in long


def test_a_large_model_is_counted(tmp_path: Path) -> None:
    """Where not all of its states are known, by what was met alone."""
    said = _said(tmp_path, "--traces", "40", "--set", "ring=100000")
    assert " inputs in their states, in " in said
    assert "states: " not in said


def test_a_strategy_that_counts_nothing(tmp_path: Path) -> None:
    """The traces are judged; without them it is said that nobody counted."""
    assert "\nvisited: " in _said(tmp_path, "--traces", "40", "--strategy", "random")
    said = _said(tmp_path, "--traces", "4", "--strategy", "random", "--keep", "failures", "--out", str(tmp_path / "2"))
    assert "\nvisited: not counted, since random counts nothing and --keep failures kept no trace\n" in said


def test_a_goal_that_was_not_reached_is_said(tmp_path: Path) -> None:
    """A coverage, an uptime, and a number of paths that the time did not suffice for."""
    assert "\n--until states: not reached\n" in _said(tmp_path, "--traces", "1", "--steps", "2", "--until", "states")
    said = _said(tmp_path, "--until", "uptime=1h", "--time", "2s", "--out", str(tmp_path / "2"))
    assert "\n--until uptime=1h: not reached; the longest uptime is " in said
    said = _said(tmp_path, "--traces", "1000000", "--time", "2s", "--out", str(tmp_path / "3"))
    assert " of 1,000,000 paths\n" in said


def test_an_uptime_that_nothing_can_reach_ends(tmp_path: Path) -> None:
    """A model that can send nothing ends each path at once: after ten, the campaign ends and says why."""
    said = _said(tmp_path, "--until", "uptime=1h", "--set", "dead=true")
    assert said.startswith("INCONCLUSIVE: nothing was tested (10 paths")
    assert "not reached: path after path ended where the model has no input to send" in said


def test_an_uptime_that_a_failing_system_never_reaches(tmp_path: Path) -> None:
    """It is said how many paths ended before, and why no other begins."""
    settings = Settings(out=tmp_path)
    summary = Summary(paths=3, uptime=7.0)
    summary.failures[Signature("wrong", "s", "i", "a", "b")] = cast("FailureGroup", None)
    campaign = cast("Campaign", SimpleNamespace(summary=summary, settings=settings))
    [line] = unreached(campaign, "uptime=1h")
    assert line == (
        "--until uptime=1h: not reached: 3 paths ended before, and no other begins after that time; "
        "the longest uptime is 7.0 s"
    )


KNOWN = """
from itertools import chain, repeat

from otf import Bench, Spec, goto
from otf.adapter import KnownIssue

def system():
    answers = chain(["on", "on", "off"], repeat("on"))
    return lambda inp: [next(answers)]

spec = Spec(lambda state, inp: [goto((state + 1) % 9, "on")], 0, ["next"])
bench = Bench.in_process(spec, system, known_issues=(KnownIssue(lambda failure: True, "off at the third"),))
"""


def test_behind_a_known_issue_nothing_was_visited(tmp_path: Path) -> None:
    """There the state is guessed: the summary counts what the report counts, but an input that was sent was sent."""
    (tmp_path / "known.py").write_text(KNOWN, encoding="utf-8")
    call = ["--seed", "5", "--no-saved", "--traces", "2", "--out", str(tmp_path / "out")]
    said = otf("run", str(tmp_path / "known.py"), *call).out
    counts = otf("report", str(tmp_path / "out"), "--bench", str(tmp_path / "known.py"), "--json").data["visited"]
    assert (counts["states"]["visited"], counts["transitions"]["visited"]) == (3, 2)
    assert "\nvisited: 3 of 9 states, 2 of 9 transitions\n" in said
    assert "never sent" not in said
