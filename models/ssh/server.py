"""An SSH server by paramiko that prints its port: `python server.py`. Log in as `user` with the password `secret`."""

from __future__ import annotations

import socket
import sys
import threading
from importlib import import_module
from typing import Any

HOST = "127.0.0.1"
# as paramiko numbers them
AUTH_SUCCESSFUL, AUTH_FAILED, OPEN_SUCCEEDED, UNKNOWN_TYPE = 0, 2, 0, 3


def main() -> None:
    """Serve until the process is ended."""
    paramiko: Any = import_module("paramiko")  # optional: users without it can still list the benches
    key, server = paramiko.ECDSAKey.generate(), _one_user(paramiko)
    listener = socket.create_server((HOST, 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    transports = list[Any]()
    while True:
        client, _ = listener.accept()
        transport = paramiko.Transport(client)
        transport.add_server_key(key)
        transports.append(transport)
        transport.start_server(event=threading.Event(), server=server)


def _one_user(paramiko: Any) -> Any:  # noqa: ANN401 -- paramiko has no types
    class Server(paramiko.ServerInterface):  # type: ignore[misc]
        """Lets one user in, opens sessions, and does nothing else."""

        def check_auth_password(self, username: str, password: str) -> int:
            """Return whether the user may come in."""
            right = (username, password) == ("user", "secret")
            return AUTH_SUCCESSFUL if right else AUTH_FAILED

        def check_channel_request(self, kind: str, _chanid: int) -> int:
            """Return whether a client may open such a channel."""
            return OPEN_SUCCEEDED if kind == "session" else UNKNOWN_TYPE

    return Server()


if __name__ == "__main__":
    main()
