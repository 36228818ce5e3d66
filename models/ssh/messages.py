"""Messages of an SSH client and server, by name, and their bytes."""

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
"""The numbers of RFC 4250, and two others, UNASSIGNED and LOCAL."""
_NAMES: Final = {number: name for name, number in NUMBERS.items()}
_WINDOW: Final = (1 << 20).to_bytes(4, "big")
_PACKET: Final = (1 << 15).to_bytes(4, "big")


_STEPS: Final = {"HELLO", "NEWKEYS", "EXCHANGE"}
"""The meaning of a frame of one byte: the line has the rest of it."""
_FORMATS: Final = {
    "IGNORE": "s",
    "UNIMPLEMENTED": "n*",
    "SERVICE_REQUEST": "s",
    "USERAUTH_REQUEST": "sss*",
    "GLOBAL_REQUEST": "sb*",
    "CHANNEL_OPEN": "snnn*",
    "CHANNEL_WINDOW_ADJUST": "nn",
    "CHANNEL_DATA": "ns",
    "CHANNEL_EOF": "n",
    "CHANNEL_CLOSE": "n",
    "CHANNEL_REQUEST": "nsb*",
}
"""The fields of messages: strings, numbers, a Boolean, and the rest, which depends on the type."""


@dataclass(frozen=True, slots=True)
class Dial:
    """The client connects."""


@dataclass(frozen=True, slots=True)
class Send:
    """A message of the client: its name, its texts, and the server's number of its channel."""

    name: str
    texts: tuple[str, ...] = ()
    channel: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the server; for a channel that it opened, the channel's number."""

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
                message = f"{show(value)} is not a message of a client"
                raise CodecError(message)

    def decode_input(self, port: str, data: bytes) -> Send:
        """Return the message with this payload; if the model does not send it, the payload is its text.

        Raises CodecError if its number is not a client's, or its fields do not fit.
        """
        del port
        name = _NAMES.get(data[0], "") if data else ""
        if name in _STEPS and len(data) == 1:
            return Send(name)
        if name not in _FORMATS:
            raise CodecError(f"{data[:1].hex()} is the number of no message that the model reads")
        found = _read(name, data[1:])
        return found if self.encode(found) == data else Send(name, (data.hex(),))

    def split_input(self, port: str, data: bytes) -> list[bytes]:
        """Return the payload: it is the only one in its packet."""
        del port
        return [data]

    def decode(self, port: str, data: bytes) -> Sent:
        """Return the message with this payload. Raises CodecError if there is none."""
        del port
        if not data:
            raise CodecError("an empty packet is not a message")
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


def _read(name: str, data: bytes) -> Send:
    """Return the message with these fields. Raises CodecError if they do not fit."""
    texts, channel = list[str](), 0
    for kind in _FORMATS[name].rstrip("*"):
        size = 1 if kind == "b" else 4
        number, data, whole = int.from_bytes(data[:size]), data[size:], len(data) >= size
        match kind:
            case "s":
                whole = whole and len(data) >= number
                texts.append(data[:number].decode("latin-1"))
                data = data[number:]
            case "b":
                texts.append("yes" if number else "")
            case _:
                channel = number
        if not whole:
            raise CodecError(f"the fields of {name} go beyond its end")
    if data and not _FORMATS[name].endswith("*"):
        raise CodecError(f"{data[:20].hex()} follows the last field of {name}")
    if name == "USERAUTH_REQUEST":
        # after the service and the method name: whether the password is new, and the password
        user, _, method = texts
        texts = [user, method, *([data[5:].decode("latin-1")] if method == "password" else [])]
    return Send(name, tuple(texts), 0 if name == "CHANNEL_OPEN" else channel)
