"""A connection that begins in the clear, and on which an input starts TLS."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from otf.adapter import Arrival, Ending, Frame
from otf.adapter.socket import encrypted
from otf.adapter.socket.connection import Address, connected
from otf.adapter.waiting import alarms
from otf.adapters.tcp import TcpLine
from otf.errors import ContactError
from otf.models.smtp.messages import HANDSHAKE, SECURED, replies

_WITHIN = 5.0


class UpgradeLine(TcpLine):
    """A line on which sending `HANDSHAKE` starts TLS."""

    _news: Arrival | None = None

    async def push(self, raw: bytes) -> None:
        """Send bytes, or agree on TLS."""
        if raw == HANDSHAKE and self._socket is not None:
            await self._agree(self._socket)
        else:
            await super().push(raw)

    def receive(self) -> list[Arrival]:
        """Return what has come, including the agreement on TLS."""
        news, self._news = self._news, None
        return super().receive() if news is None else [news]

    async def _agree(self, sock: socket.socket) -> None:
        try:
            # the certificate is self-signed: the server's identity does not matter here
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self._use(await encrypted(sock, context, "the server", _WITHIN, "mail.example"))
            self._news = Frame(SECURED)
        except ContactError:
            self.close()
            self._news = Ending("no TLS")
        self._wake()


@asynccontextmanager
async def open_upgrade(address: Address) -> AsyncGenerator[UpgradeLine, None]:
    """Open a line to (host, port) that connects on `PortAction.CONNECT`."""
    call = partial(connected, socket.AF_INET, address, f"tcp {address[0]}:{address[1]}", _WITHIN, None)
    async with alarms() as alarm:
        line = UpgradeLine(None, replies(), alarm, call)
        try:
            yield line
        finally:
            line.close()
