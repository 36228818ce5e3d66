"""The bench: a fresh name server for every path, a socket of UDP, and a connection that the model opens."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.adapters.tcp import open_tcp
from otf.adapters.udp import open_udp
from otf.models.dns.inputs import ALSO
from otf.models.dns.messages import TCP, UDP, DnsCodec, messages
from otf.models.dns.requirements import DNS_REQUIREMENTS, Dns
from otf.models.dns.spec import dns
from otf.models.serving import HOST, chosen, expected, known_issue, started

KNOWN: Final = {
    "edns": known_issue("dnslib 0.9.26 ignores OPT records", "edns=", "Answer(", req=Dns.RFC6891_7_FORMERR),
    "kind": known_issue(
        "dnslib 0.9.26 takes every opcode for a query", "opcode=", "Answer(", req=Dns.RFC1035_4_1_1_KIND
    ),
    "tcp": known_issue("dnslib 0.9.26 closes a connection after a part of a query", "Head(", req=Dns.RFC7766_8),
    "truncated": known_issue(
        "dnslib 0.9.26 leaves the question out of a truncated answer", "big.", "tc=True", req=Dns.RFC1035_6_2
    ),
}
"""The known issues that each of `ALSO` shows."""
SERVER: Final = Path(__file__).with_name("server.py")


@trace_may_set(also=ALSO)
def bench(*, also: str = "") -> Bench:
    """Return the bench that tests the DNS name server of dnslib.

    `also` adds queries that the bench leaves out by default: `edns`, `kind`, `malformed`, `response`, `tcp` or
    `truncated`.

    >>> bench().name
    'dns'
    """
    chosen(also, ALSO)
    return served_by([sys.executable, "-I", str(SERVER)], also=also, known=KNOWN)


def served_by(argv: Sequence[str], *, also: str = "", known: Mapping[str, KnownIssue] | None = None) -> Bench:
    """Return the bench of a server of the zone `ZONE` that prints its port, for UDP and TCP, as a line of digits.

    >>> served_by(["server"]).outputs
    ('udp', 'tcp')
    """
    return Bench.on_ports(
        name="dns",
        known_issues=expected(known or {}, also),
        spec=dns(also),
        codec=DnsCodec(),
        connect=_connect(argv),
        outputs=(UDP, TCP),
        inputs="uioco",
        # a server in Python on a busy machine
        quiescence=0.030,
        latency=0.005,
        busy=0.010,
        requirements=DNS_REQUIREMENTS,
    )


def _connect(argv: Sequence[str]) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = HOST, (await started(stack, argv))[1]
            udp = await stack.enter_async_context(open_udp((HOST, 0), address))
            tcp = await stack.enter_async_context(open_tcp(address, messages(), connect=False))
            yield {UDP: udp, TCP: tcp}

    return connect
