"""The bench: a fresh server for every path, with a connection that the model opens, and the mails that it accepts."""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Line, trace_may_set
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.models.serving import GRACE, HOST, chosen, expected, free_port, known_issue
from otf.models.smtp.messages import SESSION, SPOOL, SmtpCodec, replies
from otf.models.smtp.spec import ALSO, smtp

KNOWN: Final = {
    "bare": known_issue("aiosmtpd 1.4.6 takes a sender without angle brackets", "MAIL FROM:a", "Reply(code=250"),
    "empty": known_issue("aiosmtpd 1.4.6 takes the empty path for a recipient", "RCPT TO:<>", "Reply(code=250"),
    "help": known_issue("aiosmtpd 1.4.6 answers HELP with 250", "HELP", "Reply(code=250"),
}
"""The known issues that each of `ALSO` brings to light."""
SERVER: Final = Path(__file__).with_name("server.py")
READY: Final = 10.0


@trace_may_set(also=ALSO)
def bench(*, also: str = "") -> Bench:
    """Return the bench of a mail server; `also` is one of `ALSO`: such inputs are tried as well.

    >>> bench().name
    'smtp'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="smtp",
        known_issues=expected(KNOWN, also),
        spec=smtp(also),
        codec=SmtpCodec(),
        connect=_connect,
        outputs=(SESSION, SPOOL),
        inputs="uioco",
        # a server in Python on a busy machine
        quiescence=0.030,
        latency=0.005,
        busy=0.010,
    )


@asynccontextmanager
async def _connect() -> AsyncGenerator[Mapping[str, Line], None]:
    port = free_port(socket.SOCK_STREAM)
    argv = [sys.executable, "-I", str(SERVER), str(port)]
    async with AsyncExitStack() as stack:
        spool = await stack.enter_async_context(open_process(argv, ready="ready", ready_timeout=READY, grace=GRACE))
        session = await stack.enter_async_context(open_tcp((HOST, port), replies(), connect=False))
        yield {SESSION: session, SPOOL: spool}
