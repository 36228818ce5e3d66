"""UDP: what is special about it."""

import errno
import os
import select
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from otf.adapter import Ending, Frame, LineLost
from otf.adapter.socket.connection import Address
from otf.adapter.socket.datagrams import LARGEST, datagram_socket
from otf.adapter.waiting import clock
from otf.adapters import udp
from otf.adapters.udp import UdpLine, open_udp
from otf.errors import CodecError, ContactError, UsageError
from tests.adapters.harness import Baseline, arrive, bound, frames, over, woken

pytestmark = [pytest.mark.anyio, pytest.mark.real]

LOCAL = "127.0.0.1"


@asynccontextmanager
async def pair() -> AsyncGenerator[tuple[UdpLine, socket.socket], None]:
    """A line and its peer."""
    with bound() as peer:
        async with open_udp(peer=peer.getsockname()) as line:
            yield line, peer


def closed_port() -> Address:
    """An address where nobody listens."""
    with bound() as peer:
        address: Address = peer.getsockname()
        return address


async def heard(peer: socket.socket) -> bytes:
    """The next datagram that the peer gets."""
    await anyio.wait_readable(peer)
    return peer.recv(65_535)


# Who is heard


async def test_strangers_are_ignored_and_counted() -> None:
    """Datagrams of others than the peer are dropped, those of the peer between them arrive, and the remarks tell."""
    async with pair() as (line, peer):
        with bound() as stranger:
            for number in (b"1", b"2", b"3"):
                stranger.sendto(b"psst", line.address)
                peer.sendto(number, line.address)
            assert await arrive(line, 3) == frames(b"1", b"2", b"3")
            assert line.remarks() == [
                f"3 datagrams from strangers were ignored (the last from 127.0.0.1:{stranger.getsockname()[1]})"
            ]


async def test_one_stranger_is_told_in_the_singular() -> None:
    """A single datagram of a stranger is dropped, and wakes the runner to nothing."""
    async with pair() as (line, _):
        with bound() as stranger:
            stranger.sendto(b"psst", line.address)
            await woken(line)
            assert line.receive() == []
            port = stranger.getsockname()[1]
            assert line.remarks() == [f"1 datagram from a stranger was ignored (from 127.0.0.1:{port})"]


async def test_the_peer_can_be_set_later() -> None:
    """A line can be bound before its peer is known; until then everybody is a stranger, and nothing can be sent."""
    async with open_udp() as line:
        assert line.peer is None
        with bound() as peer:
            peer.sendto(b"early", line.address)
            await woken(line)
            assert line.receive() == []
            with pytest.raises(UsageError, match=r"no peer to send to from udp 127.0.0.1:\d+; set `line.peer"):
                await line.send(b"hello")
            line.peer = peer.getsockname()
            assert line.peer == peer.getsockname()
            await line.send(b"hello")
            assert await heard(peer) == b"hello"


# Datagrams


@pytest.mark.parametrize("size", [0, 1, LARGEST])
async def test_datagrams_of_all_sizes_pass(size: int) -> None:
    """An empty datagram is a frame and no end, and the largest that there is passes whole, in both directions."""
    async with pair() as (line, peer):
        await line.send(b"x" * size)
        assert await heard(peer) == b"x" * size
        peer.sendto(b"y" * size, line.address)
        assert await arrive(line, 1) == frames(b"y" * size)


async def test_what_does_not_fit_into_a_datagram_is_told() -> None:
    """A frame that is too large for UDP is refused with its size, and the line stays as it was."""
    async with pair() as (line, peer):
        with pytest.raises(CodecError, match="65508 bytes do not fit into a UDP datagram; it holds at most 65507"):
            await line.send(b"x" * (LARGEST + 1))
        assert select.select(line.descriptors(), [], [], 0)[0] == []
        await line.send(b"hello")
        assert await heard(peer) == b"hello"


async def test_two_hundred_at_once_are_all_there() -> None:
    """What is sent faster than it is read waits in the socket, and not in a queue that forgets."""
    async with pair() as (line, peer):
        numbers = [str(number).encode() for number in range(200)]
        for number in numbers:
            peer.sendto(number, line.address)
        assert await arrive(line, 200) == frames(*numbers)


