"""Around a board: an image is written before the first path, and a recording is kept beside a path that fails."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import anyio
import pytest

from otf import Bench, Spec, goto, lines
from otf.adapter import Flash, Life, Recording
from otf.adapter.board import kept_recording
from otf.adapters import process
from otf.campaign import Campaign, Settings, Summary
from otf.errors import ContactError, UsageError
from otf.report.compare import conditions
from otf.spec import Transition
from otf.trace.reading import TraceReader
from otf.trace.record import Header

pytestmark = pytest.mark.real
ECHO = "import sys\nfor line in sys.stdin: print(sys.argv[1], flush=True)"
CLOCK = ["sh", "-c", "while :; do echo tick; sleep 0.02; done"]


def step(state: int, inp: str) -> Iterator[Transition[int]]:
    """Answer every word alike."""
    del inp
    yield goto(state, "ok")


def bench(life: Life, answer: str = "ok") -> Bench:
    """A program that always gives the same answer."""
    ports = {"line": process([sys.executable, "-c", ECHO, answer], ready=None)}
    return Bench(Spec(step, 0, ["a"]), ports=ports, codec=lines({str: "{}"}), quiescence=0.02, latency=0.02, life=life)


def run(tested: Bench, out: Path, paths: int = 2) -> Summary:
    """Return the result of some short paths."""
    settings = Settings(out=out, reference="here:bench", traces=paths, steps=2, shrink=False, seed=1)
    return anyio.run(Campaign(tested, settings).run)


def flash(folder: Path, script: str = "echo flashed >> log", **more: float) -> Flash:
    """An image in a folder, and a tool that is run there."""
    (folder / "lamp.bin").write_bytes(b"firmware")
    return Flash(["sh", "-c", f"cd {folder}; {script}"], image=folder / "lamp.bin", **more)


def test_an_image_is_written_once_and_named_in_every_trace(tmp_path: Path) -> None:
    """Two paths, one write; `otf compare` names the image where that is another."""
    written = flash(tmp_path)
    assert not run(bench(Life(flash=written)), tmp_path / "out").failures
    assert (tmp_path / "log").read_text() == "flashed\n"
    heads = [_header(tmp_path / "out" / f"path-000{number}.jsonl") for number in (1, 2)]
    assert [head.versions["image lamp.bin"] for head in heads] == [sha256(b"firmware").hexdigest()[:16]] * 2
    other = replace(heads[1], versions={**heads[1].versions, "image lamp.bin": "0"})
    assert any("image lamp.bin" in str(each) for each in conditions(heads[0], other))


def _header(trace: Path) -> Header:
    with trace.open("rb") as file:
        return TraceReader(file, "trace").header


@pytest.mark.parametrize(
    ("script", "more", "says"),
    [
        ("echo no board >&2; exit 2", {}, "flashing lamp.bin failed: exit status 2 of .*; no board"),
        ("sleep 60", {"timeout": 0.1}, "flashing lamp.bin took longer than 0.1 s"),
        ("echo new > lamp.bin", {}, "changed while it was written"),
    ],
)
def test_what_was_not_written_is_no_contact(tmp_path: Path, script: str, more: dict[str, float], says: str) -> None:
    """The error has the last words of the tool; nothing is taken for written."""
    tool = flash(tmp_path, script, **more)
    with pytest.raises(ContactError, match=says):
        anyio.run(tool.once)
    assert not tool.written.digest


def test_an_image_that_is_not_there(tmp_path: Path) -> None:
    """The file is named before the tool is run."""
    with pytest.raises(UsageError, match=r"nowhere\.bin cannot be read: No such file"):
        anyio.run(Flash(["true"], image=tmp_path / "nowhere.bin").once)


def test_a_recording_is_kept_only_where_the_path_fails(tmp_path: Path) -> None:
    """Beside the trace of a failing path lies what the program printed; beside one that passes, nothing."""
    recorded = Life(recording=Recording(CLOCK))
    run(bench(recorded), tmp_path / "good")
    assert kept_recording(tmp_path / "good" / "path-0001.jsonl") is None
    [group] = run(bench(recorded, "wrong"), tmp_path / "bad").failures.values()
    kept = kept_recording(group.first.trace)
    assert kept is not None
    assert kept.read_text().startswith("tick\ntick\n")
    failure = group.first.verdict.failure
    assert failure is not None
    assert f"recorded beside this path: {kept.name}" in failure.note
    assert [*tmp_path.rglob("*.said")] == []


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["foreground", "background"])
def _started(request: pytest.FixtureRequest) -> Generator[None]:
    """Be otf as a shell starts it: jobs in the background ignore SIGINT."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_started")
@pytest.mark.parametrize(
    ("program", "size"),
    [
        ("echo here > {file}; echo there; : > on; sleep 9", 5),
        ("trap 'echo last; exit' INT; : > on; while :; do sleep 0.01; done", 5),
        ("trap '' XFSZ; while echo 0123456789; do :; done; : > on; while :; do sleep 0.01; done", 1024),
    ],
)
def test_a_recording_is_what_the_program_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, size: int
) -> None:
    """Into the file that it is told, or onto its output; also at its end; no more than `largest`."""
    monkeypatch.chdir(tmp_path)
    recording = Recording(["sh", "-c", program], largest=1024, ahead=0)
    [group] = run(
        bench(Life(recording=recording, reset="until test -e on; do sleep 0.01; done; rm on"), "wrong"), tmp_path, 1
    ).failures.values()
    kept = kept_recording(group.first.trace)
    assert kept is not None
    assert kept.stat().st_size == size


def test_a_program_that_cannot_record_is_no_contact(tmp_path: Path) -> None:
    """Its last words are in the reason, and no path is driven."""
    summary = run(bench(Life(recording=Recording(["sh", "-c", "echo no vcan9 >&2; exit 1"]))), tmp_path)
    assert "ended before the path began: exit status 1; it said: no vcan9" in summary.trouble
    assert summary.paths == 0
