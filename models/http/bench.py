"""The bench: a fresh server for every path, with a connection that the model opens."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.adapter.socket.connection import read_address
from otf.adapters.tcp import open_tcp
from otf.models.http.codec import RawHttpCodec
from otf.models.http.messages import PORT
from otf.models.http.requirements import HTTP_RULES, HttpRule
from otf.models.http.spec import ALSO, web
from otf.models.http.wire import responses
from otf.models.serving import HOST, chosen, started

SERVER: Final = (sys.executable, "-I", str(Path(__file__).with_name("server.py")))


def _violates(rule: HttpRule, says: str) -> KnownIssue:
    return KnownIssue(lambda failure: any(each.id == rule.name for each in failure.violates), says, rule)


KNOWN: Final = (
    _violates(HttpRule.RFC9112_6_1_BOTH, "h11 0.16.0 keeps a connection after a request with a length and a coding"),
    _violates(HttpRule.RFC9112_3_2_HOST, "h11 0.16.0 takes a Host with an invalid value"),
    _violates(HttpRule.RFC9112_3_TARGET, "h11 0.16.0 suggests a 431 for a target that is too long"),
)
"""The known issues of the bench's own server."""


@trace_may_set(also=ALSO)
def bench(*, server: str = "", also: str = "") -> Bench:
    """Return the bench of a web server, which must serve the application in `otf.models.http.server`.

    `server` is the HOST:PORT of the web server. By default, the bench tests the HTTP library h11. With `also="should"`,
    otf also sends requests that a server should refuse, and treats the RFC's SHOULD as a MUST. With `also="date"`, otf
    requires a Date header in answers.

    >>> bench().name
    'http'
    """
    return _bench(_connect(SERVER, server), also, () if server else KNOWN)


def served_by(argv: Sequence[str], also: str = "") -> Bench:
    """Return the bench of a web server that otf starts with the command `argv`, anew for each path.

    The server must print its port number.

    >>> served_by(["my-server"]).name
    'http'
    """
    return _bench(_connect(argv), also)


def _bench(connect: Connect, also: str, known: tuple[KnownIssue, ...] = ()) -> Bench:
    chosen(also, ALSO)
    return Bench.on_ports(
        name="http",
        known_issues=known,
        spec=web(also),
        codec=RawHttpCodec(),
        connect=connect,
        outputs=(PORT,),
        inputs="uioco",
        quiescence=0.030,
        latency=0.010,
        busy=0.010,
        requirements=HTTP_RULES,
    )


def _connect(argv: Sequence[str], server: str = "") -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = read_address(server, "HOST:PORT") if server else (HOST, (await started(stack, argv))[1])
            yield {PORT: await stack.enter_async_context(open_tcp(address, responses(), connect=False))}

    return connect
