"""A server over UDP in Python that answers each datagram once, late on purpose; it prints its port first."""

from __future__ import annotations

import asyncio
import multiprocessing
import queue
import socket
import sys
import threading
import time
from typing import Any, TypeAlias, cast

Peer: TypeAlias = Any

HOW, DELAY = sys.argv[1], float(sys.argv[2]) / 1000


class Late(asyncio.DatagramProtocol):
    """Answers by a timer of the event loop."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what answers go through."""
        self.transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: Peer) -> None:
        """Answer later."""
        asyncio.get_running_loop().call_later(DELAY, self.transport.sendto, data, addr)


async def on_loop(sock: socket.socket) -> None:
    """Serve by asyncio."""
    await asyncio.get_running_loop().create_datagram_endpoint(Late, sock=sock)
    await asyncio.Event().wait()


def late(sock: socket.socket, data: bytes, peer: Peer) -> None:
    """Answer after the delay."""
    time.sleep(DELAY)
    sock.sendto(data, peer)


def queued(sock: socket.socket, jobs: queue.Queue[Any]) -> None:
    """Answer what comes in a queue."""
    while True:
        late(sock, *jobs.get())


def main() -> None:
    """Serve until killed."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    jobs: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=queued, args=(sock, jobs), daemon=True).start()
    sys.stdout.write(f"{sock.getsockname()[1]}\n")
    sys.stdout.flush()
    if HOW == "asyncio":
        sock.settimeout(0)
        asyncio.run(on_loop(sock))
    while True:
        data, peer = sock.recvfrom(2048)
        if HOW == "pool":
            jobs.put((data, peer))
        elif HOW == "timer":
            threading.Timer(DELAY, sock.sendto, (data, peer)).start()
        elif HOW == "process":
            multiprocessing.get_context("fork").Process(target=late, args=(sock, data, peer)).start()
        else:
            late(sock, data, peer)


if __name__ == "__main__":
    main()
