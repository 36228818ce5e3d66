"""Small servers of lines with seeded races: `python server.py KIND WINDOW [LIBRARY]` prints its port.

Between a look at what they keep and the change that rests on it there is a window, of so many seconds at most; without
one (0) everything is done under a lock. They run on servers and stores of others: threads of `socketserver`, its
processes with shared memory, `asyncio`, a pool of threads behind `asyncio`, a table of SQLite. Each imports what
it needs: a campaign starts one for each path, and all of these take four times as long to import as one does.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import sqlite3

MOST = 3
Act = Generator[None, None, str]


class Store:
    """What a server keeps: a kind is a generator that carries out one line, and yields where it may be interrupted."""

    value, cached, holder = 0, 0, ""

    def lost_update(self, _client: str, word: str, number: int) -> Act:
        """Add to a sum that was read before."""
        if word == "add":
            value = self.value
            yield
            self.value = value + number
        return str(self.value) if word == "get" else "ok"

    def double_spend(self, _client: str, word: str, _number: int) -> Act:
        """Pay from a purse, if there is something in it."""
        if word == "pay":
            if not self.value:
                return "refused"
            yield
            self.value -= 1
        else:
            self.value = MOST
        return "ok"

    def stale_read(self, _client: str, word: str, number: int) -> Act:
        """Read through a cache, which is filled while a value is written."""
        if word == "get":
            if self.cached < 0:
                value = self.value
                yield
                self.cached = value
            return str(self.cached)
        self.value, self.cached = number, -1
        return "ok"

    def check_then_act(self, client: str, word: str, _number: int) -> Act:
        """Take a lock that nobody holds."""
        if word == "take":
            if self.holder:
                return "busy"
            yield
            self.holder = client
        elif self.holder != client:
            return "busy"
        else:
            self.holder = ""
        return "ok"

    def id_reuse(self, _client: str, word: str, _number: int) -> Act:
        """Give out the next number."""
        if word == "reset":
            self.value = 0
            return "ok"
        value = self.value
        yield
        self.value = value + 1
        return str(value)


class Shared(Store):
    """A store whose value is in memory that processes share."""

    def __init__(self) -> None:
        import multiprocessing

        self._number = multiprocessing.Value("i", 0)

    @property
    def value(self) -> int:
        """The number."""
        return int(self._number.value)

    @value.setter
    def value(self, new: int) -> None:
        self._number.value = new


class Table(Store):
    """A store whose value is in a table of SQLite; each statement is a transaction of its own."""

    def __init__(self) -> None:
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        self._file = f"{self._folder.name}/kept.db"
        with self._connected() as made:
            made.execute("create table kept (number integer)")
            made.execute("insert into kept values (0)")

    def _connected(self) -> sqlite3.Connection:
        import sqlite3

        return sqlite3.connect(self._file, timeout=10, isolation_level=None)

    @property
    def value(self) -> int:
        """The number."""
        with contextlib.closing(self._connected()) as kept:
            return int(kept.execute("select number from kept").fetchone()[0])

    @value.setter
    def value(self, new: int) -> None:
        with contextlib.closing(self._connected()) as kept:
            kept.execute("update kept set number = ?", (new,))


def acting(store: Store, kind: str, line: bytes) -> Act:
    """Return what carries out a line: `NAME WORD NUMBER`."""
    client, word, number = line.decode().split()
    act: Act = getattr(store, kind)(client, word, int(number))
    return act


class Threads:
    """Carries out lines in the thread or process of a client."""

    def __init__(self, store: Store, kind: str, window: float, lock: Any) -> None:
        self._store, self._kind, self._window = store, kind, window
        self._lock = contextlib.nullcontext() if window else lock

    def __call__(self, line: bytes) -> bytes:
        """Return the answer to a line."""
        with self._lock:
            act = acting(self._store, self._kind, line)
            while True:
                try:
                    next(act)
                except StopIteration as done:
                    return f"{done.value}\n".encode()
                time.sleep(random.random() * self._window)


def serve_sockets(kind: str, window: float, library: str) -> None:
    """Serve each client in a thread, or in a process."""
    import socketserver

    forks = library == "forking"
    store = Shared() if forks else Table() if library == "sqlite" else Store()
    lock: Any = threading.Lock()
    if forks:
        import multiprocessing

        lock = multiprocessing.Lock()
    answer = Threads(store, kind, window, lock)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                self.wfile.write(answer(line))

    socketserver.ThreadingMixIn.daemon_threads = True
    server = (socketserver.ForkingTCPServer if forks else socketserver.ThreadingTCPServer)(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


async def serve_asyncio(kind: str, window: float, library: str) -> None:
    """Serve all clients in one loop, and carry out their lines there or in a pool of threads."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    store, lock, loop = Store(), asyncio.Lock(), asyncio.get_running_loop()
    pool, answer = ThreadPoolExecutor(8), Threads(store, kind, window, threading.Lock())

    async def act(line: bytes) -> bytes:
        if library == "executor":
            return await loop.run_in_executor(pool, answer, line)
        async with contextlib.nullcontext() if window else lock:
            carried = acting(store, kind, line)
            while True:
                try:
                    next(carried)
                except StopIteration as done:
                    return f"{done.value}\n".encode()
                await asyncio.sleep(random.random() * window)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(await act(line))
            await writer.drain()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    """Serve until the process is stopped."""
    kind, window, library = sys.argv[1], float(sys.argv[2]), (*sys.argv[3:], "socketserver")[0]
    if library in {"asyncio", "executor"}:
        import asyncio

        asyncio.run(serve_asyncio(kind, window, library))
    else:
        serve_sockets(kind, window, library)


if __name__ == "__main__":
    main()
