"""A library with threads as a port: what every adapter promises, and what a library may do wrong."""

from __future__ import annotations

import queue
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from time import sleep

import anyio
import anyio.lowlevel
import pytest

from otf.adapter import Ending, Frame, LineLost, Trouble
from otf.adapter.mailbox import Mailbox, open_thread
from otf.adapters.thread import from_thread
from otf.errors import ContactError
from otf.testing import ADAPTER_CHECKS, Echo, Rig
from tests.adapters.harness import arrive, frames

pytestmark = pytest.mark.anyio


class Echoing:
    """A library that sends back what it gets from a thread of its own, and stops after b"bye"."""

    def __init__(self, mailbox: Mailbox) -> None:
        self.work = queue.SimpleQueue[bytes | None]()
        self.thread = threading.Thread(target=self.loop, args=[mailbox], name="library")
        self.thread.start()

    def loop(self, mailbox: Mailbox) -> None:
        while (data := self.work.get()) is not None:
            mailbox.put(data)
            if data == b"bye":
                mailbox.end("stopped")

    def close(self) -> None:
        self.work.put(None)
        self.thread.join()


def send(library: Echoing, data: bytes) -> None:
    """Send a frame."""
    library.work.put(data)


@asynccontextmanager
async def rig() -> AsyncGenerator[Echo, None]:
    """Open a line to a fresh library."""
    async with from_thread(Echoing, send, Echoing.close)() as line:
        yield Echo(line, "stopped")


@pytest.mark.parametrize("check", ADAPTER_CHECKS)
async def test_it_keeps_the_contract_of_adapters(check: Callable[[Rig], object]) -> None:
    """Each promise, on each event loop; and no thread is left."""
    await check(rig)  # type: ignore[misc] # pyright: ignore[reportGeneralTypeIssues] -- a coroutine function
    assert not [thread for thread in threading.enumerate() if thread.name == "library"]


def nothing(*_: object) -> None:
    """Do nothing."""


def hand(mailbox: Mailbox, *arrivals: bytes) -> Mailbox:
    """Hand over frames while the library is opened."""
    for data in arrivals:
        mailbox.put(data)
    return mailbox


async def test_frames_that_are_not_read_are_counted() -> None:
    """A full queue drops what comes, and silence is no evidence then; the end comes all the same."""

    def opens(box: Mailbox) -> None:
        hand(box, b"1", b"2", b"3").end("gone")

    async with open_thread(opens, nothing, nothing, held=2) as line:
        assert line.receive() == [*frames(b"1", b"2"), Ending("gone")]
        assert line.lost() == "1 frames arrived faster than they were read, and were dropped"
    async with open_thread(hand, nothing, nothing) as line:
        assert (line.lost(), line.receive(), line.remarks()) == ("", [], [])


async def test_many_frames_come_in_batches() -> None:
    """At most 256 at a time, and the descriptor stays readable until all are taken."""
    async with open_thread(lambda box: hand(box, *[b"."] * 300), nothing, nothing) as line:
        assert [len(line.receive()) for _ in range(3)] == [256, 44, 0]


async def test_a_frame_over_the_largest_size_is_marked() -> None:
    """Only its beginning comes."""
    async with open_thread(lambda box: hand(box, b"abc"), nothing, nothing, largest=2) as line:
        assert line.receive() == [Frame(b"ab", "longer than 2 bytes")]


async def test_a_library_that_fails_is_no_output_of_the_system() -> None:
    """What it raises when it sends is trouble with the line, and nothing more is sent."""

    def fails(box: Mailbox, data: bytes) -> None:
        del box, data
        raise TimeoutError("bus off")

    async with open_thread(hand, fails, nothing) as line:
        for _ in range(2):
            with pytest.raises(LineLost, match="the library raised TimeoutError: bus off when it sent"):
                await line.send(b"x")
        assert line.receive() == [Trouble("the library raised TimeoutError: bus off when it sent")]
        with pytest.raises(LineLost, match="bus off"):
            await line.send(b"x")


async def test_what_is_no_frame_is_trouble() -> None:
    """A library may swallow what its callback raises."""

    def swallows(box: Mailbox) -> None:
        with pytest.raises(TypeError, match="a frame is bytes"):
            box.put(5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- tested

    async with open_thread(swallows, nothing, nothing) as line:
        assert await arrive(line, 1) == [Trouble("put(5): a frame is bytes")]


async def test_a_library_that_blocks_does_not_hold_up_the_loop() -> None:
    """While it sends other tasks go on; after the patience the line is lost."""
    held, turns = threading.Event(), 0

    def blocks(box: Mailbox, data: bytes) -> None:
        del box, data
        held.wait(20)

    async def count() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with open_thread(hand, blocks, lambda _: held.set(), patience=0.05) as line:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            with pytest.raises(LineLost, match=r"did not send for 0\.05 s"):
                await line.send(b"x")
            tasks.cancel_scope.cancel()
        assert turns > 0


async def test_what_cannot_be_opened_or_closed_is_a_contact_error() -> None:
    """It names the function; where the body failed too its own error comes out."""

    def raises(*_: object) -> None:
        raise SystemExit(3)

    with pytest.raises(ContactError, match="did not open: it raised SystemExit: 3"):
        async with open_thread(raises, nothing, nothing):
            pass
    with pytest.raises(ContactError, match="did not close: it raised SystemExit: 3"):
        async with open_thread(nothing, nothing, raises):
            pass
    with pytest.raises(KeyError):
        async with open_thread(nothing, nothing, raises):
            raise KeyError
    with pytest.raises(ContactError, match=r"did not open within 0\.01 s"):
        async with open_thread(lambda _: sleep(0.03), nothing, nothing, patience=0.01):
            pass


async def test_what_comes_after_the_end_is_left() -> None:
    """A library may call late, when the line is closed."""
    boxes = list[Mailbox]()
    async with open_thread(boxes.append, nothing, nothing):
        boxes[0].end("one")
        boxes[0].put(b"two")
        assert boxes[0].take(9) == [Ending("one")]
    boxes[0].put(b"three")
