"""The rest of a bus: cyclic messages on schedule, disturbed as inputs ask, and a late tester that says so."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from math import inf
from mmap import mmap
from pathlib import Path

import anyio
import pytest
from can import Bus, BusABC, CanOperationError, Message

from otf.adapter import Line, Trouble
from otf.adapter.canbus import CanBus
from otf.adapter.cyclic_sender import KEPT, Table
from otf.adapter.line import Belated
from otf.adapters import CyclicMessage, restbus
from otf.adapters.can import can
from otf.codec.can import CanFrame, encode_can
from otf.errors import CodecError, ContactError, UsageError
from otf.models.serving import free_port
from tests.adapters.canbus import fresh
from tests.adapters.harness import SECONDS, arrive
from tests.always import always

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

FAST = 0.005
ENGINE = CyclicMessage([encode_can(CanFrame(0x10, bytes([7, n]))) for n in range(4)], FAST)
WHEELS = CyclicMessage([encode_can(CanFrame(0x20, b"w"))], FAST)


def heard(bus: BusABC, test: Callable[[list[bytes]], bool]) -> list[bytes]:
    """The last frames of the engine, once they pass a test."""
    seen, until = list[bytes](), time.monotonic() + SECONDS
    while time.monotonic() < until:
        message: Message | None = bus.recv(SECONDS)
        if message is not None and message.arbitration_id == ENGINE_ID:
            seen = [*seen, bytes(message.data)][-6:]
            if len(seen) == 6 and test(seen):
                return seen
    raise AssertionError(seen)


ENGINE_ID = 0x10


def counted(seen: list[bytes]) -> bool:
    """Whether each number follows the last."""
    return all(b[1] == (a[1] + 1) % 4 and a[0] == 7 for a, b in pairwise(seen))


async def changed(line: Line, bus: BusABC, way: str, test: Callable[[list[bytes]], bool]) -> None:
    """Change how the engine is sent, and wait until that is heard."""
    await line.send(f"engine {way}".encode())
    heard(bus, test)


@pytest.mark.real
async def test_messages_are_sent_in_turn_and_disturbed_by_inputs() -> None:
    """Counted, doubled, falsified, with a counter that stands still, and counted again."""
    with Bus(interface="virtual", channel=(channel := fresh()), ignore_config=True) as bus:
        async with restbus(f"can://virtual/{channel}", {"engine": ENGINE, "wheels": WHEELS}, late=SECONDS)() as line:
            await changed(line, bus, "on", counted)
            await changed(line, bus, "twice", lambda seen: len(set(seen)) == 3)
            await changed(line, bus, "wrong", lambda seen: all(0xFF - each[1] < 4 for each in seen))
            await changed(line, bus, "stuck", lambda seen: len(set(seen)) == 1)
            await changed(line, bus, "late 0.001", counted)
        assert not [each for each in threading.enumerate() if each.name.startswith("otf rest of")]


@pytest.mark.real
async def test_a_message_that_is_off_is_not_sent_and_the_others_are() -> None:
    """Its counter stands still meanwhile."""
    with Bus(interface="virtual", channel=(channel := fresh()), ignore_config=True) as bus:
        async with restbus(f"can://virtual/{channel}", {"engine": ENGINE, "wheels": WHEELS}, late=SECONDS)() as line:
            await changed(line, bus, "on", counted)
            await line.send(b"engine off")
            begun, wheels = time.monotonic(), 0
            while time.monotonic() < begun + 10 * FAST or wheels < 2:
                message = bus.recv(SECONDS)
                assert message is not None
                if message.arbitration_id == ENGINE_ID:
                    begun, wheels = time.monotonic(), 0  # one that was under way
                wheels += message.arbitration_id != ENGINE_ID
            await changed(line, bus, "on", counted)


SLOW = CyclicMessage(ENGINE.frames, 1000.0)
LATE = "the tester itself sent a message more than 1 ms late (late=)"


class Stuck:
    """A bus whose driver does not return for a time."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def send(self, _message: Message) -> None:
        """Wait."""
        self.over.wait(SECONDS)

    def recv(self, _timeout: float) -> None:
        """Bring nothing."""

    def shutdown(self) -> None:
        """Do nothing."""


async def doubted(line: Belated, doubt: str) -> None:
    """Wait until a line has this doubt."""
    with anyio.fail_after(SECONDS):
        while line.doubt() != doubt:  # noqa: ASYNC110 -- what it waits for is in another thread
            await anyio.sleep(FAST)


