"""A serial port stays open over the paths of a campaign, and no longer."""

import os
import socket
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from otf.adapter import Ending
from otf.adapter.kept import keeping
from otf.adapter.serial import OpenPort
from otf.adapter.serial.device import Opened
from otf.adapters import serialport
from otf.adapters.serialport import SerialLine, device, open_serial
from otf.errors import ContactError
from tests.adapters.board import Board, bench, campaign, counted, plugged, said
from tests.adapters.harness import Baseline, arrive, frames, over, terminal

KEPT = "the port was kept open over the paths before this one; keep=False opens it anew for each"
pytestmark = [pytest.mark.anyio, pytest.mark.real]


# Over a campaign


@pytest.mark.parametrize(("keep", "times"), [(True, 1), (False, 4)])
async def test_a_campaign_opens_a_port_once(
    keep: bool, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four paths open it once, or four times where it is not to be kept; then it is closed."""
    opened, board = counted(monkeypatch), Board()
    async with plugged(board) as name:
        await campaign(bench(serialport(name, keep=keep)), tmp_path / "first", traces=1).run()
        opened.clear()
        before = Baseline()
        summary = await campaign(bench(serialport(name, keep=keep)), tmp_path).run()
        assert not before.lasting_leaks()
    assert (summary.verdict, summary.paths) == ("pass", 4)
    assert opened == [name] * times
    assert board.heard.count(b"reset") == 5


async def test_shrinking_opens_it_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Strict runs and the candidates of the shrinker are paths like others: a failing campaign opens the port once."""
    opened, board = counted(monkeypatch), Board("dry")
    async with plugged(board) as name:
        summary = await campaign(bench(name, quiescence=0.01), tmp_path, traces=2, steps=20).run()
    (group,) = summary.failures.values()
    assert group.shrunk is not None
    assert (group.shrunk.steps, group.shrunk.rate) == (2, 1.0)
    assert opened == [name]
    assert board.heard.count(b"reset") > 4


async def test_an_interruption_closes_it(tmp_path: Path) -> None:
    """A campaign that is cancelled in the middle of a path leaves no descriptor."""
    board = Board()
    async with plugged(board) as name:
        await campaign(bench(name), tmp_path / "first", traces=1).run()
        before = Baseline()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(campaign(bench(name), tmp_path, traces=1000, steps=1000).run)
            with anyio.fail_after(20):
                while board.heard.count(b"reset") < 2 or board.heard[-1] == b"reset":  # noqa: ASYNC110 -- a list tells nobody
                    await anyio.sleep(0.001)
            assert before.leaks()
            tasks.cancel_scope.cancel()
        assert not before.lasting_leaks()


async def test_a_broken_bench_closes_it(tmp_path: Path) -> None:
    """An error that ends a campaign closes the port as well."""
    async with plugged(Board()) as name:
        await campaign(bench(name), tmp_path / "first", traces=1).run()
        before = Baseline()
        with pytest.raises(RuntimeError):
            async with keeping(), serialport(name)():
                raise RuntimeError
        assert not before.lasting_leaks()


async def test_jobs_have_a_port_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two paths at a time on a shared device open it twice, and the next two find both; a fourth user opens it anew."""
    opened = counted(monkeypatch)
    async with terminal() as (name, _), keeping():
        port = serialport(name, exclusive=False)
        for _ in range(3):
            async with port(), port():
                pass
        assert opened == [name] * 2
        async with port(), port(), port():
            pass
        assert opened == [name] * 3


async def test_two_jobs_on_one_device_are_told_why(tmp_path: Path) -> None:
    """A device that is ours alone cannot be had twice, and the message says that it is this very run that has it."""
    async with plugged(Board()) as name:
        summary = await campaign(bench(name), tmp_path, jobs=2).run()
    assert (summary.verdict, summary.exit_status) == ("inconclusive", 3)
    assert f"cannot open {name}: this very run has it open already; each job (--jobs)" in summary.trouble


# Outside of a campaign


async def test_without_a_campaign_nothing_is_kept() -> None:
    """Where nobody says when it is over a port is closed at once, whatever it was opened with."""
    async with terminal() as (name, _):
        async with serialport(name)():
            pass
        before = Baseline()
        async with serialport(name, keep=True)():
            pass
        assert not before.lasting_leaks()


async def test_what_a_bench_opens_by_itself_is_not_kept_unless_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal of a program that is started for every path is another one each time."""
    opened = counted(monkeypatch)
    async with terminal() as (name, _), keeping():
        for keep in ({}, {}, {"keep": True}, {"keep": True}):
            async with open_serial(device(name, **keep)):
                pass
    assert opened == [name] * 3


async def test_what_stands_behind_the_name_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gives the address may say that the port is to be opened anew, whatever the bench says."""
    opened = counted(monkeypatch)
    async with terminal() as (name, _), keeping():
        moved = serialport("/dev/ttyNONE", keep=True).at
        assert moved is not None
        for _ in range(2):
            async with moved(f"{name}?keep=false")():
                pass
    assert opened == [name] * 2


async def test_the_outermost_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who keeps ports for longer than a campaign finds them open after it."""
    opened = counted(monkeypatch)
    async with terminal() as (name, _), keeping():
        for _ in range(2):
            async with keeping(), serialport(name)():
                pass
        assert opened == [name]


# What a path finds


async def test_what_came_between_two_paths_is_dropped() -> None:
    """Neither what nobody read, nor half a frame of the path before, belongs to the next one."""
    async with terminal() as (name, far), keeping():
        async with serialport(name)() as line:
            assert isinstance(line, SerialLine)
            port = line.port
            said(far, b"read\nhalf a fra", port.fileno())
            assert await arrive(line, 1) == frames(b"read")
        said(far, b"me\nstale\n", port.fileno())
        async with serialport(name)() as line:
            assert line.receive() == []
            os.write(far, b"fresh\n")
            assert await arrive(line, 1) == frames(b"fresh")


class Talking:
    """Carries a port on which something comes for ever."""

    port: Any = SimpleNamespace(is_open=True)
    descriptor: int = -1
    why: str = ""

    def read(self) -> bytes:
        """Return more."""
        return b"more\n"

    def write(self, data: bytes, /) -> int:
        """Take all."""
        return len(data)

    async def stop(self) -> None:
        """Go on talking."""


async def test_one_that_never_stops_talking_keeps_no_path_from_beginning() -> None:
    """Old input is dropped up to a limit: what comes without end is for the path to judge."""
    assert OpenPort(device("loop://"), Opened(None, []), Talking()).refresh()


async def test_a_failure_tells_that_it_was_kept() -> None:
    """Who relies on the reset that comes with opening a port finds the reason in the remarks."""
    async with terminal() as (name, _), keeping():
        async with serialport(name)() as line:
            assert line.remarks() == []
        async with serialport(name)() as line:
            assert line.remarks() == [KEPT]


async def test_it_belongs_to_one_path_only() -> None:
    """A line of a path that is over neither sends nor hears, though its port is open."""
    async with terminal() as (name, far), keeping():
        async with serialport(name)() as old:
            pass
        async with serialport(name)() as new:
            os.write(far, b"for the new one\n")
            assert await arrive(new, 1) == frames(b"for the new one")
            assert (old.receive(), old.descriptors()) == ([], ())


async def test_a_port_without_a_descriptor_is_kept_with_its_threads() -> None:
    """The threads that carry its bytes stay as long as the port does, and end with it."""
    threads = threading.active_count()
    async with keeping():
        async with serialport("loop://")() as line:
            assert isinstance(line, SerialLine)
            port = line.port
            await line.send(b"one")
            assert await arrive(line, 1) == frames(b"one")
        async with serialport("loop://")() as line:
            assert isinstance(line, SerialLine)
            assert line.port is port
            await line.send(b"two")
            assert await arrive(line, 1) == frames(b"two")
    assert not port.is_open
    assert threading.active_count() <= threads + 1  # anyio keeps one of its own for what blocks


async def test_a_connection_is_made_anew() -> None:
    """To many systems a new connection is a new start; with `keep` it stays all the same."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        for keep, calls in ((None, 2), (True, 1)):
            async with keeping():
                for _ in range(2):
                    async with serialport(url, keep=keep)():
                        pass
            for _ in range(calls):
                server.accept()[0].close()
            with pytest.raises(BlockingIOError):
                server.accept()


# What was lost


async def test_a_port_that_ended_is_opened_again(tmp_path: Path) -> None:
    """The end of a port in one path is not the beginning of the next: its name is opened anew."""
    link = tmp_path / "port"
    async with keeping():
        async with terminal() as (name, far):
            link.symlink_to(name)
            async with serialport(str(link))() as line:
                os.close(far)
                assert await arrive(line, over) == [Ending("hung up")]
        await replugged(link)


async def test_a_port_that_went_while_nobody_listened_is_opened_again(tmp_path: Path) -> None:
    """The same where it was lost between two paths."""
    link = tmp_path / "port"
    async with keeping():
        async with terminal() as (name, _):
            link.symlink_to(name)
            async with serialport(str(link))():
                pass
        await replugged(link)


async def test_a_name_that_leads_elsewhere_is_opened_again(tmp_path: Path) -> None:
    """A device below /dev/serial that was plugged in again has another number, though the old one may be there yet."""
    link = tmp_path / "port"
    async with keeping(), terminal() as (name, _):
        link.symlink_to(name)
        async with serialport(str(link))():
            pass
        await replugged(link)


def relink(link: Path, name: str) -> None:
    """Let a name lead to another device."""
    link.unlink()
    link.symlink_to(name)


async def replugged(link: Path) -> None:
    """Let a name lead to another device, and see that its bytes come."""
    async with terminal() as (name, far):
        relink(link, name)
        async with serialport(str(link))() as line:
            os.write(far, b"I am new\n")
            assert await arrive(line, 1) == frames(b"I am new")


async def test_a_device_that_is_not_there_any_more_is_told() -> None:
    """A port that was kept does not hide that its device is gone."""
    async with keeping():
        async with terminal() as (name, _), serialport(name)():
            pass
        with pytest.raises(ContactError, match="there is no such device"):
            async with serialport(name, within=0)():
                pass


async def test_one_that_was_closed_by_hand_is_opened_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever closes pyserial's port himself, in a path, has it opened anew in the next."""
    opened = counted(monkeypatch)
    async with terminal() as (name, far), keeping():
        async with serialport(name)() as line:
            assert isinstance(line, SerialLine)
            line.port.close()
        async with serialport(name)() as line:
            os.write(far, b"hello\n")
            assert await arrive(line, 1) == frames(b"hello")
    assert opened == [name] * 2


async def test_a_name_that_is_gone_is_told(tmp_path: Path) -> None:
    """The same where only the name is gone: what it led to may be another device's by now."""
    link = tmp_path / "port"
    async with keeping(), terminal() as (name, _):
        link.symlink_to(name)
        async with serialport(str(link))():
            pass
        relink(link, "/dev/ttyNONE")
        with pytest.raises(ContactError, match="there is no such device"):
            async with serialport(str(link), within=0)():
                pass


async def test_what_cannot_be_carried_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a port was opened and nothing can carry its bytes it does not stay open."""

    def fail(_port: object) -> None:
        raise RuntimeError("can't start new thread")

    async with terminal() as (name, _):
        async with serialport(name)():
            pass
        before = Baseline()
        monkeypatch.setattr("otf.adapter.serial.carried", fail)
        with pytest.raises(RuntimeError):
            async with serialport(name)():
                pass
        assert not before.lasting_leaks()


async def test_ports_that_are_gone_do_not_gather() -> None:
    """Where each path brings a terminal of its own, that of the path before is closed."""
    before, counts = Baseline(), set[int]()
    async with keeping():
        for _ in range(10):
            async with terminal() as (name, _), serialport(name)():
                counts.add(len(before.leaks()))
    assert len(counts) == 1
