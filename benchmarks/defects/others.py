"""Benches of servers that the shipped benches do not start: the findings name each with its command.

Install the server first, for instance with `pip install twisted waitress`, or with `npm install smtp-server` in the
current folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from otf.adapter import Bench, trace_may_set
from otf.errors import UsageError
from otf.models.dns.bench import served_by as dns
from otf.models.dns.inputs import ALSO as QUERIES
from otf.models.http import served_by as http
from otf.models.serving import chosen
from otf.models.smtp.bench import served_by as smtp
from otf.models.smtp.inputs import ALSO as MAILS
from otf.models.websocket import served_by as websocket

SERVERS: Final = Path(__file__).resolve().parent / "servers"
WEB: Final = tuple(sorted(each.stem.removesuffix("_http") for each in SERVERS.glob("*_http.*")))
"""The web servers: `waitress` and others."""
WS: Final = tuple(sorted(each.stem.removesuffix("_ws") for each in SERVERS.glob("*_ws.*")))
"""The WebSocket servers: `tornado` and others."""


@trace_may_set(also=QUERIES)
def twisted(*, also: str = "") -> Bench:
    """Return the bench of Twisted's name server."""
    chosen(also, QUERIES)
    return dns(_command("twisted_dns.py"), also=also)


@trace_may_set(also=MAILS)
def smtp_server(*, also: str = "") -> Bench:
    """Return the bench of Node's smtp-server."""
    chosen(also, MAILS)
    return smtp(_command("smtp-server.js"), also=also)


@trace_may_set(server=WEB)
def web(*, server: str = "waitress") -> Bench:
    """Return the bench of a web server."""
    return http(_command(_file(server, WEB, "http")))


@trace_may_set(server=WS)
def ws(*, server: str = "tornado") -> Bench:
    """Return the bench of a WebSocket server."""
    return websocket(_command(_file(server, WS, "ws")))


def _file(server: str, servers: tuple[str, ...], kind: str) -> str:
    if server not in servers:
        message = f"server={server}: there is no such server; there are {', '.join(servers)}"
        raise UsageError(message)
    return next(SERVERS.glob(f"{server}_{kind}.*")).name


def _command(file: str) -> list[str]:
    """Return the command that starts a server; Node finds its packages in the current folder."""
    node = ["env", f"NODE_PATH={Path.cwd() / 'node_modules'}", "node"]
    return [*(node if file.endswith(".js") else [sys.executable]), str(SERVERS / file)]
