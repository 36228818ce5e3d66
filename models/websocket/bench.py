"""The bench: a fresh server for every path, with a connection that the model opens."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line
from otf.adapter.socket.connection import read_address
from otf.adapters.tcp import open_tcp
from otf.models.serving import HOST, started
from otf.models.websocket.codec import SocketCodec
from otf.models.websocket.messages import PORT
from otf.models.websocket.requirements import WS_RULES, WsRule
from otf.models.websocket.spec import echo
from otf.models.websocket.wire import messages

SERVER: Final = (sys.executable, "-I", str(Path(__file__).with_name("server.py")))

KNOWN: Final = KnownIssue(
    lambda failure: (
        "HandshakeAnswer(status=101" in f"{failure.seen}"
        and any(each.id == WsRule.RFC6455_4_2_1.name for each in failure.violates)
    ),
    "wsproto 1.3.2 takes keys that are none, and handshakes by HTTP/1.0",
    WsRule.RFC6455_4_2_1,
)
"""The known issue of the bench's own server."""


def bench(*, server: str = "") -> Bench:
    """Return the bench of a WebSocket server that echoes each message.

    `server` is the HOST:PORT of your WebSocket server. By default, the bench tests the WebSocket library wsproto.

    >>> bench().name
    'websocket'
    """
    return _bench(_connect(SERVER, server), () if server else (KNOWN,))


def served_by(argv: Sequence[str]) -> Bench:
    """Return the bench of a WebSocket server that otf starts with the command `argv`, anew for each path.

    The server must print its port number.

    >>> served_by(["my-server"]).name
    'websocket'
    """
    return _bench(_connect(argv))


def _bench(connect: Connect, known: tuple[KnownIssue, ...] = ()) -> Bench:
    return Bench.on_ports(
        name="websocket",
        known_issues=known,
        spec=echo(),
        codec=SocketCodec(),
        connect=connect,
        outputs=(PORT,),
        inputs="uioco",
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
        requirements=WS_RULES,
    )


def _connect(argv: Sequence[str], server: str = "") -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = read_address(server, "HOST:PORT") if server else (HOST, (await started(stack, argv))[1])
            yield {PORT: await stack.enter_async_context(open_tcp(address, messages(), connect=False))}

    return connect
