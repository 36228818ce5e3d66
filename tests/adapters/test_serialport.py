"""Serial ports, on pairs of pseudo-terminals: what is special about them."""

import grp
import os
import socket
import subprocess
import termios
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from serial import serial_for_url
from serial.rfc2217 import PortManager

from otf.adapter import Ending, LineLost, Trouble
from otf.adapter.serial import OpenPort
from otf.adapter.serial.carrier import Direct
from otf.adapter.serial.device import Device, Opened, holders, ports
from otf.adapter.waiting import alarms
from otf.adapters import serialport
from otf.adapters.serialport import SerialLine, device, open_serial
from otf.errors import ContactError, UsageError
from otf.framing import lines, prompt, silence
from tests.adapters.harness import SECONDS, Baseline, arrive, frames, over, python, terminal

pytestmark = [pytest.mark.anyio, pytest.mark.real]


async def heard(far: int) -> bytes:
    """What the system gets next."""
    await anyio.wait_readable(far)
    return os.read(far, 4096)


# What arrives


async def test_bytes_come_singly_and_in_bursts() -> None:
    """Frames end at the prompt, however the bytes come."""
    async with terminal() as (name, far), serialport(name, framing=prompt(b"=> "))() as line:
        await line.send(b"printenv a")
        assert await heard(far) == b"printenv a\r"
        for byte in b"a=1\r\n=> ":
            os.write(far, bytes([byte]))
        os.write(far, b"one\r\n=> two\r\n=> ")
        assert await arrive(line, 3) == frames(b"a=1\r\n", b"one\r\n", b"two\r\n")


async def test_silence_ends_a_frame() -> None:
    """A frame of a protocol such as Modbus RTU ends when nothing comes for some milliseconds."""
    async with terminal() as (name, far), serialport(name, framing=silence(0.03))() as line:
        os.write(far, b"\1\3")
        os.write(far, b"\2\0")
        assert await arrive(line, 1) == frames(b"\1\3\2\0")


async def test_all_bytes_pass_as_they_are() -> None:
    """No terminal edits, echoes or translates anything, in either direction."""
    data = bytes(set(range(256)) - {0x0A})
    async with terminal() as (name, far), serialport(name)() as line:
        await line.send(data)
        assert await heard(far) == data + b"\n"
        os.write(far, data[:13] + b"\r" + data[14:] + b"\n")
        assert await arrive(line, 1) == frames(data[:13] + b"\r" + data[14:])


async def test_what_came_before_is_dropped() -> None:
    """What a system said before the port was opened belongs to nobody's run."""
    async with terminal() as (name, far):
        os.write(far, b"stale\n")
        async with serialport(name)() as line:
            os.write(far, b"fresh\n")
            assert await arrive(line, 1) == frames(b"fresh")


# How it ends


async def test_a_program_that_goes_away_hangs_up() -> None:
    """The other end of a pair is a program: that it closes its end is an ending, and nothing can be sent any more."""
    async with terminal() as (name, far), serialport(name)() as line:
        os.close(far)
        assert await arrive(line, over) == [Ending("hung up")]
        with pytest.raises(LineLost):
            await line.send(b"hello?")


async def test_a_device_that_is_gone_is_the_trouble_of_the_line() -> None:
    """A device that is unplugged says nothing about the system: it is told apart from an ending."""
    async with terminal() as (name, far), alarms() as alarm, open_serial(device(name)) as opened:
        unplugged = OpenPort(device(name), Opened(opened.port, []), Direct(opened.port))
        line = SerialLine(unplugged, lines(), alarm)
        os.close(far)
        arrived = await arrive(line, 1)
    assert isinstance(arrived[0], Trouble)
    assert arrived[0].reason.startswith(f"the device {name} is gone: ")


async def test_a_system_that_does_not_read_does_not_hold_the_tester_for_ever() -> None:
    """Flow control that never lets go ends in LineLost, and not in a tester that hangs."""
    async with terminal() as (name, _), serialport(name)() as line:
        assert isinstance(line, SerialLine)
        line.patience = 0.05
        with anyio.fail_after(SECONDS), pytest.raises(LineLost, match=r"^did not read for 0.05 s$"):
            await line.send(b"x" * 1_000_000)


