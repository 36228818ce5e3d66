"""The bench: a fresh server for every path, with three clients."""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from otf.adapter import Bench, Connect, Line
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.models.redis.messages import CLIENTS, RedisCodec, replies
from otf.models.redis.spec import redis
from otf.models.serving import GRACE, HOST, free_port, program, until_answered


def bench(*, server: str = "", keys: int = 2) -> Bench:
    """Return the bench of a redis server; `server` is its command line, with {host} and {port}.

    `keys` is how many keys there are; any of them may hold a string or a list.

    >>> bench().name
    'redis'
    """
    return Bench(
        name="redis",
        spec=redis(tuple(f"k{number}" for number in range(keys))),
        codec=RedisCodec(),
        connect=_connect(server),
        outputs=CLIENTS,
        inputs="uioco",
        quiescence=0.020,
        latency=0.005,
        busy=0.005,
    )


def _connect(server: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        port = free_port(socket.SOCK_STREAM)
        own = f"{shlex.quote(program('redis-server', 'redis-server'))} --bind {{host}} --port {{port}} --save ''"
        argv = words((server or own).replace("{host}", HOST).replace("{port}", str(port)))
        opener = partial(open_tcp, (HOST, port), replies())
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
            await until_answered(opener, b"PING\r\n", process)
            yield {client: await stack.enter_async_context(opener()) for client in CLIENTS}

    return connect
