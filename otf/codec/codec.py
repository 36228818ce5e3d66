"""What a codec has to answer."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class PortAction(Enum):
    """Connecting and closing, as inputs: a codec returns one of these instead of the bytes of an input.

    What the tester ends by itself brings no output; that the system ends a port is the output `Ended`.
    """

    CONNECT = "connect"
    """Open the connection anew, after it has ended."""

    FINISH = "finish"
    """Close the tester's half: the system reads an end of stream, and can still answer."""

    CLOSE = "close"
    """Close the connection."""

    ABORT = "abort"
    """Break the connection off: the system sees a reset."""


class Codec(Protocol):
    """Turns values into bytes and back, and knows the port of each.

    Framing is the adapter's: `encode` returns one whole frame, `decode` gets one. Both are pure functions: the same
    question has the same answer whenever it is asked, and is not always asked again. What changes from message to
    message (a number, a time) belongs to the values.
    """

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs, so that traces can be read back."""
        ...

    def port(self, value: object) -> str:
        """Return the name of the port that a value belongs to; "" for the only one."""
        ...

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or what else it does to its port. Raises CodecError for one that has none."""
        ...

    def decode(self, port: str, data: bytes) -> object:
        """Return the output that `data`, seen on `port`, stands for. Raises CodecError where there is none."""
        ...
