"""The cluster's executor, with a scheduler that is made here: what it sends, and what it does about trouble."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import anyio
import msgspec
import pytest

from otf.campaign import Campaign, Settings
from otf.campaign.relay import IDLE, JobAnswer, Relay, end_relay, relayed, stop_relayed
from otf.campaign.settings import Workers
from otf.cli.worker import written
from otf.errors import ContactError, UsageError, WriteError
from otf.models.coffee import bench

PROGRAM = """
import sys, json, pathlib
out = pathlib.Path(json.loads(sys.stdin.readline())["out"])
for line in sys.stdin:
    job = json.loads(line)
    if job["does"] == "die":
        break
    for name in ("path-0001.jsonl", "path-0002.jsonl", "path_0001_shrunk.py"):
        (out / name).write_text(name)
    print(json.dumps({"job": job["job"], "files": sorted(file.name for file in out.iterdir())}), flush=True)
"""
WORKER = ("-c", PROGRAM)
KilledWorker = type("KilledWorker", (Exception,), {})


class Scheduler:
    """Runs tasks in threads of this process, with `trouble` before some of them."""

    def __init__(self, *trouble: Exception) -> None:
        self.trouble = [*trouble]
        self.address = ""
        self.submitted: list[str] = []
        self.closed = False

    async def client(self, address: str, **_: Any) -> Scheduler:  # noqa: ANN401 -- as dask has it
        """Connect."""
        self.address = address
        return self

    def submit(self, function: Callable[..., Any], *arguments: Any, key: str, **_: Any) -> Submitted:  # noqa: ANN401
        """Return a future."""
        self.submitted.append(key)
        trouble = self.trouble.pop(0) if self.trouble else None
        return Submitted(partial(function, *arguments), trouble)

    async def run(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> None:  # noqa: ANN401
        """Run a function on each worker."""
        await asyncio.to_thread(function, *arguments)

    async def close(self) -> None:
        """Disconnect."""
        self.closed = True


class Submitted:
    """A future."""

    def __init__(self, work: Callable[[], Any], trouble: Exception | None) -> None:
        self.work, self.trouble = work, trouble

    def __await__(self) -> Generator[Any, Any, Any]:
        if self.trouble is not None:
            raise self.trouble
        return asyncio.to_thread(self.work).__await__()

    def release(self) -> None:
        """Forget it."""


@pytest.fixture
def scheduled(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scheduler]:
    """Return a function that installs a scheduler."""

    def install(*trouble: Exception) -> Scheduler:
        found = Scheduler(*trouble)
        there = SimpleNamespace(Client=found.client, KilledWorker=KilledWorker, CancelledError=CancelledError)
        monkeypatch.setitem(sys.modules, "distributed", there)
        return found

    return install


def _settings(out: Path, **more: Any) -> Settings:  # noqa: ANN401 -- the fields of settings
    options: dict[str, object] = {"bench": "coffee", "steps": 10, "largest": 1, "budget": 100}
    if "fault" in more:
        options["sets"] = [f"fault={more.pop('fault')}"]
    greeting = msgspec.json.encode({"options": options, "out": "nowhere"})
    workers = Workers(1, ("-m", "otf.cli.worker"), greeting, "tcp://there")
    return Settings(out=out, reference="coffee", traces=6, steps=10, jobs=2, workers=workers, **more)


def test_a_campaign(tmp_path: Path, scheduled: Callable[..., Scheduler]) -> None:
    """Paths are tasks; one whose worker was lost too often is asked for again; traces are in the folder."""
    scheduler = scheduled(KilledWorker())
    summary = asyncio.run(Campaign(bench(fault="dry"), _settings(tmp_path, fault="dry")).run())
    assert (summary.paths, summary.trouble) == (6, "")
    assert len(summary.failures) == 1
    [group] = summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps == 2
    assert group.shrunk.trace.parent == tmp_path
    assert len([*tmp_path.glob("path-????.jsonl")]) == 6
    assert (scheduler.address, scheduler.closed) == ("tcp://there", True)
    assert scheduler.submitted[-1].startswith("otf-shrink-")
    log = (tmp_path / "campaign.jsonl").read_text(encoding="utf-8")
    assert log.count('"path driven again"') == 1


def test_a_worker_writes_no_other_file(
    tmp_path: Path, scheduled: Callable[..., Scheduler], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that the job does not write, such as the journal, a report or the trace of another path, are dropped."""
    scheduled()

    def lying(*call: Any) -> JobAnswer:  # noqa: ANN401 -- as the relay has it
        line, files = relayed(*call)
        more = (
            "campaign.jsonl",
            "../campaign.jsonl",
            "path-0999.jsonl",
            "report.html",
            "test_it.py",
            "path-00011.jsonl",
        )
        return JobAnswer(line, {**files, **dict.fromkeys(more, b"a lie")})

    monkeypatch.setattr("otf.campaign.cluster.relayed", lying)
    assert asyncio.run(Campaign(bench(), _settings(tmp_path)).run()).paths == 6
    assert sorted(each.name for each in tmp_path.glob("path-*")) == [
        f"path-{number:04}.jsonl" for number in range(1, 7)
    ]
    assert not any(each.read_bytes() == b"a lie" for each in tmp_path.iterdir() if each.is_file())
    assert {each.suffix for each in tmp_path.iterdir()} <= {".jsonl", ".json", ""}


