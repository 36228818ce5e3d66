"""`otf report`: a page about a campaign, JUnit XML, annotations."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from otf.cli.tools.report import watched
from tests.cli.command import failed, machine, otf, recorded, rewrite

pytestmark = pytest.mark.real


@pytest.fixture
def out(folder: Path) -> Path:
    """A campaign on a broken machine: four paths in strict mode, and a shrunk trace."""
    machine(folder)
    strict = ("--mode", "strict", "--seed", 1, "--traces", 4, "--out", "out")
    otf("run", "machine.py:make", "--set", "broken=true", *strict)
    return folder / "out"


def report(*arguments: object) -> dict[str, Any]:
    """The document of `otf report --json` for the machine."""
    data: dict[str, Any] = otf("report", "out", "--bench", "machine.py:make", "--json", *arguments).data
    return data


@pytest.mark.usefixtures("out")
def test_the_page() -> None:
    """It is written to the folder of the campaign, and its summary is printed."""
    done = otf("report", "out", "--bench", "machine.py:make")
    assert done.status == 0
    first, *_, last = done.out.splitlines()
    assert re.fullmatch(r"FAIL: 1 kind of failure \(4 paths, \d+ steps, \d+\.\d s, seed 1\)", first)
    assert last == "report: out/report.html"
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "an output that the model requires did not come" in page
    assert "path-0004.jsonl" in page
    assert re.search(r">time: \d+% [a-z]", page)


def test_times_that_add_up_to_nothing_are_not_shown(out: Path) -> None:
    """A log is data of strangers: seconds that cancel each other out have no shares."""
    log = out / "campaign.jsonl"
    log.write_text(re.sub(r'"time":{[^}]*}', '"time":{"silence":1.0,"wire":-1.0}', log.read_text(encoding="utf-8")))
    otf("report", "out", "--bench", "machine.py:make")
    assert ">time: " not in Path("out/report.html").read_text(encoding="utf-8")


def test_starts_that_failed_are_counted(out: Path) -> None:
    """The log has each of them, with its reason; the page, the text and the data have their number."""
    with (out / "campaign.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"path":3,"why":"the port is in use","pause":1.5,"level":"warning","event":"start failed"}\n' * 2)
    told = "2 starts of the system failed, each tried again after a pause"
    assert told in otf("report", "out", "--bench", "machine.py:make").out
    assert told in Path("out/report.html").read_text(encoding="utf-8")
    assert report()["failed_starts"] == 2


@pytest.mark.usefixtures("out")
def test_as_data() -> None:
    """The numbers of the page, and each failure with its shortest trace."""
    data = report("--out", "page.html")
    assert (data["report"], data["verdict"], data["paths"]) == ("page.html", "fail", 4)
    explored = {what: (part["explored"], part["whole"]) for what, part in data["visited"].items()}
    assert (explored["states"], explored["transitions"]) == ((3, True), (4, True))
    assert data["failures"] == [
        {
            "signature": "missing: int --Button--> expected Coffee, seen silence",
            "count": 4,
            "trace": "out/path-0001.shrunk.jsonl",
            "steps": 2,
        }
    ]
    assert Path("page.html").is_file()


@pytest.mark.usefixtures("out")
def test_for_ci() -> None:
    """JUnit XML goes to a file, annotations are printed."""
    done = otf("report", "out", "--bench", "machine.py:make", "--junit", "junit.xml", "--github")
    suite = ET.parse("junit.xml").getroot()[0]  # noqa: S314 -- it is our own
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")  # the bench, and its kind of failure
    assert [line.split(" ")[0] for line in done.out.splitlines()] == ["::error", "::notice"]
    assert "%0A" in done.out


def test_a_failure_of_eager_mode_that_came_again(folder: Path) -> None:
    """It counts as strict mode saw it; the shrunk trace is that of the strict one."""
    machine(folder)
    otf("run", "machine.py:make", "--set", "broken=true", "--seed", 1, "--traces", 2, "--out", "out")
    assert (folder / "out" / "path-0001.strict.jsonl").is_file()
    (found,) = json.loads(otf("report", "out", "--bench", "machine.py:make", "--json").out)["failures"]
    assert found["trace"] == "out/path-0001.strict.shrunk.jsonl"
    assert found["count"] == 2


def test_a_failure_that_took_several_strict_runs_says_so(folder: Path) -> None:
    """Its card has the sentence and the command for it that the terminal prints."""
    machine(folder)
    otf("run", "machine.py:make", "--set", "broken=true", "--seed", 1, "--traces", 2, "--out", "out")
    log = recorded(folder / "out" / "campaign.jsonl")
    rewrite(folder / "out" / "campaign.jsonl", [{**line, **({"tries": 2} if "tries" in line else {})} for line in log])
    report()
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "It took 2 strict runs of the same inputs to reproduce it; shrunk, " in page
    assert "--confidence 0.99" in page


def test_a_failure_of_eager_mode_that_did_not(out: Path) -> None:
    """The path is inconclusive and is not among the failures; earlier versions wrote no log of that."""
    (out / "campaign.jsonl").unlink()
    lines = recorded(out / "path-0001.jsonl")
    lines[0]["mode"] = "eager"
    rewrite(out / "path-0001.jsonl", lines)
    passing = [line for line in lines if line["event"] in {"start", "end"}]
    rewrite(out / "path-0001.strict.jsonl", [passing[0], {**passing[1], "verdict": "pass", "reason": None}])
    for number in (2, 3, 4):
        (out / f"path-000{number}.jsonl").unlink()
    (data,) = [report()]
    assert (data["verdict"], data["failures"]) == ("inconclusive", [])
    assert "in eager mode did not recur in strict mode" in (out / "report.html").read_text(encoding="utf-8")


def test_traces_that_say_less(out: Path) -> None:
    """One that was cut, and one that was recorded as inconclusive, are inconclusive; an older model is noted."""
    start, *events, end = recorded(out / "path-0001.jsonl")
    before = [line for line in events if line["at"] < events[-1]["at"]][:2]
    rewrite(out / "path-0001.jsonl", [{**start, "fingerprint": "0"}, *before])
    rewrite(out / "path-0002.jsonl", [{**start, "bench": "other"}, *before, {**end, "verdict": "inconclusive"}])
    for number in (3, 4):
        (out / f"path-000{number}.jsonl").unlink()
    assert report()["verdict"] == "inconclusive"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "the trace was cut: the tester was killed" in page
    assert "recorded as inconclusive" in page
    assert "the model has changed since these traces were recorded" in page
    assert "path-0002.jsonl is of the bench other" in page


def test_a_shrunk_trace_that_passes_today_is_left_out(out: Path) -> None:
    """The failure is told by the trace that still fails."""
    start, *_, end = recorded(out / "path-0001.shrunk.jsonl")
    rewrite(out / "path-0001.shrunk.jsonl", [start, end])
    (found,) = json.loads(otf("report", "out", "--bench", "machine.py:make", "--json").out)["failures"]
    assert found["trace"].startswith("out/path-000")
    assert "shrunk" not in found["trace"]


def test_what_is_wrong_is_told(folder: Path) -> None:
    """A folder that does not exist, one without traces, a file that cannot be written."""
    assert "no-such: No such file or directory; give the folder of a campaign" in failed("report", "no-such")
    (folder / "empty").mkdir()
    assert "empty: there is no trace in it (path-0001.jsonl, …)" in failed("report", "empty")
    otf("run", "coffee", "--traces", 1, "--out", "one")
    assert ".: there is no trace in it (path-0001.jsonl, …); these of its folders have traces: one" in failed(
        "report", "."
    )
    for number in range(7):
        (folder / "many" / str(number)).mkdir(parents=True)
        (folder / "many" / str(number) / "path-0001.jsonl").touch()
    assert failed("report", "many").endswith("these of its folders have traces: 0, 1, 2, 3, 4 and 2 more\n")
    told = failed("report", "one", "--out", "no/report.html")
    assert told.endswith("no/report.html: it cannot be written (No such file or directory); choose another file\n")


def test_a_bench_that_is_not_shipped_has_to_be_named(out: Path) -> None:
    """A trace may not choose what is loaded."""
    assert "name the bench yourself with --bench BENCH" in failed("report", out)


class Terminal(io.StringIO):
    """A terminal, for all that a program can ask."""

    def isatty(self) -> bool:
        return True


def test_on_a_terminal_it_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The progress goes to standard error, and is wiped off at the end."""
    files = [Path(f"path-{number:04}.jsonl") for number in range(3)]
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    assert list(watched(files)) == files
    assert "reading traces" in terminal.getvalue()
    monkeypatch.setattr("sys.stderr", None)
    assert list(watched(files)) == files


