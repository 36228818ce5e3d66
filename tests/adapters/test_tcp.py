"""TCP: what is special about it."""

import errno
import select
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from otf.adapter import Ending, Frame, LineLost, Opener
from otf.adapter.waiting import clock
from otf.adapters import tcp
from otf.adapters.tcp import TcpLine, open_listener, open_tcp
from otf.errors import ContactError, UsageError
from otf.framing import Framing, length, lines, measured, silence
from tests.adapters.harness import SECONDS, Baseline, arrive, frames, over, woken

pytestmark = [pytest.mark.anyio, pytest.mark.real]

LOCAL = "127.0.0.1"


@asynccontextmanager
async def pair(framing: Framing = lines()) -> AsyncGenerator[tuple[TcpLine, socket.socket], None]:  # noqa: B008 -- a value
    """A line and the socket at the other end."""
    with socket.create_server((LOCAL, 0)) as server:
        async with open_tcp(server.getsockname()[:2], framing) as line:
            peer, _ = server.accept()
            with peer:
                peer.settimeout(0)
                yield line, peer


def free_port() -> int:
    """A port where nobody listens."""
    with socket.create_server((LOCAL, 0)) as server:
        port: int = server.getsockname()[1]
        return port


async def send_on(line: TcpLine, data: bytes) -> None:
    """Send the same frame again and again."""
    while True:
        await line.send(data)
        await anyio.lowlevel.checkpoint()


# What is told of a connection that cannot be had


