"""Requirements of a bench: what a campaign says of each is so, and the same in every output."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from otf import Bench, Spec, goto
from otf import run as run_bench
from otf.errors import UsageError
from otf.spec import Requirement, Requirements, Transition
from otf.strategy import Coverage, covering, goal
from tests.cli.command import failed, otf

LAMPS = '''"""Lamps in this process, and the requirements of a lamp."""

from dataclasses import replace
from enum import Enum

from otf import Bench, Spec, goto
from otf.adapter import KnownIssue
from otf.spec import Requirements, on


class Lamp(Enum):
    LIGHTS = "MUST", "A press lights a dark lamp."
    DARKENS = "MUST", "A press darkens a lamp that is lit."
    SHORT = "MAY", "A press that is too short may be ignored."
    SMASHED = "SHOULD", "A lamp that was hit goes dark."
    WARM = "SHOULD", "A lamp is warm.", "the text gives no degrees"


def step(lit, inp):
    if inp == "press":
        yield goto(not lit, "off" if lit else "on", req=Lamp.DARKENS if lit else Lamp.LIGHTS)
        yield goto(lit, "off" if not lit else "on", req="SHORT")
    elif inp == "look":
        yield goto(lit, "on" if lit else "off")


class Device:
    def __init__(self, broken):
        self.lit, self.broken = False, broken

    def __call__(self, inp):
        self.lit ^= inp == "press"
        if self.broken and inp == "press" and not self.lit:
            return ["smoke"]
        return ["on" if self.lit else "off"]


def lamp(broken=False):
    return Bench(Spec(step, False, ["press", "look"]), system=lambda: Device(broken), types=(str,), name="lamp",
                 requirements=Requirements.from_enum(Lamp))


def known():
    issue = KnownIssue(lambda failure: "smoke" in failure.seen, "it smokes", req="SMASHED")
    return replace(lamp(True), known_issues=(issue,))


class Sure(Enum):
    ON = "MUST", "A press lights it."
    WARM = "SHOULD", "It is warm.", "the text gives no degrees"


def sure():
    spec = Spec(lambda state, inp: [goto(state, "on", req=Sure.ON)], 0, ["press"])
    return Bench(spec, system=lambda: Device(False), types=(str,), requirements=Requirements.from_enum(Sure))


def bare():
    return replace(lamp(), requirements=Requirements())
'''
STATUSES = {
    "LIGHTS": "covered",
    "DARKENS": "covered",
    "SHORT": "not decided",
    "SMASHED": "never tried",
    "WARM": "undecidable",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the lamps, which commands run in."""
    (tmp_path / "lamps.py").write_text(LAMPS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(bench: str, *options: object) -> tuple[int, dict[str, str]]:
    """Run a campaign; return its exit status and the status of each requirement."""
    result = otf("run", f"lamps.py:{bench}", "--out", "out", "--steps", "12", "--traces", "3", "--json", *options)
    return result.status, {each["id"]: each["status"] for each in result.data["requirements"]}


def test_statuses_of_a_correct_system() -> None:
    """What only its transition explains is covered, what another explains as well is not decided."""
    assert run("lamp") == (0, STATUSES)


def test_the_report_says_the_same_as_the_run() -> None:
    """Page, JUnit XML, CSV, JSON and the run itself agree."""
    run("lamp")
    report = otf("report", "out", "--junit", "x.xml", "--requirements", "x.csv", "--bench", "lamps.py:lamp", "--json")
    assert {each["id"]: each["status"] for each in report.data["requirements"]} == STATUSES
    rows = csv.DictReader(StringIO(Path("x.csv").read_text(encoding="utf-8")))
    assert {row["id"]: row["status"] for row in rows} == STATUSES
    xml = ET.parse("x.xml")  # noqa: S314 -- it is our own
    properties = {each.get("name"): each.get("value") for each in xml.iter("property")}
    assert {name: properties[f"requirement.{name}"] for name in STATUSES} == STATUSES
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "requirements: 2 of 5 decided (MUST 2 of 2, SHOULD 0 of 2, MAY 0 of 1)" in page
    assert "A press lights a dark lamp." in page


def test_a_failure_cites_its_sentence() -> None:
    """Where one of two requirements is violated, it says one of; the first shrunk run has the sentences."""
    result = otf("run", "lamps.py:lamp", "--set", "broken=1", "--out", "out", "--no-saved")
    assert result.status == 1
    assert "violates one of:  DARKENS, MUST: A press darkens a lamp that is lit." in result.out
    assert "SHORT, MAY: A press that is too short may be ignored." in result.out


def test_a_known_issue_violates_its_requirement() -> None:
    """A known issue names the requirement that it violates; the campaign passes all the same."""
    status, found = run("known")
    assert (status, found["SMASHED"], found["LIGHTS"]) == (0, "violated", "covered")
    report = otf("report", "out", "--bench", "lamps.py:known", "--json").data["requirements"]
    assert {each["id"]: each["status"] for each in report} == found


def test_without_a_table_the_model_names_its_requirements() -> None:
    """Requirements that the table does not have are listed with that remark."""
    assert run("bare")[1] == {"DARKENS": "covered", "LIGHTS": "covered", "SHORT": "not decided"}
    otf("report", "out", "--bench", "lamps.py:bare", "--requirements", "x.csv")
    assert "the model refers to it, and the table does not have it" in Path("x.csv").read_text(encoding="utf-8")


def test_a_campaign_ends_once_all_requirements_are_decided() -> None:
    """With `--until requirements` no path begins after that; what cannot be decided is not waited for."""
    result = otf("run", "lamps.py:sure", "--until", "requirements", "--steps", "1", "--traces", "1000", "--json")
    assert (result.status, result.data["paths"]) == (0, 1)
    assert [each["status"] for each in result.data["requirements"]] == ["covered", "undecidable"]
    assert otf("run", "lamps.py:lamp", "--until", "requirements", "--traces", "3", "--json").data["paths"] == 3
    assert "has no table of requirements" in failed("run", "lamps.py:bare", "--until", "requirements")


@pytest.mark.parametrize("bench", ["lamp", "known"])
@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_campaign_that_continues_says_the_same(folder: Path, bench: str, left: int) -> None:
    """Paths that it does not drive again keep what they showed, also where their traces were not kept."""
    whole = run(bench, "--seed", 1, "--keep", "failures")
    journal = folder / "out" / "campaign.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if b'"event":"path counted"' in line]
    journal.write_bytes(b"".join(lines[: ends[left - 1] + 1]))
    result = otf("run", f"lamps.py:{bench}", "--resume", "out", "--json")
    assert (result.status, {each["id"]: each["status"] for each in result.data["requirements"]}) == whole


def test_the_report_knows_paths_whose_traces_were_not_kept(folder: Path) -> None:
    """The journal has what they showed; one trace is left to be read."""
    whole = run("lamp", "--seed", 1, "--steps", 1)
    traces = sorted((folder / "out").glob("path-*.jsonl"))
    pressed = [trace for trace in traces if "press" in trace.read_text(encoding="utf-8")]
    assert 0 < len(pressed) < len(traces)
    for trace in pressed:
        trace.unlink()
    report = otf("report", "out", "--bench", "lamps.py:lamp", "--json").data["requirements"]
    assert whole[1]["LIGHTS"] == "covered"
    assert {each["id"]: each["status"] for each in report} == whole[1]


def test_until_all_requirements_are_decided_goes_on(folder: Path) -> None:
    """A folder whose paths have decided them needs no further path."""
    call = ("run", "lamps.py:sure", "--until", "requirements", "--steps", "1", "--into", "out", "--json")
    assert [otf(*call, "--traces", "9").data["paths"] for _ in range(2)] == [1, 1]
    assert (folder / "out" / "path-0001.jsonl").is_file()


def test_two_processes_say_the_same() -> None:
    """Paths of other processes count as well."""
    assert run("lamp", "--processes", "2") == (0, STATUSES)


def test_files_for_requirements_tools() -> None:
    """The same statuses as a needs.json and as a document of StrictDoc; a file of ours is replaced, others are not."""
    run("lamp")
    for _ in range(2):
        for name in ("x.json", "x.sdoc", "x.csv"):
            assert otf("report", "out", "--bench", "lamps.py:lamp", "--requirements", name).status == 0
    version = json.loads(Path("x.json").read_text(encoding="utf-8"))["versions"]["1"]
    assert {each["title"]: each["status"] for each in version["needs"].values()} == STATUSES
    blocks = Path("x.sdoc").read_text(encoding="utf-8").split("[REQUIREMENT]\n")[1:]
    assert blocks[0].startswith("UID: LIGHTS\nSTATUS: covered\n")
    Path("mine.csv").write_text("id\n", encoding="utf-8")
    for name in ("mine.csv", "x.pdf"):
        assert "name" in failed("report", "out", "--bench", "lamps.py:lamp", "--requirements", name)


TABLES: list[tuple[str, str]] = [
    ("", "columns none"),
    ("id,text\nR1,it\n", "it needs id, level, text"),
    ("id,level,text\nR1,WILL,it\n", "line 2: requirement R1: the level 'WILL' is unknown"),
    ("id,level,text\nR1,MUST,it\nR1,MUST,it again\n", "R1 is in the table twice"),
    ("id,level,text\n,MUST,it\n", "line 2: a requirement has the id ''"),
    ('id,level,text\nR1,MUST,"it\n', "line 2"),
    ("id,level,text\n" + "x" * 200_000 + ",MUST,it\n", "field larger than field limit"),
    ("x" * 10_000_001, "at most 10,000,000 are read"),
]


@pytest.mark.parametrize(("text", "message"), TABLES, ids=[message for _, message in TABLES])
def test_a_wrong_table_is_explained(text: str, message: str) -> None:
    """The message names the line and what to write."""
    with pytest.raises(UsageError, match=message):
        Requirements.from_csv(text)


def test_a_long_table_is_refused() -> None:
    """A table has an end."""
    lines = "".join(f"R{number},MUST,it\n" for number in range(100_001))
    with pytest.raises(UsageError, match="more than 100,000 rows"):
        Requirements.from_csv(f"id,level,text\n{lines}")


def test_levels_are_those_of_rfc_2119() -> None:
    """Each key word of RFC 2119 is one of three levels."""
    words = ["MUST", "must not", "SHALL", "SHALL NOT", "REQUIRED", "SHOULD NOT", "RECOMMENDED", "MAY", "OPTIONAL"]

    def table() -> Iterator[Requirement]:
        yield from (Requirement(f"R{number}", word, "it") for number, word in enumerate(words))

    levels = [each.level for each in Requirements(table()).values()]
    assert levels == [*["MUST"] * 5, *["SHOULD"] * 2, *["MAY"] * 2]


@pytest.mark.parametrize(("target", "status"), [("s1", "covered"), ("s2", "not decided"), ("s3", "never tried")])
def test_a_goal_of_the_strategy_covers_its_requirement(tmp_path: Path, target: str, status: str) -> None:
    """A path that certainly reached the goal covers it; one that only may have reached it does not."""

    def step(state: str, inp: str) -> Iterator[Transition[str]]:
        if inp == "go":
            yield goto("s1", "x")
        elif state == "s1":
            yield goto("s1", "y")
            yield goto("s2", "y")
        else:
            yield goto(state, "y")

    spec = Spec(step, "s0", ["go", "look"])
    table = Requirements([Requirement("full", "MUST", "It can be full.")])
    bench = Bench.in_process(spec, lambda: lambda inp: ["x" if inp == "go" else "y"], types=(str,), requirements=table)
    strategy = covering(goal(lambda state: state == target, req="full"), Coverage())
    (found,) = run_bench(bench, out=tmp_path / "goal", traces=2, steps=5, strategy=strategy).requirements.results()
    assert found.status == status
