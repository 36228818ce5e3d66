"""TLS: what is special about it. Both sides agree without certificates, so that none has to be kept here."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from importlib import import_module

import anyio
import anyio.to_thread
import pytest

from otf.adapter import Arrival, Ending, Frame
from otf.adapters import tcp
from otf.adapters.tcp import TcpLine, open_listener, open_tcp
from otf.codec.web import WebSocketCodec, WsClose, WsOpen, WsText
from otf.errors import CodecError, ContactError
from otf.framing import measured
from otf.framing.web import websocket
from tests.adapters.harness import SECONDS, Baseline, arrive, frames, over
from tests.real.needs import needs_module

pytestmark = [pytest.mark.anyio, pytest.mark.real]


def context(protocol: int) -> ssl.SSLContext:
    """A context that asks for no certificate."""
    made = ssl.SSLContext(protocol)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.maximum_version = ssl.TLSVersion.TLSv1_2
    made.set_ciphers("AECDH-AES128-SHA:@SECLEVEL=0")
    return made


CLIENT = context(ssl.PROTOCOL_TLS_CLIENT)
SERVER = context(ssl.PROTOCOL_TLS_SERVER)


async def test_frames_pass_encrypted() -> None:
    """Both sides of a connection are lines with TLS: frames pass, large and small, and the end comes last."""
    small, large = (
        measured(lambda begun: int.from_bytes(begun[:4]) + 4 if len(begun) > 3 else None, largest=1 << 20),
        300_000,
    )
    one, two = (size.to_bytes(4) + b"x" * size for size in (3, large))
    async with open_listener() as listener, anyio.create_task_group() as tasks:

        async def serve() -> None:
            async with listener.accept(small, tls=SERVER) as line:
                for data in await arrive(line, 2):
                    await line.send(getattr(data, "data", b""))

        tasks.start_soon(serve)
        async with open_tcp(listener.address, small, tls=CLIENT) as line:
            await line.send(one)
            await line.send(two)
            assert await arrive(line, over) == [*frames(one, two), Ending("end of stream")]


async def test_small_frames_that_came_together_are_all_there() -> None:
    """What TLS has decrypted already is told by no descriptor, and heard all the same."""
    async with open_listener() as listener, anyio.create_task_group() as tasks:

        async def serve() -> None:
            async with listener.accept(tls=SERVER) as line:
                for number in range(500):
                    await line.send(b"%d" % number)
                await arrive(line, over)

        tasks.start_soon(serve)
        async with open_tcp(listener.address, tls=CLIENT) as line:
            assert await arrive(line, 500) == frames(*[b"%d" % number for number in range(500)])


async def test_there_are_no_halves() -> None:
    """An encrypted connection cannot be half closed, and says so."""
    async with open_listener() as listener, anyio.create_task_group() as tasks:

        async def serve() -> None:
            async with listener.accept(tls=SERVER) as line:
                await arrive(line, over)

        tasks.start_soon(serve)
        async with open_tcp(listener.address, tls=CLIENT) as line:
            assert isinstance(line, TcpLine)
            with pytest.raises(CodecError, match="cannot be half closed"):
                line.finish()


async def refused(url: str, tls: ssl.SSLContext | None) -> str:
    """Why there is no connection."""
    with pytest.raises(ContactError) as raised:
        async with tcp(url, tls=tls, within=0.3)():
            pass
    return str(raised.value)


async def test_who_does_not_speak_tls_is_told() -> None:
    """A server that says something else, or nothing, is named with the reason; no socket is left."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        await anyio.lowlevel.checkpoint()
        before = Baseline()
        assert "does not speak TLS with us: no answer in time" in await refused(f"tls://127.0.0.1:{port}", CLIENT)
        assert not before.lasting_leaks()
        why = ""
        async with anyio.create_task_group() as tasks:

            async def greet() -> None:
                for _ in range(2):  # the first caller has hung up
                    await anyio.wait_readable(server)
                    peer, _ = server.accept()
                    with peer:
                        peer.send(b"220 hello, who are you?\r\n")

            tasks.start_soon(greet)
            why = await refused(f"tcp://127.0.0.1:{port}", CLIENT)
        assert "does not speak TLS with us: " in why
        assert "openssl s_client" in why


async def test_a_server_that_nobody_vouches_for_is_refused() -> None:
    """By default a connection is trusted only where this machine trusts it."""
    async with open_listener() as listener, anyio.create_task_group() as tasks:

        async def serve() -> None:
            with pytest.raises(ContactError):
                async with listener.accept(tls=SERVER):
                    pass

        tasks.start_soon(serve)
        host, port = listener.address
        assert "does not speak TLS with us: " in await refused(f"tls://{host}:{port}", None)


def _greeted(server: socket.socket) -> None:
    """Serve one WebSocket connection with wsproto: send each text back, in capital letters, until the client closes."""
    wsproto, events = import_module("wsproto"), import_module("wsproto.events")
    peer, _ = server.accept()
    with SERVER.wrap_socket(peer, server_side=True) as secure:
        secure.settimeout(SECONDS)
        protocol = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        is_open = True
        while is_open and (data := secure.recv(65_536)):
            protocol.receive_data(data)
            for event in protocol.events():
                match event:
                    case events.Request():
                        secure.sendall(protocol.send(events.AcceptConnection()))
                    case events.TextMessage():
                        secure.sendall(
                            protocol.send(
                                events.TextMessage(event.data.upper(), message_finished=event.message_finished)
                            )
                        )
                    case events.CloseConnection():
                        secure.sendall(protocol.send(event.response()))
                        is_open = False
                    case _:
                        pass
        with suppress(OSError):  # the client need not wait for the end of TLS
            secure.unwrap()


@needs_module("wsproto")
async def test_websocket_over_tls() -> None:
    """Opening, a text over several TLS records, and the end of the connection, against another implementation."""
    codec, text, found = WebSocketCodec(), "x" * 40_000, list[Arrival]()
    with socket.create_server(("127.0.0.1", 0)) as server:
        async with anyio.create_task_group() as tasks:

            async def serve() -> None:
                await anyio.to_thread.run_sync(_greeted, server, abandon_on_cancel=True)

            tasks.start_soon(serve)
            async with open_tcp(server.getsockname(), websocket(), tls=CLIENT) as line:
                for value in (WsOpen("/chat"), WsText("hi"), WsText(text), WsClose(1000)):
                    await line.send(codec.encode(value))
                    if isinstance(value, WsOpen):
                        assert await arrive(line, 1) == frames(b"\x00101")
                found = await arrive(line, over)
    told = [codec.decode("", each.data) for each in found if isinstance(each, Frame)]
    assert told == [WsText("HI"), WsText(text.upper()), WsClose(1000)]
    assert found[-1] == Ending("end of stream")