@pytest.mark.parametrize("within", [0, 0.02])
async def test_a_connection_that_is_refused_does_not_time_out(within: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the time is over during the last of many calls, or before the first was answered."""
    with pytest.raises(ContactError, match="connection refused; no program listens there, even after"):
        async with open_tcp((LOCAL, free_port()), within=within):
            pass
    answers = iter([errno.ECONNREFUSED, errno.ETIMEDOUT])

    async def answered(*_: object) -> int:
        return next(answers)

    monkeypatch.setattr("otf.adapter.socket.connection._call", answered)
    with pytest.raises(ContactError, match="connection refused"):
        async with open_tcp((LOCAL, 7), within=0.015):
            pass


# What arrives


async def test_frames_do_not_depend_on_segments() -> None:
    """A frame may come in parts, and several in one part."""
    async with pair(length(2)) as (line, peer):
        peer.send(b"\0\3on")
        await woken(line)
        assert line.receive() == []
        peer.send(b"e\0\3two\0")
        assert await arrive(line, 2) == frames(b"one", b"two")


async def test_what_has_begun_is_no_silence() -> None:
    """As long as a frame has begun and not ended, the line says when its last bytes came, and what they are."""
    async with pair() as (line, peer):
        assert line.stirred() == float("-inf")
        now = clock()  # uvloop's own time stands still between its turns
        before = now()
        peer.send(b"hal")
        await woken(line)
        line.receive()
        assert before <= line.stirred() <= now()
        assert line.remarks() == ["a frame has begun and not ended: b'hal'"]
        peer.send(b"f\n")
        assert await arrive(line, 1) == frames(b"half")
        assert line.stirred() == float("-inf")


async def test_silence_can_end_a_frame() -> None:
    """With a gap as framing the parts of a frame are put together, and its end calls without a descriptor."""
    async with pair(silence(0.05)) as (line, peer):
        peer.send(b"ab")
        await woken(line)
        assert line.receive() == []
        peer.send(b"cd")
        assert await arrive(line, 1) == frames(b"abcd")


async def test_frames_over_the_limit_are_marked() -> None:
    """Of a frame over the largest size the beginning comes, marked, and the line goes on."""
    async with pair(lines(largest=4)) as (line, peer):
        peer.send(b"x" * 100_000 + b"\nnext\n")
        assert await arrive(line, 2) == [Frame(b"xxxx", "longer than 4 bytes"), Frame(b"next")]
        assert line.remarks() == ["frames that were too long or broken: 1; the last: longer than 4 bytes"]


async def test_an_answer_in_two_writes_does_not_wait_for_an_acknowledgement() -> None:
    """A system that leaves Nagle's algorithm on and writes twice is not slowed down by 40 ms an answer."""
    async with pair() as (line, peer):
        began = time.monotonic()
        for _ in range(20):
            await line.send(b"?")
            await anyio.wait_readable(peer)
            peer.recv(100)
            peer.send(b"on")
            peer.send(b"e\n")
            assert await arrive(line, 1) == frames(b"one")
        assert time.monotonic() - began < 20 * 0.04


# How it ends


async def test_an_end_of_stream_comes_after_the_last_frame() -> None:
    """Frames that came before the end are delivered before it, the last line needs no end."""
    async with pair() as (line, peer):
        peer.send(b"one\ntwo")
        peer.close()
        assert await arrive(line, over) == [*frames(b"one", b"two"), Ending("end of stream")]


async def test_a_frame_that_the_end_tore_is_marked() -> None:
    """Where frames have a size, a part of one before the end is not a frame."""
    async with pair(length(1)) as (line, peer):
        peer.send(b"\3ab")
        peer.close()
        torn = Frame(b"\3ab", "torn: the stream ended within it")
        assert await arrive(line, over) == [torn, Ending("end of stream")]


async def test_a_reset_is_told_from_an_end() -> None:
    """A connection that the system breaks off ends as reset, when receiving and when sending."""
    async with pair() as (line, peer):
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()
        assert await arrive(line, over) == [Ending("connection reset")]
        with pytest.raises(LineLost, match="connection reset"):
            await line.send(b"hello?")


async def test_sending_to_what_is_closed_says_so_and_the_ending_comes() -> None:
    """Where sending finds the connection closed before receiving does, it raises, and what was received is kept."""
    async with pair() as (line, peer):
        peer.send(b"last words\n")
        peer.close()
        with anyio.fail_after(SECONDS), pytest.raises(LineLost):
            await send_on(line, b"hello?")
        arrived = await arrive(line, over)
        assert isinstance(arrived[-1], Ending)


async def test_half_closing() -> None:
    """Our half can be closed: the system reads an end of stream, and its answers still come."""
    async with pair() as (line, peer):
        await line.send(b"all")
        line.finish()
        await anyio.wait_readable(peer)
        assert (peer.recv(100), peer.recv(100)) == (b"all\n", b"")
        peer.send(b"thanks\n")
        assert await arrive(line, 1) == frames(b"thanks")
        with pytest.raises(LineLost, match="finished by the tester"):
            await line.send(b"more")


async def test_breaking_off() -> None:
    """A connection that the tester breaks off is reset on the other side."""
    async with pair() as (line, peer):
        line.abort()
        with anyio.fail_after(SECONDS):
            await anyio.wait_readable(peer)
        with pytest.raises(ConnectionResetError):
            peer.recv(100)
        assert (line.descriptors(), line.receive()) == ((), [])


async def test_a_system_that_does_not_read_does_not_hold_the_tester_for_ever() -> None:
    """Sending waits while the other side does not read, takes no memory, and gives up after its patience."""
    async with pair() as (line, _):
        line.patience = 0.05
        with anyio.fail_after(SECONDS), pytest.raises(LineLost, match=r"^did not read for 0.05 s$"):
            await send_on(line, b"x" * 65_536)
        with pytest.raises(LineLost):
            await line.send(b"more")


async def test_large_frames_pass_while_the_other_side_reads() -> None:
    """A frame that is larger than all buffers is sent as the other side takes it."""
    async with (
        pair(measured(lambda _: 3_000_000, largest=3_000_000)) as (line, peer),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(line.send, b"x" * 3_000_000)
        got = 0
        with anyio.fail_after(SECONDS):
            while got < 3_000_000:
                await anyio.wait_readable(peer)
                got += len(peer.recv(1 << 20))


# Calling and being called


async def test_a_system_that_starts_later_is_called_again() -> None:
    """Who is not there yet is called until the time is over."""
    port = free_port()
    async with anyio.create_task_group() as tasks:

        async def start() -> None:
            await anyio.sleep(0.05)
            with socket.create_server((LOCAL, port)) as server:
                server.settimeout(0)
                await anyio.wait_readable(server)
                server.accept()[0].close()

        tasks.start_soon(start)
        async with tcp(f"tcp://{LOCAL}:{port}", within=SECONDS)() as line:
            assert await arrive(line, over) == [Ending("end of stream")]


async def contact(opener: Opener) -> str:
    """What opening a line raises."""
    with pytest.raises(ContactError) as raised:
        async with opener():
            pass
    return str(raised.value)


async def test_nobody_there_is_told() -> None:
    """Where nobody listens, that is said with the time for which it was tried; no socket is left."""
    port = free_port()
    await anyio.lowlevel.checkpoint()  # what an event loop opens once is open now
    before = Baseline()
    assert await contact(tcp(f"{LOCAL}:{port}", within=0.02)) == (
        f"cannot reach tcp 127.0.0.1:{port}: connection refused; no program listens there, even after 0.02 s; "
        "start one, or check the address"
    )
    assert not before.lasting_leaks()


async def test_nobody_calling_is_told() -> None:
    """Where nobody calls, that is said with the time for which it was waited."""
    why = await contact(tcp(f"tcp-listen://{LOCAL}:0", within=0.01))
    assert why.startswith("no connection to tcp 127.0.0.1:")


async def test_an_address_that_is_taken_is_told() -> None:
    """Who wants to listen where another does is told so."""
    with socket.create_server((LOCAL, 0)) as server:
        why = await contact(tcp(f"tcp-listen://{LOCAL}:{server.getsockname()[1]}", within=0.01))
    assert "address already in use; another socket has it" in why


@pytest.mark.parametrize("url", ["", "tcp://", "tcp://a", "udp://127.0.0.1:1", "http://a:1", "tcp://a:99999"])
def test_what_is_no_address_is_told(url: str) -> None:
    """The forms that there are stand in the error."""
    with pytest.raises(UsageError, match="tcp://HOST:PORT to call it, or tcp-listen://HOST:PORT to be called"):
        tcp(url)


async def test_one_listener_serves_several_ports() -> None:
    """A bench can have several connections that the system opens, each a line of its own."""
    async with open_listener() as listener:
        with socket.create_connection(listener.address) as first, socket.create_connection(listener.address) as second:
            async with listener.accept() as one, listener.accept() as two:
                first.send(b"1\n")
                second.send(b"2\n")
                assert (await arrive(one, 1), await arrive(two, 1)) == (frames(b"1"), frames(b"2"))
                assert one.peer == first.getsockname()


async def test_our_own_address_can_be_chosen() -> None:
    """A line that binds is seen under that address."""
    with socket.create_server((LOCAL, 0)) as server:
        port = free_port()
        async with tcp(f"{LOCAL}:{server.getsockname()[1]}", bind=f"{LOCAL}:{port}")():
            peer, address = server.accept()
            peer.close()
            assert address == (LOCAL, port)


async def test_after_the_end_nothing_is_readable() -> None:
    """A line that has ended has no descriptor that would wake the runner."""
    async with pair() as (line, peer):
        peer.close()
        await arrive(line, over)
        assert select.select(line.descriptors(), [], [], 0)[0] == []


async def test_a_connection_that_was_reset_holds_nothing_back() -> None:
    """The kernel has no other end any more, before the reset is read."""
    async with pair() as (line, peer):
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()
        assert line.under_way() == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"url": 7000}, "url=7000: a text is needed; write it as 'tcp://127.0.0.1:7000'"),
        ({"url": "127.0.0.1:7000", "framing": "linex"}, "function is needed; did you mean lines? choose one of cobs, "),
        ({"url": "127.0.0.1:7000", "framing": 5}, "slip; write framing=lines() after `from otf.framing import lines`"),
    ],
)
def test_an_argument_of_another_type_says_what_to_write(given: dict[str, Any], says: str) -> None:
    """The form of an address, and the framings that there are."""
    with pytest.raises(UsageError) as raised:
        tcp(**given)
    assert says in str(raised.value)
