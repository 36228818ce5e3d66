"""Campaigns on a serial port that is in trouble: unplugged, echoing, at another speed, in use, forbidden."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from otf.adapters import serialport
from otf.campaign import Summary
from otf.errors import ContactError
from otf.trace.explain import explanation
from tests.adapters.board import Board, bench, campaign, counted, plugged
from tests.adapters.harness import SECONDS, bare_errors, terminal

pytestmark = [pytest.mark.anyio, pytest.mark.real]


@pytest.fixture
def link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The name of a device that can be unplugged: a pair of terminals that passes for one."""
    monkeypatch.setattr("otf.adapter.serial.device._PTYS", "/nowhere/")
    return tmp_path / "device"


@dataclass
class Cable:
    """Leads the name of a device to one board after another."""

    link: Path
    over: anyio.Event = field(default_factory=anyio.Event)

    async def connect(self, board: Board, done: Callable[[], bool]) -> None:
        """Plug a board in, and pull it out again when it is done."""
        async with terminal() as (name, far):
            self.plug(name)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(board.serve, far)
                await until(done)
                tasks.cancel_scope.cancel()
            self.pull(far)

    async def connect_all(self, boards: list[Board], pause: float) -> None:
        """Pull out each board in the middle of a path; of several the last one stays."""
        for board in boards:
            stays = board is boards[-1] and len(boards) > 1
            await self.connect(board, self.over.is_set if stays else partial(busy, board))
            await anyio.sleep(pause)

    def plugged(self) -> bool:
        """Whether there is a board."""
        return self.link.is_symlink()

    def plug(self, name: str) -> None:
        """Plug in what has this name."""
        self.link.symlink_to(name)

    def pull(self, far: int) -> None:
        """Pull it out."""
        self.link.unlink()
        os.close(far)


def busy(board: Board) -> bool:
    """Whether a board is in the middle of its first path."""
    return len(board.heard) >= 5


async def until(done: Callable[[], bool]) -> None:
    """Wait for what tells nobody."""
    with anyio.fail_after(SECONDS):
        while not done():  # noqa: ASYNC110 -- as it says
            await anyio.sleep(0.001)


async def on_boards(link: Path, boards: list[Board], out: Path, pause: float = 0.0, **options: Any) -> Summary:  # noqa: ANN401 -- of the port
    """Run a campaign on one board after another, with so many seconds in between."""
    cable, running = Cable(link), campaign(bench(serialport(str(link), **options)), out, traces=2, steps=10)
    with bare_errors():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cable.connect_all, boards, pause)
            await until(cable.plugged)
            await running.run()
            cable.over.set()
    return running.summary


@pytest.mark.parametrize("keep", [True, False])
async def test_unplugged_in_mid_run_and_back_again(
    link: Path, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device that is gone for a moment is opened again, and the path is gone again from its beginning: it passes."""
    opened, boards = counted(monkeypatch), [Board(), Board()]
    summary = await on_boards(link, boards, tmp_path, 0.3, keep=keep)
    assert (summary.verdict, summary.paths, summary.steps) == ("pass", 2, 20)
    assert opened == [str(link)] * (2 if keep else 3)
    assert [board.heard[0] for board in boards] == [b"reset", b"reset"]
    assert [board.heard.count(b"reset") for board in boards] == [1, 2]


async def test_unplugged_for_good(link: Path, tmp_path: Path) -> None:
    """A device that does not come back says nothing about the system: inconclusive, and what to do."""
    summary = await on_boards(link, [Board()], tmp_path, within=0.1)
    assert (summary.verdict, summary.exit_status, summary.failures) == ("inconclusive", 3, {})
    assert f"cannot open {link}: there is no such device; is it plugged in?" in summary.trouble


async def test_a_device_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """A board that comes back only after a reset is found, though it was not there when it was looked for first."""
    link = tmp_path / "later"
    async with terminal() as (name, _):

        async def plug() -> None:
            await anyio.sleep(0.2)
            link.symlink_to(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(plug)
            async with serialport(str(link))() as line:
                assert line.remarks() == []


@pytest.mark.parametrize("within", [0.0, 0.3])
async def test_it_is_not_waited_for_longer_than_was_said(within: float) -> None:
    """After `within` seconds a device that is not there is told to be missing."""
    began = anyio.current_time()
    with pytest.raises(ContactError, match="there is no such device"):
        async with serialport("/dev/ttyNONE", within=within)():
            pass
    # uvloop's clock counts whole milliseconds
    assert within - 0.002 < anyio.current_time() - began < within + SECONDS


class Noisy(Board):
    """A board whose bytes come as a receiver at another speed sees them: torn apart, and full of wrong bits."""

    def __init__(self, noise: bytes) -> None:
        super().__init__()
        self._noise = noise

    def answer(self, line: bytes) -> bytes:
        """Make noise of an answer."""
        return self._noise if super().answer(line) else b""


async def failing(board: Board, out: Path) -> str:
    """How the first failure of a board is explained."""
    async with plugged(board) as name:
        summary = await campaign(bench(name, quiescence=0.01), out, traces=1, steps=20, shrink=False).run()
    (group,) = summary.failures.values()
    return explanation(group.first.verdict, group.first.events)


async def test_a_port_that_echoes(tmp_path: Path) -> None:
    """What was sent and comes back is an output like any other: the failure shows it beside the input."""
    told = await failing(Board(echoes=True), tmp_path)
    assert "an output came where the model allows none" in told
    assert re.search(r"1  (Coin\(cents=\d+\))  ->  \1   <== here", told)


async def test_garbage_at_the_wrong_baud_rate(tmp_path: Path) -> None:
    """Bytes that are none of the system's words are shown as they came; nobody takes them for silence, or for words."""
    told = await failing(Noisy(b"\x00\xf8\x80\xe0\xfe\n"), tmp_path)
    assert "bytes came that do not decode" in told
    assert r"Undecodable(raw=b'\x00\xf8\x80\xe0\xfe'" in told


async def test_garbage_without_an_end(tmp_path: Path) -> None:
    """Where the noise never ends a frame, the answer is missing, and the remarks have the bytes."""
    told = await failing(Noisy(b"\xf8\x80\xe0\xfe"), tmp_path)
    assert "an output that the model requires did not come" in told
    assert r"line: a frame has begun and not ended: b'\xf8\x80\xe0\xfe'" in told


async def test_a_forbidden_device_ends_a_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was decided, at once and not after a wait, and the message tells which group may."""
    real = os.open

    def forbid(path: str, *how: int) -> int:
        if str(path).startswith("/dev/pts"):
            raise PermissionError(13, "Permission denied")
        return real(path, *how)

    async with plugged(Board()) as name:
        monkeypatch.setattr("serial.serialposix.os.open", forbid)
        summary = await campaign(bench(name), tmp_path).run()
    assert (summary.verdict, summary.exit_status) == ("inconclusive", 3)
    assert f"cannot open {name}: permission denied; it belongs to the group " in summary.trouble
