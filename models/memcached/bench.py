"""The bench: a fresh server for every path, with two clients, over TCP or UDP."""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line, Opener, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.adapters.udp import open_udp
from otf.core import Barrier
from otf.errors import UsageError
from otf.models.memcached.inputs import ALSO, Choice
from otf.models.memcached.messages import CLIENTS, HEADER, Command, MemcachedCodec, Reply, replies
from otf.models.memcached.spec import memcached
from otf.models.memcached.state import alike
from otf.models.serving import GRACE, HOST, chosen, expected, free_port, program, until_answered

TRANSPORTS: Final = ("tcp", "udp")
KNOWN: Final = {
    "keys": KnownIssue(
        lambda failure: "'k0', 'k1'" in failure.input,
        "memcached 1.6.18 sends a datagram a key over UDP, and each says that it is the first and only one",
    ),
    "number": KnownIssue(
        lambda failure: any(f"name='{name}'" in failure.input for name in ("incr", "decr")),
        "memcached 1.6.18 counts with the number that data begins with, though it is not a number as a whole",
    ),
}
"""The known issues that each of `ALSO` shows."""
_PINGS: Final = {client: Command(client, "mn") for client in CLIENTS}  # the no-operation of the meta commands
_QUESTION: Final = b"version\r\n"


@trace_may_set(transport=TRANSPORTS, also=ALSO, expiry=(False, True))
def bench(  # noqa: PLR0913 -- the parameters of a bench, each with its name
    *,
    server: str = "",
    transport: str = "tcp",
    keys: int = 2,
    wide: bool = False,
    expiry: bool = False,
    also: str = "",
) -> Bench:
    """Return the bench of a memcached server.

    `server` is the command that starts the memcached server; otf fills in {host} and {port}. `transport` is tcp or udp.
    `keys` is the number of keys that the clients use. With `wide`, the clients store more kinds of data and flags. With
    `expiry`, items expire, and the bench sometimes waits between commands until they have expired. With `also="keys"`,
    the clients also send a `gets` of several keys over UDP. With `also="number"`, the clients also send an `incr` for
    data that only begins with a number.

    >>> bench(transport="udp").name
    'memcached'
    """
    chosen(also, ALSO)
    if transport not in TRANSPORTS:
        message = f"transport={transport}: choose one of {', '.join(TRANSPORTS)}"
        raise UsageError(message)
    udp = transport == "udp"
    names = tuple(f"k{number}" for number in range(keys))
    return Bench.on_ports(
        name="memcached",
        known_issues=expected(KNOWN, also),
        spec=memcached(Choice(names, also, wide, together=not udp, expiry=expiry)),
        codec=MemcachedCodec(udp),
        connect=_connect(server, udp=udp),
        outputs=CLIENTS,
        inputs="uioco",
        quiescence=0.020,
        latency=0.005,
        busy=0.005,
        # cas ids and appended data make nearly every state new
        silence_key=alike,
        # datagrams may overtake each other, so an answer proves nothing about earlier ones
        barrier=None if udp else Barrier(_PINGS, lambda _port, reply: isinstance(reply, Reply) and reply.line == "MN"),
    )


def _connect(server: str, *, udp: bool) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        port = free_port(socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
        own = f"{shlex.quote(program('memcached', 'memcached'))} -l {{host}} -p {{tcp}} -U {{udp}} -u root -m 8 -t 1"
        # port 0 switches the other transport off
        text = (server or own).replace("{host}", HOST).replace("{tcp}", "0" if udp else str(port))
        argv = words(text.replace("{udp}", str(port) if udp else "0").replace("{port}", str(port)))
        opener = _opener(port, udp=udp)
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
            await until_answered(opener, (HEADER if udp else b"") + _QUESTION, process)
            yield {client: await stack.enter_async_context(opener()) for client in CLIENTS}

    return connect


def _opener(port: int, *, udp: bool) -> Opener:
    if udp:
        return partial(open_udp, (HOST, 0), (HOST, port))
    return partial(open_tcp, (HOST, port), replies())
