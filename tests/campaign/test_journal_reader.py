"""Campaigns that continue: wherever one is killed, its folder goes on to the same paths, each counted once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from otf.adapter import Bench
from otf.campaign import Budget, Summary
from otf.campaign.journal_lines import ShrunkLine
from otf.campaign.journal_reader import Past
from otf.campaign.restored import shrunk_of
from otf.errors import TraceError, UsageError
from otf.spec import Spec, Transition, goto
from otf.trace.events import Event
from otf.trace.record import Mode
from tests.campaign.machine import DIES, TEA, THIEF, bench, judged, run
from tests.runner.playing import on_function

FAULTY = bench(TEA, THIEF, DIES)


def _events(out: Path, tested: Bench) -> dict[str, list[Event]]:
    return {file.name: list(judged(file, tested).events) for file in sorted(out.glob("path-????.jsonl"))}


def _counts(summary: Summary) -> dict[str, Any]:
    return {
        "paths": summary.paths,
        "steps": summary.steps,
        "silence": summary.silence,
        "truncated": summary.truncated,
        "failures": {str(signature): group.count for signature, group in summary.failures.items()},
        "shrunk": {
            str(signature): group.shrunk and group.shrunk.steps for signature, group in summary.failures.items()
        },
        "inconclusive": sorted(result.number for result in summary.inconclusive),
    }


def _counted(out: Path) -> list[int]:
    """The paths that the journal counts, each line once.

    A torn line may end with a brace as well, so what cannot be parsed is left out, not what ends otherwise.
    """
    counted = list[int]()
    for line in (out / "campaign.jsonl").read_bytes().splitlines():
        with suppress(json.JSONDecodeError):
            told = json.loads(line)
            counted.extend([told["path"]] if told["event"] == "path counted" else [])
    return sorted(counted)


def _killed(whole: Path, at: int, out: Path) -> Path:
    """A folder whose campaign was killed when the journal had so many bytes."""
    shutil.copytree(whole, out)
    with (out / "campaign.jsonl").open("r+b") as journal:
        journal.truncate(at)
    return out


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("mode", "jobs", "strategy", "cuts"),
    [
        ("strict", 1, "alternating", 2),
        ("eager", 3, "least-action", 2),
        pytest.param("strict", 2, "least-next", 20, marks=SLOW),
        pytest.param("eager", 1, "alternating", 20, marks=SLOW),
        pytest.param("eager", 4, "nearest", 20, marks=SLOW),
    ],
)
def test_a_killed_campaign_goes_on(tmp_path: Path, mode: Mode, jobs: int, strategy: str, cuts: int) -> None:
    """Cut anywhere, also within a line, it drives the same paths and has the same result; none counts twice."""
    settings: dict[str, Any] = {"mode": mode, "jobs": jobs, "strategy": strategy, "traces": 9, "steps": 25, "seed": 5}
    whole = run(FAULTY, tmp_path / "whole", **settings)
    size, random = (tmp_path / "whole" / "campaign.jsonl").stat().st_size, Random(1)
    for number in range(cuts):
        out = _killed(tmp_path / "whole", random.randrange(size), tmp_path / f"cut-{number}")
        found = run(FAULTY, out, resume=True, **settings)
        assert _counts(found) == _counts(whole)
        assert _counted(out) == [*range(1, 10)]
        assert _events(out, bench()) == _events(tmp_path / "whole", bench())


def test_twice_killed(tmp_path: Path) -> None:
    """A campaign that continues may be killed as well, and its knowledge is that of all its processes."""
    settings: dict[str, Any] = {"mode": "eager", "traces": 12, "steps": 20, "seed": 2}
    whole = run(bench(), tmp_path / "whole", **settings)
    for first, second in ((3, 5), (4, 9)):
        out = tmp_path / f"{first}"
        for traces, resume in ((first, False), (second, True)):
            part: dict[str, Any] = {**settings, "traces": traces, "resume": resume}
            run(bench(), out, **part)
        assert _counts(run(bench(), out, resume=True, **settings)) == _counts(whole)
        assert _events(out, bench()) == _events(tmp_path / "whole", bench())


def test_a_finished_campaign_does_nothing(tmp_path: Path) -> None:
    """A campaign whose paths are all counted drives none, shrinks none, and has the same result."""
    whole = run(FAULTY, tmp_path, traces=9, seed=5)
    before = {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("path*")}
    assert _counts(run(FAULTY, tmp_path, traces=9, seed=5, resume=True)) == _counts(whole)
    assert {file.name: file.stat().st_mtime_ns for file in tmp_path.glob("path*")} == before


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 2}, "run with seed 1, not with 2"),
        ({"steps": 9}, "run with steps 50, not with 9"),
        ({"jobs": 2}, "run with jobs 1, not with 2"),
        ({"strategy": "random"}, "run with strategy 'alternating', not with 'random'"),
    ],
)
def test_other_paths_are_refused(tmp_path: Path, other: dict[str, Any], message: str) -> None:
    """A folder continues with what decides its paths; anything else is refused, with the difference."""
    run(bench(), tmp_path, traces=2, seed=1)
    given: dict[str, Any] = {"traces": 4, "seed": 1, "resume": True, **other}
    with pytest.raises(UsageError, match=message):
        run(bench(), tmp_path, **given)


def test_another_model_is_refused(tmp_path: Path) -> None:
    """After a change of the model its paths would be others."""

    def step(_state: int, _inp: object) -> Iterator[Transition[int]]:
        yield goto(0)

    other = replace(on_function(lambda: lambda _frame: None, spec=Spec(step, 0, ["p.go"])), name="machine")
    run(other, tmp_path, traces=1)
    changed = r"run with fingerprint .*; the model or the bench was changed since; --into with --spend goes on with it;"
    with pytest.raises(UsageError, match=changed):
        run(bench(), tmp_path, traces=1, resume=True)


def test_a_failure_without_its_trace(tmp_path: Path) -> None:
    """Its path is driven again: a failure is never taken on the word of a journal, and never lost."""
    summary = run(bench(TEA), tmp_path, traces=9)
    [group] = summary.failures.values()
    group.first.trace.unlink()
    found = run(bench(TEA), tmp_path, traces=9, resume=True)
    assert _counts(found) == _counts(summary)
    assert found.altered == [f"{group.first.trace.name} cannot be read: the path is driven again"]


def test_a_shrunk_trace_that_has_gone(tmp_path: Path) -> None:
    """It is made again."""
    [group] = run(bench(TEA), tmp_path, traces=9).failures.values()
    assert group.shrunk is not None
    group.shrunk.trace.unlink()
    run(bench(TEA), tmp_path, traces=9, resume=True)
    assert group.shrunk.trace.is_file()


def test_nothing_to_continue(tmp_path: Path) -> None:
    """In a new folder a campaign that may continue begins."""
    assert run(bench(), tmp_path / "new", traces=2, resume=True).paths == 2


def test_a_line_of_a_stranger(tmp_path: Path) -> None:
    """Names of files in a journal never lead out of its folder, and lines that are not JSON are skipped."""
    run(bench(TEA), tmp_path, traces=3)
    journal = tmp_path / "campaign.jsonl"
    lines = journal.read_text(encoding="utf-8").replace("path-0001", "../../path-0001").splitlines()
    journal.write_text("\n".join([*lines, '{"event":"path counted",', "\x00"]) + "\n", encoding="utf-8")
    past = Past(tmp_path)
    assert sorted(past.counted) == [1, 2, 3]
    assert past.counted[1].trace == "../../path-0001.jsonl"
    assert run(bench(TEA), tmp_path, traces=3, resume=True).paths == 3


@pytest.mark.parametrize("damage", [b'{"\xff":1}', b"[" * 100_000 + b"]" * 100_000, b'"none"'])
def test_a_damaged_line_is_not_known(tmp_path: Path, damage: bytes) -> None:
    """A campaign continues beside a line that a disk or a stranger has damaged, also inside what a path learned."""
    run(bench(TEA), tmp_path, traces=3)
    journal = tmp_path / "campaign.jsonl"
    lines = journal.read_bytes().splitlines()
    counted = next(at for at, line in enumerate(lines) if b'"path counted"' in line)
    fields = json.loads(lines[counted])
    fields["learned"] = fields["visits"] = "here"
    lines[counted] = json.dumps(fields, separators=(",", ":")).encode().replace(b'"here"', damage)
    journal.write_bytes(b"\n".join([*lines, b'{"event":"path counted","path":' + damage, b""]))
    assert Past(tmp_path).knowledge(range(1, 4)).visits
    assert run(bench(TEA), tmp_path, traces=3, resume=True).paths == 3


@pytest.mark.parametrize(("part", "lost"), [("new", "visits"), ("visits", "visits"), ("learned", "actions")])
def test_a_part_of_a_stranger(tmp_path: Path, part: str, lost: str) -> None:
    """What a path learned is not known where it is not what was written; the path counts."""
    run(bench(), tmp_path, traces=1)
    journal = tmp_path / "campaign.jsonl"
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    journal.write_bytes(b"\n".join(msgspec.json.encode({**line, part: ["x"]}) for line in lines))
    past = Past(tmp_path)
    assert [*past.counted] == [1]
    assert getattr(past.knowledge([1]), lost) == {}


def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    """A journal that is a folder is reported."""
    (tmp_path / "campaign.jsonl").mkdir()
    with pytest.raises(TraceError, match=r"campaign.jsonl: Is a directory; give the folder of a campaign"):
        Past(tmp_path)


def test_a_shrunk_failure_as_a_line(tmp_path: Path) -> None:
    """A worker's line has all of a search that ended early, also why it did."""
    [group] = run(bench(TEA), tmp_path, traces=1, seed=1, budget=Budget(4)).failures.values()
    assert group.shrunk is not None
    assert group.shrunk.ended == "the budget of 4 inputs was used up"
    found = shrunk_of(tmp_path, ShrunkLine.of("", group.shrunk), 1, bench())
    assert found is not None
    assert replace(found, events=()) == replace(group.shrunk, events=())


def test_the_settings_are_in_the_journal(tmp_path: Path) -> None:
    """The journal has what decides the paths, and the options that the command line passes."""
    run(bench(), tmp_path, traces=2, seed=3, options={"bench": "machine"})
    about = Past(tmp_path).about
    assert about is not None
    assert (about.traces, about.lanes, about.header["seed"], about.options) == (2, 1, 3, {"bench": "machine"})
