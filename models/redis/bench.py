"""The bench: a fresh server for every path, with three clients."""

from __future__ import annotations

import re
import shlex
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.models.redis.messages import CLIENTS, RedisCodec, replies
from otf.models.redis.spec import redis
from otf.models.serving import GRACE, HOST, free_port, program, until_answered
from otf.trace.verdict import Failure


def _as(*pairs: tuple[str, str]) -> Callable[[Failure], bool]:
    """Return a test for outputs that are right except for texts of these patterns, each with the right one."""

    def shows(failure: Failure) -> bool:
        seen = failure.seen
        for pattern, right in pairs:
            seen = re.sub(pattern, right, seen)
        allowed = (text for state in failure.allowed for texts, _ in state.branches for text in texts)
        return failure.kind == "wrong" and seen != failure.seen and any(seen in text for text in allowed)

    return shows


FAKE: Final = "fakeredis"
_SERVER: Final = Path(__file__).with_name("fake.py")
_CODE: Final = ("ERR WRONGTYPE ", "WRONGTYPE ")
_STATUS: Final = (r"(?<!=)'OK'", "Status(text='OK')")
KNOWN: Final = (
    KnownIssue(
        lambda failure: failure.kind == "ended" and "value=Fault(" in "".join(failure.before[-1:]),
        "fakeredis 2.40.0 closes the connection after an error",
    ),
    KnownIssue(
        _as((r"Status\(text=('[^']*')\)", r"\1")),
        "fakeredis 2.40.0 writes a text as a simple string",
    ),
    KnownIssue(
        _as(_CODE),
        "fakeredis 2.40.0 has another code of errors before WRONGTYPE",
    ),
    KnownIssue(
        _as(_STATUS, _CODE),
        "fakeredis 2.40.0 has a string in the reply to a transaction, where a status belongs",
    ),
    KnownIssue(
        _as((r"\bNone\b", "NoArray()"), _STATUS, _CODE),
        "fakeredis 2.40.0 has a null string in the reply to a transaction, where a null array belongs",
    ),
)
"""The known issues of `fakeredis`; the server of redis has none."""


def bench(*, server: str = "", keys: int = 2) -> Bench:
    """Return the bench of a redis server.

    `server` is the command that starts the redis server (otf fills in {host} and {port}), or the word `fakeredis`.
    `keys` is the number of keys that the clients use; each key may hold a string or a list.

    >>> bench().name
    'redis'
    """
    return Bench(
        name="redis",
        known_issues=KNOWN if server == FAKE else (),
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
        argv = words(
            (_fake() if server == FAKE else server or _own()).replace("{host}", HOST).replace("{port}", str(port))
        )
        opener = partial(open_tcp, (HOST, port), replies())
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
            await until_answered(opener, b"PING\r\n", process)
            yield {client: await stack.enter_async_context(opener()) for client in CLIENTS}

    return connect


def _own() -> str:
    return f"{shlex.quote(program('redis-server', 'redis-server'))} --bind {{host}} --port {{port}} --save ''"


def _fake() -> str:
    return f"{shlex.quote(sys.executable)} -I {shlex.quote(str(_SERVER))} {{host}} {{port}}"
