"""The bench: a fresh server for every path, and a connection for each client."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapter.socket.connection import read_address
from otf.adapters.tcp import open_tcp
from otf.framing.web import websocket
from otf.models.chat.spec import ALSO, CLIENTS, ChatCodec, chat
from otf.models.serving import HOST, chosen, expected, known_issue, started

KNOWN: Final = {
    "close": known_issue("websocket-server 0.6.4 answers no close with a close", "WsClose("),
    "bytes": known_issue("websocket-server 0.6.4 reads the bytes of a binary message as frames", "WsBytes("),
    "ping": known_issue("websocket-server 0.6.4 takes the bytes of a ping for text", "WsPing(data=b'\\xff')"),
}
"""The known issues that each of `ALSO` shows."""
SERVED: Final = (sys.executable, "-I", str(Path(__file__).with_name("server.py")))


@trace_may_set(also=ALSO)
def bench(*, server: str = "", also: str = "") -> Bench:
    """Return the bench of a chat between two WebSocket clients.

    `server` is the HOST:PORT of a chat server of your own, to which no other clients are connected. `also` adds inputs
    that the bench leaves out by default: `close`, `bytes` or `ping`.

    >>> bench().name
    'chat'
    """
    chosen(also, ALSO)
    return _bench(server, SERVED, also)


def served_by(argv: Sequence[str], also: str = "") -> Bench:
    """Return the bench of servers started by a command, one per path, that print their port and serve such a chat.

    >>> served_by(["./server"]).name
    'chat'
    """
    return _bench("", argv, also)


def _bench(server: str, argv: Sequence[str], also: str) -> Bench:
    return Bench.on_ports(
        name="chat",
        known_issues=expected(KNOWN, also),
        spec=chat(also),
        codec=ChatCodec(),
        connect=_connect(server, argv),
        outputs=CLIENTS,
        inputs="uioco",
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
    )


def _connect(server: str, argv: Sequence[str]) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = read_address(server, "HOST:PORT") if server else (HOST, (await started(stack, argv))[1])
            framing = websocket(f"{address[0]}:{address[1]}")
            yield {each: await stack.enter_async_context(open_tcp(address, framing)) for each in CLIENTS}

    return connect