# Options


async def test_parity_is_tolerated_where_there_is_none() -> None:
    """A pseudo-terminal has no parity and no modem lines: the port opens all the same, and the remarks say so."""
    async with terminal() as (name, far), serialport(name, parity="E", dtr=False, rts=True, low_latency=True)() as line:
        await line.send(b"hello")
        assert await heard(far) == b"hello\n"
        assert line.remarks()[0] == f"{name} has no parity, as pseudo-terminals do not; parity=E was left out"
        assert line.remarks()[1].startswith("low latency: this port cannot do it")


async def test_options_may_stand_behind_the_name() -> None:
    """What stands in the name counts before what the bench says."""
    async with terminal() as (name, _), serialport(f"{name}?baudrate=115200&stopbits=2", baudrate=9600)() as line:
        assert isinstance(line, SerialLine)
        assert (line.port.baudrate, line.port.stopbits) == (115_200, 2)
        attributes = termios.tcgetattr(line.descriptors()[0])
        assert attributes[4] == termios.B115200


async def test_dtr_and_rts_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a port sets DTR and RTS only where that was asked for: DTR resets many a board."""
    import serial

    touched: list[str] = []

    def dtr(_: object) -> None:
        touched.append("dtr")

    def rts(_: object) -> None:
        touched.append("rts")

    monkeypatch.setattr(serial.Serial, "_update_dtr_state", dtr)
    monkeypatch.setattr(serial.Serial, "_update_rts_state", rts)
    async with terminal() as (name, _):
        for asked in ({}, {"dtr": False}, {"dtr": True, "rts": True}):
            async with open_serial(device(name, **asked)):
                touched.append("open")
    assert touched == ["open", "dtr", "open", "dtr", "rts", "open"]


async def test_a_port_is_ours_alone() -> None:
    """Who opens a port that is open is refused, unless both share it."""
    async with terminal() as (name, _), serialport(name)():
        assert f"cannot open {name}: this very run has it open already; each job" in await refusal(name)
    async with terminal() as (name, _), serialport(name, exclusive=False)(), serialport(name, exclusive=False)():
        pass


# Other kinds of ports


async def test_a_loop_is_pumped() -> None:
    """A port of pyserial that has no descriptor is carried by threads, and leaves none behind."""
    before = Baseline()
    async with serialport("loop://")() as line:
        for number in range(20):
            await line.send(b"%d" % number)
        assert await arrive(line, 20) == frames(*[b"%d" % number for number in range(20)])
        assert line.remarks() == []
    assert not before.lasting_leaks()


async def test_a_pump_says_what_became_of_its_port() -> None:
    """Where a port without a descriptor fails, the trouble has the reason."""
    async with serialport("loop://")() as line:
        assert isinstance(line, SerialLine)

        def fail(_size: int) -> bytes:
            raise OSError("the cat is on the cable")

        line.port.read = fail
        assert await arrive(line, 1) == [Trouble("the device loop:// is gone: the cat is on the cable")]


class Access(threading.Thread):
    """A server of RFC 2217, pyserial's own, before a device that says everything again."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.device = serial_for_url("loop://", timeout=0.1)
        self.url = f"rfc2217://127.0.0.1:{self.server.getsockname()[1]}"
        self.start()

    def run(self) -> None:
        """Serve one client."""
        with self.server, self.server.accept()[0] as self.peer:
            manager: Any = PortManager(cast("Any", self.device), cast("Any", self))
            while data := self.peer.recv(4096):
                self.peer.sendall(b"".join(manager.escape(b"".join(manager.filter(data)))))

    def write(self, data: bytes) -> None:
        """Send what the manager says."""
        self.peer.sendall(data)


