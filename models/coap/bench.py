"""The bench: a fresh server for every path, and a socket for each of two clients."""

from __future__ import annotations

import shlex
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.udp import open_udp
from otf.models.coap.codec import CoapCodec
from otf.models.coap.endpoint import Endpoint
from otf.models.coap.inputs import ALSO
from otf.models.coap.requirements import COAP_REQUIREMENTS, CoapRule
from otf.models.coap.spec import coap
from otf.models.coap.state import CLIENTS
from otf.models.coap.wire import Packet, packed
from otf.models.serving import GRACE, HOST, chosen, expected, free_port, known_issue, program, until_answered

KNOWN: Final = {
    "ping": known_issue(
        "libcoap 4.3.1 does not reset an empty message within 250 ms of another",
        "Ping(",
        "nothing more",
        req=CoapRule.RFC7252_4_2_REJECT,
    ),
    "post": known_issue(
        "libcoap 4.3.1 carries a POST out twice that came twice", "POST", "2.04", req=CoapRule.RFC7252_4_5_ONCE
    ),
    "renew": known_issue(
        "libcoap 4.3.1 gives a notification no greater number than the one before", "stale", req=CoapRule.RFC7641_4_4
    ),
}
"""The known issues that each of `ALSO` shows."""


@trace_may_set(also=ALSO)
def bench(*, server: str = "", also: str = "") -> Bench:
    """Return the bench of a CoAP server.

    `server` is the command that starts the CoAP server; otf fills in {host} and {port}. The server must let clients
    create at least two resources. `also` adds inputs that the bench leaves out by default: `ping`, `post` or `renew`.

    >>> bench().name
    'coap'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="coap",
        known_issues=expected(KNOWN, also),
        spec=coap(also),
        codec=CoapCodec(),
        connect=_connect(server),
        outputs=CLIENTS,
        inputs="uioco",
        quiescence=0.020,
        latency=0.005,
        busy=0.005,
        requirements=COAP_REQUIREMENTS,
    )


def _connect(server: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        port = free_port(socket.SOCK_DGRAM)
        # -d: how many resources clients may create
        own = f"{shlex.quote(program('coap-server-notls', 'libcoap3-bin'))} -A {{host}} -p {{port}} -d 3"
        argv = words((server or own).replace("{host}", HOST).replace("{port}", str(port)))
        async with AsyncExitStack() as stack:
            process = await stack.enter_async_context(open_process(argv, ready=None, grace=GRACE))
            await until_answered(partial(open_udp, (HOST, 0), (HOST, port)), packed(Packet("CON", 0)), process)
            lines = {each: await stack.enter_async_context(open_udp((HOST, 0), (HOST, port))) for each in CLIENTS}
            yield {client: Endpoint(line) for client, line in lines.items()}

    return connect
