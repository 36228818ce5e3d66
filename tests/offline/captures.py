"""Writes captures like a capture tool, for tests of their readers."""

from __future__ import annotations

import ipaddress
import struct
from typing import BinaryIO

from otf.trace.pcap import Endpoint

_UDP, _TCP = 17, 6


class CaptureWriter:
    """Writes a classic capture of raw IP packets."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 101))

    def udp(self, at: float, source: Endpoint, target: Endpoint, data: bytes) -> None:
        """Write a datagram."""
        self._ip(at, _UDP, source, target, struct.pack(">HHHH", source[1], target[1], 8 + len(data), 0) + data)

    def tcp(self, at: float, source: Endpoint, target: Endpoint, seq: int, data: bytes = b"", flags: int = 16) -> None:
        """Write a segment; `flags`: 1 is FIN, 2 is SYN, 4 is RST."""
        head = struct.pack(">HHIIBBHHH", source[1], target[1], seq, 0, 5 << 4, flags, 1000, 0, 0)
        self._ip(at, _TCP, source, target, head + data)

    def _ip(self, at: float, kind: int, source: Endpoint, target: Endpoint, body: bytes) -> None:
        here, there = (ipaddress.ip_address(host).packed for host, _ in (source, target))
        if len(here) == 4:
            head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0, 64, kind, 0)
        else:
            head = struct.pack(">IHBB", 6 << 28, len(body), kind, 64)
        size = len(head) + 2 * len(here) + len(body)
        seconds = int(at)
        self._file.write(struct.pack("<IIII", seconds, round((at - seconds) * 1e6) % 1_000_000, size, size))
        self._file.write(head + here + there + body)
