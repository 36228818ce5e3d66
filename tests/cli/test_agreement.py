"""Every number that two outputs share is one number: terminal, JSON, JUnit, Markdown, page, live page.

Each kind of campaign is driven once, as a process of its own, and told in all ways.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from tests.cli.command import otf
from tests.cli.test_truth import BENCHES

pytestmark = pytest.mark.real
MORE = '''

def wide():
    """A model without an end: each state has an input of its own."""
    step = lambda state, inp: [goto(state + inp, Ok())]
    spec = Spec(step, 0, lambda state: [state + 1])
    return Bench(spec, ports={"p": inprocess(lambda: lambda _: b"ok")}, codec=lines({int: "{}", Ok: "ok"}), **TIMES)


def slow():
    """A step takes long enough to interrupt a path."""
    return replace(chancy(0.0), **{**TIMES, "quiescence": 0.05})
'''
KINDS: dict[str, tuple[str, ...]] = {
    "passing": ("chancy", "--set", "rate=0.0"),
    "failing": ("chancy", "--set", "kinds=3", "--budget", "60", "--mode", "strict"),
    "not shrunk": ("chancy", "--no-shrink", "--mode", "strict"),
    "a known issue": ("known", "--set", "rate=0.3"),
    "known and not": ("known", "--set", "kinds=3", "--mode", "strict"),
    "undecided": ("vague",),
    "only malformed inputs": ("chancy", "--malformed", "1.0"),
    "a model without an end": ("wide", "--traces", "40", "--steps", "60"),
    "several processes": ("chancy", "--processes", "2", "--jobs", "2", "--no-shrink", "--mode", "strict"),
    "only failures kept": ("chancy", "--keep", "failures"),
    "cut by its time": ("slow", "--time", "2", "--steps", "1000", "--mode", "strict"),
    "failing, and cut by its time": ("chancy", "--time", "3", "--steps", "200", "--budget", "200", "--mode", "strict"),
    "interrupted": ("slow", "--steps", "100000", "--mode", "strict"),
}
# their own tests drive these once, and look at more of them
ALSO_BELOW = {
    "a known issue",
    "a model without an end",
    "cut by its time",
    "failing, and cut by its time",
    "interrupted",
}


class Told(NamedTuple):
    """A campaign in all its outputs; `wall` is how long its process took."""

    run: dict[str, Any]
    wall: float
    report: dict[str, Any]
    said: str
    page: str
    junit: ET.Element
    markdown: str


def told(folder: Path, kind: str) -> Told:
    """Drive a campaign and report it."""
    (folder / "benches.py").write_text(BENCHES + MORE, encoding="utf-8")
    name, *options = KINDS[kind]
    bench = f"benches.py:{name}"
    first = [] if {"--traces", "--time"} & {*options} else ["--traces", "8"]
    call = [sys.executable, "-m", "otf", "run", bench, "--json", "--seed", "1", "--no-saved", "--out", "out"]
    began = monotonic()
    with subprocess.Popen([*call, *first, *options], stdout=subprocess.PIPE, text=True) as run:
        if kind == "interrupted":
            _wait_for(folder / "out" / "path-0001.jsonl", inputs=5)
            run.send_signal(signal.SIGINT)
        data = json.loads(run.communicate(timeout=120)[0])
    wall = monotonic() - began
    sets = [part for each in options if "=" in each for part in ("--set", each)]
    files = ("--junit", "x.xml", "--markdown", "x.md")
    said = otf("report", "out", "--bench", bench, *sets, *files).out
    report = otf("report", "out", "--bench", bench, *sets, "--json").data
    page = unescape((folder / "out" / "report.html").read_text(encoding="utf-8"))
    junit = ET.parse("x.xml").getroot()[0]  # noqa: S314 -- it is our own
    return Told(data, wall, report, said, page, junit, unescape((folder / "x.md").read_text(encoding="utf-8")))


def _wait_for(trace: Path, inputs: int) -> None:
    until = monotonic() + 60
    while monotonic() < until:
        if trace.is_file() and trace.read_bytes().count(b'"event":"sent"') >= inputs:
            return
    raise AssertionError


def tiles(page: str) -> dict[str, str]:
    """Return the tiles of a page by what they count, in the plural."""
    found = re.findall(r'class="card"><b>([^<]*)</b><span>([^<]*)<', page)
    assert [
        what for number, what in found if number == "1" and re.match(r"(path|step|kind|known issue)s\b", what)
    ] == []
    return {re.sub(r"^(path|step|kind|known issue|inconclusive path)\b", r"\1s", what): each for each, what in found}


def clashes(made: Told) -> Iterator[str]:
    """Yield every number that two outputs have differently."""
    for name in made.run.keys() & made.report.keys() - {"failures"}:
        if made.run[name] != made.report[name]:
            yield f"{name}: {made.run[name]} in the run, {made.report[name]} in the report"
    for each in made.report["failures"]:
        if each not in [{name: one[name] for name in each} for one in made.run["failures"]]:
            yield f"{each} is not among {made.run['failures']}"
    counts = len(made.run["failures"]), *(int(made.junit.get(name) or -1) for name in ("failures",))
    if len({*counts, len(made.report["failures"]), len([*made.junit.iter("failure")])}) > 1:
        yield f"failures: {counts}"
    ruling = next(each.get("value") for each in made.junit.iter("property") if each.get("name") == "verdict")
    if ruling != made.run["ruling"]:
        yield f"ruling: {ruling} in JUnit, {made.run['ruling']} in the run"
    for each in (each for each in made.run["departures"] if each["count"]):
        shown = f"known issue: {each['says']} ({each['count']:,} path{'s' * (each['count'] != 1)}, "
        shown += f"{each['steps']:,} step{'s' * (each['steps'] != 1)})"
        if shown not in made.markdown or shown.replace(", ", ", shrunk to ") not in re.sub("<[^>]*>", "", made.page):
            yield f"{shown} is not in Markdown and on the page"
    yield from unsaid(made)
    if made.junit.get("time") != f"{made.run['seconds']:.6f}":
        yield f"seconds: {made.junit.get('time')} in JUnit, {made.run['seconds']} in the run"


def unsaid(made: Told) -> Iterator[str]:
    """Yield every failure by chance that a report does not call so."""
    said = "it depends on chance: these steps failed in "
    for each in made.run["failures"]:
        by_chance = each["shrunk"] and each["shrunk"]["trace"] == each["trace"] and 0 < each["shrunk"]["rate"] < 1
        if by_chance and not (said in made.page and "--confidence 0.99" in made.page and said in made.markdown):
            yield f"{each['signature']} depends on chance"


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - ALSO_BELOW))
def test_all_outputs_agree(folder: Path, kind: str) -> None:
    """What `run --json` counts is what all others count, and every second of it has a name."""
    _agree(told(folder, kind))


def _agree(made: Told) -> None:
    run = made.run
    assert list(clashes(made)) == []
    head = f"{run['headline']} ("
    assert made.said.startswith(head)
    totals = made.said[len(head) :].partition(", seed")[0]
    assert f"{run['paths']:,} path{'s' * (run['paths'] != 1)}, {run['steps']:,} step" in totals
    assert totals.endswith(f"{run['seconds']:.1f} s")
    assert totals in made.markdown
    assert totals in made.page
    assert run["headline"] in made.markdown
    shown = tiles(made.page)
    assert shown["kinds of failure"] == str(len(run["failures"]))
    assert sum(run["parts"].values()) == pytest.approx(run["seconds"], abs=0.01)
    # the kernel says in ticks of a hundredth of a second when a process began
    assert run["seconds"] <= made.wall + 0.01


def test_what_was_under_way_is_counted(folder: Path) -> None:
    """Of an interrupted path neither output says that nothing was sent."""
    made = told(folder, "interrupted")
    _agree(made)
    assert made.run["interrupted"]
    assert (made.run["paths"], made.run["unfinished"]["paths"]) == (0, 1)
    assert made.run["unfinished"]["steps"] == (folder / "out" / "path-0001.jsonl").read_bytes().count(b'"sent"') >= 5
    assert "0 paths, 0 steps, 1 unfinished path with " in made.said
    for text in (made.said, made.markdown, made.page):
        assert ("no path ended, so nothing was judged" in text, "nothing was sent" in text) == (True, False)


def test_a_path_that_the_time_cut_is_counted_as_cut(folder: Path) -> None:
    """The last one, whose inputs are fewer than it was to have."""
    made = told(folder, "cut by its time")
    _agree(made)
    assert made.run["short"] == 1
    assert "1 path cut short by the end of the time" in made.said


def test_the_time_is_used_also_after_a_failure(folder: Path) -> None:
    """What shrinking leaves of its share goes to paths."""
    made = told(folder, "failing, and cut by its time")
    _agree(made)
    run = made.run
    assert run["verdict"] == "fail"
    assert run["seconds"] >= 2.9


def test_a_model_without_an_end_was_visited_where_it_was(folder: Path) -> None:
    """States beyond the explored ones count: the traces are where they come from."""
    made = told(folder, "a model without an end")
    _agree(made)
    states = made.report["visited"]["states"]
    assert states["visited"] > 1
    assert not states["whole"]
    assert tiles(made.page)[f"states visited, {states['within']:,} of them among the {states['explored']:,} explored"]


def test_inputs_that_no_path_sent(folder: Path) -> None:
    """The summary of a pass names a kind of input that the model offers and never specifies, such as a misspelt one."""
    text = """
