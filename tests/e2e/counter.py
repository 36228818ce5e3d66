"""A counter behind any wire, as a program: `counter.py WIRE ADDRESS CUT SIGN`.

Each line or datagram is answered by `count N`; N goes up to 3 and begins anew. SIGUSR1 cuts the wire in the way that
CUT names; the program lives on, and the file SIGN says that it is done.
"""

from __future__ import annotations

import os
import pty
import signal
import socket
import struct
import sys
import time
import tty
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from functools import partial
from itertools import cycle
from pathlib import Path

Cutting = Callable[[], object]
Serving = Generator[Cutting, None, None]
"""Yields how to cut the wire once there is one, and serves after that."""

CUTTING = {signal.SIGUSR1}


class Cut(Exception):  # noqa: N818 -- what happens, and no error
    """The moment has come."""


def over_udp(address: str, _: str) -> Serving:
    """Answer datagrams."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", int(address)))
    ready()
    yield sock.close
    for answer in answers():
        _data, peer = sock.recvfrom(1000)
        sock.sendto(answer, peer)


def over_tcp(address: str, cut: str) -> Serving:
    """Answer the first who calls the port."""
    return connected(socket.create_server(("127.0.0.1", int(address))), cut)


def calling(address: str, cut: str) -> Serving:
    """Call the port, as soon as somebody is there, and answer him."""
    ready()
    while True:
        with suppress(ConnectionRefusedError):
            peer = socket.create_connection(("127.0.0.1", int(address)))
            break
        time.sleep(0.001)
    return answering(peer, cut)


def over_tls(address: str, _: str) -> Serving:
    """Answer the first who calls the port, encrypted."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AECDH-AES128-SHA:@SECLEVEL=0")  # so that no certificate has to be kept here
    server = socket.create_server(("127.0.0.1", int(address)))
    ready()
    bare, _peer = server.accept()
    peer = context.wrap_socket(bare, server_side=True)
    yield peer.close
    count(partial(peer.recv, 1000), peer.sendall)


def over_unix(address: str, cut: str) -> Serving:
    """Answer the first who calls the path."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    return connected(server, cut)


def connected(server: socket.socket, cut: str) -> Serving:
    """Answer on a connection."""
    if cut == "reset":
        # whoever is called takes it over, and then to close is to break off
        server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ready()
    return answering(server.accept()[0], cut)


def answering(peer: socket.socket, cut: str) -> Serving:
    """Answer on a connection that is there."""
    yield partial(peer.shutdown, socket.SHUT_WR) if cut == "half" else peer.close
    count(partial(peer.recv, 1000), peer.sendall)


def over_serial(address: str, _: str) -> Serving:
    """Answer on a terminal that is found under the path."""
    far, near = pty.openpty()
    tty.setraw(near)
    Path(address).symlink_to(os.ttyname(near))
    ready()
    yield partial(close, far, near)
    count(partial(os.read, far, 1000), partial(os.write, far))


def on_standard_streams(_: str, cut: str) -> Serving:
    """Answer on the standard output, which may be a terminal."""
    ready()
    yield partial(close, *{"input": [0], "output": [1], "close": [0, 1, 2]}[cut])
    count(partial(os.read, 0, 1000), partial(os.write, 1))


def ready() -> None:
    """Say that whoever wants may come."""
    os.write(1, b"ready\n")


def close(*descriptors: int) -> None:
    """Close all of these."""
    for descriptor in descriptors:
        os.close(descriptor)


def answers() -> Iterator[bytes]:
    """Yield what is said to each input."""
    return (b"count %d" % number for number in cycle((1, 2, 3, 0)))


def count(read: Callable[[], bytes], write: Callable[[bytes], object]) -> None:
    """Answer each line of a stream."""
    said = answers()
    while data := read():
        for _ in range(data.count(b"\n")):
            write(next(said) + b"\n")


WIRES = {
    "udp": over_udp,
    "tcp": over_tcp,
    "faults": over_tcp,
    "socket": over_tcp,
    "listen": calling,
    "tls": over_tls,
    "unix": over_unix,
    "serial": over_serial,
    "pipe": on_standard_streams,
    "pty": on_standard_streams,
}


def main() -> None:
    """Count until the other side has gone, or the wire was cut."""
    wire, address, cut, sign = sys.argv[1:]
    signal.signal(signal.SIGUSR1, moment)
    # the moment waits until there is something to cut
    signal.pthread_sigmask(signal.SIG_BLOCK, CUTTING)
    serving = WIRES[wire](address, cut)
    cutting = next(serving)
    with suppress(Cut):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CUTTING)
        with suppress(OSError):
            next(serving, None)
        return
    cutting()
    Path(sign).touch()
    while True:
        signal.pause()


def moment(number: int, _: object) -> None:
    """Let what is being done be left, once."""
    signal.signal(number, signal.SIG_IGN)
    raise Cut


if __name__ == "__main__":
    main()
