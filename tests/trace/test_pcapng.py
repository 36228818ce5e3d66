"""Captures in the pcapng format: their blocks, their times, and what is wrong with them."""

from __future__ import annotations

import io
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import TraceError
from otf.trace.pcap import Capture, Packet
from otf.trace.pcapng import MAGIC, Blocks, RawPacket

CAN = 227
DATA = bytes.fromhex("0000012301000000 05 00000000000000")


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Return a block."""
    size = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + size + body + size


def section(order: str = "<") -> bytes:
    """Return the block that begins a section."""
    return MAGIC + block(0, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)[4:]


def option(code: int, value: bytes, order: str = "<") -> bytes:
    """Return an option."""
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(link: int = CAN, options: bytes = b"", order: str = "<") -> bytes:
    """Return the block of an interface."""
    return block(1, struct.pack(f"{order}HHI", link, 0, 0) + options, order)


def packet(at: int, data: bytes = DATA, options: bytes = b"", order: str = "<", of: int = 0) -> bytes:
    """Return the block of a packet."""
    head = struct.pack(f"{order}IIIII", of, at >> 32, at & 0xFFFFFFFF, len(data), len(data))
    return block(6, head + data + bytes(-len(data) % 4) + options, order)


def read(data: bytes) -> list[RawPacket]:
    """Return the packets of a capture."""
    return list(Blocks(io.BytesIO(data).read, "some.pcapng"))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("resolution", "offset", "time"),
    [(None, None, 5e12 * 1e-6), (6, None, 5e12 * 1e-6), (9, 100, 5100.0), (0x80 | 10, None, 5e12 / 1024)],
)
def test_times_have_units(order: str, resolution: int | None, offset: int | None, time: float) -> None:
    """Microseconds, or what the interface says, in either byte order."""
    options = option(9, bytes([resolution])) if resolution is not None else b""
    options = struct.pack(f"{order}HH", 9, 1) + bytes([resolution or 0]) + bytes(3) if options else b""
    if offset is not None:
        options += option(14, struct.pack(f"{order}q", offset), order)
    data = (
        section(order)
        + interface(order=order, options=options + option(0, b"", order))
        + packet(5 * 10**12, order=order)
    )
    (found,) = read(data)
    assert found.at == pytest.approx(time)
    assert (found.link, found.data, found.sent) == (CAN, DATA, None)


@pytest.mark.parametrize(("flags", "sent"), [(0, None), (1, False), (2, True)])
def test_the_way_of_a_packet(flags: int, sent: bool | None) -> None:
    """A capture may say which packets its machine sent."""
    data = section() + interface() + packet(1, options=option(2, struct.pack("<I", flags)))
    assert [each.sent for each in read(data)] == [sent]


def test_other_blocks_are_skipped_and_sections_follow() -> None:
    """Statistics, names and secrets are not packets; each section has its own interfaces."""
    data = (
        section()
        + block(5, bytes(8))
        + interface()
        + packet(1)
        + section(">")
        + interface(order=">")
        + packet(2, order=">")
    )
    assert [each.at for each in read(data)] == [1e-6, 2e-6]


def test_a_frame_of_a_bus() -> None:
    """Padding is not a part of it."""
    capture = Capture(io.BytesIO(section() + interface() + packet(10**6) + packet(2 * 10**6, b"")), "some.pcapng")
    assert list(capture) == [
        Packet(1, 1.0, "can", ("", 0), ("", 0), DATA[:9]),
        Packet(2, 2.0, "can", ("", 0), ("", 0), b""),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (MAGIC + struct.pack("<II", 28, 5), "block 1: its byte order is 05000000"),
        (section() + struct.pack("<II", 1, 0) + bytes(8), "block 2: its length is 0"),
        (section() + struct.pack("<II", 1, 0xFFFFFFFF) + bytes(8), "block 2: its length is 4294967295"),
        (section() + struct.pack("<II", 1, 0xFFFFFFFC) + bytes(8), "block 2: its length is 4294967292"),
        (section() + block(1, bytes(8))[:-4] + bytes(4), "its length at its end is not that at its beginning"),
        (section() + block(1, b""), "block 2: it is not an interface"),
        (section() + interface() * 1001, "block 1002: .* too many"),
        (section() + interface() + block(6, bytes(8)), "block 3: it is too short for a packet"),
        (section() + packet(1), "block 2: it has 16 bytes, of the interface 0; there are 0"),
        (section() + interface() + block(6, struct.pack("<IIIII", 0, 0, 0, 99, 99)), "block 3: it has 99 bytes"),
        (section() + interface() + block(3, bytes(8)), "block 3: its packets have no times"),
    ],
    ids=map(str, range(11)),
)
def test_what_is_no_block(data: bytes, says: str) -> None:
    """The error names the block, and no length is believed."""
    with pytest.raises(TraceError, match=says):
        read(data)


WHOLE = section() + interface() + packet(1) + packet(2)


@given(st.integers(0, len(WHOLE)))
def test_a_cut_capture_is_read_as_far_as_it_goes(size: int) -> None:
    """A capture that still grows ends in the middle of a block."""
    blocks = Blocks(io.BytesIO(WHOLE[:size]).read, "some.pcapng")
    many = len(list(blocks))
    assert many <= 2
    assert blocks.cut == (
        size not in {0, len(section()), len(section() + interface()), len(WHOLE) - len(packet(2)), len(WHOLE)}
    )


@given(st.binary(max_size=120))
def test_nothing_breaks_the_reader(data: bytes) -> None:
    """Random blocks are packets, are skipped, or raise a TraceError."""
    for each in (section() + interface() + data, MAGIC + data):
        with suppress(TraceError):
            list(Capture(io.BytesIO(each), "some.pcapng"))
