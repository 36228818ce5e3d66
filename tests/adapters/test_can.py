"""CAN buses: what every adapter promises, and what a bus may do."""

from __future__ import annotations

import errno
import select
import socket
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import anyio
import pytest
from can import BusABC, CanOperationError, Message

from otf.adapter import Frame, LineLost, Trouble
from otf.adapter.canbus import CanBus, read_bus
from otf.adapters.can import CanLine, can, open_can
from otf.codec.can import CanError, CanFrame, decode_bus, encode_can
from otf.errors import ContactError, UsageError
from otf.testing import Echo, Rig
from tests.adapters.canbus import framed, fresh, node
from tests.adapters.harness import LIBRARY_CHECKS, arrive, frames

pytestmark = pytest.mark.anyio
once = pytest.mark.parametrize("anyio_backend", ["asyncio"])
both = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])  # threads do the work: uvloop adds nothing


@asynccontextmanager
async def over_can() -> AsyncGenerator[Echo, None]:
    """An echo on a virtual bus, read by a thread."""
    with node(channel := fresh(), lambda bus, message: bus.send(message)):
        async with can(f"can://virtual/{channel}")() as line:
            yield Echo(line, None, bye=framed(b"bye"), data=framed(bytes(range(8))), frame=framed)


class Socketed:
    """A bus with a descriptor, in python-can's words: frames are datagrams of a pair of sockets."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.refuses = sock, list[int]()
        sock.settimeout(0)

    def fileno(self) -> int:
        return self.sock.fileno()

    def send(self, message: Message) -> None:
        if self.refuses:
            raise CanOperationError("refused", self.refuses.pop())
        self.sock.send(bytes(message.data))

    def recv(self, _timeout: float) -> Message | None:
        try:
            data = self.sock.recv(99)
        except BlockingIOError:
            return None
        if data == b"off":
            return Message(arbitration_id=0x40, is_error_frame=True)
        return Message(arbitration_id=0x10, is_extended_id=False, data=data, is_error_frame=data == b"err")

    def shutdown(self) -> None:
        self.sock.close()


@asynccontextmanager
async def over_a_descriptor() -> AsyncGenerator[Echo, None]:
    """An echo on a bus with a descriptor."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    stop = threading.Event()

    def echo() -> None:
        # a time-out of the socket would count for sending, too: whoever reads late would lose frames
        while not stop.is_set():
            if select.select([far], [], [], 0.01)[0]:
                with suppress(OSError):
                    far.send(far.recv(99))

    thread = threading.Thread(target=echo)
    thread.start()
    line = CanLine(Socketed(near), 1)
    try:
        yield Echo(line, None, bye=framed(b"bye"), data=framed(bytes(range(8))), frame=framed)
    finally:
        line.close()
        stop.set()
        thread.join()
        far.close()


@pytest.mark.parametrize("rig", [over_can, over_a_descriptor])
@both
@pytest.mark.parametrize("check", LIBRARY_CHECKS)
async def test_they_keep_the_contract_of_adapters(check: Callable[[Rig], object], rig: Rig) -> None:
    """Each promise, on each event loop; and no thread is left."""
    await check(rig)  # type: ignore[misc] # pyright: ignore[reportGeneralTypeIssues] -- a coroutine function
    assert not [each for each in threading.enumerate() if each.name.startswith("otf can") or "_thread_fn" in each.name]


@once
async def test_each_kind_of_frame_comes_back() -> None:
    """Extended, remote, empty and FD frames keep what they are; error frames are left out."""
    sent = [
        CanFrame(0x7FF),
        CanFrame(0x1FFF_FFFF, b"x", extended=True),
        CanFrame(1, bytes(3), remote=True),
        CanFrame(2, bytes(64), fd=True, brs=True, esi=True),
    ]

    def echo(bus: BusABC, message: Message) -> None:
        bus.send(Message(is_error_frame=True))
        bus.send(message)

    with node(channel := fresh(), echo):
        async with can(f"can://virtual/{channel}?receive_own_messages=false&x=1.5")() as line:
            for frame in sent:
                await line.send(encode_can(frame))
            assert await arrive(line, len(sent)) == frames(*map(encode_can, sent))


