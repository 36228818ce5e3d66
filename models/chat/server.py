"""The server of the bench: the chat from the readme of websocket-server; all clients get what one says."""

from __future__ import annotations

import sys
from threading import Lock
from typing import Any

from websocket_server import WebsocketServer  # pyright: ignore[reportMissingTypeStubs]

_ONE_AFTER_THE_OTHER = Lock()
"""Each client has its own thread: without this, two clients may get two messages in different orders."""


def serve() -> None:
    """Print the number of a free port, and serve there until the process is ended."""
    server: Any = WebsocketServer(host="127.0.0.1", port=0)
    server.set_fn_message_received(_tell)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    server.run_forever()


def _tell(_client: object, server: Any, message: str) -> None:  # noqa: ANN401 -- it has no types
    with _ONE_AFTER_THE_OTHER:
        for each in list(server.clients):  # a client that enters meanwhile does not get it
            server.send_message(each, message)


if __name__ == "__main__":
    serve()
