"""Other sides that do not read, and calls of drivers that do not return: none hangs the tester."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from threading import Event as Flag
from typing import Any

import anyio
import pytest

from otf.adapter import Ending, LineLost
from otf.adapter.serial import carrier, device
from otf.adapter.stream import StreamLine
from otf.adapter.waiting import alarms
from otf.adapters import serialport
from otf.adapters.tcp import TcpLine, open_listener, open_tcp
from otf.errors import ContactError
from otf.framing import lines
from tests.adapters.harness import SECONDS, Baseline, arrive, frames, over, terminal
from tests.adapters.test_tls import CLIENT, SERVER

pytestmark = [pytest.mark.anyio, pytest.mark.real]


@pytest.mark.parametrize("url", ["loop://", "spy://{name}"])
async def test_a_serial_port_whose_other_side_does_not_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was written has its time to go out; then the line is lost, and the port is closed with its threads."""
    monkeypatch.setattr(carrier, "DRAIN", 0.1)
    with anyio.fail_after(SECONDS):
        async with terminal() as (name, _far):
            before = Baseline()
            async with serialport(url.format(name=name))() as line:
                assert isinstance(line, StreamLine)
                line.patience = 0.05
                with pytest.raises(LineLost, match=r"did not read for 0\.05 s"):
                    await line.send(b"x" * 1_000_000)
            assert not before.lasting_leaks()
    for pump in [thread for thread in threading.enumerate() if thread.name == carrier.PUMP]:
        pump.join(SECONDS)  # on a busy machine its end may take longer than closing waits for it
        assert not pump.is_alive()


class Stuck:
    """A port of which writing never ends, whatever is done, until the flag is set."""

    def __init__(self) -> None:
        self.flag = Flag()
        self.timeout = 0.0
        self.in_waiting = 0
        self.is_open = True

    def read(self, _size: int) -> bytes:
        """Wait a little for nothing."""
        self.flag.wait(self.timeout)
        return b""

    def write(self, _data: bytes) -> None:
        """Wait for ever."""
        self.flag.wait()

    def close(self) -> None:
        """Close it."""
        self.is_open = False


async def test_a_driver_that_never_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread is left behind, and closing the port takes no longer than it may."""
    monkeypatch.setattr(carrier, "DRAIN", 0.05)
    port = Stuck()
    pumped = carrier.Pump(port)
    pumped.write(b"x")
    with anyio.fail_after(SECONDS):
        await pumped.stop()
    assert not port.is_open
    port.flag.set()


async def test_a_port_that_takes_for_ever_to_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its time, and is closed when it opens after that."""
    flag, closed = Flag(), Flag()

    class Late:
        port: Any

        def close(self) -> None:
            closed.set()

    def opens(_device: device.Device) -> Late:
        flag.wait(SECONDS)
        late = Late()
        late.port = late
        return late

    monkeypatch.setattr(device, "_open", opens)
    monkeypatch.setattr(device, "OPENING", 0.05)
    with pytest.raises(ContactError, match=r"cannot open /dev/ttyX: it does not open within 0\.05 s; unplug it"):
        async with serialport("/dev/ttyX")():
            pass
    flag.set()
    assert closed.wait(SECONDS)


CAMPAIGN = """
from dataclasses import dataclass
from otf import Bench, Spec, goto, lines
from otf.adapters import serialport

@dataclass(frozen=True)
class Say:
    text: str

def step(state, inp):
    yield goto(state)

def make():
    # what is written comes back to a buffer of 4096 bytes, and the reading end of it is clogged
    return Bench(Spec(step, 0, [Say("x" * 60_000)]), codec=lines({Say: "say {text}"}), ports={"p": serialport("loop://")})
"""


def test_ctrl_c_while_nobody_reads(tmp_path: Path) -> None:
    """An interruption ends a run whose line is clogged, within seconds."""
    (tmp_path / "bench.py").write_text(CAMPAIGN)
    command = [str(Path(sys.executable).with_name("otf")), "run", "bench.py:make", "--no-saved"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=SECONDS)
        assert run.returncode in {1, 130}


async def test_a_tls_peer_that_stalls() -> None:
    """Where there is room but TLS wants to hear something first, nothing spins, and the line is lost in time."""
    tries = 0

    def write(_data: bytes) -> int:
        nonlocal tries
        tries += 1
        raise BlockingIOError

    near, far = os.pipe()
    async with alarms() as alarm:
        line = StreamLine(far, lambda: b"", write, lines(), alarm)
        line.patience = 0.1
        with anyio.fail_after(SECONDS), pytest.raises(LineLost, match=r"did not read for 0\.1 s"):
            await line.send(b"hello")
    os.close(near)
    os.close(far)
    assert tries < 100


@pytest.mark.parametrize("how", ["closed", "cut off"])
async def test_a_tls_stream_that_is_cut_off(how: str) -> None:
    """It is no end of a stream: what came last may not be all that was said."""
    async with open_listener() as listener, anyio.create_task_group() as tasks:

        async def serve() -> None:
            async with listener.accept(tls=SERVER) as line:
                await line.send(b"half of it")
                if how == "cut off":
                    assert isinstance(line, TcpLine)
                    cut(line)

        tasks.start_soon(serve)
        async with open_tcp(listener.address, tls=CLIENT) as line:
            ending = Ending("end of stream" if how == "closed" else "cut off without closing tls")
            assert await arrive(line, over) == [*frames(b"half of it"), ending]


def cut(line: TcpLine) -> None:
    """Close a connection below TLS."""
    [descriptor] = line.descriptors()
    with socket.socket(fileno=os.dup(descriptor)) as bare:
        bare.shutdown(socket.SHUT_WR)
