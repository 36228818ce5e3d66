"""The journal: the actions of a campaign, as log events that structlog's readers read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from otf import Bench
from otf.campaign import run as drive
from otf.campaign.journal import Journal
from otf.errors import ModelError, UsageError, WriteError
from otf.spec import Spec, Transition, goto
from tests.campaign.machine import TEA, Started, bench, judged, made_by, run
from tests.runner.playing import on_function


def _journal(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "campaign.jsonl").read_bytes().splitlines()]


def _story(out: Path) -> list[tuple[str, int | None]]:
    return [(entry["event"], entry.get("path")) for entry in _journal(out)]


def test_lines_have_the_shape_of_log_events(tmp_path: Path) -> None:
    """Each line has an event, a level and a moment in time with its zone."""
    run(bench(TEA), tmp_path, traces=3)
    for entry in _journal(tmp_path):
        assert isinstance(entry["event"], str)
        assert entry["level"] in {"info", "warning"}
        assert datetime.fromisoformat(entry["timestamp"]).tzinfo is not None


def test_the_story_of_a_campaign(tmp_path: Path) -> None:
    """It has the start, each path with its result, each shrunk failure, and the end."""
    summary = run(bench(TEA), tmp_path, traces=2, seed=3, steps=200)
    assert _story(tmp_path) == [
        ("campaign started", None),
        ("path started", 1),
        ("path ended", 1),
        ("path counted", 1),
        ("path started", 2),
        ("path ended", 2),
        ("path counted", 2),
        *[("failure shrunk", None)] * len(summary.failures),
        ("time spent", None),
        ("campaign completed", None),
        ("campaign ended", None),
    ]
    [group] = summary.failures.values()
    assert group.shrunk is not None
    shrunk = next(entry for entry in _journal(tmp_path) if entry["event"] == "failure shrunk")
    assert shrunk["signature"] == str(group.signature)
    assert (shrunk["trace"], shrunk["steps"]) == (str(group.shrunk.trace), 4)
    assert shrunk["transitions"] == group.shrunk.transitions
    assert _journal(tmp_path)[-1]["trouble"] is None
    spent = _journal(tmp_path)[-2]["time"]
    assert spent == {name: round(seconds, 6) for name, seconds in summary.spent.shares().items()}


def test_the_run_is_bound(tmp_path: Path) -> None:
    """Every line about a path bears the id that stands in the header of its trace, with several jobs too."""
    run(bench(), tmp_path, traces=6, jobs=3)
    entries = [entry for entry in _journal(tmp_path) if entry["event"].startswith("path")]
    assert len(entries) == 18
    for entry in entries:
        assert entry["run"] == judged(tmp_path / f"path-{entry['path']:04}.jsonl").header.run
    ended = {entry["path"]: (entry["verdict"], entry["steps"]) for entry in entries if entry["event"] == "path ended"}
    assert ended == dict.fromkeys(range(1, 7), ("pass", 50))


def test_trouble_is_told(tmp_path: Path) -> None:
    """A path that gave up is a warning with the reason, and its run's id."""
    run(made_by(Started(broken=9)), tmp_path)
    gave_up = next(entry for entry in _journal(tmp_path) if entry["event"] == "path gave up")
    assert (gave_up["level"], gave_up["path"]) == ("warning", 1)
    assert "start 2 failed" in gave_up["why"]
    assert gave_up["run"] == judged(tmp_path / "path-0001.jsonl").header.run


def test_an_end_by_an_error_is_told(tmp_path: Path) -> None:
    """The last line says what ended the campaign."""

    def step(_state: int, _inp: object) -> Iterator[Transition[int]]:
        yield goto([])  # type: ignore[arg-type]

    broken = on_function(lambda: lambda _frame: None, spec=Spec(step, 0, ["p.go"]))
    with pytest.raises(ModelError, match="cannot be compared"):
        run(broken, tmp_path)
    assert _journal(tmp_path)[-1]["trouble"] == "ModelError"


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is a file is reported, with advice."""
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match=r"the folder cannot be written \(File exists\); choose another with --out"):
        Journal(tmp_path / "file")


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    """The second is refused while the first writes, also where there are traces already, and is told to wait."""
    out = tmp_path / "out"
    with Journal(out):
        (out / "path-0001.jsonl").touch()
        for joins in (False, True):
            with pytest.raises(UsageError, match=r"another run is writing its traces there; .* or wait until it ends"):
                Journal(out, joins=joins)
    with pytest.raises(UsageError, match=r"it holds the traces of another run \(path-0001.jsonl\)"):
        Journal(out)


def test_a_folder_that_another_run_has_now(tmp_path: Path) -> None:
    """A run whose folder was moved writes nothing to a new one of that name, and does not end well."""
    out = tmp_path / "out"
    with pytest.raises(WriteError, match="while this run was"), Journal(out) as journal:  # noqa: PT012 -- its end is the point
        out.rename(tmp_path / "moved")
        begun, message = (
            journal.path("1", 1, out / "path-0001.jsonl"),
            "the folder was moved or removed while this run was",
        )
        with Journal(out), pytest.raises(WriteError, match=message), begun:
            pass
    assert sorted(file.name for file in out.iterdir()) == ["campaign.jsonl"]


@pytest.mark.parametrize(
    "harm",
    [Path.unlink, partial(Path.write_bytes, data=b""), partial(Path.write_bytes, data=bytes(9))],
    ids=["removed", "emptied", "emptied while it was written"],
)
def test_a_run_whose_traces_are_taken_away(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    """A bench that removes or empties the traces of its own passing paths does not pass: nobody can read them."""
    out = tmp_path / "out"

    def hostile() -> Callable[[str], list[str]]:
        for file in tmp_path.glob("*/path-0002.jsonl"):
            harm(file)
        return lambda _: ["x"]

    made = Bench(Spec(lambda state, _: [goto(state, "x")], 0, ["a"]), system=hostile, types=(str,))
    with pytest.raises(
        WriteError, match="of 4 traces that this run wrote only 3 are there: they were removed or emptied"
    ):
        drive(made, traces=4, steps=5, seed=3, out=out)
    assert drive(made, traces=4, steps=5, seed=3, out=tmp_path / "b", keep="failures").verdict == "pass"


def test_pairs_that_hardly_come_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model without end the journal names a bounded number of pairs of state and input."""
    monkeypatch.setattr("otf.campaign.journal.NAMES", 3)
    run(bench(), tmp_path, traces=4, seed=3)
    counted = [entry for entry in _journal(tmp_path) if entry["event"] == "path counted"]
    assert sum(len(entry["new"]) for entry in counted) == 3
    assert all({*entry["visits"][::2]} <= {0, 1, 2} for entry in counted)
    assert run(bench(), tmp_path, traces=6, seed=3, resume=True).paths == 6