DEPARTED = """

from otf.adapter import KnownIssue

excused = KnownIssue(lambda failure: failure.kind == "missing", "it is out of coffee")


def known(broken: bool = False):
    from dataclasses import replace

    return replace(make(broken), known_issues=(excused,))
"""


def test_a_known_issue_is_no_failure(folder: Path) -> None:
    """The report counts as the campaign did, and says what was excused."""
    machine(folder, more=DEPARTED)
    otf(
        "run",
        "machine.py:known",
        "--set",
        "broken=true",
        "--mode",
        "strict",
        "--seed",
        1,
        "--traces",
        2,
        "--out",
        "out",
    )
    data = otf("report", "out", "--bench", "machine.py:known", "--set", "broken=true", "--json").data
    assert (data["verdict"], data["failures"]) == ("pass", [])
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "known issue: it is out of coffee" in page.partition("<h2>Known issues</h2>")[2]
    assert "FAIL (" not in page
    assert '<td class="known">known issue</td>' in page
    assert '<tr data-verdict="known issue">' in page


def test_a_failure_that_is_known_already_counts_with_the_first(out: Path) -> None:
    """Eager mode drives it again once; the later ones have no strict trace, and are the same failure."""
    (out / "campaign.jsonl").unlink()  # as earlier versions wrote it, it says nothing of that
    lines = recorded(out / "path-0001.jsonl")
    (out / "path-0001.strict.jsonl").write_bytes((out / "path-0001.jsonl").read_bytes())
    for number in (1, 2):
        rewrite(out / f"path-000{number}.jsonl", [{**lines[0], "mode": "eager", "path": number}, *lines[1:]])
    (out / "path-0003.jsonl").unlink()
    (found,) = report("--junit", "junit.xml")["failures"]
    assert (found["count"], found["steps"]) == (3, 2)
    names = [case.get("name") for case in ET.parse("junit.xml").iter("testcase")]  # noqa: S314 -- our own
    assert names == ["machine.py:make", found["signature"]]


