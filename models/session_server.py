"""The device under test of `otf run session_device`: an asyncio server that knows nothing of the model.

`python session_server.py FAULT` prints the number of a free port and serves it. It does not import otf: a tester starts
it for every path, and importing otf takes longer than asyncio.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import Final, cast

HOST: Final = "127.0.0.1"
CYCLE: Final = 0.2
SESSION: Final = 0.85


class Device(asyncio.Protocol):
    """The device under test: lines in, lines out, and two timers of the event loop. It knows nothing of the model."""

    def __init__(self, fault: str = "none") -> None:
        self._fault = fault
        self._cycles = 0
        self._tick: asyncio.TimerHandle | None = None
        self._session: asyncio.TimerHandle | None = None
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- asyncio calls it so
        """Stop the timers."""
        self._stop()

    def data_received(self, data: bytes) -> None:
        """Take the complete lines."""
        *complete, self._received = (self._received + data).split(b"\n")
        for line in complete:
            self._take(line)

    def _take(self, line: bytes) -> None:
        active = self._tick is not None
        if line == b"begin" and not active:
            self._say("begun")
            self._cycles = 0
            self._await_cycle()
            self._extend()
        elif line == b"touch" and active:
            self._say("touched")
            self._extend()
        elif line == b"finish" and active:
            self._say("finished")
            self._stop()
        else:
            self._say("refused")

    def _say(self, what: str) -> None:
        self._transport.write(f"{what}\n".encode())

    def _await_cycle(self) -> None:
        third = self._cycles % 3 == 2  # noqa: PLR2004 -- the third is the one that mutants get wrong
        self._tick = self._loop.call_later(2 * CYCLE if third and self._fault == "late" else CYCLE, self._cycle)

    def _cycle(self) -> None:
        self._cycles += 1
        if self._fault != "lost" or self._cycles % 3:
            self._say("cycle")
        self._await_cycle()

    def _extend(self) -> None:
        if self._session is not None:
            self._session.cancel()
        if self._fault != "endless":
            self._session = self._loop.call_later(SESSION / 2 if self._fault == "early" else SESSION, self._expire)

    def _expire(self) -> None:
        self._say("expired")
        self._stop()

    def _stop(self) -> None:
        for timer in (self._tick, self._session):
            if timer is not None:
                timer.cancel()
        self._tick = self._session = None


async def serve(fault: str) -> None:
    """Serve one connection at a time on a free port, and print its number."""
    server = await asyncio.get_running_loop().create_server(lambda: Device(fault), HOST, 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(*sys.argv[1:]))