@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")  # pyserial's own
async def test_a_port_of_rfc_2217_is_pumped() -> None:
    """A serial port behind RFC 2217 has no descriptor: threads carry all bytes, those of its protocol as well."""
    before = Baseline()
    access = Access()
    async with serialport(access.url, baudrate=19_200)() as line:
        await line.send(b"one")
        await line.send(b"\xff\xfftwo\xff")
        assert await arrive(line, 2) == frames(b"one", b"\xff\xfftwo\xff")
        assert access.device.baudrate == 19_200
    access.join(SECONDS)
    assert not before.lasting_leaks()


async def test_a_port_behind_a_network_ends_like_a_connection() -> None:
    """`socket://` is a serial line far away: its descriptor is watched, and its end is an ending."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        async with serialport(url)() as line:
            peer, _ = server.accept()
            with peer:
                peer.send(b"hello\n")
                assert await arrive(line, 1) == frames(b"hello")
            assert await arrive(line, over) == [Ending("end of stream")]


# What goes wrong


async def refusal(name: str, **options: Any) -> str:  # noqa: ANN401 -- the fields of a device
    """What opening a port raises."""
    with pytest.raises((ContactError, UsageError)) as raised:
        async with serialport(name, **options)():
            pass
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/dev/ttyNONE", "cannot open /dev/ttyNONE: there is no such device; is it plugged in? serial ports of this"),
        ("COM99", "cannot open COM99: "),
        ("/dev/null", "cannot open /dev/null: "),
        ("socket://127.0.0.1:1", "cannot open socket://127.0.0.1:1: "),
        ("gopher://a", "not a serial port: 'gopher://a': invalid URL, protocol 'gopher' not known; write /dev/ttyUSB0"),
        ("", "no serial port: name one, such as /dev/ttyUSB0"),
        ("/dev/ttyS0?baud=9600", "a serial port has no option 'baud'; did you mean baudrate? it has baudrate, bytesi"),
        ("/dev/ttyS0?baudrate=fast", "an option does not fit: baudrate=fast: Expected `int`"),
        ("/dev/ttyS0?parity=X", "an option does not fit: parity=X: it is one of N, E, O, M, S"),
        ("/dev/ttyS0?bytesize=3", "not a serial port: '/dev/ttyS0': Not a valid byte size: 3"),
    ],
)
async def test_what_cannot_be_opened_is_told(name: str, why: str) -> None:
    """Each says what is wrong, and what there is instead."""
    assert why in await refusal(name, within=0)


async def test_a_forbidden_device_names_the_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may not open a device is told which group may, and how to get into it."""

    def forbid(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    async with terminal() as (name, _):
        group = grp.getgrgid(os.stat(name).st_gid).gr_name  # noqa: PTH116 -- a look at a name
        monkeypatch.setattr("serial.serialposix.os.open", forbid)
        why = await refusal(name)
    assert f"it belongs to the group {group}: `sudo usermod -aG {group} $USER`, then log in again" in why


@contextmanager
def taken(name: str) -> Generator[str]:
    """Let another program have a device for itself, and return what it is called."""
    have = python("import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); input()")
    with subprocess.Popen([*have, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        yield f"{Path(f'/proc/{other.pid}/comm').read_text(encoding='utf-8').strip()} ({other.pid})"
        other.communicate(b"\n")


async def test_who_has_a_device_is_named() -> None:
    """Where another program has the device for itself, its name and number are told, and what to do."""
    async with terminal() as (name, _):
        with taken(name) as other:
            why = await refusal(name)
    told = f"another program has it: {other}; end that first, or open it with exclusive=False"
    assert why == f"cannot open {name}: {told}"


def test_nobody_has_what_is_not_there() -> None:
    """A device that is not there is in use by nobody."""
    assert holders(Path("/dev/none")) == []


def test_ports_are_listed() -> None:
    """The list has the names under which ports can be opened."""
    assert all(isinstance(name, str) for name in ports())


def test_a_device_is_exclusive_by_default() -> None:
    """Nobody else reads a port unless that is asked for."""
    assert device("/dev/ttyS0") == Device(url="/dev/ttyS0", baudrate=9600, exclusive=True, dtr=None, rts=None)