def test_each_path_has_the_text_of_its_own_failure(folder: Path) -> None:
    """Several paths that show one kind differ in values: the table and the viewer tell those of the path."""
    machine(folder, {"return None\n        if paid": "return b'coffee' if broken else None\n        if paid"})
    strict = ("--mode", "strict", "--strategy", "random", "--traces", 8, "--seed", 1)
    otf("run", "machine.py:make", "--set", "broken=true", *strict, "--out", "out")
    assert len(report()["failures"]) == 1
    failed = {file.name: recorded(file)[-1]["reason"]["input"] for file in Path("out").glob("path-000?.jsonl")}
    assert {*failed.values()} == {"Coin(cents=5)", "Coin(cents=10)"}
    page = Path("out/report.html").read_text(encoding="utf-8")
    rows = re.findall(r"(Coin\(\w+=\d+\))[^/]*</code></td><td><code>(path\S+jsonl)", page)
    assert {file: inp for inp, file in rows} == failed
    (data,) = re.findall(r'id="paths-data">(.*?)</script>', page)
    heads = {Path(head["file"]).name: head["group"] for head in json.loads(data)}
    assert all(inp in heads[file] for file, inp in failed.items())


def independent(*more: object) -> str:
    """Run 20 paths that do not learn from each other; return what was printed."""
    return otf(
        *("run", "coffee", "--seed", 1, "--traces", 20, "--steps", 5, "--mode", "strict", "--out", "right"), *more
    ).out


