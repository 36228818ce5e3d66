"""The bench: a fresh server for every path, with three clients that have introduced themselves."""

from __future__ import annotations

import shlex
import socket
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.adapters.tcp import open_tcp
from otf.core import Barrier
from otf.framing import lines
from otf.models.irc.inputs import ALSO
from otf.models.irc.messages import CLIENTS, IrcCodec, Say, Told
from otf.models.irc.requirements import IRC_REQUIREMENTS, IrcRule
from otf.models.irc.spec import irc
from otf.models.serving import GRACE, HOST, chosen, expected, free_port, known_issue, program, until_told

KNOWN: Final = {
    "invite": known_issue(
        "ngircd 26.1 answers INVITE in the name of the guest, with the nickname first",
        "'341'",
        req=IrcRule.RFC2812_5_1_341,
    ),
    "nick": known_issue(
        "ngircd 26.1 has another error for NICK without a nickname", "'461'", "'NICK'", req=IrcRule.RFC2812_5_2_431
    ),
    "zero": known_issue("ngircd 26.1 stops answering a client after a zero byte", r"MO\x00DE"),
}
"""The known issues that each of `ALSO` shows."""
CONFIGURATION: Final = """\
[Global]
Name = irc.test
Info = otf
Listen = {host}
Ports = {port}
MotdPhrase = hello
AdminInfo1 = otf
ServerUID = root
ServerGID = root
[Limits]
MaxConnectionsIP = 0
MaxJoins = 0
MaxPenaltyTime = 0
PingTimeout = 3600
[Options]
DNS = no
Ident = no
PAM = no
RequireAuthPing = no
SyslogFacility = local1
"""
"""For ngircd: no limits, and no queries about who a client is. Only as root does it change its user."""

PINGS: Final = {client: Say(client, "PING", (":otf",)) for client in CLIENTS}
READY: Final = (b" 376 ", b" 422 ")  # the end of the message of the day, or that there is none


@trace_may_set(also=ALSO)
def bench(*, server: str = "", also: str = "") -> Bench:
    """Return the bench of an IRC chat server.

    `server` is the command that starts the chat server; otf fills in {host}, {port} and {folder}. The folder contains
    `ngircd.conf`, a configuration for ngircd. With `also="invite"`, otf judges the answer to INVITE strictly by the
    RFC. With `also="nick"`, the bench also sends NICK without a nickname. With `also="zero"`, the bench also sends a
    command that contains a zero byte.

    >>> bench().name
    'irc'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="irc",
        known_issues=expected(KNOWN, also),
        spec=irc(also),
        codec=IrcCodec(),
        connect=_connect(server),
        outputs=CLIENTS,
        inputs="uioco",
        # the server answers pings in their order among all else, so that this costs no time
        quiescence=0.050,
        latency=0.020,
        busy=0.020,
        barrier=Barrier(PINGS, lambda _port, output: isinstance(output, Told) and output.command == "PONG"),
        requirements=IRC_REQUIREMENTS,
    )


def _connect(server: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        port = free_port(socket.SOCK_STREAM)
        async with AsyncExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="otf-irc-")))
            (folder / "ngircd.conf").write_text(CONFIGURATION.format(host=HOST, port=port))
            await stack.enter_async_context(open_process(_command(server, port, folder), ready=None, grace=GRACE))
            yield {client: await _introduced(stack, client, port) for client in CLIENTS}

    return connect


async def _introduced(stack: AsyncExitStack, client: str, port: int) -> Line:
    line = await stack.enter_async_context(open_tcp((HOST, port), lines(b"\r\n")))
    await line.send(f"NICK {client}".encode())
    await line.send(f"USER {client} 0 * :{client}".encode())
    await until_told(line, lambda data: any(end in data for end in READY))
    return line


def _command(server: str, port: int, folder: Path) -> list[str]:
    line = server or f"{shlex.quote(program('ngircd', 'ngircd'))} -n -f {{folder}}/ngircd.conf"
    for name, value in {"host": HOST, "port": port, "folder": shlex.quote(str(folder))}.items():
        line = line.replace(f"{{{name}}}", str(value))
    return words(line)
