"""The web server under test of `otf run tickets`: two tickets, sold over HTTP, with a thread for each connection.

`python tickets_server.py FAULT` prints the number of a free port and serves it. It does not import otf.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

TICKETS: Final = 2
WINDOW: Final = 0.001  # seconds between the faulty check and the sale


class Office:
    """The remaining tickets. With the fault `race` there is no lock between the check and the sale."""

    def __init__(self, fault: str) -> None:
        self._left = TICKETS
        self._lock = contextlib.nullcontext() if fault == "race" else threading.Lock()

    def buy(self) -> bool:
        """Sell a ticket, if there is one."""
        with self._lock:
            if self._left == 0:
                return False
            time.sleep(WINDOW)
            self._left -= 1
            return True

    def give_back(self) -> bool:
        """Take a ticket back, if one was sold."""
        with self._lock:
            if self._left >= TICKETS:
                return False
            self._left += 1
            return True


class Handler(BaseHTTPRequestHandler):
    """Answers each POST with 200, or with 409 if it cannot."""

    protocol_version = "HTTP/1.1"
    office: Office

    def do_POST(self) -> None:
        """Answer a request."""
        done = self.office.buy() if self.path == "/buy" else self.office.give_back()
        self.send_response(200 if done else 409)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the library calls it so
        """Print nothing."""


def main() -> None:
    """Serve until the process is stopped."""
    Handler.office = Office(sys.argv[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
