"""A mail server by aiosmtpd that prints each mail it accepts as one line: `python server.py PORT`."""

from __future__ import annotations

import asyncio
import sys

from aiosmtpd.smtp import SMTP


class Printer:
    """Prints the envelope and the text of a mail, in one line of ASCII."""

    async def handle_DATA(self, _server: object, _session: object, envelope: object) -> str:  # noqa: N802 -- aiosmtpd
        """Print a mail."""
        parts = (getattr(envelope, name) for name in ("mail_from", "rcpt_tos", "content"))
        sender, recipients, content = parts
        sys.stdout.write(f"mail {'-' if sender in {None, '<>'} else sender} {','.join(recipients)} {content.hex()}\n")
        sys.stdout.flush()
        return "250 OK"


async def serve(port: int) -> None:
    """Serve until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Printer(), hostname="mail.example"), "127.0.0.1", port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
