"""What `check_adapter` accepts, and what it finds, on a line without anything behind it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial

import anyio
import pytest

from otf.adapter import Arrival, Ending, Frame, LineLost
from otf.testing import ADAPTER_CHECKS, Echo, check_adapter
from otf.testing import adapter as kit


class EchoLine:
    """Sends back what it gets, and is over after `bye`."""

    def __init__(self) -> None:
        self.queue: list[Arrival] = []
        self.over = False
        self.wake: Callable[[], None] = lambda: None

    def descriptors(self) -> tuple[int, ...]:
        return ()

    def arm(self, wake: Callable[[], None]) -> None:
        self.wake = wake

    async def send(self, data: bytes) -> None:
        if self.over:
            raise LineLost("stopped")
        self.queue.append(Frame(data))
        if data == b"bye":
            self.over = True
            self.queue.append(Ending("stopped"))
        self.wake()

    def receive(self) -> list[Arrival]:
        queue, self.queue = self.queue, []
        return queue

    def remarks(self) -> list[str]:
        return []


@asynccontextmanager
async def rig(make: Callable[[], EchoLine] = EchoLine, ending: str | None = "stopped") -> AsyncGenerator[Echo, None]:
    """Open such a line."""
    yield Echo(make(), ending)


def test_a_right_adapter_passes() -> None:
    """On both event loops; also one whose system never ends, of which no end is asked."""
    check_adapter(rig)
    check_adapter(partial(rig, Endless, ending=None))


class Endless(EchoLine):
    """Never ends."""

    async def send(self, data: bytes) -> None:
        self.queue.append(Frame(data))


class Garbling(EchoLine):
    async def send(self, data: bytes) -> None:
        await super().send(data[:128])


class Swapping(EchoLine):
    def receive(self) -> list[Arrival]:
        return super().receive()[::-1]


class Inventing(EchoLine):
    empty = 0

    def receive(self) -> list[Arrival]:
        came = super().receive()
        self.empty = 0 if came else self.empty + 1
        return [Frame(b"nothing")] if self.empty == 2 else came


class EndingTwice(EchoLine):
    def receive(self) -> list[Arrival]:
        return super().receive() or ([Ending("stopped")] if self.over else [])


class Deathless(EchoLine):
    async def send(self, data: bytes) -> None:
        self.over = False
        await super().send(data)


class Remarking(EchoLine):
    def remarks(self) -> list[str]:
        return ["all is well"]


@pytest.mark.parametrize(
    ("line", "says", "check"),
    [
        (Garbling, "Frame(data=b'\\x00\\x01", "a_frame_comes_back"),
        (Swapping, "Frame(data=b'0', ", "frames_keep_their_order"),
        (Inventing, "Frame(data=b'nothing', ", "receiving_never_waits"),
        (
            EndingTwice,
            "`receive` never returned an empty list; its last arrivals: [Ending(reason='stopped')",
            "the_end_comes_once_and_last",
        ),
        (Deathless, "`send` after the ending raised no LineLost", "nothing_can_be_sent_after_the_end"),
        (Remarking, "['all is well'] where [] was promised", "there_is_nothing_to_remark"),
    ],
)
def test_a_wrong_line_is_found(line: Callable[[], EchoLine], says: str, check: str) -> None:
    """The error says what came and what was promised; its note names the check."""
    with pytest.raises(AssertionError) as raised:
        check_adapter(partial(rig, line), loops=["asyncio"])
    assert says in str(raised.value)
    assert raised.value.__notes__[0].startswith(f"in {check}, on asyncio: ")


@asynccontextmanager
async def leaving_a_pipe() -> AsyncGenerator[Echo, None]:
    """Open two descriptors, and forget them."""
    LEFT.extend(os.pipe())
    yield Echo(EchoLine(), "stopped")


@asynccontextmanager
async def leaving_a_pipe_when_cancelled() -> AsyncGenerator[Echo, None]:
    """Open two descriptors, and forget them where it is cancelled."""
    pipe = os.pipe()
    try:
        yield Echo(EchoLine(), "stopped")
    except anyio.get_cancelled_exc_class():
        LEFT.extend(pipe)
        raise
    for descriptor in pipe:
        os.close(descriptor)


@asynccontextmanager
async def in_a_group() -> AsyncGenerator[Echo, None]:
    """Leave the body's errors to a task group."""
    async with anyio.create_task_group():
        yield Echo(EchoLine(), "stopped")


@asynccontextmanager
async def swallowing() -> AsyncGenerator[Echo, None]:
    """Swallow the body's errors."""
    with suppress(KeyError):
        yield Echo(EchoLine(), "stopped")


LEFT = list[int]()


@pytest.mark.parametrize(
    ("wrong", "says", "check"),
    [
        (leaving_a_pipe, "pipe:", "nothing_is_left_open"),
        (leaving_a_pipe_when_cancelled, "pipe:", "a_cancelled_opening_leaves_nothing"),
        (in_a_group, "ExceptionGroup", "errors_of_the_body_come_out_bare"),
        (swallowing, "the context swallows an error of its body", "errors_of_the_body_come_out_bare"),
    ],
)
def test_a_wrong_opening_is_found(
    wrong: Callable[[], AbstractAsyncContextManager[Echo]], says: str, check: str
) -> None:
    """What is left open is named, and so is an error that came out otherwise."""
    try:
        with pytest.raises(AssertionError) as raised:
            check_adapter(wrong, loops=["trio"])
    finally:
        for descriptor in LEFT:
            os.close(descriptor)
        LEFT.clear()
    assert says in str(raised.value)
    assert raised.value.__notes__[0].startswith(f"in {check}, on trio: ")


class Silent(EchoLine):
    """Never answers."""

    async def send(self, data: bytes) -> None:
        del data


def test_a_silent_system_is_found_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check ends, and says what has arrived."""
    monkeypatch.setattr(kit, "SECONDS", 0.01)
    with pytest.raises(AssertionError, match=r"within 0.01 s only this arrived: \[\]"):
        check_adapter(partial(rig, Silent), loops=["asyncio"])


def test_each_check_says_what_it_promises() -> None:
    """Its docstring is one line."""
    assert all(check.__doc__ and "\n" not in check.__doc__ for check in ADAPTER_CHECKS)
