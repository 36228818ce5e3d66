"""Snapshots: the initial state of a machine is saved once and restored before each path, and never believed alone."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from otf.adapter import Bench, Life, Snapshot, lines
from otf.adapters import inprocess
from otf.campaign import Campaign, Settings, Summary
from otf.errors import ContactError, UsageError
from otf.spec import Spec, Transition, goto

pytestmark = pytest.mark.anyio


@dataclass
class Machine:
    """A machine that counts, with a monitor like QEMU's; `wrong` is what it adds to the third answer."""

    count: int = 0
    state: int = 0
    resets: int = 0
    wrong: int = 0
    restored: bool = False
    fails: str = ""
    told: list[str] = field(default_factory=list[str])

    def reset(self, wrong: int = 0) -> None:
        """Start anew."""
        self.count, self.wrong, self.restored = 0, wrong, False
        self.resets += 1

    def answer(self, data: bytes) -> Iterator[bytes]:
        """Count an input."""
        del data
        self.count += 1
        yield b"%d" % (self.count + (self.wrong if self.count == 3 else 0))

    def monitored(self, stream: socket.socket) -> None:
        """Speak QMP with one client."""
        with stream, stream.makefile() as file:
            stream.sendall(b'{"QMP": {"version": {}}}\r\n')
            for line in file:
                asked = json.loads(line)
                answer = self.obeyed(asked.get("arguments", {}).get("command-line") or asked["execute"])
                with suppress(OSError):  # who was refused waits for no more answers
                    stream.sendall(f'{{"event": "STOP"}}\n{json.dumps(answer)}\n'.encode())

    def obeyed(self, command: str) -> dict[str, Any]:
        """Carry out a command of the monitor."""
        self.told.append(command)
        if command == "savevm otf":
            self.state = self.count
        elif command == "loadvm otf":
            self.count, self.restored, self.wrong = self.state, True, 0
        elif command != self.fails:
            return {"return": {}}
        if command == self.fails:
            return {"error": {"desc": "not now"}} if " " not in command else {"return": "Error: no disk\r\n"}
        return {"return": ""}


@contextmanager
def listening(folder: Path, serve: Callable[[socket.socket], object]) -> Generator[str]:
    """Serve one client after another in a thread; yield the path of the socket."""
    path = str(folder / "qmp")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serving() -> None:
            with suppress(OSError):
                while True:
                    client = listener.accept()[0]
                    with suppress(ConnectionError):  # one who leaves without the last answer
                        serve(client)

        thread = threading.Thread(target=serving)
        thread.start()
        yield path
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def counted(count: int, inp: str) -> Iterator[Transition[int]]:
    """A machine that counts."""
    del inp
    yield goto(count + 1, count + 1)


def bench(machine: Machine, life: Life) -> Bench:
    """The bench of a machine."""
    port = inprocess(lambda: machine.answer)
    codec = lines({int: "{}", str: "{}"})
    return Bench.on_ports(Spec(counted, 0, ["add"]), codec, {"p": port}, name="counter", life=life, quiescence=0.005)


async def driven(machine: Machine, folder: Path, life: Life, paths: int = 6) -> Summary:
    """What a campaign finds."""
    settings = Settings(traces=paths, steps=4, out=folder / "out", shrink=False, mode="strict")
    return await Campaign(bench(machine, life), settings).run()


async def test_each_path_begins_with_the_saved_state(tmp_path: Path) -> None:
    """It is reset once, and restored for each further path; it stands still until the ports are open."""
    machine = Machine()
    with listening(tmp_path, machine.monitored) as at:
        summary = await driven(machine, tmp_path, Life(reset=machine.reset, snapshot=Snapshot(at, both=100)))
    assert str(summary.verdict) == "pass"
    assert machine.resets == 1
    every = ["qmp_capabilities", "stop", "loadvm otf", "cont"]
    assert machine.told == ["qmp_capabilities", "stop", "savevm otf", "cont", *every * 5]


async def test_one_path_in_so_many_is_driven_from_a_reset_too(tmp_path: Path) -> None:
    """A fault in what a reset does is in no path behind a snapshot, and is found; the failure says so."""
    machine = Machine()

    def reset() -> None:
        machine.reset(wrong=1 if machine.resets else 0)

    with listening(tmp_path, machine.monitored) as at:
        summary = await driven(machine, tmp_path, Life(reset=reset, snapshot=Snapshot(at, both=3)))
    (group,) = summary.failures.values()
    first = group.first
    assert first.verdict.failure is not None
    assert "from the snapshot the same inputs passed" in first.verdict.failure.note, (first.trace, first.number)


async def test_what_fails_from_a_snapshot_alone_is_no_failure(tmp_path: Path) -> None:
    """A snapshot may hold what no reset gives: the system is not blamed for it."""
    machine = Machine()

    def spoilt() -> None:
        machine.wrong = 1 if machine.restored else 0

    with listening(tmp_path, machine.monitored) as at:
        summary = await driven(
            machine, tmp_path, Life(reset=machine.reset, health=spoilt, snapshot=Snapshot(at, both=100))
        )
    assert str(summary.verdict) == "inconclusive"
    assert not summary.failures
    assert "from a snapshot only" in str([each.verdict.why for each in summary.inconclusive])


@pytest.mark.parametrize(
    ("fails", "why"),
    [
        ("savevm otf", "'stop' 'savevm otf' 'cont': QEMU says: Error: no disk"),
        ("stop", "'stop' 'savevm otf' 'cont': QEMU says: not now"),
    ],
)
async def test_what_qemu_refuses_is_told_in_its_words(tmp_path: Path, fails: str, why: str) -> None:
    """A machine without a disk for its state cannot be saved: no contact."""
    machine = Machine(fails=fails)
    with listening(tmp_path, machine.monitored) as at, pytest.raises(ContactError) as raised:
        await Snapshot(at).save()
    assert str(raised.value) == why


async def test_a_monitor_that_is_not_there(tmp_path: Path) -> None:
    """It is waited for, and then said."""
    with pytest.raises(ContactError, match=r"^QEMU took longer than 0\.05 s for 'stop' 'loadvm otf', at .*/qmp$"):
        async with Snapshot(str(tmp_path / "qmp"), timeout=0.05).restored():
            pass


async def test_a_monitor_that_speaks_something_else(tmp_path: Path) -> None:
    """The console in the place of the monitor is told as that."""

    def other(stream: socket.socket) -> None:
        with stream:
            stream.sendall(b"login:\n=> \n")

    with listening(tmp_path, other) as at, pytest.raises(ContactError, match="no QMP at "):
        await Snapshot(at).save()


async def test_a_state_that_cannot_be_restored_is_made_anew(tmp_path: Path) -> None:
    """The server is started again, and the path begins with a reset."""
    machine, started = Machine(), list[str]()
    with listening(tmp_path, machine.monitored) as at:

        def reset() -> None:
            machine.reset()
            started.append("reset")
            machine.fails = "loadvm otf" if len(started) == 1 else ""

        life = Life(reset=reset, server="sleep 1000", snapshot=Snapshot(at, both=100))
        summary = await driven(machine, tmp_path, life, paths=3)
    assert str(summary.verdict) == "pass"
    assert machine.told.count("savevm otf") == 2


def test_what_cannot_be() -> None:
    """A share of none, and a clock that the saved state does not have."""
    with pytest.raises(UsageError, match="1 or more"):
        Snapshot("qmp", both=0)
    with pytest.raises(UsageError, match="leave out speed"):
        Life(snapshot=Snapshot("qmp"), speed=2)
