"""A line: one open port, as the runner sees it; and the port of a bench that opens it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from otf.adapter.log import bound, note
from otf.codec import PortAction
from otf.errors import UsageError
from otf.framing import Frame, Framing
from otf.values.arguments import brief
from otf.values.raised import definition

LINE_PROTOCOL: Final = 1
"""The version of the interface `Line`; it grows when a method changes its meaning, or a new method is required.

A test in the package of an adapter:

>>> assert LINE_PROTOCOL == 1, "read what changed in `Line`"
"""

NEVER: Final = float("-inf")
"""The time that stands for an event that has not happened."""


@dataclass(frozen=True, slots=True)
class Ending:
    """A line returns an `Ending` when its port ended; `reason` explains why in a few words, such as "exit status 3".

    >>> Ending("end of stream").reason
    'end of stream'
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """The connection to the system failed, and not the system; `reason` says why, such as an unplugged device.

    otf judges what arrived before the trouble. If otf finds no failure, the path is inconclusive.

    >>> Trouble("the device was unplugged").reason
    'the device was unplugged'
    """

    reason: str


Arrival: TypeAlias = Frame | Ending | Trouble
"""What a line receives: a frame, the end of the port (`Ending`), or trouble of the line itself (`Trouble`).

>>> def said(arrival: Arrival) -> bytes | str:
...     return arrival.data if isinstance(arrival, Frame) else arrival.reason
>>> said(Frame(b"pong")), said(Ending("exit status 3"))
(b'pong', 'exit status 3')
"""


class LineLost(Exception):  # noqa: N818 -- what happened, not an error of the caller
    """A line can no longer send, for the reason in the message; otf can still receive what arrived before.

    In the `send` of a line:

    >>> async def send(data: bytes) -> None:
    ...     raise LineLost("the device was unplugged")
    """


class Line(Protocol):
    """One open port.

    `receive` never waits: otf watches the line's descriptors, and calls `receive` when one of them is readable.

    So that otf does not mistake a crash for silence, a line delivers an `Ending` once, after everything that arrived
    before.

    A line to a system in the same process, which sends back what it gets:

    >>> class Echo:
    ...     def __init__(self) -> None:
    ...         self.arrived: list[Arrival] = []
    ...     def descriptors(self) -> tuple[int, ...]:
    ...         return ()
    ...     def arm(self, wake: Callable[[], None]) -> None:
    ...         self.wake = wake
    ...     async def send(self, data: bytes) -> None:
    ...         self.arrived.append(Frame(data))
    ...         self.wake()
    ...     def receive(self) -> list[Arrival]:
    ...         found, self.arrived = self.arrived, []
    ...         return found
    ...     def remarks(self) -> list[str]:
    ...         return []
    >>> line: Line = Echo()
    >>> line.receive()
    []
    """

    def descriptors(self) -> tuple[int, ...]:
        """Return the file descriptors that become readable when `receive` can return something; the set may change."""
        ...

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake`, in the runner's thread, whenever something may have arrived that no descriptor shows.

        The line also calls `wake` when the result of `descriptors` has changed.
        """
        ...

    def send(self, data: bytes) -> Coroutine[Any, Any, None]:
        """Send one frame; if the other side does not read, wait for a limited time. Raises LineLost."""
        ...

    def receive(self) -> list[Arrival]:
        """Return a bounded number of arrivals, in their order; return an empty list if nothing has arrived."""
        ...

    def remarks(self) -> list[str]:
        """Return remarks that help to understand a failure, such as the last lines that a program wrote to stderr."""
        ...


@runtime_checkable
class Stirring(Protocol):
    """A byte line on which a frame may have begun: while its bytes arrive the system is not silent."""

    def stirred(self) -> float:
        """Return when the last bytes of an unfinished frame arrived, by anyio's clock; `NEVER` if there is none."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A line that knows whether its silence is evidence; the runner asks before a verdict depends on it."""

    def lost(self) -> str:
        """Return what was lost on the tester's machine, or which process is stopped there; "" if neither."""
        ...


@runtime_checkable
class Belated(Protocol):
    """A line on which the tester sends by its own clock, and may itself be late."""

    def overdue(self) -> float:
        """Return since when the tester has been late after the last call (`time.monotonic`), or `inf`."""
        ...

    def doubt(self) -> str:
        """Return why the system's present behaviour may be the tester's own fault; "" if it cannot be."""
        ...


@runtime_checkable
class Acting(Protocol):
    """A line on which an input can be more than bytes: connecting, closing, half closing."""

    async def perform(self, port_action: PortAction) -> None:
        """Carry out the action. Raises LineLost if it fails, CodecError if this line cannot do it."""
        ...


@runtime_checkable
class Packing(Protocol):
    """A line over a byte stream, on which frames can be sent in parts, or several at once."""

    def pack(self, data: bytes) -> bytes:
        """Return the bytes that otf sends for one frame. Raises CodecError."""
        ...

    async def push(self, raw: bytes) -> None:
        """Send bytes as they are. Raises LineLost."""
        ...


@runtime_checkable
class Acknowledging(Protocol):
    """A line that acknowledges at once what it reads, which takes a packet each time."""

    def acknowledge(self, *, later: bool) -> None:
        """Acknowledge what was read. With `later`, leave the next acknowledgements to inputs, or to the next call."""
        ...


@runtime_checkable
class Stamping(Protocol):
    """A line that knows when a frame arrived, however late it is read. This costs time, so it is off by default."""

    def stamp(self) -> None:
        """From now on, give each frame the time of its arrival."""
        ...


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a bench, which an adapter returns; calling the port opens a connection (a `Line`).

    `open` is the function that opens the line. `kind` is the name of the adapter. `framing` cuts the line's stream into
    frames; `framing` is None if the transport keeps frames whole, as UDP does. `url` is the address of the port, "" if
    it has none. `at(url)` returns a port at another address, with the options of this port.

    >>> from otf.adapters.tcp import tcp
    >>> isinstance(tcp("127.0.0.1:7000"), Port), tcp("127.0.0.1:7000").url
    (True, '127.0.0.1:7000')
    """

    open: Callable[[], AbstractAsyncContextManager[Line]]
    kind: str
    framing: Framing | None = None
    at: Callable[[str], Port] | None = None
    url: str = ""

    def __call__(self) -> AbstractAsyncContextManager[Line]:
        """Open a line."""
        return self.open()


@asynccontextmanager
async def open_ports(
    ports: Mapping[str, Callable[[], AbstractAsyncContextManager[Line]]],
) -> AsyncGenerator[Mapping[str, Line], None]:
    """Open the ports in their order, and close them in reverse. Raises UsageError for what opens no port."""
    async with AsyncExitStack() as stack:
        lines: dict[str, Line] = {}
        for name, opener in ports.items():
            with bound(port=name):
                line = opener()
                if not hasattr(line, "__aenter__"):
                    raise UsageError(_unopened(name, opener, line))
                lines[name] = await stack.enter_async_context(line)
                note("opened")
        yield lines


def _unopened(name: str, opener: object, found: object) -> str:
    advice = "; leave out the function around it" if callable(found) else ""
    what = f"ports[{name!r}] is a function that returned {brief(found)}, and must return an open line (`async with`)"
    return f"{what}{advice}; an adapter does, such as tcp('127.0.0.1:7000'){definition(opener)}"
