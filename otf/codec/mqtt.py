"""MQTT 3.1.1 packets as values, over `measured(packet_size)`.

No library that is kept reads packets without I/O: mqttproto is not on PyPI, mqtt-codec 1.0.2 cannot be installed any
more, and gmqtt, aiomqtt, amqtt and paho-mqtt are clients and brokers, which acknowledge and reconnect by themselves. So
`records` makes the bodies, and the head (a type with flags, and a length of one to four bytes) is made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, TypeAlias, cast

from otf.codec.composed import items
from otf.codec.fields import raw, rest, text, u8, u16be
from otf.codec.records import records
from otf.errors import CodecError
from otf.values import show

_PUBLISH: Final = 3


@dataclass(frozen=True)
class MqttConnect:
    """The first packet of a client; `more` has the will, the user and the password as the flags say."""

    protocol: ClassVar[Annotated[bytes, raw(7)]] = b"\0\4MQTT\4"
    flags: Annotated[int, u8]
    keep_alive: Annotated[int, u16be]
    client: Annotated[str, text(u16be)]
    more: Annotated[bytes, raw(rest)] = b""


@dataclass(frozen=True)
class MqttConnack:
    """The answer: whether a session is present, and 0 if the connection is accepted."""

    session: Annotated[int, u8]
    code: Annotated[int, u8]


@dataclass(frozen=True)
class MqttPublish:
    """A message; `id` is 0 with a quality of service of 0, which has none."""

    topic: str
    payload: bytes = b""
    qos: int = 0
    id: int = 0
    retain: bool = False
    dup: bool = False


@dataclass(frozen=True)
class MqttPuback:
    """The answer to a message of quality 1."""

    id: Annotated[int, u16be]


@dataclass(frozen=True)
class MqttPubrec:
    """The first answer to a message of quality 2."""

    id: Annotated[int, u16be]


@dataclass(frozen=True)
class MqttPubrel:
    """What the sender answers to that."""

    id: Annotated[int, u16be]


@dataclass(frozen=True)
class MqttPubcomp:
    """The last answer to a message of quality 2."""

    id: Annotated[int, u16be]


@dataclass(frozen=True)
class MqttFilter:
    """A filter of topics, with the highest quality that is wanted."""

    topic: Annotated[str, text(u16be)]
    qos: Annotated[int, u8] = 0


@dataclass(frozen=True)
class MqttTopic:
    """A filter of topics."""

    topic: Annotated[str, text(u16be)]


@dataclass(frozen=True)
class MqttSubscribe:
    """Subscribe to topics."""

    id: Annotated[int, u16be]
    filters: Annotated[tuple[MqttFilter, ...], items(rest)]


@dataclass(frozen=True)
class MqttSuback:
    """The answer: a quality for each filter, 128 if it is refused."""

    id: Annotated[int, u16be]
    codes: Annotated[tuple[int, ...], items(rest, u8)]


@dataclass(frozen=True)
class MqttUnsubscribe:
    """Subscribe no longer."""

    id: Annotated[int, u16be]
    topics: Annotated[tuple[MqttTopic, ...], items(rest)]


@dataclass(frozen=True)
class MqttUnsuback:
    """The answer to that."""

    id: Annotated[int, u16be]


@dataclass(frozen=True)
class MqttPingreq:
    """A ping."""


@dataclass(frozen=True)
class MqttPingresp:
    """The answer to a ping."""


@dataclass(frozen=True)
class MqttDisconnect:
    """The last packet of a client."""


_KINDS: Final[dict[int, type]] = {
    0x10: MqttConnect,
    0x20: MqttConnack,
    0x40: MqttPuback,
    0x50: MqttPubrec,
    0x62: MqttPubrel,
    0x70: MqttPubcomp,
    0x82: MqttSubscribe,
    0x90: MqttSuback,
    0xA2: MqttUnsubscribe,
    0xB0: MqttUnsuback,
    0xC0: MqttPingreq,
    0xD0: MqttPingresp,
    0xE0: MqttDisconnect,
}
_EMPTY: Final = (MqttPingreq, MqttPingresp, MqttDisconnect)
_BODIES: Final = {kind: records(kind) for kind in _KINDS.values() if kind not in _EMPTY}
_HEADS: Final = {kind: head for head, kind in _KINDS.items()}
_Head: TypeAlias = tuple[int, int]


def packet_size(begun: bytes) -> int | None:
    r"""Return the size of the packet that begins here, for `measured`; None while too few bytes are there.

    >>> from otf.framing import measured
    >>> [frame.data for frame in measured(packet_size)().feed(bytes([0xD0, 0, 0xD0]))]
    [b'\xd0\x00']
    """
    found = _head(begun)
    return None if found is None else sum(found)


def _head(begun: bytes) -> _Head | None:
    """Return the sizes of the head and of the body. Raises CodecError for a length of more than four bytes."""
    size = 0
    for place, byte in enumerate(begun[1:5]):
        size |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return place + 2, size
    if len(begun) > 4:  # noqa: PLR2004 -- the type, and four bytes that all say that more follow
        raise CodecError("the length of a packet has four bytes at most")
    return None


@dataclass(frozen=True, slots=True)
class MqttCodec:
    r"""The codec of the packets of MQTT 3.1.1.

    >>> MqttCodec().encode(MqttPublish("a/b", b"hello"))
    b'0\n\x00\x03a/bhello'
    """

    name: str = ""
    types: tuple[type, ...] = (*_KINDS.values(), MqttPublish, MqttFilter, MqttTopic)

    def port(self, value: object) -> str:
        """Return the name of the port."""
        del value
        return self.name

    def encode(self, value: object) -> bytes:
        """Return the bytes of a packet. Raises CodecError."""
        if isinstance(value, MqttPublish):
            return _packed(*_published(value))
        if (head := _HEADS.get(type(value))) is None:
            raise CodecError(f"{show(value)} is no packet of MQTT")
        kind = type(value)
        body = _BODIES[kind].encode(value) if kind in _BODIES else b""
        return _packed(head, cast("bytes", body))  # records have no port actions

    def decode(self, port: str, data: bytes) -> object:
        """Return the packet in these bytes. Raises CodecError."""
        found = _head(data)
        if found is None or sum(found) != len(data):
            raise CodecError(f"{data[:80]!r} is no packet of MQTT: its length is wrong")
        head, body = data[0], data[found[0] :]
        if head >> 4 == _PUBLISH:
            value: object = _publish(head, body)
        elif (kind := _KINDS.get(head)) is None or (kind in _EMPTY and body):
            raise CodecError(f"{data[:80]!r} is no packet of MQTT: its type, its flags or its length are wrong")
        else:
            value = _BODIES[kind].decode(port, body) if kind in _BODIES else kind()
        if self.encode(value) != data:
            raise CodecError(f"{data[:80]!r} is no packet of MQTT: its length is longer than needed")
        return value


def _packed(head: int, body: bytes) -> bytes:
    rest_of, size = len(body), bytearray()
    while not size or rest_of:
        rest_of, low = divmod(rest_of, 0x80)
        size.append(low | 0x80 * (rest_of > 0))
    return bytes([head, *size]) + body


def _published(value: MqttPublish) -> tuple[int, bytes]:
    topic = value.topic.encode(errors="replace")
    fits = value.qos in {0, 1, 2} and 0 <= value.id <= 0xFFFF and len(topic) <= 0xFFFF  # noqa: PLR2004 -- two bytes each
    if not fits or (value.qos == 0 and value.id) or topic.decode() != value.topic:
        raise CodecError(f"{show(value)} is no packet of MQTT: see its qos, its id and its topic")
    head = _PUBLISH << 4 | value.dup << 3 | value.qos << 1 | value.retain
    number = value.id.to_bytes(2) if value.qos else b""
    return head, len(topic).to_bytes(2) + topic + number + value.payload


def _publish(head: int, body: bytes) -> MqttPublish:
    qos, end = head >> 1 & 3, 2 + int.from_bytes(body[:2])
    after = end + 2 * (qos > 0)
    try:
        topic = body[2:end].decode()
    except UnicodeDecodeError as error:
        raise CodecError(f"{body[:80]!r} has no topic: {error}") from error
    if len(body) < max(2, after):
        raise CodecError(f"{body[:80]!r} is no message of MQTT: it ends within its topic or its id")
    number = int.from_bytes(body[end:after])
    return MqttPublish(topic, body[after:], qos, number, bool(head & 1), bool(head & 8))
