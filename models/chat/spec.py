"""A chat over WebSocket as a function of an input and the participants.

After RFC 6455: a client opens a connection (section 4); the server answers a ping with the same bytes (5.5.2 and
5.5.3), and a close with a close, after which it ends the connection (5.5.1 and 7.1.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, TypeAlias

from otf.codec.web import WebSocketCodec, WsBytes, WsClose, WsMessage, WsOpen, WsOpened, WsPing, WsPong, WsText
from otf.errors import CodecError
from otf.spec import OneOf, Spec, Transition, goto, on
from otf.trace import Ended
from otf.values import show

Client: TypeAlias = Literal["ann", "bob"]
CLIENTS: Final[tuple[Client, ...]] = ("ann", "bob")
UNSUPPORTED: Final = 1003


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message from a client, or to it."""

    client: Client
    message: WsMessage


@dataclass(frozen=True, slots=True)
class ChatCodec:
    """The messages of a WebSocket, on a port for each client."""

    types: tuple[type, ...] = (ChatMessage,)

    def port(self, value: object) -> str:
        """Return the client of a message."""
        return value.client if isinstance(value, ChatMessage) else ""

    def encode(self, value: object) -> bytes:
        """Return the frame of a message. Raises CodecError."""
        if not isinstance(value, ChatMessage):
            raise CodecError(f"{show(value)} is not a ChatMessage")
        return WebSocketCodec().encode(value.message)

    def decode(self, port: str, data: bytes) -> ChatMessage:
        """Return the message in a frame. Raises CodecError."""
        return ChatMessage("ann" if port == "ann" else "bob", WebSocketCodec().decode(port, data))


@dataclass(frozen=True, slots=True)
class Room:
    """The participants, those who may still miss what others say, and those who have left.

    The server may answer an opening before it enters the client in its list of recipients. It handles messages of one
    client in order, so a client whose first message has been handled is in that list.
    """

    inside: frozenset[Client] = frozenset()
    entering: frozenset[Client] = frozenset()
    gone: frozenset[Client] = frozenset()


def chat(also: str = "") -> Spec[Room, ChatMessage]:
    """Return the spec of a chat server with two WebSocket clients.

    `also` adds inputs that the spec leaves out by default: `close`, `bytes` or `ping`.

    >>> chat().name
    'chat'
    """
    return Spec(_step, Room(), partial(_inputs, also), name="chat")


def _step(room: Room, inp: ChatMessage) -> Iterator[Transition[Room]]:
    client = inp.client
    room = room if isinstance(inp.message, WsOpen) else replace(room, entering=room.entering - {client})
    left = replace(room, inside=room.inside - {client}, gone=room.gone | {client})
    match inp.message:
        case WsOpen() if client not in room.inside | room.gone:
            both = replace(room, inside=room.inside | {client}, entering=room.entering | {client})
            yield goto(both, ChatMessage(client, WsOpened()))
        case WsText() as said if client in room.inside:
            yield from _to_all(room, said)
        case WsPing(data) if client in room.inside:
            yield goto(room, ChatMessage(client, WsPong(data)))
        case WsPong() if client in room.inside:
            yield goto(room)  # unsolicited ones are allowed, and not answered (5.5.3)
        case WsClose(code) if client in room.inside:
            # the server may send the status code back, or leave it out
            answers = dict.fromkeys([WsClose(code), WsClose(0), WsClose()])
            yield goto(left, OneOf(*(ChatMessage(client, each) for each in answers)), on(client, Ended))
        case WsBytes(data) if client in room.inside:
            # a chat of text may refuse bytes (7.4.1); it may not take them for something else
            yield goto(left, ChatMessage(client, WsClose(UNSUPPORTED)), on(client, Ended))
            yield from _to_all(room, WsBytes(data))
            yield goto(room)
        case _:
            return


def _to_all(room: Room, said: WsMessage) -> Iterator[Transition[Room]]:
    """Yield the transitions in which everyone inside gets a message; those who are just entering may miss it."""
    yield goto(replace(room, entering=frozenset()), *(ChatMessage(each, said) for each in sorted(room.inside)))
    if room.entering:
        yield goto(room, *(ChatMessage(each, said) for each in sorted(room.inside - room.entering)))


_INPUTS: Final[tuple[WsMessage, ...]] = (
    WsOpen("/"),
    WsText("hello"),
    WsText(""),
    WsText("äöü €"),
    WsText("long " * 60),
    WsPing(b""),
    WsPing(b"are you there?"),
    WsPong(b"unasked"),
)
ALSO: Final[dict[str, tuple[WsMessage, ...]]] = {
    "close": (WsClose(), WsClose(0), WsClose(1001, "away")),
    "bytes": (WsBytes(b"\x81\x80abcd"), WsBytes(b"")),
    "ping": (WsPing(b"\xff"),),
}
"""Descriptions of messages that the server handles contrary to the standard."""


def _inputs(also: str, room: Room) -> Iterator[ChatMessage]:
    del room
    for message in (*_INPUTS, *ALSO.get(also, ())):
        for client in CLIENTS:
            yield ChatMessage(client, message)
