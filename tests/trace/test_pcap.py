"""Captures: their forms, their packets, and what is wrong with them."""

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.errors import TraceError
from otf.trace import pcap
from otf.trace.pcap import AHEAD, Capture, Packet, Stream
from tests.offline.captures import CaptureWriter

HERE, THERE = ("127.0.0.1", 7000), ("127.0.0.1", 7001)


def read(data: bytes) -> list[Packet]:
    """Return the packets of a capture."""
    return list(Capture(io.BytesIO(data), "some.pcap"))


def datagram(data: bytes = b"hello") -> bytes:
    """Return a capture with one datagram."""
    file = io.BytesIO()
    CaptureWriter(file).udp(1000.25, HERE, THERE, data)
    return file.getvalue()


def test_a_datagram() -> None:
    """Its time, its addresses, and its bytes."""
    assert read(datagram()) == [Packet(1, 1000.25, "udp", HERE, THERE, b"hello")]


def test_a_segment_over_ipv6() -> None:
    """The same for TCP, with its number and its flags."""
    file = io.BytesIO()
    CaptureWriter(file).tcp(2.0, ("::1", 1), ("::1", 2), 99, b"abc", 24)
    assert read(file.getvalue()) == [Packet(1, 2.0, "tcp", ("::1", 1), ("::1", 2), b"abc", 99, 24)]


@pytest.mark.parametrize(
    ("link", "head"),
    [
        (1, bytes(12) + b"\x08\x00"),
        (1, bytes(12) + b"\x81\x00\x00\x05\x08\x00"),
        (0, bytes(4)),
        (113, bytes(16)),
        (276, bytes(20)),
    ],
)
def test_links(link: int, head: bytes) -> None:
    """Ethernet, with a tag too, loopback, and the device `any` in both of its forms."""
    data = datagram()
    packet = head + data[40:]
    size = struct.pack("<II", len(packet), len(packet))
    assert [each.data for each in read(data[:20] + struct.pack("<I", link) + data[24:32] + size + packet)] == [b"hello"]


def test_the_other_byte_order_and_nanoseconds() -> None:
    """A capture from another machine, with finer times."""
    data = datagram()
    head = struct.pack(">IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
    size = len(data) - 40
    record = struct.pack(">IIII", 7, 500_000_000, size, size)
    assert [(each.at, each.data) for each in read(head + record + data[40:])] == [(7.5, b"hello")]


def test_what_is_no_capture() -> None:
    """The message tells which tool writes one."""
    with pytest.raises(TraceError, match=r"some.pcap: this is not a capture; `tcpdump -w FILE` and Wireshark write"):
        read(b"{}\n" * 20)


def test_an_unknown_link() -> None:
    """A capture of a radio, for instance."""
    data = datagram()
    with pytest.raises(TraceError, match="captures of the link type 127 cannot be read"):
        read(data[:20] + struct.pack("<I", 127) + data[24:])


def test_a_packet_that_was_cut_off() -> None:
    """What is missing cannot be judged."""
    data = datagram()
    with pytest.raises(TraceError, match=r"packet 1: it was cut off by the capture tool; use `tcpdump -s 0`"):
        read(data[:36] + struct.pack("<I", 5000) + data[40:])


def test_a_packet_without_end() -> None:
    """No length is believed that no packet has."""
    data = datagram()
    with pytest.raises(TraceError, match="packet 1: it has 4294967295 bytes"):
        read(data[:32] + b"\xff" * 8 + data[40:])


@given(st.integers(0, 100))
def test_a_cut_capture_is_read_as_far_as_it_goes(cut: int) -> None:
    """A capture that still grows ends in the middle of a packet."""
    data = datagram() + datagram()[24:]
    assert len(read(data[: max(24, len(data) - cut)])) in {0, 1, 2}


@given(st.binary(max_size=80))
def test_no_packet_breaks_the_reader(packet: bytes) -> None:
    """Whatever the network carried, the reader gives packets, or counts it as skipped."""
    size = struct.pack("<II", len(packet), len(packet))
    capture = Capture(io.BytesIO(datagram()[:32] + size + packet), "some.pcap")
    assert len(list(capture)) + capture.skipped.total() == 1


@given(st.permutations(range(6)))
def test_segments_in_any_order_are_one_stream(order: list[int]) -> None:
    """Whichever comes first, and though one comes twice, the bytes are those that were sent."""
    stream = Stream()
    stream.begin(2**32 - 8)
    parts = {number: (2**32 - 7 + 3 * number, bytes([number] * 3)) for number in range(6)}
    found = b"".join(stream.feed(seq % 2**32, data) for seq, data in (parts[each] for each in (*order, order[0])))
    assert found == bytes(each for number in range(6) for each in [number] * 3)


def test_a_lost_segment_is_not_waited_for_for_ever() -> None:
    """What follows is given after a bounded number of segments, and the hole is counted."""
    stream = Stream()
    stream.begin(0)
    found = [stream.feed(11 + each, b"x") for each in range(AHEAD + 1)]
    assert (len(b"".join(found)), stream.lost) == (AHEAD + 1, 10)


def raw(packet: bytes) -> Capture:
    """Return a capture with one packet of raw IP."""
    size = struct.pack("<II", len(packet), len(packet))
    return Capture(io.BytesIO(datagram()[:32] + size + packet), "some.pcap")


def test_what_is_neither_udp_nor_tcp_is_counted() -> None:
    """A ping does not concern the bench, a part of a datagram cannot be judged; skipped packets are counted."""
    ping = bytes([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0, 0]) + bytes(16)
    capture = raw(ping)
    assert list(capture) == []
    assert capture.skipped == {"IP protocol 1": 1}
    fragment = raw(struct.pack(">IHBB", 6 << 28, 8, 44, 64) + bytes(40))
    assert list(fragment) == []
    assert fragment.skipped == {"fragments": 1}


def test_headers_may_stand_before_the_next() -> None:
    """IPv6 puts its options there: a datagram behind them is found."""
    body = struct.pack(">HHHH", 1, 2, 10, 0) + b"hi"
    head = struct.pack(">IHBB", 6 << 28, 8 + len(body), 0, 64) + bytes(15) + b"\x01" + bytes(15) + b"\x01"
    options = bytes([17, 0]) + bytes(6)
    assert list(raw(head + options + body)) == [Packet(1, 1000.25, "udp", ("::1", 1), ("::1", 2), b"hi")]


def test_a_scan_of_the_net_does_not_fill_the_memory() -> None:
    """However many addresses a capture has, few are remembered."""
    file = io.BytesIO()
    writer = CaptureWriter(file)
    for number in range(10_100):
        writer.udp(1.0, (f"10.0.{number // 256}.{number % 256}", 1), THERE, b"")
    assert len(read(file.getvalue())) == 10_100
    assert len(pcap.TEXTS) < 10_100


def test_a_fragment_is_counted() -> None:
    """It is not a whole datagram."""
    data = bytearray(datagram())
    data[46] = 0x20  # more fragments follow
    capture = Capture(io.BytesIO(bytes(data)), "some.pcap")
    assert (list(capture), capture.skipped) == ([], {"fragments": 1})
