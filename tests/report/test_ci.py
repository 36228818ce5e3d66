"""For continuous integration: JUnit XML, and the annotations and step summary of GitHub."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from otf.report import PathSummary, ReportedFailure, github, junit, markdown
from tests.report.runs import EVENTS, HOSTILE, failure, gathered, parsed

FOUND = ReportedFailure(failure(), "out/path-0002.jsonl", 2, EVENTS)
SIGNATURE = str(FOUND.failure.signature)
TITLE = "wrong: button -> expected coffee, seen tea"
PATHS = (
    PathSummary(1, "path-0001.jsonl", "pass", 50, 0.5),
    PathSummary(2, "path-0002.jsonl", "fail", 2, 0.25, signature=SIGNATURE),
    PathSummary(3, "path-0003.jsonl", "inconclusive", 9, 0.1, why="the line was lost"),
    PathSummary(4, "path-0004.jsonl", "pass", 1, 0.1, known_issue="it is slow"),
)


def test_junit() -> None:
    """A case for the bench, and one for each kind of failure and each known issue, under names that stay the same."""
    made = gathered(*PATHS, found=replace(FOUND))
    made.known_issues = ("it is slow", "it is loud")
    made.excused = {"it is slow": FOUND}
    made.parts = {"start": 0.5, "paths": 0.75}
    suite = parsed(junit(made))[0]
    numbers = {name: suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped", "time")}
    assert numbers == {
        "name": "otf.coffee", "tests": "4", "failures": "1", "errors": "0", "skipped": "2", "time": "1.250000"
    }  # fmt: skip
    assert {case.get("classname") for case in suite.iter("testcase")} == {"otf.coffee"}
    bench, failed, known, other = suite.findall("testcase")
    assert (bench.get("name"), bench[0].tag, bench[0].get("message")) == (
        "coffee",
        "skipped",  # the failure is a case of its own, and counts once
        "FAIL: 1 kind of failure",
    )
    assert (bench.findtext("system-out") or "").splitlines() == [
        "4 paths, 62 steps, 1.2 s, seed 7",
        "paths: 1 passed, 1 failed, 1 showed a known issue, 1 inconclusive",
        "known issue (1 path): it is slow; trace: out/path-0002.jsonl",
        "inconclusive (1 path): the line was lost; trace: path-0003.jsonl",
    ]
    assert failed.get("name") == SIGNATURE
    assert failed[0].attrib == {"message": TITLE, "type": "wrong"}
    assert "possible state: 1" in (failed[0].text or "")
    assert "allows:        coffee" in (failed[0].text or "")
    assert "shown by: 1 path, trace: out/path-0002.jsonl" in (failed[0].text or "")
    assert (known.get("name"), known[0].tag) == ("known issue: it is slow", "skipped")
    assert known[0].get("message") == "known issue (1 path): it is slow"
    assert (known.findtext("system-out") or "").startswith("known issue (wrong): button -> ")
    assert "FAIL" not in (known.findtext("system-out") or "")
    assert (other.get("name"), other[0].tag) == ("known issue: it is loud", "system-out")
    shown = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert shown == {
        "verdict": "fail",
        "seed": "7",
        "strategy": "random",
        "mode": "eager",
        "steps": "62",
        "parameter.fault": "free",
    }


def test_a_campaign_that_decided_nothing_is_an_error() -> None:
    """The case of the bench says why; a lost contact is named as well."""
    made = gathered(PATHS[2])
    made.trouble = "nothing listens there"
    suite = parsed(junit(made))[0]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "1")
    (only,) = suite.findall("testcase")
    assert (only[0].tag, only[0].get("type")) == ("error", "inconclusive")
    assert "stopped: nothing listens there" in (only[0].text or "")


def test_annotations() -> None:
    """An error for each kind of failure, a warning for each reason to be inconclusive, a notice of the whole."""
    made = gathered(*PATHS, found=replace(FOUND))
    error, warning, notice = github(made).splitlines()
    assert error.startswith("::error title=otf%3A wrong%3A button -> expected coffee%2C seen tea::FAIL (wrong): ")
    assert error.endswith("%0Ashown by: 1 path, trace: out/path-0002.jsonl")
    assert warning == "::warning title=otf%3A 1 path inconclusive::the line was lost%0Atrace: path-0003.jsonl"
    assert notice.startswith(
        "::notice title=otf%3A coffee::FAIL: 1 kind of failure (4 paths, 62 steps, seed 7)%0Apaths: "
    )
    made.source = ("models/my,model.py", 12)
    assert all(" file=models/my%2Cmodel.py,line=12,title=" in line for line in github(made).splitlines())


def test_markdown() -> None:
    """The verdict, each kind of failure with its explanation to unfold, and the counts."""
    text = markdown(gathered(*PATHS, found=replace(FOUND, count=0)))
    assert "<h3>coffee: FAIL: 1 kind of failure</h3>" in text
    assert f"<details><summary><code>{escape(TITLE)}</code> (a run of its own, 2 steps)</summary>\n\n<pre>" in text
    assert "shown by: a run of its own, trace: out/path-0002.jsonl</pre>\n\n</details>" in text
    assert "<li>paths: 2 passed, 1 showed a known issue, 1 inconclusive</li>" in text


def test_markdown_has_a_bound() -> None:
    """A summary of a step may have a megabyte: some kinds of failure are shown, the others are counted."""
    made = gathered()
    for number in range(40):
        made.failed(ReportedFailure(failure(why=str(number)), "a", 2, EVENTS))
    text = markdown(made)
    assert text.count("<details>") == 30
    assert "… and 10 other kinds of failure" in text


def test_what_a_system_says_is_no_command() -> None:
    """Neither in XML nor for GitHub, where a new line would begin another command."""
    evil = f"{HOSTILE}\n::set-env name=PATH::x]]>"
    found = ReportedFailure(failure(seen=evil, why=evil), evil, 2, EVENTS)
    path = PathSummary(1, evil, "fail", 2, 0.1, signature=str(found.failure.signature))
    unsure = PathSummary(2, evil, "inconclusive", 2, 0.1, why=evil)
    made = gathered(path, unsure, found=found, bench=evil)
    assert len(parsed(junit(made))[0].findall("testcase")) == 2
    shown = markdown(made)
    assert "<script" not in shown
    assert "<img" not in shown
    # each block is HTML, in which Markdown has no meaning; only <pre> may have empty lines
    assert not re.search(r"\n\n(?!<)", re.sub(r"<pre>.*?</pre>", "<pre>", shown, flags=re.DOTALL).strip())
    lines = github(made).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::notice"]
    assert "\x1b" not in "".join(lines)
