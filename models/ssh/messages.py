"""Messages of an SSH client and of a server, by their names, and their bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.ssh.transport import EXCHANGE, HELLO, NEWKEYS, string
from otf.values import show

PORT: Final = "ssh"
NUMBERS: Final = {
    "DISCONNECT": 1,
    "IGNORE": 2,
    "UNIMPLEMENTED": 3,
    "SERVICE_REQUEST": 5,
    "SERVICE_ACCEPT": 6,
    "UNASSIGNED": 15,
    "HELLO": HELLO,
    "NEWKEYS": NEWKEYS,
    "EXCHANGE": EXCHANGE,
    "USERAUTH_REQUEST": 50,
    "USERAUTH_FAILURE": 51,
    "USERAUTH_SUCCESS": 52,
    "USERAUTH_INFO_RESPONSE": 61,
    "GLOBAL_REQUEST": 80,
    "REQUEST_SUCCESS": 81,
    "REQUEST_FAILURE": 82,
    "CHANNEL_OPEN": 90,
    "CHANNEL_OPEN_CONFIRMATION": 91,
    "CHANNEL_OPEN_FAILURE": 92,
    "CHANNEL_WINDOW_ADJUST": 93,
    "CHANNEL_DATA": 94,
    "CHANNEL_EOF": 96,
    "CHANNEL_CLOSE": 97,
    "CHANNEL_REQUEST": 98,
    "CHANNEL_SUCCESS": 99,
    "CHANNEL_FAILURE": 100,
    "LOCAL": 192,
}
"""The numbers of RFC 4250; UNASSIGNED and LOCAL are none of its."""
_NAMES: Final = {number: name for name, number in NUMBERS.items()}
_WINDOW: Final = (1 << 20).to_bytes(4, "big")
_PACKET: Final = (1 << 15).to_bytes(4, "big")


@dataclass(frozen=True, slots=True)
class Dial:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class Send:
    """A message of the client: its name, the texts in it, and the server's number of the channel that it is for."""

    name: str
    texts: tuple[str, ...] = ()
    channel: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the server; of a channel that it has opened, its number."""

    name: str
    channel: int = 0


@dataclass(frozen=True, slots=True)
class SshCodec:
    """The codec of the payloads of packets."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Dial, Send, Sent)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return PORT

    def encode(self, value: object) -> bytes | PortAction:
        """Return the payload of a message. Raises CodecError."""
        match value:
            case Dial():
                return PortAction.CONNECT
            case Send(name, texts, channel) if name in NUMBERS:
                return bytes([NUMBERS[name]]) + _fields(name, channel, [each.encode() for each in texts])
            case _:
                message = f"{show(value)} is no message of a client"
                raise CodecError(message)

    def decode(self, port: str, data: bytes) -> Sent:
        """Return the message with this payload. Raises CodecError for none."""
        del port
        if not data:
            raise CodecError("an empty packet is no message")
        name = _NAMES.get(data[0], f"MESSAGE_{data[0]}")
        return Sent(name, int.from_bytes(data[5:9], "big") if name == "CHANNEL_OPEN_CONFIRMATION" else 0)


def _fields(name: str, number: int, texts: list[bytes]) -> bytes:
    match name, texts:
        case "USERAUTH_REQUEST", [user, *method]:
            no_change = [b"\0"] if method[0] == b"password" else []
            parts = [*map(string, (user, b"ssh-connection", method[0])), *no_change, *map(string, method[1:])]
            return b"".join(parts)
        case (("GLOBAL_REQUEST" | "CHANNEL_REQUEST"), [kind, reply]):
            channel = b"" if name == "GLOBAL_REQUEST" else number.to_bytes(4, "big")
            return channel + string(kind) + (b"\1" if reply else b"\0")
        case "CHANNEL_OPEN", [kind]:
            return string(kind) + bytes(4) + _WINDOW + _PACKET
        case (("CHANNEL_DATA" | "CHANNEL_CLOSE"), _):
            return number.to_bytes(4, "big") + b"".join(map(string, texts))
        case _:
            return b"".join(map(string, texts))