async def test_a_large_buffer_is_asked_for() -> None:
    """The receive buffer is as large as the system allows, up to 4 MiB."""
    sock = datagram_socket((LOCAL, 0))
    with sock, bound() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        sizes = [each.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) for each in (sock, plain)]
        assert sizes[0] == sizes[1]


# Endings


async def test_a_closed_port_is_no_silence() -> None:
    """A datagram to a closed port brings the ending, by the descriptor, before anything more is sent."""
    async with open_udp(peer=closed_port()) as line:
        await line.send(b"anybody there?")
        await woken(line)
        assert line.receive() == [Ending("port unreachable")]
        assert (line.receive(), line.descriptors()) == ([], ())
        with pytest.raises(LineLost, match=r"^port unreachable$"):
            await line.send(b"anybody there?")


async def test_a_refusal_that_sending_finds_is_an_ending_too() -> None:
    """Where the next datagram is sent before anything is received, that raises, calls, and the ending still comes."""
    calls: list[str] = []
    async with open_udp(peer=closed_port()) as line:
        line.arm(lambda: calls.append("wake"))
        await line.send(b"anybody there?")
        with pytest.raises(LineLost, match=r"^port unreachable$"):
            await line.send(b"anybody there?")
        assert calls == ["wake"]
        assert select.select(line.descriptors(), [], [], 0)[0] == []
        assert line.receive() == [Ending("port unreachable")]


async def test_the_refusal_of_an_earlier_peer_does_not_count() -> None:
    """What the network says about datagrams to somebody else is not an ending of this peer."""
    async with open_udp(peer=closed_port()) as line:
        with bound() as peer:
            for send_first in (True, False):
                line.peer = closed_port()
                await line.send(b"anybody there?")
                line.peer = peer.getsockname()
                if send_first:
                    await line.send(b"hello")
                    assert await heard(peer) == b"hello"
                assert line.receive() == []
                assert select.select(line.descriptors(), [], [], 0)[0] == []


async def test_sending_after_the_context_is_told() -> None:
    """A line that was left is lost."""
    async with pair() as (line, _):
        pass
    with pytest.raises(LineLost, match="closed"):
        await line.send(b"hello")
    assert (line.receive(), line.descriptors()) == ([], ())


class Troubled(socket.socket):
    """A socket that first has these troubles: errors of sending, and errors that the kernel has noted."""

    sending: list[int]
    noted: list[int]
    peer: Address

    def sendto(self, *arguments: Any) -> int:  # noqa: ANN401 -- what a socket takes
        if self.sending:
            number = self.sending.pop(0)
            raise OSError(number, os.strerror(number))
        return super().sendto(*arguments)

    def recvmsg(self, *_: object) -> tuple[bytes, list[tuple[int, int, bytes]], int, Address]:
        if not self.noted:
            raise BlockingIOError
        note = struct.pack("=I", self.noted.pop())
        return b"", [(socket.IPPROTO_TCP, 0, b"something else"), (socket.IPPROTO_IP, 11, note)], 0, self.peer


@asynccontextmanager
async def troubled(sending: list[int], noted: list[int]) -> AsyncGenerator[tuple[UdpLine, socket.socket], None]:
    """A line whose socket has these troubles, and its peer."""
    with bound() as peer, Troubled(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((LOCAL, 0))
        sock.settimeout(0)
        sock.sending, sock.noted, sock.peer = sending, noted, peer.getsockname()
        line = UdpLine(sock)
        line.peer = peer.getsockname()
        yield line, peer


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOBUFS])
async def test_full_queues_are_waited_out(number: int) -> None:
    """Where the socket or the network card has no room, the datagram is sent later, and not dropped."""
    async with troubled([number, number], []) as (line, peer):
        await line.send(b"hello")
        assert await heard(peer) == b"hello"


