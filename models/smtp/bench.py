"""The bench: a fresh server for every path, with a connection that the model opens, and the accepted mails."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, KnownIssue, Line, trace_may_set
from otf.models.serving import HOST, chosen, expected, known_issue, started
from otf.models.smtp.inputs import ALSO
from otf.models.smtp.messages import SESSION, SPOOL, SmtpCodec
from otf.models.smtp.requirements import SMTP_REQUIREMENTS, Smtp
from otf.models.smtp.spec import smtp
from otf.models.smtp.upgrade import open_upgrade


def _against(says: str, req: Smtp) -> KnownIssue:
    return KnownIssue(lambda failure: any(each.id == req.name for each in failure.violates), says, req)


KNOWN: Final = {
    "bare": known_issue("aiosmtpd 1.4.6 takes a sender without angle brackets", "MAIL FROM:a", "Reply(code=250"),
    "empty": known_issue("aiosmtpd 1.4.6 takes the empty path for a recipient", "RCPT TO:<>", "Reply(code=250"),
    "help": known_issue("aiosmtpd 1.4.6 answers HELP with 250", "HELP", "Reply(code=250", req=Smtp.RFC5321_4_3_2_HELP),
    # it logs in, or rejects the words
    "login": _against("aiosmtpd 1.4.6 takes AUTH during a mail transaction", Smtp.RFC4954_4_MAIL),
    "newline": _against("aiosmtpd 1.4.6 takes a bare LF for the end of a command", Smtp.RFC5321_2_3_8),
}
"""The known issues that each of `ALSO` shows."""
SERVER: Final = Path(__file__).with_name("server.py")


@trace_may_set(also=ALSO)
def bench(*, also: str = "") -> Bench:
    """Return the bench that tests the mail server aiosmtpd.

    `also` adds inputs that the bench leaves out by default: `bare`, `empty`, `help`, `login`, `newline` or `route`.

    >>> bench().name
    'smtp'
    """
    chosen(also, ALSO)
    return served_by([sys.executable, "-I", str(SERVER)], also=also, known=KNOWN)


def served_by(argv: Sequence[str], *, also: str = "", known: Mapping[str, KnownIssue] | None = None) -> Bench:
    """Return the bench of a server that prints its port as a line of digits, and then each mail that it accepts.

    A mail is the line `mail SENDER RECIPIENT,… HEX`, with `-` for no sender, and the text of the mail in hexadecimal.

    >>> served_by(["server"]).outputs
    ('session', 'spool')
    """
    return Bench.on_ports(
        name="smtp",
        known_issues=expected(known or {}, also),
        spec=smtp(also),
        codec=SmtpCodec(),
        connect=_connect(argv),
        outputs=(SESSION, SPOOL),
        inputs="uioco",
        # a server in Python on a busy machine
        quiescence=0.030,
        latency=0.005,
        busy=0.010,
        requirements=SMTP_REQUIREMENTS,
        # RFC 3207: the handshake follows the 220; the server discards anything sent with STARTTLS
        clients=(),
    )


def _connect(argv: Sequence[str]) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        async with AsyncExitStack() as stack:
            spool, port = await started(stack, argv)
            session = await stack.enter_async_context(open_upgrade((HOST, port)))
            yield {SESSION: session, SPOOL: spool}

    return connect
