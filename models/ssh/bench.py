"""The bench: a fresh SSH server for every path, with a connection that the model opens."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.adapters.tcp import open_tcp
from otf.models.serving import HOST, chosen, expected, known_issue, started
from otf.models.ssh.messages import PORT, SshCodec
from otf.models.ssh.requirements import SSH_REQUIREMENTS, Ssh
from otf.models.ssh.spec import ALSO, ssh
from otf.models.ssh.transport import Packets

KNOWN: Final = {
    "early": known_issue(
        "paramiko 5.1.0 does not disconnect a client that has not logged in", "Send(", req=Ssh.RFC4252_6_EARLY
    ),
    "unassigned": known_issue(
        "paramiko 5.1.0 ends the connection after a message without a meaning", "UNASSIGNED", req=Ssh.RFC4253_11_4
    ),
}
"""The known issues that each of `ALSO` shows."""
SERVER: Final = Path(__file__).with_name("server.py")


@trace_may_set(also=ALSO)
def bench(*, also: str = "") -> Bench:
    """Return the bench that tests the SSH server of paramiko.

    `also` adds messages that the bench leaves out by default: `claims`, `early`, `injected`, `refusals` or
    `unassigned`.

    >>> bench().name
    'ssh'
    """
    chosen(also, ALSO)
    return served_by([sys.executable, "-I", str(SERVER)], also=also, known=KNOWN)


def served_by(argv: Sequence[str], *, also: str = "", known: Mapping[str, KnownIssue] | None = None) -> Bench:
    """Return the bench of a server that prints its port as a line of digits; its login is `user` with `secret`.

    >>> served_by(["server"]).outputs
    ('ssh',)
    """
    return Bench.on_ports(
        name="ssh",
        known_issues=expected(known or {}, also),
        spec=ssh(also),
        codec=SshCodec(),
        connect=_connect(argv),
        outputs=(PORT,),
        inputs="uioco",
        # a server in Python on a busy machine
        quiescence=0.050,
        latency=0.010,
        busy=0.050,
        requirements=SSH_REQUIREMENTS,
    )


def _connect(argv: Sequence[str]) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            address = HOST, (await started(stack, argv))[1]
            yield {PORT: await stack.enter_async_context(open_tcp(address, Packets, connect=False))}

    return connect
