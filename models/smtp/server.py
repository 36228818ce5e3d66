"""A mail server by aiosmtpd that prints its port, and each mail it accepts as one line: `python server.py [PORT]`.

It offers logins (user, secret), and TLS if `openssl` is there to make a certificate.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
import tempfile
from functools import partial
from inspect import signature
from pathlib import Path
from shutil import which
from typing import Any

from aiosmtpd import smtp

HOST = "127.0.0.1"
_CERTIFICATE = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=mail.example"


class Printer:
    """Prints the envelope and the text of a mail, in one line of ASCII."""

    async def handle_DATA(self, _server: object, _session: object, envelope: object) -> str:  # noqa: N802 -- aiosmtpd
        """Print a mail."""
        parts = (getattr(envelope, name) for name in ("mail_from", "rcpt_tos", "content"))
        sender, recipients, content = parts
        named = "-" if sender in {None, "", "<>"} else sender
        sys.stdout.write(f"mail {named} {','.join(recipients)} {content.hex()}\n")
        sys.stdout.flush()
        return "250 OK"


def context() -> ssl.SSLContext | None:
    """Return the server's side of TLS; None without `openssl`."""
    program = which("openssl")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = Path(folder, "key"), Path(folder, "certificate")
        argv = [program, *_CERTIFICATE.split(), "-keyout", str(key), "-out", str(certificate)]
        subprocess.run(argv, check=True, capture_output=True)  # noqa: S603 -- the program of this machine
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(certificate, key)
        return made


def _allowed(_server: object, _session: object, _envelope: object, _mechanism: str, data: Any) -> object:  # noqa: ANN401 -- aiosmtpd
    return smtp.AuthResult(success=(data.login, data.password) == (b"user", b"secret"), handled=False)


def _called(_mechanism: str, login: bytes, password: bytes) -> bool:
    return (login, password) == (b"user", b"secret")


def login() -> dict[str, Any]:
    """Return this version's arguments for logins."""
    known = signature(smtp.SMTP.__init__).parameters
    wanted: dict[str, Any] = {"authenticator": _allowed, "auth_callback": _called, "auth_require_tls": False}
    named = {name: value for name, value in wanted.items() if name in known}
    return named if "authenticator" not in known else {**named, "auth_callback": None}


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    loop = asyncio.get_running_loop()
    made = partial(smtp.SMTP, Printer(), hostname="mail.example", tls_context=context(), **login())
    server = await loop.create_server(made, HOST, port)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int([*sys.argv, "0"][1])))
