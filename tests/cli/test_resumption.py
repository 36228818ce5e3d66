"""`otf run --resume` and `--into`: a folder continues with the options that it has; a journal runs no code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import pytest

from tests.cli.command import failed, machine, otf
from tests.cli.test_processes import learned

RUN = ("run", "machine.py:make", "--seed", 1, "--steps", 9, "--no-saved")


def _lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "campaign.jsonl").read_bytes().splitlines() if line.endswith(b"}")]


def _counted(out: Path) -> list[int]:
    return sorted(line["path"] for line in _lines(out) if line["event"] == "path counted")


def _inputs(out: Path) -> dict[str, list[object]]:
    """The inputs of each path."""
    events = {file.name: map(json.loads, file.read_bytes().splitlines()) for file in out.glob("path-????.jsonl")}
    return {name: [line["value"] for line in lines if line["event"] == "sent"] for name, lines in events.items()}


def _cut(out: Path, paths: int) -> None:
    """Make it a campaign that was killed after so many paths."""
    lines = (out / "campaign.jsonl").read_bytes().splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines) if b'"path counted"' in line]
    (out / "campaign.jsonl").write_bytes(b"".join(lines[: ends[paths - 1] + 1]) + b'{"torn')


def test_a_shipped_bench_goes_on_by_its_folder_alone(folder: Path) -> None:
    """The folder has the bench, its parameters, the seed and all options; only what is missing is driven."""
    call = ("run", "coffee", "--set", "fault=free", "--seed", 3, "--steps", 9, "--traces", 6, "--no-saved", "--json")
    whole = otf(*call, "--out", "whole").data
    otf(*call, "--out", "cut")
    before = _inputs(folder / "cut")
    _cut(folder / "cut", 2)
    found = otf("run", "--resume", "cut", "--json")
    assert found.status == 1
    for name in ("verdict", "paths", "steps", "seed", "passed"):
        assert found.data[name] == whole[name]
    assert [(each["signature"], each["count"]) for each in found.data["failures"]] == [
        (each["signature"], each["count"]) for each in whole["failures"]
    ]
    assert _counted(folder / "cut") == [1, 2, 3, 4, 5, 6]
    assert _inputs(folder / "cut") == before == _inputs(folder / "whole")
    assert "6 paths" in otf("report", "cut").out


def test_a_bench_of_ones_own_is_named_again(folder: Path) -> None:
    """A journal may not choose what code is loaded; with the bench named, the folder has the rest."""
    machine(folder)
    otf(*RUN, "--traces", 4, "--out", "out")
    _cut(folder / "out", 2)
    assert "out: the bench was 'machine.py:make', which a journal may not choose" in failed("run", "--resume", "out")
    assert otf("run", "machine.py:make", "--resume", "out", "--json").data["paths"] == 4


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"sut": ["line=exec:touch pwned"]}, "--sut was 'line=exec:touch pwned'"),
        ({"pids": ["1"]}, "--pid was '1'"),
        ({"strategy": "evil.py:Choice"}, "--strategy was 'evil.py:Choice'"),
        ({"bench": "evil.py"}, "the bench was 'evil.py'"),
        ({"largest": "much"}, "its campaign was not begun by `otf run` of this version"),
    ],
)
def test_a_journal_of_a_stranger(folder: Path, options: dict[str, object], what: str) -> None:
    """What runs code or names a place is refused from a journal, and so are options that are none."""
    otf("run", "coffee", "--seed", 3, "--traces", 1, "--no-saved", "--out", "out")
    first, *rest = _lines(folder / "out")
    first["about"]["options"].update(options)
    text = "\n".join(json.dumps(line, separators=(",", ":")) for line in [first, *rest])
    (folder / "out" / "campaign.jsonl").write_text(text + "\n", encoding="utf-8")
    assert what in failed("run", "--resume", "out")
    assert not (folder / "pwned").exists()


def test_adding_paths(folder: Path) -> None:
    """`--into` begins a campaign or adds paths to it, with its seed; what would give other paths is refused."""
    call = ("run", "coffee", "--steps", 9, "--no-saved", "--into", "out", "--json")
    assert otf(*call, "--traces", 3, "--seed", 7).data["paths"] == 3
    more = otf(*call, "--traces", 2).data
    assert (more["paths"], more["seed"]) == (5, 7)
    assert otf("run", "coffee", "--seed", 7, "--traces", 5, "--steps", 9, "--no-saved", "--out", "once").status == 0
    assert _inputs(folder / "out") == _inputs(folder / "once")
    assert "run with steps 9, not with 8" in failed("run", "coffee", "--steps", 8, "--into", "out")
    assert "coverage is counted from the first path on" in failed(*call[:-1], "--until", "states")


def test_a_folder_for_each_budget(folder: Path) -> None:
    """What changed in the model comes first, in all processes; the summary says what the time was spent on."""
    machine(folder)
    call = ("run", "machine.py:make", "--spend", "1h", "--steps", 12, "--no-shrink", "--no-saved", "--into", "ci")
    assert otf(*call, "--processes", 2, "--traces", 4, "--seed", 2).status == 0
    earlier = _inputs(folder / "ci")
    machine(folder, {"yield goto(paid - 10, Coffee())": "yield goto(max(paid - 10, 0), Coffee(), Coffee())"})
    done = otf(*call, "--processes", 2, "--traces", 2, "--json").data
    assert done["verdict"] == "fail"
    assert 0 < done["changed"]["tried"] <= done["changed"]["transitions"]
    assert {"saved failures", "paths", "shrinking"} <= set(done["parts"])
    [aside] = (folder / "ci").glob("before-*")
    assert _inputs(aside) == earlier
    again = otf(*call, "--processes", 2, "--traces", 2)
    assert again.status == 1
    assert "changed transition" in next(line for line in again.out.splitlines() if line.startswith("spent: "))
    for other, message in (
        (("--time", "1h"), "--time and --spend are both the time of the campaign"),
        (("--processes", 1), "run with jobs 2, not with 1"),
    ):
        assert message in failed(*call, *other)
    assert "run with bench" in failed("run", "coffee", "--spend", "1s", "--into", "ci")


def test_what_cannot_continue(folder: Path) -> None:
    """A folder without a campaign, and options that are those of the folder, are refused with what to do."""
    (folder / "empty").mkdir()
    assert "empty: there is no campaign to continue in it" in failed("run", "--resume", "empty")
    otf("run", "coffee", "--traces", 1, "--no-saved", "--out", "out")
    assert "--resume takes --seed from the folder: leave it out" in failed("run", "--resume", "out", "--seed", 4)


@pytest.mark.real
@pytest.mark.parametrize(("kills", "paths"), [(2, 40), pytest.param(20, 600, marks=pytest.mark.slow)])
def test_a_killed_process_loses_nothing(folder: Path, kills: int, paths: int) -> None:
    """Killed again and again, each path counts once, with inputs and coverage as if nothing had disturbed it."""
    call = ["run", "coffee", "--steps", "40", "--traces", str(paths), "--seed", "5", "--no-saved", "--out"]
    otf(*call, "whole")
    out, random, command = folder / "out", Random(kills), call
    for kill in range(kills):
        # at a random line of the journal: a moment in time would be another on each machine
        _run_and_kill(folder, [*command, "out"], out, paths * (kill + random.random()) / kills)
        counted = _counted(out)
        assert counted == [*range(1, len(counted) + 1)]
        command = ["run", "--resume"]
    assert otf("run", "--resume", "out", "--json").data["paths"] == paths
    assert _counted(out) == [*range(1, paths + 1)]
    assert _inputs(out) == _inputs(folder / "whole")
    assert learned(out) == learned(folder / "whole")


def _run_and_kill(folder: Path, arguments: list[str], out: Path, paths: float) -> None:
    """Run otf, and kill it once its journal has begun so many paths."""
    command, journal = [sys.executable, "-m", "otf", *arguments], out / "campaign.jsonl"
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not (journal.is_file() and journal.read_bytes().count(b'"path started"') > paths):
            sleep(0.001)
        run.send_signal(signal.SIGKILL)
