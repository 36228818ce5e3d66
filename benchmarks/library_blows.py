"""Blows at what libraries read: a client of HTTP, WebSocket or MQTT over TCP, and a library with threads.

At a random input the system falls silent, closes or resets its connection, or sends half an answer before it closes;
the library behind `from_thread` reports an end, raises, or reports that it has failed itself.
"""

from __future__ import annotations

import queue
import socket
import struct
import threading
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha1
from random import Random
from typing import Any, Final, TypeAlias

from benchmarks.bus_blows import STEPS, Probe, ProbeCodec, judged, one
from otf.adapter import Line
from otf.adapter.mailbox import Mailbox
from otf.adapters.tcp import open_tcp
from otf.adapters.thread import from_thread
from otf.codec import Codec
from otf.codec.mqtt import MqttCodec, packet_size
from otf.codec.mqtt_packets import MqttConnect, MqttPuback, MqttPublish
from otf.codec.web import HttpCodec, HttpRequest, HttpResponse, WebSocketCodec, WsBytes
from otf.errors import CodecError
from otf.framing import Framing, measured
from otf.framing.web import http, websocket
from otf.models.serving import HOST, until_told

WIRES: Final = {
    "http": ("leave", "hang up", "reset", "cut"),
    "websocket": ("leave", "hang up", "reset", "cut"),
    "mqtt": ("leave", "hang up", "reset", "cut"),
    "thread": ("leave", "hang up", "fail", "raise"),
}
_ACCEPTED: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455, section 1.3
_RESETS: Final = struct.pack("ii", 1, 0)


class ProbeInside:
    """Carries a probe in the messages of another codec."""

    types = (Probe,)

    def __init__(self, codec: Codec, put: Callable[[int], object], answers: Mapping[Any, int]) -> None:
        self.codec, self.put, self.answers = codec, put, answers

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "p"

    def encode(self, value: object) -> bytes:
        """Return the bytes of a probe."""
        assert isinstance(value, Probe)
        data = self.codec.encode(self.put(value.number))
        assert isinstance(data, bytes)
        return data

    def decode(self, port: str, data: bytes) -> Probe:
        """Return a probe. Raises CodecError."""
        message = self.codec.decode(port, data)
        if message not in self.answers:
            raise CodecError(f"{message} is not a probe")
        return Probe(self.answers[message])


@dataclass(frozen=True)
class Protocol:
    """How a client of a protocol speaks, and its server: where a request ends, and what its answer is."""

    codec: ProbeInside
    framing: Framing
    size: Callable[[bytes], int | None]
    answer: Callable[[bytes], bytes]
    opening: bytes = b""


def _head_size(begun: bytes) -> int | None:
    return begun.find(b"\r\n\r\n") + 4 if b"\r\n\r\n" in begun else None