@pytest.mark.parametrize("periods", [0.0, inf])
async def test_a_tester_that_is_late_goes_on_and_says_so(monkeypatch: pytest.MonkeyPatch, periods: float) -> None:
    """Before the frame is on the bus, as the node may have noticed; then for as long as the node may remember it."""
    bus, begun = Stuck(), time.monotonic()
    monkeypatch.setattr(CanBus, "open", always(bus))
    port = restbus(f"can://virtual/{fresh()}", {"engine": SLOW}, late=0.001, memory=periods)
    async with port() as line:
        assert isinstance(line, Belated)
        await doubted(line, LATE)
        since = line.overdue()
        assert begun < since < time.monotonic() - 0.001
        assert line.overdue() == since  # it still is
        bus.over.set()
        await doubted(line, LATE if periods else "")
        with anyio.fail_after(SECONDS):
            while line.overdue() != inf:  # noqa: ASYNC110 -- the same
                await anyio.sleep(FAST)
        assert line.receive() == []


class Broken:
    """A bus whose driver raises."""

    def send(self, _message: Message) -> None:
        raise CanOperationError("no such device")

    def shutdown(self) -> None:
        """Do nothing."""


async def test_a_bus_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """What python-can raises ends the line as its trouble."""
    monkeypatch.setattr(CanBus, "open", always(Broken()))
    async with restbus(f"can://virtual/{fresh()}", {"engine": ENGINE}, late=SECONDS)() as line:
        (trouble,) = await arrive(line, 1)
    assert trouble == Trouble("the CAN bus failed: CanOperationError: no such device")


def multicast() -> str:
    """A bus that other processes are on, too."""
    return f"udp_multicast/239.255.7.1?port={free_port(socket.SOCK_DGRAM)}"


@pytest.mark.real
async def test_a_bus_of_this_machine_is_served_by_a_process_of_its_own() -> None:
    """It is disturbed by inputs, too, and ends with the path."""
    address = f"can://{multicast()}"
    before = senders()
    async with can(address)() as bus, restbus(address, {"engine": ENGINE}, late=SECONDS)() as line:
        assert len(senders()) == len(before) + 1
        await line.send(b"engine stuck")
        frames = await arrive(bus, 8)
        while len(set(frames[-3:])) > 1:
            frames = await arrive(bus, 8)
    assert senders() == before


def senders() -> set[str]:
    """The processes that send for this one."""
    return {pid for each in Path("/proc/self/task").iterdir() for pid in (each / "children").read_text().split()}


@pytest.mark.real
async def test_a_process_that_is_killed_is_no_silence() -> None:
    """It is the tester's trouble."""
    before = senders()
    async with restbus(f"can://{multicast()}", {"engine": ENGINE}, late=SECONDS)() as line:
        (sender,) = senders() - before
        os.kill(int(sender), signal.SIGKILL)
        (trouble,) = await arrive(line, 1)
    assert trouble == Trouble("what sends the rest of the bus has ended")


@pytest.mark.real
async def test_a_bus_that_cannot_be_opened() -> None:
    """The words are those of python-can."""
    with pytest.raises(ContactError, match=r"no-such did not open: .* the CAN bus failed: OSError"):
        async with restbus("can://socketcan/no-such", {"engine": ENGINE}, late=SECONDS)():
            pass


async def test_late_messages_are_kept_until_they_are_read() -> None:
    """The oldest go where there are too many."""
    table = Table(mmap(-1, Table.size(2)), 2)
    table.set_due(0, 2.0)
    table.set_due(1, 1.0)
    assert table.due() == 1.0
    for at in range(KEPT + 2):
        table.add_late(float(at), at + 0.5)
    assert table.late(KEPT) == [(64.0, 64.5), (65.0, 65.5)]
    assert len(table.late(0)) == KEPT


@pytest.mark.parametrize(
    "text", ["nobody on", "engine", "engine away", "engine late", "engine late x", "engine on 3", "engine late -1"]
)
async def test_what_changes_nothing_is_refused(text: str) -> None:
    """The message says what there is."""
    async with restbus(f"can://virtual/{fresh()}", {"engine": ENGINE}, late=SECONDS)() as line:
        with pytest.raises(CodecError, match=r"engine|number of seconds"):
            await line.send(text.encode())


@pytest.mark.parametrize(
    "messages", [{}, {"a b": ENGINE}, {"": ENGINE}, {"a": CyclicMessage([], 1)}, {"a": CyclicMessage([b""], 0)}]
)
async def test_messages_that_are_none(messages: dict[str, CyclicMessage]) -> None:
    """They are refused where the bench is made."""
    with pytest.raises(UsageError, match=r"^restbus: "):
        restbus("can://virtual/x", messages)


@pytest.mark.real
@pytest.mark.parametrize("groups", [("239.255.7.1", "239.255.7.2"), ("ff11::7:1", "ff11::7:2")])
async def test_two_multicast_groups_on_one_machine_are_two_buses(groups: tuple[str, str]) -> None:
    """A frame comes to the others in its group alone."""
    one, other = (can(f"can://udp_multicast/{group}") for group in groups)
    frame = encode_can(CanFrame(0x10, b"x"))
    async with one() as sender, other() as stranger, one() as receiver:
        await sender.send(frame)
        await arrive(receiver, 1)
        await stranger.send(frame)
        assert len(await arrive(stranger, 1)) == 1  # its own, and nothing before it
        assert stranger.receive() == []
