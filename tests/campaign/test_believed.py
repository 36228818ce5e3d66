"""What the folder of a campaign is believed: no edit of its journal alone, or of its traces alone, makes a pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from otf.campaign.believed import TraceFile
from otf.campaign.journal_reader import Past
from otf.errors import UsageError
from otf.trace.record import LineChain
from tests.campaign.machine import TEA, bench, run

Line = dict[str, Any]


def _edit(out: Path, change: Callable[[Line], Line | None], *, link: bool) -> None:
    """Change the lines of a journal; with `link` each has the digest of the one before, as if it was written so."""
    journal, chain, text = out / "campaign.jsonl", LineChain(), b""
    for line in map(json.loads, journal.read_bytes().splitlines()):
        changed = change(line)
        if changed is not None:
            if link:
                del changed["after"]
            written = msgspec.json.encode(changed) + b"\n"
            text += (written := chain.link(written) if link else written)
            chain.take(written)
    journal.write_bytes(text)


def _of_paths(**changes: object) -> Callable[[Line], Line]:
    return lambda line: line | changes if line["event"] == "path counted" else line


PASSES = {"verdict": "pass", "signature": "", "exact": "", "why": ""}


@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        PASSES,
        {**PASSES, "digests": {}},
        {**PASSES, "digests": {f"path-000{path}.jsonl": "0" * 32 for path in range(1, 4)}},
        {**PASSES, "known_issue": "it serves tea"},
        {**PASSES, "steps": 900},
    ],
)
def test_a_failure_edited_into_a_pass(tmp_path: Path, changes: Line, link: bool) -> None:
    """The traces fail, so the campaign does, whatever its journal says and whether or not its lines fit each other."""
    whole = run(bench(TEA), tmp_path, traces=3, seed=1, shrink=False)
    before = {file: file.read_bytes() for file in tmp_path.glob("path-*") if b'"verdict":"fail"' in file.read_bytes()}
    _edit(tmp_path, _of_paths(**changes), link=link)
    found = run(bench(TEA), tmp_path, traces=3, seed=1, shrink=False, resume=True)
    assert (found.verdict, found.paths, found.steps) == ("fail", 3, whole.steps)
    assert [group.count for group in found.failures.values()] == [group.count for group in whole.failures.values()]
    assert found.altered
    assert before == {file: file.read_bytes() for file in before}


@pytest.mark.parametrize(
    ("name", "value"),
    [("path", -5), ("path", 0), ("path", 900_000_000_000), ("steps", -5), ("late", -1), ("verdict", "passed")],
)
def test_a_line_out_of_bounds_does_not_count(tmp_path: Path, name: str, value: object) -> None:
    """Its path is driven again, and the numbers are those of what was driven."""
    whole = run(bench(), tmp_path, traces=3, seed=1)
    _edit(tmp_path, lambda line: line | {name: value} if line.get("path") == 2 else line, link=True)
    assert sorted(Past(tmp_path).counted) == [1, 3]
    found = run(bench(), tmp_path, traces=3, seed=1, resume=True)
    assert (found.verdict, found.paths, found.steps) == ("pass", 3, whole.steps)


@pytest.mark.parametrize("traces", [-1, 0, 3_000_000_000])
def test_a_plan_out_of_bounds(tmp_path: Path, traces: int) -> None:
    """A number of paths that no campaign has is none that could continue."""
    run(bench(), tmp_path, traces=1)
    _edit(
        tmp_path,
        lambda line: line | {"about": {**line["about"], "traces": traces}} if "about" in line else line,
        link=True,
    )
    assert Past(tmp_path).about is None


def test_lines_without_traces(tmp_path: Path) -> None:
    """A folder with nothing but counted lines has tested nothing: each path is driven."""
    line = {"event": "path counted", "path": 1, "verdict": "pass", "steps": 9, "trace": "path-0001.jsonl"}
    lines = [msgspec.json.encode(line | {"path": path, "trace": f"path-000{path}.jsonl"}) for path in (1, 2, 3)]
    (tmp_path / "campaign.jsonl").write_bytes(b"\n".join([*lines, b""]))
    found = run(bench(TEA), tmp_path, traces=3, seed=1, resume=True, shrink=False)
    assert (found.verdict, found.parts.paths) == ("fail", 3)


def test_a_changed_trace_is_driven_again(tmp_path: Path) -> None:
    """Also one that still passes: it is not what the system did."""
    whole = run(bench(TEA), tmp_path, traces=3, seed=1, shrink=False)
    [trace] = (group.first.trace for group in whole.failures.values())
    trace.write_bytes(
        trace.read_bytes().replace(b'"Tea"', b'"Coffee"').replace(b'"verdict":"fail"', b'"verdict":"pass"')
    )
    found = run(bench(TEA), tmp_path, traces=3, seed=1, shrink=False, resume=True)
    assert (found.verdict, found.parts.paths) == ("fail", 1)
    assert [group.count for group in found.failures.values()] == [group.count for group in whole.failures.values()]
    changed = f"{trace.name} was changed since its path was counted (the journal has another digest)"
    assert found.altered == [f"{changed}: the path is driven again"]


def test_a_trace_of_another_campaign(tmp_path: Path) -> None:
    """It is not written over, and does not count: the message names it."""
    run(bench(), tmp_path / "one", traces=2, seed=1)
    run(bench(), tmp_path / "other", traces=2, seed=2)
    (tmp_path / "other" / "path-0002.jsonl").replace(tmp_path / "one" / "path-0002.jsonl")
    with pytest.raises(UsageError, match=r"path-0002.jsonl: by its header it is not of this campaign"):
        run(bench(), tmp_path / "one", traces=2, seed=1, resume=True)


def test_traces_that_were_not_kept(tmp_path: Path) -> None:
    """Passing paths without a trace count, and the headline says how many no trace shows; alone they are no pass."""
    run(bench(), tmp_path, traces=2, seed=1, keep="failures")
    assert not [*tmp_path.glob("path-*")]
    more = run(bench(), tmp_path, traces=3, seed=1, keep="failures", resume=True)
    assert more.result.headline.endswith("that the model allows; 2 earlier paths not shown: no trace")
    assert (more.verdict, more.paths, more.parts.paths) == ("pass", 3, 1)
    alone = run(bench(), tmp_path, traces=3, seed=1, keep="failures", resume=True)
    assert (alone.verdict, alone.unshown) == ("inconclusive", 3)
    _edit(tmp_path, lambda line: None if line.get("path") == 1 else line, link=False)
    again = run(bench(), tmp_path, traces=3, seed=1, keep="failures", resume=True)
    assert (again.verdict, again.parts.paths >= 1) == ("pass", True)


def test_a_journal_without_digests(tmp_path: Path) -> None:
    """Its traces are judged again: one that passes counts, and one whose journal says so and that fails does not."""

    def older(line: Line) -> Line:
        return {name: value for name, value in line.items() if name not in {"digests", "after"}}

    run(bench(), tmp_path / "passing", traces=2, seed=1)
    _edit(tmp_path / "passing", older, link=False)
    found = run(bench(), tmp_path / "passing", traces=3, seed=1, resume=True)
    assert (found.verdict, found.parts.paths, found.altered) == ("pass", 1, [])
    run(bench(TEA), tmp_path / "failing", traces=3, seed=1, shrink=False)
    _edit(tmp_path / "failing", lambda line: older(_of_paths(**PASSES)(line)), link=False)
    assert run(bench(TEA), tmp_path / "failing", traces=3, seed=1, resume=True).verdict == "fail"


def test_nothing_to_drive(tmp_path: Path) -> None:
    """A campaign that had ended says nothing about the system of today, and no pass; a failure stays one."""
    run(bench(), tmp_path / "passed", traces=2, seed=1)
    for check in (False, True):
        found = run(bench(TEA), tmp_path / "passed", traces=2, seed=1, resume=True, check=check)
        assert (found.verdict, found.result.headline) == ("inconclusive", "INCONCLUSIVE: nothing was tested")
        assert found.untested.startswith("nothing was driven: all its paths (2) had counted before")
    # nor if it was killed as it continued
    journal = tmp_path / "passed" / "campaign.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if b'"campaign started"' in line)
    journal.write_bytes(b"".join(lines[: last + 1]))
    assert run(bench(), tmp_path / "passed", traces=2, seed=1, resume=True).verdict == "inconclusive"
    run(bench(TEA), tmp_path / "failed", traces=2, seed=1)
    assert run(bench(TEA), tmp_path / "failed", traces=2, seed=1, resume=True).verdict == "fail"


def test_interrupted_after_its_last_path(tmp_path: Path) -> None:
    """Nobody has said the result of such a campaign: its traces are judged again, and have it."""
    run(bench(), tmp_path, traces=2, seed=1)
    journal = tmp_path / "campaign.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if b"path" in line or b"started" in line))
    found = run(bench(), tmp_path, traces=2, seed=1, resume=True)
    assert (found.verdict, found.parts.paths, found.altered) == ("pass", 0, [])


def test_a_torn_line_is_no_edit(tmp_path: Path) -> None:
    """What a kill or a full disk has cut is ended by the next run, and fits what follows."""
    run(bench(), tmp_path, traces=2, seed=1)
    journal = tmp_path / "campaign.jsonl"
    text = journal.read_bytes()
    journal.write_bytes(text[: text.index(b'"path":2,"verdict"')])
    for traces in (2, 3):
        assert run(bench(), tmp_path, traces=traces, seed=1, resume=True).altered == []


def test_digests_are_those_of_the_traces(tmp_path: Path) -> None:
    """Of each path and each shrunk failure; the same with several lanes."""
    from hashlib import blake2b

    run(bench(TEA), tmp_path, traces=4, seed=1, jobs=2)
    lines = [json.loads(line) for line in (tmp_path / "campaign.jsonl").read_bytes().splitlines()]
    digests = {name: digest for line in lines for name, digest in line.get("digests", {}).items()}
    assert len(digests) >= 5
    for name, digest in digests.items():
        assert blake2b((tmp_path / name).read_bytes(), digest_size=16).hexdigest() == digest


def test_who_writes_both_is_believed_unless_it_is_checked(tmp_path: Path) -> None:
    """A trace whose digest fits, and which says that it passed, is judged again with `check` alone."""
    for name in ("believed", "checked"):
        run(bench(TEA), tmp_path / name, traces=1, seed=1, shrink=False)
        trace = tmp_path / name / "path-0001.jsonl"
        trace.write_bytes(trace.read_bytes().replace(b'"verdict":"fail"', b'"verdict":"pass"'))
        digests = {trace.name: TraceFile.read(trace).digest}
        _edit(tmp_path / name, _of_paths(**PASSES, digests=digests), link=True)
    again: Line = {"traces": 2, "seed": 1, "resume": True, "shrink": False}
    believed = run(bench(), tmp_path / "believed", **again)
    assert (believed.parts.paths, believed.altered) == (1, [])
    checked = run(bench(), tmp_path / "checked", check=True, **again)
    why = "the journal says pass of path-0001.jsonl, which does not show it: the path is driven again"
    assert (checked.parts.paths, checked.altered) == (2, [why])


def test_a_failure_behind_the_gap_of_a_trace_is_not_edited_away(tmp_path: Path) -> None:
    """What was dropped is judged by nobody, so that the last line of the trace has to bear out the journal."""
    whole = run(bench(TEA), tmp_path, traces=1, seed=1, shrink=False)
    [trace] = (group.first.trace for group in whole.failures.values())
    head, *events, end = trace.read_bytes().splitlines(keepends=True)
    inputs = sum(b'"event":"sent"' in line for line in events)
    gap = b'{"event":"dropped","events":%d,"inputs":%d}\n' % (len(events), inputs)
    trace.write_bytes(head + gap + end)
    digests = {trace.name: TraceFile.read(trace).digest}
    _edit(tmp_path, _of_paths(**PASSES, digests=digests), link=True)
    found = run(bench(TEA), tmp_path, traces=1, seed=1, shrink=False, resume=True)
    assert (found.verdict, len(found.altered)) == ("fail", 1)
