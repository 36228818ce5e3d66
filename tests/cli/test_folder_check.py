"""`otf check FOLDER`, and traces that show nothing: what was not as it was written is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import failed, judged, otf, recorded, rewrite


def test_a_whole_folder(folder: Path) -> None:
    """Nothing is named, also where passing traces were not kept."""
    otf("run", "coffee", "--seed", 3, "--traces", 2, "--steps", 9, "--no-saved", "--out", "out")
    assert (otf("check", "out").status, otf("check", "out").out) == (0, "out: 3 whole\n")
    otf("run", "coffee", "--seed", 3, "--traces", 2, "--steps", 9, "--no-saved", "--out", "few", "--keep", "failures")
    assert otf("check", "few").out == "few: 1 whole\n"
    assert "--law is for models, and few is the folder of a campaign" in otf("check", "few", "--law", "live").err
    assert not [*(folder / "few").glob("path-*")]


def test_each_damage_by_its_name(folder: Path) -> None:
    """Torn, edited, mixed and missing are told apart, for people and as JSON."""
    for name, seed in (("out", 3), ("other", 4)):
        call = ("run", "coffee", "--seed", seed, "--traces", 3, "--steps", 9, "--no-saved", "--out", name)
        assert otf(*call).status == 0
    out = folder / "out"
    journal, first = out / "campaign.jsonl", out / "path-0001.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"steps":9', b'"steps":8')
    journal.write_bytes(b"".join(lines) + b'{"event":"pa')
    first.write_bytes(first.read_bytes().replace(b'"verdict":"pass"', b'"verdict":"fail"'))
    (out / "path-0002.jsonl").unlink()
    (folder / "other" / "path-0003.jsonl").replace(out / "path-0003.jsonl")
    found = otf("check", "out", "--json")
    assert found.status == 1
    assert {each["name"]: each["state"] for each in found.data["files"]} == {
        "campaign.jsonl, line 4": "edited",
        f"campaign.jsonl, line {len(lines) + 1}": "torn",
        "path-0001.jsonl": "edited",
        "path-0002.jsonl": "missing",
        "path-0003.jsonl": "mixed",
    }
    assert "mixed: path-0003.jsonl: by its header it is of another campaign" in otf("check", "out").out
    assert "path-0003.jsonl: by its header it is not of this campaign" in failed("run", "--resume", "out")


@pytest.mark.usefixtures("folder")
def test_a_campaign_that_had_ended() -> None:
    """It drives nothing, says so, and is no pass; --check is for folders that continue."""
    otf("run", "coffee", "--seed", 3, "--traces", 2, "--steps", 9, "--no-saved", "--out", "out")
    for more in ((), ("--check",)):
        found = otf("run", "--resume", "out", *more)
        assert found.status == 3
        assert "nothing was driven: all its paths (2) had counted before" in found.out
    assert "give it with --resume DIR or --into DIR" in failed("run", "coffee", "--check")


def test_a_trace_that_shows_nothing(folder: Path, trace: Path) -> None:
    """Without events, or with fewer inputs than its last line counts, a trace is no pass, whatever that line says."""
    head, *_, end = recorded(trace)
    passes = {**end, "verdict": "pass", "steps": 10, "reason": None}
    for steps, why in ((0, "it has no input, and no output"), (10, "its last line counts 10 inputs, and 0 are there")):
        empty = rewrite(folder / "empty.jsonl", [head, {**passes, "steps": steps}])
        assert (judged(empty).status, why in judged(empty).out) == (3, True)
    again = otf("rerun", str(empty), "--bench", "machine.py:make", "--json")
    assert (again.status, json.loads(again.out)["verdict"]) == (3, "inconclusive")
    short = rewrite(folder / "short.jsonl", [*recorded(trace)[:2], passes])
    assert judged(short).status == 3
    assert "its last line counts 10 inputs, and 1 are there: lines are missing" in judged(short).out
