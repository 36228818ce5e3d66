"""An SSH server by asyncssh that prints its port: its user is `user` with the password `secret`."""

from __future__ import annotations

import asyncio
import sys

import asyncssh

HOST = "127.0.0.1"


class Server(asyncssh.SSHServer):  # type: ignore[misc]  # asyncssh is not installed here
    """Lets one user in, opens sessions, and does nothing else."""

    def begin_auth(self, _username: str) -> bool:
        """Return that a login is needed."""
        return True

    def password_auth_supported(self) -> bool:
        """Return that there are passwords."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Return whether the user may come in."""
        return (username, password) == ("user", "secret")

    def session_requested(self) -> object:
        """Return a session that does nothing."""
        return asyncssh.SSHServerSession()


async def main() -> None:
    """Serve until the process is ended."""
    key = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    server = await asyncssh.create_server(Server, HOST, 0, server_host_keys=[key])
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
