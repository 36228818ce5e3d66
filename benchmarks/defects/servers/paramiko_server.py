"""An SSH server by paramiko, of any version, that prints its port: its user is `user` with the password `secret`."""

from __future__ import annotations

import collections
import collections.abc
import inspect
import socket
import sys
import threading

# old versions take from `collections` and `inspect` what newer Pythons have elsewhere
if not hasattr(collections, "MutableMapping"):
    collections.MutableMapping = collections.abc.MutableMapping  # type: ignore[attr-defined]
if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec  # type: ignore[attr-defined]

import paramiko

HOST = "127.0.0.1"
# as paramiko numbers them
AUTH_SUCCESSFUL, AUTH_FAILED, OPEN_SUCCEEDED, UNKNOWN_TYPE = 0, 2, 0, 3


class Server(paramiko.ServerInterface):  # type: ignore[misc]  # paramiko has no types
    """Lets one user in, opens sessions, and does nothing else."""

    def check_auth_password(self, username: str, password: str) -> int:
        """Return whether the user may come in."""
        right = (username, password) == ("user", "secret")
        return AUTH_SUCCESSFUL if right else AUTH_FAILED

    def check_channel_request(self, kind: str, _chanid: int) -> int:
        """Return whether such a channel may be opened."""
        return OPEN_SUCCEEDED if kind == "session" else UNKNOWN_TYPE


def main() -> None:
    """Serve until the process is ended."""
    key = paramiko.ECDSAKey.generate()
    listener = socket.create_server((HOST, 0))
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    transports = []
    while True:
        client, _ = listener.accept()
        transport = paramiko.Transport(client)
        transport.add_server_key(key)
        transports.append(transport)
        transport.start_server(event=threading.Event(), server=Server())


if __name__ == "__main__":
    main()
