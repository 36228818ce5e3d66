"""The counter as a server that nobody starts again: `server.py WIRE ADDRESS`; each caller is counted for from 1."""

from __future__ import annotations

import os
import socket
import sys
from itertools import cycle


def main() -> None:
    """Answer one caller after another."""
    wire, address = sys.argv[1:]
    if wire == "unix":
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
    else:
        server = socket.create_server(("127.0.0.1", int(address)))
    server.listen()
    os.write(1, b"ready\n")
    while True:
        peer, _ = server.accept()
        with peer:
            answer(peer)


def answer(peer: socket.socket) -> None:
    """Answer one caller, until he has gone."""
    numbers = cycle((1, 2, 3, 0))
    try:
        while data := peer.recv(1000):
            for _ in range(data.count(b"\n")):
                peer.sendall(b"count %d\n" % next(numbers))
    except OSError:
        return


if __name__ == "__main__":
    main()
