"""A box office on the web: two clients of one HTTP server buy the same two tickets.

`otf run tickets --set fault=race` finds that the server sells a ticket twice if both clients want it at once.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapters.tcp import open_tcp
from otf.codec.by_port import At, codecs
from otf.codec.web import HttpCodec, HttpRequest, HttpResponse
from otf.errors import UsageError
from otf.framing.web import http
from otf.models import tickets_server
from otf.models.serving import HOST, started
from otf.spec import Spec, Transition, goto

CLIENTS: Final = ("ann", "bob")
TICKETS: Final = 2
BUY, BACK = HttpRequest("POST", "/buy"), HttpRequest("POST", "/back")
DONE, REFUSED = HttpResponse(200), HttpResponse(409)
FAULTS: Final = {"race": "a ticket is sold twice if both clients buy it at once"}


def step(left: int, inp: At) -> Iterator[Transition[int]]:
    """Yield the answer to the client, and the number of remaining tickets."""
    then = left - 1 if inp.message == BUY else left + 1
    if 0 <= then <= TICKETS:
        yield goto(then, At(inp.port, DONE))
    else:
        yield goto(left, At(inp.port, REFUSED))


SPEC: Final[Spec[int, At]] = Spec(
    step, TICKETS, [At(client, request) for client in CLIENTS for request in (BUY, BACK)], name="tickets"
)


@trace_may_set(fault=("none", *FAULTS))
def bench(*, fault: str = "none") -> Bench:
    """Return the bench of the box office; `fault` is one of `FAULTS`. Raises UsageError for another one."""
    if fault not in {"none", *FAULTS}:
        message = f"fault={fault}: the office has no such fault; it has {', '.join(FAULTS)}, or none"
        raise UsageError(message)
    # both clients use the same messages: these name the port, and otf knows that they are clients of one system
    codec = codecs({client: HttpCodec() for client in CLIENTS})
    return Bench.on_ports(
        SPEC,
        codec,
        connect=_connect(fault),
        outputs=CLIENTS,
        name="tickets",
        quiescence=0.05,
        latency=0.01,
        busy=0.01,
        mutants=FAULTS,
    )


def _connect(fault: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            _, port = await started(stack, [sys.executable, "-I", "-S", tickets_server.__file__, fault])
            yield {each: await stack.enter_async_context(open_tcp((HOST, port), http())) for each in CLIENTS}

    return connect