@once
async def test_error_frames_are_outputs_where_they_are_asked_for() -> None:
    """Also that the bus is off, which else ends the line; frames of others go on as they are."""

    def disturbed(bus: BusABC, message: Message) -> None:
        bus.send(Message(arbitration_id=0x88, is_error_frame=True, data=bytes(8)))
        bus.send(Message(arbitration_id=0x40, is_error_frame=True, data=bytes(8)))
        bus.send(message)

    with node(channel := fresh(), disturbed):
        async with can(f"can://virtual/{channel}?receive_own_messages=false", errors=True)() as line:
            await line.send(encode_can(CanFrame(1)))
            came = [decode_bus(each.data) for each in await arrive(line, 3) if isinstance(each, Frame)]
    assert came == [CanError(("protocol", "bus error")), CanError(("bus off",)), CanFrame(1)]


@once
async def test_a_filter_passes_ids() -> None:
    """What the bench does not ask for does not arrive."""

    def both(bus: BusABC, message: Message) -> None:
        bus.send(Message(arbitration_id=0x100, is_extended_id=False))
        bus.send(message)

    with node(channel := fresh(), both):
        async with can(f"can://virtual/{channel}", filters=[(0x10, 0x7FF)])() as line:
            await line.send(framed(b"1"))
            assert await arrive(line, 1) == frames(framed(b"1"))


@once
async def test_a_frame_that_cannot_be_is_undecodable() -> None:
    """A classic frame of nine bytes is an output with its trouble, and no frame."""
    with node(channel := fresh(), lambda bus, _: bus.send(Message(data=bytes(9)))):
        async with can(f"can://virtual/{channel}")() as line:
            await line.send(framed(b""))
            (arrived,) = await arrive(line, 1)
            assert isinstance(arrived, Frame)
            assert "classic CAN frame cannot have 9 bytes" in arrived.trouble


@once
async def test_many_frames_lose_none_and_too_many_are_counted() -> None:
    """What is read in time comes whole; what is not read is lost by the tester, and silence proves nothing then."""
    with node(channel := fresh(), lambda bus, _: [bus.send(Message(data=b"x")) for _ in range(12_000)]):
        async with can(f"can://virtual/{channel}")() as line:
            await line.send(framed(b""))
            assert len(await arrive(line, 10_000)) >= 10_000
        async with can(f"can://virtual/{channel}")() as line:
            counted: Any = line
            await line.send(framed(b""))
            with anyio.fail_after(20):
                while "were dropped" not in counted.lost():  # noqa: ASYNC110 -- another thread counts
                    await anyio.sleep(0.01)


@once
async def test_a_bus_that_is_closed_under_it_is_trouble() -> None:
    """Neither an ending of the system nor silence; and nothing can be sent."""
    async with over_can() as echo:
        reader: Any = echo.line
        reader._send.args[0]._bus.shutdown()  # noqa: SLF001
        (arrived,) = await arrive(echo.line, 1)
        assert isinstance(arrived, Trouble)
        assert "the CAN bus failed: CanOperationError" in arrived.reason
        with pytest.raises(LineLost, match="the CAN bus failed"):
            await echo.line.send(framed(b""))


@once
async def test_a_socket_that_fails_is_trouble() -> None:
    """What cannot be sent, and a controller that is off."""
    for code, data, reason in (
        (errno.ENETDOWN, b"", "did not send: CanOperationError: refused"),
        (0, b"off", "bus-off"),
    ):
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        bus, woken = Socketed(near), list[int]()
        line = CanLine(bus, 1)
        line.arm(partial(woken.append, 1))
        with far:
            far.send(b"err")
            if data:
                far.send(data)
            else:
                bus.refuses.append(code)
                with pytest.raises(LineLost, match="did not send"):
                    await line.send(framed(b""))
            (arrived,) = await arrive(line, 1)
            assert isinstance(arrived, Trouble)
            assert reason in arrived.reason
            assert (line.receive(), line.descriptors(), line.lost(), bool(woken)) == ([], (), "", not data)
            with pytest.raises(LineLost):
                await line.send(framed(b""))
            line.close()


