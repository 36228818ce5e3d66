"""What an input can do to a port other than sending bytes on it."""

from __future__ import annotations

from enum import Enum


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
