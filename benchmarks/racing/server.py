"""Five small servers of lines, a thread for each client: `python server.py KIND WINDOW` prints its port.

Between a look at what they keep and the change that rests on it there is a window, of so many seconds at most; without
one (0) everything is done under a lock.
"""

from __future__ import annotations

import contextlib
import random
import socketserver
import sys
import threading
import time

MOST = 3


class Store:
    """What a server keeps: `act` carries out one line."""

    def __init__(self, kind: str, window: float) -> None:
        self.act = getattr(self, kind)
        self.lock = contextlib.nullcontext() if window else threading.Lock()
        self._window = window
        self._value, self._cached, self._holder = 0, 0, ""

    def wait(self) -> None:
        """Let time pass between the look and the change."""
        if self._window:
            time.sleep(random.random() * self._window)

    def lost_update(self, _client: str, word: str, number: int) -> str:
        """Add to a sum that was read before."""
        if word == "add":
            value = self._value
            self.wait()
            self._value = value + number
        return str(self._value) if word == "get" else "ok"

    def double_spend(self, _client: str, word: str, _number: int) -> str:
        """Pay from a purse, if there is something in it."""
        if word == "pay":
            if not self._value:
                return "refused"
            self.wait()
            self._value -= 1
        else:
            self._value = MOST
        return "ok"

    def stale_read(self, _client: str, word: str, number: int) -> str:
        """Read through a cache, which is filled while a value is written."""
        if word == "get":
            if self._cached < 0:
                value = self._value
                self.wait()
                self._cached = value
            return str(self._cached)
        self._value, self._cached = number, -1
        return "ok"

    def check_then_act(self, client: str, word: str, _number: int) -> str:
        """Take a lock that nobody holds."""
        if word == "take":
            if self._holder:
                return "busy"
            self.wait()
            self._holder = client
        elif self._holder != client:
            return "busy"
        else:
            self._holder = ""
        return "ok"

    def id_reuse(self, _client: str, word: str, _number: int) -> str:
        """Give out the next number."""
        if word == "reset":
            self._value = 0
            return "ok"
        value = self._value
        self.wait()
        self._value = value + 1
        return str(value)


class Handler(socketserver.StreamRequestHandler):
    """Serves one client: `NAME WORD [NUMBER]`."""

    store: Store

    def handle(self) -> None:
        """Answer its lines."""
        for line in self.rfile:
            client, word, number = line.decode().split()
            with self.store.lock:
                answer = self.store.act(client, word, int(number))
            self.wfile.write(f"{answer}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    """The server."""

    daemon_threads = True
    allow_reuse_address = True


def main() -> None:
    """Serve until the process is stopped."""
    Handler.store = Store(sys.argv[1], float(sys.argv[2]))
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
