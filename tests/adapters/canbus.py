"""A node on a virtual CAN bus, for the tests of what is on one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from typing import TypeAlias

from can import Bus, BusABC, Message

from otf.codec.can import CanFrame, encode_can

Answer: TypeAlias = Callable[[BusABC, Message], object]
NUMBERS = count()


def fresh() -> str:
    """The name of a virtual bus that no other test has."""
    return f"otf-{next(NUMBERS)}"


class Node:
    """A node on a virtual bus, which calls a function with each frame in a thread of its own."""

    def __init__(self, channel: str, answer: Answer) -> None:
        self.bus = Bus(interface="virtual", channel=channel, ignore_config=True)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, args=[answer])
        self.thread.start()

    def run(self, answer: Answer) -> None:
        while not self.over.is_set():
            if (message := self.bus.recv(0.01)) is not None:
                answer(self.bus, message)


@contextmanager
def node(channel: str, answer: Answer) -> Generator[Node, None, None]:
    """Put a node on a bus."""
    found = Node(channel, answer)
    try:
        yield found
    finally:
        found.over.set()
        found.thread.join()
        found.bus.shutdown()


def framed(data: bytes) -> bytes:
    """The bytes of a frame with this data."""
    return encode_can(CanFrame(0x10, data))