@pytest.mark.usefixtures("folder")
def test_what_a_pass_is_worth() -> None:
    """Of independent paths the run and the report state the same bound, and the report what is still to discover."""
    bound = "20 paths: with 95 % confidence a path of this strategy fails with a probability below 14 %\n"
    assert bound in independent("--strategy", "random")
    done = otf("report", "right").out
    assert bound in done
    assert re.search(r"20 paths showed \d+ combinations of possible states, input and output; ", done)
    page = Path("right/report.html").read_text(encoding="utf-8")
    assert bound.strip() in page
    assert "20 paths more are expected to show about" in page


@pytest.mark.usefixtures("folder")
def test_nothing_is_stated_of_paths_that_learn() -> None:
    """The usual strategy counts visits, and eager mode remembers silences: neither states a bound."""
    assert "confidence" not in independent()
    assert "confidence" not in otf("report", "right").out
    eager = otf("run", "coffee", "--seed", 1, "--traces", 2, "--steps", 2, "--strategy", "random", "--out", "eager")
    assert "confidence" not in eager.out


@pytest.mark.usefixtures("folder")
def test_paths_that_time_may_have_cut_short() -> None:
    """With --time the last path may have ended early: it counts as failed, and nothing is predicted."""
    bound = "below 22 % (1 path that may have been cut short counted as failed)\n"
    assert bound in independent("--strategy", "random", "--time", 1000)
    done = otf("report", "right").out
    assert bound in done
    assert "expected to show" not in done


@pytest.mark.usefixtures("folder")
def test_a_campaign_that_did_not_end_is_interrupted() -> None:
    """Where the log has no end of the campaign, the report does not claim that it passed."""
    independent("--strategy", "random")
    log = Path("right/campaign.jsonl")
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(line for line in lines if '"campaign completed"' not in line), encoding="utf-8")
    done = otf("report", "right").out
    assert done.startswith("INTERRUPTED: nothing wrong was seen so far")
    assert "confidence" not in done


def test_a_run_writes_its_report(tmp_path: Path) -> None:
    """With `--report FILE` no second command is needed; its links lead to the traces from there."""
    page, out = tmp_path / "pages" / "page.html", tmp_path / "out"
    page.parent.mkdir()
    call = ("run", "coffee", "--set", "fault=free", "--seed", 1, "--traces", 2, "--no-saved")
    assert otf(*call, "--out", out, "--report", page).status == 1
    assert 'href="../out/path-' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "why"),
    [("nowhere/page.html", "No such file or directory"), (".", "Is a directory"), ("a.txt", "not a page")],
)
def test_a_report_that_could_not_be_written_is_refused_at_once(tmp_path: Path, file: str, why: str) -> None:
    """Before the campaign, not after its verdict; a page in the folder of the campaign, which makes it, is possible."""
    (tmp_path / "a.txt").write_text("mine", encoding="utf-8")
    call = ("run", "coffee", "--seed", 1, "--traces", 1, "--steps", 3, "--no-saved", "--out", tmp_path / "out")
    done = otf(*call, "--report", tmp_path / file)
    assert (done.status, why in done.err, (tmp_path / "out").exists()) == (2, True, False)
    assert otf(*call, "--report", tmp_path / "out" / "page.html").status == 0


def test_the_report_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--open` gives the browser its address; where there is none, it says so."""
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", opened.append)  # which returns None: no browser
    otf("run", "coffee", "--seed", 1, "--traces", 1, "--steps", 3, "--no-saved", "--out", tmp_path)
    done = otf("report", tmp_path, "--open")
    assert opened == [(tmp_path / "report.html").resolve().as_uri()]
    assert (done.status, "no browser could be started" in done.err) == (0, True)
