"""A socket for successive transfers: the server answers each from a new port."""

from __future__ import annotations

import errno
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio

from otf.adapter import Arrival, Ending, Frame, LineLost
from otf.adapter.observed_rest.place import Place
from otf.adapter.socket.connection import Address
from otf.adapter.socket.datagrams import datagram_socket, refusals
from otf.errors import ContactError
from otf.models.serving import HOST
from otf.models.tftp.messages import READ, WRITE

LARGEST: Final = 65_536
_BATCH: Final = 64
_REQUESTS: Final = tuple(kind.to_bytes(2, "big") for kind in (READ, WRITE))


class TransferLine:
    """A line to a TFTP server; requests go to its known port, later packets to the port that answered.

    Each request goes out from a fresh port, as a client's does (RFC 1350, section 4), so leftovers of an old transfer
    go to a closed port. The server's port would not identify them, since ports recur: of 20 paths with 60 transfers
    each, one or two would take the answer to a request for a leftover.
    """

    def __init__(self, server: Address) -> None:
        self._socket = datagram_socket((HOST, 0))
        self._server = server
        self._tid: Any = None
        self._strange = 0
        self._gone = ""
        self._over = False
        self._wake: Callable[[], None] = lambda: None

    def descriptors(self) -> tuple[int, ...]:
        """Return the socket's; none after the ending."""
        return () if self._over else (self._socket.fileno(),)

    def arm(self, wake: Callable[[], None]) -> None:
        """Call `wake` when there is another socket."""
        self._wake = wake

    async def send(self, data: bytes) -> None:
        """Send one packet. Raises LineLost."""
        if self._gone:
            raise LineLost(self._gone)
        if data[:2] in _REQUESTS:
            self._renew()
        while not self._sent(data):
            await anyio.wait_writable(self._socket)

    def receive(self) -> list[Arrival]:
        """Return the packets of the transfer that have arrived."""
        arrived = list[Arrival]()
        while not self._over and len(arrived) < _BATCH:
            try:
                data, sender = self._socket.recvfrom(LARGEST)
            except BlockingIOError:
                self._over = bool(self._gone)
                return [*arrived, Ending(self._gone)] if self._gone else arrived
            except OSError:
                self._hear()
                continue
            arrived += [Frame(data)] if self._is_ours(sender) else []
        return arrived

    def place(self) -> Place:
        """Return that the server is the other end, whatever port it answers from."""
        return Place(transport="udp", address=self._server)

    def remarks(self) -> list[str]:
        """Return the number of ignored packets from strangers."""
        remark = f"packets from other ports than the transfer's that were ignored: {self._strange}"
        return [remark] if self._strange else []

    def close(self) -> None:
        """Close the socket."""
        self._over = True
        anyio.notify_closing(self._socket)
        self._socket.close()

    def _renew(self) -> None:
        old, self._tid = self._socket, None
        try:
            self._socket = datagram_socket((HOST, 0))
        except ContactError as error:
            raise LineLost(str(error)) from error
        self._wake()  # the runner has to stop watching it before it is closed
        anyio.notify_closing(old)
        old.close()

    def _is_ours(self, sender: Any) -> bool:  # noqa: ANN401 -- what recvfrom gives
        ours = sender[0] == self._server[0] and self._tid in {None, sender}
        self._tid = sender if ours else self._tid
        self._strange += not ours
        return bool(ours)

    def _sent(self, data: bytes) -> bool:
        try:
            self._socket.sendto(data, self._server if self._tid is None else self._tid)
        except BlockingIOError:
            return False
        except OSError:
            self._hear()
        return True

    def _hear(self) -> None:
        # a closed port ends a transfer, but the server's own port must stay open
        for number, sent_to in refusals(self._socket):
            if sent_to == self._server and number == errno.ECONNREFUSED:
                self._gone = "port unreachable"


@asynccontextmanager
async def open_transfers(server: Address) -> AsyncGenerator[TransferLine, None]:
    """Open a line to the server at (host, port), from a fresh port."""
    line = TransferLine(server)
    try:
        yield line
    finally:
        line.close()
