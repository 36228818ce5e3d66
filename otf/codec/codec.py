"""The interface of codecs, and the inputs that act on a port instead of sending bytes."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class PortAction(Enum):
    """Connecting and closing as inputs: a codec returns one of these instead of the bytes of an input.

    If the tester ends a connection, no output follows; if the system ends it, the output is `Ended`.

    >>> from otf.codec import lines
    >>> class Hangup: pass
    >>> lines({Hangup: PortAction.CLOSE}).encode(Hangup())
    <PortAction.CLOSE: 'close'>
    """

    CONNECT = "connect"
    """Open the connection again, after it has ended."""

    FINISH = "finish"
    """Close the tester's half: the system reads an end of stream, and can still answer."""

    CLOSE = "close"
    """Close the connection."""

    ABORT = "abort"
    """Reset the connection."""


class Codec(Protocol):
    """Turns values into bytes and back, and knows the port of each value.

    The adapter does the framing: `encode` returns one whole frame, `decode` receives one. Both are pure functions:
    equal arguments always have equal results, and otf may cache them. What changes from message to message, such as a
    sequence number or a time, belongs into the values.

    >>> class Numbers:
    ...     types = (int,)
    ...     def port(self, value): return ""
    ...     def encode(self, value): return b"%d" % value
    ...     def decode(self, port, data): return int(data)
    >>> codec: Codec = Numbers()
    >>> codec.decode("", codec.encode(5))
    5
    """

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs; they are needed to read traces."""
        ...

    def port(self, value: object) -> str:
        """Return the name of the port of a value; "" for the only one."""
        ...

    def encode(self, value: object) -> bytes | PortAction:
        """Return the bytes of an input, or its action on the port. Raises CodecError if it cannot be encoded."""
        ...

    def decode(self, port: str, data: bytes) -> object:
        """Return the output whose bytes on `port` are `data`. Raises CodecError if there is none."""
        ...
