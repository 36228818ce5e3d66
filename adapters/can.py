"""CAN buses of any kind supported by python-can, frame by frame."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from threading import Event, Thread
from typing import Any, Final

import anyio

from otf.adapter import Arrival, Line, LineLost, Port, Trouble
from otf.adapter.canbus import BusStamps, CanBus, CanFilter, bus_failed, frame_of, message_of, read_bus
from otf.adapter.mailbox import PATIENCE, Mailbox, open_thread
from otf.adapter.observed_rest.place import Place
from otf.adapter.socket.datagrams import dropped
from otf.adapter.third_party import answered
from otf.adapter.waiting import clock
from otf.errors import USERS_OWN, ContactError
from otf.values.arguments import checked
from otf.values.raised import describe

FORM: Final = "can://INTERFACE/CHANNEL?bitrate=500000, with the names and options of python-can"
_TURN: Final = 0.05  # seconds that a thread waits for a frame before it checks whether to end
_AGAIN: Final = 0.001
_BATCH: Final = 256


class CanLine:
    """A bus with a descriptor; made by `open_can`."""

    def __init__(self, bus: Any, patience: float, *, errors: bool = False) -> None:  # noqa: ANN401 -- a can.BusABC
        self._bus, self._patience, self._errors = bus, patience, errors
        self._over = False
        self._gone = ""
        self._clock = clock()
        self._stamps: BusStamps | None = None
        self._wake: Callable[[], None] = lambda: None

    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptor of the socket; none after the end."""
        return () if self._over else (self._bus.fileno(),)

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` when sending reveals a failure."""
        self._wake = wake

    async def send(self, data: bytes) -> None:
        """Send one frame, waiting while the controller's queue is full. Raises LineLost, CodecError."""
        message, until = message_of(data), anyio.current_time() + self._patience
        while not self._gone:
            try:
                self._bus.send(message)
            except Exception as error:
                # the kernel's queue has room for ten frames, and no descriptor shows when it has room again
                if getattr(error, "error_code", None) != errno.ENOBUFS or anyio.current_time() >= until:
                    self._gone = f"the CAN bus did not send: {describe(error)}"
                    self._wake()
                    raise LineLost(self._gone) from error
            else:
                return
            await anyio.sleep(_AGAIN)
        raise LineLost(self._gone)

    def receive(self) -> list[Arrival]:
        """Return up to 256 frames, and finally that the bus failed."""
        arrived = list[Arrival]()
        try:
            while not self._over and len(arrived) < _BATCH:
                began = time.monotonic()
                if (message := self._bus.recv(0)) is None:
                    if self._stamps is not None:
                        self._stamps.empty(began)
                    break
                if (frame := frame_of(message, self._received(message), errors=self._errors)) is not None:
                    arrived.append(frame)
        except Exception as error:  # noqa: BLE001 -- a driver may raise anything
            self._gone = self._gone or bus_failed(error)
        if self._gone and not self._over and len(arrived) < _BATCH:
            self._over = True
            arrived.append(Trouble(self._gone))
        return arrived

    def stamp(self) -> None:
        """From now on, give each frame the time of its arrival."""
        self._stamps = self._stamps or BusStamps()

    def _received(self, message: Any) -> float | None:  # noqa: ANN401 -- a can.Message
        at = None if self._stamps is None else self._stamps.received(message)
        return None if at is None else at + (self._clock() - time.monotonic())

    def lost(self) -> str:
        """Return how many frames the kernel has dropped."""
        if self._over:
            return ""
        with socket.socket(fileno=os.dup(self._bus.fileno())) as sock:
            number = dropped(sock)
        return f"{number} frames came faster than they were read, and the kernel dropped them" if number else ""

    def place(self) -> Place:
        """Return that the systems on a bus are unknown."""
        return Place(hidden="a CAN bus, and it is not known what is on it")

    def remarks(self) -> list[str]:
        """Return nothing: a bus reports only frames."""
        return []

    def close(self) -> None:
        """Close the bus."""
        self._over, self._gone = True, self._gone or "closed by the tester"
        anyio.notify_closing(self._bus.fileno())
        self._bus.shutdown()


class BusReader:
    """Reads a bus without a descriptor in a thread of its own."""

    def __init__(self, where: CanBus, mailbox: Mailbox) -> None:
        self._mailbox, self._over, self._errors = mailbox, Event(), where.errors
        self._bus = where.open()
        self._thread = Thread(target=self._run, name=f"otf can {where.channel}", daemon=True)
        self._thread.start()

    def send(self, data: bytes) -> None:
        """Send one frame. Raises whatever python-can raises, and CodecError."""
        self._bus.send(message_of(data))

    def close(self) -> None:
        """End the thread, and close the bus."""
        self._over.set()
        self._thread.join()
        self._bus.shutdown()

    def _run(self) -> None:
        stamps = BusStamps()
        try:
            while not self._over.is_set():
                began = time.monotonic()
                if (message := self._bus.recv(0)) is None:
                    stamps.empty(began)
                    message = self._bus.recv(_TURN)
                frame = None if message is None else frame_of(message, stamps.received(message), errors=self._errors)
                if frame is not None:
                    self._mailbox.put(frame.data, frame.trouble, received=frame.received)
        except Exception as error:  # noqa: BLE001 -- a driver may raise anything
            self._mailbox.fail(bus_failed(error))


@checked
def can(
    url: str,
    *,
    filters: Sequence[CanFilter] = (),
    errors: bool = False,
    patience: float = PATIENCE,
    **options: Any,  # noqa: ANN401 -- those of python-can
) -> Port:
    """Return the port of a CAN bus, such as "can://socketcan/can0" or "can://slcan//dev/ttyACM0?bitrate=500000".

    The library python-can (the extra `can`) defines interfaces, channels and options; give options in the URL or as
    arguments. The bytes of a frame are those of a `CanFrame` (`otf.codec.can`). If you pass `filters` (pairs of an id
    and a mask), otf receives only frames that match one of the pairs. A bus never ends: a system that has left the bus
    is silent. By default, otf drops error frames; if the controller goes bus-off, the path is inconclusive. If `errors`
    is true, each error frame is an output, a `CanError`. In that case, also set `errors=True` for the codec, and let
    the model allow a `CanError` where the bus may be disturbed. Sending may take `patience` seconds. `can` raises
    UsageError for an invalid address; opening the port raises ContactError.

    >>> can("can://virtual/test").kind
    'can'
    """
    opened = partial(open_can, read_bus(url, FORM, options, filters, errors=errors), patience=patience)
    return Port(opened, "can", None, partial(can, filters=filters, errors=errors, patience=patience, **options), url)


@asynccontextmanager
async def open_can(where: CanBus, *, patience: float = PATIENCE) -> AsyncGenerator[Line, None]:
    """Open a line to a bus. Raises ContactError."""
    if not where.is_watched:
        opening = partial(BusReader, where)
        send, close = BusReader.send, BusReader.close
        async with open_thread(
            opening, send, close, patience=patience, name=where.name, threads=where.is_virtual
        ) as read:
            yield read
        return
    line = CanLine(await _opened(where, patience), patience, errors=where.errors)
    try:
        yield line
    finally:
        line.close()


async def _opened(where: CanBus, patience: float) -> Any:  # noqa: ANN401 -- a can.BusABC
    try:
        return await answered(where.open, patience, lambda late: late.shutdown())
    except USERS_OWN:
        raise
    except Exception as error:
        raise ContactError(f"{where.name} did not open: it raised {describe(error)}") from error
