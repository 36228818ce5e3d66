"""The bench: a fresh server for every path, and a connection for each client."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapter.socket.address import read_address
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.framing.web import websocket
from otf.models.chat.spec import ALSO, CLIENTS, ChatCodec, chat
from otf.models.serving import GRACE, HOST, chosen, expected, known_issue, until_told

KNOWN: Final = {
    "close": known_issue("websocket-server 0.6.4 answers no close with a close", "WsClose("),
    "bytes": known_issue("websocket-server 0.6.4 reads the bytes of a binary message as frames", "WsBytes("),
    "ping": known_issue("websocket-server 0.6.4 takes the bytes of a ping for text", "WsPing(data=b'\\xff')"),
}
"""The known issues that each of `ALSO` shows."""
SERVER: Final = Path(__file__).with_name("server.py")


@trace_may_set(also=ALSO)
def bench(*, server: str = "", also: str = "") -> Bench:
    """Return the bench of a chat; `server` is the address HOST:PORT of one of your own, without other clients.

    `also` is one of `ALSO`: such messages are tried as well.

    >>> bench().name
    'chat'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="chat",
        known_issues=expected(KNOWN, also),
        spec=chat(also),
        codec=ChatCodec(),
        connect=_connect(server),
        outputs=CLIENTS,
        inputs="uioco",
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
    )


def _connect(server: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = read_address(server, "HOST:PORT") if server else (HOST, await _served(stack))
            framing = websocket(f"{address[0]}:{address[1]}")
            yield {each: await stack.enter_async_context(open_tcp(address, framing)) for each in CLIENTS}

    return connect


async def _served(stack: AsyncExitStack) -> int:
    """Start a server; return its port."""
    process = await stack.enter_async_context(
        open_process([sys.executable, "-I", str(SERVER)], ready=None, grace=GRACE)
    )
    return int(await until_told(process, bytes.isdigit))
