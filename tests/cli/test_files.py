"""Files of others are never changed; files that cannot be written are reported, and hide no failure."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from otf.runner.lookout import Lookout
from tests.cli.command import Result, failed, machine, otf

RUN = ("run", "machine.py:make", "--set", "broken=true", "--seed", 1, "--traces", 2, "--out", "out")


@pytest.mark.parametrize("left", ["path-0001.jsonl", "saved-0001.jsonl", "campaign.jsonl"])
def test_a_folder_of_another_run(folder: Path, left: str) -> None:
    """A folder with traces of another run is refused, and nothing in it changes; other files do not matter."""
    machine(folder)
    (folder / "out").mkdir()
    (folder / "out" / "notes.txt").touch()
    (folder / "out" / left).write_text("theirs", encoding="utf-8")
    assert "of another run (" in failed(*RUN)
    assert {each.name: each.read_text(encoding="utf-8") for each in (folder / "out").iterdir()} == {
        "notes.txt": "",
        left: "theirs",
    }
    (folder / "out" / left).unlink()
    assert otf(*RUN).status == 1
    assert "it holds the traces of another run (path-0001.jsonl); `otf run --resume out` continues it" in failed(*RUN)
    assert otf("run", "machine.py:make", "--set", "broken=true", "--resume", "out").status == 1


def test_a_folder_that_is_in_use(folder: Path) -> None:
    """Where another process is writing its traces nothing else is written, by no command."""
    machine(folder)
    assert otf(*RUN).status == 1
    trace = folder / "out" / "path-0001.jsonl"
    trace.rename(folder / "path.jsonl")
    for other in (folder / "out").glob("path*"):
        other.unlink()
    with (folder / "out" / "campaign.jsonl").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another run is writing its traces there" in failed(*RUN)
        again = ("rerun", "path.jsonl", "--bench", "machine.py:make", "--out", "out")
        assert "another run is writing its traces there; choose another folder with --out, or wait" in failed(*again)
    assert otf(*again).out.endswith("trace: out/rerun-0001.jsonl\n")
    assert otf(*again).out.endswith("trace: out/rerun-0002.jsonl\n")
    assert "it holds the log of another run (campaign.jsonl)" in failed(*RUN)


def test_a_report_takes_the_place_of_reports_alone(folder: Path) -> None:
    """A page and an XML file are written over their like, and over nothing else."""
    machine(folder)
    otf(*RUN)
    (folder / "mine.html").write_text("<html>mine</html>", encoding="utf-8")
    call = ("report", "out", "--bench", "machine.py:make")
    for _ in range(2):
        assert otf(*call, "--junit", "x.xml").status == 0
    for option in ("--out", "--junit"):
        assert "mine.html: this file exists already, and is not a page that otf wrote" in failed(
            *call, option, "mine.html"
        )
    assert (folder / "mine.html").read_text(encoding="utf-8") == "<html>mine</html>"


def test_what_else_lies_in_the_folder_of_failures(folder: Path) -> None:
    """A pipe, a link to nowhere, a folder and what may not be read are left alone, and nothing waits for them."""
    machine(folder)
    otf(*RUN)
    kept = folder / "otf-runs" / "failures"
    (failure,) = kept.iterdir()
    begins = failure.name.removesuffix(".jsonl")
    os.mkfifo(kept / f"{begins}0.jsonl")
    (kept / f"{begins}1.jsonl").symlink_to("nowhere")
    (kept / f"{begins}2.jsonl").mkdir()
    names = {each.name for each in kept.iterdir()}
    done = otf(*RUN[:-1], "again", "--json")
    assert [each["came"] for each in done.data["saved"]] == ["still there"]
    assert {each.name for each in kept.iterdir()} == names


def test_a_failure_that_cannot_be_read_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A saved failure that the disk does not return today is not deleted."""
    machine(folder)
    otf(*RUN)
    with trouble(monkeypatch, "read", 1, only="otf-runs/failures", error=errno.EIO):
        done = otf(*RUN[:-1], "again", "--json")
    assert "Input/output error" in done.data["saved"][0]["came"]
    assert len(list((folder / "otf-runs" / "failures").iterdir())) == 1


def never(_: Lookout) -> float:
    """Return that nothing stalled."""
    return 0.0


@pytest.mark.parametrize(
    ("number", "apart"),
    [(errno.ENOSPC, 4), *(pytest.param(number, 1, marks=pytest.mark.slow) for number in (errno.ENOSPC, errno.EIO))],
)
def test_every_write_fails_once(folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, apart: int) -> None:
    """A failed write is reported in a sentence, not as a defect of otf, and changes no verdict."""
    # beside a stall a run is driven again, with writes of its own: here each campaign has the same writes
    monkeypatch.setattr(Lookout, "stalled", never)
    machine(folder)
    seen = set[str]()
    nth = 0
    for nth in range(1, 200, apart):
        out = f"out{nth}"
        with trouble(monkeypatch, "write", nth, error=number) as told:
            done = otf(*RUN[:-1], out, "--mode", "strict")
        if not told:
            break
        seen.add(Path(told[0]).name)
        assert "defect of otf" not in done.said
        # what was only tried, and stays behind, needs no words
        assert os.strerror(number) in done.said or told[0].startswith("unlink out"), told
        _stands(done)
    assert nth > 20
    if apart == 1:
        assert {"campaign.jsonl", "path-0001.jsonl", "path_0001_shrunk.py"} <= seen


def _stands(done: Result) -> None:
    # 1 where the failure was found before, 2 where nothing was found yet
    assert done.status == (1 if "FAIL (" in done.out else 2)


class Trouble:
    """Lets the n-th call fail that opens a file for reading, or that changes anything on the disk; notes which."""

    def __init__(self, nth: int, only: str, error: int) -> None:
        self.told: list[str] = []
        self._left, self._only, self._error = nth, only, error
        self._names = dict[int, str]()

    def read(self, patches: pytest.MonkeyPatch) -> None:
        """Watch what is opened."""
        self._patch(patches, Path, "open", lambda args: str(args[0]))

    def write(self, patches: pytest.MonkeyPatch) -> None:
        """Watch what is changed."""
        self._patch(patches, os, "open", lambda args: str(args[0]) if args[1] & os.O_WRONLY else "")
        self._patch(patches, os, "write", lambda args: self._names.get(args[0], ""))
        for name in ("mkdir", "unlink", "write_bytes", "write_text"):
            self._patch(patches, Path, name, lambda args: str(args[0]))
        self._patch(patches, Path, "replace", lambda args: str(args[1]))

    def _patch(
        self, patches: pytest.MonkeyPatch, owner: object, name: str, file: Callable[[tuple[Any, ...]], str]
    ) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def call(*args: Any, **more: Any) -> Any:  # noqa: ANN401 -- as the real one
            if found := file(args):
                self._fail(name, found)
            result = real(*args, **more)
            if real is OPEN:
                self._names[result] = str(args[0])
            return result

        patches.setattr(owner, name, call)

    def _fail(self, how: str, file: str) -> None:
        self._left -= self._only in file
        if self._left == 0 and not self.told:
            self.told.append(f"{how} {file}")
            raise OSError(self._error, os.strerror(self._error), file)


OPEN = os.open


@contextmanager
def trouble(
    monkeypatch: pytest.MonkeyPatch, what: str, nth: int, *, only: str = "", error: int = errno.ENOSPC
) -> Generator[list[str]]:
    """Have such trouble for a while."""
    found = Trouble(nth, only, error)
    with monkeypatch.context() as patches:
        (found.read if what == "read" else found.write)(patches)
        yield found.told
