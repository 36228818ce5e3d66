"""The bytes beside a failure: those of the event that left no state possible."""

from __future__ import annotations

from pathlib import Path

from otf.cli.output import LONGEST, spaced
from otf.cli.traces import raw
from tests.cli.command import otf


def test_a_failure_tells_the_bytes_of_what_came(folder: Path) -> None:
    """The value is printed next to its bytes."""
    done = otf("run", "coffee", "--set", "fault=free", "--seed", 1, "--out", "out")
    assert "  seen:            Coffee()  (on line)\n  its bytes:       63 6f 66 66 65 65  'coffee'\n" in done.out
    assert (folder / "out").is_dir()


def test_silence_has_no_bytes(folder: Path) -> None:
    """A missing output has no bytes to show."""
    done = otf("run", "coffee", "--set", "fault=dry", "--seed", 1, "--out", "out")
    assert done.status == 1
    assert "its bytes" not in done.out
    assert (folder / "out").is_dir()


def test_a_trace_that_is_gone(tmp_path: Path) -> None:
    """If the trace was deleted, the failure is reported nevertheless."""
    assert raw(tmp_path / "gone.jsonl", 3) == b""


def test_a_trace_without_that_event(tmp_path: Path) -> None:
    """An event that was not written has no bytes."""
    trace = tmp_path / "path.jsonl"
    trace.write_text('{"event": "quiet", "n": 1}\n', encoding="utf-8")
    assert (raw(trace, 1), raw(trace, 2)) == (b"", b"")


def test_long_frames_are_cut() -> None:
    """A frame of any size leaves room for the rest."""
    assert spaced(b"\xff" * (LONGEST + 1)).endswith("ff … (61 bytes)")
    assert spaced(b"x" * (LONGEST + 1)) == f"'{'x' * 61}' (61 bytes)"
    assert spaced(b"x" * 200) == f"'{'x' * 180}' … (200 bytes)"
