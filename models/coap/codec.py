"""Values of the model to datagrams and back; message ids are codes, which `Endpoint` turns into real ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, get_args

from otf.errors import CodecError
from otf.models.coap.messages import Ack, Id, Message, Method, Ping, Request, Reset
from otf.models.coap.wire import OBSERVE, PATH, Packet, packed, segments, unpacked
from otf.models.texts import text_of
from otf.values import show

METHODS: Final[dict[Method, int]] = {"GET": 1, "POST": 2, "PUT": 3, "DELETE": 4}
IDS: Final[tuple[Id, ...]] = get_args(Id)
ONCE: Final = 0
TWICE: Final = 1
"""The message ids for an endpoint: how often to send a message, with a fresh id."""

_HEADER: Final = 4
_TOKEN: Final = 8  # bytes of a token at most
_OBSERVING: Final = {"on": b"", "off": b"\x01"}


@dataclass(frozen=True, slots=True)
class CoapCodec:
    """The codec; ports are named after the clients."""

    @property
    def types(self) -> tuple[type, ...]:
        """Return the types of all inputs and outputs."""
        return (Request, Ping, Ack, Reset, Message)

    def port(self, value: object) -> str:
        """Return the client that a value belongs to."""
        return str(getattr(value, "client", ""))

    def encode(self, value: object) -> bytes:
        """Return the datagram of an input, with a message id that says how often to send it."""
        match value:
            case Request():
                return packed(_request(value))
            case Ping():
                return packed(Packet("CON", 0))
            case Ack():
                return packed(Packet("ACK", 0))
            case Reset():
                return packed(Packet("RST", 0))
            case _:
                message = f"{show(value)} is not an input of a CoAP server"
                raise CodecError(message)

    def decode(self, port: str, data: bytes) -> Message:
        """Return the message in a datagram that an endpoint has classified."""
        packet = unpacked(data)
        code = f"{packet.code >> 5}.{packet.code & 31:02}"
        payload = text_of(packet.payload) if code == "2.05" else ""
        observe = packet.observe() is not None
        belongs = text_of(packet.token, "ascii")
        return Message(port, packet.kind, code, belongs, payload, observe, _classified(packet.id))

    def decode_input(self, port: str, data: bytes) -> Request | Ping | Ack | Reset:
        """Return the input in a datagram. Raises CodecError for anything that a server does not take for one."""
        packet = unpacked(data)
        method: Method | None = next((each for each in METHODS if METHODS[each] == packet.code), None)
        if packet.code == 0 and packet.kind != "NON" and len(data) == _HEADER:
            return Ping(port) if packet.kind == "CON" else Ack(port) if packet.kind == "ACK" else Reset(port)
        if packet.kind not in {"CON", "NON"} or method is None:
            message = f"a {packet.kind} with the code {packet.code:#04x} is not a request"
            raise CodecError(message)
        path = "/".join(text_of(value, "latin-1") for number, value in packet.options if number == PATH)
        # the token has the path in it, and at most 8 bytes
        plain = path.isascii() and len(path) < _TOKEN and {number for number, _ in packet.options} <= {PATH, OBSERVE}
        observing = next((text for text, raw in _OBSERVING.items() if [raw] == packet.values(OBSERVE)), "")
        found = Request(
            port,
            method,
            path,
            text_of(packet.payload, "latin-1"),
            "CON" if packet.kind == "CON" else "NON",
            "on" if observing == "on" else "off" if observing else "",
            packet.id == TWICE,
        )
        # another token, or the number of an observation, is also valid
        return found if plain and packed(_request(found)) == data else replace(found, path=path + "?")


def _classified(number: int) -> Id:
    if number >= len(IDS):
        message = f"the message id {number} is none of an endpoint; it gives {len(IDS)}"
        raise CodecError(message)
    return IDS[number]


def token(request: Request) -> str:
    """Return the token of a request: each observation of a resource has its own."""
    return f"o{request.path}" if request.observe else "t"


def _request(request: Request) -> Packet:
    observing = ((OBSERVE, _OBSERVING[request.observe]),) if request.observe else ()
    return Packet(
        request.kind,
        METHODS[request.method],
        TWICE if request.twice else ONCE,
        token(request).encode(),
        (*observing, *segments(request.path)),
        request.payload.encode(),
    )