async def test_a_trouble_that_passes_is_remarked() -> None:
    """What the network reports without being gone ends nothing, and is counted for the reader."""
    async with troubled([errno.EMSGSIZE], [errno.EMSGSIZE, errno.EMSGSIZE]) as (line, peer):
        await line.send(b"hello")
        assert await heard(peer) == b"hello"
        assert line.remarks() == ["the network reported: Message too long (2 times)"]
        assert line.receive() == []


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.EHOSTUNREACH, "host unreachable"), (errno.EPERM, "operation not permitted")],
)
async def test_a_datagram_that_cannot_leave_ends_the_line(number: int, reason: str) -> None:
    """Where this machine refuses to send, the line is lost, with the system's words, and has ended."""
    async with troubled([number], []) as (line, _):
        with pytest.raises(LineLost, match=f"^{reason}$"):
            await line.send(b"hello")
        assert await arrive(line, over) == [Ending(reason)]


# Addresses


async def test_a_url_names_both_sides() -> None:
    """`bind` stands in the URL or beside it, and is where the line is bound."""
    own = closed_port()
    for opener in (
        udp(f"udp://127.0.0.1:7000?bind=127.0.0.1:{own[1]}"),
        udp("127.0.0.1:7000", bind=f"127.0.0.1:{own[1]}"),
    ):
        async with opener() as line:
            assert isinstance(line, UdpLine)
            assert (line.address, line.peer) == (own, (LOCAL, 7000))


async def test_without_bind_the_line_faces_its_peer() -> None:
    """Where nothing is said, the line has the one address from which the peer is reached, and a fresh port."""
    async with udp("localhost:7000")() as line:
        assert isinstance(line, UdpLine)
        assert line.address[0] in {LOCAL, "::1"}
        assert line.address[1] > 0


@pytest.mark.parametrize(
    "url", ["127.0.0.1", "udp://:7000", "udp://127.0.0.1:x", "tcp://127.0.0.1:70", "::1:7000", "a:65536"]
)
def test_what_is_no_address_is_told_at_once(url: str) -> None:
    """A bench with a wrong URL fails where it is written, and the error shows the right form."""
    with pytest.raises(UsageError, match=r"not an address: '.*'; write udp://HOST:PORT, or udp://HOST:PORT\?bind="):
        udp(url)


def test_an_unknown_option_is_told_at_once() -> None:
    """An option that does not exist is named."""
    with pytest.raises(UsageError, match="has the option 'bnid'; write udp://HOST:PORT"):
        udp("udp://127.0.0.1:7000?bnid=127.0.0.1:0")


async def test_a_port_in_use_is_told() -> None:
    """The error names the address, and what to do; nothing is left open."""
    with bound() as other:
        before = Baseline()
        port = other.getsockname()[1]
        with pytest.raises(ContactError, match=f"^cannot bind udp 127.0.0.1:{port}: address already in use; .*port 0"):
            await used((LOCAL, port))
        assert not before.lasting_leaks()


async def used(bind: Address | None, peer: Address | None = None) -> None:
    """Open a line and leave it."""
    async with open_udp(bind, peer):
        pass


@pytest.mark.parametrize(
    ("bind", "peer", "message"),
    [
        ((("192.0.2.1"), 0), None, "cannot bind udp 192.0.2.1:0: cannot assign .*; this machine has no such address"),
        ((LOCAL, 70_000), None, "no such port: 127.0.0.1:70000; a port is a number from 0 to 65535"),
        ((LOCAL, 0), (LOCAL, 0), "no such port: 127.0.0.1:0; a port is a number from 1 to 65535"),
        ((LOCAL, 0), ("::1", 7000), r"no IPv4 address is known for \[::1\]:7000: .*; check the name, or write numbers"),
        (("no host", 0), None, "no address is known for no host:0: .*; check the name"),
        (("a" * 100, 0), None, "no address is known for aaa.*: .*; check the name"),
        (None, ("255.255.255.255", 7000), "cannot reach 255.255.255.255:7000: .*; (check the address|ports below)"),
    ],
)
async def test_an_address_that_cannot_be_had_is_told(bind: Address | None, peer: Address | None, message: str) -> None:
    """The error names the address, why it cannot be had, and what to do; nothing is left open."""
    before = Baseline()
    with pytest.raises(ContactError, match=f"^{message}"):
        await used(bind, peer)
    assert not before.lasting_leaks()


async def test_a_line_without_any_address_is_told() -> None:
    """A line needs an address of its own, or a peer to derive it from."""
    with pytest.raises(UsageError, match="a UDP line needs an address to bind, or a peer"):
        await used(None)


