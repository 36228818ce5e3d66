"""UDP sockets on systems that tell less than Linux does."""

from __future__ import annotations

import socket

import pytest

from otf.adapter.socket.datagrams import datagram_socket, refusals

HERE = ("127.0.0.1", 0)


def _closed_port() -> tuple[str, int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(HERE)
        host, port = taken.getsockname()
        return host, port


def _refused() -> list[int]:
    with datagram_socket(HERE) as sock:
        sock.sendto(b"anybody there?", _closed_port())
        return [number for number, _ in refusals(sock)]


@pytest.mark.real
def test_the_kernel_lists_what_was_refused() -> None:
    """A datagram to a closed port comes back as an error that names it."""
    assert len(_refused()) == 1