def _http(request: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n" + request[5:6]


def _websocket(request: bytes) -> bytes:
    if request[:1] != b"G":
        # a frame of the client is masked with four bytes; this has one byte
        return bytes([0x82, 1, request[6] ^ request[2]])
    key = next(line for line in request.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")).split()[1]
    accept = b64encode(sha1(key + _ACCEPTED, usedforsecurity=False).digest())
    return (
        b"HTTP/1.1 101 .\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


def _websocket_size(begun: bytes) -> int | None:
    return _head_size(begun) if begun[:1] == b"G" else 7 if len(begun) >= 7 else None  # noqa: PLR2004 -- as above


def _mqtt(request: bytes) -> bytes:
    return b"\x20\2\0\0" if request[0] == 0x10 else b"\x40\2" + request[5:7]  # noqa: PLR2004 -- CONNECT


def _protocols() -> dict[str, Protocol]:
    numbers = range(4)
    web = {HttpResponse(200, (), b"%d" % each): each for each in numbers}
    frames, acks = {WsBytes(bytes([each])): each for each in numbers}, {MqttPuback(each + 1): each for each in numbers}
    gets = ProbeInside(HttpCodec(), lambda n: HttpRequest("GET", f"/{n}"), web)
    sends = ProbeInside(WebSocketCodec(), lambda n: WsBytes(bytes([n])), frames)
    publishes = ProbeInside(MqttCodec(), lambda n: MqttPublish("t", b"", 1, n + 1), acks)
    hello = MqttCodec().encode(MqttConnect(2, 0, "c"))
    return {
        "http": Protocol(gets, http(), _head_size, _http),
        "websocket": Protocol(sends, websocket(), _websocket_size, _websocket, b"\0/"),
        "mqtt": Protocol(publishes, measured(packet_size), packet_size, _mqtt, hello),
    }


@dataclass
class Server:
    """Serves one connection at a time, and is harmed at an input; `is_late`: after it has answered."""

    protocol: Protocol
    how: str
    at: int
    is_late: bool

    def serve(self, listener: socket.socket) -> None:
        """Serve until the listener is closed."""
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    self.talk(connection)

    def talk(self, connection: socket.socket) -> None:
        """Answer until the end, or the harm."""
        begun, taken = b"", -1 if self.protocol.opening else 0
        while data := connection.recv(1000):
            begun += data
            while (size := self.protocol.size(begun)) is not None and size <= len(begun):
                request, begun, taken = begun[:size], begun[size:], taken + 1
                answer, is_struck = self.protocol.answer(request), taken == self.at
                if not is_struck or (self.is_late and self.how != "cut"):
                    connection.sendall(answer)
                if is_struck:
                    self.strike(connection, answer)
                    return

    def strike(self, connection: socket.socket, answer: bytes) -> None:
        """Do the harm."""
        if self.how == "leave":
            while connection.recv(1000):
                pass
        elif self.how == "cut":
            connection.sendall(answer[: len(answer) // 2])
        elif self.how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)


@contextmanager
def serving(server: Server) -> Generator[int]:
    """Let a server run in a thread; its port."""
    with socket.create_server((HOST, 0)) as listener:
        thread = threading.Thread(target=server.serve, args=[listener], name="server")
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def at_a_protocol(wire: str) -> Callable[[Random, str], tuple[str, str]]:
    """Return a function that strikes a server of a protocol."""
    protocol = _protocols()[wire]

    def blow(random: Random, loop: str) -> tuple[str, str]:
        server = Server(protocol, random.choice(WIRES[wire]), random.randrange(1, STEPS), random.choice((True, False)))

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
            with serving(server) as port:
                async with open_tcp((HOST, port), protocol.framing) as line:
                    if protocol.opening:
                        await line.send(protocol.opening)
                        await until_told(line, bool)
                    yield {"p": line}

        return judged(connect, server.how, loop, protocol.codec)

    return blow


Work: TypeAlias = queue.SimpleQueue[bytes | None]


@dataclass
class Library:
    """A library that answers from a thread of its own, until it is harmed."""

    mailbox: Mailbox
    how: str
    at: int

    def __post_init__(self) -> None:
        """Start its thread."""
        self.work, self.sent = Work(), 0
        self.thread = threading.Thread(target=self.serve, name="library")
        self.thread.start()

    def send(self, data: bytes) -> None:
        """Take a frame."""
        self.sent += 1
        if self.how == "raise" and self.sent == self.at:
            raise OSError("struck")
        self.work.put(data)

    def serve(self) -> None:
        """Answer each."""
        taken = 0
        while (data := self.work.get()) is not None:
            taken += 1
            if self.how == "raise" or taken < self.at:
                self.mailbox.put(data)
            elif taken == self.at and self.how != "leave":
                (self.mailbox.end if self.how == "hang up" else self.mailbox.fail)("struck")

    def close(self) -> None:
        """End its thread."""
        self.work.put(None)
        self.thread.join()


def at_a_library(random: Random, loop: str) -> tuple[str, str]:
    """Strike a library with threads."""
    how, at = random.choice(WIRES["thread"]), random.randrange(1, STEPS)
    port = from_thread(lambda mailbox: Library(mailbox, how, at), Library.send, Library.close)
    return judged(one(port), how, loop, ProbeCodec(framed=False))


def blows() -> Iterator[tuple[str, Callable[[Random, str], tuple[str, str]]]]:
    """Yield each wire, with the function that strikes it."""
    for wire in _protocols():
        yield wire, at_a_protocol(wire)
    yield "thread", at_a_library