# Systems that answer from other ports


def is_data(datagram: bytes) -> bool:
    """Whether a datagram belongs to a transfer that has begun."""
    return datagram.startswith(b"data")


async def test_a_system_that_answers_from_another_port_is_followed() -> None:
    """What belongs to a transfer goes to where its answers come from; all else goes to the known address."""
    with bound() as known, bound() as other:
        async with open_udp(peer=known.getsockname(), follow=is_data) as line:
            await line.send(b"data too early")
            assert await heard(known) == b"data too early"
            other.sendto(b"1", line.address)
            assert await arrive(line, 1) == frames(b"1")
            await line.send(b"data 1")
            assert await heard(other) == b"data 1"
            await line.send(b"request")
            assert await heard(known) == b"request"
            assert line.remarks() == []


async def test_hosts_are_not_confused() -> None:
    """Who follows a system hears all ports of its host, and nobody else."""
    with bound() as known, bound("127.0.0.2") as stranger:
        async with open_udp(peer=known.getsockname(), follow=is_data) as line:
            stranger.sendto(b"psst", line.address)
            await woken(line)
            assert line.receive() == []


# Many peers


async def test_one_address_can_have_many_peers() -> None:
    """Lines that share an address hear each its own peer, whoever talks first, and all are seen under that address."""
    with bound() as free:
        own = free.getsockname()
    with bound() as one, bound() as two, bound() as stranger:
        async with (
            open_udp(own, one.getsockname(), shared=True) as first,
            open_udp(own, two.getsockname(), shared=True) as second,
        ):
            assert first.address == second.address == own
            for number in range(3):
                two.sendto(b"two %d" % number, own)
                one.sendto(b"one %d" % number, own)
                stranger.sendto(b"psst", own)
            assert await arrive(first, 3) == frames(b"one 0", b"one 1", b"one 2")
            assert await arrive(second, 3) == frames(b"two 0", b"two 1", b"two 2")
            await second.send(b"hello")
            await anyio.wait_readable(two)
            assert two.recvfrom(100) == (b"hello", own)


async def test_a_closed_port_of_one_peer_is_no_end_of_another() -> None:
    """Of lines that share an address only that one ends whose peer is gone."""
    with bound() as free:
        own = free.getsockname()
    with bound() as one:
        async with (
            open_udp(own, one.getsockname(), shared=True) as first,
            open_udp(own, closed_port(), shared=True) as second,
        ):
            await second.send(b"anybody there?")
            assert await arrive(second, over) == [Ending("port unreachable")]
            one.sendto(b"here", own)
            assert await arrive(first, 1) == frames(b"here")


async def test_a_shared_address_needs_a_peer() -> None:
    """Who shares an address says with whom it talks."""
    with pytest.raises(UsageError, match="a shared address needs a peer for each line"):
        async with open_udp(shared=True):
            pass


# What is lost


async def test_what_the_kernel_drops_is_counted() -> None:
    """A flood that nobody reads overflows the socket's buffer, and the line knows by how many datagrams."""
    async with pair() as (line, peer):
        assert line.lost() == ""
        line._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- a small one
        for _ in range(1000):
            peer.sendto(b"x" * 100, line.address)
        arrived = 0
        while batch := line.receive():
            arrived += len(batch)
        assert line.lost() == f"{1000 - arrived} datagrams came faster than they were read, and the kernel dropped them"


async def test_the_kernel_knows_when_it_came() -> None:
    """Asked to, the line says when a datagram came, though it is read much later."""
    async with pair() as (line, peer):
        line.stamp()
        # the kernel begins with it a moment after it was asked to, and until then says when a datagram was read
        offs = [await stamp_is_off(line, peer) for _ in range(20)]
        assert min(offs) < 0.01
        assert offs[-1] < 0.01


async def stamp_is_off(line: UdpLine, peer: socket.socket) -> float:
    """By how much the stamp of a datagram is not the time at which it was sent; it is read 20 ms later."""
    sent = clock()()
    peer.sendto(b"hello", line.address)
    await anyio.sleep(0.02)
    [frame] = line.receive()
    assert isinstance(frame, Frame)
    assert frame.received is not None
    return abs(frame.received - sent)