from otf import Bench, Spec, goto

spec = Spec(lambda state, inp: [goto(state, inp)] if isinstance(inp, str) else [], 0, ["ping", 7, b"raw"])
bench = Bench.in_process(spec, lambda: lambda inp: [inp])
"""
    (folder / "misspelt.py").write_text(text, encoding="utf-8")
    said = otf("run", "misspelt.py", "--traces", "1").out
    assert "\nnever sent: int, bytes; step() yields nothing for such an input in the initial state\n" in said
    (folder / "misspelt.py").write_text(text.replace("isinstance(inp, str)", "True"), encoding="utf-8")
    assert "step() yields nothing" not in otf("run", "misspelt.py", "--traces", "1", "--steps", "1").out


def test_a_known_issue_is_not_a_bare_pass(folder: Path) -> None:
    """The verdict has its number, and so has a tile; its shrunk run is explained, and nothing says "no failure"."""
    made = told(folder, "a known issue")
    _agree(made)
    assert (made.run["ruling"], made.run["headline"]) == (
        "pass, 1 known issue",
        "PASS, 1 known issue: no other failure",
    )
    assert '<span class="verdict known">PASS, 1 known issue: no other failure<' in made.page
    assert tiles(made.page)["known issues"] == "1"
    assert "None. PASS" not in made.page
    assert '<td class="known">known issue</td>' in made.page
    compared = otf("compare", "out", "out", "--bench", "benches.py:known", "--set", "rate=0.3").out
    assert re.search(r"^  verdict +pass, 1 known issue +pass, 1 known issue", compared, re.MULTILINE)
    [known] = made.run["departures"]
    assert (known["steps"], Path(known["trace"]).name[-13:]) == (1, ".shrunk.jsonl")
    assert "known issue (wrong): " in made.page
    for text in (made.markdown, ET.tostring(made.junit, "unicode")):
        assert "known issue (wrong): " in text


def test_a_known_issue_is_not_shrunk_again(folder: Path) -> None:
    """A campaign that continues has its shrunk run from the journal."""
    (folder / "benches.py").write_text(BENCHES, encoding="utf-8")
    call = ("run", "benches.py:known", "--set", "rate=0.3", "--json", "--no-saved", "--into", "out")
    first = otf(*call, "--seed", 1, "--traces", 2).data
    both = otf(*call, "--traces", 4).data
    assert both["departures"] == [first["departures"][0] | {"count": 6}]
    assert both["parts"]["shrinking"] < 0.1 * first["parts"]["shrinking"]


def test_a_campaign_that_continues_adds_its_seconds(folder: Path) -> None:
    """Those of the first run are a part of their own; paths and steps are of both."""
    (folder / "benches.py").write_text(BENCHES, encoding="utf-8")
    call = ("run", "benches.py:chancy", "--set", "rate=0.0", "--json", "--no-saved", "--into", "out")
    first = otf(*call, "--seed", 1, "--traces", 2).data
    both = otf(*call, "--traces", 3).data
    assert (first["paths"], both["paths"]) == (2, 5)
    assert both["parts"]["earlier"] == pytest.approx(first["seconds"], abs=0.01)
    report = otf("report", "out", "--bench", "benches.py:chancy", "--set", "rate=0.0", "--json").data
    assert (report["seconds"], report["parts"]) == (both["seconds"], both["parts"])


def test_the_page_of_a_running_campaign_ends_with_its_figures(folder: Path) -> None:
    """Where no report can be made, the live page has the numbers of the campaign."""
    (folder / "benches.py").write_text(BENCHES, encoding="utf-8")
    call = ("run", "benches.py:chancy", "--set", "rate=0.0", "--seed", 1, "--no-saved", "--traces", 3)
    run = otf(*call, "--keep", "failures", "--json", "--page", "page.html", "--out", "out").data
    [data] = re.findall(r'id="live-data">(.*?)</script>', (folder / "page.html").read_text(encoding="utf-8"))
    shown = json.loads(data)
    assert (shown["paths"], shown["steps"], shown["growth"][-1][0]) == (run["paths"], run["steps"], run["steps"])
    assert shown["seconds"] == pytest.approx(run["seconds"], abs=0.01)
