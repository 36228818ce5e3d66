"""MQTT packets of versions 3.1.1 and 5.0 as values, over `measured(packet_size)`.

No maintained library reads packets without I/O. mqttproto is not on PyPI, and mqtt-codec 1.0.2 can no longer be
installed. gmqtt, aiomqtt, amqtt and paho-mqtt are clients and brokers, which acknowledge and reconnect by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from otf.codec.mqtt_fields import READING, WRITING, FieldReader, MqttProperties, MqttProperty, varying_bytes
from otf.codec.mqtt_packets import (
    SHAPES,
    MqttAuth,
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttField,
    MqttFilter,
    MqttPingreq,
    MqttPingresp,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSuback,
    MqttSubscribe,
    MqttTopic,
    MqttUnsuback,
    MqttUnsubscribe,
    MqttVersion,
)
from otf.errors import CodecError
from otf.values import show

__all__ = [
    "MqttAuth",
    "MqttCodec",
    "MqttConnack",
    "MqttConnect",
    "MqttDisconnect",
    "MqttFilter",
    "MqttPingreq",
    "MqttPingresp",
    "MqttProperties",
    "MqttProperty",
    "MqttPuback",
    "MqttPubcomp",
    "MqttPublish",
    "MqttPubrec",
    "MqttPubrel",
    "MqttSuback",
    "MqttSubscribe",
    "MqttTopic",
    "MqttUnsuback",
    "MqttUnsubscribe",
    "MqttVersion",
    "packet_size",
]

_PUBLISH: Final = 3
_HEADS: Final = {kind: head for head, (kind, _) in SHAPES.items()}
_ONLY_5: Final = {("codes", MqttUnsuback)}
_Head: TypeAlias = tuple[int, int]


def packet_size(begun: bytes) -> int | None:
    r"""Return the size of the packet that begins here, for `measured`; None while there are too few bytes.

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
    r"""The codec of MQTT 3.1.1 packets, or with `version=5` of MQTT 5.0.

    >>> MqttCodec().encode(MqttPublish("a/b", b"hello"))
    b'0\n\x00\x03a/bhello'
    >>> MqttCodec(version=5).encode(MqttPublish("a/b", b"hello", properties=(MqttProperty("topic_alias", 1),)))
    b'0\x0e\x00\x03a/b\x03#\x00\x01hello'
    """

    name: str = ""
    version: MqttVersion = 4
    types: tuple[type, ...] = (*_HEADS, MqttPublish, MqttFilter, MqttTopic, MqttProperty)

    def port(self, value: object) -> str:
        """Return the name of the port."""
        del value
        return self.name

    def encode(self, value: object) -> bytes:
        """Return the bytes of a packet. Raises CodecError."""
        try:
            head, body = self._written(value)
        except (CodecError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise CodecError(f"{show(value)} is not an MQTT packet: {error}") from error
        return bytes([head]) + varying_bytes(len(body)) + body

    def decode(self, port: str, data: bytes) -> object:
        """Return the packet in these bytes. Raises CodecError."""
        del port
        found = _head(data)
        if found is None or sum(found) != len(data):
            raise CodecError(f"{data[:80]!r} is not an MQTT packet: its length is wrong")
        try:
            value = self._read(data[0], FieldReader(data[found[0] :]))
        except CodecError as error:
            raise CodecError(f"{data[:80]!r} is not an MQTT packet: {error}") from error
        if self.encode(value) != data:
            raise CodecError(f"{data[:80]!r} is not an MQTT packet: a length in it is longer than needed")
        return value

    def _written(self, value: object) -> tuple[int, bytes]:
        if isinstance(value, MqttPublish):
            return _publish_head(value), b"".join(self._publish_body(value))
        head = _HEADS[type(value)]
        fields = self._fields(head)
        ignored = {name for name, _ in SHAPES[head][1]} - {name for name, _ in fields}
        if any(getattr(value, name) not in {None, ()} for name in ignored):
            raise CodecError(f"version 3.1.1 has no {' and no '.join(sorted(ignored))}")
        protocol = MqttConnect.protocol + bytes([self.version]) if isinstance(value, MqttConnect) else b""
        return head, protocol + b"".join(_values_bytes([(getattr(value, name), kind) for name, kind in fields]))

    def _read(self, head: int, reader: FieldReader) -> object:
        if head >> 4 == _PUBLISH:
            return self._publish(head, reader)
        if head not in SHAPES or (head == _HEADS[MqttAuth] and self.version == 4):  # noqa: PLR2004 -- 3.1.1
            raise CodecError("its type or its flags are wrong")
        kind = SHAPES[head][0]
        if kind is MqttConnect and reader.take(7) != MqttConnect.protocol + bytes([self.version]):
            raise CodecError("its protocol or its version is another one")
        values: dict[str, Any] = {name: _value_of(reader, form) for name, form in self._fields(head)}
        if reader.more():
            raise CodecError("it is longer than its fields")
        return kind(**values)

    def _fields(self, head: int) -> list[MqttField]:
        kind, fields = SHAPES[head]
        if self.version == 5:  # noqa: PLR2004 -- the version
            return list(fields)
        old = [(name, form) for name, form in fields if name != "properties" and not form.endswith("?")]
        return [(name, form) for name, form in old if (name, kind) not in _ONLY_5]

    def _publish_body(self, value: MqttPublish) -> Iterator[bytes]:
        yield WRITING["text"](value.topic)
        yield value.id.to_bytes(2) if value.qos else b""
        if self.version == 5:  # noqa: PLR2004 -- the version
            yield WRITING["properties"](value.properties)
        elif value.properties:
            raise CodecError("version 3.1.1 has no properties")
        yield value.payload

    def _publish(self, head: int, reader: FieldReader) -> MqttPublish:
        qos = head >> 1 & 3
        topic, number = reader.text(), 0
        if qos:
            number = reader.number(2)
        properties = reader.properties() if self.version == 5 else ()  # noqa: PLR2004 -- the version
        return MqttPublish(topic, reader.rest(), qos, number, bool(head & 1), bool(head & 8), properties)


def _publish_head(value: MqttPublish) -> int:
    if value.qos not in {0, 1, 2} or (value.qos == 0 and value.id):
        raise CodecError("see its qos and its id")
    return _PUBLISH << 4 | value.dup << 3 | value.qos << 1 | value.retain


def _values_bytes(values: list[tuple[Any, str]]) -> Iterator[bytes]:
    ended = False
    for value, form in values:
        if form.endswith("?") and value is None:
            ended = True
        elif ended:
            raise CodecError("properties come after a reason")
        elif form in {"filters", "topics"}:
            yield from (
                WRITING["text"](each.topic) + (bytes([each.qos]) if form == "filters" else b"") for each in value
            )
        else:
            yield WRITING[form.removesuffix("?")](value)


def _value_of(reader: FieldReader, form: str) -> object:
    if form.endswith("?"):
        return READING[form.removesuffix("?")](reader) if reader.more() else None
    if form in {"filters", "topics"}:
        return tuple(_each(reader, form))
    return READING[form](reader)


def _each(reader: FieldReader, form: str) -> Iterator[MqttFilter | MqttTopic]:
    while reader.more():
        topic = reader.text()
        yield MqttFilter(topic, reader.number(1)) if form == "filters" else MqttTopic(topic)