@once
async def test_a_full_queue_is_waited_for() -> None:
    """The kernel's queue of a bus has room for few frames; only after the patience the bus has failed."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    bus = Socketed(near)
    bus.refuses += [errno.ENOBUFS] * 3
    line = CanLine(bus, 1)
    with far:
        await line.send(framed(b"1"))
        assert (far.recv(9), line.lost(), line.place().hidden != "") == (b"1", "", True)
        line.close()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    bus.sock, bus.refuses = near, [errno.ENOBUFS]
    line = CanLine(bus, 0)
    with far, pytest.raises(LineLost):
        await line.send(framed(b"1"))
    line.close()


@pytest.mark.parametrize("url", ["can://", "can://virtual", "can:///can0"])
def test_what_is_no_bus_is_refused(url: str) -> None:
    """The error has the form of an address."""
    with pytest.raises(UsageError, match=r"not a CAN bus.*INTERFACE/CHANNEL"):
        can(url)


@once
async def test_what_cannot_be_opened_is_a_contact_error() -> None:
    """An interface that is unknown, and one that this machine has not."""
    with pytest.raises(ContactError, match="interface"):
        async with can("can://nonsense/x")():
            pass
    with pytest.raises(ContactError, match="the CAN bus socketcan/no did not open"):
        async with can("can://socketcan/no")():
            pass


def test_a_filter_needs_a_thread_where_the_library_filters() -> None:
    """A frame may wait behind one that is filtered, and the descriptor would not be readable again."""
    assert [CanBus("udp_multicast", "x", filters=each).is_watched for each in ([], [(1, 1)])] == [True, False]
    assert CanBus("socketcan", "x", filters=[(1, 1)]).is_watched
    assert read_bus("can://a/b?c=1&d=1.5&e&f=x", "", {}).options == {"c": 1, "d": 1.5, "e": True, "f": "x"}


@once
async def test_a_real_bus_with_a_descriptor() -> None:
    """Frames over python-can's multicast bus, which stays on this machine."""
    pytest.importorskip("msgpack")
    options = "port=43117&hop_limit=0"
    opened = [open_can(read_bus(f"can://udp_multicast/239.74.163.2?{options}", "", {})) for _ in range(2)]
    async with opened[0] as one, opened[1] as two:
        await one.send(framed(b"hello"))
        assert frames(framed(b"hello"))[0] in await arrive(two, 1)
        assert one.remarks() == []


@once
async def test_each_frame_has_the_time_of_its_message() -> None:
    """Three frames of a cycle that are read together did not come together."""
    with node(channel := fresh(), lambda _bus, _message: None) as sender:
        async with can(f"can://virtual/{channel}")() as line:
            for each in range(3):
                sender.bus.send(Message(arbitration_id=each, is_extended_id=False))
                await anyio.sleep(0.03)
            found = [each for each in line.receive() if isinstance(each, Frame)]
    came = [each.received or 0.0 for each in found]
    assert [each.doubt for each in found] == [0.0] * 3
    assert came[1] - came[0] > 0.02
    assert came[2] - came[1] > 0.02


class Stamping(Socketed):
    """A bus whose messages have the stamps that the test gives, by the clock of the day."""

    def __init__(self, sock: socket.socket, *ago: float) -> None:
        super().__init__(sock)
        self.ago = [*ago]

    def recv(self, _timeout: float) -> Message | None:
        if (message := super().recv(_timeout)) is not None:
            message.timestamp = time.time() - self.ago.pop(0)
        return message


@once
async def test_a_stamp_of_another_clock_is_not_believed() -> None:
    """It lies before the moment at which the bus was empty; after one such stamp no other counts."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    line = CanLine(Stamping(near, 0.0, 0.0, 3600.0, 0.0), 1)
    with far:
        found = list[bool]()
        for each in range(4):
            far.send(b"x")
            if each == 1:
                line.stamp()
            found += [isinstance(frame, Frame) and frame.received is not None for frame in line.receive()]
    line.close()
    assert found == [False, True, False, False]
