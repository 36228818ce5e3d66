"""For continuous integration: JUnit XML and GitHub's annotations."""

from __future__ import annotations

from dataclasses import replace

from otf.report import PathSummary, ReportedFailure, github, junit
from tests.report.runs import EVENTS, HOSTILE, failure, gathered, parsed

FOUND = ReportedFailure(failure(), "out/path-0002.jsonl", 2, EVENTS)
SIGNATURE = str(FOUND.failure.signature)
PATHS = (
    PathSummary(1, "path-0001.jsonl", "pass", 50, 0.5),
    PathSummary(2, "path-0002.jsonl", "fail", 2, 0.25, signature=SIGNATURE),
    PathSummary(3, "path-0003.jsonl", "inconclusive", 9, 0.1, why="the line was lost"),
)


def test_junit() -> None:
    """A case for each path: a failure has its explanation, what was inconclusive is an error, which CI counts apart."""
    suite = parsed(junit(gathered(*PATHS, found=replace(FOUND))))[0]
    numbers = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "time")}
    assert numbers == {"name": "otf.coffee", "tests": "3", "failures": "1", "errors": "1", "time": "0.850000"}
    passed, failed, unsure = suite.findall("testcase")
    assert [child.tag for child in passed] == ["system-out"]
    assert (passed.get("name"), passed.get("classname"), passed.get("time")) == ("path 1", "otf.coffee", "0.500000")
    assert failed[0].attrib == {"message": SIGNATURE, "type": "wrong"}
    assert "possible state: 1" in (failed[0].text or "")
    assert "allows:        coffee" in (failed[0].text or "")
    assert (unsure[0].tag, unsure[0].get("message")) == ("error", "the line was lost")
    said = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert said == {"seed": "7", "strategy": "random", "mode": "eager", "steps": "61", "parameter.fault": "free"}


def test_annotations() -> None:
    """An error for each kind of failure, a warning for each path that decided nothing, a notice of the whole."""
    error, warning, notice = github(gathered(*PATHS, found=replace(FOUND))).splitlines()
    assert error.startswith("::error title=otf%3A wrong%3A int --str--> expected str%2C seen wrong::FAIL (wrong): ")
    assert error.endswith("%0Apaths with it: 1, trace: out/path-0002.jsonl")
    assert warning == "::warning title=otf%3A path 3 is inconclusive::the line was lost%0Atrace: path-0003.jsonl"
    assert notice == "::notice title=otf%3A coffee::fail: 3 paths, 61 steps, seed 7"


def test_what_a_system_says_is_no_command() -> None:
    """Neither in XML nor for GitHub, where a new line would begin another command."""
    evil = f"{HOSTILE}\n::set-env name=PATH::x]]>"
    found = ReportedFailure(failure(seen=evil, why=evil), evil, 2, EVENTS)
    path = PathSummary(1, evil, "fail", 2, 0.1, signature=str(found.failure.signature))
    unsure = PathSummary(2, evil, "inconclusive", 2, 0.1, why=evil)
    made = gathered(path, unsure, found=found, bench=evil)
    assert len(parsed(junit(made))[0].findall("testcase")) == 2
    lines = github(made).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert "\x1b" not in "".join(lines)