@pytest.mark.parametrize("trouble", [CancelledError(), OSError("no route")])
def test_a_scheduler_that_goes(tmp_path: Path, scheduled: Callable[..., Scheduler], trouble: Exception) -> None:
    """The campaign ends with a sentence that names the folder to go on with."""
    scheduled(*[trouble] * 4)
    summary = asyncio.run(Campaign(bench(), _settings(tmp_path)).run())
    assert summary.paths == 0
    assert "the scheduler is gone" in summary.trouble
    assert f"`otf run --resume {tmp_path} --cluster ADDRESS`" in summary.trouble


def test_no_scheduler(tmp_path: Path, scheduled: Callable[..., Scheduler], monkeypatch: pytest.MonkeyPatch) -> None:
    """An address without a scheduler, and a machine without dask, are errors with advice."""
    scheduler = scheduled()

    async def refuse(_address: str, **_: Any) -> None:  # noqa: ANN401 -- as above
        raise OSError("refused")

    monkeypatch.setattr(sys.modules["distributed"], "Client", refuse)
    with pytest.raises(ContactError, match=r"there is no scheduler \(refused\); `dask scheduler` starts one"):
        asyncio.run(Campaign(bench(), _settings(tmp_path / "a")).run())
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'otf\[cluster\]'"):
        asyncio.run(Campaign(bench(), _settings(tmp_path / "b")).run())
    assert not scheduler.submitted


def test_an_error_of_a_worker(tmp_path: Path) -> None:
    """It is the error of the campaign, by its class."""
    answer = '{"job": 1, "error": "no disk", "kind": "WriteError"}'
    refuses = f"import sys; sys.stdin.readline(); sys.stdin.readline(); print({answer!r}); sys.stdin.read()"
    settings = Settings(out=tmp_path, traces=1, workers=Workers(1, ("-u", "-c", refuses), b"{}"))
    with pytest.raises(WriteError, match="no disk"):
        asyncio.run(Campaign(bench(), settings).run())


def test_files_that_travel() -> None:
    """The files of a job go to the folder of the worker program, and those with its name come back."""
    relay = Relay(WORKER, b'{"out": ""}')
    answer = relay.ask(1, b'{"job": 1, "does": "drive"}', {"../path-0009.jsonl": b"sent"}, ("path-0001.", "path_0001_"))
    assert answer.files == {name: name.encode() for name in ("path-0001.jsonl", "path_0001_shrunk.py")}
    assert msgspec.json.decode(answer.line)["files"] == [
        "path-0001.jsonl",
        "path-0002.jsonl",
        "path-0009.jsonl",
        "path_0001_shrunk.py",
    ]
    assert not relay.ended
    assert relay.ask(2, b'{"job": 2, "does": "die"}', {}, ()).line == b""
    assert relay.ask(3, b'{"job": 3, "does": "drive"}', {}, ()).line == b""
    assert relay.ended
    relay.end()
    assert not relay.folder.exists()


def test_a_program_that_died_is_started_again() -> None:
    """Of each campaign one worker program runs on a machine, until the campaign ends it."""
    greeting, wanted = b'{"out": ""}', ("path-0001.",)
    try:
        assert relayed("a", WORKER, greeting, 1, b'{"job": 1, "does": "die"}', {}, wanted).line == b""
        assert relayed("a", WORKER, greeting, 2, b'{"job": 2, "does": "drive"}', {}, wanted).files
    finally:
        end_relay("a")
    end_relay("a")


def test_a_program_that_writes_something_else() -> None:
    """A line that is not an answer ends the program: no one waits for an answer that was cut in two."""
    relay = Relay(("-c", "print('warning', flush=True); input()"), b'{"out": ""}')
    assert relay.ask(1, b'{"job": 1, "does": "drive"}', {}, ()).line == b""
    relay.end()


def test_a_job_is_stopped() -> None:
    """What stops it is one more line for the program, which then answers; of a job that is over nothing is said."""
    program = "import sys; sys.stdin.readline(); job = sys.stdin.readline(); print(job + sys.stdin.readline(), end='')"
    relay = Relay(("-c", program), b'{"out": ""}')
    asked = Future[bytes]()
    Thread(target=lambda: asked.set_result(relay.ask(1, b'{"job": 1}', {}, ()).line)).start()
    while not asked.done():
        relay.stop(1, b'{"job": 1, "does": "stop"}')
    relay.stop(2, b"")
    assert asked.result() == b'{"job": 1}'
    stop_relayed("unknown", 1, b"")
    relay.end()


def test_a_coordinator_that_is_killed(tmp_path: Path) -> None:
    """A worker program removes its own folder at the end of its input, and has no complaint about a lost reader."""
    (tmp_path / "own").mkdir()
    options = {"bench": "coffee", "steps": 10, "largest": 1 << 20, "budget": 100}
    greeting = msgspec.json.encode({"options": options, "out": str(tmp_path / "own"), "removes": True})
    worker = [sys.executable, "-m", "otf.cli.worker"]
    assert subprocess.run(worker, check=True, input=greeting + b"\n", capture_output=True, timeout=60).stderr == b""
    assert [*tmp_path.iterdir()] == []
    reading, writing = os.pipe()
    os.close(reading)
    anyio.run(written, writing, b"an answer")
    os.close(writing)


def test_an_idle_program_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without work for a minute ends: its coordinator may have been killed."""
    assert IDLE == 60
    monkeypatch.setattr("otf.campaign.relay.IDLE", 0.01)
    relay = Relay(WORKER, b'{"out": ""}')
    assert relay.ask(1, b'{"job": 1, "does": "drive"}', {}, ()).line
    relay.wait()
    assert relay.ended
    assert not relay.folder.exists()
