"""Benches of servers that the shipped benches do not start: the findings name each with its command.

Install the server first: `pip install twisted`, or `npm install smtp-server` in the current folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from otf.adapter import Bench, trace_may_set
from otf.models.dns.bench import served_by as dns
from otf.models.dns.inputs import ALSO as QUERIES
from otf.models.serving import chosen
from otf.models.smtp.bench import served_by as smtp
from otf.models.smtp.inputs import ALSO as MAILS

SERVERS: Final = Path(__file__).resolve().parent / "servers"


@trace_may_set(also=QUERIES)
def twisted(*, also: str = "") -> Bench:
    """Return the bench of Twisted's name server."""
    chosen(also, QUERIES)
    return dns([sys.executable, str(SERVERS / "twisted_dns.py")], also=also)


@trace_may_set(also=MAILS)
def smtp_server(*, also: str = "") -> Bench:
    """Return the bench of Node's smtp-server."""
    chosen(also, MAILS)
    return smtp(["env", f"NODE_PATH={Path.cwd() / 'node_modules'}", "node", str(SERVERS / "smtp-server.js")], also=also)
